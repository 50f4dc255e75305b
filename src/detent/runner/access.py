"""What agent runs and proof commands may touch, and the level at which the kernel sees to it.

A run sees the host read-only. Hidden are: keys and tokens of the user, sockets and runtime folders, the control plane,
every other task, and the user's checkout where the task works in a clone. It may write its tree, the task folder, the
folders it is given, and its agent's own state. Commands of a gate may write nothing but their checkout.
"""

from __future__ import annotations

import json
import os
import re
from functools import cache

from detent.core.record import Record
from detent.effects.agents.catalog import find_program
from detent.effects.clone import borrowed_objects
from detent.effects.keeper_process import boot_id
from detent.effects.sandbox import (
    BUBBLEWRAP,
    NONE,
    NOTHING_LAID,
    TCP_DENIED,
    Access,
    Bind,
    Laid,
    Overlay,
    Probe,
    best_level,
    find_bubblewrap,
    hold,
    our_own_files,
    try_overlay,
)
from detent.errors import RefusedError, ToolError
from detent.runner.environment import given_environment, withheld
from detent.runner.layout import is_tracked, store_root, writes_of
from detent.runner.logins import laid_for, other_logins, own_folders, steering
from detent.runner.secret_places import secret_places
from detent.store.atomic import as_json, make_folders, read_cache, write_cache
from detent.store.places import config_folder, lies_in, state_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from detent.effects.agents.catalog import Agent
    from detent.effects.checkout import Running
    from detent.effects.process_limits import Limits
    from detent.effects.sandbox import Held
    from detent.effects.setups import Setups
    from detent.runner.open import Task
    from detent.store.places import Project

SETUPS = ".setups"  # below a project's home, beside the tasks
RECORDS = ".records"  # of shared set-ups, below them
PROOF_CACHE, RUN_CACHE = "cache/proof", "cache/run"  # below a task's home
COMMANDS = "commands"  # stands where a role would, in `[sandbox] network`
_RUNTIME = ("/run", "/var/run")  # sockets of sessions, of ssh and gpg agents, of docker
_SCRATCH = ("/tmp", "/var/tmp", "/dev/shm")  # noqa: S108  # made private, not used by us
_SHOWN = ("/etc/resolv.conf", "/run/current-system", "/run/opengl-driver", "/run/systemd/resolve")
_SOCKET_NAMES = ("SSH_AUTH_SOCK", "SSH_AGENT_PID", "GPG_AGENT_INFO", "DBUS_SESSION_BUS_ADDRESS", "DOCKER_HOST")


def level_of(project: Project) -> Probe:
    """The level of this host: tried once for each boot and version of the tool, then remembered."""
    known, program = json.loads(read_cache(project.sandbox()) or b"{}"), find_bubblewrap(os.environ)
    stamp = _stamp(program)
    if known.get("stamp") == stamp:
        return Probe(known["level"], known["why"], program)
    probe = _tried(tuple(stamp))
    if os.path.isdir(project.control):  # `doctor` makes none in a project without tasks
        remember_level(project, probe)
    return probe


@cache
def _tried(_stamp: tuple[object, ...]) -> Probe:
    return best_level(os.environ)


def remember_level(project: Project, probe: Probe) -> None:
    """Until the next boot, or a new version of the tool, this is the level of the project's runs and commands."""
    stamp = _stamp(find_bubblewrap(os.environ))
    write_cache(project.sandbox(), as_json({"stamp": stamp, "level": probe.level, "why": probe.why}))


def _stamp(program: str) -> list[object]:
    """This boot and this very file: another one at the same place is tried anew."""
    if not program:
        return [boot_id(), "", 0]
    seen = os.stat(program)
    return [boot_id(), program, seen.st_size, seen.st_ino, seen.st_mtime_ns, seen.st_ctime_ns]


class Place(Record):
    """Where commands are run and what the settings say about it: for a task, or for a trial that belongs to none."""

    project: Project
    root: str  # the user's checkout, which commands don't see
    rules: Mapping[str, Any]  # the `sandbox_rules` of a first journal line
    objects: str  # git objects that the checkout borrows
    cache: str = ""  # where packages that were fetched are kept, besides the project's; empty: only there
    agents: Mapping[str, Any] = {}  # `[agents]` of the settings, whose logins are hidden with those of built-in agents


def place_of(task: Task, cache: str = PROOF_CACHE) -> Place:
    head = task.memory.head
    agents = head.get("agents", {}).get("table", {})
    return Place(
        task.project, task.root, head["sandbox_rules"], own_objects(task), os.path.join(task.home, cache), agents
    )


