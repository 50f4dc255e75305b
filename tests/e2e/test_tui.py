"""The dashboard over real tasks with scripted agents, pressed through the framework's pilot."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from detent.effects.host.keeper.look import look
from tests.e2e.agent_runs import Agents
from tests.e2e.rounds_task import WRITE, Rounds

pytest.importorskip("textual", reason="textual is not installed: no dashboard to look at")

from tests.e2e.dashboard import Screen, opened


@pytest.fixture
def rounds(agents: Agents, monkeypatch: pytest.MonkeyPatch) -> Rounds:
    """The dashboard runs in this process, so its environment must be the tasks' own."""
    for name, value in agents.detent.environment.items():
        monkeypatch.setenv(name, value)
    return Rounds(agents)


def play(repo: Path, scene: Callable[[Screen], Awaitable[None]], size: tuple[int, int] = (80, 24)) -> None:
    async def run() -> None:
        async with opened(repo, size) as screen:
            await scene(screen)

    asyncio.run(run())


def test_the_list_and_what_is_missing(rounds: Rounds) -> None:
    rounds("fresh", "a note that is not written")
    rounds.at_review("read-me")

    async def scene(screen: Screen) -> None:
        assert screen.row("read-me") == ["‖", "read-me", "reviewing", "1/2", "0/2", "you", "a note"]
        assert screen.row("fresh")[:6] == ["○", "fresh", "writing", "0/2", "0/2", "writer"]
        await screen.choose("fresh")
        text = screen.text()
        assert "closed  reviewing  by agent or engine" in text
        assert '✗ written: NOTE.md has nothing under "Text:"' in text
        assert "stuck" not in text  # that move is a crash's, no actor can ask for it
        assert 'next: write something behind "Text:" in NOTE.md' in text
        await screen.choose("read-me")
        text = screen.text()
        assert "needs you: reviewing waits for a person" in text
        assert "open    published  by person (sign-off)" in text
        assert "accepted: writing -> reviewing" in text  # what its agent printed last

    play(rounds.repo, scene)


def test_start_drives_task_and_mark_says_whether_its_agent_lives(rounds: Rounds) -> None:
    meeting = rounds.agents.meeting()
    rounds.script("note", f"echo 'I begin.'; meet here; {WRITE}; detent move reviewing")
    task = rounds("note")

    async def scene(screen: Screen) -> None:
        await screen.press("s")
        await asyncio.to_thread(meeting.reached)
        await screen.until(lambda: screen.row("note")[:1] == ["●"], "an agent at work")
        await screen.shows("I begin.")
        assert "agent run #1 is at work" in screen.text()
        await asyncio.to_thread(meeting.go)
        await screen.until(lambda: screen.row("note")[:3] == ["‖", "note", "reviewing"], "its end")
        await screen.shows("‖ note needs you")  # a notice of its own, besides the list

    play(rounds.repo, scene)
    assert [entry["on"] for entry in task.entries("driven")] == [True]
    assert task.path_of_moves() == ["reviewing"]


def test_enter_gives_dead_task_another_run_and_opens_living_one(rounds: Rounds) -> None:
    rounds.script("note", "echo '# thought of' >> app.py", run=1)
    rounds.script("note", f"{WRITE}; detent move reviewing", run=2)
    task = rounds("note")
    assert task.run().code == 4  # it ended without a move, and another run needs a person's word

    async def scene(screen: Screen) -> None:
        assert screen.row("note")[:3] == ["✗", "note", "writing"]
        await screen.press("enter")
        await screen.until(lambda: screen.row("note")[:3] == ["‖", "note", "reviewing"], "the second run's move")
        await screen.press("enter")
        await screen.until(lambda: screen.row("note") == [], "the list has made room for the task")
        await screen.press("enter")
        await screen.shows("approve -> published")  # and once more opens its menu
        await screen.press("escape", "escape")
        await screen.until(lambda: screen.row("note")[:1] == ["‖"], "the list again")

    play(rounds.repo, scene)
    assert len(task.entries("run_planned")) == 2


