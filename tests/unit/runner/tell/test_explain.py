"""Tests of the explain object: what it says while a run lives, of a file in disorder, and of a run that is gone."""

from __future__ import annotations

from pathlib import Path

import pytest

from detent.core.values import Advance, Crash
from detent.runner.run.end_run import end_run
from detent.runner.run.ending import decide_end
from detent.runner.task.open import Task
from detent.runner.tell.explain import explain
from detent.words.runner import step as say
from detent.words.runner import tell as tell_words
from tests.unit.runner.conftest import AgentTask, begin, wait_for_run
from tests.unit.runner.run.test_ending import CLAIM


def journal(task: Task) -> bytes:
    return Path(task.places.journal()).read_bytes()


def test_living_run_is_waited_for_and_closes_every_move(agent_task: AgentTask) -> None:
    explained = explain(begin(agent_task("exec sleep 1000")), with_moves=True)
    assert (explained.waiting_for, explained.alive, explained.is_dead) == ("agent run #1 (mine)", True, False)
    assert explained.moves
    assert {(move.is_open, move.missing[0].gate) for move in explained.moves} == {(False, "run")}


def test_an_unreadable_file_closes_every_move_and_names_the_repair(agent_task: AgentTask) -> None:
    task = agent_task("true")
    before = journal(task)
    Path(task.native.path()).write_bytes(b"\xff\xfe\x00")
    explained = explain(task, with_moves=True)
    assert (len(explained.problems), explained.repair) == (1, say.repair("words"))
    assert explained.moves
    assert {(move.is_open, move.missing[0].gate) for move in explained.moves} == {(False, "STATE.md")}
    assert journal(task) == before
    assert Path(task.native.path()).read_bytes() == b"\xff\xfe\x00"


def test_disorder_and_request_are_shown_and_left_alone(agent_task: AgentTask) -> None:
    task = agent_task("true")
    path, before = Path(task.native.path()), journal(task)
    text = path.read_text(encoding="utf-8")
    text = text.replace("\nPhase: implement", "\nPhase: done").replace(
        "\nValidator status:", "\nValidator status: pass"
    )
    path.write_text(text, encoding="utf-8")
    explained = explain(task, with_moves=False)
    assert (explained.request, explained.moves) == ("done", ())
    assert tell_words.engines_field_changed("STATE.md", "Validator status") in explained.problems
    assert (path.read_text(encoding="utf-8"), journal(task)) == (text, before)


@pytest.mark.parametrize(
    ("script", "kind", "to"), [(CLAIM, "moves", "verify"), ("exit 3", "crash", ""), ("true", "stays", "")]
)
def test_what_is_foreseen_of_a_run_that_is_gone_happens(agent_task: AgentTask, script: str, kind: str, to: str) -> None:
    task = begin(agent_task(script))
    wait_for_run(task)
    before = journal(task)
    gone = explain(task, with_moves=False)
    assert gone.would is not None
    assert (gone.would.kind, gone.would.to, gone.is_dead, journal(task) == before) == (kind, to, True, True)
    ended = end_run(task)
    written = explain(ended, with_moves=False).would
    assert written == gone.would, "the same before and after its end was written down"
    decision = decide_end(ended).decision
    happened = {Advance: "moves", Crash: "crash"}.get(type(decision), "stays")
    assert (happened, decision.after.state if isinstance(decision, Advance) else "") == (kind, to)