def hold_run(task: Task, agent: Agent, argv: Sequence[str], cwd: str, *, own_session: bool = True) -> Held:
    """The command line of a run, held as well as this host can; refused where the project asks for more."""
    access = run_access(task, agent, task.memory.run["role"], cwd)
    return _hold(place_of(task), access, argv, cwd, own_session=own_session)


def hold_command(task: Task, argv: Sequence[str], cwd: str) -> Held:
    """The command line of a proof or set-up command in its checkout."""
    return hold_in(place_of(task), argv, cwd)


def hold_in(place: Place, argv: Sequence[str], cwd: str, laid: Laid = NOTHING_LAID) -> Held:
    """The same for any place, with what is laid into the checkout."""
    return _hold(place, command_access(place, cwd, laid), argv, cwd, own_session=True)


def command_level(task: Task) -> str:
    """The level at which proof commands of a task are held."""
    return hold_command(task, (), task.home).level


def how_held(held: Held) -> dict[str, str]:
    """What a journal line says of it."""
    return {"sandbox": held.level, "network": held.network}


def run_held(task: Task, agent: Agent, role: str, cwd: str) -> Held:
    """How a run of this role would be held."""
    return _hold(place_of(task), run_access(task, agent, role, cwd), (), cwd, own_session=True)


def command_running(task: Task) -> Running:
    """How the proof and set-up commands of a task are run."""
    return running_in(place_of(task), task.memory.head["command_limits"])


def running_in(place: Place, limits: Mapping[str, int]) -> Running:
    """How proof and set-up commands are run in a place: sandboxed, with the environment they are given, bounded."""
    from detent.effects.checkout import Running  # who only asks for a level runs nothing

    cache = cache_of(place)  # once: what is shared may come while a checkout is made ready

    def wrap(argv: Sequence[str], cwd: str, laid: Laid) -> Sequence[str]:
        make_cache(cache)
        access = command_access(place.replace(cache=""), cwd, laid)
        held = access.replace(writable=(cwd, *cache.writable), laid=joined(laid, cache.laid))
        return _hold(place, held, argv, cwd, own_session=True).argv

    held_back = withheld(os.environ, place.rules["pass"])
    return Running(command_environment(place, cache), wrap, limits_of(limits), held_back)


def limits_of(given: Mapping[str, int]) -> Limits:
    """The `[commands]` limits in what is counted; without a word about memory, most of what this host has."""
    from detent.effects.process_limits import Limits, host_memory_bytes

    memory_bytes = given["memory_mb"] << 20 or host_memory_bytes() * 3 // 4
    return Limits(memory_bytes, given["processes"])


def command_environment(place: Place, cache: Cache) -> dict[str, str]:
    """The environment of proof and set-up commands; package managers keep what they fetch where they may write."""
    kept = given_environment(os.environ, place.rules["pass"], with_index=True)
    return {**kept, "XDG_CACHE_HOME": cache.path, **cache_variables(cache)}


def _hold(place: Place, access: Access, argv: Sequence[str], cwd: str, *, own_session: bool) -> Held:
    rules = place.rules
    probe = level_of(place.project)
    problem = probe.why
    if probe.level != NONE:
        try:
            held = hold(probe, access, argv, cwd=cwd, own_session=own_session)
        except ToolError as error:  # Landlock can't say everything
            problem = f"{problem}; {error.what}".removeprefix("; ")
        else:
            if held.network != TCP_DENIED or rules["require"] != "kernel":
                return held
            problem = f"{problem}; Landlock denies TCP alone, and UDP is network too".removeprefix("; ")
    if rules["require"] == "kernel":
        raise RefusedError(
            f'[sandbox] require = "kernel", and the kernel does not hold this here: {problem}',
            next_step="install bubblewrap, or start a task without that setting",
        )
    return hold(Probe(NONE), access, argv, cwd=cwd)


