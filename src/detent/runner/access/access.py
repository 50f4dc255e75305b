"""What agent runs and proof commands may touch, and the command line that has the kernel see to it.

A run sees the host read-only. Hidden are: keys and tokens of the user, sockets and runtime folders, the control plane,
every other task, and the user's checkout where the task works in a clone. It may write its tree, the task folder, the
folders it is given, and its agent's own state. Commands of a gate may write nothing but their checkout.
"""

from __future__ import annotations

import os
import re

from detent.effects.agents.catalog import find_program
from detent.effects.git.clone import borrowed_objects
from detent.effects.host.access import BUBBLEWRAP, LANDLOCK, NONE, NOTHING_LAID, Access, Laid
from detent.effects.host.sandbox import TCP_DENIED, Probe, engine_files, hold
from detent.errors import RefusedError, ToolError
from detent.runner.access.command_place import (
    RECORDS,
    RUN_CACHE,
    SETUPS,
    Cache,
    Place,
    cache_folder,
    cache_of,
    cache_variables,
    joined,
    laid_of,
    make_cache,
    overlay_problem,
    place_of,
    run_cache,
    seat_of,
)
from detent.runner.access.environment import passed_environment, withheld
from detent.runner.access.level import level_of
from detent.runner.access.logins import agent_folders, laid_for, other_logins, steering
from detent.runner.access.secret_places import secret_places
from detent.runner.task.layout import is_tracked, store_root, writes_of
from detent.runner.task.pinned import sandbox_rules
from detent.store.journal.places import config_folder, lies_in, state_folder
from detent.words.runner import access as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from detent.effects.agents.catalog import Agent
    from detent.effects.host.process_limits import Limits
    from detent.effects.host.sandbox import Held
    from detent.effects.tests.reporting import ReportPlace
    from detent.effects.workspace.checkout import Begins, Running, Setups
    from detent.runner.task.open import Task
    from detent.store.journal.places import Project
    from detent.store.journal.settings import Settings

COMMANDS = "commands"  # stands where a role would, in `[sandbox] network`
_RUNTIME = ("/run", "/var/run")  # sockets of sessions, of ssh and gpg agents, of docker
_SCRATCH = ("/tmp", "/var/tmp", "/dev/shm")  # noqa: S108  # made private, not used by us
_SHOWN = ("/etc/resolv.conf", "/run/current-system", "/run/opengl-driver", "/run/systemd/resolve")
_SOCKET_NAMES = ("SSH_AUTH_SOCK", "SSH_AGENT_PID", "GPG_AGENT_INFO", "DBUS_SESSION_BUS_ADDRESS", "DOCKER_HOST")


def hold_run(task: Task, agent: Agent, argv: Sequence[str], cwd: str, *, separate_session: bool = True) -> Held:
    """The command line of a run, held as well as this host can; refused where the project asks for more."""
    access = run_access(task, agent, task.memory.run.role, cwd)
    return _hold(place_of(task), access, argv, cwd, separate_session=separate_session)


def hold_command(task: Task, argv: Sequence[str], cwd: str) -> Held:
    """The command line of a proof or set-up command in its checkout."""
    return hold_in(place_of(task), argv, cwd)


def hold_in(place: Place, argv: Sequence[str], cwd: str, laid: Laid = NOTHING_LAID) -> Held:
    """The same for any place, with what is laid into the checkout."""
    return _hold(place, command_access(place, cwd, laid), argv, cwd, separate_session=True)


def command_level(task: Task) -> str:
    """The level at which proof commands of a task are held."""
    return hold_command(task, (), task.home).level


def settings_level(project: Project, settings: Settings) -> str:
    """The level at which commands of these settings would run: Landlock can't say everything that they may ask for."""
    level = level_of(project).level
    if level != LANDLOCK:
        return level
    place = Place(project, project.root, sandbox_rules(settings), "", "", settings.agents)
    try:
        return hold_in(place, (), os.path.join(project.home(), "proof")).level
    except RefusedError:  # `require = "kernel"`: they don't run at all
        return level


def run_held(task: Task, agent: Agent, role: str, cwd: str) -> Held:
    """How a run of this role would be held."""
    return _hold(place_of(task), run_access(task, agent, role, cwd), (), cwd, separate_session=True)


def command_running(task: Task, reports: ReportPlace | None = None, *, offline: bool = False) -> Running:
    """How the proof and set-up commands of a task are run; `offline`: without network, whatever the settings say."""
    place = place_of(task)
    if offline:
        place = place.replace(rules={**place.rules, "network": {**place.rules["network"], COMMANDS: "deny"}})
    return running_in(place, task.memory.head.command_limits, reports=reports)


