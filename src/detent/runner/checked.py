"""Loads machines as tasks may use them: parsed, linted and explored, with a project's own settings."""

from __future__ import annotations

from detent.core.lint import lint
from detent.errors import MachineError, UsageError
from detent.machines.load import built_in_names, canonical, explored_digests, read_document
from detent.machines.parse import parse
from detent.runner.vocabulary import vocabulary
from detent.store.digest import sha256_of
from detent.store.settings import FILE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from detent.core.machine import Machine
    from detent.store.settings import Settings

_NEARLY = 0.75  # how alike two names are of which one may be meant for the other


def load_checked(name: str, settings: Settings) -> tuple[Machine, bytes]:
    """A machine that parses, lints and explores without a finding; any other does not load."""
    document, where = read_document(name)
    known = str(document.get("name", name))
    limits, options = settings.limits.get(known, {}), settings.options.get(known, ())
    try:
        return _checked(document, where, limits, options), canonical(document)
    except MachineError as error:
        if not limits and not options:
            raise
        _checked(document, where, {}, ())  # a file that is wrong by itself is told as such
        raise UsageError(
            f"[machine.{known}] of {FILE} does not fit the machine: {'; '.join(error.problems)}",
            next_step=f"correct {FILE} and commit it, then run the same command again",
        ) from error


def _checked(document: Mapping[str, Any], where: str, limits: Mapping[str, int], options: Sequence[str]) -> Machine:
    machine = parse(document, vocabulary(), limits=limits, options=options, where=where)
    problems = lint(machine)
    # A machine as it shipped need not be explored again, which can take half a second; any other is.
    if not problems and (limits or options or sha256_of(canonical(document)) not in explored_digests()):
        from detent.core.explore import explore  # only for such a machine

        problems = tuple(f"{one.rule}: {' / '.join(one.story)}" for one in explore(machine).violations)
    if problems:
        raise MachineError(problems, where=where)
    return machine


def misspelt(settings: Settings, used: str = "") -> tuple[str, ...]:
    """What the settings say of machines that nobody has heard of, but whose name is nearly that of one."""
    from difflib import get_close_matches

    known = built_in_names()
    others = sorted({*settings.limits, *settings.options} - {*known, used})
    return tuple(
        f"[machine.{name}] of {FILE} is about no machine that comes with this tool; do you mean {near[0]}?"
        for name in others
        if (near := get_close_matches(name, known, 1, _NEARLY))
    )
