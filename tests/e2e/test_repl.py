"""The REPL: lines from a script, in a terminal of its own, and in tmux as a person sees it."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.conftest import SAMPLE_FILES, Detent, MakeRepo, let_out
from tests.e2e.agent_runs import Agents
from tests.e2e.spoken_task import Spoken
from tests.e2e.terminal import INTERRUPT, Terminal
from tests.e2e.test_tui_tmux import Tmux, needs_tmux

END = "\x04"  # Ctrl+D
needs_library = pytest.mark.skipif(find_spec("prompt_toolkit") is None, reason="prompt_toolkit is not installed")


@pytest.fixture
def spoken(detent: Detent, repo: MakeRepo, tmp_path: Path) -> Spoken:
    return Spoken(detent, repo(), tmp_path / "note")


def in_terminal(spoken: Spoken, **more: str) -> Terminal:
    # The terminal of the test can't be asked where its cursor stands.
    environment = {**spoken.detent.environment, "TERM": "xterm-256color", "PROMPT_TOOLKIT_NO_CPR": "1", **more}
    return Terminal(("repl",), spoken.repository, environment)


def typed_lines(spoken: Spoken) -> list[str]:
    (path,) = Path(spoken.detent.environment["XDG_STATE_HOME"]).glob("detent/*/.typed")
    assert path.stat().st_mode & 0o077 == 0
    return path.read_text(encoding="utf-8").splitlines()


@pytest.mark.requirement("S1.73")
def test_script_does_what_its_lines_do_one_by_one(spoken: Spoken) -> None:
    spoken.write(Plan="a", Text="b", Verdict="good")
    done = spoken("repl", stdin="/next\n\n/write\n/check text --reason 'done'\n/next\n/approve it reads well\n")
    assert (done.code, done.err) == (0, "")
    assert [line for line in done.out.splitlines() if line.startswith("moved")] == [
        "moved: plan -> plan_check  (plan-to-plan_check)",
        "moved: plan_check -> write  (plan_check-to-write)",
        "moved: write -> check  (write-to-check)",
        "moved: check -> read  (check-to-read)",
        "moved: read -> over  (read-to-over)",
    ]
    assert spoken.journal()[-1]["reason"] == "it reads well"


def test_a_script_ends_at_the_line_that_fails(spoken: Spoken) -> None:
    spoken.write(Plan="a")
    done = spoken("repl", stdin="/next\n/nothing\n/next\n")
    assert done.code == 2
    assert "'nothing' is no choice" in done.err
    assert "ended at line 2: /nothing" in done.err
    assert spoken.state == "plan_check"
    assert spoken("repl", stdin="/quit\n/next\n").code == 0
    assert spoken.state == "plan_check"


def test_a_script_answers_in_json_line_by_line(spoken: Spoken) -> None:
    spoken.write(Plan="a")
    done = spoken("repl", "--json", stdin="/next\n/check text\n")
    first, second = (json.loads(line) for line in done.out.splitlines())
    assert (first["moved"], first["to"], second["moved"]) == (True, "plan_check", False)
    assert done.code == 1


def test_bytes_that_are_no_text_are_refused(spoken: Spoken, tmp_path: Path) -> None:
    import subprocess

    done = subprocess.run(
        [sys.executable, "-m", "detent", "repl"],
        cwd=spoken.repository,
        env=dict(spoken.detent.environment),
        input=b"/redo \xff\n",
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 2
    assert b"not UTF-8" in done.stderr
    assert spoken.journal()[-1]["kind"] == "created"


@pytest.mark.requirement("S1.73")
@pytest.mark.parametrize(
    "more", [pytest.param({}, marks=needs_library, id="with the library"), pytest.param({"TERM": "dumb"}, id="plain")]
)
def test_ctrl_c_drops_a_line_and_ctrl_d_leaves(spoken: Spoken, more: dict[str, str]) -> None:
    spoken.write(Plan="a")
    with in_terminal(spoken, **more) as terminal:
        terminal.until("t plan>")
        terminal.type("/redo plan")
        terminal.type(INTERRUPT)
        terminal.until("t plan>", after="Ctrl+D leaves)")
        terminal.type("/nix\r")
        terminal.until("t plan>", after="'nix' is no choice in plan")
        terminal.type("/next\r")
        terminal.until("t plan_check>", after="moved: plan -> plan_check")
        terminal.type(END)
        assert terminal.end() == 0
    assert [entry["kind"] for entry in spoken.journal()] == ["created", "moved"]


@needs_library
def test_junk_that_is_pasted_without_brackets_is_no_traceback(spoken: Spoken) -> None:
    with in_terminal(spoken) as terminal:
        terminal.until("t plan>")
        terminal.type("\x1b[31mred\x07 /help\r")
        terminal.until("t plan>", after="nobody listens in plan")
        terminal.type(END)
        assert terminal.end() == 0
        assert "Exception" not in terminal.shown


@needs_library
def test_typed_lines_are_kept_for_the_person_alone(spoken: Spoken) -> None:
    spoken.write(Plan="a")
    with in_terminal(spoken) as terminal:
        terminal.until("t plan>")
        terminal.type("/status\r")
        terminal.until("t plan>", after="waits for:")
        terminal.type(END)
        terminal.end()
    assert typed_lines(spoken) == ["/status"]
    with in_terminal(spoken) as terminal:
        terminal.until("t plan>")
        terminal.type("\x1b[A")  # arrow up
        terminal.until("/status")
        terminal.type("\r")
        terminal.until("t plan>", after="waits for:")
        terminal.type("/quit\r")
        assert terminal.end() == 0


@needs_library
def test_ctrl_c_ends_the_wait_for_an_agent(agents: Agents, tmp_path: Path) -> None:
    repository = agents.make_repo("repo", {**SAMPLE_FILES, "detent.toml": agents.settings()})
    let_out(repository)
    spoken = Spoken(agents.detent, repository, tmp_path / "note")
    here = agents.meeting()
    agents.script("plan", "meet here")
    with in_terminal(spoken) as terminal:
        terminal.until("t plan>")
        terminal.type("/plan\r")
        here.reached()
        terminal.type(INTERRUPT)
        terminal.until("t plan>", after="interrupted")
        terminal.type("/next\r")
        terminal.until("t plan>", after="agent run #1 works on this task")
        here.go()
        terminal.type("/quit\r")
        assert terminal.end() == 0


@pytest.fixture
def window(spoken: Spoken, tmp_path: Path) -> Iterator[Tmux]:
    environment = {**spoken.detent.environment, "TERM": "xterm-256color"}
    made = Tmux(spoken.repository, tmp_path, environment, f"{sys.executable} -m detent repl")
    yield made
    made.close()


@needs_tmux
@needs_library
def test_a_beginning_is_completed_from_the_task_s_own_words(spoken: Spoken, window: Tmux) -> None:
    window.shows("t plan>")
    window.press("/")
    shown = window.shows("/quit")
    for words, leads in (("/next", "-> plan_check"), ("/check plan", "-> plan_check"), ("/redo plan", "-> plan")):
        assert any(words in line and leads in line for line in shown.splitlines()), (words, shown)
    assert "/approve" not in shown  # no move of this state
    window.press("c")
    window.shows("t plan> /c\n")
    window.press("Tab")
    window.shows("t plan> /check plan")
    window.press("Enter")
    window.shows("refused: plan -> plan_check")
    window.shows("detent move plan_check t\nt plan>")  # a key that comes before the prompt may be lost on the way
    window.press("C-d")
    assert window.ended() == 0


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_menu_is_shown_before_it_is_asked_about(spoken: Spoken, unbuffered: str) -> None:
    """Also what is typed in no letters at all is only no choice."""
    spoken.write(Plan="a", Text="b", Verdict="good")
    assert spoken("repl", stdin="/next\n/write\n/check text\n/next\n").code == 0
    environment = {**spoken.detent.environment, "PYTHONUNBUFFERED": unbuffered}
    with Terminal(("choose",), spoken.repository, environment) as terminal:
        terminal.until("choose (Enter: nothing): ", after="t is in read")
        os.write(terminal.screen, b"\xff\xfe\r")
        assert terminal.end() == 2
        assert "is no choice in read" in terminal.shown
