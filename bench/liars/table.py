"""Lays the verdicts out: lie by tool, for a terminal and for the documentation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bench.liars.lies import ALL, LIES
from bench.liars.verdict import Row

SHOWN = {"none": "-", "failed": "not measured"}


def columns(rows: Sequence[Row]) -> list[tuple[str, str]]:
    """Tool and settings, in the order they were played."""
    return list(dict.fromkeys((row.tool, row.settings) for row in rows))


def text(rows: Sequence[Row], missing: Mapping[str, str]) -> str:
    """One block per tool and settings: a terminal is too narrow for the whole table."""
    lines: list[str] = []
    for tool, settings in columns(rows):
        mine = {row.lie: row for row in rows if (row.tool, row.settings) == (tool, settings)}
        lines += ["", f"{tool}, {settings} settings: {count(list(mine.values()))}"]
        for lie in ALL:
            if lie.key in mine:
                row = mine[lie.key]
                why = f"  ({row.why})" if row.why else ""
                lines.append(f"  {lie.told:<68} {SHOWN.get(row.word, row.word):<9}{why}".rstrip())
    lines += ["", *(f"{tool}: can't be installed: {why}" for tool, why in missing.items())]
    return "\n".join(lines).rstrip()


def markdown(rows: Sequence[Row]) -> str:
    """The whole table, lie by tool."""
    heads = columns(rows)
    cells = {(row.tool, row.settings, row.lie): SHOWN.get(row.word, row.word) for row in rows}
    lines = [_line("lie", *(f"{tool}, {settings}" for tool, settings in heads))]
    lines.append(_line(*["---"] * (len(heads) + 1)))
    for lie in ALL:
        found = [cells.get((*head, lie.key), "") for head in heads]
        if any(found):
            lines.append(_line(lie.told, *(f"**{cell}**" if cell == "FOOLED" else cell for cell in found)))
    lines.append(
        _line(
            "fooled / lies told", *(count([row for row in rows if (row.tool, row.settings) == head]) for head in heads)
        )
    )
    return "\n".join(lines)


def count(rows: Sequence[Row]) -> str:
    """Fooled of the lies that could be told; a tool that refuses honest work has refused nothing."""
    told = [row for row in rows if row.lie in {lie.key for lie in LIES} and row.word not in SHOWN]
    fooled = sum(row.word == "FOOLED" for row in told)
    return f"fooled by {fooled} of {len(told)}"


def _line(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"
