"""`detent talk`: a person and a program in a real terminal; a run like any other at its end."""

from __future__ import annotations

import json
import os
import select
import signal
import sys
import termios
from pathlib import Path
from typing import Any

import pytest

from detent.effects.host.access import LEVELS
from detent.effects.host.keeper.look import read_identity
from detent.effects.host.keeper.start import Swept, end_survivors
from detent.effects.host.sandbox import try_level
from detent.store.journal.places import project_at
from tests.conftest import SAMPLE_FILES, Detent, MakeRepo, environment_in, force_level
from tests.e2e.clone_task import CloneTask
from tests.e2e.stubs import put_program, with_path
from tests.e2e.terminal import INTERRUPT, LONGEST_S, SUSPEND, Terminal
from tests.unit.effects.host.keeper.keeper_runs import until

FRAME = (
    "-e 's/^Done gate:.*/Done gate: g/' -e 's/^Not doing:.*/Not doing: n/' -e 's/^Reality.*/Reality constraints: r/'"
)
TALKER = f"""
if [ "$1" = alone ]; then exit 0; fi
[ -t 0 ] && [ -t 1 ] || exit 9
trap 'echo; echo caught' INT
grep -q 'in state \\*\\*intake' "$1" && echo "knows its prompt"
echo "pid $$"
while echo "what now?"; read word || read word; do  # a key that was caught ends one read
    case "$word" in
        frame) sed -i {FRAME} "$DETENT_TASK_DIR/STATE.md" ;;
        unframe) sed -i 's/^Done gate:.*/Done gate:/' "$DETENT_TASK_DIR/STATE.md" ;;
        deaf) trap '' HUP TERM; echo "hears nothing"; while :; do sleep 600; done ;;
        leave) setsid sleep 600 & ;;
        bye) exit 3 ;;
        *) $word ;;
    esac
done
"""
SETTINGS = '[agents]\ndefault = "mine"\n[agents.mine]\nargv = ["talker", "alone"]\n'


class Talk:
    """A task whose agent is the talker, and terminals in which it is talked to."""

    def __init__(self, detent: Detent, repo: MakeRepo, folder: Path, settings: str) -> None:
        put_program(folder / "programs", "talker", TALKER)
        self.environment = {**detent.environment, **with_path(detent.environment, folder / "programs")}
        path = repo(files={**SAMPLE_FILES, "detent.toml": settings})
        self.task = CloneTask(Detent(folder, self.environment), repo, path)

    def __call__(self, *words: str) -> Terminal:
        return Terminal(("talk", *words), self.task.repo, self.environment)

    def lines(self, kind: str) -> list[dict[str, Any]]:
        raws = (self.task.control / "journal.jsonl").read_bytes().splitlines()
        return [entry for raw in raws if (entry := json.loads(raw))["kind"] == kind]


@pytest.fixture
def talk(detent: Detent, repo: MakeRepo, tmp_path: Path) -> Talk:
    return Talk(detent, repo, tmp_path, SETTINGS + 'talk = ["talker", "{prompt}"]\n')


def test_person_and_the_agent_work_and_the_same_step_judges(talk: Talk) -> None:
    with talk() as terminal:
        terminal.until("what now?")
        assert "knows its prompt" in terminal.shown
        terminal.type("detent move shape\n")
        terminal.until("refused: intake -> shape")
        terminal.type("frame\n")
        terminal.type("detent move shape\n")
        terminal.until("accepted: intake -> shape: finish now")
        terminal.type("leave\n")
        terminal.type("bye\n")
        code = terminal.end()
    assert code == 0, terminal.shown
    assert "moved: intake -> shape" in terminal.shown
    (planned,), (ended,) = talk.lines("run_planned"), talk.lines("run_ended")
    assert (planned["talk"], planned["agent"], planned["role"]) == (True, "mine", "builder")
    assert (ended["exit"], ended["how"], ended["code"], ended["claim_by"]) == ("finished", "talked", 3, "command")
    identity = read_identity(str(talk.task.control / "runs" / "1"))
    assert identity is not None
    assert end_survivors(identity) == Swept(0, ())  # what was left behind is gone
    assert talk.task.state() == "shape"
    assert talk.task("audit").code == 0


def test_what_people_hold_is_refused_inside_although_a_person_types(talk: Talk) -> None:
    with talk() as terminal:
        terminal.until("what now?")
        for words, refused in (("resume", "resuming is"), ("talk", "talking to an agent is"), ("stop", "stopping a")):
            terminal.type(f"detent {words}\n")
            terminal.until(f"refused: {refused}")
        terminal.type("bye\n")
        terminal.end()
    assert talk.lines("moved") == []


