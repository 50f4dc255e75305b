"""A TLA+ module is read as people write it; a `*)` inside a word, which ends its comment, is found and told."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from detent.errors import UnreadableError
from detent.verify.compare import Comparison, compare
from detent.verify.documents.document import read_document
from detent.verify.relation import Relation
from detent.verify.tla.module import export_tla
from detent.words.verify import documents as say
from tests.messages import codes_in
from tests.unit.core.small import small

EDGES = """
[[edge]]
name  = "Show"
from  = "work"
to    = "look"
by    = ["agent"]
[[edge]]
name = "NotGood"
from = ["look", "wait"]
to   = "work"
by   = ["person"]
[[edge]]
name = "Ask"
from = "work"
to   = "wait"
by   = ["agent"]
[[edge]]
name = "Remind"
from = "wait"
to   = "wait"
by   = ["person"]
[[edge]]
name = "Accept"
from = "look"
to   = "over"
by   = ["person"]
[[edge]]
name = "Drop"
from = ["work", "wait"]
to   = "over"
by   = ["person"]
"""
MACHINE = small(EDGES)

MODULE = r"""A text before the module.
---- MODULE Small ----
EXTENDS Naturals
VARIABLES tries, phase
Open == {"work", "wait"}
Stages == Open \cup {"look", "over"}
\* ================================================
\* The work (not a block comment *)
\* ================================================
(* The agent builds, one test per criterion, then shows it.
   Nested: (* like this *) is fine. *)
Init == /\ phase = "work"
        /\ tries = 0
Show ==
/\ phase = "work"
/\ tries < 3
/\ tries' = tries + 1
/\ phase' = "look"
(* A person says what is wrong. *)
NotGood == phase \in {"look", "wait"} /\ phase' = "work" /\ UNCHANGED tries
Ask == phase = "work" /\ phase' = "wait" /\ tries' = tries
Remind == /\ phase = "wait" /\ UNCHANGED <<phase, tries>>
Accept == \E who \in {"ann", "bob"} :
            /\ "look" = phase
            /\ phase' = "over"
            /\ UNCHANGED tries
Drop == /\ phase \in Open
        /\ (phase' = "over" /\ tries' = 0)
