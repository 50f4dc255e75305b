"""The dashboard over tasks of the machines that come with detent: dead agents, double crashes, and their menus."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest

from tests.conformance.ralf_threads import SPEC, Thread, Threads
from tests.conftest import Detent, MakeRepo
from tests.e2e.agent_runs import Agents
from tests.e2e.orange_task import Oranges

pytest.importorskip("textual", reason="textual is not installed: no dashboard to look at")

from tests.e2e.dashboard import Screen, opened

TWO_CRITERIA = SPEC + "- and it is tidy; cmd: grep -q tidy app.py\n"


@pytest.fixture
def oranges(detent: Detent, repo: MakeRepo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Oranges]:
    made = Oranges(detent, repo, tmp_path)
    stand_in(made, monkeypatch)
    yield made
    made.close()


@pytest.fixture
def threads(detent: Detent, repo: MakeRepo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Threads]:
    made = Threads(detent, repo, tmp_path)
    stand_in(made, monkeypatch)
    yield made
    made.close()


def stand_in(agents: Agents, monkeypatch: pytest.MonkeyPatch) -> None:
    """The dashboard runs in this process, so its environment must be the tasks' own."""
    for name, value in agents.detent.environment.items():
        monkeypatch.setenv(name, value)


def play(repo: Path, scene: Callable[[Screen], Awaitable[None]]) -> None:
    async def run() -> None:
        async with opened(repo, (120, 40)) as screen:
            await scene(screen)

    asyncio.run(run())


def state_of(screen: Screen, task_id: str) -> str:
    return next((row.state for row in screen.app.view.rows if row.id == task_id), "")


@pytest.mark.requirement("S3.62")
@pytest.mark.parametrize("state", ["working", "reviewing"])
def test_a_dead_agent_is_marked_and_enter_calls_another_one(oranges: Oranges, state: str) -> None:
    oranges.script(state, "exit 1", run=1)
    ways = {"working": ("working",), "reviewing": ("working", "agent-review", "reviewing")}
    task = oranges.orange(*ways[state])
    assert task.respawn().code == 4
    here = oranges.meeting()
    oranges.script(state, "meet here", run=2)

    async def scene(screen: Screen) -> None:
        assert screen.row("lines")[:3] == ["✗", "lines", state]
        assert "✗ 1 dead" in screen.text()
        await screen.press("enter")
        assert (await asyncio.to_thread(here.reached))[0] == 2
        await screen.until(lambda: screen.row("lines")[:3] == ["●", "lines", state], "an agent at work")
        await asyncio.to_thread(here.go)
        await screen.until(lambda: screen.row("lines")[:1] != ["●"], "its end")

    play(task.repo, scene)
    assert len(task.entries("run_planned")) == 2


@pytest.mark.requirement("S3.62", "S3.63")
def test_a_double_crash_is_told_with_its_reason(oranges: Oranges) -> None:
    oranges.script("working", "exit 1")
    task = oranges.orange()

    async def scene(screen: Screen) -> None:
        await screen.press("s")
        await screen.until(lambda: screen.row("lines")[:3] == ["✗", "lines", "working"], "the first crash")
        assert screen.row("lines")[4] == "1/2"
        await screen.press("enter")
        await screen.until(lambda: screen.row("lines")[:3] == ["‖", "lines", "stuck"], "the second crash")
        await screen.shows("‖ lines needs you")
        await screen.shows("▌ stuck: stuck waits for a person: agent run")  # the notice, not the list

    play(task.repo, scene)
    assert task.path_of_moves() == ["working", "stuck"]


def looping(threads: Threads, limit: int) -> Thread:
    """A thread in Running whose first agent run met one of two criteria and promised both."""
    thread = threads.thread(more=f"[machine.ralf.limits]\niteration = {limit}")
    thread.spec(TWO_CRITERIA)
    thread.done("approve", "--skip-assess")
    thread.done("move", "Preflight")
    thread.run(expect=4)
    thread.done("move", "Running")
    threads.script("Running", "ready; echo half of it; promise", run=1)
    return thread


@pytest.mark.requirement("S4.46")
def test_menu_of_a_stuck_thread_by_letter_and_its_diagnosis(threads: Threads) -> None:
    thread = looping(threads, limit=1)
    thread.run(expect=4)
    lines = len(thread.entries())

    async def scene(screen: Screen) -> None:
        assert screen.row("sums")[:4] == ["‖", "sums", "Stuck", "1/1"]
        await screen.press("m")
        await screen.shows("[R] open    revise -> Drafting")
        text = screen.text()
        for words in (
            "[C] open    reconfigure -> Configuring",
            "[M] closed  assist -> Running  (manual assist)",
            "[A] open    cancel -> Abandoned",
            "[D] diagnose",
            "look at it, nothing moves",
        ):
            assert words in text
        await screen.press("d")
        await screen.shows("sums: why it is in Stuck")
        assert "failed  C2" in screen.text()
        assert len(thread.entries()) == lines  # a look writes nothing
        await screen.press("escape", "m")
        await screen.shows("[R] open")
        await screen.press("r")
        await screen.shows("This will reset changes. Continue?")
        await screen.press("n", "m")
        await screen.shows("[C] open")
        await screen.press("c")
        await screen.shows("why reconfigure?")
        await screen.type("another model")
        await screen.press("enter")
        await screen.until(lambda: state_of(screen, "sums") == "Configuring", "the move")

    play(thread.repo, scene)
    moved = thread.last("moved")
    assert (moved["edge"], moved["by"], moved["reason"]) == ("reconfigure", "person", "another model")


@pytest.mark.requirement("S4.53")
def test_menu_of_a_paused_thread_says_how_far_it_is(threads: Threads) -> None:
    thread = looping(threads, limit=10)
    here = threads.meeting()
    threads.script("Running", "meet here", run=2)
    driving = threads.begin("run", thread.id, cwd=thread.repo)
    assert here.reached()[0] == 2
    thread.done("stop")
    driving.done()

    async def scene(screen: Screen) -> None:
        assert screen.row("sums")[:4] == ["‖", "sums", "Paused", "2/10"]
        await screen.press("m")
        await screen.shows("[R] open    resume -> Running")
        text = screen.text()
        for words in (
            "iteration 2/10",
            "  one  criteria 1/2",
            "[C] open    reconfigure -> Configuring",
            "[A] open    cancel -> Abandoned",
        ):
            assert words in text
        await screen.press("a")
        await screen.shows("why cancel?")
        await screen.press("escape", "m")
        await screen.shows("[R] open")
        await screen.press("r")
        await screen.shows("why resume?")
        await screen.type("go on")
        await screen.press("enter")
        await screen.until(lambda: state_of(screen, "sums") == "Running", "the loop again")

    play(thread.repo, scene)
    assert thread.path_of_moves()[-2:] == ["Paused", "Running"]