def test_keys_are_for_the_agent(talk: Talk) -> None:
    with talk() as terminal:
        terminal.until("what now?")
        terminal.type(INTERRUPT)
        terminal.until("caught")
        terminal.type(SUSPEND)
        terminal.type("frame\nbye\n")
        assert terminal.end() == 0, terminal.shown
    assert talk.task.state() == "shape", terminal.shown


def test_a_conversation_that_leads_nowhere_stops_nothing(talk: Talk) -> None:
    for _ in range(3):
        with talk() as terminal:
            terminal.until("what now?")
            terminal.type("bye\n")
            assert terminal.end() == 0, terminal.shown
        lacks = 'is over and opened no move: STATE.md has nothing under "Done gate:"'
        assert lacks in terminal.shown
    output = talk.task("status").out
    assert ("talk:                agent run #3 is over" in output, "dead:" in output) == (True, False), output
    status = talk.task.json("status")
    assert (status["state"], status["registers"].get("stopped", ""), status["dead"]) == ("intake", "", False)
    assert "(dead)" not in talk.task("list").out


def test_it_can_be_stopped_from_outside(talk: Talk) -> None:
    with talk() as terminal:
        terminal.until("what now?")
        assert talk.task("stop").code == 0
        terminal.end()
    (ended,) = talk.lines("run_ended")
    assert (ended["how"], ended["by_person"]) == ("stopped", True)


def test_one_that_is_killed_is_lost_and_next_one_works(talk: Talk) -> None:
    with talk() as terminal:
        terminal.until("what now?")
        identity = json.loads((talk.task.control / "runs" / "1" / "identity.json").read_bytes())
        assert identity["keeper_pid"] == terminal.command.pid
        assert talk.task.json("status")["alive"] is True
        program = os.pidfd_open(identity["child_pid"])
        os.kill(terminal.command.pid, signal.SIGKILL)
        terminal.end()
    died, _, _ = select.select([program], [], [], LONGEST_S)
    os.close(program)
    assert died
    with talk() as terminal:
        terminal.until("what now?")
        terminal.type("frame\nbye\n")
        assert terminal.end() == 0, terminal.shown
    assert [line["exit"] for line in talk.lines("run_ended")] == ["lost", "finished"]
    assert talk.task.state() == "shape"


def test_claim_that_fails_at_the_end_is_refused_with_reason(talk: Talk) -> None:
    with talk() as terminal:
        terminal.until("what now?")
        terminal.type("frame\ndetent move shape\n")
        terminal.until("accepted: intake -> shape")
        terminal.type("unframe\nbye\n")
        assert terminal.end() == 0, terminal.shown
    after = terminal.shown.partition("is over; the task stays in intake")[2]
    assert "refused: intake -> shape" in after, terminal.shown
    assert 'why:  STATE.md has nothing under "Done gate:"' in after, terminal.shown
    assert talk.task.state() == "intake"


def test_others_are_told_that_it_is_a_talk(talk: Talk) -> None:
    with talk() as terminal:
        terminal.until("what now?")
        assert "#1 mine as builder talks with a person, since" in talk.task("status").out
        assert "what was said there is not kept" in talk.task("logs").err
        with talk() as another:
            assert another.end() == 1
        assert "refused: agent run #1 is under way" in another.shown
        with Terminal(("run",), talk.task.repo, talk.environment) as run:
            run.until("agent run #1 is still under way: mine as builder in intake, in a talk with a person")
            terminal.type("frame\nbye\n")
            assert terminal.end() == 0, terminal.shown
    assert talk.task.state() != "intake"


def test_closing_terminal_ends_also_an_agent_that_does_not_care(talk: Talk) -> None:
    with talk() as terminal:
        terminal.until("what now?")
        terminal.type("frame\ndeaf\n")
        terminal.until("hears nothing")
        os.close(terminal.screen)
        terminal.screen = os.open(os.devnull, os.O_RDONLY)
        terminal.command.wait(LONGEST_S)
    (ended,) = talk.lines("run_ended")
    assert (ended["how"], ended["by_person"]) == ("talked", True)
    assert talk.task.state() == "shape"


def test_without_a_terminal_it_is_refused(talk: Talk) -> None:
    done = talk.task("talk")
    assert (done.code, "needs a terminal" in done.err) == (1, True), done
    assert talk.lines("run_planned") == []


def test_an_agent_that_only_works_alone_is_refused(detent: Detent, repo: MakeRepo, tmp_path: Path) -> None:
    talk = Talk(detent, repo, tmp_path, SETTINGS)
    with talk() as terminal:
        assert terminal.end() == 1
    assert "has no `talk`" in terminal.shown
    assert talk.lines("run_planned") == []


