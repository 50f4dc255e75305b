"""What is exported is the relation: as data by contract, and as a diagram that reads back to the same edges."""

from __future__ import annotations

import re

import pytest

from detent.core.machine import Edge, Machine, State, Way
from detent.machines.load import built_in_names, load
from detent.verify.export import export_json, export_mermaid

# The tokens of a state diagram, as its grammar has them: an id ends at white space, ':', '-' or '{'.
ID = r"(?:\[\*\]|[^\s:{\-]+)"
ALIAS = re.compile(rf'\s+state "([^"\n]+)" as ({ID})')
ARROW = re.compile(rf"\s+({ID}) --> ({ID})(?: : ([^:;\n#%]+))?")


def read_back(text: str) -> tuple[dict[str, str], list[tuple[str, str, str]]]:
    """The names by id and the arrows of a diagram; a line that is neither fails."""
    head, *lines = text.splitlines()
    assert head == "stateDiagram-v2"
    names: dict[str, str] = {}
    arrows: list[tuple[str, str, str]] = []
    for line in lines:
        if alias := ALIAS.fullmatch(line):
            assert alias[2] not in names
            names[alias[2]] = alias[1]
            continue
        arrow = ARROW.fullmatch(line)
        assert arrow, line
        arrows.append((names.get(arrow[1], arrow[1]), names.get(arrow[2], arrow[2]), arrow[3] or ""))
    return names, arrows


def machine_of(states: list[str], edges: list[Edge], switched_off: tuple[Edge, ...] = ()) -> Machine:
    made = {
        name: State(
            name, "person", edges=tuple(edge for edge in edges if edge.source == name), is_end=name == states[-1]
        )
        for name in states
    }
    return Machine("made", "", states[0], made, {}, {}, {}, switched_off=switched_off)


def edge(name: str, source: str, target: str, **more: object) -> Edge:
    return Edge(name, name, source, target, (Way(0, ("person",)),)).replace(**more)


@pytest.mark.parametrize("name", built_in_names())
def test_a_shipped_machine_is_exported_by_the_contract(name: str) -> None:
    machine, _ = load(name, None)
    exported = export_json(machine)
    assert list(exported) == ["name", "states", "initial", "terminal", "transitions", "reopen"]
    for row in (*exported["transitions"], *exported["reopen"]):
        assert list(row) == ["from", "to", "name", "label", "by", "needs"]
        assert set(row["by"]) <= {"agent", "engine", "person", "crash"}
        assert row["by"]
    assert len(exported["transitions"]) == len(list(machine.edges()))


def test_the_phase_machine_as_data() -> None:
    machine, _ = load("phase", None)
    exported = export_json(machine)
    assert (len(exported["states"]), len(exported["transitions"])) == (9, 17)
    assert exported["terminal"] == ["done", "blocked", "needs_user_decision"]
    assert exported["transitions"][0] == {
        "from": "intake",
        "to": "shape",
        "name": "intake_to_shape",
        "label": "intake_to_shape",
        "by": ["agent", "engine"],
        "needs": ["frame_known"],
    }
    assert {(row["from"], row["to"]) for row in exported["reopen"]} == {
        ("blocked", "{origin}"),
        ("needs_user_decision", "{origin}"),
    }


def test_only_switched_on_options_are_exported() -> None:
    off, _ = load("phase", None)
    on, _ = load("phase", None, options=("ask-early",))
    pairs = [{(row["from"], row["to"]) for row in export_json(machine)["transitions"]} for machine in (off, on)]
    assert pairs[1] - pairs[0] == {("intake", "needs_user_decision")}
    assert ("intake --> needs_user_decision" in export_mermaid(off)) is False
    assert ("intake --> needs_user_decision" in export_mermaid(on)) is True


def test_an_edge_that_may_never_be_taken_is_exported() -> None:
    edges = [edge("go", "a", "z"), edge("jump", "a", "z", never="it would skip proof")]
    machine = machine_of(["a", "z"], edges)
    assert [row["name"] for row in export_json(machine)["transitions"]] == ["go", "jump"]
    assert ("a", "z", "jump (never)") in read_back(export_mermaid(machine))[1]


@pytest.mark.parametrize("name", built_in_names())
def test_a_diagram_reads_back_to_the_same_relation(name: str) -> None:
    machine, _ = load(name, None)
    _names, arrows = read_back(export_mermaid(machine))
    starts = [("[*]", machine.initial, "")]
    edges = [(edge.source, edge.target, edge.name) for edge in machine.edges() if not edge.never]
    ends = [(state, "[*]", "") for state in machine.ends()]
    assert [arrow for arrow in arrows if not arrow[2].endswith("(never)")] == starts + edges + ends


@pytest.mark.parametrize("awkward", ["agent-review", "two words", "end", "State", "note", "a:b", "9lives", "[*]", "é"])
def test_a_state_a_diagram_can_not_spell_gets_an_alias(awkward: str) -> None:
    machine = machine_of([awkward, "z"], [edge("go", awkward, "z")])
    text = export_mermaid(machine)
    names, arrows = read_back(text)
    (alias,) = names
    assert re.fullmatch(r"[A-Za-z_]\w*", alias, re.ASCII)
    assert alias.lower() not in ("end", "state", "note")
    assert arrows[1][1:] == ("z", "go")


def test_aliases_never_collide() -> None:
    states = ["a-b", "a b", "s_a_b", "z"]
    machine = machine_of(states, [edge(f"go{number}", name, "z") for number, name in enumerate(states[:3])])
    names, arrows = read_back(export_mermaid(machine))
    assert len(names) == 2
    assert len({arrow[0] for arrow in arrows if arrow[2]}) == 3


def test_a_label_can_not_break_the_diagram() -> None:
    machine = machine_of(["a", "z"], [edge("go: now; #1 %% {x}\nnext", "a", "z")])
    assert read_back(export_mermaid(machine))[1][1] == ("a", "z", "go now 1 x next")
