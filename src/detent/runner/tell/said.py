"""What a typed line means where a task stands: the one place that turns a person's words into a signal or an action.

In order: the lines a move of this state says; the words every task understands (`/next`, `/redo STATE`, `/help`,
`/status`); the verb of a move from here; the word of a state; what the menu knows. A line without a slash that no move
says is text for the listening agent or person. Nothing is done here: faces act on the result, and the step decides.
"""

from __future__ import annotations

from detent.core.record import Record
from detent.core.values import Signal
from detent.errors import RefusedError, UsageError
from detent.machines.lines import (
    HELP,
    LEAVING,
    NEXT,
    REDO,
    SLASH,
    STATUS,
    fill,
    longest_match,
    normal,
    read_extra,
    read_line,
    unquoted,
)
from detent.runner.tell.menu import chosen
from detent.words.runner import tell as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from detent.core.machine import Edge, Machine, State
    from detent.machines.lines import Extra
    from detent.runner.task.open import Task

ASK, MENU, RUN, TEXT, VIEW, MOVES, WORDS, STANDS = "ask", "menu", "run", "text", "view", "moves", "words", "status"


class Meaning(Record):
    """What is to be done about a line: ask for a move, have this state worked on, show something, or pass text on."""

    kind: str
    signal: Signal = Signal("person")
    text: str = ""  # what is said, or the name of a view
    is_yes: bool = False  # the line answers a question that the move asks first


def meaning(task: Task, typed: str, name: str) -> Meaning:
    """`name` is the person's; it counts only where a person may act."""
    machine = task.machine
    state = machine.states[task.memory.snapshot.state]
    line = read_line(typed)
    if not line.text:
        raise UsageError(say.nothing_to_say(HELP))
    for pattern in dict.fromkeys(pattern for edge in state.edges if not edge.never for pattern in edge.says):
        text = fill(pattern, line.text) if pattern.startswith(SLASH) == line.is_command else None
        if text is not None:
            return Meaning(ASK, Signal("person", name=name, reason=unquoted(text), verb=pattern))
    if not line.is_command:
        return Meaning(TEXT, text=line.text)
    word, _, rest = line.text.partition(" ")
    if word.casefold() in LEAVING:
        raise UsageError(say.nothing_to_leave(HELP))
    if word.casefold() in (HELP, STATUS):
        return Meaning(WORDS if word.casefold() == HELP else STANDS)
    if word.casefold() == REDO:
        return _redo(machine, state, normal(line.text), rest.strip(), name)
    if word.casefold() == NEXT:
        return _next(state, read_extra(rest.strip()), name)
    return _command(task, state, line.text, name)


def _next(state: State, extra: Extra, name: str) -> Meaning:
    """The first open of the moves that artifacts decide; where a machine names none, all moves are shown."""
    edges = [edge for edge in state.edges if NEXT in edge.says]
    if extra.override and any(edge.sign_off for edge in edges):
        raise RefusedError(say.decision_is_a_persons(state.name, HELP))
    if not edges and not extra.override:
        return Meaning(MOVES)
    if not edges:
        raise RefusedError(say.no_one_move(NEXT, state.name, HELP))
    signal = Signal("person", name=name, reason=extra.text, override=extra.override, verb=NEXT)
    return Meaning(ASK, signal, is_yes=extra.is_yes)


def _redo(machine: Machine, state: State, typed: str, rest: str, name: str) -> Meaning:
    """Back to a state that is named, else to the first of all; what was typed is the reason where no other is given."""
    verb = REDO.removeprefix(SLASH)
    edges = {edge.target: edge for edge in reversed(state.edges) if verb in edge.verbs}
    named = longest_match(rest, machine.states)
    target, behind = named or (machine.initial, rest)
    extra = read_extra(behind)
    if target not in edges:
        back = [name for name in machine.states if name in edges]
        if back:
            raise RefusedError(say.no_step_back(state.name, target, REDO, back))
        raise RefusedError(say.nothing_again(state.name, HELP))
    signal = Signal("person", edges[target].name, name=name, reason=extra.text or typed, verb=verb)
    return Meaning(ASK, signal, is_yes=extra.is_yes)


def _command(task: Task, state: State, line: str, name: str) -> Meaning:
    machine = task.machine
    verbs = {f"{SLASH}{verb}": verb for edge in state.edges if not edge.never for verb in edge.verbs}
    places = {word: state.name for state in machine.states.values() for word in state.words}
    found = longest_match(line, (*places, *verbs))
    word, _, rest = line.partition(" ")
    words, behind = found or (word, rest.strip())
    extra = read_extra(behind)
    if words in places and words not in verbs:
        target = places[words]
        if target == state.name and not extra.override:
            return Meaning(RUN, text=extra.text)
        if state.is_end:
            raise RefusedError(say.is_an_end(state.name, REDO, target))
        signal = Signal("person", target, name=name, reason=extra.text, override=extra.override)
        return Meaning(ASK, signal, is_yes=extra.is_yes)
    try:
        edge, view = chosen(task, words.removeprefix(SLASH))
    except UsageError as error:
        error.next_step = _nearest(task, words) or error.next_step
        raise
    if edge is None:
        return Meaning(VIEW, text=view)
    return Meaning(MENU, _signal(edge, extra, name), is_yes=extra.is_yes)


def _nearest(task: Task, word: str) -> str:
    """What may have been meant; empty when several moves were."""
    from difflib import get_close_matches  # only after a mistake

    lines = [NEXT, *(words for words, _ in understood(task)), HELP, STATUS]
    if word.casefold() in (line.casefold() for line in lines):
        return ""
    close = get_close_matches(word, lines, 1)
    listed = tuple(dict.fromkeys(lines))
    return say.did_you_mean(close[0], listed) if close else say.understood_here(listed)


def _signal(edge: Edge, extra: Extra, name: str) -> Signal:
    verb = edge.verbs[0] if edge.verbs else ""
    return Signal("person", edge.name, name=name, reason=extra.text, override=extra.override, verb=verb)


def understood(task: Task) -> tuple[tuple[str, str], ...]:
    """Every line that means something here, with the states it may lead to; none: it has this one worked on."""
    state = task.machine.states[task.memory.snapshot.state]
    found: dict[str, list[str]] = {}
    for edge in (edge for edge in state.edges if not edge.never and "person" in (*edge.by(), *_lent(edge))):
        for words in (*edge.says, *(f"{SLASH}{verb}" for verb in edge.verbs)):
            found.setdefault(words, []).append(edge.target)
        for words in task.machine.states[edge.target].words if edge.target in task.machine.states else ():
            if not edge.reopen and edge.target != state.name:
                found.setdefault(words, []).append(edge.target)
    for words in state.words:
        found.setdefault(words, [])
    return tuple((words, ", ".join(dict.fromkeys(targets))) for words, targets in found.items())


def _lent(edge: Edge) -> tuple[str, ...]:
    """A person may use the ways of agent and engine, never those of a crash."""
    return ("person",) if {"agent", "engine"} & set(edge.by()) else ()
