"""Plays attacks against the real engine and says what became of each."""

from __future__ import annotations

import os
import tempfile
import time
from importlib.util import find_spec

from detent.core.record import Record
from detent.effects.host.access import LANDLOCK, LEVELS, NONE
from detent.effects.host.programs import find_on
from detent.effects.host.sandbox import try_level
from detent.errors import DetentError
from detent.lab.attack.attack import never
from detent.lab.attack.ground import remove, search_path
from detent.lab.attack.hacks.grounds import GROUNDS
from detent.lab.attack.hacks.hack import is_done
from detent.lab.attack.inside import BEGUN, TRIED
from detent.lab.attack.scene import Scene
from detent.lab.attack.table import ATTACKS, CONTROLS, HONEST_CHANGES
from detent.lab.attack.values import IN_PLACE, MACHINES
from detent.lab.attack.variants import VARIANTS
from detent.lab.attack.walks.table import WALKS
from detent.lab.attack.world import World

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from detent.lab.attack.attack import Attack, Claim

STOPPED, OPEN, BETTER, DONE = "stopped", "NOT STOPPED", "stopped after all", "done"
SUCCEEDED, BROKEN, SHOWS_NOTHING = "SUCCEEDED", "DID NOT RUN", "SHOWS NOTHING"
UNPROVEN = never("without `[proof]` the exit code is believed")[NONE]
_MODULE = "pytest"  # a module of Python; all else that a ground needs is a program
AS_CLAIMED = (STOPPED, OPEN, BETTER, DONE)


class Result(Record):
    """What became of one attack on one machine at one level."""

    attack: str
    machine: str
    level: str
    verdict: str
    words: str  # what stopped it, or why nothing does
    seen: str = ""  # what showed that it succeeded, or why it did not run
    seconds: float = 0.0

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


def lacking_grounds() -> dict[str, str]:
    """The repositories of reward hacks that can't be tried here, with what this host lacks."""
    needs = {name: ground.needs for name, ground in GROUNDS.items() if ground.needs}
    return {
        name: f"it needs {what}, which is not installed"
        for name, what in needs.items()
        if not (find_spec(what) if what == _MODULE else find_on(search_path(), what))
    }


def claim_of(attack: Attack, level: str, machine: str) -> Claim:
    """What the level claims on this host's kernel for a task of this machine."""
    claim = attack.claims[level]
    is_unheld = is_in_place(attack, machine) and not attack.is_in_proof
    if level == LANDLOCK and is_unheld and claim != attack.claims[NONE]:
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
    from detent.effects.host.landlock_process import version

    return version()


def play(world: World, play_: Play) -> Result:
    """Let one attacker loose, then look; a scene that can't be set up is a fault of the lab, and said so."""
    started = time.monotonic()
    claim = claim_of(play_.attack, play_.level, play_.machine) if world.is_proving else UNPROVEN
    try:
        result = _play(world, play_, claim)
    except (DetentError, OSError) as error:
        what = error.what if isinstance(error, DetentError) else str(error)
        result = Result(play_.attack.name, play_.machine, play_.level, BROKEN, claim.words, what)
    return result.replace(seconds=round(time.monotonic() - started, 2))


def _play(world: World, play: Play, claim: Claim) -> Result:
    attack = play.attack
    scene = Scene(world, world.at(play.machine, attack.stage, play.level, attack.variant).course, attack.task)
    scene.listen()
    try:
        scene.play_next(attack.name)
        if attack.drive is not None:
            attack.drive(scene)
        else:
            for _ in range(attack.runs):
                scene.let_loose(attack.name)
        seen = (attack.shows if world.is_proving else is_done)(scene)
        problem = "" if seen or not attack.has_agent else _did_not_try(scene, attack)
    finally:
        scene.close()
    return _judged(play, claim, seen, problem)


def _judged(play: Play, claim: Claim, seen: str, problem: str) -> Result:
    result = Result(play.attack.name, play.machine, play.level, BROKEN, claim.words, problem)
    if play.is_control:  # a lab in which nothing can succeed proves nothing
        return result.replace(verdict=DONE if seen else BROKEN, words=play.attack.tries, seen=seen or problem or "no")
    if problem:
        return result
    if claim == UNPROVEN and not seen:
        return result.replace(verdict=SHOWS_NOTHING, seen="it does not get to the end where exit codes alone count")
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
    lacking = lacking_grounds()
    wanted = tuple(attack for attack in ATTACKS if (not only or attack.name in only) and attack.variant not in lacking)
    found = []
    for level in levels:
        for machine in machines:
            fit = [attack for attack in wanted if machine in attack.machines and level in attack.levels]
            found += [
                Play(attack, machine, level, is_control=True)
                for attack in _controls(fit, machine, level, is_short=bool(only))
            ]
            found += [Play(attack, machine, level) for attack in fit]
    return tuple(found)


def _controls(attacks: Sequence[Attack], machine: str, level: str, *, is_short: bool) -> list[Attack]:
    """Honest work must get to its end with the settings of each attack, or that it was stopped says nothing.

    `is_short`: only the first honest change of each runner.
    """
    variants = dict.fromkeys(attack.variant for attack in attacks if VARIANTS[attack.variant].is_workable)
    honest, *others = CONTROLS
    more = [honest.replace(name=f"{honest.name}-{name}", variant=name) for name in variants if name]
    hacked = {attack.variant for attack in attacks if attack.is_hack}
    honest_changes = [attack for attack in HONEST_CHANGES if attack.variant in hacked]
    if is_short:
        honest_changes = list({attack.variant: attack for attack in reversed(honest_changes)}.values())
    wanted = {attack.control for attack in attacks} | {attack.name for attack in honest_changes}
    fit = [
        attack for attack in others if attack.name in wanted and machine in attack.machines and level in attack.levels
    ]
    return [honest, *more, *fit] if attacks else []


def sample(levels: Sequence[str], machines: Sequence[str]) -> tuple[Play, ...]:
    """Every attack once, and one reward hack of each test runner: machines and levels take turns, always alike."""
    found = []
    lacking = lacking_grounds()
    hacks = {attack.variant: attack for attack in ATTACKS if attack.is_hack and attack.variant not in lacking}
    for number, attack in enumerate((*(attack for attack in ATTACKS if not attack.is_hack), *hacks.values())):
        fit = [
            Play(attack, machine, level)
            for machine in machines
            if machine in attack.machines
            for level in levels
            if level in attack.levels
        ]
        # A long way is not gone once more for settings that other machines can be tried with.
        short = [play for play in fit if not (attack.variant and WALKS[play.machine].is_long)] or fit
        found += [short[number % len(short)]] if short else []
    return tuple(found)


def play_all(
    wanted: Sequence[Play],
    tell: Callable[[int, Play], None] = lambda _number, _play: None,
    *,
    is_proving: bool = True,
) -> Iterator[Result]:
    """One after the other, in a folder of the lab's own; `tell` hears of each before it starts.

    Without proof each reward hack must get to the end: one that does not shows nothing of what stops it.
    """
    top = tempfile.mkdtemp(prefix="detent-attack-")
    try:
        world = World(top)
        world.is_proving = is_proving
        for number, play_ in enumerate(wanted, 1):
            tell(number, play_)
            yield play(world, play_)
    finally:
        remove(top)
