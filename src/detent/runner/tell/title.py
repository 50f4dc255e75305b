"""What a task is called now: also where a person has just written other words into its file. Reads only.

The next command that writes a task takes these words into its journal (`run/retitle.py`).
"""

from __future__ import annotations

from detent.errors import UnreadableError, UsageError
from detent.runner.step.locks import closed_items
from detent.runner.task.title import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from detent.core.machine import Machine
    from detent.store.journal.memory import Memory
    from detent.store.journal.native import Document, Native


def title_now(machine: Machine, memory: Memory, native: Native) -> str:
    """The journal's title, or what a person wrote over it by hand since."""
    title = str(memory.head.title)
    if not follows_hand(machine, memory):
        return title
    try:
        return written_title(machine, native.read()) or title
    except (UnreadableError, UsageError):
        return title  # commands about this file report its error


def written_title(machine: Machine, document: Document) -> str:
    """The words in the field that the task is called by, on one line."""
    return one_line(document.value(str(machine.store.title)))


def follows_hand(machine: Machine, memory: Memory) -> bool:
    """Whether the task is called by what a person writes there: no lock holds it, and no agent has worked."""
    snapshot = memory.snapshot
    if not machine.store.retitles or memory.visit or memory.run or machine.states[snapshot.state].is_end:
        return False
    return f"field:{machine.store.title}" not in closed_items(machine, snapshot)
