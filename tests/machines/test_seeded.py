"""Every seeded bug is found, and nothing is found in a sound machine that looks like one."""

from __future__ import annotations

import pytest

from detent.core.explore import explore
from detent.core.lint import lint
from detent.errors import MachineError
from tests.machines.seeded import DEAD_END, LINT, PARSE, PROPERTY, SEEDS, SOUND, Seed


def test_seeds_have_names_of_their_own_and_are_many() -> None:
    names = [seed.name for seed in (*SEEDS, *SOUND)]
    assert len(set(names)) == len(names)
    assert len(SEEDS) >= 40
    assert all(seed.in_tla for seed in SEEDS if seed.kind in (PROPERTY, DEAD_END))


@pytest.mark.parametrize("seed", [seed for seed in SEEDS if seed.kind == PARSE], ids=lambda seed: seed.name)
def test_file_that_can_not_be_meant_is_not_parsed(seed: Seed) -> None:
    with pytest.raises(MachineError):
        seed.machine()


@pytest.mark.parametrize("seed", [seed for seed in SEEDS if seed.kind == LINT], ids=lambda seed: seed.name)
def test_mistake_that_shows_without_exploring_is_found(seed: Seed) -> None:
    assert lint(seed.machine())


@pytest.mark.parametrize("seed", SOUND, ids=lambda seed: seed.name)
def test_nothing_is_found_in_a_sound_machine(seed: Seed) -> None:
    machine = seed.machine()
    assert (lint(machine), explore(machine).violations) == ((), ())
