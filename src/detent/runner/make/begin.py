"""What new and adopted tasks have in common: where they are made, their first journal line and all around it."""

from __future__ import annotations

import os

from detent.core.record import Record
from detent.effects.git.git import find_repository
from detent.effects.git.person_checkout import refuse_sparse
from detent.effects.git.tree.tool_caches import uncounted_names
from detent.effects.workspace.home import TREE
from detent.errors import RefusedError, UsageError
from detent.gates.commands import runs_commands
from detent.gates.judge import evidence_hashes
from detent.runner.access.level import level_of
from detent.runner.access.trust import require_trust
from detent.runner.make.kind import kind_of
from detent.runner.step.changing import changing
from detent.runner.step.locks import close_locks
from detent.runner.step.look import look
from detent.runner.task.open import Task, find_project, load_task
from detent.runner.task.pinned import read_committed
from detent.store.disk.atomic import make_folders, sweep, write_atomic
from detent.store.disk.digest import sha256_of
from detent.store.journal.head import with_log
from detent.store.journal.memory import Memory
from detent.store.journal.places import Project, make_task_folder, write_pointer
from detent.store.journal.settings import FILE, Settings
from detent.store.journal.tasks import TaskStore
from detent.store.journal.user_settings import effective_settings
from detent.store.journal.vouched import print_of
from detent.words.runner import make as say
from detent.words.runner import task as of_task

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeVar

    from detent.core.machine import Machine
    from detent.core.values import Snapshot
    from detent.effects.git.git import Repository
    from detent.runner.task.pinned import Pinned
    from detent.store.journal.head import Head
    from detent.store.journal.native import Native

    B = TypeVar("B", bound=Head)


class NewTask(Record):
    """What a person asked for with `new` or `adopt`."""

    machine: str = ""
    title: str = ""
    task_id: str = ""
    repo: str = ""
    folder: str = ""
    checks: tuple[str, ...] = ()
    mode: str = ""
    by: str = ""
    extras: tuple[str, ...] = ()  # optional files of the scaffold, by name
    agents: tuple[str, ...] = ()  # ROLE=AGENT[:MODEL]
    usd: str = ""
    source: str = ""  # the file with what is to be done, or "-"
    issue: str = ""
    in_place: bool = False  # work in the user's checkout instead of a clone
    kind: str = ""  # of the change; empty: it is guessed
    sealed: tuple[str, ...] = ()  # files that agents must not read, as FILE or FILE:PLACE
    include_dirty: bool = False  # carry what is not committed into the clone


class Site(Record):
    """Where a task is made: its project, the commit it starts from, and the repository, if there is one."""

    project: Project
    baseline: str
    repository: Repository | None


def site_for(new_task: NewTask) -> Site:
    project = find_project(new_task.repo)
    repository = find_repository(project.root)
    if repository is None:
        return Site(project, "", None)
    if repository.is_bare:
        raise UsageError(say.bare_repository(), where=repository.top)
    if repository.head is None:
        raise RefusedError(say.no_commit_yet(), where=repository.top)
    return Site(project, repository.head, repository)


def read_settings(project: Project, baseline: str) -> Settings:
    """The settings as committed, so that an uncommitted edit can't loosen the proof of a task; refused untrusted."""
    data, where = read_committed(project, baseline, FILE), f"{FILE} of {baseline[:12] or project.root}"
    settings = effective_settings(data, where)
    require_trust(project, data, where)
    return settings


def mode_of(machine: Machine, wanted: str) -> str:
    if wanted and wanted not in machine.modes:
        raise UsageError(of_task.no_mode(machine.name, wanted, machine.modes))
    return wanted


def takes_checks(machine: Machine) -> bool:
    """Whether a command that is given to a task is run by a gate, or at least kept in its file."""
    return bool(machine.store.checks) or runs_commands(machine)


def refuse_idle_checks(machine: Machine, checks: Sequence[str]) -> None:
    """A check that no gate would ever run proves nothing, and its author relies on it."""
    if checks and not takes_checks(machine):
        raise UsageError(say.no_gate_runs_commands(machine.name))


def head_of(
    kind: type[B],
    site: Site,
    settings: Settings,
    machine: Machine,
    pinned: bytes,
    new_task: NewTask,
    kept: Pinned,
    pack: str,
) -> B:
    """A task's first line, except values known only once it is made; the request names its id and folder."""
    project, home = site.project, os.path.join(site.project.home(), new_task.task_id)
    in_place = new_task.in_place or not site.baseline
    if in_place and site.repository is not None:
        refuse_sparse(site.repository)
    named = [*settings.commands.items(), *((f"check {number}", line) for number, line in enumerate(new_task.checks, 1))]
    return kind(
        id=new_task.task_id,
        title=new_task.title,
        machine=machine.name,
        digest=sha256_of(pinned),
        dir=new_task.folder,
        root=project.root,
        common_dir=project.common_dir,
        home=home,
        in_place=in_place,
        tree_path=project.root if in_place else os.path.join(home, TREE),
        baseline=site.baseline,
        commands=[list(pair) for pair in named],
        command_timeout_s=settings.command_timeout_s,
        command_limits=dict(settings.command_limits),
        audit=dict(settings.audit),
        workspace=settings.workspace(),
        tool_caches=list(uncounted_names(in_place=in_place)),
        limits=dict(settings.limits.get(machine.name, {})),
        options=list(settings.options.get(machine.name, ())),
        evidence_base=settings.evidence_base,
        land={"how": settings.land_how, "pr": settings.land_pr},
        notes=(),
        by="person",
        name=new_task.by,
        sandbox=level_of(site.project).level,
        request={},
        agents=kept.agents,
        budget=kept.budget,
        notify=kept.notify,
        sandbox_rules=kept.sandbox_rules,
        protect=kept.protect,
        allow_no_new_privs=kept.allow_no_new_privs,
        prompts=kept.prompts,
        pack=pack,
        proof={**settings.proof.to_json(), "runners": dict(settings.runners)},
        change=kind_of(new_task.kind, new_task.title),
    )


def begin(project: Project, native: Native, head: Head, snapshot: Snapshot, pinned: bytes) -> Task:
    """Everything around the first journal line, which is what makes it a task."""
    places, machine = native.places, native.machine
    make_task_folder(places)
    machine_path = project.machine_path(head.digest)
    make_folders(os.path.dirname(machine_path))
    sweep(os.path.dirname(machine_path))  # the project's lock is held
    if not os.path.exists(machine_path):
        write_atomic(machine_path, pinned, durable=True)
    write_pointer(native.folder, places)
    draft = _draft(project, native, head, snapshot)
    with changing(draft, settles=False) as change:
        sweep(native.folder, native.file)  # what a killed `new` left half-written is no evidence
        change.document = document = native.read()
        entry = evidence_hashes(look(draft, draft.memory, document, ""))
        is_late = [lock for lock in machine.locks if snapshot.state not in lock.open_in]
        locked = close_locks(draft, snapshot, document, "") if is_late else {}
        head = with_log(head, print_of(native.log_path()) or {})  # lines in it that another tool wrote
        change.begin(head, snapshot.replace(entry=entry, locked=locked))
    return load_task(project, places.id)


def _draft(project: Project, native: Native, head: Head, snapshot: Snapshot) -> Task:
    """The task as it will be, to look at its files before its first line is written."""
    memory = Memory(head, snapshot, 0, b"", 0, "")
    return Task(project, native.places, TaskStore(native.places), memory, native.machine, native)
