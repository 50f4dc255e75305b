"""Plays attacks against the real engine and says what became of each."""

from __future__ import annotations

import os
from importlib.util import find_spec

from detent.core.record import Record
from detent.effects.sandbox import LANDLOCK, LEVELS, NONE, try_level
from detent.proof.attack.inside import BEGUN, TRIED
from detent.proof.attack.scene import Scene
from detent.proof.attack.table import ATTACKS, CONTROLS
from detent.proof.attack.values import IN_PLACE, MACHINES
from detent.proof.attack.variants import VARIANTS
from detent.proof.attack.walks.table import WALKS
from detent.proof.attack.world import World

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from detent.proof.attack.values import Attack, Claim

STOPPED, OPEN, BETTER, DONE = "stopped", "NOT STOPPED", "stopped after all", "done"
SUCCEEDED, BROKEN = "SUCCEEDED", "DID NOT RUN"
AS_CLAIMED = (STOPPED, OPEN, BETTER, DONE)


class Result(Record):
    """What became of one attack on one machine at one level."""

    attack: str
    machine: str
    level: str
    verdict: str
    words: str  # what stopped it, or why nothing does
    seen: str = ""  # what showed that it succeeded, or why it did not run

    @property
    def is_as_claimed(self) -> bool:
        return self.verdict in AS_CLAIMED


class Play(Record):
    """One attack, or one honest control, on one machine at one level."""

    attack: Attack
    machine: str
    level: str
    is_control: bool = False


def offered_levels() -> dict[str, str]:
    """Every level by name, with why it does not hold on this host; empty when it does."""
    return {level: try_level(level, os.environ) for level in LEVELS}


def offered_machines() -> dict[str, str]:
    """Every machine by name, with what this host lacks for its tasks to get to their end; empty when nothing."""
    needs = {machine: WALKS[machine].needs for machine in MACHINES}
    return {
        machine: "" if not module or find_spec(module) else f"it needs {module}: pip install 'detent[audit]'"
        for machine, module in needs.items()
    }


def claim_of(attack: Attack, level: str, machine: str) -> Claim:
    """What the level claims on this host's kernel for a task of this machine."""
    claim = attack.claims[level]
    if level == LANDLOCK and is_in_place(attack, machine) and claim != attack.claims[NONE]:
        claim = attack.claims[NONE]
        return claim.replace(words=f"Landlock can't hold a task in place, the run is at level none: {claim.words}")
    if level == LANDLOCK and claim.is_stopped and claim.landlock > landlock_version():
        return claim.replace(
            is_stopped=False, words=f"needs Landlock version {claim.landlock}, which this kernel lacks"
        )
    return claim


def is_in_place(attack: Attack, machine: str) -> bool:
    return machine in IN_PLACE or "--in-place" in VARIANTS[attack.variant].new


def landlock_version() -> int:
    from detent.effects.landlock_process import version

    return version()


def play(world: World, one: Play) -> Result:
    """Let one attacker loose, then look."""
    attack = one.attack
    scene = Scene(world, world.at(one.machine, attack.stage, one.level, attack.variant).walk, attack.task)
    scene.listen()
    try:
        scene.play_next(attack.name)
        if attack.drive is not None:
            attack.drive(scene)
        else:
            for _ in range(attack.runs):
                scene.let_loose(attack.name)
        seen = attack.shows(scene)
        problem = "" if seen or not attack.has_agent else _did_not_try(scene, attack)
    finally:
        scene.close()
    return _judged(one, claim_of(attack, one.level, one.machine), seen, problem)


def _judged(one: Play, claim: Claim, seen: str, problem: str) -> Result:
    result = Result(one.attack.name, one.machine, one.level, BROKEN, claim.words, problem)
    if one.is_control:  # a lab in which nothing can succeed proves nothing
        return result.replace(verdict=DONE if seen else BROKEN, words=one.attack.tries, seen=seen or problem or "no")
    if problem:
        return result
    verdicts = {(True, True): SUCCEEDED, (True, False): STOPPED, (False, True): OPEN, (False, False): BETTER}
    return result.replace(verdict=verdicts[claim.is_stopped, bool(seen)], seen=seen)


def _did_not_try(scene: Scene, attack: Attack) -> str:
    """An attacker that never came to its attack was stopped by nothing."""
    names = os.listdir(scene.task_home("out")) if os.path.isdir(scene.task_home("out")) else []
    wanted = BEGUN if attack.is_cut_short else TRIED
    if any(name.startswith(f"{wanted}-") for name in names):
        return ""
    return f"the attacker did not get to its attack: {scene.said().strip()[-300:]}"


def plays(levels: Sequence[str], machines: Sequence[str], only: Sequence[str]) -> tuple[Play, ...]:
    """What there is to play: for each machine and level its honest controls first, then the attacks."""
    wanted = tuple(attack for attack in ATTACKS if not only or attack.name in only)
    found = []
    for level in levels:
        for machine in machines:
            fit = [attack for attack in wanted if machine in attack.machines and level in attack.levels]
            stages = {(attack.stage, attack.variant) for attack in fit}
            found += [
                Play(control, machine, level, is_control=True)
                for control in CONTROLS
                if fit
                and machine in control.machines
                and level in control.levels
                and (control.variant == "" or (control.stage, control.variant) in stages)
            ]
            found += [Play(attack, machine, level) for attack in fit]
    return tuple(found)


def sample(levels: Sequence[str], machines: Sequence[str]) -> tuple[Play, ...]:
    """Every attack once: machines and levels take turns, the same way every time."""
    found = []
    for number, attack in enumerate(ATTACKS):
        fit = [
            Play(attack, machine, level)
            for machine in machines
            if machine in attack.machines
            for level in levels
            if level in attack.levels
        ]
        found += [fit[number % len(fit)]] if fit else []
    return tuple(found)


def play_all(
    top: str, wanted: Sequence[Play], tell: Callable[[int, Play], None] = lambda _number, _play: None
) -> Iterator[Result]:
    """One after the other; `top` is a folder of the lab's own, `tell` hears of each before it starts."""
    world = World(top)
    for number, one in enumerate(wanted, 1):
        tell(number, one)
        yield play(world, one)
