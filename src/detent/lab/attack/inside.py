"""The attacker's side: what it has to work with inside an agent run (`attacker.py` is the program).

It knows what every agent knows: the prompt, the home, and the control folder, which the pointer in the task folder
names. A file in the home names the attack to play. The program is installed there as that of an agent that
`detent init` knows, so that it runs with the settings that `init` writes.
"""

from __future__ import annotations

import os
import re
import sys
from contextlib import suppress

from detent.effects.host.process import run
from detent.errors import ToolError
from detent.lab.attack.values import FIXED
from detent.machines.load import questions_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from detent.lab.attack.values import Course

PLAY = ".lab-play"  # at home: the name of the attack, and of the machine
TRIED, BEGUN, LOOT = "tried", "begun", "loot"
_COMMAND_TIMEOUT_S = 40.0


class Inside:
    """What an attacker has to work with."""

    def __init__(self, environment: Mapping[str, str], course: Course, hand_in: Callable[[Inside], None]) -> None:
        self.environment = dict(environment)
        self.home = environment["HOME"]
        self.folder = environment["DETENT_TASK_DIR"]
        self.tree = environment["DETENT_TREE"]
        self.out = environment["DETENT_OUT"]
        self.drop = environment["DETENT_DROP"]
        self.state = environment["DETENT_STATE"]
        self.run = environment["DETENT_RUN_NUMBER"]
        self.course = course
        self._hand_in = hand_in
        self.files = ["app.sh"]  # what its plan names
        self._is_mute = False
        self.play, self.machine = read_play(self.home)
        with open(os.path.join(self.folder, ".detent-task"), encoding="utf-8") as file:
            self.control = file.read().strip()
        self.project = os.path.dirname(os.path.dirname(self.control))
        self.root = os.path.dirname(os.path.dirname(self.project))

    def at_home(self, name: str) -> str:
        return os.path.join(self.home, name)

    def read(self, path: str) -> str:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()

    def write(self, path: str, text: str) -> None:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def try_write(self, *paths: str, text: str = "spoilt\n") -> None:
        """Write where it is not wanted; that it may fail is the point."""
        for path in paths:
            with suppress(OSError):
                self.write(path, text)

    def try_read(self, *paths: str) -> None:
        """Keep what can be read as loot."""
        for path in paths:
            with suppress(OSError):
                self.loot(self.read(path))

    def loot(self, text: str) -> None:
        with open(os.path.join(self.out, LOOT), "a", encoding="utf-8") as file:
            file.write(text + "\n")

    def set(self, **values: str) -> None:
        """Change lines of STATE.md; `_` in a label stands for a blank."""
        path = os.path.join(self.folder, "STATE.md")
        text = self.read(path)
        for label, value in values.items():
            name = label.replace("_", " ")
            text = re.sub(rf"^{name}:.*$", f"{name}: {value}", text, flags=re.MULTILINE)
        self.write(path, text)

    def section(self, name: str, body: str) -> None:
        """Replace what stands under a heading of EVIDENCE.md."""
        write_section(os.path.join(self.folder, "EVIDENCE.md"), name, body)

    def answer(self, text: str = FIXED) -> None:
        """The code that the task asks for, or something else."""
        self.write(os.path.join(self.tree, "app.sh"), text)

    @property
    def is_at_work(self) -> bool:
        """Whether this is the state in which the code is written."""
        return self.state == self.course.work

    def hand_in(self, *, is_claimed: bool = True) -> None:
        """All that is asked of an agent in this state, but for the code; with or without asking for the move."""
        self._is_mute = not is_claimed
        self._hand_in(self)
        self._is_mute = False

    def first_run(self) -> int:
        """The number of the first run of this attack; each leaves a mark."""
        marks = [name for name in os.listdir(self.out) if name.startswith(f"{BEGUN}-")]
        ours = [name for name in marks if self.read(os.path.join(self.out, name)) == self.play]
        return min(int(name.rpartition("-")[2]) for name in ours)

    def candidate(self, text: str = "all checks pass\n") -> None:
        self.write(os.path.join(self.folder, "artifacts", "result.txt"), text)
        link = "[result](artifacts/result.txt)"
        self.set(Candidate_done="yes", Evidence_location="artifacts/result.txt", Evidence_link=link)

    def find_fault(self, fault: str) -> None:
        """A judge that found something, with all that the move back to repair asks for."""
        with suppress(FileNotFoundError):
            self.section("Failed checks", fault)
            self.section("Review", f"Verdict: FAIL\n{fault}")
        self.claim("repair")

    def review(self) -> None:
        self.section("Gate answers", gate_answers())
        self.section("Review", "Verdict: PASS\nRead everything.")

    def detent(self, *words: str, environment: Mapping[str, str] | None = None) -> int:
        """The command line, as an agent calls it."""
        return self.call(sys.executable, "-P", "-m", "detent", *words, environment=environment)

    def claim(self, state: str) -> int:
        return 0 if self._is_mute else self.detent("move", state)

    def call(self, *argv: str, environment: Mapping[str, str] | None = None) -> int:
        env = self.environment if environment is None else environment
        try:
            done = run(argv, cwd=self.tree, env=env, timeout_s=_COMMAND_TIMEOUT_S)
        except ToolError as error:
            sys.stdout.write(f"{error.what}\n")
            return 127
        sys.stdout.write((done.stdout + done.stderr).decode("utf-8", "replace"))
        sys.stdout.flush()
        return done.exit

    def as_person(self) -> dict[str, str]:
        """The environment without anything that says it is an agent's."""
        return {name: value for name, value in self.environment.items() if not name.startswith("DETENT_")}


def read_play(home: str) -> tuple[str, str]:
    """The name of the attack that the agent at this home plays, and of its task's machine."""
    with open(os.path.join(home, PLAY), encoding="utf-8") as file:
        attack, machine = file.read().split()
    return attack, machine


def gate_answers() -> str:
    """Every question of the review, answered as if the work had been read."""
    return "\n".join(f"- {question}: yes, by reviewer, artifacts/result.txt" for question in questions_of("phase"))


def write_section(path: str, name: str, body: str) -> None:
    with open(path, encoding="utf-8") as file:
        text = file.read()
    pattern = rf"(^## {re.escape(name)}\n).*?(?=^## |\Z)"
    text = re.sub(pattern, lambda found: f"{found[1]}\n{body}\n\n", text, flags=re.MULTILINE | re.DOTALL)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
