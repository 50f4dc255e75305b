"""Finds the tests that are red on a project's last commit, and writes those that a person accepts into its settings."""

from __future__ import annotations

from detent.core.record import Record
from detent.errors import RefusedError
from detent.runner.make.draft import frozen_tree
from detent.runner.make.reach import reach_commands, red_tests
from detent.runner.make.trial import check_settings
from detent.runner.step.proving.progress import Progress, quiet
from detent.store.disk.atomic import read_plain, write_atomic
from detent.store.text.toml_list import with_list
from detent.words.runner import reach as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from detent.store.journal.places import Project

TABLE, KEY = "proof", "red"


class Red(Record):
    """The list as it is, as it is to be, and the red tests that it does not take: it only shrinks once it is there."""

    commit: str
    listed: tuple[str, ...]
    wanted: tuple[str, ...]
    new: tuple[str, ...]


def find_red(project: Project, progress: Callable[[Progress], None] = quiet) -> Red:
    found = check_settings(project)
    if found.draft is None or not found.draft.memory.head.baseline:
        message = say.without_git() if found.draft is not None else say.nothing_committed()
        raise RefusedError(message, where=project.root)
    frozen_tree(found.draft)
    reached = reach_commands(found.draft, {}, found.settings.proof.minutes, progress)
    listed, red = found.settings.proof.red, red_tests(reached)
    plain = {name.partition("[")[0] for name in red}
    still = tuple(name for name in listed if name in red or name in plain)
    new = tuple(name for command in reached for name in command.unaccepted)
    wanted = still if listed else red
    return Red(found.draft.memory.head.baseline, listed, wanted, new if listed else ())


def write_red(path: str, names: Sequence[str]) -> None:
    """Set the list in the settings file, and no other byte of it."""
    text = (read_plain(path) or b"").decode("utf-8")
    try:
        written = with_list(text, TABLE, KEY, names)
    except ValueError:
        message = say.list_not_written(path, f"[{TABLE}] {KEY} = {list(names)}")
        raise RefusedError(message, where=path) from None
    write_atomic(path, written.encode(), durable=True)
