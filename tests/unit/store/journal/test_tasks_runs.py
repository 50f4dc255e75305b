"""Tests of what a task's memory makes of the lines about agent runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from detent.core.values import Snapshot
from detent.store.journal.memory import Failed, Memory
from detent.store.journal.places import TaskPlaces, make_task_folder
from detent.store.journal.tasks import TaskStore
from tests.lines import made

PLAN: dict[str, Any] = {"run": 1, "role": "builder", "state": "work", "agent": "mine"}
USED = {"runs": 1, "seconds": 2.5, "cost_usd": 0.25}
REFUSAL: dict[str, Any] = {"want": "over", "by": "agent", "problem": "work -> over", "missing": []}


class Story:
    """A task whose lines are written one after the other; after each the loaded memory is the folded one."""

    def __init__(self, store: TaskStore) -> None:
        self.store = store
        self.memory = store.commit(None, made("created", id="t", title="t"), Snapshot("work"))

    def say(self, kind: str, after: Snapshot | None = None, **content: Any) -> Memory:
        self.memory = self.store.commit(self.memory, made(kind, content), after)
        assert self.store.load() == self.memory
        self.store.save_cache(self.memory)
        assert self.store.load() == self.memory
        return self.memory

    def plan(self, number: int = 1) -> Memory:
        return self.say("run_planned", **{**PLAN, "run": number})

    def end(self, number: int = 1, **content: Any) -> Memory:
        usual = {
            "run": number,
            "exit": "finished",
            "usage": USED,
            "agent": "pi",
            "model": "",
            "by_person": False,
            "wake": "",
            "claim": "",
            "evidence": {},
            "tree": "",
            "role": "worker",
            "state": "work",
        }
        return self.say("run_ended", self.memory.snapshot, **{**usual, **content})


@pytest.fixture
def story(tmp_path: Path) -> Story:
    places = TaskPlaces("t", str(tmp_path / "t"))
    make_task_folder(places)
    return Story(TaskStore(places))


def test_a_planned_run_is_remembered_until_it_has_ended(story: Story) -> None:
    memory = story.plan()
    assert (memory.runs, memory.run.run, memory.run.seq) == (1, 1, 2)
    memory = story.end()
    assert (bool(memory.run), memory.runs, memory.ended.run, memory.visit.count) == (False, 1, 1, 1)


def test_lines_about_a_living_run_owe_the_document_nothing(story: Story) -> None:
    due = story.memory.due_seq
    story.plan()
    story.say("claimed", run=1, want="go", accepted=True)
    story.say("driven", on=False, by="person", name="ann", reason="")
    assert story.memory.due_seq == due
    assert story.end().due_seq == story.memory.snapshot.seq


def test_a_void_run_leaves_only_its_number(story: Story) -> None:
    story.plan()
    memory = story.say("run_void", run=1, why="it never began")
    assert (bool(memory.run), bool(memory.ended), bool(memory.visit), memory.runs) == (False, False, False, 1)


def test_a_refused_claim_does_not_replace_an_accepted_one(story: Story) -> None:
    story.plan()
    story.say("claimed", run=1, want="first", accepted=True)
    story.say("claimed", run=1, want="second", accepted=True)
    memory = story.say("claimed", run=1, accepted=False, **REFUSAL)
    assert (memory.claim.want, memory.refusal.problem) == ("second", "work -> over")
    assert memory.unheard == ""
    assert not story.end(claim="second").claim


def test_a_refused_request_is_remembered_within_its_run(story: Story) -> None:
    story.plan()
    assert story.say("claimed", run=1, accepted=False, to="over", **REFUSAL).unheard == "over"
    assert story.say("claimed", run=1, want="first", accepted=True).unheard == ""
    story.end(claim="first")
    story.plan(2)
    story.say("claimed", run=2, accepted=False, to="over", **REFUSAL)
    assert story.end(2).unheard == ""


def test_a_claim_refused_at_the_end_binds_until_an_answer(story: Story) -> None:
    story.plan()
    story.end(claim="over")
    memory = story.say("refused", no="over", **REFUSAL)
    assert memory.snapshot.no == {"asked": "over"}
    assert story.say("answered", by="person", answer="go on").snapshot.no == {}


def test_claims_of_a_run_are_not_those_of_the_next(story: Story) -> None:
    story.plan()
    story.say("claimed", run=1, want="first", accepted=True)
    story.say("run_void", run=1, why="it never began")
    assert not story.plan(2).claim


def test_refused_claim_is_tried_once_at_the_run_s_end(story: Story) -> None:
    story.plan()
    story.end(claim="over")
    memory = story.say("refused", **REFUSAL)
    assert (memory.ended.run, memory.ended.claim, memory.visit.claim) == (1, "", "over")
    assert not story.say("unmoved", memory.snapshot, run=1, why="nothing is open").ended
    assert story.memory.visit.why == "nothing is open"


@pytest.mark.parametrize("kind", ["crashed", "unmoved", "moved"])
def test_each_decision_settles_the_end(story: Story, kind: str) -> None:
    story.plan()
    story.end()
    memory = story.say(kind, Snapshot("look"), run=1)
    assert not memory.ended
    assert memory.visit.count == (0 if kind == "moved" else 1)


def test_visit_counts_its_runs_and_task_sums_usage(story: Story) -> None:
    story.plan()
    story.end()
    story.say("crashed", story.memory.snapshot, exit="failed")
    story.plan(2)
    memory = story.end(2)
    assert (memory.visit.count, memory.usage) == (2, {"runs": 2, "seconds": 5.0, "cost_usd": 0.5})
    memory = story.say("moved", Snapshot("look"))
    assert (bool(memory.visit), memory.usage["runs"], memory.runs) == (False, 2, 2)


def test_the_last_word_about_driving_counts(story: Story) -> None:
    story.say("driven", on=True, by="person", name="ann", reason="")
    memory = story.say("driven", on=False, by="person", name="bob", reason="lunch")
    assert (memory.driven.on, memory.driven.name, memory.driven.seq) == (False, "bob", 3)


def test_an_onlooker_reads_only_whole_new_lines(story: Story) -> None:
    size = story.memory.size
    story.plan()
    with Path(story.store.journal.path).open("ab") as file:
        file.write(b'{"torn')
    lines, reached = story.store.lines_after(size)
    assert ([line.kind for line in lines], reached) == (["run_planned"], story.memory.size)
    assert story.store.lines_after(reached) == ([], reached)


def ended_in_vain(story: Story, number: int, kind: str = "unmoved", **content: Any) -> int:
    """How many runs in a row have come to nothing, after one more that has."""
    story.plan(number)
    story.end(number, **content)
    if kind == "moved":
        story.say("moved", story.memory.snapshot, **{"from": "work", "to": "work", "by": "crash", "edge": "drop"})
    else:
        story.say(kind, story.memory.snapshot, run=number, why="no report", exit="killed", by="crash")
    return int(story.memory.failed_in_a_row.count)


def test_fruitless_runs_in_a_row_count_however_they_ended(story: Story) -> None:
    assert [ended_in_vain(story, 1), ended_in_vain(story, 2, "crashed"), ended_in_vain(story, 3, "moved")] == [1, 2, 3]
    story.say("moved", story.memory.snapshot, **{"from": "work", "to": "work", "by": "engine", "edge": "recover"})
    assert story.memory.failed_in_a_row.count == 3, "no run led to this move"
    assert ended_in_vain(story, 4) == 4
    assert story.memory.failed_in_a_row == Failed(run=4, state="work", exit="finished", why="no report", count=4)


@pytest.mark.parametrize("content", [{"by_person": True}, {"exit": "quota"}])
def test_run_that_person_ended_or_without_quota_is_no_failure(story: Story, content: dict[str, Any]) -> None:
    assert [ended_in_vain(story, 1), ended_in_vain(story, 2, **content), ended_in_vain(story, 3)] == [1, 1, 2]


@pytest.mark.parametrize("by", ["agent", "engine", "person"])
def test_run_that_led_somewhere_and_person_begin_the_count_anew(story: Story, by: str) -> None:
    ended_in_vain(story, 1)
    story.plan(2)
    story.end(2)
    story.say("moved", story.memory.snapshot, **{"from": "work", "to": "work", "by": by, "edge": "go"})
    assert ended_in_vain(story, 3) == 1
    story.say("resumed", story.memory.snapshot, by="person", name="ann", reason="", answer="")
    assert ended_in_vain(story, 4) == 1
