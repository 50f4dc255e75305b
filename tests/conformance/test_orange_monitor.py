"""What happens when an agent of the review loop is gone: real processes that die in every way, judged by files."""

from __future__ import annotations

from pathlib import Path

import pytest

from detent.runner.drive.watch import POLL_S
from tests.e2e.orange_task import Oranges, OrangeTask

HANG = "[budget.run]\nminutes = 0.01"
DEATHS = {
    "exit 0": "exit 0",
    "exit 1": "exit 1",
    "killed": "kill -9 $$",
    "hangs": "exec sleep 1000",
    "leaves children": "sleep 1000 & sleep 1000 & exit 3",
}
CLASSES = {
    "exit 0": "finished",
    "exit 1": "failed",
    "killed": "killed",
    "hangs": "timeout",
    "leaves children": "failed",
}
WAITING = {"clarification": "exit 0", "reviewing": "killed", "stuck": "leaves children"}
every_death = pytest.mark.parametrize("death", DEATHS)
some_deaths = pytest.mark.parametrize("death", ["exit 0", "killed"])


def made(oranges: Oranges, death: str, *states: str, more: str = "") -> OrangeTask:
    return oranges.orange(*states, more=f"{HANG if death == 'hangs' else ''}\n{more}")


@pytest.mark.requirement("S3.23", "S3.32", "S3.34", "S3.44", "S3.45", "S3.46", "S3.47", "S3.62", "S3.63")
@every_death
def test_a_worker_without_a_handoff_is_stuck_after_two_crashes(oranges: Oranges, death: str, tmp_path: Path) -> None:
    notice = tmp_path / "told"
    notify = f"[notify]\ncommand = 'echo $DETENT_TASK $DETENT_STATE $DETENT_REST >> {notice}'"
    oranges.script("working", DEATHS[death])
    task = made(oranges, death, more=notify)
    assert "needs your word: detent respawn" in task.run(expect=4).out
    crashed = task.last("crashed")
    assert (crashed["exit"], crashed["after"]["counters"]["crash_count"]) == (CLASSES[death], 1)
    assert 'TASK.md has no section "## Handoff"' in crashed["why"]
    assert len(task.entries("run_planned")) == 1
    assert (task.head()["status"], task.head()["crash_count"], task.head()["session"]) == ("working", "1", '""')
    assert_dead(task)
    said = task.respawn()
    assert said.code == 4, said
    for words in ("agent run #2 ", "crash_count 2 of 2", 'no section "## Handoff"'):
        assert words in said.out
        assert words in task("status").out
        assert words in task("inbox", cwd=task.repo).out
    assert task.path_of_moves() == ["working", "stuck"]
    moved = task.last("moved")
    assert (moved["by"], moved["exit"], moved["way"]) == ("crash", CLASSES[death], 2)
    assert (task.head()["status"], task.head()["crash_count"]) == ("stuck", "0")
    assert [line["crash_count"] for line in task.log() if line["type"] == "agent.crashed"] == [1, 2]
    assert (task.log()[-1]["type"], task.log()[-1]["to"]) == ("auto.advanced", "stuck")
    assert notice.read_text(encoding="utf-8").splitlines()[-1] == "lines stuck person"
    task.audit()


@pytest.mark.requirement("S3.48", "S3.42")
def test_history_words_crashes_and_automatic_moves_as_the_document_does(oranges: Oranges) -> None:
    oranges.honest()
    oranges.script("working", "exit 1", run=1)
    oranges.script("working", "handoff; exit 1", run=2)
    task = oranges.orange()
    task.run(expect=4)
    task.respawn()
    time = task.log()[0]["timestamp"]
    logged = [{key: value for key, value in line.items() if key != "timestamp"} for line in task.log()]
    assert time.endswith("Z")
    assert logged[0] == {"type": "task.created", "task_id": "lines", "summary": "parse empty lines"}
    assert logged[1] == {"type": "status.changed", "from": "pending", "to": "working", "by": "engine"}
    assert {"type": "agent.exited", "status": "working", "session": "run-1", "exit": "failed"} in logged
    why = 'TASK.md has no section "## Handoff"'
    assert {"type": "agent.crashed", "status": "working", "crash_count": 1, "reason": why} in logged
    moved = {"from": "working", "to": "agent-review", "reason": "## Handoff found"}
    changed = {"type": "status.changed", "by": "engine", **moved}
    assert logged[-2:] == [changed, {"type": "auto.advanced", **moved}], "a reader of status.changed misses no move"


