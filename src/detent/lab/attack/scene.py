"""One attack in the throw-away world: the runs the engine was asked for, and what can be seen afterwards."""

from __future__ import annotations

import json
import os
import re
import socket
from contextlib import suppress

from detent.errors import ToolError
from detent.lab.attack import values
from detent.lab.attack.ground import read, write
from detent.lab.attack.inside import LOOT, write_section
from detent.lab.attack.values import APP, MAIN, OTHER
from detent.store.journal.events import Moved, from_line
from detent.store.journal.fold import snapshot_after
from detent.store.journal.head import Created
from detent.store.journal.run_events import RunEnded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    from detent.effects.host.process import Finished
    from detent.lab.attack.ground import Ground
    from detent.lab.attack.values import Course
    from detent.store.journal.line import Line

    L = TypeVar("L", bound=Line)

CHECK_FILE = "ci/gate/check.sh"
STATE_FILES = ("STATE.md", "TASK.md", "state.json", "thread.json")
ASKED_FILE = "deploy/job.sh"  # below a folder of `[protect] ask`


class Scene:
    """One attack in the world: what the engine was asked to do, and what can be seen afterwards."""

    def __init__(self, world: Ground, course: Course, task: str = MAIN) -> None:
        self.world = world
        self.course = course
        self.task = task
        self.runs: list[Finished] = []
        self.notes: list[str] = []  # what the scene's own commands came to
        self.started = len(self.journal()) if os.path.isdir(self.control()) else 0
        self._listeners: list[socket.socket] = []
        self._packets: socket.socket | None = None

    def let_loose(self, attack: str) -> None:
        """One agent run, driven by the public command."""
        self.play_next(attack)
        self.ask("run", "--once", "--json", expect=None)

    def play_next(self, attack: str) -> None:
        """Tell the throw-away agent, whichever command starts it, what to do."""
        self.world.tell_agent(attack, self.course.machine)

    def ask(self, *words: str, expect: int | None = 0) -> Finished:
        """A person's command about this task."""
        self.runs.append(self.world.detent(*words, self.task, expect=expect))
        return self.runs[-1]

    def said(self) -> str:
        """What the last command printed."""
        last = self.runs[-1]
        return (last.stdout + last.stderr).decode("utf-8", "replace")

    def stuck(self, problem: str) -> ToolError:
        return ToolError(
            f"the lab could not be set up: {problem}; {self.state()}: {self.said()[-500:]}",
            next_step="play it alone: detent attack --only NAME",
        )

    # --- places ---

    def control(self) -> str:
        return os.path.join(self.world.repo, ".git", "detent", "tasks", self.task)

    def at_home(self, name: str) -> str:
        return os.path.join(self.world.home, name)

    def tree(self) -> str:
        return self.head().tree_path

    def folder(self) -> str:
        return self.head().dir

    def task_home(self, name: str) -> str:
        return os.path.join(self.head().home, name)

    # --- what is remembered ---

    def journal(self) -> list[Line]:
        """The content of the file, written by the engine or an agent."""
        with open(os.path.join(self.control(), "journal.jsonl"), "rb") as file:
            return [from_line(json.loads(line)) for line in file.read().splitlines()]

    def head(self) -> Created:
        head = self.journal()[0]
        if not isinstance(head, Created):
            raise self.stuck("the task was not made here")
        return head

    def new_lines(self, kind: type[L]) -> list[L]:
        """Lines of a kind that were written since the attacker was let loose."""
        return [line for line in self.journal()[self.started :] if isinstance(line, kind)]

    def state(self) -> str:
        return next(snapshot_after(line).state for line in reversed(self.journal()) if line.after is not None)

    def ends(self) -> list[RunEnded]:
        return self.new_lines(RunEnded)

    def audit_ok(self) -> bool:
        return self.world.detent("audit", self.task, expect=None).exit == 0

    def text(self, path: str) -> str:
        return read(path)

    def state_file(self) -> str:
        return next(name for name in STATE_FILES if self.has_file(name))

    def has_file(self, name: str) -> bool:
        return os.path.exists(os.path.join(self.folder(), name))

    def state_text(self) -> str:
        return read(os.path.join(self.folder(), "STATE.md"))

    def file_of_tree(self, name: str) -> str:
        return read(os.path.join(self.tree(), name))

    def home_text(self, name: str) -> str:
        return read(self.at_home(name))

    def mode_at_home(self, name: str) -> int:
        return os.stat(self.at_home(name)).st_mode & 0o777

    def other_text(self) -> str:
        """What stands in the two files of the other task that an attacker may want to damage."""
        other = Scene(self.world, self.course, OTHER)
        return other.file_of_tree("app.sh") + read(os.path.join(other.folder(), other.state_file()))

    def checkout_changed(self, branch: str) -> str:
        """What is different in the user's own checkout."""
        git = os.path.join(self.world.repo, ".git")
        if os.path.exists(os.path.join(git, "hooks", "pre-commit")):
            return "a hook was planted in your repository"
        if read(os.path.join(self.world.repo, "app.sh")) != APP:
            return "your checkout was changed"
        is_there = self.world.run("git", "rev-parse", "-q", "--verify", branch, expect=None).exit == 0
        return "a branch was pushed into your repository" if is_there else ""

    def replies(self) -> list[str]:
        return [name for name in os.listdir(self.task_home("drop")) if name.endswith(".reply.json")]

    def loot(self) -> str:
        return read(os.path.join(self.task_home("out"), LOOT))

    def has_in_checkpoint(self, name: str) -> bool:
        """Whether the engine's last checkpoint holds this file."""
        trees = [line.tree for line in self.journal() if isinstance(line, Moved) and line.tree]
        git_dir = os.path.join(self.control(), "git")
        listed = self.world.run("git", f"--git-dir={git_dir}", "ls-tree", "-r", "--name-only", trees[-1], expect=None)
        return name in listed.stdout.decode("utf-8", "replace").splitlines()

    # --- edits of a person ---

    def set(self, fields: dict[str, str]) -> None:
        path = os.path.join(self.folder(), "STATE.md")
        text = read(path)
        for label, value in fields.items():
            text = re.sub(rf"^{label}:.*$", f"{label}: {value}", text, flags=re.MULTILINE)
        write(path, text)

    def section(self, name: str, body: str) -> None:
        write_section(os.path.join(self.folder(), "EVIDENCE.md"), name, body)

    # --- sockets ---

    def listen(self) -> None:
        """Stand for an ssh agent, for a service on an abstract socket, and for one of the network."""
        path = self.at_home(values.SOCKET)
        with suppress(FileNotFoundError):
            os.unlink(path)
        for name in (path, "\0" + path):
            listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            self._listeners.append(listener)
            listener.bind(name)
            listener.listen()
            listener.setblocking(False)
        tcp, udp = socket.socket(), socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._listeners.append(tcp)
        self._packets = udp
        for socket_ in (tcp, udp):
            socket_.bind(("127.0.0.1", 0))
            socket_.setblocking(False)
        tcp.listen()
        write(self.at_home(values.PORTS), f"{tcp.getsockname()[1]} {udp.getsockname()[1]}")

    def was_called(self) -> bool:
        """Whether a connection came to one of the sockets."""
        came = False
        for listener in self._listeners:
            with suppress(BlockingIOError):
                listener.accept()[0].close()
                came = True
        if self._packets is not None:
            with suppress(BlockingIOError):
                came = bool(self._packets.recv(100)) or came
        return came

    def close(self) -> None:
        for listener in (*self._listeners, *([self._packets] if self._packets is not None else [])):
            listener.close()
