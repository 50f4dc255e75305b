"""The TLA+ module of a machine: every move is one action with a name of its own, and nothing comes from the graph."""

from __future__ import annotations

import re

import pytest

from detent.core.machine import Edge, Machine, State, Way
from detent.machines.load import built_in_names, load
from detent.verify.tla.module import action_names, export_tla
from tests.unit.core.small import small


def named(*names: str) -> Machine:
    """A machine whose moves are called so, each from a state of its own."""
    way = (Way(0, ("person",)),)
    states = {
        f"s{number}": State(f"s{number}", "person", edges=(Edge(name, name, f"s{number}", "end", way),))
        for number, name in enumerate(names)
    }
    made = load("phase", None)[0]
    end = State("end", "", is_end=True)
    return made.replace(name="made", initial="s0", states={**states, "end": end}, registers={}, properties=())


@pytest.mark.parametrize("name", built_in_names())
def test_every_move_that_may_be_taken_is_one_action(name: str) -> None:
    machine, _ = load(name, None)
    made, names = export_tla(machine), action_names(machine)
    steps = re.findall(r"^  \\/ (\w+)$", made.text.split("\nNext ==\n")[1].split("\n\n")[0], re.MULTILINE)
    taken = [edge for state in machine.states.values() for edge in state.edges if not edge.never]
    assert {names[edge.source, edge.name] for edge in taken} <= set(steps)
    assert len(names) == len(taken) == len(set(names.values()))
    assert len(steps) == len(set(steps))
    for step in steps:
        assert len(re.findall(rf"^{step} ==", made.text, re.MULTILINE)) == 1
    assert made.config.count("INVARIANT Property_") == len(machine.properties)


def test_a_move_that_may_never_be_taken_is_no_action() -> None:
    machine, _ = load("lights-out", None)
    never = [edge for edge in machine.edges() if edge.never]
    assert never
    assert not [edge for edge in never if (edge.source, edge.name) in action_names(machine)]


@pytest.mark.parametrize("name", ["Take", "Next", "Init", "state", "CASE", "who", "way1", "WF_x", "42", "-", "x", "é"])
def test_a_move_gets_a_name_that_the_language_allows(name: str) -> None:
    (found,) = action_names(named(name)).values()
    assert re.fullmatch(r"[A-Za-z0-9_]*[A-Za-z][A-Za-z0-9_]*", found)
    assert found not in ("Take", "Next", "Init", "state", "CASE", "who", "way1")
    assert not found.startswith("WF_")


def test_same_named_moves_and_similar_names_stay_apart() -> None:
    found = list(action_names(named("go on", "go-on", "go_on", "stop", "stop", "go_on_asked")).values())
    assert len(set(found)) == len(found)
    assert not {f"{name}_asked" for name in found} & set(found)


def test_texts_are_escaped() -> None:
    machine = named("go").replace(name='a "b" c')
    assert export_tla(machine).module == "ABC"
    states = {**machine.states, 'say "\\': State('say "\\', "person")}
    assert r'"say \"\\"' in export_tla(machine.replace(states=states)).text


EDGES = """
[[edge]]
name = "show"
from = "work"
to   = "look"
ways = [{ by = ["agent"], needs = ["ready"], under = "tries" }, { by = ["engine"], needs = ["seen"], spent = "tries" }]
counts = ["tries"]
[[edge]]
name = "back"
from = "look"
to   = "work"
by   = ["person"]
resets = ["tries"]
[[edge]]
name = "finish"
from = "look"
to   = "over"
by   = ["engine"]
needs = ["seen"]
[limit.tries]
max = 2
"""


def test_guards_limits_and_order_of_ways_are_in_the_module() -> None:
    text = export_tla(small(EDGES)).text
    show = text.split("show_asked(who, ended, said, open) ==")[1].split("\n\n")[0]
    assert '/\\ Holds(who, {"agent"})' in show
    assert 'Spent(count, group, "tries", "") < Most["tries"]' in show
    assert 'Spent(count, group, "tries", "") >= Most["tries"]' in show
    assert 'who = "engine" => ended \\in {"finished"}' in show
    assert "/\\ way2 /\\ ~way1" in show
    assert 'open \\in SUBSET {"ready", "seen"}' in show
    assert '"work", {"tries"}, {}, register)' in text
