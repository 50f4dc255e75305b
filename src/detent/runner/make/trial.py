"""Tries a project's settings before a task depends on them: its commands, in a disposable checkout of the last commit.

Commands run as those of a task do: in the same sandbox, with the same environment and private temporary folders. The
settings are those on disk, so that they can be tried before they are committed; tasks go by the committed ones.
"""

from __future__ import annotations

import os
import re

from detent.core.record import Record
from detent.effects.git.git import Git
from detent.effects.git.tree.tool_caches import is_cache_folder
from detent.effects.host.last_lines import last_lines
from detent.effects.workspace.checkout import BUILD, Checkout, Running, SetupFailed, run_command, why_cut_short
from detent.effects.workspace.frozen_parts import frozen_parts
from detent.effects.workspace.prepared import prepared_checkout
from detent.runner.access.access import command_running, hold_in, unseen_folders
from detent.runner.access.command_place import overlay_problem, place_of
from detent.runner.make.checked import load_checked
from detent.runner.make.create import DEFAULT_MACHINE
from detent.runner.make.draft import clear, draft_of, frozen_tree
from detent.runner.step.proving.homes import make_home
from detent.runner.step.proving.progress import BEGINS, ENDED, SET_UP, Progress, quiet
from detent.runner.step.proving.wanted import wanted_checkout
from detent.runner.task.committed import head_commit
from detent.runner.task.pack import bring_pack
from detent.runner.task.pinned import pinned_settings, read_committed
from detent.store.disk.atomic import read_plain
from detent.store.journal.places import lies_in
from detent.store.journal.settings import FILE, Settings
from detent.store.journal.user_settings import effective_settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from detent.core.machine import Machine
    from detent.runner.task.open import Task
    from detent.store.journal.places import Project

GREEN, RED, SET_UP_FAILED = "green", "red", "set-up failed"
_MOST_LEFT = 100  # names, of what commands leave


class Found(Record):
    """The settings as they stand on disk, the machine they make the default, and how they relate to the last commit."""

    settings: Settings
    machine: Machine
    is_there: bool
    is_committed: bool
    draft: Task | None  # the task that they would make; None before the first commit


class Tried(Record):
    """How one command came out."""

    name: str
    command: str
    result: str
    why: str
    log: str
    exit: int | None
    seconds: float
    said: str = ""  # the last lines of one that failed
    is_cut: bool = False  # it did not come to its own end


class SetUpSeen(Record):
    """How set-up came out: which one it is, and what is wrong with it."""

    how: str
    why: str
    bytes: int
    frozen: tuple[str, ...]  # copies of the project's own code
    changed: tuple[str, ...]  # tracked files it changed
    no_overlays: str  # why an agent's tree gets a copy of it


class Trial(Record):
    """All commands on one commit; empty `commit` where nothing is committed or there is no git."""

    commit: str
    tried: tuple[Tried, ...]
    missing: tuple[str, ...]  # what `carry` did not find
    level: str  # of the sandbox the commands ran in
    unseen: tuple[str, ...] = ()  # folders on PATH that commands can't see
    withheld: tuple[str, ...] = ()  # variables that commands don't get
    set_up: SetUpSeen | None = None
    left: tuple[str, ...] = ()  # what commands leave in a checkout, and git would count


def check_settings(project: Project) -> Found:
    """Read and check everything in the settings that `new` would check; raises what `new` would raise."""
    head = head_commit(project)
    committed = read_committed(project, head, FILE) if head or not project.common_dir else None
    on_disk = read_plain(os.path.join(project.root, FILE))
    data = committed if on_disk is None else on_disk
    settings = effective_settings(data, os.path.join(project.root, FILE))
    name = settings.default_machine or DEFAULT_MACHINE
    bring_pack(project, name)
    machine, _ = load_checked(name, settings)
    draft = None
    if head or not project.common_dir:
        draft = draft_of(project, head, settings, machine, pinned_settings(project, head, settings, machine))
    return Found(settings, machine, data is not None, data == committed, draft)