def test_approve_asks_for_a_reason_and_journals_it(rounds: Rounds) -> None:
    task = rounds.at_review("note")

    async def scene(screen: Screen) -> None:
        await screen.press("a")
        await screen.shows("why approve?")
        await screen.type("I read it")
        await screen.press("enter")
        await screen.until(lambda: screen.row("note")[:3] == ["✓", "note", "published"], "the sign-off")

    play(rounds.repo, scene)
    moved = task.last("moved")
    assert (moved["edge"], moved["verb"], moved["by"], moved["reason"]) == ("publish", "approve", "person", "I read it")


def test_reject_needs_reason_and_what_nothing_waits_for_is_said(rounds: Rounds) -> None:
    task = rounds.at_review("note")

    async def scene(screen: Screen) -> None:
        await screen.press("r")
        await screen.shows("why reject?")
        await screen.press("enter")
        assert "why reject?" in screen.text()  # nothing was sent
        await screen.type("too short")
        await screen.press("enter")
        await screen.until(lambda: screen.row("note")[2:4] == ["writing", "1/2"], "the way back")
        await screen.press("r")
        await screen.shows("nothing in writing waits for reject")

    play(rounds.repo, scene)
    assert task.last("moved")["reason"] == "too short"


def crash(rounds: Rounds, task_id: str, title: str = "a note") -> None:
    rounds.script(task_id, "echo 'no such model' >&2; exit 3")
    rounds(task_id, title)


def test_double_crash_is_noticed_and_menu_takes_the_machines_letters(rounds: Rounds) -> None:
    crash(rounds, "note")
    task = rounds.agents.tasks[-1]

    async def scene(screen: Screen) -> None:
        await screen.press("s")
        await screen.until(lambda: screen.row("note")[:1] == ["✗"], "the first crash")
        assert screen.row("note")[4] == "1/2"
        await screen.press("enter")
        await screen.until(lambda: screen.row("note")[2:3] == ["stuck"], "the second crash")
        await screen.shows("‖ note needs you")
        await screen.press("m")
        await screen.shows("[M] open    writing  (Manual assist)")
        text = screen.text()
        assert "[R] closed  reviewing  (Revise)" in text
        assert "crash_count 2/2" in text
        await screen.press("escape")
        await screen.shows("agent run #2 complained:")
        assert "no such model" in screen.text()
        await screen.press("m")
        await screen.shows("[M] open")
        await screen.press("m")
        await screen.until(lambda: screen.row("note")[2:3] == ["writing"], "a new beginning")

    play(rounds.repo, scene)
    moved = task.last("moved")  # a third agent may have crashed since
    assert (moved["edge"], moved["by"]) == ("assist", "person")
    assert not any(moved["after"]["registers"].values()), "both counts begin anew"


def test_move_that_asks_first_is_not_taken_without_a_yes(rounds: Rounds) -> None:
    crash(rounds, "note")
    task = rounds.agents.tasks[-1]
    assert task.run().code == 4
    assert task("respawn", cwd=rounds.repo).code == 4
    assert task.state() == "stuck"

    async def scene(screen: Screen) -> None:
        await screen.press("m")
        await screen.shows("[R] closed")
        await screen.press("r")
        await screen.shows("This will throw the text away. Continue?")
        await screen.press("n")
        await screen.gone("Continue?")
        with (task.folder / "NOTE.md").open("a", encoding="utf-8") as file:
            file.write("Text: hello\n")
        await screen.shows("✓ written")
        await screen.press("m")
        await screen.shows("[R] open")
        await screen.press("r")
        await screen.shows("Continue?")
        await screen.press("y")
        await screen.until(lambda: screen.row("note")[2:3] == ["reviewing"], "the move")

    play(rounds.repo, scene)
    assert [entry["edge"] for entry in task.entries("moved")] == ["crashed-out", "give-up"]


def test_a_refusal_stays_on_the_screen_until_it_was_read(rounds: Rounds) -> None:
    rounds("note")

    async def scene(screen: Screen) -> None:
        await screen.press("m")
        await screen.shows("closed  reviewing")
        await screen.press("r")
        await screen.shows("refused: writing -> reviewing")
        assert "next: write something behind" in screen.text()
        await screen.press("escape")
        await screen.gone("refused: writing -> reviewing")

    play(rounds.repo, scene)


