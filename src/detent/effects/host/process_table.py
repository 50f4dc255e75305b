"""Reads the table of processes; empty where the system shows none (it does on Linux)."""

from __future__ import annotations

import os

from detent.core.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


class Row(Record):
    """One process; pid and start together are an identity that is never reused."""

    pid: int
    start: int
    parent: int
    group: int
    is_alive: bool
    pages: int  # resident in memory, also those it shares


def pids() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit()] if os.path.isdir("/proc/self") else []


def read_table(only: Iterable[int] | None = None) -> list[Row]:
    """Every process, or those of `only` that still are."""
    table = []
    for pid in pids() if only is None else only:
        try:
            with open(f"/proc/{pid}/stat", "rb") as file:
                # The name in parentheses may hold spaces and parentheses of its own.
                fields = file.read().rpartition(b")")[2].split()
        except OSError:
            continue  # it ended while we looked
        if len(fields) > 21:
            start, parent, group, pages = (int(fields[place]) for place in (19, 1, 2, 21))
            table.append(Row(pid, start, parent, group, fields[0] not in (b"Z", b"X"), pages))
    return table