def running_in(
    place: Place, limits: Mapping[str, int], begins: Begins | None = None, reports: ReportPlace | None = None
) -> Running:
    """How proof and set-up commands are run in a place: sandboxed, with the environment they are given, bounded.

    `reports`: where test runners tell what they ran.
    """
    from detent.effects.workspace.checkout import Running, unannounced  # a question for the level runs nothing

    cache = cache_of(place)  # once: what is shared may come while a checkout is made ready

    def wrap(argv: Sequence[str], cwd: str, laid: Laid) -> Sequence[str]:
        make_cache(cache)
        access = command_access(place.replace(cache=""), cwd, laid)
        held = access.replace(writable=(cwd, *cache.writable), laid=joined(laid, cache.laid))
        if reports is not None:
            held = held.replace(writable=(*held.writable, reports.reports), shown=(*held.shown, reports.kit))
        return _hold(place, held, argv, cwd, separate_session=True).argv

    held_back = withheld(os.environ, place.rules["pass"])
    return Running(command_environment(place, cache), wrap, limits_of(limits), held_back, begins or unannounced)


def limits_of(limits: Mapping[str, int]) -> Limits:
    """The `[commands]` limits in what is counted; without a word about memory, most of what this host has."""
    from detent.effects.host.process_limits import Limits, host_memory_bytes

    memory_bytes = limits["memory_mb"] << 20 or host_memory_bytes() * 3 // 4
    return Limits(memory_bytes, limits["processes"])


def command_environment(place: Place, cache: Cache) -> dict[str, str]:
    """The environment of proof and set-up commands; package managers keep what they fetch where they may write."""
    kept = passed_environment(os.environ, place.rules["pass"], with_index=True)
    return {**kept, "XDG_CACHE_HOME": cache.path, **cache_variables(cache)}


def _hold(place: Place, access: Access, argv: Sequence[str], cwd: str, *, separate_session: bool) -> Held:
    rules = place.rules
    probe = level_of(place.project)
    problem = probe.why
    if probe.level != NONE:
        try:
            held = hold(probe, access, argv, cwd=cwd, separate_session=separate_session)
        except ToolError as error:  # Landlock can't say everything
            problem = "; ".join(filter(None, (problem, error.what)))
        else:
            if held.network != TCP_DENIED or rules["require"] != "kernel":
                return held
            problem = "; ".join(filter(None, (problem, say.tcp_alone())))
    if rules["require"] == "kernel":
        raise RefusedError(say.kernel_required(problem))
    return hold(Probe(NONE), access, argv, cwd=cwd)


def run_access(task: Task, agent: Agent, role: str, cwd: str) -> Access:
    head = task.memory.head
    home = os.path.expanduser("~")
    folders = task.run_folders()
    tree_git = os.path.join(task.tree_path, ".git")
    is_in_place = head.in_place
    work, place = _work(task, role, cwd), place_of(task, RUN_CACHE)
    cache = run_cache(task)
    return Access(
        writable=(
            *work,
            *(path for name, path in folders.items() if name != "DETENT_BIN"),
            *agent_folders(agent),
            *cache.writable,
        ),
        hidden=(*_hidden(place, home, with_root=not is_in_place), *other_logins(place.agents, agent)),
        # What a reading role works in borrows the objects of the task's own git folder.
        shown=(*_shown(place, home), folders["DETENT_BIN"], *_program(agent), *_readable_checkout(task, work)),
        # In place the repository's own folder is the user's: hooks and settings run with the user's rights, wherever
        # they lie. So is what the machine keeps of other tasks and runs; the task's own folder lies deeper and stays
        # writable.
        guarded=(tree_git, *_hooks(task), *_shared(task)) if is_in_place else (),
        watched=(
            *(os.path.join(cwd, name) for name in protected_names(cwd, head.protect["deny"])),
            *steering(agent),
        ),
        scratch=_SCRATCH,
        network=head.sandbox_rules["network"].get(role, "allow") == "allow",
        laid=joined(joined(laid_of(task, cwd), cache.laid), laid_for(task, agent, role)),
    )


def _work(task: Task, role: str, cwd: str) -> tuple[str, ...]:
    """What of tree and task folder a run may write; a task folder that is part of the work goes with the tree."""
    store, is_reading = task.machine.store, cwd != task.tree_path
    if (folders := writes_of(store, role)) and not is_reading:
        return tuple(os.path.join(cwd, folder.rstrip("/")) for folder in folders)
    return (cwd,) if is_tracked(store) and is_reading else (cwd, task.native.folder)