def try_commands(task: Task, settings: Settings, progress: Callable[[Progress], None] = quiet) -> Trial:
    """Run every command of the settings once; nothing of it counts as proof, and only its logs stay."""
    tree, logs = frozen_tree(task), os.path.join(task.home, "logs")
    make_home(logs, is_named=False)
    commit, place, running = task.memory.head.baseline, place_of(task), command_running(task)
    level = hold_in(place, (), task.home).level
    unseen = unseen_folders(place, os.environ.get("PATH", os.defpath))
    wanted = wanted_checkout(task, tree)
    progress(Progress(SET_UP, "; ".join(settings.setup)))
    with prepared_checkout(wanted) as checkout:
        try:
            if isinstance(checkout, SetupFailed):
                said = last_lines(checkout.log, os.environ)
                failed = Tried(
                    "set-up", checkout.command, SET_UP_FAILED, checkout.why, checkout.log, checkout.exit, 0.0, said
                )
                return Trial(commit, (failed,), (), level, unseen, running.withheld)
            seen = _set_up_seen(checkout, overlay_problem(task.project)) if settings.setup else None
            tried = _try_all(settings, checkout, running, logs, progress)
            left = _left_behind(checkout)
            return Trial(commit, tried, checkout.missing, level, unseen, running.withheld, seen, left)
        finally:
            clear(task)  # still under the lock


def _try_all(
    settings: Settings, checkout: Checkout, running: Running, logs: str, progress: Callable[[Progress], None]
) -> tuple[Tried, ...]:
    tried: list[Tried] = []
    in_order = sorted(settings.commands.items(), key=lambda command: command[0] != BUILD)
    for number, (name, line) in enumerate(in_order, 1):
        begins = Progress(BEGINS, line, number, len(in_order))
        progress(begins)
        log = _log_path(logs, number, name)
        tried.append(_try(name, line, checkout, running, settings.command_timeout_s, log))
        progress(begins.replace(stage=ENDED, is_ok=tried[-1].result == GREEN, seconds=tried[-1].seconds))
    return tuple(tried)


def _set_up_seen(checkout: Checkout, no_overlays: str) -> SetUpSeen:
    parts = frozen_parts(checkout.made_in or checkout.folder, checkout.left_out, checkout.folder, checkout.tracked)
    return SetUpSeen(checkout.setup, checkout.why, checkout.size, parts, checkout.changed, no_overlays)


def _left_behind(checkout: Checkout) -> tuple[str, ...]:
    """What commands left that would count as work: not ignored by the repository, no set-up's and no tool's cache."""
    git = Git(os.path.join(checkout.folder, ".git"), checkout.folder)
    listed = git.run("ls-files", "-o", "-z", "--directory", "--no-empty-directory")
    names = [os.fsdecode(name).rstrip("/") for name in listed.split(b"\0")[:-1]]
    found = [
        name
        for name in names
        if not any(lies_in(name, path) or lies_in(path, name) for path in checkout.left_out)
        and not is_cache_folder(os.path.join(checkout.folder, name))
    ]
    # Asked about the name itself: a tool's own ignore file inside says nothing about that.
    return tuple(name for name in found[:_MOST_LEFT] if git.finish("check-ignore", "--quiet", "--", name).exit == 1)


def _try(name: str, line: str, checkout: Checkout, running: Running, timeout_s: float, log: str) -> Tried:
    laid = checkout.laid_for_build if name == BUILD else checkout.laid
    finished = run_command(line, checkout.folder, timeout_s, log, running, laid)
    cut = why_cut_short(finished, timeout_s, running.limits)
    why = cut or (f"exit {finished.exit}" if finished.exit else "")
    said = last_lines(log, os.environ, checkout.folder) if why else ""
    return Tried(name, line, RED if why else GREEN, why, log, finished.exit, finished.seconds, said, bool(cut))


def _log_path(logs: str, number: int, name: str) -> str:
    return os.path.join(logs, f"{number}-{re.sub(r'[^A-Za-z0-9_.-]', '-', name)[:40]}.log")
