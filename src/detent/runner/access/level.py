"""The sandbox level of this host: tried from inside once, then remembered for the boot and the version of the tool."""

from __future__ import annotations

import json
import os
from functools import cache

from detent.effects.host.keeper.process import boot_id
from detent.effects.host.sandbox import Probe, best_level, find_bubblewrap
from detent.store.disk.atomic import as_json, read_cache, write_cache
from detent.store.disk.folders import folds_case
from detent.store.journal.places import state_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from detent.store.journal.places import Project

_TRIAL = 2  # what an older Detent tried was less


def level_of(project: Project) -> Probe:
    """The level of this host: tried once for each boot and version of the tool, then remembered."""
    known, program = json.loads(read_cache(project.sandbox()) or b"{}"), find_bubblewrap(os.environ)
    stamp = stamp_of(program)
    if known.get("stamp") == stamp:
        return Probe(known["level"], known["why"], program)
    probe = _tried(tuple(stamp), folding_folders(project))
    if os.path.isdir(project.control):  # `doctor` makes none in a project without tasks
        remember_level(project, probe)
    return probe


@cache
def _tried(_stamp: tuple[object, ...], folders: tuple[str, ...]) -> Probe:
    return best_level(os.environ, folders)


def folding_folders(project: Project) -> tuple[str, ...]:
    """Folders with something to hide or to guard whose file system folds case: there the sandbox must be tried too."""
    state = state_folder()
    while state and not os.path.isdir(state):  # without a home it is a relative path, which ends in no folder
        state = os.path.dirname(state)
    folders = (project.common_dir or project.root, state, os.path.expanduser("~"))
    return tuple(folder for folder in folders if folder and folds_case(folder))


def remember_level(project: Project, probe: Probe) -> None:
    """Until the next boot, or a new version of the tool, this is the level of the project's runs and commands."""
    stamp = stamp_of(find_bubblewrap(os.environ))
    write_cache(project.sandbox(), as_json({"stamp": stamp, "level": probe.level, "why": probe.why}))


def stamp_of(program: str) -> list[object]:
    """This boot, this trial and this very file: another one at the same place is tried again."""
    if not program:
        return [boot_id(), _TRIAL, ""]
    seen = os.stat(program)
    return [boot_id(), _TRIAL, program, seen.st_size, seen.st_ino, seen.st_mtime_ns, seen.st_ctime_ns]
