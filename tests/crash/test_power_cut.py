"""Cuts the power after each kind of step at every moment, in every way the disk may then look, and repeats the step.

By default some of the distinct disks of each kind, evenly spread; DETENT_CRASH=full looks at all of them.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

import pytest

from detent.store.disk.boot import boot_id
from tests.crash.codec_kinds import HEAD, THREAD
from tests.crash.codec_kinds import NAMES as CODECS
from tests.crash.disk import NAMES, Cut, Recording, cuts
from tests.crash.lab import KINDS, Kind, Lab
from tests.crash.points import FULL
from tests.crash.trace import record
from tests.crash.world import CONTROL, SCRATCH, STATE, Files, moment_of_last_line, read_journal

pytestmark = pytest.mark.usefixtures("strace")
_SAMPLE = 10


def recorded(lab: Lab, kind: Kind, argv: Sequence[str] = ()) -> Recording:
    lab.world.put(kind.before)
    ended, calls = record(
        argv or lab.argv(kind.words),
        cwd=lab.cwd,
        env=lab.environment,
        log=lab.folder / "disk.strace",
        names=NAMES,
        with_data=True,
    )
    assert ended.code == kind.code, f"{kind.name} under strace: {ended}"
    recording = Recording(kind.before, calls, str(lab.world.top), calls[0].pid)
    real = {name: content for name, content in lab.world.read().items() if not SCRATCH.match(name)}
    assert recording.files() == real, "the model does not follow what the step really did to the disk"
    return recording


def start_again(lab: Lab, kind: Kind, files: Files) -> None:
    """Put a disk there as the next start of the computer finds it: marks of another boot, and the main file's own time.

    Whatever that file holds was written before the last line the step made; if it made none, after the line before.
    """
    assert boot_id()
    marks = f"{CONTROL}/projected.jsonl"
    if content := files.get(marks):
        files = {**files, marks: content.replace(boot_id().encode(), b"another boot, the one before")}
    lab.world.put(files)
    for name in (name for name in (STATE, HEAD, THREAD) if name in files):
        if moment := moment_of_last_line(files):
            moment += 0 if len(read_journal(files)) > len(read_journal(kind.before)) else 10
            os.utime(lab.world.top / name, (moment, moment))


def spread(found: list[Cut], most: int) -> list[Cut]:
    return found if FULL or len(found) <= most else [found[index * len(found) // most] for index in range(most)]


@pytest.mark.parametrize("name", [*KINDS, *CODECS])
def test_a_power_cut_loses_nothing_acknowledged(lab: Lab, kind: Kind) -> None:
    survive(lab, kind, recorded(lab, kind))


def survive(lab: Lab, kind: Kind, recording: Recording) -> None:
    """Cut the power of a recorded step, again and again."""
    found = list(cuts(recording))
    assert any(cut.is_acknowledged for cut in found)
    assert not all(cut.is_acknowledged for cut in found)
    chosen = spread(found, _SAMPLE)
    wrong = []
    for number, cut in enumerate(chosen):
        start_again(lab, kind, cut.files)
        problems = lab.problems(kind, is_acknowledged=cut.is_acknowledged, is_power_cut=True)
        wrong += [f"disk {number} of {len(chosen)}: {problem}" for problem in problems]
    lab.count("power cuts", kind.name, len(chosen))
    assert not wrong, "\n".join(wrong[:20])
