"""A machine is held against a relation: what differs is named, and all shapes of relation files can be read."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from detent.core.machine import Edge, Machine, State, Way
from detent.errors import UnreadableError
from detent.machines.load import built_in_names, load
from detent.verify.compare import Comparison, compare
from detent.verify.documents.document import read_document
from detent.verify.export import export_json
from detent.verify.relation import edge_name
from detent.words.message import code_of
from detent.words.verify import documents as say

RELATIONS = Path(__file__).resolve().parents[2] / "data" / "relations"
SEEDS = sorted(path.name for path in RELATIONS.glob("[0-9]*.json") if not path.name.endswith("refinement.json"))


def machine_from(relation: Mapping[str, Any]) -> Machine:
    """A machine made to measure."""
    states = {
        name: State(
            name,
            "person",
            is_end=name in relation["terminal"],
            edges=tuple(
                Edge(edge_name(row), str(row["name"]), row["from"], row["to"], (Way(0, ("person",)),))
                for row in relation["transitions"]
                if row["from"] == name
            ),
        )
        for name in relation["states"]
    }
    return Machine("made", "", relation["initial"], states, {}, {}, {})


def relation(**changes: Any) -> dict[str, Any]:
    made: dict[str, Any] = {
        "states": ["a", "b", "z"],
        "initial": "a",
        "terminal": ["z"],
        "transitions": [
            {"from": "a", "to": "b", "name": "first step"},
            {"from": "b", "to": "z", "name": "Finish"},
        ],
    }
    return {**made, **changes}


MACHINE = machine_from(relation())


@pytest.mark.requirement("S0.10", "S0.30")
def test_the_phase_machine_is_the_relation_of_its_document() -> None:
    machine, _ = load("phase", None)
    assert compare(machine, read_document(str(RELATIONS / "000_phase.json"), machine)) == Comparison(equal=True)


def relation_of(name: str) -> Path | None:
    """The relation of a built-in machine: `NAME.json`, with the number of its document in front where it has one."""
    wanted = name.replace("-", "")
    found = (path for path in sorted(RELATIONS.glob("*.json")) if path.stem.lstrip("0123456789_") == wanted)
    return next(found, None)


@pytest.mark.parametrize("name", built_in_names())
def test_each_built_in_machine_is_the_relation_of_its_document(name: str) -> None:
    path = relation_of(name)
    assert path, (
        f"write what its document says to tests/data/relations/{name.replace('-', '')}.json; see CONTRIBUTING.md"
    )
    machine, _ = load(name, None)
    assert compare(machine, read_document(str(path), machine)) == Comparison(equal=True)


@pytest.mark.parametrize("name", SEEDS)
def test_every_shape_of_relation_file_is_read(name: str) -> None:
    read = json.loads((RELATIONS / name).read_text())
    assert len(read["transitions"]) == read["counts"]["transitions"]
    assert len(read["states"]) == read["counts"]["states"]
    assert compare(machine_from(read), read).equal
    names = [(row["from"], edge_name(row)) for row in read["transitions"]]
    assert len(set(names)) == len(names)  # a name is unique per from-state


def test_there_are_five_of_them() -> None:
    assert len(SEEDS) == 5


@pytest.mark.parametrize(
    ("name", "slug"),
    [
        ("intake_to_shape", "intake_to_shape"),
        ("CommitToBuild", "CommitToBuild"),
        ("retry", "retry"),
        ("review needs changes", "review-needs-changes"),
        ("pending -> working", "pending-to-working"),
        ("agent-review -> stuck", "agent-review-to-stuck"),
        ("human approves (skip assess)", "human-approves-skip-assess"),
        ("criteria failed, no iterations remain", "criteria-failed-no-iterations-remain"),
        ("unclear / needs review", "unclear-needs-review"),
        (None, "revert-to-done"),
    ],
)
def test_a_name_becomes_a_slug_unless_it_is_an_identifier(name: str | None, slug: str) -> None:
    assert edge_name({"from": "revert", "to": "done", "name": name}) == slug


@pytest.mark.parametrize(
    ("changes", "difference"),
    [
        ({"states": ["a", "b", "z", "y"]}, {"missing_states": ("y",)}),
        ({"states": ["a", "z"]}, {"extra_states": ("b",)}),
        ({"initial": "b"}, {"initial": ("b", "a")}),
        ({"terminal": []}, {"extra_terminal": ("z",)}),
        ({"terminal": ["z", "b"]}, {"missing_terminal": ("b",)}),
        ({"transitions": relation()["transitions"][:1]}, {"extra_edges": (("b", "z", "Finish"),)}),
        (
            {"transitions": [*relation()["transitions"], {"from": "b", "to": "a", "name": "back"}]},
            {"missing_edges": (("b", "a", "back"),)},
        ),
        (
            {"transitions": [relation()["transitions"][0], {"from": "b", "to": "z", "name": "end it"}]},
            {"renamed": (("b", "z", "end-it", "Finish"),)},
        ),
        (
            {"transitions": [*relation()["transitions"], relation()["transitions"][1]]},
            {"missing_edges": (("b", "z", "Finish"),)},
        ),
        (
            {"transitions": [relation()["transitions"][0], {"from": "b", "to": "a", "name": "Finish"}]},
            {"missing_edges": (("b", "a", "Finish"),), "extra_edges": (("b", "z", "Finish"),)},
        ),
    ],
)
def test_each_difference_is_named(changes: dict[str, Any], difference: dict[str, Any]) -> None:
    assert compare(MACHINE, relation(**changes)) == Comparison(equal=False, **difference)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("[]", say.no_relation_file(say.no_table())),
        (json.dumps({"states": []}), say.no_relation_file(say.key_missing("initial"))),
        (json.dumps(relation(states=[1])), say.no_relation_file(say.state_no_text())),
        (json.dumps(relation(transitions=[{"from": "a"}])), say.no_relation_file(say.lacks_from_or_to(1))),
        (json.dumps(relation(transitions=["a"])), say.no_relation_file(say.lacks_from_or_to(1))),
        (
            json.dumps(relation(transitions=[{"from": "a", "to": "b", "name": 3}])),
            say.no_relation_file(say.name_no_text(1)),
        ),
        (
            json.dumps(relation(transitions=[{"from": "a", "to": "b", "by": "agent"}])),
            say.no_relation_file(say.no_texts(1, "by")),
        ),
        (
            json.dumps(relation(transitions=[{"from": "a", "to": "b", "needs": [1]}])),
            say.no_relation_file(say.no_texts(1, "needs")),
        ),
        (
            json.dumps(relation(transitions=[{"from": "a", "to": "b", "by": ["cat"]}])),
            say.no_relation_file(say.unknown_actor(1, "cat", ("agent", "engine", "person", "crash"))),
        ),
    ],
)
def test_what_is_no_relation_is_refused_with_a_reason(tmp_path: Path, content: str, words: str) -> None:
    path = tmp_path / "relation.json"
    path.write_text(content)
    with pytest.raises(UnreadableError) as caught:
        read_document(str(path), MACHINE)
    assert caught.value.what == words


@pytest.mark.parametrize("content", ["no json", "[" * 100_000])
def test_what_is_no_json_is_no_relation(tmp_path: Path, content: str) -> None:
    path = tmp_path / "relation.json"
    path.write_text(content)
    with pytest.raises(UnreadableError) as caught:
        read_document(str(path), MACHINE)
    assert code_of(caught.value.what) == "documents.no_json"


BY_ENGINE = [{**relation()["transitions"][0], "by": ["engine"]}, relation()["transitions"][1]]
WITH_GATE = [{**relation()["transitions"][0], "needs": ["ready"]}, relation()["transitions"][1]]


def test_an_actor_that_differs_is_named() -> None:
    found = compare(MACHINE, relation(transitions=BY_ENGINE))
    assert found == Comparison(equal=False, actors=(("a", "b", "first-step", ("engine",), ("person",)),))
    same = [{**row, "by": ["person"]} for row in relation()["transitions"]]
    assert compare(MACHINE, relation(transitions=same)).equal


def test_a_gate_that_differs_is_named() -> None:
    found = compare(MACHINE, relation(transitions=WITH_GATE))
    assert found == Comparison(equal=False, gates=(("a", "b", "first-step", ("ready",), ()),))
    none = [{**row, "needs": []} for row in relation()["transitions"]]
    assert compare(MACHINE, relation(transitions=none)).equal


@pytest.mark.parametrize("name", built_in_names())
def test_actors_and_gates_of_our_own_export_are_compared(name: str) -> None:
    machine, _ = load(name, None)
    content = export_json(machine)
    assert compare(machine, content) == Comparison(equal=True)
    for number, row in enumerate(content["transitions"]):
        other = {"by": ["crash"] if row["by"] != ["crash"] else ["agent"], "needs": [*row["needs"], "another"]}
        for key, value in other.items():
            rows = [*content["transitions"][:number], {**row, key: value}, *content["transitions"][number + 1 :]]
            found = compare(machine, {**content, "transitions": rows})
            differing = found.actors if key == "by" else found.gates
            # Gates that the machine does not know are words: then only whether the move has any is compared.
            assert len(differing) == (1 if key == "by" else 0 if row["needs"] else 1)


def test_compare_itself_refuses_what_is_no_relation() -> None:
    with pytest.raises(UnreadableError, match=re.escape(say.key_missing("states"))):
        compare(MACHINE, {"edges": []})


def test_missing_file_and_a_file_of_another_kind_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UnreadableError, match=re.escape(say.no_file())):
        read_document(str(tmp_path / "none.json"), MACHINE)
    with pytest.raises(UnreadableError, match=re.escape(say.key_missing("states"))):
        read_document(str(RELATIONS / "002_refinement.json"), MACHINE)
