"""The checks that look for a person's word."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from detent.core.machine import Gate
from detent.core.values import Fact, Missing
from detent.gates.judge import judge
from detent.gates.people import BY_NAME, lacks_only_word, signed_files
from detent.store.journal.memory import Approval, Signature
from detent.view import view_of
from detent.words import proof as say
from tests.unit.gates.world import MACHINE, World

FILES = {"deploy/job": "a" * 40}


def fact_of(world: World, touched: Mapping[str, str] | None, **said: object) -> Fact:
    gate = MACHINE.gates["protected_ok"].replace(since="entry")  # also there it is not asked to be new
    world.machine = MACHINE.replace(gates={**MACHINE.gates, "protected_ok": gate})
    seen = world.seen().replace(touched=lambda: touched, approved=view_of(Approval, said))
    return judge(seen, ["protected_ok"])["protected_ok"]


def test_an_untouched_tree_needs_no_approval(world: World) -> None:
    fact = fact_of(world, {})
    assert (fact.ok, fact.by_hand) == (True, False)


def test_without_a_scan_a_sign_off_gate_is_closed(world: World) -> None:
    fact = fact_of(world, None)
    assert not fact.ok
    assert not fact.pending
    assert fact.fix == say.protected_not_looked_at().next_step


def test_a_view_that_was_not_told_is_closed(world: World) -> None:
    assert not world.fact("protected_ok").ok


@pytest.mark.parametrize(
    ("said", "is_open"),
    [
        ({"tree": "tree-1", "files": FILES, "name": "ann"}, True),
        ({"tree": "tree-0", "files": FILES, "name": "ann"}, False),
        ({"tree": "tree-1", "files": {"deploy/job": "b" * 40}, "name": "ann"}, False),
        ({"tree": "tree-1", "files": {}, "name": "ann"}, False),
        ({}, False),
    ],
)
def test_a_word_holds_for_one_tree_and_its_files(world: World, said: dict[str, object], is_open: bool) -> None:
    fact = fact_of(world, FILES, **said)
    assert fact.ok is is_open
    assert fact.why == ("" if is_open else say.protected_touched(FILES, str(said.get("name", ""))))
    assert bool(fact.proof) is is_open
    assert not fact.by_hand


def test_a_word_about_an_unknown_tree_is_none(world: World) -> None:
    world.tree_id = ""
    assert not fact_of(world, FILES, tree="", files=FILES, name="ann").ok


def test_only_a_persons_word_is_missing() -> None:
    both = Gate("both", "all", {"of": ["protected_ok"]}, "task")
    mixed = Gate("mixed", "all", {"of": ["protected_ok", "candidate"]}, "task")
    machine = MACHINE.replace(gates={**MACHINE.gates, "both": both, "mixed": mixed})
    assert lacks_only_word(machine, [Missing("protected_ok", ""), Missing("both", "")])
    for missing in (
        [],
        [Missing("mixed", "")],
        [Missing("after", "")],
        [Missing("protected_ok", ""), Missing("by", "")],
    ):
        assert not lacks_only_word(machine, missing)


# --- sign-offs ---


def signed(world: World, *, tree: str = "tree-1", files: tuple[str, ...] = (), **shown: str) -> Fact:
    """The gate over a sign-off called `sign`, which was shown these files."""
    params: dict[str, object] = {"edge": "sign", **({"files": list(files)} if files else {})}
    gate = Gate("ours", "signed_tree", params, "entry", "do it")
    world.machine = MACHINE.replace(gates={**MACHINE.gates, "ours": gate})
    said = {"sign": view_of(Signature, {"tree": tree, "name": "ann", "files": shown})} if tree else {}
    return judge(world.seen().replace(signed=said), ["ours"])["ours"]


def test_a_signed_tree_is_the_proof(world: World) -> None:
    fact = signed(world)
    assert (fact.ok, fact.proof, fact.by_hand) == (True, "tree-1", False)


def test_without_a_sign_off_it_is_closed(world: World) -> None:
    fact = signed(world, tree="")
    assert (fact.ok, fact.why) == (False, say.not_signed("sign"))


def test_another_tree_was_signed(world: World) -> None:
    world.tree_id = "a" * 40
    fact = signed(world, tree="b" * 40)
    assert not fact.ok
    assert fact.why == say.signed_other_tree("a" * 40, "b" * 40, "ann", "sign")


def test_an_unknown_tree_is_not_the_signed_one(world: World) -> None:
    world.tree_id = ""
    fact = signed(world, tree="tree-1")
    assert not fact.ok
    assert fact.why == say.tree_not_scanned()


def test_named_files_must_be_as_they_were_signed(world: World) -> None:
    world.artifact("result.txt", "ok\n")
    now = signed_files(world.seen())
    name = "artifacts/result.txt"
    assert signed(world, files=(name,), **now).ok
    fact = signed(world, files=(name,), **{**now, name: "0" * 32})
    assert (fact.ok, fact.why) == (False, say.signed_other_files([name], "ann", "sign"))
    assert not signed(world, files=("nothing.txt",), **now).ok


def test_what_is_signed_is_whole_task_folder_and_its_document(world: World) -> None:
    world.artifact("result.txt", "ok\n")
    found = signed_files(world.seen())
    assert set(found) == {"STATE.md", "EVIDENCE.md", "artifacts/result.txt"}
    world.state("# T\n\nother words\n")
    assert {name for name, digest in signed_files(world.seen()).items() if digest != found[name]} == {"STATE.md"}


def test_very_many_files_are_signed_as_one(world: World) -> None:
    for number in range(198):
        world.artifact(f"{number}.txt", str(number))
    assert len(signed_files(world.seen())) == 200
    last = world.artifact("last.txt", "1")
    digests = signed_files(world.seen())
    assert list(digests) == ["*"]
    last.write_text("2")
    assert signed_files(world.seen()) != digests
    assert not signed(world, files=("artifacts/last.txt",), **digests).ok


# --- what a person asks for, and whether anybody worked since ---


def asked_at_entry(world: World, check: str, **seen: object) -> Fact:
    world.machine = MACHINE.replace(gates={**MACHINE.gates, "ours": Gate("ours", check, {}, "entry", "do it")})
    return judge(world.seen().replace(**seen), ["ours"])["ours"]


@pytest.mark.parametrize("words", [(BY_NAME,), ("skip-assess", BY_NAME)])
def test_move_that_was_asked_for_by_name_is_a_decision(world: World, words: tuple[str, ...]) -> None:
    fact = asked_at_entry(world, "asked_by_name", words=words)
    assert (fact.ok, fact.why, fact.by_hand) == (True, "", False)


@pytest.mark.parametrize("words", [(), ("skip-assess",)])
def test_whatever_is_open_was_not_asked_for_by_name(world: World, words: tuple[str, ...]) -> None:
    fact = asked_at_entry(world, "asked_by_name", words=words)
    assert (fact.ok, fact.why) == (False, say.not_asked_by_name())


def test_a_tree_that_is_another_than_on_entry_was_edited(world: World) -> None:
    fact = asked_at_entry(world, "tree_edited", entry_tree="tree-0")
    assert (fact.ok, fact.why, fact.note, fact.proof, fact.by_hand) == (True, "", "", "tree-1", False)
    fact = asked_at_entry(world, "tree_edited", entry_tree="tree-1")
    assert (fact.ok, fact.why) == (False, say.no_file_changed("verify"))


@pytest.mark.parametrize("entry_tree", ["", "tree-1"])
def test_touched_files_count_as_edited_until_a_scan(world: World, entry_tree: str) -> None:
    world.tree_id = ""
    fact = asked_at_entry(world, "tree_edited", entry_tree=entry_tree)
    assert (fact.ok, fact.proof, fact.by_hand) == (True, "", False)
    assert fact.note == say.files_touched()