def assert_dead(task: OrangeTask) -> None:
    """Every face shows that the worker is gone, and the one command that brings another."""
    status = task.json("status")
    assert (status["dead"], status["alive"], status["would"]) == (True, None, {"kind": "person", "to": ""})
    assert status["waiting_for"] == "a person: the agent run ended"
    assert "detent respawn lines" in task("status").out
    assert "working (dead)" in task("list", cwd=task.repo).out
    assert task.json("inbox", cwd=task.repo)["waiting"][0]["run"] == "detent respawn lines"


@pytest.mark.requirement("S3.2", "S3.21", "S3.33", "S3.42", "S3.43", "S3.56", "S3.61")
@every_death
def test_a_worker_that_dies_behind_its_handoff_is_reviewed(oranges: Oranges, death: str) -> None:
    oranges.honest(working=f"handoff; {DEATHS[death]}")
    task = made(oranges, death)
    task.run(expect=4)
    assert task.path_of_moves() == ["working", "agent-review", "reviewing"]
    moved = task.entries("moved")[1]
    assert (moved["by"], moved["edge"], moved["facts"]["handoff"]["ok"]) == ("engine", "working-to-agent-review", True)
    assert moved["reason"] == f"run 1 ended as {CLASSES[death]}"
    assert [entry["role"] for entry in task.entries("run_planned")] == ["worker", "reviewer"]
    assert task.head()["crash_count"] == "0"
    task.audit()


@pytest.mark.requirement("S3.21", "S3.35")
@some_deaths
def test_a_reviewer_that_dies_behind_a_pass_is_heard(oranges: Oranges, death: str) -> None:
    oranges.script("agent-review", f"review PASS; {DEATHS[death]}")
    task = made(oranges, death, "working", "agent-review")
    task.run(expect=4)
    assert (task.state(), task.last("moved")["by"]) == ("reviewing", "engine")


@pytest.mark.requirement("S3.36", "S3.57")
@some_deaths
def test_a_fail_before_a_reviewer_crash_leads_back_to_working(oranges: Oranges, death: str) -> None:
    oranges.honest(agent_review=f"review FAIL; {DEATHS[death]}", working="orange task update --status clarification")
    task = made(oranges, death, "working", "agent-review")
    task.run(expect=4)
    assert task.path_of_moves()[-2:] == ["working", "clarification"]
    assert task.entries("moved")[-2]["by"] == "engine"
    assert [entry["role"] for entry in task.entries("run_planned")] == ["reviewer", "worker", "host"]


@pytest.mark.requirement("S3.37")
@some_deaths
def test_after_the_second_fail_the_task_is_stuck(oranges: Oranges, death: str) -> None:
    oranges.script("agent-review", f"review FAIL; {DEATHS[death]}")
    task = made(oranges, death, "working", "agent-review", "working", "agent-review")
    task.run(expect=4)
    assert (task.state(), task.last("moved")["by"], task.last("moved")["way"]) == ("stuck", "engine", 1)


@pytest.mark.requirement("S3.38", "S3.47")
@some_deaths
def test_a_reviewer_without_a_verdict_is_restarted_only_once(oranges: Oranges, death: str) -> None:
    oranges.script("agent-review", f"section Review 'hard to say, run $DETENT_RUN_NUMBER'; {DEATHS[death]}")
    task = made(oranges, death, "working", "agent-review")
    task.run(expect=4)
    assert [entry["role"] for entry in task.entries("run_planned")] == ["reviewer", "reviewer"]
    assert [entry["after"]["counters"]["crash_count"] for entry in task.entries("crashed")] == [1]
    assert (task.state(), task.last("moved")["by"]) == ("stuck", "crash")
    # A new run is no new round.
    assert task.head()["review_round"] == "1"


