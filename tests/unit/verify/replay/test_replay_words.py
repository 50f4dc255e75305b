"""A stop is replayed by the rules, and told in the words that its own version of the engine wrote."""

from __future__ import annotations

import pytest

from detent.core.machine import STOPPED
from detent.core.values import Snapshot
from detent.store.journal.head import head_of
from detent.store.journal.memory import Ended, Memory
from detent.verify.replay.runs import after_run
from detent.view import view_of
from tests.lines import made
from tests.unit.core.small import small

IDLE = '[progress]\nidle_max = 2\n[[edge]]\nname = "go"\nfrom = "work"\nto = "over"\nneeds = ["ready"]'


@pytest.mark.parametrize(("idle", "stops"), [(1, True), (0, False)])
def test_an_older_version_s_stop_keeps_its_words(idle: int, stops: bool) -> None:
    before = Snapshot("work", counters={"idle": idle}, exit="finished")
    memory = Memory(head_of({}), before, 0, b"", 1, "", "", ended=view_of(Ended, {"run": 2}))
    old = "2 agent run(s) in a row without progress"
    after = {"state": "work", "registers": {STOPPED: old}}
    line = made("unmoved", seq=2, exit="finished", progress=False, run=2, after=after)
    found = after_run(small(IDLE), line, memory)
    assert found is not None
    assert found.registers == ({STOPPED: old} if stops else {})
