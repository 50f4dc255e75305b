"""Builds the menu of a task from the moves of its state: each with a letter, open ones first.

What a choice does is a command of the command line, found in its table by the move's verb; no move is made here.
"""

from __future__ import annotations

from detent.core.machine import STOPPED
from detent.core.record import Record
from detent.faces.cli.table import COMMANDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from detent.core.machine import Edge
    from detent.faces.cli.table import Command
    from detent.runner.tell.explain import Explain, Move

_SPARE_KEYS = "abcdefghijklmnopqrstuvwxyz0123456789"
# Whether a choice asks for words: not at all, if there are any, or not without.
NO_WORDS, MAY_SAY, MUST_SAY = "no", "may", "must"
_SPEAKING = ("answer", "reject", "resume")  # the next agent gets their words, so there must be some


class Choice(Record):
    """One line of a menu."""

    key: str
    verb: str  # the command
    asks: str
    move: Move | None = None
    confirm: str = ""
    view: str = ""  # what it shows; such a choice moves nothing

    @property
    def word(self) -> str:
        """What the choice is called; nothing where the move's target says it all."""
        if self.move is None or self.verb != "move":
            return self.verb
        return self.move.verbs[0] if self.move.verbs else ""

    def words(self, task_id: str, said: str) -> list[str]:
        """The command line of this choice, without `detent` and the repository."""
        if self.view:
            return [self.verb, "--", self.view, task_id]
        command = _command(self.verb)
        assert command is not None  # noqa: S101  # choices are made of commands that exist
        options = {option.flag for option in command.options}
        argv = [self.verb]
        if self.move is not None and "--edge" in options:
            argv += ["--edge", self.move.name]
        if self.confirm and "--yes" in options:
            argv.append("--yes")
        takes_text = any(argument.name == "TEXT" for argument in command.arguments)
        if said and not takes_text and "--reason" in options:
            argv += ["--reason", said]
        if "--no-wait" in options:
            argv.append("--no-wait")
        to = [self.move.to] if self.move is not None and self.verb == "move" else []
        return [*argv, "--", *([said] if takes_text else to), task_id]


def build_menu(explained: Explain) -> tuple[Choice, ...]:
    """Every move a person may ask for, and the other actions and views open now."""
    state = explained.task.machine.states[explained.snapshot.state]
    edges = {edge.name: edge for edge in state.edges}
    moves = [move for move in explained.moves if is_choice(move)]
    wanted = [(choice_for(move, edges[move.name]), edges[move.name].key) for move in moves]
    verbs = {choice.verb for choice, _ in wanted}
    wanted += [(choice, "") for choice in _besides(explained) if choice.verb not in verbs]
    wanted += [(Choice("", "choose", NO_WORDS, view=view), key) for key, view in state.views.items()]
    wanted.sort(key=lambda pair: _nearness(pair[0].move))
    keys = letters([(key, choice.verb, choice.move) for choice, key in wanted])
    return tuple(choice.replace(key=key) for (choice, _), key in zip(wanted, keys, strict=True))


def with_verb(menu: Iterable[Choice], verb: str) -> tuple[Choice, ...]:
    return tuple(choice for choice in menu if choice.verb == verb)


def is_choice(move: Move) -> bool:
    """Whether a person may take the move; one that only a run's death takes is no choice."""
    return move.by != ("crash",)


def _nearness(move: Move | None) -> int:
    """Open, then what only has to be proven, then what is no move or leads back, then the closed; in their order."""
    if move is None or (move.is_reopen and set(_SPEAKING).isdisjoint(move.verbs)):
        return 2
    return 0 if move.is_open else 1 if is_provable(move) else 3


def is_provable(move: Move) -> bool:
    """Whether asking for it runs its commands and nothing else is missing."""
    return bool(move.missing) and all(gap.pending for gap in move.missing)


def choice_for(move: Move, edge: Edge) -> Choice:
    known = [verb for verb in move.verbs if _command(verb) is not None]
    verb = "answer" if "answer" in known else known[0] if known else "move"
    must_say = verb in _SPEAKING or move.is_reopen
    asks = MUST_SAY if must_say else MAY_SAY if move.verbs or move.sign_off else NO_WORDS
    return Choice("", verb, asks, move, edge.confirm)


def _besides(explained: Explain) -> list[Choice]:
    """What a person can do without a move."""
    memory, state = explained.task.memory, explained.task.machine.states[explained.snapshot.state]
    if memory.run and not explained.is_dead:
        return [Choice("", "stop", NO_WORDS)]
    if explained.snapshot.registers.get(STOPPED):
        return [Choice("", "resume", MUST_SAY)]
    found: list[Choice] = []
    if state.role:
        found += [Choice("", "respawn", NO_WORDS)] if memory.visit or explained.is_dead else []
        found += [Choice("", "start", NO_WORDS)] if not memory.driven.on else []
    return found


def letters(wanted: Sequence[tuple[str, str, Move | None]]) -> list[str]:
    """A letter for each: the machine's own first, then the first free one of its words, then any."""
    taken = {key.lower() for key, _, _ in wanted if key}
    found = []
    for key, verb, move in wanted:
        if not key:
            name = verb if verb != "move" or move is None else move.to
            free = [letter for letter in f"{name.lower()}{_SPARE_KEYS}" if letter.isalnum() and letter not in taken]
            key = free[0] if free else ""  # noqa: PLW2901  # nothing is free: it can still be chosen with the arrows
            taken.add(key)
        found.append(key)
    return found


def _command(name: str) -> Command | None:
    return next((command for command in COMMANDS if command.name == name), None)