def test_stop_asks_and_ends_the_run(rounds: Rounds) -> None:
    meeting = rounds.agents.meeting()
    rounds.script("note", "meet here")
    task = rounds("note")

    async def scene(screen: Screen) -> None:
        await screen.press("s")
        await asyncio.to_thread(meeting.reached)
        await screen.until(lambda: screen.row("note")[:1] == ["●"], "an agent at work")
        await screen.press("x")
        await screen.shows("end agent run #1 of note?")
        await screen.press("n")
        assert look(str(task.run_dir(1))).phase == "alive"
        await screen.press("x")
        await screen.shows("end agent run #1 of note?")
        await screen.press("y")
        await screen.until(lambda: screen.row("note")[:1] == ["✗"], "its end")

    play(rounds.repo, scene)
    assert task.last("run_ended")["how"] == "stopped"
    assert not task.last("driven")["on"]


def test_closing_it_leaves_agents_at_work_and_says_so(rounds: Rounds) -> None:
    meeting = rounds.agents.meeting()
    rounds.script("note", f"meet here; {WRITE}; detent move reviewing")
    task = rounds("note")

    async def scene(screen: Screen) -> None:
        await screen.press("s")
        await asyncio.to_thread(meeting.reached)
        await screen.until(lambda: screen.row("note")[:1] == ["●"], "an agent at work")
        await screen.press("q")
        await screen.shows("1 agent run will go on without the dashboard.")
        await screen.press("y")

    play(rounds.repo, scene)
    assert look(str(task.run_dir(1))).phase == "alive"
    meeting.go()
    assert rounds.agents.detent("watch", "--once", cwd=rounds.repo).code == 0  # the project's lock is free
    assert task.state() == "reviewing"


def test_beside_another_watch_it_only_shows_and_takes_over_later(rounds: Rounds) -> None:
    rounds.at_review("note")
    watcher = rounds.agents.begin("watch", cwd=rounds.repo)
    rounds.script("other", "true")
    rounds("other")
    assert rounds.agents.detent("start", "other", cwd=rounds.repo).code == 0
    watcher.line("other")  # it is at work

    async def scene(screen: Screen) -> None:
        await screen.shows(f"watched by pid {watcher.process.pid}")
        await asyncio.to_thread(watcher.kill)
        await screen.shows("driving")

    play(rounds.repo, scene)


def test_pages_show_logs_file_diff_and_evidence(rounds: Rounds) -> None:
    rounds.script("note", f"echo line one; echo '# more' >> app.py; {WRITE}; detent move reviewing")
    task = rounds("note")
    assert task.run().code == 4

    async def scene(screen: Screen) -> None:
        for key, words in (("l", "line one"), ("f", "Text: hello"), ("d", "+# more"), ("e", "evidence.html")):
            await screen.press(key)
            await screen.shows(words)
            await screen.press("escape")
            await screen.until(lambda: screen.row("note"), "the list again")

    play(rounds.repo, scene)


def test_a_log_grows_while_it_is_looked_at(rounds: Rounds) -> None:
    first, second = rounds.agents.meeting("first"), rounds.agents.meeting("second")
    rounds.script("note", "echo before; meet first; echo after; meet second")
    rounds("note")

    async def scene(screen: Screen) -> None:
        await screen.press("s")
        await asyncio.to_thread(first.reached)
        await screen.until(lambda: screen.row("note")[:1] == ["●"], "an agent at work")
        await screen.press("l")
        await screen.shows("before")
        await asyncio.to_thread(first.go)
        await asyncio.to_thread(second.reached)
        await screen.shows("after")
        await asyncio.to_thread(second.go)
        await screen.shows("is over")

    play(rounds.repo, scene)


def test_words_narrow_the_list_and_escape_brings_it_back(rounds: Rounds) -> None:
    rounds("alpha", "about bread")
    rounds("beta", "about butter")

    async def scene(screen: Screen) -> None:
        await screen.press("slash")
        await screen.type("butter writing")
        await screen.until(lambda: not screen.row("alpha"), "only the one")
        assert screen.row("beta")
        await screen.press("enter", "s")  # the key is for the task that is left
        await screen.until(lambda: screen.row("beta")[:1] not in (["○"], []), "it is started")
        await screen.press("escape")
        await screen.until(lambda: screen.row("alpha"), "all of them")
        await screen.press("slash")
        await screen.type("cheese")
        await screen.shows("no task has these words")

    play(rounds.repo, scene)


