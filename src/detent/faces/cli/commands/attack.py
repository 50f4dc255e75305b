"""`detent attack`: scripted liars as real processes in a throw-away project, and what stops each of them."""

from __future__ import annotations

import sys
import time

from detent.effects.host.access import LEVELS
from detent.errors import ToolError, UsageError
from detent.faces.cli.output import show
from detent.faces.words.screen import printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from detent.faces.cli.arguments import Arguments
    from detent.lab.attack.attack import Attack
    from detent.lab.attack.lab import Play, Result

_NAME_WIDTH, _VERDICT_WIDTH, _MACHINE_WIDTH = 36, 19, 12
_NO_LEVEL = (
    "No level stops: wrong code with green tests; what an agent sends away where the network is allowed; words that\n"
    "mislead the next agent or you; a fault of the kernel. SECURITY.md says it in full."
)


def attack(arguments: Arguments) -> int:
    from detent.lab.attack.lab import lacking_grounds, play_all, plays
    from detent.lab.attack.table import ATTACKS

    only = arguments.texts("--only")
    attacks = [attack for attack in ATTACKS if not only or attack.name in only]
    known = {attack.name for attack in attacks}
    if unknown := [name for name in only if name not in known]:
        raise UsageError(f"there is no attack {unknown[0]!r}", next_step="detent attack --list")
    if arguments.has("--list"):
        return _list(arguments, attacks)
    levels = _levels(arguments.texts("--level"), is_all=arguments.has("--all"))
    machines = _machines(arguments.texts("--machine"))
    for ground, lacks in lacking_grounds().items():
        sys.stderr.write(printable(f"skipped: reward hacks of {ground}: {lacks}") + "\n")
    is_proving = not arguments.has("--without-proof")
    wanted = tuple(
        game for game in plays(levels, machines, only) if is_proving or (game.attack.is_hack and not game.is_control)
    )
    progress = _Progress(len(wanted))
    results: list[Result] = []
    for result in play_all(wanted, progress.begin, is_proving=is_proving):
        progress.clear()
        results.append(result)
        if not arguments.has("--json"):
            if len(results) == 1 or results[-2].level != result.level:
                sys.stdout.write(f"level {result.level}\n")
            _tell(result, f"{len(results)}/{len(wanted)}")
    is_ok = all(result.is_as_claimed for result in results)
    rows = [
        {**{field: getattr(result, field) for field in result._fields}, "as_claimed": result.is_as_claimed}
        for result in results
    ]
    summary = {"ok": is_ok, "seconds": round(progress.elapsed_s(), 1), "results": rows}
    show(arguments, summary, _summary(results, progress.elapsed_s()))
    return 0 if is_ok else 1


class _Progress:
    """Which attack is being played, of how many, and for how long; on a terminal it is one line that is replaced."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._started = time.monotonic()
        self._is_shown = sys.stderr.isatty()

    def elapsed_s(self) -> float:
        return time.monotonic() - self._started

    def begin(self, number: int, play: Play) -> None:
        if self._is_shown:
            words = (
                f"{number}/{self._total}  {self.elapsed_s():.0f} s  {play.level}  {play.machine}  {play.attack.name}"
            )
            sys.stderr.write(f"\r\x1b[K{words}")
            sys.stderr.flush()

    def clear(self) -> None:
        if self._is_shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


def _levels(wanted: Sequence[str], *, is_all: bool) -> tuple[str, ...]:
    """The levels that are asked for, else the best of this host."""
    from detent.lab.attack.lab import offered_levels

    for level in wanted:
        if level not in LEVELS:
            raise UsageError(f"there is no level {level!r}", next_step=f"use one of: {', '.join(LEVELS)}")
    offered = offered_levels()
    for level in wanted:
        if offered[level]:
            raise ToolError(f"{level} does not hold on this host: {offered[level]}", next_step="detent doctor")
    here = tuple(level for level in LEVELS if not offered[level])
    for level in LEVELS if is_all and not wanted else ():
        if offered[level]:
            sys.stderr.write(printable(f"skipped: {level} does not hold on this host: {offered[level]}") + "\n")
    return tuple(wanted) or (here if is_all else here[:1])


def _machines(wanted: Sequence[str]) -> tuple[str, ...]:
    """The machines that are asked for, else all whose tasks can get to their end on this host."""
    from detent.lab.attack.lab import offered_machines

    offered = offered_machines()
    for machine in wanted:
        if machine not in offered:
            raise UsageError(f"there is no machine {machine!r}", next_step=f"use one of: {', '.join(offered)}")
        if offered[machine]:
            raise ToolError(f"{machine} can't be attacked here: {offered[machine]}", next_step="detent attack --list")
    for machine, lacks in offered.items():
        if lacks and not wanted:
            sys.stderr.write(printable(f"skipped: {machine}: {lacks}") + "\n")
    return tuple(wanted) or tuple(machine for machine, lacks in offered.items() if not lacks)


def _tell(result: Result, count: str) -> None:
    line = (
        f"{result.verdict:<{_VERDICT_WIDTH}}{count:>9} {result.seconds:>5.0f} s  "
        f"{result.machine:<{_MACHINE_WIDTH}}{result.attack:<{_NAME_WIDTH}}{result.words}"
    )
    if not result.is_as_claimed and result.seen:
        line += f"\n{'':<{_VERDICT_WIDTH}}{result.seen}"
    sys.stdout.write(printable(line) + "\n")
    sys.stdout.flush()  # a minute is long without a word


def _summary(results: Sequence[Result], elapsed_s: float) -> str:
    from detent.lab.attack.lab import DONE, OPEN

    attacks = [result for result in results if result.verdict != DONE]
    still_open = sum(result.verdict == OPEN for result in attacks)
    wrong = [f"{result.attack} ({result.machine}, {result.level})" for result in results if not result.is_as_claimed]
    stopped = len(attacks) - still_open - len(wrong)
    noun = "attack" if len(attacks) == 1 else "attacks"
    count = f"\n{len(attacks)} {noun} in {elapsed_s:.0f} s: {stopped} stopped, {still_open} not stopped, as documented"
    lines = [count]
    lines += [f"NOT as documented: {', '.join(wrong)}"] if wrong else []
    return "\n".join((*lines, _NO_LEVEL))


def _list(arguments: Arguments, attacks: Sequence[Attack]) -> int:
    from detent.lab.attack.lab import OPEN, STOPPED

    rows, lines = [], []
    for attack in attacks:
        claims = {level: attack.claims[level] for level in attack.levels}
        rows.append(
            {
                "name": attack.name,
                "tries": attack.tries,
                "machines": list(attack.machines),
                "levels": {
                    level: {"stopped": claim.is_stopped, "words": claim.words} for level, claim in claims.items()
                },
            }
        )
        lines.append(f"{attack.name}: {attack.tries} ({', '.join(attack.machines)})")
        lines += [
            f"  {level:<12}{STOPPED if claim.is_stopped else OPEN:<13}{claim.words}" for level, claim in claims.items()
        ]
    show(arguments, {"attacks": rows}, "\n".join(lines))
    return 0
