"""Why a ralf thread stands where it stands: told by run, inbox, status and thread.json, whatever led there."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.conformance.ralf_threads import SPEC, Thread, Threads
from tests.conftest import Completed, MakeRepo

TWO = ("--agent", "implementer=one", "--agent", "implementer=two")


def phase(thread: Thread) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((thread.folder / "thread.json").read_text(encoding="utf-8"))["phase"]
    return content


def begun(thread: Thread) -> Completed:
    """Begin the implementation of a finalized spec and drive it as far as it goes."""
    thread.spec(SPEC)
    thread.done("approve", "--skip-assess")
    thread.done("choose", "begin")
    return thread.run(expect=4)


def told_everywhere(thread: Thread, ran: Completed, *words: str) -> None:
    """These words stand in what run printed, in the inbox, in status and in the native file."""
    inbox = thread("inbox").out
    status = thread.done("status").out
    reason = phase(thread)["data"]["reason"]
    assert thread.json("status", thread.id)["because"] == reason
    for part in words:
        assert part in ran.out
        assert part in inbox
        assert part in status
        assert part in reason


def detached(thread: Thread, repo: MakeRepo) -> str:
    repo.git(thread.repo, "switch", "--quiet", "--detach")
    return "detached HEAD"


def beside(thread: Thread, repo: MakeRepo) -> str:
    other = Thread(thread.detent, thread.repo, thread.folder.parent / "other", "other")
    assert thread("new", "ralf", "other sums", "--id", "other").code == 0
    other.to("Running")
    assert repo.git(thread.repo, "rev-parse", "--abbrev-ref", "HEAD") == "ralf/other"
    return "your checkout is on ralf/other, the branch of task other"


def taken(thread: Thread, repo: MakeRepo) -> str:
    repo.git(thread.repo, "branch", "ralf/sums")
    return "ralf/sums"


@pytest.mark.requirement("S4.11", "S4.42")
@pytest.mark.parametrize("obstacle", [detached, beside, taken])
def test_an_unrestorable_checkout_fails_in_preflight(threads: Threads, repo: MakeRepo, obstacle: Any) -> None:
    thread = threads.thread()
    words = obstacle(thread, repo)
    (thread.repo / "app.py").write_text("mine = 1\n", encoding="utf-8")
    ran = begun(thread)
    assert thread.state() == "PreflightFailed"
    told_everywhere(thread, ran, "baseline_captured: ", words, "tree_clean: not committed: app.py")
    failed = {label for label, ok, _ in thread.json("status", thread.id)["failed"] if not ok}
    others = {"no_other_running"} if obstacle is beside else set()
    assert failed == {"tree_clean", "baseline_captured"} | others
    assert (thread.repo / "app.py").read_text(encoding="utf-8") == "mine = 1\n"
    thread.audit()


@pytest.mark.requirement("S4.45")
def test_another_running_thread_fails_preflight(threads: Threads, repo: MakeRepo) -> None:
    thread = threads.thread()
    beside(thread, repo)
    told_everywhere(thread, begun(thread), "no_other_running: other is in Running")
    assert thread("stop", "other").code == 0
    repo.git(thread.repo, "switch", "--quiet", "main")
    thread.done("choose", "retry")
    thread.run(expect=4)
    assert thread.state() == "Configuring"
    assert phase(thread) == {"type": "Configuring"}


@pytest.mark.requirement("S4.12", "S4.42")
def test_a_retry_captures_the_baseline_that_was_missing(threads: Threads, repo: MakeRepo) -> None:
    thread = threads.thread()
    detached(thread, repo)
    begun(thread)
    repo.git(thread.repo, "switch", "--quiet", "main")
    thread.done("choose", "retry")
    thread.run(expect=4)
    assert thread.state() == "Configuring"
    shown = json.loads((thread.folder / "thread.json").read_text(encoding="utf-8"))
    assert (shown["baseline"]["branch"], shown["branch"]) == ("main", "ralf/sums")


@pytest.mark.requirement("S4.11", "S4.42")
def test_a_baseline_survives_a_later_preflight_that_fails(threads: Threads, repo: MakeRepo) -> None:
    thread = threads.thread(more='[agents.absent]\nargv = ["no-such-program-here"]\n')
    thread.done("configure", "--agent", "implementer=absent")
    begun(thread)
    before = json.loads((thread.folder / "thread.json").read_text(encoding="utf-8"))["baseline"]
    detached(thread, repo)
    thread.done("choose", "retry")
    thread.run(expect=4)
    assert json.loads((thread.folder / "thread.json").read_text(encoding="utf-8"))["baseline"] == before
    repo.git(thread.repo, "switch", "--quiet", "ralf/sums")
    thread.done("configure", "--agent", "implementer=one")
    thread.done("choose", "retry")
    thread.run(expect=4)
    assert thread.state() == "Configuring"
    assert json.loads((thread.folder / "thread.json").read_text(encoding="utf-8"))["baseline"] == before


@pytest.mark.requirement("S4.20")
def test_stuck_says_that_the_iterations_are_spent(threads: Threads) -> None:
    thread = threads.thread(more="[machine.ralf.limits]\niteration = 2")
    thread.to("Running")
    threads.script("Running", "echo nothing")
    told_everywhere(thread, thread.run(expect=4), "iteration 2 of 2")
    assert "ended by:   " in (output := thread.done("choose", "D").out)
    assert "iteration 2 of 2" in output


@pytest.mark.requirement("S4.21", "S4.49")
def test_stuck_says_which_criterion_failed(threads: Threads) -> None:
    thread = threads.thread(more="[machine.ralf.limits]\niteration = 1")
    thread.to("Running")
    threads.script("Running", "promise")
    told_everywhere(thread, thread.run(expect=4), "iteration 1 of 1", "C1: 'grep -q ready app.py' failed")
    assert "failed  C1" in thread.done("status").out


@pytest.mark.requirement("S4.20")
def test_stuck_says_which_models_failed(threads: Threads) -> None:
    thread = threads.thread(*TWO)
    thread.to("Running")
    threads.script("Running", "exit 1")
    told_everywhere(thread, thread.run(expect=4), "one: failed; two: failed")


def test_stuck_says_that_the_last_run_failed(threads: Threads) -> None:
    thread = threads.thread(*TWO, more="[machine.ralf.limits]\niteration = 1")
    thread.to("Running")
    threads.script("Running", "exit 1")
    told_everywhere(thread, thread.run(expect=4), "agent run #1 failed", "iteration 1 of 1")


def test_a_lost_run_is_named_where_it_paused_the_loop(threads: Threads) -> None:
    thread = threads.thread()
    thread.to("Running")
    threads.lose_run(thread)
    told_everywhere(thread, thread.run(expect=4), "agent run #1 was lost")
    assert phase(thread)["data"]["iteration"] == 1
    thread.done("choose", "resume")
    assert phase(thread) == {"type": "Running", "data": {"iteration": 1}}
    thread.audit()


@pytest.mark.requirement("S4.49", "S4.53")
def test_criterion_that_was_not_judged_is_not_told_as_failed(threads: Threads) -> None:
    thread = threads.thread(more="[machine.ralf.limits]\niteration = 1")
    thread.to("Running", SPEC + "- it reads well\n- it is short\n")
    threads.script("Running", "promise")
    thread.run(expect=4)
    assert thread.state() == "Stuck"
    status = thread.done("status").out
    assert "criteria:            0 of 3 passing, 2 not judged, as last verified" in status
    assert "failed  C1: 'grep -q ready app.py' failed" in status
    assert "open    C2: " in status
    assert "C2" not in phase(thread)["data"]["reason"]
    assert [ok for _, ok, _ in thread.json("status", thread.id)["failed"]] == [False, None, None]
    thread.audit()