def test_unreadable_task_is_shown_with_its_way_out(rounds: Rounds) -> None:
    broken, whole = rounds("broken"), rounds("whole")
    (broken.control / "snapshot.json").unlink()
    journal = broken.control / "journal.jsonl"
    journal.write_bytes(b"no line\n" + journal.read_bytes())

    async def scene(screen: Screen) -> None:
        assert screen.row("broken")[:3] == ["!", "broken", "unreadable"]
        assert screen.row(whole.id)[:1] == ["○"]
        await screen.choose("broken")
        assert "damaged" in screen.text()
        assert "next:" in screen.text()

    play(rounds.repo, scene)


def test_titles_can_not_paint_on_the_screen(rounds: Rounds) -> None:
    rounds("note", "[bold red]not markup[/] \x1b[31mnor this")

    async def scene(screen: Screen) -> None:
        assert "[bold red]not markup[/] \\x1b[31mnor this" in screen.text()

    play(rounds.repo, scene)


@pytest.mark.parametrize("size", [(80, 24), (140, 40)], ids=["small", "wide"])
def test_nothing_that_matters_is_cut_off(rounds: Rounds, size: tuple[int, int]) -> None:
    rounds("a-task-with-quite-a-long-id")
    rounds.at_review("note")

    async def scene(screen: Screen) -> None:
        lines = screen.lines()
        assert max(map(len, lines)) <= size[0]
        assert lines[-1].strip().endswith("? help q quit")
        assert "‖ 1 need you  ○ 1 ready   driving" in lines[0]
        assert screen.row("a-task-with-quite-a-long-id")[2:6] == ["writing", "0/2", "0/2", "writer"]
        await screen.press("question_mark")
        await screen.shows(
            "its agent run is over and led to no move; Enter starts another one" if size[1] > 24 else "keys"
        )
        assert max(map(len, screen.lines())) <= size[0]

    play(rounds.repo, scene, size)


def test_a_project_without_tasks_says_how_to_begin(rounds: Rounds) -> None:
    async def run() -> None:
        from detent.faces.tui.app import Dashboard
        from detent.runner.task.open import find_project

        app = Dashboard(find_project(str(rounds.repo)), jobs=1)
        changed = asyncio.Event()
        async with app.run_test(message_hook=lambda _message: changed.set()) as pilot:
            await Screen(app, pilot, changed).shows("no tasks here yet")

    asyncio.run(run())


def test_the_picture_of_the_documentation(rounds: Rounds) -> None:
    """What docs/how-to/dashboard.md shows; written there when DETENT_PICTURE names the file."""
    meeting = rounds.agents.meeting()
    rounds.script("release-notes", "echo 'I read the log since the last tag.'; meet here")
    rounds.at_review("error-messages", "each says what to do next")
    crash(rounds, "upgrade-guide", "from version 1 to 2")
    rounds.script("glossary", "echo '# terms' >> app.py")
    for words in (("run",), ("respawn",)):
        rounds.agents.detent(*words, "upgrade-guide", cwd=rounds.repo)
    rounds("glossary", "words we use").run()
    rounds("release-notes", "what is new")
    rounds("faq", "questions people ask")

    async def scene(screen: Screen) -> None:
        await screen.choose("release-notes")
        await screen.press("s")
        await asyncio.to_thread(meeting.reached)
        await screen.until(lambda: screen.row("release-notes")[:1] == ["●"], "an agent at work")
        await screen.choose("upgrade-guide")
        await screen.until(lambda: not screen.app.screen.query("Toast"), "no notice is left")
        picture = screen.picture()
        assert 'url("http' not in picture  # it fetches nothing
        assert "upgrade-guide" in picture
        if path := os.environ.get("DETENT_PICTURE"):
            Path(path).write_text(picture, encoding="utf-8")
        await asyncio.to_thread(meeting.go)

    play(rounds.repo, scene)
