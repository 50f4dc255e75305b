"""The checks that look for a person's word."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from detent.core.machine import Gate
from detent.core.values import Fact, Missing
from detent.gates.judge import judge
from detent.gates.people import lacks_only_word
from tests.unit.gates.conftest import MACHINE, World

FILES = {"deploy/job": "a" * 40}


def asked(world: World, touched: Mapping[str, str] | None, **said: object) -> Fact:
    seen = world.seen().replace(touched=lambda: touched, approved=said)
    return judge(seen, ["protected_ok"])["protected_ok"]


def test_nothing_touched_asks_nobody(world: World) -> None:
    assert asked(world, {}).ok


def test_what_nobody_looked_at_is_not_open(world: World) -> None:
    fact = asked(world, None)
    assert not fact.ok
    assert not fact.pending
    assert "detent diff" in fact.fix


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
    fact = asked(world, FILES, **said)
    assert fact.ok is is_open
    assert ("changed since" in fact.why) is (bool(said) and not is_open)
    assert bool(fact.proof) is is_open


def test_a_word_about_an_unknown_tree_is_none(world: World) -> None:
    world.tree_id = ""
    assert not asked(world, FILES, tree="", files=FILES, name="ann").ok


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
