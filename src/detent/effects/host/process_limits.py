"""Measures how much a tree of processes uses, from outside while it runs; Linux only.

Limits of the kernel do not fit: those per user count what has nothing to do with the command, and address space is not
memory. So the process that waits for the tree measures it every now and then. Between two measurements it may go beyond
a limit for a moment; files in memory file systems are not counted.
"""

from __future__ import annotations

import os

from detent.core.record import Record
from detent.effects.host.process_table import pids, read_table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from detent.effects.host.process_table import Row

MEMORY, PROCESSES = "memory", "processes"
WATCHED = "watched"  # what holds the limits: a process that measures, not the kernel
_EXACT_EVERY_S = 1.0  # how often memory is counted exactly, which takes the kernel a while
_REST = 20  # times as long as a measurement took, until the next: a twentieth of a core at most
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


class Limits(Record):
    """What one command and all it starts may use at a time; 0 is no limit."""

    memory_bytes: int = 0
    processes: int = 0


class Usage:
    """Measures every process that appears below this one from now on; orphans must come to us meanwhile."""

    def __init__(self, limits: Limits, before: Iterable[int]) -> None:
        self._limits = limits
        self._before = frozenset(before)  # never read again: a measurement costs only the new processes
        self._due = self._exact_due = 0.0

    def exceeded(self, now: float) -> str:
        """The limit that the tree exceeds; an empty text when it keeps to all, or was measured just now."""
        from time import monotonic

        if not (self._limits.processes or self._limits.memory_bytes) or now < self._due:
            return ""
        found = self._beyond(self._tree(), now)
        self._due = now + (monotonic() - now) * _REST
        return found

    def _beyond(self, tree: list[Row], now: float) -> str:
        limits = self._limits
        if limits.processes and len(tree) > limits.processes:
            return PROCESSES
        resident = sum(row.pages for row in tree) * _PAGE_BYTES
        if limits.memory_bytes and resident > limits.memory_bytes and now >= self._exact_due:
            # Pages that several processes share were counted for each of them.
            if sum(map(_memory_of, tree)) > limits.memory_bytes:
                return MEMORY
            self._exact_due = now + _EXACT_EVERY_S
        return ""

    def _tree(self) -> list[Row]:
        there = frozenset(pids())
        self._before &= there  # a number that became free may come back as one of ours
        children: dict[int, list[Row]] = {}
        for row in read_table(there - self._before):
            children.setdefault(row.parent, []).append(row)
        found = children.get(os.getpid(), [])
        for row in found:  # grows while it is read
            found += children.get(row.pid, ())
        return [row for row in found if row.is_alive]


def host_memory_bytes() -> int:
    return os.sysconf("SC_PHYS_PAGES") * _PAGE_BYTES


def _memory_of(row: Row) -> int:
    """Its memory, with its part of shared memory; all of the shared memory where the part is unknown."""
    try:
        with open(f"/proc/{row.pid}/smaps_rollup", "rb") as file:
            for line in file:
                if line.startswith(b"Pss:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    return row.pages * _PAGE_BYTES
