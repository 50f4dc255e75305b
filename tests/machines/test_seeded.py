"""Every seeded bug is found, with a story; nothing is found in a sound machine that looks like one."""

from __future__ import annotations

import pytest

from detent.core.explore import Violation, explore
from detent.core.lint import lint
from detent.core.machine import Machine
from detent.errors import MachineError
from detent.machines.findings import CONTRADICTION, findings
from detent.runner.step.registry import meanings
from detent.words.machines import findings as say
from detent.words.message import code_of
from tests.machines.seeded import DEAD_END, LINT, NEVER, PARSE, PROPERTY, SEEDS, SOUND, VACUOUS, Seed

EXPLORED = [seed for seed in SEEDS if seed.kind not in (LINT, PARSE)]
WITHOUT_STORY = (NEVER, VACUOUS)  # what never happens has none


def found_in(machine: Machine) -> tuple[Violation, ...]:
    return findings(machine, explore(machine), meanings())


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


@pytest.mark.parametrize("seed", EXPLORED, ids=lambda seed: seed.name)
def test_seeded_bug_is_found_with_its_story(seed: Seed) -> None:
    machine = seed.machine()
    assert lint(machine) == (), "the edit itself is well formed, so that only the exploration can tell"
    found = [violation for violation in found_in(machine) if violation.kind == seed.kind]
    assert found
    if seed.kind in WITHOUT_STORY:
        return
    for finding in found:
        assert code_of(finding.story[0]) == "explore.start"
        for line in finding.story[1:]:
            assert any(
                actor in line for actor in ("agent", "engine", "person", "crash", "a run", say.and_so_on(), "files")
            ), line


@pytest.mark.parametrize("seed", SOUND, ids=lambda seed: seed.name)
def test_nothing_is_found_in_a_sound_machine(seed: Seed) -> None:
    machine = seed.machine()
    assert (lint(machine), found_in(machine)) == ((), ())


def test_contradiction_is_told_once_for_each_way() -> None:
    (seed,) = [seed for seed in SEEDS if seed.name == "lights-out: a red part of a green build"]
    rules = [violation.rule for violation in found_in(seed.machine()) if violation.kind == CONTRADICTION]
    assert rules == [
        say.never_open_together("Building", "BuildGatePassed", "PassBuildGate", 0, ("commands_ok", "build_lost"))
    ]
