"""The words about typed lines: what is understood where a task stands, and how a far state is reached step by step."""

from __future__ import annotations

from detent.faces.words.screen import one_line
from detent.machines.lines import HELP, NEXT, QUIT, REDO, SLASH, STATUS, fill

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from detent.core.machine import Edge
    from detent.runner.task.open import Task

_NEXT = (NEXT, "the next move that its proof opens; what is missing, if none is open")
_EVERYWHERE = (
    (STATUS, "where it stands"),
    (HELP, "this text"),
    (QUIT, "leave (in `detent repl`)"),
    (f"{SLASH}{SLASH}text", "text that begins with a slash; a line without one is text for whoever listens"),
)


PLAIN_WORDS = "no completion and no history here; for both: pip install 'detent[repl]' (from a clone: '.[repl]')"
LEAVE_WORDS = f"({QUIT} or Ctrl+D leaves)"
INTERRUPTED_WORDS = f"interrupted; where it stands: {STATUS}"


def greeting_words(task: Task) -> str:
    return f"{task.id}: {one_line(task.memory.head.title)}\n{HELP} lists what is understood, Ctrl+D leaves"


def prompt_words(task: Task) -> str:
    """What a typed line is about: the task and where it stands."""
    return f"{task.id} {task.memory.snapshot.state}> "


def leads_words(targets: str) -> str:
    return f"-> {targets}" if targets else ""


def script_ended_words(number: int, line: str) -> str:
    return f"ended at line {number}: {one_line(line)}\n  next: the lines after it were not said"


def understood_words(task: Task, lines: Sequence[tuple[str, str]]) -> str:
    """Every line that means something here."""
    state = task.machine.states[task.memory.snapshot.state]
    rows = [_NEXT, *((words, _leads(words, targets, state.name)) for words, targets in lines if words != NEXT)]
    rows += _EVERYWHERE
    width = max(len(words) for words, _ in rows)
    return "\n".join([f"{task.id} is in {state.name}; it understands", *(f"  {a:<{width}}  {b}" for a, b in rows)])


def _leads(words: str, targets: str, state: str) -> str:
    if words == REDO:
        return f"STATE why: back to {targets.replace(', ', ' or ')}"
    if not targets:
        return f"have {state} worked on now"
    return f"-> {state} again" if targets == state else f"-> {targets}"


def no_listener_words(task: Task, text: str) -> str:
    """The state in which an unexpected text would have a meaning, else the words for a move."""
    for state in task.machine.states.values():
        for edge in state.edges:
            if any(not pattern.startswith(SLASH) and fill(pattern, text) is not None for pattern in edge.says):
                return f"{text!r} is said in {state.name}; what is understood here: detent say {HELP} {task.id}"
    return f"a move is said with a slash: detent say {SLASH}WORD {task.id}; which: detent say {HELP} {task.id}"


def route_words(task: Task, edges: Sequence[Edge], *, is_override: bool) -> str:
    """The way to a state that is more than one move away."""
    way = " -> ".join((task.memory.snapshot.state, *(edge.target for edge in edges)))
    option = ' --override "why"' if is_override else ""
    first = f"detent move {edges[0].target} {task.id}{option}"
    if is_override:
        return f"an override opens one move and jumps over none; the way is {way}, so first: {first}"
    return f"the way is {way}; first: {first}"
