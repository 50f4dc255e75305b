"""The prompts of ralf's states that have an agent, and what every state says of itself: the document's facts."""

from __future__ import annotations

import pytest

from detent.machines.load import load
from detent.runner.make.vocabulary import vocabulary
from tests.conformance.ralf_threads import PROMISE, SPEC, Thread, Threads

# What an agent is told in each state; the words are ours, the instructions are the document's.
AUTHOR = {
    "the draft": "`spec/draft.md`",
    "a dialog": "Ask about what you can't know",
    "promise": "`Promise: <promise>TEXT</promise>`",
    "criteria": "`## Criteria`",
    "a command proves it": "`- the tests pass; cmd: make test`",
    "a person finalizes": "a person finalizes it",
    "no code": "change any file of the repository",
}
ASSESSOR = {
    "the draft": "`spec/draft.md`",
    "clarity": "clear",
    "testability": "tested",
    "completeness": "missing",
    "feedback": "`## Assessment`",
    "verdict": "`Verdict: PASS` or `Verdict: FAIL`",
    "advisory": "a person decides",
}
IMPLEMENTER = {
    "spec": "`spec/v*.md`",
    "exactly this": "no less, and nothing it does not ask for",
    "iteration": "0 of 10",
    "what failed": "`verification.md`",
    "promise": f"<promise>{PROMISE}</promise>",
    "no early claim": "say that it is done while a criterion fails",
    "spec is locked": "change the spec",
    "people commit": "commit, switch branches or rewrite history",
}
VERIFIER = {
    "spec": "`spec/v*.md`",
    "every criterion": "every criterion that has none",
    "report": "`## Verification`",
    "one line each": "with PASS or FAIL",
    "silence fails": "What you leave out has failed",
    "only reads": "change any file of the repository",
}
POLISHER = {
    "docs": "docs where a reader would miss them",
    "tests": "tests where a change could break something unseen",
    "cleanup": "leftovers tidied",
    "before review": "all of them must still pass",
    "behaviour stays": "change what the work does",
}
WAYS = {
    "Drafting": AUTHOR,
    "Assessing": ASSESSOR,
    "Running": IMPLEMENTER,
    "Verifying": VERIFIER,
    "Polishing": POLISHER,
}


@pytest.fixture
def thread(threads: Threads) -> Thread:
    threads.script("Running", "ready; promise")
    threads.script("Verifying", "report verification.md Verification '- C2: PASS, read aloud'")
    return threads.thread()


def walk(thread: Thread, state: str) -> int:
    """Drive a thread until an agent has run in this state; the number of that run."""
    thread.spec(SPEC + "- and it reads well\n")
    if state == "Drafting":
        thread("respawn", thread.id)
    elif state == "Assessing":
        thread.done("choose", "assess")
        thread("run", "--once", thread.id)
    else:
        thread.to("Running", SPEC + "- and it reads well\n")
        thread.run(expect=4)
        if state == "Polishing":
            thread.done("choose", "polish")
            thread("run", "--once", thread.id)
    return int(next(run["run"] for run in thread.entries("run_planned") if run["state"] == state))


@pytest.mark.told("S4.37", "S4.38", "S4.15", "S4.26")
@pytest.mark.parametrize("state", WAYS)
def test_a_prompt_carries_every_instruction_of_its_state(thread: Thread, state: str) -> None:
    prompt = thread.prompt(walk(thread, state))
    assert {what: words for what, words in WAYS[state].items() if words not in prompt} == {}


def test_every_state_with_a_prompt_has_its_facts() -> None:
    assert {state.name for state in load("ralf", vocabulary())[0].states.values() if state.prompt} == set(WAYS)


# The next actor, as the tables of the document have it; where they say "No", the engine or an agent goes on.
HUMAN = ("Drafting", "Finalized", "PreflightFailed", "Configuring", "Paused", "Stuck", "PendingReview", "ReadyToCommit")
NOBODY = ("Done", "Abandoned")
AGENTS = {"Assessing": "assessor", "Running": "implementer", "Verifying": "verifier", "Polishing": "implementer"}
STATES = (*HUMAN, *NOBODY, *AGENTS, "Preflight", "Approved", "Implemented")


def seen(thread: Thread, found: dict[str, tuple[str, str]]) -> None:
    """Note what status says of the state the thread is in, in JSON and in words."""
    shown, words = thread.json("status", thread.id), thread.done("status").out
    assert shown["about"]
    assert f"about:               {shown['about']}" in words
    found[shown["state"]] = (shown["waiting_for"], shown["about"])


@pytest.mark.requirement("S4.36")
def test_every_state_says_whether_a_person_must_act(thread: Thread, threads: Threads) -> None:
    found: dict[str, tuple[str, str]] = {}
    spec = SPEC + "- and it reads well\n"
    seen(thread, found)
    thread.spec(spec)
    ways = [
        ("choose", "assess"),
        ("approve", "--skip-assess"),
        ("choose", "begin"),
        ("run", "--once"),
        ("choose", "retry"),
        ("run", "--once"),
        ("choose", "start"),
        ("move", "Paused"),
        ("choose", "resume"),
        ("run", "--once"),
        ("run",),
        ("choose", "polish"),
        ("run",),
        ("choose", "review"),
        ("approve",),
        ("run",),
        ("commit",),
    ]
    for number, words in enumerate(ways):
        if number == 2:
            (thread.repo / "dirty.txt").write_text("mine", encoding="utf-8")
        if number == 4:
            (thread.repo / "dirty.txt").unlink()
        done = thread(*words, thread.id)
        assert done.code in (0, 4), done
        seen(thread, found)
    other = threads.thread(task_id="other")
    other.done("configure", "--limit", "iteration=1")
    threads.make_repo.git(other.repo, "switch", "--quiet", "main")
    threads.script("Running", "echo nothing")
    other.to("Running")
    other.run(expect=4)
    seen(other, found)
    other.done("cancel")
    seen(other, found)
    assert sorted(found) == sorted(STATES)
    for state, (waits, _) in found.items():
        if state in NOBODY:
            assert waits == "", state
        elif state in AGENTS:
            assert waits == f"the agent ({AGENTS[state]})", state
        elif state in ("Preflight", "Approved"):
            assert waits == "the engine", state
        else:
            assert waits == "a person", state
