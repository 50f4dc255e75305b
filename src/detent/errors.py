"""The error tree: what went wrong, where, and the next command; faces turn it into words and an exit code.

DetentError            base; never raised itself
├── UsageError         the command line or a name in it is wrong (exit 2)
├── RefusedError       a well-formed request that the rules forbid before any machine is asked (exit 1)
│   └── SetUpError     no checkout could be made ready for the commands that prove something: nothing is known yet
├── UntrustedError     a repository's settings want what only a person may allow, and none did yet (exit 4)
├── UnreadableError    a file that should be readable is not: damaged, missing, foreign, too large (exit 5)
│   ├── DamagedJournal the journal's own chain is broken; names the line
│   └── NewerJournal   the journal was written by a newer Detent; nothing is read or written
├── LockedError        another process holds the lock for longer than we wait (exit 5)
├── StorageError       the disk refused: full, read-only, input/output error (exit 5)
├── MachineError       a machine file with one or many problems (exit 2)
└── ToolError          a program we need is missing or failed (exit 5)

A refused move is not an error: it is a `Refuse` value (core/values.py).
"""

from __future__ import annotations

from detent.words.message import Message

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class DetentError(Exception):
    """One problem a person can act on: `what` happened, `where`, and the `next_step`; a message may bring it along."""

    code = 3
    kind = "error"

    def __init__(self, what: str, *, where: str = "", next_step: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.where = where
        self.next_step = next_step or (what.next_step if isinstance(what, Message) else "")


class UsageError(DetentError):
    code = 2
    kind = "usage"


class RefusedError(DetentError):
    code = 1
    kind = "refused"


class SetUpError(RefusedError):
    kind = "set-up failed"


class UntrustedError(DetentError):
    """`wanted` is what the settings want, for faces that can ask a person at once."""

    code = 4
    kind = "not trusted"

    def __init__(self, what: str, *, where: str = "", next_step: str = "", wanted: Any = None) -> None:
        super().__init__(what, where=where, next_step=next_step)
        self.wanted = wanted


class UnreadableError(DetentError):
    code = 5
    kind = "unreadable"


class LostPackError(UnreadableError):
    """The code of a pack that a task is pinned to can't be had as it was; the task can be given up all the same."""


class BeyondBoundError(UnreadableError):
    """Something is larger, longer or more than is ever read; `where` names it."""


class DamagedJournal(UnreadableError):
    kind = "damaged journal"


class NewerJournal(UnreadableError):
    kind = "newer journal"


class LockedError(DetentError):
    code = 5
    kind = "locked"


class StorageError(DetentError):
    code = 5
    kind = "storage"


class ToolError(DetentError):
    code = 5
    kind = "tool"


class TakesLong(Exception):  # no error: the answer can be had, but not at once
    """A scan would take long. A caller that many others wait for leaves it to another process."""


class Ended(BaseException):
    """A signal asked this process to end; what it started is ended on the way out."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


class MachineError(DetentError):
    """All problems of one machine file at once, in the order of the file where that is known."""

    code = 2
    kind = "machine"

    def __init__(self, problems: tuple[str, ...], *, where: str = "") -> None:
        from detent.words.errors import problems_in_machine  # no command that only looks meets a faulty machine

        super().__init__(problems_in_machine(len(problems), where), where=where)
        self.problems = problems
