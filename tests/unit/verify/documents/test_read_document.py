"""Documents that describe a machine are read as people write them: diagrams, tables and maps of states."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from detent.core.machine import ACTORS, Machine
from detent.errors import UnreadableError
from detent.machines.load import built_in_names, load
from detent.verify.compare import Comparison, compare
from detent.verify.documents.document import read_document
from detent.verify.export import export_mermaid
from detent.verify.relation import Relation
from detent.words.verify import documents as say
from tests.unit.core.small import small

EDGES = """
[[edge]]
name  = "show-it"
from  = "work"
to    = "look"
by    = ["agent", "engine"]
needs = ["ready"]
[[edge]]
name = "not-good-enough"
from = "look"
to   = "work"
by   = ["person"]
[[edge]]
name = "wrong-plan"
from = "look"
to   = "work"
by   = ["person"]
[[edge]]
name  = "ask"
from  = "work"
to    = "wait"
by    = ["agent"]
[[edge]]
name = "answer"
from = "wait"
to   = "work"
by   = ["person"]
[[edge]]
name  = "accept"
from  = "look"
to    = "over"
by    = ["person"]
needs = ["seen"]
[[edge]]
name = "drop"
from = ["work", "wait"]
to   = "over"
by   = ["person"]
"""
MACHINE = small(EDGES)


def read(tmp_path: Path, text: str, machine: Machine = MACHINE, name: str = "plan.md") -> Relation:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return read_document(str(path), machine)


DIAGRAM = r"""# A plan

```mermaid
stateDiagram-v2
    direction LR
    [*] --> work: new task
    %% ----- building
    state "1. Building" as building {
        work --> look: show it
        work --> wait: ask
        look --> work: not good\nenough
        look --> work: wrong plan   %% twice between the same two
        state "Waiting" as wait
    }
    note right of work
        the agent --> works here
    end note
    wait --> work : answer
    look-->over:accept
    work --> over: drop
    wait --> over: drop
    over --> [*]
    classDef done fill:#fff
    class over done
```

And more prose.
"""


def test_a_diagram_with_groups_notes_and_broken_labels_is_read(tmp_path: Path) -> None:
    found = read(tmp_path, DIAGRAM)
    assert (found.initial, found.terminal, found.notes) == ("work", ("over",), ())
    assert compare(MACHINE, found) == Comparison(equal=True)


@pytest.mark.parametrize(
    ("old", "new", "difference"),
    [
        ("look-->over:accept\n", "", {"extra_edges": (("look", "over", "accept"),)}),
        ("wait --> work : answer", "wait --> look : answer", {"missing_edges": (("wait", "look", "answer"),)}),
        ("work --> wait: ask", "work --> wait: ask me", {"renamed": (("work", "wait", "ask me", "ask"),)}),
        ("[*] --> work", "[*] --> look", {"initial": ("look", "work")}),
        ("    over --> [*]\n", "    over --> [*]\n    wait --> [*]\n", {"missing_terminal": ("wait",)}),
        ("    note right", "    later --> work: go\n    note right", {"missing_states": ("later",)}),
    ],
)
def test_what_a_diagram_says_otherwise_is_named(
    tmp_path: Path, old: str, new: str, difference: dict[str, object]
) -> None:
    assert old in DIAGRAM
    found = compare(MACHINE, read(tmp_path, DIAGRAM.replace(old, new)))
    assert not found.equal
    for name, value in difference.items():
        assert getattr(found, name) == value


def test_a_diagram_without_labels_compares_no_names(tmp_path: Path) -> None:
    text = "stateDiagram\n[*] --> work\nwork --> look\nlook --> work\nwork --> wait\nwait --> work\nlook --> over\n"
    found = compare(MACHINE, read(tmp_path, text + "work --> over\nwait --> over\n", name="plan.mmd"))
    assert found == Comparison(equal=True)


def test_diagram_whose_fence_is_never_closed_ends_at_the_prose(tmp_path: Path) -> None:
    text = DIAGRAM.replace("```\n\nAnd more prose.", "\nThis diagram is binding.\n\n```json\n{}\n```")
    found = read(tmp_path, text)
    assert compare(MACHINE, found).equal
    assert found.notes == (say.fence_open(4, 24),)


def test_line_that_is_no_statement_is_refused_with_its_number(tmp_path: Path) -> None:
    with pytest.raises(UnreadableError, match=re.escape(say.no_statement(18, "wait ==> work"))):
        read(tmp_path, DIAGRAM.replace("wait --> work : answer", "wait ==> work : answer"))


@pytest.mark.parametrize("name", built_in_names())
def test_our_own_diagrams_read_back_as_equal(tmp_path: Path, name: str) -> None:
    machine, _ = load(name, None)
    assert compare(machine, read(tmp_path, export_mermaid(machine), machine, "own.mmd")) == Comparison(equal=True)


@pytest.mark.parametrize("name", built_in_names())
def test_of_many_diagrams_the_one_about_the_machine_is_read(tmp_path: Path, name: str) -> None:
    machine, _ = load(name, None)
    others = [export_mermaid(load(name, None)[0]) for name in built_in_names()]
    found = read(tmp_path, "\n".join(f"```mermaid\n{text}```\n" for text in others), machine)
    assert compare(machine, found) == Comparison(equal=True)
    assert len(found.notes) == len(others) - 1


MAP = """# Moves

