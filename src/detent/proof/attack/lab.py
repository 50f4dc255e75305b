"""Plays attacks against the real engine and says what became of each."""

from __future__ import annotations

import os

from detent.core.record import Record
from detent.effects.sandbox import LANDLOCK, LEVELS, try_level
from detent.proof.attack.inside import BEGUN, TRIED
from detent.proof.attack.scene import Scene
from detent.proof.attack.table import ATTACKS, HONEST
from detent.proof.attack.world import World

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from detent.proof.attack.values import Attack, Claim

STOPPED, OPEN, BETTER, DONE = "stopped", "NOT STOPPED", "stopped after all", "done"
SUCCEEDED, BROKEN = "SUCCEEDED", "DID NOT RUN"
AS_CLAIMED = (STOPPED, OPEN, BETTER, DONE)


class Result(Record):
    """What became of one attack at one level."""

    attack: str
    level: str
    verdict: str
    words: str  # who stopped it, or why nothing does
    seen: str = ""  # what showed that it succeeded, or why it did not run

    @property
    def is_as_claimed(self) -> bool:
        return self.verdict in AS_CLAIMED


def offered_levels() -> dict[str, str]:
    """Every level by name, with why it does not hold on this host; empty when it does."""
    return {level: try_level(level, os.environ) for level in LEVELS}


def claim_of(attack: Attack, level: str) -> Claim:
    """What the level claims on this host's kernel."""
    claim = attack.claims[level]
    if level == LANDLOCK and claim.is_stopped and claim.landlock > landlock_version():
        return claim.replace(
            is_stopped=False, words=f"needs Landlock version {claim.landlock}, which this kernel lacks"
        )
    return claim


def landlock_version() -> int:
    from detent.effects.landlock_process import version

    return version()


def play(world: World, attack: Attack, level: str) -> Result:
    """Let one attacker loose, then look."""
    world.at(attack.stage, level)
    scene = Scene(world, attack.stage, attack.task)
    scene.listen()
    try:
        for _ in range(attack.runs):
            scene.let_loose(attack.name)
        seen = attack.shows(scene)
        problem = "" if seen else _did_not_try(scene, attack)
    finally:
        scene.close()
    claim = claim_of(attack, level)
    if problem:
        return Result(attack.name, level, BROKEN, claim.words, problem)
    verdicts = {(True, True): SUCCEEDED, (True, False): STOPPED, (False, True): OPEN, (False, False): BETTER}
    return Result(attack.name, level, verdicts[claim.is_stopped, bool(seen)], claim.words, seen)


def play_honest(world: World, level: str) -> Result:
    """The control: an honest agent must reach its end, or the lab proves nothing."""
    result = play(world, HONEST, level)
    if result.verdict == SUCCEEDED:
        return result.replace(verdict=DONE, words="an honest agent reaches done")
    return result.replace(verdict=BROKEN, words="an honest agent must reach done", seen=result.seen or "it did not")


def _did_not_try(scene: Scene, attack: Attack) -> str:
    """An attacker that never came to its attack was stopped by nothing."""
    names = os.listdir(scene.task_home("out")) if os.path.isdir(scene.task_home("out")) else []
    wanted = BEGUN if attack.is_cut_short else TRIED
    if any(name.startswith(f"{wanted}-") for name in names):
        return ""
    told = scene.runs[-1].stdout + scene.runs[-1].stderr
    return f"the attacker did not get to its attack: {told.decode('utf-8', 'replace').strip()[-300:]}"


def chosen(only: Sequence[str]) -> tuple[Attack, ...]:
    return tuple(attack for attack in ATTACKS if not only or attack.name in only)


def play_all(top: str, levels: Sequence[str], only: Sequence[str]) -> Iterator[Result]:
    """The control first, then every attack, at each level; `top` is a folder of the lab's own."""
    world = World(top)
    for level in levels:
        for attack in (None, *chosen(only)):
            if attack is not None and level not in attack.levels:
                continue
            yield play_honest(world, level) if attack is None else play(world, attack, level)
