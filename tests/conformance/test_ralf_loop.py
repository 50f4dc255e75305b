"""The loop of a ralf thread: iterations, promise, verification, models in turn, pause, and what Stuck keeps."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest

from tests.conformance.ralf_threads import PROMISE, SPEC, Threads

TWO = ("--agent", "implementer=one", "--agent", "implementer=two")


@pytest.mark.requirement("S4.15", "S4.19", "S4.22")
def test_promise_is_verified_and_a_broken_one_costs_an_iteration(threads: Threads) -> None:
    thread = threads.thread()
    thread.to("Running")
    threads.script("Running", "count; echo still at it")
    threads.script("Running", "count; promise", run=2)
    threads.script("Running", "count; ready; promise", run=3)
    done = thread.run(expect=4)
    assert thread.path_of_moves()[-4:] == ["Verifying", "Running", "Verifying", "Implemented"]
    assert thread.counters()["iteration"] == 3
    assert threads.counted() == ["Running one"] * 3, "no agent was needed to verify commands"
    assert "last 50 lines of the run do not hold" in done.out
    thread.audit()


@pytest.mark.requirement("S4.15")
def test_a_run_that_repeats_its_prompt_promises_nothing(threads: Threads) -> None:
    thread = threads.thread()
    thread.to("Running")
    threads.script("Running", "cat", run=1)
    threads.script("Running", "cat; echo; ready; promise", run=2)
    thread.run(expect=4)
    assert [entry["run"] for entry in thread.entries("unmoved")] == [1]
    assert f"<promise>{PROMISE}</promise>" in thread.prompt(1), "it was told what to print"
    assert thread.state() == "Implemented"


@pytest.mark.requirement("S4.20", "S4.47", "S4.48", "S4.49", "S4.50", "S4.51")
def test_stuck_keeps_what_was_tried(threads: Threads) -> None:
    two = SPEC + "- and it is tidy; cmd: grep -q tidy app.py\n"
    thread = threads.thread(more="[machine.ralf.limits]\niteration = 3")
    thread.spec(two)
    thread.done("approve", "--skip-assess")
    thread.done("move", "Preflight")
    thread.run(expect=4)
    thread.done("move", "Running")
    threads.script("Running", "echo nothing yet")
    threads.script("Running", "ready; echo half of it; promise", run=2)
    thread.run(expect=4)
    assert thread.state() == "Stuck"
    shown = thread.json("choose", "D", thread.id)
    assert shown["spec"] == "spec/v1.md"
    assert (shown["loop"]["used"], shown["loop"]["most"], shown["total"]) == (3, 3, 3)
    assert [(label, ok) for label, ok, _ in shown["loop"]["criteria"]] == [("C1", True), ("C2", False)]
    assert (shown["closest_run"], shown["closest_passed"]) == (2, 1)
    assert "half of it" in shown["closest_said"]
    assert "app.py" in shown["stat"]
    words = thread.done("choose", "diagnose").out
    assert "iterations: 3 of 3" in words
    assert "failed  C2" in words
    assert thread.state() == "Stuck", "a look moves nothing"
    # What happens to the files afterwards does not change what was kept.
    (thread.repo / "app.py").write_text("", encoding="utf-8")
    assert "app.py | 1 +" in thread.json("choose", "D", thread.id)["stat"]
    thread.audit()


@pytest.mark.requirement("S4.21")
def test_a_last_broken_promise_leads_to_stuck(threads: Threads) -> None:
    thread = threads.thread(more="[machine.ralf.limits]\niteration = 2")
    thread.to("Running")
    threads.script("Running", "promise")
    thread.run(expect=4)
    assert thread.path_of_moves()[-4:] == ["Verifying", "Running", "Verifying", "Stuck"]


@pytest.mark.requirement("S4.20")
def test_a_failing_model_is_replaced_until_the_thread_is_stuck(threads: Threads) -> None:
    thread = threads.thread(*TWO)
    thread.to("Running")
    threads.script("Running", "count; exit 1", agent="one")
    threads.script("Running", "count; echo working", agent="two")
    threads.script("Running", "count; exit 3", run=3)
    thread.run(expect=4)
    assert threads.counted() == ["Running one", "Running two", "Running two"], "who failed is not tried again"
    assert thread.state() == "Stuck"
    facts = thread.entries("moved")[-1]["facts"]
    assert facts["models_exhausted"]["note"] == "one: failed; two: failed"
    assert "one: failed; two: failed" in thread.done("choose", "D").out


@pytest.mark.requirement("S4.20")
def test_a_model_out_of_quota_cools_down_while_others_work(threads: Threads) -> None:
    thread = threads.thread(*TWO)
    thread.to("Running")
    threads.script("Running", "count; echo 'error: usage limit reached, try again in 3 hours'; exit 1", agent="one")
    threads.script("Running", "count; ready; promise", agent="two")
    thread.run(expect=4)
    assert threads.counted() == ["Running one", "Running two"]
    assert thread.state() == "Implemented"
    assert thread.counters()["iteration"] == 1, "a run without quota is no iteration"
    # The cool-down outlives the visit: the next loop begins with the other model.
    thread.done("move", "PendingReview")
    assert thread("reject", "--reason", "more", thread.id).code == 0
    thread.run("--once")
    assert threads.counted()[-1] == "Running two"


@pytest.mark.requirement("S4.20")
@pytest.mark.parametrize("end", ["exit 3", "kill -9 $$"])
def test_a_sole_model_that_fails_is_tried_again(threads: Threads, end: str) -> None:
    thread = threads.thread()
    thread.to("Running")
    threads.script("Running", f"count; {end}", run=1)
    threads.script("Running", "count; ready; promise", run=2)
    thread.run(expect=4)
    assert thread.state() == "Implemented"
    assert threads.counted() == ["Running one"] * 2
    assert thread.counters()["iteration"] == 2, "a failed run costs an iteration"
    thread.audit()


@pytest.mark.requirement("S4.20")
def test_sole_model_that_always_fails_ends_at_the_iteration_limit(threads: Threads) -> None:
    thread = threads.thread(more="[machine.ralf.limits]\niteration = 3")
    thread.to("Running")
    threads.script("Running", "count; exit 3")
    thread.run(expect=4)
    assert thread.state() == "Stuck"
    assert threads.counted() == ["Running one"] * 3


@pytest.mark.requirement("S4.20")
def test_sole_model_out_of_quota_rests_until_its_wake_time(threads: Threads) -> None:
    thread = threads.thread()
    thread.to("Running")
    threads.script("Running", "count; echo 'Error: 429 Too Many Requests: rate limit exceeded'; exit 1", run=1)
    threads.script("Running", "count; ready; promise", run=2)
    rested = thread("run", thread.id)
    wake = thread.entries("run_ended")[-1]["wake"]
    assert (rested.code, f"it may go on at {wake}" in rested.out) == (6, True), rested
    assert thread.state() == "Running"
    assert thread("run", thread.id).code == 6, "and it does not call the agent before"
    assert threads.counted() == ["Running one"]
    assert thread.json("status", thread.id)["wake"] == wake
    assert f"until {wake}; detent watch goes on then" in thread.done("status").out
    assert thread("respawn", thread.id).code in (0, 4), "a person may ask for a run at once"
    assert thread.json("status", thread.id)["wake"] == ""
    assert thread.state() == "Implemented"
    assert thread.counters()["iteration"] == 1
    thread.audit()


@pytest.mark.requirement("S4.20")
def test_failed_model_beside_one_out_of_quota_is_waited_for(threads: Threads) -> None:
    thread = threads.thread(*TWO)
    thread.to("Running")
    threads.script("Running", "count; echo 'error: usage limit reached, try again in 3 hours'; exit 1", agent="one")
    threads.script("Running", "count; exit 3", agent="two")
    rested = thread("run", thread.id)
    assert (rested.code, "it may go on at" in rested.out) == (6, True), rested
    assert threads.counted() == ["Running one", "Running two"]
    assert thread.state() == "Running"


@pytest.mark.requirement("S4.16", "S4.17", "S4.52", "S4.53")
def test_ctrl_c_pauses_and_a_resumed_loop_continues_there(threads: Threads) -> None:
    thread = threads.thread()
    thread.to("Running")
    here = threads.meeting()
    threads.script("Running", "echo one; echo '# half' >> app.py")
    threads.script("Running", "echo '# more' >> app.py; meet here", run=2)
    driving = threads.begin("run", thread.id, cwd=thread.repo)
    assert here.reached()[0] == 2
    driving.process.send_signal(signal.SIGINT)
    done = driving.done()
    assert done.code == 130, done
    assert "Running -> Paused" in done.out
    assert thread.state() == "Paused"
    assert thread.counters()["iteration"] == 1, "an interrupted run is no iteration"
    assert (thread.repo / "app.py").read_text(encoding="utf-8").endswith("# half\n# more\n")
    menu = thread.done("choose").out
    for words in ("iteration: 2 of 10", "model: one", "[R] resume", "[C] reconfigure", "[A] cancel"):
        assert words in menu
    assert "iteration:           2 of 10" in thread.done("status").out
    phase = json.loads((thread.folder / "thread.json").read_text(encoding="utf-8"))["phase"]
    assert phase == {"type": "Paused", "data": {"iteration": 2}}
    thread.done("choose", "r")
    threads.script("Running", "ready; promise", run=3)
    thread.run(expect=4)
    assert thread.state() == "Implemented"
    assert thread.counters()["iteration"] == 2
    thread.audit()


@pytest.mark.requirement("S4.40")
def test_a_further_check_joins_the_criteria(threads: Threads) -> None:
    thread = threads.thread()
    thread.to("Configuring")
    thread.done("configure", "--check", "grep -q sealed app.py")
    thread.done("move", "Running")
    threads.script("Running", "ready; promise")
    threads.script("Running", "echo '# sealed' >> app.py; promise", run=2)
    thread.run("--once", expect=0)
    assert thread.state() == "Running", "what the spec asks for holds, the further check does not"
    thread.run(expect=4)
    assert thread.state() == "Implemented"
    thread.audit()


@pytest.mark.requirement("S4.16")
def test_stop_pauses_too(threads: Threads) -> None:
    thread = threads.thread()
    thread.to("Running")
    here = threads.meeting()
    threads.script("Running", "meet here")
    driving = threads.begin("run", thread.id, cwd=thread.repo)
    here.reached()
    assert "Running -> Paused" in thread.done("stop").out
    assert "needs a person: sums is in Paused: stopped by" in driving.done().out
    assert thread.state() == "Paused"


@pytest.mark.requirement("S4.68")
def test_a_lost_run_pauses_the_loop_at_the_next_command(threads: Threads) -> None:
    thread = threads.thread()
    thread.to("Running")
    threads.lose_run(thread)
    thread.run(expect=4)
    assert thread.state() == "Paused"
    assert thread.entries("run_ended")[-1]["exit"] == "lost"
    assert "iteration" not in thread.counters()


@pytest.mark.requirement("S4.68")
def test_a_verifier_that_dies_is_asked_again(threads: Threads) -> None:
    thread = threads.thread()
    thread.spec(SPEC + "- and it reads well\n")
    thread.done("approve", "--skip-assess")
    thread.done("move", "Preflight")
    thread.run(expect=4)
    thread.done("move", "Running")
    threads.script("Running", "ready; promise")
    threads.script("Verifying", "kill -9 $$", run=2)
    threads.script("Verifying", "report verification.md Verification '- C2: PASS, read aloud'")
    thread.run(expect=4)
    assert thread.state() == "Implemented"
    assert [entry["exit"] for entry in thread.entries("run_ended")] == ["finished", "killed", "finished"]


@pytest.mark.requirement("S4.22")
@pytest.mark.parametrize(
    ("report", "state"),
    [
        ("- C2: PASS, read it", "Implemented"),
        ("- [x] C2: PASS", "Implemented"),
        ("- c2: pass", "Implemented"),
        ("CRITERION 2: PASS", "Implemented"),
        ("- C2: FAIL, unreadable", "Stuck"),
        ("- [ ] C2: PASS", "Stuck"),
        ("- C1: PASS", "Stuck"),
    ],
)
def test_a_criterion_without_command_needs_a_verdict_of_the_verifier(threads: Threads, report: str, state: str) -> None:
    thread = threads.thread(more="[machine.ralf.limits]\niteration = 1")
    thread.spec(SPEC + "- and it reads well\n")
    thread.done("approve", "--skip-assess")
    thread.done("move", "Preflight")
    thread.run(expect=4)
    thread.done("move", "Running")
    threads.script("Running", "ready; promise")
    threads.script("Verifying", f"report verification.md Verification '{report}'")
    thread.run(expect=4)
    assert thread.state() == state
    assert thread.entries("run_ended")[-1]["role"] == "verifier"


@pytest.mark.parametrize("spec", [SPEC, f"{SPEC}- the docs read well\n"], ids=["commands", "a verifier too"])
def test_failed_set_up_calls_no_agent_and_fails_no_criterion(threads: Threads, tmp_path: Path, spec: str) -> None:
    thread = threads.thread(more=f'[workspace]\nsetup = ["test -e {tmp_path}/flag"]')
    threads.script("Running", "ready; promise")
    threads.script("Verifying", "report verification.md Verification '- C2: PASS, a joy'")
    thread.to("Running", spec)
    for _ in range(2):
        rested = thread("run", thread.id)
        assert (rested.code, "set-up failed" in rested.out, "[workspace]" in rested.out) == (4, True, True), rested
    assert thread.state() == "Verifying"
    assert [run["role"] for run in thread.entries("run_planned")] == ["implementer"]
    assert "set-up failed" in thread("move", "Implemented", thread.id).err
    (tmp_path / "flag").touch()
    thread.run(expect=4)
    assert thread.state() == "Implemented"
    thread.audit()


@pytest.mark.requirement("S4.24", "S4.30")
def test_manual_assist_and_bugs_found_in_review_begin_new_loop(threads: Threads) -> None:
    thread = threads.thread(more="[machine.ralf.limits]\niteration = 2")
    thread.to("Running")
    threads.script("Running", "echo nothing")
    thread.run(expect=4)
    assert thread.state() == "Stuck"
    early = thread("choose", "M", thread.id)
    assert (early.code, "no file was changed since Stuck was entered" in early.out) == (1, True)
    assert "closed: no file was changed" in thread("choose").out
    with (thread.repo / "app.py").open("a", encoding="utf-8") as file:
        file.write("# by hand\n")
    thread.done("choose", "M")
    assert "iteration" not in thread.counters()
    threads.script("Running", "ready; promise", run=3)
    thread.run(expect=4)
    thread.done("choose", "review")
    assert thread("reject", "--reason", "the name is wrong", thread.id).code == 0
    assert thread.state() == "Running"
    assert "iteration" not in thread.counters()
    text = (thread.repo / "app.py").read_text(encoding="utf-8")
    assert text.endswith("# by hand\n# ready\n"), "nothing was reset"
    threads.script("Running", "promise", run=4)
    thread.run(expect=4)
    assert "the name is wrong" in thread.prompt(4)
    assert thread.json("status", thread.id)["usage"]["runs"] == 4, "the totals are kept"
