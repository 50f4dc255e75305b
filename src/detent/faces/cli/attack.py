"""`detent attack`: scripted liars as real processes in a throw-away project, and what stops each of them."""

from __future__ import annotations

import sys
import tempfile

from detent.effects.sandbox import LEVELS
from detent.errors import ToolError, UsageError
from detent.faces.cli.output import show
from detent.faces.words import printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from detent.faces.cli.arguments import Arguments
    from detent.proof.attack.lab import Result
    from detent.proof.attack.values import Attack

_NAME_WIDTH, _VERDICT_WIDTH = 34, 19
_NO_LEVEL = (
    "No level stops: wrong code with green tests; what an agent sends away where the network is allowed; words that\n"
    "mislead the next agent or you; a fault of the kernel. SECURITY.md says it in full."
)


def attack(arguments: Arguments) -> int:
    from detent.proof.attack.lab import chosen, play_all

    only = arguments.texts("--only")
    attacks = chosen(only)
    known = {one.name for one in attacks}
    if unknown := [name for name in only if name not in known]:
        raise UsageError(f"there is no attack {unknown[0]!r}", next_step="detent attack --list")
    if arguments.has("--list"):
        return _list(arguments, attacks)
    levels = _levels(arguments.texts("--level"))
    results: list[Result] = []
    with tempfile.TemporaryDirectory(prefix="detent-attack-", ignore_cleanup_errors=True) as top:
        for result in play_all(top, levels, only):
            results.append(result)
            if not arguments.has("--json"):
                _tell(result, is_first=sum(one.level == result.level for one in results) == 1)
    is_ok = all(result.is_as_claimed for result in results)
    rows = [
        {**{field: getattr(one, field) for field in one._fields}, "as_claimed": one.is_as_claimed} for one in results
    ]
    show(arguments, {"ok": is_ok, "results": rows}, _summary(results))
    return 0 if is_ok else 1


def _levels(wanted: Sequence[str]) -> tuple[str, ...]:
    """The levels that are asked for, else the best of this host."""
    from detent.proof.attack.lab import offered_levels

    for level in wanted:
        if level not in LEVELS:
            raise UsageError(f"there is no level {level!r}", next_step=f"use one of: {', '.join(LEVELS)}")
    offered = offered_levels()
    for level in wanted:
        if offered[level]:
            raise ToolError(f"{level} does not hold on this host: {offered[level]}", next_step="detent doctor")
    return tuple(wanted) or (next(level for level in LEVELS if not offered[level]),)


def _tell(result: Result, *, is_first: bool) -> None:
    line = f"{result.verdict:<{_VERDICT_WIDTH}}{result.attack:<{_NAME_WIDTH}}{result.words}"
    if not result.is_as_claimed and result.seen:
        line += f"\n{'':<{_VERDICT_WIDTH}}{result.seen}"
    sys.stdout.write(printable((f"level {result.level}\n" if is_first else "") + line) + "\n")
    sys.stdout.flush()  # a minute is long without a word


def _summary(results: Sequence[Result]) -> str:
    from detent.proof.attack.lab import DONE, OPEN

    attacks = [result for result in results if result.verdict != DONE]
    still_open = sum(result.verdict == OPEN for result in attacks)
    wrong = [f"{result.attack} ({result.level})" for result in results if not result.is_as_claimed]
    lines = [
        f"\n{len(attacks)} attacks: {len(attacks) - still_open - len(wrong)} stopped, "
        f"{still_open} not stopped, as documented"
    ]
    lines += [f"NOT as documented: {', '.join(wrong)}"] if wrong else []
    return "\n".join((*lines, _NO_LEVEL))


def _list(arguments: Arguments, attacks: Sequence[Attack]) -> int:
    from detent.proof.attack.lab import OPEN, STOPPED

    rows, lines = [], []
    for one in attacks:
        claims = {level: one.claims[level] for level in one.levels}
        rows.append(
            {
                "name": one.name,
                "tries": one.tries,
                "levels": {
                    level: {"stopped": claim.is_stopped, "words": claim.words} for level, claim in claims.items()
                },
            }
        )
        lines.append(f"{one.name}: {one.tries}")
        lines += [
            f"  {level:<12}{STOPPED if claim.is_stopped else OPEN:<13}{claim.words}" for level, claim in claims.items()
        ]
    show(arguments, {"attacks": rows}, "\n".join(lines))
    return 0
