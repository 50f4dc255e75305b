"""The dashboard in a real terminal of 80 by 24: tmux presses the keys and reads the screen; and where there is none."""

from __future__ import annotations

import os
import re
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from detent.effects.host.keeper.look import look
from tests.e2e.agent_runs import Agents
from tests.e2e.rounds_task import WRITE, Rounds
from tests.e2e.terminal import Terminal

LONGEST_S = 120.0
LOOK_S = 0.05  # tmux gives no signal when its screen changes

TMUX = shutil.which("tmux")
needs_tmux = pytest.mark.skipif(not TMUX, reason="no tmux on PATH")
needs_textual = pytest.mark.skipif(find_spec("textual") is None, reason="textual is not installed: no dashboard")


class Tmux:
    """A server of its own with one window of 80 by 24, in which `detent tui` runs."""

    def __init__(self, repo: Path, folder: Path, environment: dict[str, str], command: str) -> None:
        self.socket = folder / "tmux"
        self.code = folder / "code"
        self.environment = environment
        script = f"{command}; echo $? > {self.code}; exec cat"
        self("new-session", "-d", "-x", "80", "-y", "24", "-c", str(repo), "sh", "-c", script)

    def __call__(self, *words: str) -> str:
        argv = ["tmux", "-S", str(self.socket), "-f", "/dev/null", *words]
        done = subprocess.run(
            argv, env=self.environment, capture_output=True, encoding="utf-8", timeout=60, check=False
        )
        assert done.returncode == 0, done
        return done.stdout

    def screen(self, *options: str) -> str:
        return self("capture-pane", "-p", *options)

    def press(self, *keys: str) -> None:
        self("send-keys", *keys)

    def shows(self, words: str) -> str:
        """Look until the words stand on the screen."""
        until = time.monotonic() + LONGEST_S
        while words not in (screen := self.screen()):
            assert time.monotonic() < until, f"never came: {words!r}; the screen:\n{screen}"
            time.sleep(LOOK_S)
        return screen

    def ended(self) -> int:
        until = time.monotonic() + LONGEST_S
        while not (self.code.exists() and self.code.read_text().strip()):
            assert time.monotonic() < until, f"it goes on; the screen:\n{self.screen()}"
            time.sleep(LOOK_S)
        return int(self.code.read_text())

    def program(self) -> int:
        """The process of the dashboard."""
        shell = self("display-message", "-p", "#{pane_pid}").strip()
        (child,) = Path(f"/proc/{shell}/task/{shell}/children").read_text().split()
        return int(child)

    def close(self) -> None:
        argv = ["tmux", "-S", str(self.socket), "kill-server"]
        subprocess.run(argv, env=self.environment, capture_output=True, timeout=60, check=False)


@pytest.fixture
def rounds(agents: Agents) -> Rounds:
    return Rounds(agents)


@pytest.fixture
def tmux(rounds: Rounds, tmp_path: Path) -> Iterator[list[Tmux]]:
    """Windows that are closed when the test is over."""
    made: list[Tmux] = []
    yield made
    for window in made:
        window.close()


