"""Takes the sealed checks of a new task: files of a person that agents must not read, with their places in the tree.

They are read once and kept by their hash in the control folder. What agents could read by another way is refused: a
file inside the repository, also by a link, and one whose bytes the repository holds.
"""

from __future__ import annotations

import hashlib
import os
from collections import Counter

from detent.core.record import Record
from detent.effects.git.git import Git
from detent.effects.host.access import LANDLOCK, NONE
from detent.effects.tests.judge_files import fits
from detent.effects.tests.runners import load_runners
from detent.errors import RefusedError, UnreadableError, UsageError
from detent.runner.access.level import level_of
from detent.store.disk.atomic import read_plain
from detent.store.journal.places import config_folder, lies_in, make_task_folder
from detent.store.journal.tasks import TaskStore
from detent.store.journal.user_settings import sealed_words, user_settings_path
from detent.store.text.sealed import DATA, SCRIPT, TESTS, SealedFile
from detent.words.runner import sealed as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from detent.core.machine import Machine
    from detent.effects.tests.runners import Runner
    from detent.runner.make.begin import Site
    from detent.store.journal.places import Project, TaskPlaces
    from detent.store.journal.settings import Settings

LARGEST_BYTES = 5_000_000
MOST_FILES = 50
_LONGEST_PLACE = 500
_SCRATCH = ("/tmp", "/var/tmp", "/dev/shm")  # noqa: S108  # a sandboxed process has its own, where that can be had


class Sealing(Record):
    """The sealed files with their bytes by hash, and what a person should know about them."""

    files: tuple[SealedFile, ...] = ()
    contents: Mapping[str, bytes] = {}
    notes: tuple[str, ...] = ()


def find_sealed(site: Site, machine: Machine, settings: Settings, words: Sequence[str]) -> Sealing:
    """The files that `--sealed` and the user's own settings name for this project; refused where they can't be hidden
    or would never run."""
    wanted: list[tuple[str, str]] = [(word, say.option()) for word in words]
    wanted += [(word, user_settings_path()) for word in sealed_words(site.project.root)]
    if not wanted:
        return Sealing()
    if not any(gate.check == "proof" for gate in machine.gates.values()):
        problem = say.no_last_gate(machine.name)
        if words:
            raise UsageError(problem, where=say.option())
        return Sealing(notes=(problem,))
    if len(wanted) > MOST_FILES:
        raise UsageError(say.too_many_files(len(wanted), MOST_FILES))
    runners = tuple(load_runners(settings.runners).by_name.values())
    tracked = _tracked(site)
    files: dict[str, SealedFile] = {}
    contents: dict[str, bytes] = {}
    notes: list[str] = []
    for word, where in wanted:
        path, place = _split(word)
        real = _real(path, where, site.project)
        content = _read(real, path, where)
        _refuse_known(site, content, path)
        kind = _kind(place or os.path.basename(real), content, runners, is_placed=bool(place), path=path)
        place = place or _default_place(os.path.basename(real), kind, runners, tracked)
        if place in files:
            raise UsageError(say.place_taken(place), where=path)
        digest = hashlib.sha256(content).hexdigest()
        files[place] = SealedFile(place, kind, digest, real, _to_hide(real, site.project))
        contents[digest] = content
        notes.append(say.laid_at(path, place, kind, replaces=place in tracked))
    if all(file.kind == DATA for file in files.values()):
        raise UsageError(say.nothing_to_run(), where=wanted[0][1])
    found = tuple(files.values())
    return Sealing(found, contents, (*notes, *_not_hidden(site.project, found)))


def keep_sealed(places: TaskPlaces, sealing: Sealing) -> list[dict[str, str]]:
    """Keep the bytes by their hash; what the first line says of the files."""
    if sealing.files:
        make_task_folder(places)
    for content in sealing.contents.values():
        TaskStore(places).keep(content)
    return [dict(vars(file)) for file in sealing.files]


def _split(word: str) -> tuple[str, str]:
    """The file, and the place that is named for it: FILE or FILE:PLACE."""
    path = os.path.expanduser(word)
    if os.path.lexists(path) or ":" not in word:
        return path, ""
    path, _, place = word.rpartition(":")
    return os.path.expanduser(path), _checked(place, word)


