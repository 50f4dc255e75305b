"""Where commands run, with what is mounted there: package caches, the seat of checkouts, and what was laid into one.

Set-ups of a baseline alone write the project's package cache. All others read it and keep their own, below the home of
their task: by an overlay where one can be mounted.
"""

from __future__ import annotations

import json
import os

from detent.core.record import Record
from detent.effects.host.access import BUBBLEWRAP, NOTHING_LAID, Bind, Laid, Overlay
from detent.effects.host.sandbox import try_overlay
from detent.runner.access.level import level_of, stamp_of
from detent.store.disk.atomic import as_json, make_folders, read_cache, write_cache
from detent.store.journal.places import lies_in
from detent.words.effects import host as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from detent.runner.task.open import Task
    from detent.store.journal.places import Project, TaskPlaces

SETUPS = ".setups"  # below a project's home, beside the tasks
RECORDS = ".records"  # of shared set-ups, below them
PROOF_CACHE, RUN_CACHE = "cache/proof", "cache/run"  # below a task's home


class Place(Record):
    """Where commands are run and what the settings say about it: for a task, or for a trial that belongs to none."""

    project: Project
    root: str  # the user's checkout, which commands don't see
    rules: Mapping[str, Any]  # the `sandbox_rules` of a first journal line
    objects: str  # git objects that the checkout borrows
    cache: str = ""  # where packages that were fetched are kept, besides the project's; empty: only there
    agents: Mapping[str, Any] = {}  # `[agents]` of the settings, whose logins are hidden with those of built-in agents
    sealed: tuple[str, ...] = ()  # where a person keeps the task's sealed checks


def place_of(task: Task, cache: str = PROOF_CACHE) -> Place:
    head = task.memory.head
    agents = head.agents.get("table", {})
    sealed = tuple(dict.fromkeys(file["hides"] for file in head.sealed if file["hides"]))
    cache = os.path.join(task.home, cache)
    return Place(task.project, task.root, head.sandbox_rules, task_objects(task), cache, agents, sealed)


def task_objects(task: Task) -> str:
    """Every file of the task's trees, by hash; nothing in there can be changed from inside."""
    return os.path.join(task.places.private_git(), "objects")


def cache_folder(project: Project) -> str:
    """Where package managers keep what they fetched for set-ups of a baseline, which alone write it."""
    return os.path.join(project.home(), ".cache")


class Cache(Record):
    """A package cache as commands see it: its path, what of it they may write, and what is mounted for it."""

    path: str
    writable: tuple[str, ...] = ()
    laid: Laid = NOTHING_LAID


def cache_of(place: Place) -> Cache:
    """The project's own cache, for set-ups of a baseline. All others read it and write their own, or have their own."""
    shared = cache_folder(place.project)
    if not place.cache:
        return Cache(shared, (shared,))
    if not os.path.isdir(shared) or overlay_problem(place.project):
        return Cache(place.cache, (place.cache,))
    upper, work, merged = (os.path.join(place.cache, part) for part in ("upper", "work", "merged"))
    return Cache(shared, (), Laid("", (Bind(merged, shared, "writable"),), (Overlay(shared, upper, work, merged),)))


def make_cache(cache: Cache) -> None:
    for path in (
        *cache.writable,
        *(path for overlay in cache.laid.overlays for path in (overlay.upper, overlay.work, overlay.merged)),
    ):
        make_folders(path)


def cache_variables(cache: Cache) -> dict[str, str]:
    """For tools that keep their cache elsewhere, or run where XDG_CACHE_HOME is an agent's own."""
    names = {"npm_config_cache": "npm", "UV_CACHE_DIR": "uv", "PIP_CACHE_DIR": "pip"}
    return {name: os.path.join(cache.path, folder) for name, folder in names.items()}


def run_cache(task: Task) -> Cache:
    """What a run's package managers keep; only where the project sets anything up."""
    return cache_of(place_of(task, RUN_CACHE)) if task.memory.head.workspace["setup"] else Cache("")


def joined(laid: Laid, more: Laid) -> Laid:
    return laid.replace(binds=(*laid.binds, *more.binds), overlays=(*laid.overlays, *more.overlays))


def overlay_problem(project: Project) -> str:
    """Why a private view of a folder can't be mounted; empty when it can. Tried once for each boot and version."""
    probe, folder = level_of(project), os.path.join(project.home(), SETUPS)
    if probe.level != BUBBLEWRAP:
        return say.level_without_mounts(probe.level)
    stamp, path = [*stamp_of(probe.program), folder], os.path.join(folder, "overlay.json")
    known = json.loads(read_cache(path) or b"{}")
    if known.get("stamp") != stamp:
        make_folders(folder)
        known = {"stamp": stamp, "why": try_overlay(probe, folder, os.environ)}
        write_cache(path, as_json(known))
    return str(known["why"])


def seat_of(project: Project) -> str:
    """The one path at which checkouts are seen in every sandbox, so that set-up made there fits; empty: no mounts."""
    return os.path.join(project.home(), ".at", "tree") if level_of(project).level == BUBBLEWRAP else ""


def laid_of(task: Task, cwd: str) -> Laid:
    """What was laid into the folder of a run when it was made ready."""
    data = read_cache(task.places.laid(os.path.basename(cwd))) if task.memory.head.workspace["setup"] else b""
    content = json.loads(data or b"{}")
    if not content or content["folder"] != cwd or not seat_of(task.project):
        return NOTHING_LAID
    binds = tuple(Bind(*bind) for bind in content["binds"])
    return Laid(content["seat"], binds, tuple(Overlay(*overlay) for overlay in content["overlays"]))


def is_laid(task: Task, cwd: str) -> bool:
    """Whether all that was laid into a folder is there to be mounted; a power cut or a person may have removed it."""
    if not task.memory.head.workspace["setup"] or not seat_of(task.project):
        return True
    laid = laid_of(task, cwd)
    parts = (part for overlay in laid.overlays for part in (overlay.lower, overlay.upper, overlay.work, overlay.merged))
    sources = (bind.source for bind in laid.binds if bind.source)
    return laid != NOTHING_LAID and all(map(os.path.lexists, (*parts, *sources)))


def mounted_setups(places: TaskPlaces, setups: str) -> set[str]:
    """The shared set-ups that runs of a task have mounted, by name."""
    found = set()
    for name in os.listdir(places.folder):
        if name.startswith("laid-"):
            content = json.loads(read_cache(os.path.join(places.folder, name)) or b"{}")
            sources = [row[0] for row in (*content.get("overlays", ()), *content.get("binds", ()))]
            inside = [os.path.relpath(path, setups) for path in sources if lies_in(path, setups)]
            found |= {path.split(os.sep)[0] for path in inside}
    return found


def remember_laid(task: Task, cwd: str, laid: Laid) -> None:
    content = {
        "folder": cwd,
        "seat": laid.seat,
        "binds": [[bind.source, bind.path, bind.kind] for bind in laid.binds],
        "overlays": [[overlay.lower, overlay.upper, overlay.work, overlay.merged] for overlay in laid.overlays],
    }
    write_cache(task.places.laid(os.path.basename(cwd)), as_json(content))