def run_access(task: Task, agent: Agent, role: str, cwd: str) -> Access:
    head = task.memory.head
    home = os.path.expanduser("~")
    folders = task.run_folders()
    tree_git = os.path.join(task.tree_path, ".git")
    is_in_place = head["in_place"]
    work, place = _work(task, role, cwd), place_of(task, RUN_CACHE)
    cache = run_cache(task)
    return Access(
        writable=(
            *work,
            *(path for name, path in folders.items() if name != "DETENT_BIN"),
            *own_folders(agent),
            *cache.writable,
        ),
        hidden=(*_hidden(place, home, with_root=not is_in_place), *other_logins(place.agents, agent)),
        # What a reading role works in borrows the objects of the task's own git folder.
        shown=(*_shown(place, home), folders["DETENT_BIN"], *_program(agent), *_read(task, work)),
        # In place the repository's own folder is the user's: hooks and settings run with the user's rights, wherever
        # they lie. So is what the machine keeps of other tasks and runs; the task's own folder lies deeper and stays
        # writable.
        guarded=(tree_git, *_hooks(task), *_shared(task)) if is_in_place else (),
        watched=(
            *(os.path.join(cwd, name) for name in protected_names(cwd, head["protect"]["deny"])),
            *steering(agent),
        ),
        scratch=_SCRATCH,
        network=head["sandbox_rules"]["network"].get(role, "allow") == "allow",
        laid=joined(joined(laid_of(task, cwd), cache.laid), laid_for(task, agent, role)),
    )


def _work(task: Task, role: str, cwd: str) -> tuple[str, ...]:
    """What of tree and task folder a run may write; a task folder that is part of the work goes with the tree."""
    store, is_reading = task.machine.store, cwd != task.tree_path
    if (folders := writes_of(store, role)) and not is_reading:
        return tuple(os.path.join(cwd, folder.rstrip("/")) for folder in folders)
    return (cwd,) if is_tracked(store) and is_reading else (cwd, task.native.folder)


def _read(task: Task, work: tuple[str, ...]) -> tuple[str, ...]:
    """The checkout of a task whose folder is part of the work, for those who may not write all of it."""
    return (task.tree_path,) if is_tracked(task.machine.store) and task.tree_path not in work else ()


def _hooks(task: Task) -> tuple[str, ...]:
    """Folders and settings of the work tree that decide which hooks the user's git runs."""
    if not task.project.common_dir:
        return ()
    from detent.effects.hooks import hooks_of  # few tasks work in place

    return hooks_of(task.tree_path).inside


def _shared(task: Task) -> tuple[str, ...]:
    shared = store_root(task.machine.store, task.root)
    return (shared,) if shared and not is_tracked(task.machine.store) else ()


def command_access(place: Place, cwd: str, laid: Laid = NOTHING_LAID) -> Access:
    home = os.path.expanduser("~")
    return Access(
        writable=(cwd, place.cache or cache_folder(place.project)),
        hidden=(*_hidden(place, home, with_root=True), *other_logins(place.agents, None)),
        shown=_shown(place, home),
        scratch=_SCRATCH,
        network=place.rules["network"].get(COMMANDS, "allow") == "allow",
        laid=laid,
    )


def _hidden(place: Place, home: str, *, with_root: bool) -> tuple[str, ...]:
    secrets = secret_places(home, os.environ)
    root = (place.root,) if with_root else ()
    ours = (place.project.control, place.project.home(), state_folder(), config_folder())
    return (*secrets, *_RUNTIME, *_sockets(os.environ), *ours, *root)


def _sockets(environment: Mapping[str, str]) -> tuple[str, ...]:
    """The sockets and runtime folder of the user's session, wherever they lie: read-only does not close a socket."""
    named = [environment.get(name, "") for name in (*_SOCKET_NAMES, "XDG_RUNTIME_DIR")]
    paths = [re.sub(r"^unix:(path=|//)?", "", value).split(",")[0] for value in named]
    return tuple(path for path in paths if os.path.isabs(path))


def _shown(place: Place, home: str) -> tuple[str, ...]:
    """What may be read wherever it lies; of the user's repository the objects, which clone and checkout borrow."""
    borrowed = borrowed_objects(place.project.common_dir) if place.project.common_dir else ()
    return (*_SHOWN, home, *our_own_files(), *borrowed, *place.rules["show"], place.objects)


def own_objects(task: Task) -> str:
    """Every file of the task's trees, by hash; nothing in there can be changed from inside."""
    return os.path.join(task.places.private_git(), "objects")


def _program(agent: Agent) -> tuple[str, ...]:
    """Where the agent itself is installed: its link on PATH, and the package behind it."""
    found = find_program(agent, os.environ.get("PATH", os.defpath))
    return tuple(os.path.dirname(path) for path in (found, os.path.realpath(found))) if found else ()


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
    for path in (*cache.writable, *(path for one in cache.laid.overlays for path in (one.upper, one.work, one.merged))):
        make_folders(path)


