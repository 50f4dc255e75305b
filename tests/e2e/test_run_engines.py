"""Drivers of tasks: engines that die, meet each other, are called off, watch many tasks, or work in the background."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from detent.effects.host.keeper.look import look
from detent.effects.host.keeper.watch import wait_for_end
from detent.runner.run.end_run import end_run
from detent.runner.task.open import open_task
from tests.conftest import SAMPLE_FILES, Detent, MakeRepo
from tests.e2e.agent_runs import HONEST, WAIT_S, Agents, AgentTask
from tests.lines import made
from tests.unit.effects.host.keeper.keeper_runs import until


def kinds(task: AgentTask) -> list[str]:
    return [entry["kind"] for entry in task.entries() if entry["kind"] not in ("created", "proved", "acted")]


# --- engines that die ---


def test_run_of_a_killed_engine_is_adopted_by_the_next(agents: Agents) -> None:
    here = agents.meeting()
    agents.honest(implement=f"count; meet here; {HONEST['implement'].removeprefix('count;')}")
    task = agents.task()
    first = agents.begin("run", task.id, cwd=task.repo)
    here.reached()
    first.kill()
    second = agents.begin("run", task.id, cwd=task.repo)
    second.line("agent run #1 is still under way: scripted as builder in implement")
    here.go()
    assert second.done().code == 0
    assert agents.counted() == ["implement 1", "verify 2", "review 3"]
    assert kinds(task) == ["moved", "moved", *["run_planned", "claimed", "run_ended", "moved"] * 3]
    task.audit()


def test_run_that_ended_without_an_engine_is_judged_later(agents: Agents) -> None:
    agents.honest()
    task = agents.task()
    started = task("run", "--no-wait", "--json", task.id, cwd=task.repo)
    assert (started.code, started.json()["rest"]) == (0, "running")
    until(lambda: look(str(task.run_dir(1))).phase == "ended")
    assert (task.state(), kinds(task)[-1]) == ("implement", "claimed")
    moved = task("move", task.id, cwd=task.repo)  # a person's next command judges it first
    assert moved.code == 0, moved
    assert kinds(task)[-3:] == ["run_ended", "moved", "moved"]
    assert [entry["by"] for entry in task.entries("moved")[-2:]] == ["agent", "person"]
    task.audit()


def test_an_engine_killed_before_the_start_leaves_an_unstarted_run(agents: Agents) -> None:
    agents.honest()
    agents.script("implement", "count; echo '# 1' >> app.py", run=1)
    task = agents.task()
    task.run("--once", expect=0)
    store = open_task(str(task.folder)).store
    planned = {
        key: value for key, value in task.last("run_planned").items() if key not in ("seq", "time", "kind", "prev")
    }
    store.commit(store.load(), made("run_planned", planned, run=2))
    refused = task("move", "blocked", task.id, cwd=task.repo)
    assert "run_void" in kinds(task), refused  # the next command settles it
    task.run(expect=0)
    assert task.last("run_void")["why"] == "it was planned and never began"
    assert agents.counted() == ["implement 1", "implement 3", "verify 4", "review 5"]
    task.audit()


def test_engine_killed_between_end_of_a_run_and_its_decision(agents: Agents) -> None:
    agents.honest()
    task = agents.task()
    task("run", "--no-wait", task.id, cwd=task.repo)
    until(lambda: look(str(task.run_dir(1))).phase == "ended")
    end_run(open_task(str(task.folder)))
    assert kinds(task)[-1] == "run_ended"
    task.run("--once", expect=0)
    assert kinds(task)[5:7] == ["moved", "run_planned"]
    assert task.entries("moved")[2]["by"] == "agent"
    task.audit()


# --- engines that meet ---


def test_two_engines_start_one_run_and_decide_it_once(agents: Agents) -> None:
    here = agents.meeting()
    agents.honest(implement="count; meet here; exit 3")
    task = agents.task()
    both = [agents.begin("run", "--once", task.id, cwd=task.repo) for _ in range(2)]
    here.reached()
    for started in both:
        started.line("agent run #1")
    here.go()
    assert [engine.done().code for engine in both] == [1, 1]  # the run failed
    assert agents.counted() == ["implement 1"]
    assert kinds(task)[-3:] == ["run_planned", "run_ended", "crashed"]
    assert task.last("crashed")["after"]["counters"]["crashes"] == 1
    task.audit()


def test_stop_from_another_terminal_ends_the_run_and_the_driving(agents: Agents) -> None:
    here = agents.meeting()
    agents.script("implement", "count; meet here; sleep 1000")
    task = agents.task()
    driving = agents.begin("run", task.id, cwd=task.repo)
    here.reached()
    stopped = task("stop", "--reason", "too dear", "--json", task.id, cwd=task.repo)
    assert (stopped.code, stopped.json()["ended"]) == (0, 1)
    done = driving.done()
    assert (done.code, f"stopped by {task.last('driven')['name']}" in done.out) == (4, True), done
    ended = task.last("run_ended")
    assert (ended["exit"], ended["how"], ended["by_person"]) == ("killed", "stopped", True)
    assert task.entries("crashed") == []
    assert (task.last("unmoved")["progress"], task.last("unmoved")["why"]) == (True, "a person ended the run")
    assert task.last("driven")["reason"] == "too dear"
    assert agents.counted() == ["implement 1"]
    task.audit()
    agents.honest()
    task.run(expect=0)  # the word was about that driving, not for ever


def test_an_interrupted_engine_leaves_its_run_alone(agents: Agents) -> None:
    here = agents.meeting()
    agents.honest(implement="meet here; candidate")
    task = agents.task()
    driving = agents.begin("run", task.id, cwd=task.repo)
    here.reached()
    driving.process.send_signal(signal.SIGINT)
    done = driving.done()
    assert done.code == 130
    assert "agent run #1 goes on without this command\n  next: take it up again: detent run words; or" in done.err
    assert look(str(task.run_dir(1))).phase == "alive"
    here.go()
    task.run(expect=0)
    assert task.entries("crashed") == []


# --- many tasks ---


def test_several_tasks_are_driven_at_once(agents: Agents) -> None:
    agents.honest()
    first = agents.task()
    second = agents.task(task_id="other", repo=first.repo)
    done = first("run", "--all", "--jobs", "2", "--json", cwd=first.repo)
    assert done.code == 0, done
    assert {row["id"]: (row["state"], row["rest"]) for row in done.json()["tasks"]} == {
        "other": ("done", "done"),
        "words": ("done", "done"),
    }
    assert len(agents.counted()) == 6
    first.audit()
    second.audit()
    nothing = first("run", "--all", "--json", cwd=first.repo)
    assert (nothing.code, nothing.json()["tasks"]) == (0, [])


def test_all_tasks_have_one_shape_in_json(agents: Agents) -> None:
    agents.honest()
    task = agents.task()
    done = task("run", "--all", "--json", cwd=task.repo)
    assert (done.code, [row["state"] for row in done.json()["tasks"]]) == (0, ["done"])


def test_worst_rest_of_several_tasks_is_what_run_ends_with(agents: Agents) -> None:
    agents.honest()
    agents.script("implement", "true", task="idle")
    task = agents.task()
    idle = agents.task(task_id="idle", repo=task.repo)
    task("stop", idle.id, cwd=task.repo)  # said before; naming the task again confirms it
    done = task("run", task.id, idle.id, cwd=task.repo)
    assert done.code == 6, done
    assert "stopped: idle is in implement: no material progress: 2 agent run(s) changed nothing" in done.out
    assert (task.state(), idle.state()) == ("done", "implement")
    wrong = task("run", "--jobs", "0", task.id, cwd=task.repo)
    assert (wrong.code, "--jobs needs a number from 1" in wrong.err) == (2, True)


def test_watch_drives_what_was_started_and_nothing_else(agents: Agents) -> None:
    here = agents.meeting()
    agents.honest()
    agents.script("implement", "count; meet here; sleep 1000", task="slow")
    task = agents.task()
    slow = agents.task(
        task_id="slow", repo=agents.make_repo("second", {"detent.toml": agents.settings(), "app.py": "left + right\n"})
    )
    assert task.json("start", task.id, cwd=task.repo)["driven"] is True
    watching = agents.begin("watch", "--json", cwd=task.repo)
    assert json.loads(watching.line('"rest"'))["rest"] == "done"
    refused = task("watch", cwd=task.repo)
    assert (refused.code, "being watched already" in refused.err) == (1, True)
    assert (task.state(), slow.entries("run_planned")) == ("done", [])
    watching.process.terminate()
    assert watching.done().code == 128 + signal.SIGTERM
    task.audit()

    slow("start", slow.id, cwd=slow.repo)
    other = agents.begin("watch", cwd=slow.repo)
    here.reached()
    other.kill()  # the agent lives on, and the next one finds it
    again = agents.begin("watch", cwd=slow.repo)
    again.line("slow: agent run #1")
    stopped = slow("stop", slow.id, cwd=slow.repo)
    assert (stopped.code, "agent run #1 was ended" in stopped.out) == (0, True), stopped
    again.line("needs a person: slow is in implement: stopped by")
    assert agents.counted().count("implement 1") == 2
    assert len(slow.entries("run_planned")) == 1
    assert slow.entries("crashed") == []
    slow.audit()


# A git that notes, whenever a journal is anchored, how many ends the journals of the project hold by then.
COUNTING = """#!/bin/sh
case " $* " in *" update-ref refs/detent/anchor/"*) cat {journals} | grep -c '"kind":"run_ended"' >> {log} ;; esac
exec {git} "$@"
"""


def test_all_waiting_run_ends_are_recorded_before_any_is_handled(agents: Agents) -> None:
    tasks = [agents.task(task_id="one")]
    tasks += [agents.task(task_id=name, repo=tasks[0].repo) for name in ("two", "three")]
    meetings = [agents.meeting(task.id) for task in tasks]
    for task, meeting in zip(tasks, meetings, strict=True):
        agents.script("implement", f"meet {task.id}; echo more >> app.py", task=task.id)
        task("respawn", "--once", "--no-wait", task.id, cwd=task.repo)
        meeting.reached()
    log, git = agents.scripts / "anchored", agents.scripts / "bin" / "git"
    journals = " ".join(str(task.control / "journal.jsonl") for task in tasks)
    git.parent.mkdir()
    git.write_text(COUNTING.format(journals=journals, log=log, git=shutil.which("git")), encoding="utf-8")
    git.chmod(0o755)
    path = f"{git.parent}{os.pathsep}{agents.detent.environment['PATH']}"
    agents.detent = Detent(agents.detent.directory, {**agents.detent.environment, "PATH": path})
    watching = agents.begin("watch", "--once", "--json", cwd=tasks[0].repo)
    for _task in tasks:
        watching.line("agent run #1: scripted")
    watching.process.send_signal(signal.SIGSTOP)
    for task, meeting in zip(tasks, meetings, strict=True):
        meeting.go()
        folder = str(task.run_dir(1))
        assert wait_for_end([folder], WAIT_S) == folder
    watching.process.send_signal(signal.SIGCONT)
    assert watching.done().code == 0
    assert log.read_text(encoding="utf-8").split() == ["3", "3", "3"]
    for task in tasks:
        task.audit()


def test_start_wakes_a_watch_that_has_nothing_to_do(agents: Agents) -> None:
    agents.honest()
    task = agents.task()
    watching = agents.begin("watch", cwd=task.repo)
    until((task.control.parent.parent / "bell").exists)
    task("start", task.id, cwd=task.repo)
    watching.line("done: words is in done")
    assert agents.counted() == ["implement 1", "verify 2", "review 3"]


@pytest.mark.parametrize("what", ["its file", "its log"])
def test_task_that_cannot_be_driven_keeps_no_other_from_it(agents: Agents, what: str) -> None:
    agents.honest()
    task = agents.task()
    broken = agents.task(task_id="broken", repo=task.repo)
    if what == "its file":
        (broken.folder / "STATE.md").write_bytes(b"\0")
    else:
        (broken.control / "drive.log").mkdir()  # as with a full disk, no process can be started for it
    done = task("run", "--all", cwd=task.repo)
    assert done.code == 6, done
    words = "it can't be driven" if what == "its file" else "tool: a process can't be started: "
    assert f"stopped: broken is in intake: {words}" in done.out
    assert task.state() == "done"


def test_watch_follows_runs_but_starts_no_idle_task(agents: Agents) -> None:
    here = agents.meeting()
    agents.honest(implement=f"meet here; {HONEST['implement']}")
    task = agents.task()
    assert task("respawn", "--once", "--no-wait", task.id, cwd=task.repo).code == 0
    here.reached()
    watching = agents.begin("watch", "--once", cwd=task.repo)
    watching.line("words: agent run #1")
    here.go()
    done = watching.done()
    assert (done.code, "words is in verify: nobody drives it" in done.out) == (0, True), done
    assert kinds(task)[-3:] == ["claimed", "run_ended", "moved"]
    assert agents.counted() == ["implement 1"]
    several = task("run", "--no-start", "--jobs", "2", task.id, cwd=task.repo)
    assert (several.code, "--no-start is for one task at a time" in several.err) == (2, True)
    task("start", task.id, cwd=task.repo)
    assert task("watch", "--once", cwd=task.repo).code == 0  # with the word it goes on
    assert task.state() == "done"
    task.audit()


def test_a_long_lived_process_collects_garbage(detent: Detent, repo: MakeRepo) -> None:
    environment, cwd = {}, repo()
    for words in (["watch", "--once"], ["list"]):
        script = f"import gc; from detent.faces.cli.main import main; main({words}); print('collects', gc.isenabled())"
        done = subprocess.run(
            [sys.executable, "-c", script],
            cwd=cwd,
            env=detent.environment,
            capture_output=True,
            encoding="utf-8",
            check=True,
        )
        environment[words[0]] = done.stdout.splitlines()[-1]
    assert environment == {"watch": "collects True", "list": "collects False"}


@pytest.mark.requirement("S0.73")
def test_a_task_is_driven_in_the_background(agents: Agents) -> None:
    agents.honest()
    task = agents.task()
    shown = task.json("run", "--detach", task.id, cwd=task.repo)
    until(lambda: task.state() == "done" and not _is_alive(shown["pid"]))
    assert "done: words is in done" in Path(shown["log"]).read_text(encoding="utf-8")
    assert agents.counted() == ["implement 1", "verify 2", "review 3"]


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"


def test_every_command_of_a_run_answers_in_json(agents: Agents) -> None:
    agents.honest(implement='echo "# $DETENT_RUN_NUMBER" >> app.py; field \'Current result\' "$DETENT_RUN_NUMBER"')
    task = agents.task()
    for words, keys in (
        (("run", "--once"), {"id", "state", "rest", "why", "runs", "usage"}),
        (("respawn",), {"id", "state", "rest", "why", "runs", "usage"}),
        (("logs",), {"id", "run", "stands", "log"}),
        (("start",), {"id", "driven"}),
        (("stop",), {"id", "driven", "ended"}),
    ):
        done = task(*words, "--json", task.id, cwd=task.repo)
        assert keys <= done.json().keys(), done
    assert "watched already" not in task("watch", "--once", "--json", cwd=task.repo).out
    error = task("logs", "--run", "99", "--json", task.id, cwd=task.repo)
    assert error.json()["error"]["kind"] == "usage"


def test_a_project_without_tasks_can_be_watched(detent: Detent, repo: MakeRepo) -> None:
    done = detent("watch", "--once", cwd=repo())
    assert (done.code, done.err) == (0, ""), done


def test_task_that_cannot_be_driven_says_why_and_what_next(agents: Agents) -> None:
    path = agents.make_repo(
        files={**SAMPLE_FILES, "detent.toml": "[agents]\ndefault = 'pi'\npi.argv = ['no-such-agent']\n"}
    )
    for name in ("a", "b"):
        assert agents.detent("new", "phase", name, "--id", name, cwd=path).code == 0
    done = agents.detent("run", "--all", cwd=path)
    assert done.code == 6, done
    for name in ("a", "b"):
        words = "it can't be driven: tool: role builder of phase wants pi, but no-such-agent is not on PATH"
        assert f"stopped: {name} is in intake: {words}\n  next: run: npm install" in done.out