@pytest.mark.requirement("S3.38")
def test_a_reviewer_that_is_started_again_may_still_judge(oranges: Oranges) -> None:
    oranges.honest()
    oranges.script("agent-review", "exit 1", run=2)
    task = oranges.orange()
    task.run(expect=4)
    assert task.path_of_moves() == ["working", "agent-review", "reviewing"]
    assert [entry["role"] for entry in task.entries("run_planned")] == ["worker", "reviewer", "reviewer"]
    assert task.head()["crash_count"] == "0"


@pytest.mark.requirement("S3.39", "S3.40", "S3.41", "S3.62")
@pytest.mark.parametrize(("state", "death"), WAITING.items())
def test_where_person_is_waited_for_dead_agent_is_only_marked(oranges: Oranges, state: str, death: str) -> None:
    oranges.script(state, DEATHS[death])
    ways = {"clarification": ("clarification",), "reviewing": ("working", "agent-review", "reviewing")}
    task = made(oranges, death, *ways.get(state, ("working", "stuck")))
    moves = task.path_of_moves()
    for number in (1, 2):
        assert task.respawn().code == 4
        assert len(task.entries("run_planned")) == number
        status = task.json("status")
        assert (status["state"], status["dead"], status["would"]["kind"]) == (state, True, "person")
    assert (task.path_of_moves(), task.entries("crashed")) == (moves, [])
    assert (task.head()["crash_count"], status["registers"]) == ("0", {})
    task.run(expect=4)
    assert len(task.entries("run_planned")) == 2  # no run starts again unasked


@pytest.mark.parametrize("state", ["reviewing", "stuck"])
def test_where_a_person_decides_no_agent_comes_unasked(oranges: Oranges, state: str) -> None:
    oranges.honest()
    task = oranges.orange(*(("working", "stuck") if state == "stuck" else ("working", "agent-review", "reviewing")))
    task.run(expect=4)
    assert task.entries("run_planned") == []
    assert task.json("status")["dead"] is False


@pytest.mark.requirement("S3.54")
def test_worker_called_into_stuck_task_hands_it_back_to_review(oranges: Oranges) -> None:
    refused = "orange task update --status working || orange task update --status agent-review || "
    oranges.honest(stuck=f"{refused}handoff again; orange task update --status agent-review")
    task = oranges.orange("working", "agent-review", "working", "agent-review", "stuck")
    assert task.respawn().code == 0
    assert [entry["accepted"] for entry in task.entries("claimed")] == [False, False, True]
    assert (task.state(), task.head()["review_round"]) == ("agent-review", "3")
    task.run(expect=4)
    assert "round 3 (limit 2)" in " ".join(task.prompt(2).lower().replace("review round:", "round").split())


@some_deaths
def test_an_accepted_request_is_decided_once_however_the_run_ends(oranges: Oranges, death: str) -> None:
    """The race of a command and an exit: the claim is decided when the process is gone, and nothing follows it."""
    oranges.script("working", f"handoff; orange task update --status agent-review; {DEATHS[death]}")
    oranges.script("agent-review", "exec sleep 1000")
    task = made(oranges, death, "working", more="" if death == "hangs" else "[budget.run]\nminutes = 0.02")
    task.run("--once", expect=0)
    assert task.path_of_moves() == ["working", "agent-review"]
    assert (task.last("moved")["by"], task.entries("crashed")) == ("agent", [])
    assert task("status").code == 0
    assert task.state() == "agent-review"


