"""Files into the task folder what a machine says of an ended run: the change as the engine sees it, and reports.

Files that the engine makes from the tree (`diff`, `changed`) replace anything at their place: an agent's own copies
are claims. The next move makes them again when the tree has changed since. A report comes from the run's `out/`, which
is empty of it when a run begins; where a run left none, nothing is filed.

Texts are kept by their hash and written before the line that names them: after a crash in between both are done again.
"""

from __future__ import annotations

import json
import os

from detent.core.record import Record
from detent.errors import DetentError, UnreadableError
from detent.machines.filing import DIFF, OUT, TREE_SOURCES
from detent.runner.step.locks import kept_text
from detent.runner.step.look import current_tree
from detent.store.disk.atomic import LARGEST_TEXT_BYTES, as_json, read_plain
from detent.store.journal.events import FiledChange
from detent.store.journal.locked_files import MOST_FILES, files_under, put_back_files
from detent.words.runner import step as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from detent.runner.step.change import Change
    from detent.runner.task.open import Task

MOST_BYTES = 64_000_000  # of all changed files together


class Filing(Record):
    """What lies at each place, by hash (of a folder: of the list of its files); "" where nothing was to be filed."""

    files: Mapping[str, str] = {}
    refused: tuple[str, ...] = ()  # what was not filed and why, in words


def file_run(task: Task, tree: str) -> Filing:
    """Everything the state of a run that has just ended wants filed; a report that was not written is left out."""
    return _file(task, task.machine.states[task.memory.snapshot.state].files, tree)


def file_tree(change: Change) -> None:
    """File the change of the tree as it is now, where the state wants that and it is not what lies there."""
    task, memory = change.task, change.memory
    state = task.machine.states[memory.snapshot.state]
    places = {place: source for place, source in state.files.items() if source in TREE_SOURCES}
    if not places:
        return
    tree, known = current_tree(task), memory.filing.files
    if memory.filing.tree == tree and all(_lies_there(task, place, known.get(place)) for place in places):
        return
    made = _file(task, places, tree)
    if not known and not made.refused and not any(made.files.values()):
        return  # nothing has changed yet, which needs no line
    change.write(FiledChange(tree=tree, files={**known, **made.files}, refused=list(made.refused)))
    change.notes += made.refused


def forget_reports(task: Task) -> None:
    """Take away what an earlier run left in `out/` under the names of reports: it is not this run's."""
    folder = task.run_folders()["DETENT_OUT"]
    sources = [source for state in task.machine.states.values() for source in state.files.values()]
    for name in {source.removeprefix(OUT) for source in sources if source.startswith(OUT)}:
        put_back_files(folder, name, {}, lambda digest: kept_text(task, digest), task.store.keep)


def _file(task: Task, places: Mapping[str, str], tree: str) -> Filing:
    files: dict[str, str] = {}
    refused: list[str] = []
    for place, source in places.items():
        try:
            found = _report(task, source) if source.startswith(OUT) else _change(task, source, tree, refused)
        except DetentError as error:
            refused.append(say.not_filed(place, error.what))
            found = None
        if found is not None:
            files[place] = _put(task, place, found)
        elif source in TREE_SOURCES:
            _put(task, place, {})  # whatever stands there is not the engine's
            files[place] = ""
    return Filing(files, tuple(refused))


def _report(task: Task, source: str) -> dict[str, bytes] | None:
    folder = task.run_folders()["DETENT_OUT"]
    if os.path.islink(folder):
        raise UnreadableError(say.reports_behind_link(), where=folder)
    data = read_plain(os.path.join(folder, source.removeprefix(OUT)))
    return None if data is None else {"": data}


def _change(task: Task, source: str, tree: str, refused: list[str]) -> dict[str, bytes] | None:
    """The files to lie at a place, by their path from there; None when nothing has changed."""
    from detent.effects.git.change import changed_contents, patch_bytes  # most states file nothing

    private, baseline = task.places.private_git(), task.memory.head.baseline
    if not baseline or not tree:
        raise UnreadableError(say.nothing_to_compare_with() if tree else say.tree_not_seen())
    if source == DIFF:
        patch = patch_bytes(private, baseline, tree)
        if len(patch) > LARGEST_TEXT_BYTES:
            raise UnreadableError(say.patch_too_large(len(patch), LARGEST_TEXT_BYTES))
        return {"": patch} if patch else None
    changed = changed_contents(private, baseline, tree, LARGEST_TEXT_BYTES)
    size, count = sum(map(len, changed.contents.values())), len(changed.contents)
    if size > MOST_BYTES or count > MOST_FILES:
        raise UnreadableError(say.change_too_large(count, size, MOST_FILES, MOST_BYTES))
    refused += [say.not_copied(path, why) for path, why in changed.passed_over.items()]
    return dict(changed.contents) if changed.contents or changed.removed else None


def _put(task: Task, place: str, found: Mapping[str, bytes]) -> str:
    """Make a place hold exactly these bytes; what stood there is kept. Returns the hash the journal vouches for."""
    wanted = {place + path: task.store.keep(data) for path, data in found.items()}
    put_back_files(task.native.folder, place, wanted, lambda digest: kept_text(task, digest), task.store.keep)
    return task.store.keep(as_json(wanted)) if place.endswith("/") else wanted.get(place, "")


def _lies_there(task: Task, place: str, digest: str | None) -> bool:
    if digest is None:
        return False
    wanted = {place: digest} if digest else {}
    if digest and place.endswith("/"):
        wanted = json.loads(kept_text(task, digest))
    return files_under(task.native.folder, place) == wanted
