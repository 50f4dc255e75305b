"""A person's choices where a task stands: its moves by key or word, and the views without a move."""

from __future__ import annotations

from detent.core.record import Record
from detent.errors import UsageError
from detent.runner.tell.explain import explain
from detent.words.runner import tell as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from detent.core.machine import Edge, State
    from detent.runner.task.open import Task
    from detent.runner.tell.explain import Move


class Choice(Record):
    """One line of a menu: a move, or a view where `edge` is empty."""

    key: str
    word: str
    edge: str = ""
    to: str = ""
    is_open: bool = True
    why: str = ""  # what the move lacks, in a few words
    asks: str = ""  # the question it asks first
    view: str = ""


def menu(task: Task) -> tuple[Choice, ...]:
    """All that a person may choose now, moves first, in the file's order."""
    state = task.machine.states[task.memory.snapshot.state]
    moves = {move.name: move for move in explain(task, with_moves=True).moves}
    found = [_choice(edge, moves[edge.name]) for edge in state.edges if "person" in edge.by() and not edge.never]
    return (*found, *(Choice(key, view, view=view) for key, view in state.views.items()))


def _choice(edge: Edge, move: Move) -> Choice:
    word = edge.verbs[0] if edge.verbs else edge.name
    why = "" if move.is_open else "; ".join(gap.why for gap in move.missing)
    return Choice(edge.key, word, edge.name, move.to, move.is_open, why, edge.confirm)


def chosen(task: Task, word: str) -> tuple[Edge | None, str]:
    """The one move or view a key or word means in the current state; the first is None for a view."""
    state = task.machine.states[task.memory.snapshot.state]
    wanted = word.strip().casefold()
    for key, view in state.views.items():
        # "diagnose" is as good as "diagnosis": the two are easily confused.
        if wanted == key.casefold() or (len(wanted) > 3 and (view.startswith(wanted[:-1]) or wanted == view)):
            return None, view
    edges = [edge for edge in state.edges if not edge.never and wanted == edge.key.casefold()] if wanted else []
    edges = edges or [edge for edge in state.edges if not edge.never and wanted in _words_of(edge)]
    if len(edges) == 1:
        return edges[0], ""
    if edges:
        raise UsageError(say.choice_may_mean(word, [(edge.name, edge.target) for edge in edges], task.id))
    if words := _all_words(state):
        raise UsageError(say.no_choice(word, state.name, words))
    raise UsageError(say.no_choice_at_all(word, state.name, task.id))


def _words_of(edge: Edge) -> tuple[str, ...]:
    target = () if edge.reopen else (edge.target,)  # going back past all gates is done by its own name
    return tuple(name.casefold() for name in (*edge.verbs, edge.name, edge.label, *target))


def _all_words(state: State) -> list[str]:
    moves = [(edge.key, edge.verbs[0] if edge.verbs else edge.name) for edge in state.edges if "person" in edge.by()]
    return [f"{key} ({word})" if key else word for key, word in (*moves, *state.views.items())]