def _readable_checkout(task: Task, work: tuple[str, ...]) -> tuple[str, ...]:
    """The checkout of a task whose folder is part of the work, for runs that may not write all of it."""
    return (task.tree_path,) if is_tracked(task.machine.store) and task.tree_path not in work else ()


def _hooks(task: Task) -> tuple[str, ...]:
    """Folders and settings of the work tree that decide which hooks the user's git runs."""
    if not task.project.common_dir:
        return ()
    from detent.effects.git.hooks import hooks_of  # few tasks work in place

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
    return (*secrets, *_RUNTIME, *_sockets(os.environ), *ours, *place.sealed, *root)


def _sockets(environment: Mapping[str, str]) -> tuple[str, ...]:
    """The sockets and runtime folder of the user's session, wherever they lie: read-only does not close a socket."""
    named = [environment.get(name, "") for name in (*_SOCKET_NAMES, "XDG_RUNTIME_DIR")]
    paths = [re.sub(r"^unix:(path=|//)?", "", value).split(",")[0] for value in named]
    return tuple(path for path in paths if os.path.isabs(path))


def _shown(place: Place, home: str) -> tuple[str, ...]:
    """What may be read wherever it lies; of the user's repository the objects, which clone and checkout borrow."""
    borrowed = borrowed_objects(place.project.common_dir) if place.project.common_dir else ()
    return (*_SHOWN, home, *engine_files(), *borrowed, *place.rules["show"], place.objects)


def _program(agent: Agent) -> tuple[str, ...]:
    """Where the agent itself is installed: its link on PATH, and the package behind it."""
    found = find_program(agent, os.environ.get("PATH", os.defpath))
    return tuple(os.path.dirname(path) for path in (found, os.path.realpath(found))) if found else ()


def setups_in(place: Place, limits: Mapping[str, int], begins: Begins | None = None) -> Setups:
    """Where a project's set-ups are, and how those of a baseline are made."""
    from detent.effects.workspace.checkout import Setups  # only what sets up needs it

    folder = os.path.join(place.project.home(), SETUPS)
    shared = running_in(place.replace(cache=""), limits, begins)
    records = os.path.join(folder, RECORDS)
    return Setups(folder, records, seat_of(place.project), shared, overlay_problem(place.project))


def unseen_folders(place: Place, search_path: str) -> tuple[str, ...]:
    """Folders of a search path in which commands find nothing, because the sandbox hides them or has its own there."""
    if level_of(place.project).level == NONE:
        return ()
    folders = [folder for folder in search_path.split(os.pathsep) if os.path.isabs(folder) and os.path.isdir(folder)]
    return _unseen(command_access(place, place.root), place.root, folders)


def unseen_arguments(place: Place, agent: Agent) -> tuple[str, ...]:
    """Files that an agent is started with and none of its runs can open: each run has its own folder there."""
    if level_of(place.project).level != BUBBLEWRAP:
        return ()
    access = command_access(place, place.root)
    files = [word for word in agent.argv[1:] if os.path.isabs(word) and os.path.exists(word)]
    return _unseen(access.replace(shown=(*access.shown, *_program(agent)), hidden=()), "", files)


def refuse_unseen(task: Task, agent: Agent) -> None:
    """A program that its run can't open would count as a crash of the agent."""
    if unseen := unseen_arguments(place_of(task), agent):
        raise ToolError(say.agent_not_seen(agent.name, unseen[0]), where=unseen[0])


def _unseen(access: Access, root: str, paths: Sequence[str]) -> tuple[str, ...]:
    closed = [os.path.realpath(path) for path in (*access.hidden, *access.scratch)]
    opened = [os.path.realpath(path) for path in (*access.shown, *access.writable) if path != root]
    found = []
    for path in paths:
        real = os.path.realpath(path)
        above = max((place for place in (*closed, *opened) if lies_in(real, place)), key=len, default="")
        if above in closed and above not in opened:
            found.append(path)
    return tuple(dict.fromkeys(found))


def protected_names(tree: str, patterns: Sequence[str]) -> tuple[str, ...]:
    """What the patterns name in a tree now, as paths that can be guarded whole; the rest is compared afterwards."""
    from glob import glob

    found: list[str] = []
    for pattern in patterns:
        found += sorted(glob(pattern.removesuffix("/**"), root_dir=tree, include_hidden=True))
    return tuple(dict.fromkeys(name for name in found if not os.path.islink(os.path.join(tree, name))))