def cache_variables(cache: Cache) -> dict[str, str]:
    """For tools that keep their cache elsewhere, or run where XDG_CACHE_HOME is an agent's own."""
    names = {"npm_config_cache": "npm", "UV_CACHE_DIR": "uv", "PIP_CACHE_DIR": "pip"}
    return {name: os.path.join(cache.path, folder) for name, folder in names.items()}


def run_cache(task: Task) -> Cache:
    """What a run's package managers keep; only where the project sets anything up."""
    return cache_of(place_of(task, RUN_CACHE)) if task.memory.head["workspace"]["setup"] else Cache("")


def joined(laid: Laid, more: Laid) -> Laid:
    return laid.replace(binds=(*laid.binds, *more.binds), overlays=(*laid.overlays, *more.overlays))


def overlay_problem(project: Project) -> str:
    """Why a private view of a folder can't be mounted; empty when it can. Tried once for each boot and version."""
    probe, folder = level_of(project), os.path.join(project.home(), SETUPS)
    if probe.level != BUBBLEWRAP:
        return f"level {probe.level} has no mounts"
    stamp, path = [*_stamp(probe.program), folder], os.path.join(folder, "overlay.json")
    known = json.loads(read_cache(path) or b"{}")
    if known.get("stamp") != stamp:
        make_folders(folder)
        known = {"stamp": stamp, "why": try_overlay(probe, folder, os.environ)}
        write_cache(path, as_json(known))
    return str(known["why"])


def seat_of(project: Project) -> str:
    """The one path at which checkouts are seen in every sandbox, so that set-up made there fits; empty: no mounts."""
    return os.path.join(project.home(), ".at", "tree") if level_of(project).level == BUBBLEWRAP else ""


def setups_in(place: Place, limits: Mapping[str, int]) -> Setups:
    """Where a project's set-ups are, and how those of a baseline are made."""
    from detent.effects.setups import Setups  # only what sets up needs it

    folder = os.path.join(place.project.home(), SETUPS)
    shared = running_in(place.replace(cache=""), limits)
    overlays = not overlay_problem(place.project)
    return Setups(folder, os.path.join(folder, RECORDS), seat_of(place.project), shared, overlays)


def laid_of(task: Task, cwd: str) -> Laid:
    """What was laid into the folder of a run when it was made ready."""
    data = read_cache(task.places.laid(os.path.basename(cwd))) if task.memory.head["workspace"]["setup"] else b""
    content = json.loads(data or b"{}")
    if not content or content["folder"] != cwd or not seat_of(task.project):
        return NOTHING_LAID
    binds = tuple(Bind(*one) for one in content["binds"])
    return Laid(content["seat"], binds, tuple(Overlay(*one) for one in content["overlays"]))


def remember_laid(task: Task, cwd: str, laid: Laid) -> None:
    content = {
        "folder": cwd,
        "seat": laid.seat,
        "binds": [[one.source, one.path, one.kind] for one in laid.binds],
        "overlays": [[one.lower, one.upper, one.work, one.merged] for one in laid.overlays],
    }
    write_cache(task.places.laid(os.path.basename(cwd)), as_json(content))


def unseen_folders(place: Place, search_path: str) -> tuple[str, ...]:
    """Folders of a search path in which commands find nothing, because the sandbox hides them or has its own there."""
    access = command_access(place, place.root)
    if level_of(place.project).level == NONE:
        return ()
    closed = [os.path.realpath(path) for path in (*access.hidden, *access.scratch)]
    opened = [os.path.realpath(path) for path in (*access.shown, *access.writable) if path != place.root]
    found = []
    for folder in filter(os.path.isabs, search_path.split(os.pathsep)):
        real = os.path.realpath(folder)
        above = max((path for path in (*closed, *opened) if lies_in(real, path)), key=len, default="")
        if os.path.isdir(real) and above in closed and above not in opened:
            found.append(folder)
    return tuple(dict.fromkeys(found))


def protected_names(tree: str, patterns: Sequence[str]) -> tuple[str, ...]:
    """What the patterns name in a tree now, as paths that can be guarded whole; the rest is compared afterwards."""
    from glob import glob

    found: list[str] = []
    for pattern in patterns:
        found += sorted(glob(pattern.removesuffix("/**"), root_dir=tree, include_hidden=True))
    return tuple(dict.fromkeys(name for name in found if not os.path.islink(os.path.join(tree, name))))