# Types a command into every terminal it can reach, as if it came from the keyboard.
TYPER = """
import fcntl, glob, os, termios
for place in (0, 1, 2, "/dev/tty", *glob.glob("/dev/pts/[0-9]*")):
    try:
        terminal = place if isinstance(place, int) else os.open(place, os.O_RDWR | os.O_NOCTTY)
        for letter in b"bye\\ntouch TYPED\\n":
            fcntl.ioctl(terminal, termios.TIOCSTI, bytes([letter]))
    except OSError:
        pass
"""


@pytest.fixture
def on_disk(disk_path: Path) -> Talk:
    environment = environment_in(disk_path)
    detent, repo = Detent(disk_path, environment), MakeRepo(disk_path / "repositories", environment)
    return Talk(detent, repo, disk_path, SETTINGS + 'talk = ["talker", "{prompt}"]\n')


@pytest.mark.parametrize("level", LEVELS)
def test_an_agent_types_nothing_into_the_persons_shell(on_disk: Talk, disk_path: Path, level: str) -> None:
    if why := try_level(level, os.environ):
        pytest.skip(f"{level} does not hold on this host: {why}")
    typer = TYPER
    if level == "none" and os.getuid() == 0:
        # Root may type into any terminal it can open, and at this level nothing hides the person's.
        typer = typer.replace(', *glob.glob("/dev/pts/[0-9]*")', "")
    repo = on_disk.task.repo
    force_level(project_at(str(repo), str(repo / ".git")), level)
    (disk_path / "programs/typer.py").write_text(typer, encoding="utf-8")
    with Terminal(("-i",), repo, {**on_disk.environment, "PS1": "shell> "}, ("/bin/sh",)) as terminal:
        terminal.type(f"{sys.executable} -m detent talk\n")
        terminal.until("what now?")
        terminal.type(f"{sys.executable} {disk_path}/programs/typer.py\n")
        terminal.until("shell> ", after="is over")
        terminal.type("echo back in the $((1 + 1))nd; exit\n")
        terminal.until("back in the 2nd")
        terminal.end()
    (planned,) = on_disk.lines("run_planned")
    assert planned["sandbox"] == level
    assert not (repo / "TYPED").exists(), terminal.shown


def test_keys_colours_and_sizes_pass_through_both_terminals(talk: Talk, tmp_path: Path) -> None:
    program = """
import os, signal, sys, termios, tty
signal.signal(signal.SIGWINCH, lambda *_: print("now", os.get_terminal_size(), flush=True))
before = termios.tcgetattr(0)
tty.setraw(0)
print("\\x1b[31mred\\x1b[0m", os.get_terminal_size(), os.ttyname(0) != "", end="\\r\\n", flush=True)
got = b""
while not got.endswith(b"q"):
    got += os.read(0, 100)
termios.tcsetattr(0, termios.TCSADRAIN, before)
print("got", got.hex(), flush=True)
"""
    (tmp_path / "programs/keys.py").write_text(program.replace(', os.ttyname(0) != ""', ""), encoding="utf-8")
    with talk() as terminal:
        terminal.until("what now?")
        settings = termios.tcgetattr(terminal.screen)
        terminal.type(f"{sys.executable} {tmp_path}/programs/keys.py\n")
        terminal.until("\x1b[31mred\x1b[0m os.terminal_size(columns=200, lines=50)")
        terminal.resize(31, 93)
        terminal.until("now os.terminal_size(columns=93, lines=31)")
        terminal.type("\x1b[A\x03\x1a\x04q")
        terminal.until("got 1b5b41031a0471")
        terminal.type("bye\n")
        assert terminal.end() == 0, terminal.shown
    assert not settings[3] & termios.ECHO


def test_an_end_of_file_reaches_the_agent(talk: Talk) -> None:
    with talk() as terminal:
        terminal.until("what now?")
        terminal.type("cat\n")
        terminal.type("hello\n")
        terminal.type("\x04")
        terminal.until("what now?", after="hello\r\nhello")
        terminal.type("bye\n")
        assert terminal.end() == 0, terminal.shown


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_talk_that_is_killed_gives_the_terminal_its_settings_back(talk: Talk, number: signal.Signals) -> None:
    with Terminal(("-i",), talk.task.repo, talk.environment, ("/bin/sh",)) as terminal:
        before = termios.tcgetattr(terminal.screen)
        terminal.type(f"{sys.executable} -m detent talk\n")
        terminal.until("what now?")
        assert termios.tcgetattr(terminal.screen) != before
        identity = read_identity(str(talk.task.control / "runs" / "1"))
        assert identity is not None
        os.kill(identity.keeper_pid, number)
        until(lambda: termios.tcgetattr(terminal.screen) == before)
        terminal.type("exit\n")
        terminal.end()
