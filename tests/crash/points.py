"""Chooses the system calls of a step at which it is killed or disturbed."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tests.crash.lab import Kind, Lab
from tests.crash.trace import Call
from tests.crash.world import CACHE, JOURNAL

FULL = os.environ.get("DETENT_CRASH") == "full"


@dataclass(frozen=True, slots=True)
class Points:
    """The calls of one kind of step that touch its world, in order."""

    calls: tuple[Call, ...]
    committing: frozenset[int]  # from each line of the journal to its cache: what happens there is never left out

    def sample(self, every: int) -> list[Call]:
        """All points when asked for; else each `every`-th, and from the commit on all that change something."""
        return [
            call
            for index, call in enumerate(self.calls)
            if FULL or index % every == 0 or (index in self.committing and call.name != "close")
        ]


def find_points(lab: Lab, kind: Kind) -> Points:
    """Trace the step once; calls that change nothing of its world are no points."""
    lab.world.put(kind.before)
    log = lab.folder / "points.strace"
    ended, calls = lab.record(kind, log)
    assert ended.code == kind.code, f"{kind.name} under strace: {ended}"
    top = str(lab.world.top)
    chosen = []
    counted_by_chance = False
    for call in calls:
        # Looking through the process table makes a number of calls that differs from run to run.
        counted_by_chance = counted_by_chance or '"/proc"' in call.arguments
        if counted_by_chance and call.name in ("openat", "close"):
            continue
        if _is_point(call, top):
            chosen.append(call)
    return Points(tuple(chosen), frozenset(_committing(chosen)))


def _committing(calls: Sequence[Call]) -> Iterator[int]:
    is_open = not any(_is_commit(call) for call in calls)  # a step that only finishes has no line of its own
    for index, call in enumerate(calls):
        is_open = is_open or _is_commit(call)
        if is_open:
            yield index
        if call.name in ("write", "ftruncate") and f"/{CACHE}>" in call.arguments:
            is_open = False


def _is_commit(call: Call) -> bool:
    """A line goes into the journal, or its first line takes its place."""
    written = call.name == "write" and f"/{JOURNAL}>" in call.arguments
    return written or (call.name == "rename" and call.arguments.endswith(f'/{JOURNAL}"'))


def _is_point(call: Call, top: str) -> bool:
    if call.name in ("vfork", "pidfd_open"):
        return True
    if call.name == "write" and call.arguments.startswith(("1<", "2<")):
        return True
    if top not in call.arguments:
        return False
    return call.name != "openat" or "O_CREAT" in call.arguments