def is_grey(code: int) -> bool:
    """Whether one of the 256 colours has no hue; the first sixteen are left to the terminal."""
    cube = code - 16
    return code in (0, 7, 8, 15) or code >= 232 or (cube >= 0 and cube // 36 == cube // 6 % 6 == cube % 6)


def open_window(tmux: list[Tmux], rounds: Rounds, folder: Path, command: str = "detent tui", **more: str) -> Tmux:
    environment = {**rounds.agents.detent.environment, "TERM": "xterm-256color", **more}
    tmux.append(Tmux(rounds.repo, folder, environment, command))
    return tmux[-1]


@needs_tmux
@needs_textual
def test_a_task_from_start_to_sign_off_by_keys_alone(rounds: Rounds, tmux: list[Tmux], tmp_path: Path) -> None:
    rounds.script("note", f"echo 'I write.'; {WRITE}; detent move reviewing")
    task = rounds("note")
    window = open_window(tmux, rounds, tmp_path)
    window.shows("closed  reviewing")
    lines = window.shows("? help q quit").splitlines()
    assert (len(lines), lines[0]) == (24, " rounds   ○ 1 ready   driving")
    assert lines[23].startswith("Enter open")
    window.press("s")
    window.shows("‖  note")
    window.shows("‖ note needs you")
    window.press("a")
    window.shows("why approve?")
    window.press("-l", "read it")
    window.press("Enter")
    window.shows("✓  note")
    window.shows(" rounds   ✓ 1 over   driving")  # the command is over too: while it goes on, q asks first
    window.press("q")
    assert window.ended() == 0
    assert task.last("moved")["reason"] == "read it"
    assert "Traceback" not in window.screen()


@needs_tmux
@needs_textual
def test_bell_rings_when_a_task_begins_to_need_a_person(rounds: Rounds, tmux: list[Tmux], tmp_path: Path) -> None:
    rounds.script("note", f"{WRITE}; detent move reviewing")
    rounds("note")
    window = open_window(tmux, rounds, tmp_path)
    window.shows("closed  reviewing")
    window("set-hook", "-g", "alert-bell", f"run-shell 'echo rung > {tmp_path}/rung'")
    window("set-option", "-g", "bell-action", "any")
    window.press("s")
    window.shows("‖ note needs you")
    until = time.monotonic() + LONGEST_S
    while not (tmp_path / "rung").exists():
        assert time.monotonic() < until, "no bell was heard"
        time.sleep(LOOK_S)


@needs_tmux
@needs_textual
def test_without_colours_it_says_the_same(rounds: Rounds, tmux: list[Tmux], tmp_path: Path) -> None:
    rounds.at_review("note")
    window = open_window(tmux, rounds, tmp_path, NO_COLOR="1")
    window.shows("open    published")
    painted = window.screen("-e")
    assert [code for code in re.findall(r"[34]8;5;(\d+)", painted) if not is_grey(int(code))] == []
    assert re.findall(r"\x1b\[(?:[349][1-6]|10[1-6])m", painted) == []


@needs_tmux
@needs_textual
def test_ending_it_leaves_the_terminal_as_it_was(rounds: Rounds, tmux: list[Tmux], tmp_path: Path) -> None:
    rounds("note")
    window = open_window(tmux, rounds, tmp_path)
    window.shows("○  note")
    os.kill(window.program(), signal.SIGTERM)
    assert window.ended() == 128 + signal.SIGTERM
    assert window("display-message", "-p", "#{alternate_on}").strip() == "0"
    assert "Traceback" not in window.screen()


@needs_tmux
@needs_textual
def test_a_closed_terminal_ends_only_the_dashboard(rounds: Rounds, tmux: list[Tmux], tmp_path: Path) -> None:
    meeting = rounds.agents.meeting()
    rounds.script("note", f"meet here; {WRITE}; detent move reviewing")
    task = rounds("note")
    window = open_window(tmux, rounds, tmp_path)
    window.shows("○  note")
    window.press("s")
    meeting.reached()
    handle = os.pidfd_open(window.program())
    try:
        window.close()
        ended, _, _ = select.select([handle], [], [], LONGEST_S)
        assert ended
    finally:
        os.close(handle)
    assert look(str(task.run_dir(1))).phase == "alive"
    meeting.go()
    assert rounds.agents.detent("watch", "--once", cwd=rounds.repo).code == 0
    assert task.state() == "reviewing"


BROKEN = """
import sys
from detent.faces.tui.app import Dashboard
from detent.runner.task.open import find_project

class Broken(Dashboard):
    def action_help(self):
        raise ValueError("something of ours")

try:
    Broken(find_project(), 1).run_to_end()
except ValueError as error:
    print(f"raised: {error}")
    sys.exit(3)
"""


@needs_tmux
@needs_textual
def test_bug_is_raised_for_the_command_line_and_not_drawn(rounds: Rounds, tmux: list[Tmux], tmp_path: Path) -> None:
    rounds("note")
    (tmp_path / "broken.py").write_text(BROKEN, encoding="utf-8")
    window = open_window(tmux, rounds, tmp_path, f"{sys.executable} {tmp_path}/broken.py")
    window.shows("○  note")
    window.press("?")
    assert window.ended() == 3
    screen = window.shows("raised: something of ours")
    assert "Traceback" not in screen
    assert "locals" not in screen


def said(rounds: Rounds, words: tuple[str, ...] = (), **environment: str) -> tuple[int, str]:
    with Terminal(("tui", *words), rounds.repo, {**rounds.agents.detent.environment, **environment}) as terminal:
        code = terminal.end()
    return code, terminal.shown


def test_a_terminal_that_can_place_no_text_is_told_apart(rounds: Rounds) -> None:
    for term in ("dumb", ""):
        code, shown = said(rounds, TERM=term)
        assert code == 1
        assert "TERM says this one can't" in shown
        assert "detent watch" in shown


def test_a_locale_without_the_letters_is_told(rounds: Rounds) -> None:
    code, shown = said(rounds, TERM="xterm", PYTHONIOENCODING="latin-1")
    assert (code, "LC_ALL=C.UTF-8 detent tui" in shown) == (1, True)


def test_dashboard_without_terminal_or_person_is_refused(rounds: Rounds) -> None:
    done = rounds.agents.detent("tui", cwd=rounds.repo, environment={"TERM": "xterm"})
    assert done.code == 1
    assert "needs a terminal" in done.err
    inside = rounds.agents.detent("tui", cwd=rounds.repo, environment={"DETENT_ROLE": "writer"})
    assert (inside.code, "is for a person" in inside.err) == (1, True)
    refused = rounds.agents.detent("tui", "--json", cwd=rounds.repo)
    assert "--json" not in rounds.agents.detent("tui", "--help", cwd=rounds.repo).out
    assert refused.code == 2
    assert refused.json()["error"]["next"] == "detent list --json, detent watch --json"


def test_without_textual_one_line_says_how_to_get_it(rounds: Rounds, tmp_path: Path) -> None:
    (tmp_path / "lacking").mkdir()
    (tmp_path / "lacking" / "textual.py").write_text('raise ModuleNotFoundError("no textual", name="textual")\n')
    code, shown = said(rounds, TERM="xterm", PYTHONPATH=str(tmp_path / "lacking"))
    assert code == 5
    assert "the dashboard needs Textual, which is not installed" in shown
    assert "pip install 'detent[tui]'" in shown
