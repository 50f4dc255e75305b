"""Says when a machine advises a person to something: the proof it names is there. The decision stays the person's."""

from __future__ import annotations

from detent.errors import UnreadableError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from detent.runner.task.open import Task


def advice(task: Task) -> str:
    """The verb a person is advised to where the task stands; empty when there is no advice. Starts nothing."""
    snapshot = task.memory.snapshot
    wanted = task.machine.states[snapshot.state].recommends
    if not wanted or task.memory.run or (wanted["mode"] and wanted["mode"] != snapshot.mode):
        return ""
    from detent.gates.judge import judge  # most states advise nothing, and a bare status never loads the gates
    from detent.runner.step.disorder import read_document
    from detent.runner.step.look import known_tree, look

    try:
        seen = look(task, task.memory, read_document(task), known_tree(task), is_reader=True)
        is_open = judge(seen, [wanted["gate"]])[wanted["gate"]].ok
    except UnreadableError:
        return ""
    return wanted["verb"] if is_open else ""
