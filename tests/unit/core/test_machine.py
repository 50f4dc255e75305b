"""The shapes a machine is made of: what is not said is not granted, and the relation is read off the edges."""

from __future__ import annotations

import pytest

from detent.core.machine import ANY_EXIT, EXIT_CLASSES, Edge, Limit, Machine, State, Way
from detent.core.values import Fact, Missing, Snapshot
from tests.unit.core.small import small


def test_an_edge_is_plain_unless_it_says_otherwise() -> None:
    edge = Edge("go", "go", "a", "b", ())
    assert (edge.sign_off, edge.reopen, edge.never, edge.option) == (False, False, "", "")
    assert (edge.verbs, edge.instead) == ((), {})


def test_a_state_is_plain_unless_it_says_otherwise() -> None:
    state = State("a", "person")
    assert (state.is_end, state.is_rest, state.cross_cutting, state.must_open, state.lands) == (False,) * 5
    assert (state.role, state.access, state.edges, state.respawn) == ("", "", (), "ask")


def test_limits_machines_and_values_are_plain_unless_they_say_otherwise() -> None:
    limit = Limit("rounds", 2, 2)
    assert (limit.per_group, limit.resets_always, limit.field, limit.first) == (False, False, "", 0)
    assert not Machine("m", "", "a", {}, {}, {}, {}).may_override
    fact = Fact("ready", ok=False)
    assert (fact.by_hand, fact.pending, fact.note) == (False, False, "")
    assert not Missing("ready", "why").pending
    assert (Snapshot("a").seq, Snapshot("a").exit) == (0, "entry")


def test_after_any_end_does_not_mean_after_an_empty_purse() -> None:
    assert set(EXIT_CLASSES) - set(ANY_EXIT) == {"quota"}
    assert Way(0, ("engine",)).after == ("finished",)


@pytest.mark.parametrize(
    ("by", "expected"),
    [
        ([("person",), ("agent",)], ("agent", "person")),
        ([("crash", "engine")], ("engine", "crash")),
        ([("engine",), ("engine", "agent")], ("agent", "engine")),
        ([], ()),
    ],
)
def test_everyone_with_way_is_named_once_and_in_fixed_order(
    by: list[tuple[str, ...]], expected: tuple[str, ...]
) -> None:
    ways = tuple(Way(number, who) for number, who in enumerate(by))
    assert Edge("go", "go", "a", "b", ways).by() == expected


def test_the_relation_has_every_edge_but_no_re_opening() -> None:
    made = small(
        '[[edge]]\nname = "go"\nfrom = ["work", "wait"]\nto = "over"\n'
        '[[edge]]\nname = "no"\nfrom = "look"\nto = "over"\nnever = "no"\n'
        '[[reopen]]\nname = "redo"\nfrom = "over"\nto = "work"'
    )
    assert [(edge.source, edge.name) for edge in made.edges()] == [("work", "go"), ("look", "no"), ("wait", "go")]
    assert made.ends() == ("over",)
