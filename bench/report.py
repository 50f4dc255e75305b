"""Lays the rows out as a table for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bench.measure import Row, verdict

_HEAD = ("", "least", "median", "p95", "n", "ratio", "bar", "", "")


def table(about: Mapping[str, str], rows: Sequence[Row]) -> str:
    lines = ["", *(f"{name:<9}{value}" for name, value in about.items())]
    cells = [_cells(one, rows) for one in rows]
    widths = [max(len(line[column]) for line in (*cells, _HEAD)) for column in range(len(_HEAD))]
    part = ""
    for one, line in zip(rows, cells, strict=True):
        if one.part != part:
            part = one.part
            lines += ["", _line((part, *_HEAD[1:]), widths)]
        lines.append(_line(line, widths))
    said = [verdict(one, rows) for one in rows]
    met, missed = (sum(text.startswith(word) for text in said) for word in ("met", "MISSED"))
    lines += ["", f"{met} of {met + missed} bars met"]
    lines += [f"  {one.part[2:]}: {one.what}: {text}" for one, text in zip(rows, said, strict=True) if "MISSED" in text]
    return "\n".join(lines)


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    first, *others = cells
    numbers = "  ".join(f"{cell:>{width}}" for cell, width in zip(others[:6], widths[1:7], strict=True))
    words = "  ".join(filter(None, others[6:]))
    return f"  {first:<{widths[0]}}  {numbers}  {words}".rstrip()


def _cells(one: Row, rows: Sequence[Row]) -> tuple[str, ...]:
    if one.least_s is None or one.median_s is None or one.p95_s is None:
        return (one.what, "-", "-", "-", "-", "-", "", "", one.note)
    ratio = "" if one.ratio is None else f"{one.ratio:.2f} x"
    bar = "" if one.bar is None else f"{one.bar:g} {'x' if one.held == 'ratio' else one.unit}"
    if bar and one.value is not None and one.held in ("p99", "most"):
        bar += f" ({one.held} {_amount(one.value, one.unit)})"
    return (
        one.what,
        _amount(one.least_s, one.unit),
        _amount(one.median_s, one.unit),
        _amount(one.p95_s, one.unit),
        str(one.count),
        ratio,
        bar,
        verdict(one, rows),
        one.note,
    )


def _amount(value: float, unit: str) -> str:
    if unit != "s":
        return f"{value:.1f} {unit}"
    if value >= 1:
        return f"{value:.2f} s"
    return f"{value * 1e3:.1f} ms" if value >= 1e-3 else f"{value * 1e6:.0f} us"