def _checked(place: str, word: str) -> str:
    parts = place.split("/")
    is_inside = place and not {"", ".", "..", ".git"} & set(parts) and len(place) <= _LONGEST_PLACE
    if not is_inside or not place.isprintable() or "\\" in place:
        raise UsageError(say.no_place(place, word))
    return place


def _real(path: str, where: str, project: Project) -> str:
    """The file itself; agents read the repository, and every folder that the engine keeps for them."""
    if os.path.isdir(path):
        raise UsageError(say.is_folder(path), where=where)
    if not os.path.exists(path):
        raise UsageError(say.no_file(path), where=where)
    real = os.path.realpath(path)
    named = os.path.join(os.path.realpath(os.path.dirname(os.path.abspath(path))), os.path.basename(path))
    for folder in (project.root, project.common_dir, project.home()):
        top = os.path.realpath(folder) if folder else ""
        if top and (lies_in(real, top) or lies_in(named, top)):
            raise RefusedError(say.inside_repository(path, top), where=path)
    return real


def _read(real: str, path: str, where: str) -> bytes:
    try:
        content = read_plain(real, LARGEST_BYTES)
    except UnreadableError as error:
        raise UsageError(say.unreadable(path, error.what), where=where) from error
    if not content:
        raise UsageError(say.is_empty(path), where=where)
    return content


def _refuse_known(site: Site, content: bytes, path: str) -> None:
    """A file that was ever committed is in every clone, whatever its name there is."""
    if not site.baseline:
        return
    blob = b"blob %d\0" % len(content) + content
    name = hashlib.sha256(blob) if len(site.baseline) == 64 else hashlib.sha1(blob, usedforsecurity=False)
    if Git(site.project.common_dir).finish("cat-file", "-e", name.hexdigest()).exit == 0:
        raise RefusedError(say.repository_holds(path), where=path)


def _kind(place: str, content: bytes, runners: Sequence[Runner], *, is_placed: bool, path: str) -> str:
    if any(fits(place, runner.tests) for runner in runners):
        return TESTS
    if content.startswith(b"#!"):
        return SCRIPT
    if not is_placed:
        raise UsageError(say.neither(path))
    return DATA


def _tracked(site: Site) -> frozenset[str]:
    if not site.baseline:
        return frozenset()
    listed = Git(site.project.common_dir).run("ls-tree", "-r", "-z", "--name-only", "--full-tree", site.baseline)
    return frozenset(os.fsdecode(path) for path in listed.split(b"\0")[:-1])


def _default_place(name: str, kind: str, runners: Sequence[Runner], tracked: frozenset[str]) -> str:
    """Beside most of the tests of its kind; a script, or the first test of its kind, at the top."""
    if kind != TESTS:
        return name
    patterns = [pattern for runner in runners if fits(name, runner.tests) for pattern in runner.tests]
    ending = os.path.splitext(name)[1]
    folders = Counter(os.path.dirname(path) for path in tracked if path.endswith(ending) and fits(path, patterns))
    if not folders:
        return name
    most = max(folders.values())
    folder = min(folder for folder, number in folders.items() if number == most)
    return f"{folder}/{name}" if folder else name


def _to_hide(real: str, project: Project) -> str:
    """What the sandbox hides of the person's disk: the folder of the file, or the file where more lies in there."""
    folder = os.path.dirname(real)
    if lies_in(real, os.path.realpath(config_folder())) or folder in _SCRATCH:
        return ""
    needed = (os.path.expanduser("~"), project.root, project.home(), project.common_dir, os.sep)
    return real if any(lies_in(os.path.realpath(path), folder) for path in needed if path) else folder


def _not_hidden(project: Project, files: Sequence[SealedFile]) -> list[str]:
    """What of the sealed files is not hidden, and from whom."""
    level = level_of(project).level
    if level == NONE:
        return [say.no_sandbox()]
    config = os.path.realpath(config_folder())
    outside = [file.source for file in files if not lies_in(file.source, config)]
    if level == LANDLOCK:
        shared = [path for path in outside if os.path.dirname(path) in _SCRATCH]
        notes = [say.landlock_leaves_open()]
        return [*notes, *([say.readable_here(shared, config)] if shared else [])]
    return [say.readable_elsewhere(outside, config)] if outside else []