People == NotGood \/ Remind
Next ==
\/ Show
\* Of people:
\/ People
\/ Ask \/ Accept
\/ Drop
====
"""
COMMENT = "criterion, then shows"


def read(tmp_path: Path, text: str) -> Relation:
    path = tmp_path / "Small.tla"
    path.write_text(text, encoding="utf-8")
    return read_document(str(path), MACHINE)


def test_a_module_is_read(tmp_path: Path) -> None:
    found = read(tmp_path, MODULE)
    assert (found.source, found.initial, found.terminal) == ("TLA+ module Small", "work", ("over",))
    assert set(found.states) == set(MACHINE.states)
    assert compare(MACHINE, found) == Comparison(equal=True)


@pytest.mark.parametrize(
    ("old", "new", "difference"),
    [
        ('/\\ phase\' = "look"', '/\\ phase\' = "wait"', {"missing_edges": (("work", "wait", "Show"),)}),
        ("\\/ Drop\n", "", {"extra_edges": (("work", "over", "Drop"), ("wait", "over", "Drop"))}),
        ("Accept", "Finish", {"renamed": (("look", "over", "Finish", "Accept"),)}),
        ('phase \\in {"look", "wait"}', 'phase = "look"', {"extra_edges": (("wait", "work", "NotGood"),)}),
        (
            '/\\ phase = "work"\n        /\\ tries = 0',
            '/\\ phase = "look" /\\ tries = 0',
            {"initial": ("look", "work")},
        ),
        ('{"look", "over"}', '{"look", "over", "lost"}', {"missing_states": ("lost",)}),
    ],
)
def test_what_a_module_says_otherwise_is_named(
    tmp_path: Path, old: str, new: str, difference: dict[str, object]
) -> None:
    assert old in MODULE
    found = compare(MACHINE, read(tmp_path, MODULE.replace(old, new)))
    for name, value in difference.items():
        assert getattr(found, name) == value


@pytest.mark.parametrize(
    ("words", "column", "wanted"),
    [
        ("criterion (AC-*), then shows", 49, say.comment_ends_early(10, 49, "AC-*)")),
        ("criterion (see R*), then shows", 51, say.comment_ends_early(10, 51, "R*)")),
    ],
)
def test_comment_that_a_word_ends_is_told_with_its_repair(tmp_path: Path, words: str, column: int, wanted: str) -> None:
    assert COMMENT in MODULE
    text = MODULE.replace(COMMENT, words)
    found = read(tmp_path, text)
    (problem,) = found.problems
    assert text.splitlines()[9][column - 1 : column + 1] == "*)"
    assert problem == wanted
    assert compare(MACHINE, found) == Comparison(equal=False, problems=(problem,))  # the rest was compared all the same
    repaired = text.splitlines()
    repaired[9] = f"{repaired[9][:column]} {repaired[9][column:]}"
    assert compare(MACHINE, read(tmp_path, "\n".join(repaired))) == Comparison(equal=True)


def test_every_comment_that_a_word_ends_is_told_at_once(tmp_path: Path) -> None:
    text = MODULE.replace(COMMENT, "criterion (AC-*), or (D-*), then shows").replace(
        "what is wrong. *)", "which of F-*) is wrong. *)"
    )
    assert [problem.split(":")[0] for problem in read(tmp_path, text).problems] == [
        "line 10, column 49",
        "line 10, column 59",
        "line 19, column 29",
    ]


def test_a_comment_in_order_needs_no_repair(tmp_path: Path) -> None:
    assert read(tmp_path, MODULE.replace("is wrong. *)", "is wrong*)")).problems == ()


def test_another_fault_is_told_with_its_place_and_no_repair(tmp_path: Path) -> None:
    with pytest.raises(UnreadableError, match=re.escape(say.no_tla(20, 15))):
        read(tmp_path, MODULE.replace('Ask == phase = "work"', "Ask == phase = = )"))


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ('/\\ phase\' = "look"', "/\\ phase' = Chosen(tries)", say.no_module(say.actions_not_plain(["Show"]))),
        ("Next ==", "Later ==", say.no_module(say.no_state_variable())),
    ],
)
def test_a_module_of_another_shape_is_refused(tmp_path: Path, old: str, new: str, problem: str) -> None:
    with pytest.raises(UnreadableError, match=re.escape(problem)):
        read(tmp_path, MODULE.replace(old, new))


@pytest.mark.parametrize(
    "definitions",
    [
        "Show == " + "(" * 3000 + 'phase = "work"' + ")" * 3000 + ' /\\ phase\' = "look"',
        'RECURSIVE Show\nShow == Show \\/ (phase = "work" /\\ phase\' = "look")',
        "\n".join(
            [
                'Show == phase\' = "look" /\\ ' + " /\\ ".join(f"A{number}" for number in range(30)),
                *(f'A{number} == phase = "work" \\/ phase = "wait"' for number in range(30)),
            ]
        ),
    ],
    ids=["deep", "by itself", "many"],
)
def test_a_module_without_a_bound_is_refused(tmp_path: Path, definitions: str) -> None:
    show = MODULE[MODULE.index("Show ==") : MODULE.index("(* A person")]
    with pytest.raises(UnreadableError) as caught:
        read(tmp_path, MODULE.replace(show, f"{definitions}\n"))
    assert codes_in(caught.value.what)[0] in ("documents.no_module", "documents.no_tla")


def test_our_own_module_is_for_tlc_and_says_so(tmp_path: Path) -> None:
    with pytest.raises(UnreadableError, match=re.escape(say.written_for_tlc())) as refused:
        read(tmp_path, export_tla(MACHINE).text)
    assert refused.value.next_step == say.written_for_tlc().next_step