@pytest.mark.requirement("S3.42", "S3.32")
def test_readers_show_what_would_happen_and_never_do_it(oranges: Oranges) -> None:
    here = oranges.meeting()
    oranges.honest(working="handoff; meet here; exit 1")
    task = oranges.orange("working")
    task.run("--no-wait", expect=0)
    here.reached()
    here.go()
    task.wait_for_run()
    journal = (task.control / "journal.jsonl").read_bytes()
    status = task.json("status")
    assert (status["dead"], status["alive"], status["would"]) == (True, False, {"kind": "moves", "to": "agent-review"})
    assert "moves the task to agent-review" in task("status").out
    for words in (("next",), ("list",), ("inbox",), ("history",)):
        assert task(*words).code == 0
    assert (task.control / "journal.jsonl").read_bytes() == journal
    task.run(expect=4)
    assert (task.state(), task.json("status")["dead"]) == ("reviewing", False)


@pytest.mark.requirement("S3.31")
def test_supervisor_handles_ends_at_once_and_scans_every_30_s(oranges: Oranges) -> None:
    assert POLL_S == 30.0
    here = oranges.meeting()
    oranges.honest(working="handoff; meet here; exit 1")
    task = oranges.orange()
    assert task("start", task.id, cwd=task.repo).code == 0
    watching = oranges.begin("watch", cwd=task.repo)
    here.reached()
    assert task.head()["session"] == "run-1"
    here.go()
    watching.line("reviewing waits for a person")
    assert task.path_of_moves() == ["working", "agent-review", "reviewing"]
    assert [entry["by"] for entry in task.entries("moved")] == ["engine", "engine", "agent"]


@pytest.mark.requirement("S3.64")
def test_worker_that_comes_again_finds_handoff_of_the_one_before(oranges: Oranges) -> None:
    oranges.script("working", "exit 1", run=1)
    oranges.script("working", "grep 'half of it' \"$task\"; handoff; orange task complete", run=2)
    task = oranges.orange("working", "agent-review", "working")
    task.add("Handoff", "half of it")
    task.update("clarification", expect=0)
    task.update("working", expect=0)  # so that what stands there is old
    task.run(expect=4)
    assert task.last("crashed")["after"]["counters"]["crash_count"] == 1
    assert task.respawn().code == 0
    assert "half of it" in task.output(2)
    assert "agent run #1 in this state ended as failed" in task.prompt(2)
    assert task.state() == "agent-review"


def test_a_person_s_stop_is_no_crash(oranges: Oranges) -> None:
    here = oranges.meeting()
    oranges.script("working", "meet here")
    task = oranges.orange("working")
    driving = oranges.begin("run", task.id, cwd=task.repo)
    here.reached()
    assert task("stop", task.id, cwd=task.repo).code == 0
    assert driving.done().code == 4
    assert (task.entries("crashed"), task.head()["crash_count"]) == ([], "0")


def test_cancel_ends_the_agent_first_and_frees_the_home(oranges: Oranges) -> None:
    here = oranges.meeting()
    oranges.script("working", "meet here")
    task = oranges.orange("working", more="[pool]\nsize = 1")
    other = oranges.orange(task_id="other", repo=task.repo)
    driving = oranges.begin("run", task.id, cwd=task.repo)
    here.reached()
    assert task("cancel", task.id, cwd=task.repo).code == 0
    driving.done()
    assert (task.state(), task.json("status")["alive"]) == ("cancelled", None)
    other.update("working", expect=0)


def test_reviewer_that_edits_work_is_not_heard_and_has_crashed(oranges: Oranges) -> None:
    """Where the kernel does not keep it from the real tree, the tree is put back and what it asked for is void."""
    task = oranges.orange("working", "agent-review")
    edit = f"echo 'better = True' >> '{task.tree}/app.py'"
    oranges.script("agent-review", f"review PASS; {edit}; orange task update --status reviewing")
    before = (task.tree / "app.py").read_bytes()
    task.run("--once", expect=0)
    crashed = task.last("crashed")
    assert (crashed["exit"], crashed["after"]["counters"]["crash_count"]) == ("finished", 1)
    assert "its role may only read the repository, and it changed app.py" in crashed["why"]
    assert ((task.tree / "app.py").read_bytes(), task.state()) == (before, "agent-review")
    assert task.json("status")["would"] == {"kind": "respawn", "to": ""}
    oranges.script("agent-review", "true")  # the verdict of the one before it is not its own
    task.run(expect=4)
    assert (task.state(), (task.tree / "app.py").read_bytes()) == ("stuck", before)
    task.audit()


