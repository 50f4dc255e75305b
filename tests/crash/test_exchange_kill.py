"""Kills, and cuts off, steps of a process that has replaced files before: the names of old and new file are swapped."""

from __future__ import annotations

import pytest

from tests.crash.lab import Kind, Lab
from tests.crash.test_power_cut import recorded, survive
from tests.crash.trace import Call, Ended, disturb, record
from tests.crash.world import JOURNAL, STATE

pytestmark = pytest.mark.usefixtures("strace")
# Another file takes the renames that a process makes before it changes its way.
START = """
import os, sys
from detent.faces.cli.main import main
from detent.store.disk.atomic import write_atomic
from detent.store.disk.exchange import MOST_RENAMES
other = os.path.join(os.environ["TMPDIR"], f"other-{os.getpid()}")
for number in range(MOST_RENAMES):
    write_atomic(other, b"%d" % number, durable=False, is_carried=True)
sys.exit(main())
"""
NAMES = ("write", "fdatasync", "rename", "renameat2", "unlink", "ftruncate")
STEPS = ("move", "file request refused")


def disturbed(lab: Lab, kind: Kind, call: Call, how: str) -> Ended:
    argv = lab.argv(kind.words, START)
    lab.world.put(kind.before)
    return disturb(argv, cwd=lab.cwd, env=lab.environment, name=call.name, how=how, number=call.number)


def changing_calls(lab: Lab, kind: Kind) -> list[Call]:
    """The calls from the journal's line on."""
    lab.world.put(kind.before)
    log = lab.folder / "exchange.strace"
    ended, calls = record(lab.argv(kind.words, START), cwd=lab.cwd, env=lab.environment, log=log, names=NAMES)
    assert ended.code == kind.code, ended
    first = next(index for index, call in enumerate(calls) if call.name == "write" and JOURNAL in call.arguments)
    return calls[first:]


@pytest.mark.parametrize("name", STEPS)
def test_step_that_is_killed_while_it_swaps_names_loses_nothing(lab: Lab, kind: Kind) -> None:
    calls = changing_calls(lab, kind)
    swapped = [call for call in calls if call.name == "renameat2" and STATE in call.arguments]
    assert len(swapped) == 1
    assert not any(call.name == "rename" for call in calls)
    wrong = []
    for call in calls:
        ended = disturbed(lab, kind, call, "signal=KILL")
        assert ended.code == -9, f"not killed at {call}: {ended}"
        wrong += [f"{call}: {problem}" for problem in lab.problems(kind, is_acknowledged=bool(ended.out))]
    lab.count("kills, names swapped", kind.name, len(calls))
    assert not wrong, "\n".join(wrong[:20])


@pytest.mark.parametrize("name", STEPS)
def test_a_power_cut_while_names_are_swapped_loses_nothing_acknowledged(lab: Lab, kind: Kind) -> None:
    recording = recorded(lab, kind, lab.argv(kind.words, START))
    assert any(change.action == "exchange" and change.target == STATE for change in recording.changes)
    survive(lab, kind, recording)


@pytest.mark.parametrize("error", ["EINVAL", "ENOSYS", "EPERM"])
def test_where_names_cant_be_swapped_file_is_renamed_as_ever(lab: Lab, error: str) -> None:
    kind = lab.kinds["move"]
    swap = next(call for call in changing_calls(lab, kind) if call.name == "renameat2")
    ended = disturbed(lab, kind, swap, f"error={error}")
    assert ended.code == kind.code, ended
    assert not lab.problems(kind, is_acknowledged=True)
