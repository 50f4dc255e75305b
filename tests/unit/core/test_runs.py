"""Tests of what the end of an agent run changes in what is remembered."""

from __future__ import annotations

import pytest

from detent.core.machine import TAINTED
from detent.core.runs import run_over, runs_spent, stayed, stop
from detent.core.values import Signal, Snapshot
from detent.words import core as say
from tests.unit.core.small import advanced, ask, small, waited

GO = '[[edge]]\nname = "go"\nfrom = "work"\nto = "over"\nby = ["agent", "engine"]\nneeds = ["ready"]'
IDLE_TWICE = f"[progress]\nidle_max = 2\n{GO}"


@pytest.mark.parametrize("exit_class", ["finished", "failed", "killed", "timeout", "lost"])
def test_every_run_that_worked_is_counted(exit_class: str) -> None:
    after = run_over(small(GO), Snapshot("work", counters={"runs": 4}), exit_class)
    assert (after.counters, after.exit, after.state) == ({"runs": 5}, exit_class, "work")


def test_a_quota_is_not_counted() -> None:
    before = Snapshot("work", counters={"runs": 4})
    assert run_over(small(GO), before, "quota") == before.replace(exit="quota")


def test_no_run_starts_beyond_the_limit_of_runs() -> None:
    made = small(GO, limits={"runs": 2})
    at = Snapshot("work")
    for _ in range(2):
        assert runs_spent(made, at) == ""
        at = run_over(made, at, "finished")
    assert runs_spent(made, at) == say.runs_used_up(2)
    assert runs_spent(made, run_over(made, at, "finished")) == say.runs_used_up(2)


def test_no_move_of_the_engine_follows_from_a_tainted_run() -> None:
    made = small(GO)
    clean = run_over(made, Snapshot("work"), "finished")
    assert advanced(ask(made, Signal("engine"), "ready", at=clean)).after.state == "over"
    tainted = run_over(made, Snapshot("work"), TAINTED)
    assert (tainted.exit, tainted.counters) == (TAINTED, {"runs": 1})
    assert waited(ask(made, Signal("engine"), "ready", at=tainted)).missing[0].gate == "after"


def test_idle_runs_in_row_stop_task_and_progress_begins_anew() -> None:
    made = small(IDLE_TWICE)
    once = stayed(made, Snapshot("work"), made_progress=False)
    assert (once.counters, once.registers) == ({"idle": 1}, {})
    assert stayed(made, once, made_progress=True).counters == {}
    twice = stayed(made, once, made_progress=False)
    assert (twice.counters, twice.registers) == (
        {"idle": 2},
        {"stopped": say.runs_changed_nothing(2)},
    )


def test_a_machine_may_leave_idle_runs_to_its_own_counters() -> None:
    made = small(f"[progress]\nidle_max = 0\n{GO}")
    for machine in (made, made.replace(progress={})):
        at = Snapshot("work")
        for _ in range(5):
            at = stayed(machine, at, made_progress=False)
        assert (at.counters, at.registers) == ({}, {})


def test_stopping_keeps_what_else_is_remembered() -> None:
    before = Snapshot("work", registers={"origin": "look"})
    assert stop(before, "why").registers == {"origin": "look", "stopped": "why"}


@pytest.mark.parametrize(
    ("exit_class", "by_person", "turns"),
    [("finished", False, 1), ("timeout", False, 1), ("lost", False, 0), ("killed", True, 0), ("finished", True, 0)],
)
def test_an_interrupted_or_lost_run_has_had_no_turn(exit_class: str, by_person: bool, turns: int) -> None:
    counting = '[limit.turns]\nmax = 3\n[state.turn]\nrole = "builder"\ncounts_run = ["turns"]\n'
    made = small(f'{counting}[[edge]]\nname = "end"\nfrom = "turn"\nto = "over"\nspent = "turns"')
    after = run_over(made, Snapshot("turn"), exit_class, by_person=by_person)
    assert after.counters == {"runs": 1, **({"turns": 1} if turns else {})}