@pytest.mark.parametrize(
    ("state", "script", "would"),
    [
        ("working", "true", ("crash", "")),
        ("working", "orange task update --status clarification", ("moves", "clarification")),
        ("agent-review", "review FAIL", ("moves", "working")),
        ("clarification", "true", ("stays", "")),
    ],
)
def test_what_a_reader_foresees_of_a_run_that_is_gone(
    oranges: Oranges, state: str, script: str, would: tuple[str, str]
) -> None:
    here = oranges.meeting()
    oranges.script(state, f"{script}; meet here")
    task = oranges.orange(*(("working", "agent-review") if state == "agent-review" else (state,)))
    task.run("--no-wait", expect=0)
    here.reached()
    here.go()
    task.wait_for_run()
    assert tuple(task.json("status")["would"].values()) == would


@pytest.mark.requirement("S3.33", "S3.56", "S3.62", "S3.64")
def test_a_respawn_gives_the_task_its_driver_back(oranges: Oranges) -> None:
    oranges.honest()
    oranges.script("working", "exit 1", run=1)
    task = oranges.orange()
    task.run(expect=4)
    done = task("respawn", task.id, cwd=task.repo)
    assert (done.code, task.state()) == (4, "reviewing"), done
    assert [entry["role"] for entry in task.entries("run_planned")] == ["worker", "worker", "reviewer"]


@pytest.mark.requirement("S3.33", "S3.56", "S3.62")
def test_watch_goes_on_after_a_respawn(oranges: Oranges) -> None:
    oranges.honest()
    oranges.script("working", "exit 1", run=1)
    task = oranges.orange()
    task.run(expect=4)
    assert task.entries("driven") == [], "the task was never started"
    assert task("respawn", "--no-wait", task.id, cwd=task.repo).code == 0
    watched = task("watch", "--once", cwd=task.repo)
    assert (watched.code, task.state()) == (0, "reviewing"), watched
    task.audit()


def test_a_respawn_beside_a_living_run_is_refused_at_once(oranges: Oranges) -> None:
    here = oranges.meeting()
    oranges.script("working", "meet here; exit 1")
    task = oranges.orange()
    driving = oranges.begin("run", task.id, cwd=task.repo)
    here.reached()
    refused = task("respawn", task.id, cwd=task.repo)
    assert (refused.code, "agent run #1 still works on lines" in refused.err) == (1, True), refused
    here.go()
    driving.done()


def test_stuck_task_may_go_to_review_by_person_without_run(oranges: Oranges) -> None:
    task = oranges.orange("working", "stuck")
    offered = {edge["to"]: edge["open"] for edge in task.json("next")["edges"]}
    assert offered == {"working": True, "agent-review": True, "cancelled": True}
    assert task("move", "agent-review").code == 0


def test_a_respawn_from_stuck_starts_the_reviewer_too(oranges: Oranges) -> None:
    oranges.honest(stuck="work; handoff; orange task complete")
    task = oranges.orange("working", "stuck")
    done = task("respawn", task.id, cwd=task.repo)
    assert done.code == 4, done
    assert task.path_of_moves() == ["working", "stuck", "agent-review", "reviewing"]
    assert task.last("driven")["on"] is True


@pytest.mark.parametrize("state", ["stuck", "reviewing"])
def test_an_assistant_that_moves_nothing_leaves_the_task_idle(oranges: Oranges, state: str) -> None:
    oranges.honest(**{state: "echo looked"})
    task = oranges.orange("working", *(["stuck"] if state == "stuck" else ["agent-review", "reviewing"]))
    assert task("respawn", task.id, cwd=task.repo).code == 4
    assert len(task.entries("run_planned")) == 1
    assert task.state() == state
