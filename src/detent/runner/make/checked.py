"""Loads machines as tasks may use them: parsed, linted and explored, with a project's own settings."""

from __future__ import annotations

from detent.core.lint import lint
from detent.effects.agents.catalog import DEFAULT
from detent.errors import MachineError, UsageError
from detent.machines.load import built_in_names, canonical, explored_digests, read_document
from detent.machines.parse import parse
from detent.runner.access.access import COMMANDS
from detent.runner.make.vocabulary import vocabulary
from detent.runner.step.registry import meanings
from detent.runner.task.pack import bring_pack
from detent.store.disk.digest import sha256_of
from detent.store.journal.settings import FILE
from detent.words.runner import make as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from detent.core.machine import Machine
    from detent.store.journal.places import Project
    from detent.store.journal.settings import Settings

_NEARLY = 0.75  # how alike two names are of which one may be meant for the other


def load_checked(name: str, settings: Settings) -> tuple[Machine, bytes]:
    """A machine that parses, lints and explores without a finding; any other does not load."""
    document, where = read_document(name)
    known = str(document.get("name", name))
    limits, options = settings.limits.get(known, {}), settings.options.get(known, ())
    try:
        return _checked(name, document, where, limits, options), canonical(document)
    except MachineError as error:
        if not limits and not options:
            raise
        _checked(name, document, where, {}, ())  # a file that is wrong by itself is reported as such
        raise UsageError(say.settings_do_not_fit(known, FILE, error.problems)) from error


def load_for_task(project: Project, name: str, settings: Settings) -> tuple[Machine, bytes, str]:
    """The same for a task that is being made, and the hash of its pack where that comes from the user's settings."""
    pack = bring_pack(project, name, is_new=True)
    return *load_checked(name, settings), "" if pack is None else pack.digest


def _checked(
    name: str, document: Mapping[str, Any], where: str, limits: Mapping[str, int], options: Sequence[str]
) -> Machine:
    machine = parse(document, vocabulary(name), limits=limits, options=options, where=where)
    problems = lint(machine)
    # A machine as it shipped need not be explored again, which can take half a second; any other is.
    if not problems and (limits or options or sha256_of(canonical(document)) not in explored_digests()):
        from detent.core.explore import explore  # only for such a machine
        from detent.machines.findings import findings

        found = findings(machine, explore(machine), meanings())
        problems = tuple(say.finding(violation.rule, violation.story) for violation in found)
    if problems:
        raise MachineError(problems, where=where)
    return machine


def misspelt(settings: Settings, machine: Machine | None = None) -> tuple[str, ...]:
    """What the settings say of unknown machines and roles whose name is nearly that of a known one."""
    known = built_in_names()
    others = {*settings.limits, *settings.options} - {machine.name if machine else ""}
    return (
        *(say.unknown_machine(name, FILE, near) for name, near in _nearly(others, known)),
        *_misspelt_roles(settings, machine),
    )


def _misspelt_roles(settings: Settings, machine: Machine | None) -> Iterator[str]:
    """A rule for a role that does not exist holds for no run: a network that was to be denied would stay open."""
    of_machine = {state.role for state in machine.states.values()} if machine else set()
    chosen = [name.rpartition(".")[2] for name, value in settings.agents.items() if not isinstance(value, dict)]
    places = {
        "[sandbox] network": (settings.sandbox_network, COMMANDS),
        "[agents]": (chosen, DEFAULT),
        "[prompts] add": (settings.prompts, ""),
    }
    if not any(set(names) - {*of_machine, besides} for names, besides in places.values()):
        return
    known = {role for name in built_in_names() for role in read_document(name)[0].get("role", {})}
    for place, (names, besides) in places.items():
        for name, near in _nearly(set(names) - of_machine, {*known, *of_machine, besides} - {""}):
            yield say.unknown_role(place, FILE, name, near)


def _nearly(names: Iterable[str], known: Iterable[str]) -> list[tuple[str, str]]:
    """Names that are none of those known, each with the one it may be meant for."""
    from difflib import get_close_matches

    listed = sorted(known)
    unknown = sorted(set(names) - set(listed))
    return [(name, near[0]) for name in unknown if (near := get_close_matches(name, listed, 1, _NEARLY))]
