"""The message of a person's commit: made from the task, written where the machine says, and the person's to change."""

from __future__ import annotations

import re

from detent.errors import UnreadableError
from detent.store.disk.atomic import read_text, write_atomic
from detent.words.names import on_one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from detent.runner.task.open import Task

_LONGEST_SUBJECT = 72
_MOST_NAMES = 8
_IS_TYPED = re.compile(r"[a-z]+(\([^)\n]*\))?!?: \S")
# The first word of a title says what kind of change it is; anything else adds something.
_KINDS: Mapping[str, tuple[str, ...]] = {
    "fix": ("fix", "repair", "correct", "mend", "bug"),
    "docs": ("document", "docs", "explain"),
    "test": ("test", "tests", "cover"),
    "refactor": ("refactor", "rename", "tidy", "simplify", "move", "split"),
    "perf": ("speed", "faster", "optimise", "optimize"),
}


def message_of(task: Task, names: Sequence[str]) -> str:
    """What a person wrote where the machine keeps it, else one made from title and changed files."""
    if file := task.machine.store.message:
        try:
            text = read_text(task.native.path(file)) or ""
        except UnreadableError:
            text = ""
        if text.strip():
            return text
    return made_message(task.memory.head.title, names)


def made_message(title: str, names: Sequence[str]) -> str:
    """A conventional commit message."""
    subject = title if _IS_TYPED.match(title) else f"{_kind(title)}: {title[:1].lower()}{title[1:]}"
    if len(subject) > _LONGEST_SUBJECT:
        subject = subject[:_LONGEST_SUBJECT].rpartition(" ")[0] or subject[:_LONGEST_SUBJECT]
    listed = [f"- {on_one_line(name)}" for name in names[:_MOST_NAMES]]  # a second line could pass for a trailer
    more = [f"- and {len(names) - _MOST_NAMES} more"] if len(names) > _MOST_NAMES else []
    body = [title, ""] if not subject.lower().endswith(title.lower()) else []
    return "\n".join([subject, "", *body, "Changed:", *listed, *more]) + "\n"


def _kind(title: str) -> str:
    first = title.split(maxsplit=1)[0].lower().strip(",.:") if title.split() else ""
    return next((kind for kind, words in _KINDS.items() if first in words), "feat")


def write_message(task: Task, names: Sequence[str]) -> dict[str, str]:
    """Put the message where a person can read and change it before they commit; one that is there stays."""
    file = task.machine.store.message
    text = message_of(task, names)
    if file and read_text(task.native.path(file)) != text:
        write_atomic(task.native.path(file), text.encode(), durable=True)
    return {"subject": text.partition("\n")[0], "file": file}