```text
work -> look | wait | over
look -> work | over
wait -> work | over
```
"""


@pytest.mark.parametrize(
    "text",
    [
        MAP,
        MAP.replace("->", "→").replace(" |", ",").replace("```text", "```"),
        MAP.replace("```\n", "over -> (terminal)\n```\n", 1).replace("```text", "```"),
        " ".join(MAP.split()),  # a document that lost its line breaks
    ],
)
def test_a_map_of_states_is_read(tmp_path: Path, text: str) -> None:
    found = read(tmp_path, text)
    assert found.terminal == ("over",)
    assert compare(MACHINE, found) == Comparison(equal=True)


def test_what_a_map_says_otherwise_is_named(tmp_path: Path) -> None:
    found = compare(MACHINE, read(tmp_path, MAP.replace("look -> work | over", "look -> over | wait")))
    assert found.missing_edges == (("look", "wait", ""),)
    assert found.extra_edges == (("look", "work", "not-good-enough"), ("look", "work", "wrong-plan"))


@pytest.mark.parametrize(
    "block", ["look -> work", "work -> look, and more", "work -> look |", "yes -> retry\n  no -> stop it"]
)
def test_a_block_that_is_no_map_is_left_aside(tmp_path: Path, block: str) -> None:
    with pytest.raises(UnreadableError, match=re.escape(say.no_relation("small"))):
        read(tmp_path, f"```\n{block}\n```\n")


TABLES = """# Moves

| From | To | Name | By | Gates |
|------|:--:|------|----|-------|
| (new) | work | | | |
| work | **look** | show it | agent or orchestrator | `ready` |
| `look` | work | not good enough | Human | - |
| look | work | wrong plan | human | none |
| work | wait | ask | agent | \u2014 |
| wait | work | answer | user | |

### The end

| Transition | Required Artifact | Why |
|---|---|---|
| `look → over` | `## Seen` section | a \\| b |

| From | To | Trigger |
|---|---|---|
| work | over | somebody drops it |
| Any | over | somebody drops it |
| over | (end) | finished |

| From | To |
|---|---|
| me@example.org | you@example.org |
"""


def test_tables_are_read_together_with_actors_and_gates(tmp_path: Path) -> None:
    found = read(tmp_path, TABLES)
    assert found.source.startswith("tables of lines ")
    assert (found.initial, found.terminal) == ("work", ("over",))
    assert compare(MACHINE, found) == Comparison(equal=True)
    assert found.notes == (say.table_about_other_states(24),)


def test_an_unknown_actor_is_noted_and_not_compared(tmp_path: Path) -> None:
    found = read(tmp_path, TABLES.replace("| user |", "| the cat |"))
    assert compare(MACHINE, found).equal
    assert f"line 10: {say.no_actor('the cat', ACTORS)}" in found.notes


@pytest.mark.parametrize(
    ("old", "new", "difference"),
    [
        ("agent or orchestrator", "agent", {"actors": (("work", "look", "show-it", ("agent",), ("agent", "engine")),)}),
        ("`ready`", "`seen`", {"gates": (("work", "look", "show-it", ("seen",), ("ready",)),)}),
        ("`ready`", "-", {"gates": (("work", "look", "show-it", (), ("ready",)),)}),
        (
            "| human | none |",
            "| human | a good look |",
            {"gates": (("look", "work", "wrong-plan", ("a good look",), ()),)},
        ),
        ("| answer |", "| reply |", {"renamed": (("wait", "work", "reply", "answer"),)}),
        ("| Any | over |", "| wait | look |", {"missing_edges": (("wait", "look", ""),)}),
    ],
)
def test_what_a_table_says_otherwise_is_named(
    tmp_path: Path, old: str, new: str, difference: dict[str, object]
) -> None:
    assert old in TABLES
    found = compare(MACHINE, read(tmp_path, TABLES.replace(old, new)))
    for name, value in difference.items():
        assert getattr(found, name) == value


def test_a_table_adds_gates_to_the_moves_of_a_diagram(tmp_path: Path) -> None:
    table = "\n| Transition | Gate |\n|---|---|\n| work -> look | ready |\n| look -> over | ready |\n"
    found = compare(MACHINE, read(tmp_path, DIAGRAM + table))
    assert found == Comparison(equal=False, gates=(("look", "over", "accept", ("ready",), ("seen",)),))


def test_a_text_that_describes_no_machine_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnreadableError, match=re.escape(say.no_relation("small"))):
        read(tmp_path, "# A plan\n\nWe work, then we look.\n")


def test_a_document_without_a_bound_is_refused(tmp_path: Path) -> None:
    rows = "\n".join(f"work -> s{number}" for number in range(6000))
    for text in (f"```\n{rows}\n```\n", "| From | To |\n|---|---|\n" + rows.replace("work -> ", "| work | ")):
        with pytest.raises(UnreadableError, match=re.escape(say.too_many_moves(5000))):
            read(tmp_path, text)


def test_a_byte_order_mark_and_other_line_ends_change_nothing(tmp_path: Path) -> None:
    assert compare(MACHINE, read(tmp_path, "\ufeff" + DIAGRAM.replace("\n", "\r\n"))) == Comparison(equal=True)
