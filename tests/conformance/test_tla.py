"""TLC and `machine check` agree: the same situations, the same moves, the same properties, for every machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from detent.core.explore import explore
from detent.machines.load import built_in_names, load
from detent.runner.vocabulary import vocabulary
from tests.conformance import tlc


@tlc.needs_tlc
@pytest.mark.parametrize("name", built_in_names())
def test_tlc_finds_the_situations_and_moves_of_the_exploration(name: str, tmp_path: Path) -> None:
    machine, _ = load(name, vocabulary())
    graph, found = explore(machine), tlc.check(machine, tmp_path)
    assert found.counted() == tlc.explored(graph)
    assert found.moves(machine) == {(graph.snapshots[one.source].state, one.edge) for one in graph.steps if one.edge}
    assert (found.violated, found.stuck(machine), graph.violations) == (frozenset(), 0, ())
