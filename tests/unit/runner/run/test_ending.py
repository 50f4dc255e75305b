"""Tests of the ends of runs as two engines may meet them, and of what a session's name may be."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from detent.core.values import Advance, Crash, Wait
from detent.runner.run.end_run import Left, end_run, tidy_up
from detent.runner.run.ending import attend, decide_end
from detent.runner.step.anchor import read_anchor
from detent.runner.step.look import current_tree, known_touched, known_tree
from tests.unit.runner.conftest import AgentTask, begin, wait_for_run

CLAIM = """
printf 'it works\\n' > "$DETENT_TASK_DIR/artifacts/result.txt"
sed -i 's|^Candidate done:.*|Candidate done: yes|; s|^Evidence location:.*|Evidence location: artifacts/result.txt|
s|^Evidence link:.*|Evidence link: https://example.org/1|; s|^Phase:.*|Phase: verify|' "$DETENT_TASK_DIR/STATE.md"
"""


def test_end_seen_by_two_engines_is_counted_once(agent_task: AgentTask) -> None:
    task = begin(agent_task("exit 3"))
    wait_for_run(task)
    first, second = end_run(task), end_run(task)
    assert first.memory == second.memory
    counted = decide_end(first)
    assert isinstance(counted.decision, Crash)
    late = decide_end(second)
    assert isinstance(late.decision, Wait)
    assert late.task.memory == counted.task.memory
    assert late.task.memory.snapshot.counters == {"runs": 1, "crashes": 1}


def test_slower_engine_does_not_refuse_a_claim_already_taken(agent_task: AgentTask) -> None:
    """The slower one must neither ask again in the new state nor count the crash there."""
    task = begin(agent_task(CLAIM + "exit 3"))
    wait_for_run(task)
    first, second = end_run(task), end_run(task)
    assert isinstance(decide_end(first).decision, Advance)
    late, outcome = attend(second)
    assert (late.memory.snapshot.state, bool(late.memory.refusal), outcome) == ("verify", False, None)
    assert late.memory.snapshot.counters == {"runs": 1}


def test_a_taint_is_written_down_before_anything_is_put_back(agent_task: AgentTask) -> None:
    """An engine that dies in between must still know of it: a tree that was put back shows nothing any more."""
    task = begin(agent_task("mkdir .circleci && echo weak > .circleci/config.yml; echo work >> app.py" + CLAIM))
    wait_for_run(task)
    made = Path(task.tree_path, ".circleci/config.yml")
    ended = end_run(task)
    assert (ended.memory.ended.tainted, made.exists()) == ([".circleci/config.yml"], True)
    decided = decide_end(ended)
    assert isinstance(decided.decision, Wait)
    assert decided.task.memory.snapshot.state == "implement"
    assert not made.exists()
    assert Path(task.tree_path, "app.py").read_text(encoding="utf-8").endswith("work\n")


def test_a_slower_engine_does_not_put_the_tree_back_again(agent_task: AgentTask) -> None:
    task = begin(agent_task("mkdir .circleci && echo weak > .circleci/config.yml"))
    wait_for_run(task)
    first, second = end_run(task), end_run(task)
    decided = decide_end(first)
    made = Path(task.tree_path, ".circleci/config.yml")
    made.parent.mkdir(exist_ok=True)
    made.write_text("of a later run\n", encoding="utf-8")
    late = decide_end(second)
    assert isinstance(late.decision, Wait)
    assert late.task.memory == decided.task.memory
    assert made.read_text(encoding="utf-8") == "of a later run\n"


def test_taint_is_found_although_tree_was_scanned_before_the_end(
    agent_task: AgentTask,
) -> None:
    """The tree then is the one that was seen last: only a comparison with the run's first one shows what was done."""
    task = begin(agent_task("mkdir .circleci && echo weak > .circleci/config.yml"))
    wait_for_run(task)
    current_tree(task)
    assert end_run(task).memory.ended.tainted == [".circleci/config.yml"]


def test_a_run_that_lives_is_left_alone(agent_task: AgentTask) -> None:
    task = begin(agent_task("exec sleep 1000"))
    left, outcome = attend(task)
    assert (left.memory, outcome) == (task.memory, None)
    assert begin(task).memory == task.memory  # and no second one is started beside it


@pytest.mark.parametrize(
    ("session", "kept"),
    [
        ("0195-abc_d.e:f", "0195-abc_d.e:f"),
        ("--dangerously-allow-all", ""),
        ("a b", ""),
        ("../../x", ""),
        ("x" * 200, ""),
        ("x\n", ""),
    ],
)
def test_session_is_resumed_only_if_it_is_one_word(agent_task: AgentTask, session: str, kept: str) -> None:
    event = json.dumps({"type": "thread.started", "thread_id": session})
    task = begin(agent_task(f"cat <<'EVENT'\n{event}\nEVENT\nexit 1", "codex"))
    wait_for_run(task)
    assert end_run(task).memory.ended.session == kept


def test_readers_know_tree_of_end_and_journal_is_anchored_there(agent_task: AgentTask) -> None:
    task = begin(agent_task("echo work >> app.py"))
    wait_for_run(task)
    ended = end_run(task)
    tree = ended.memory.ended.tree
    assert tree == known_tree(ended) == known_touched(ended).tree == current_tree(ended)
    anchored = read_anchor(ended)
    assert anchored is not None
    assert anchored[0] == ended.memory.snapshot.seq


@pytest.mark.parametrize("goes_on", [False, True])
def test_what_an_end_left_is_done_wherever_the_task_stands(agent_task: AgentTask, *, goes_on: bool) -> None:
    task = begin(agent_task("echo work >> app.py"))
    wait_for_run(task)
    before, later = read_anchor(task), list[Left]()
    ended = end_run(task, later)
    assert (ended.memory.ended.run, read_anchor(ended), len(later)) == (1, before, 1)
    if goes_on:
        ended = decide_end(ended).task
    tidy_up(later[0])
    anchored = read_anchor(ended)
    assert anchored is not None
    assert anchored[0] == ended.memory.snapshot.seq
    assert goes_on or known_tree(ended) == ended.memory.ended.tree
    later.clear()
    end_run(ended, later)
    assert later == []
