"""Makes tasks: a new native folder from the machine's scaffold, or one that another tool left, taken over as it is."""

from __future__ import annotations

import os

from detent.core.decide import enter
from detent.core.explore import explore
from detent.core.lint import lint
from detent.core.record import Record
from detent.effects.git import Git, find_repository
from detent.errors import MachineError, RefusedError, UnreadableError, UsageError
from detent.gates.judge import evidence_hashes
from detent.machines.load import canonical, load, read_document, scaffold
from detent.runner.look import look
from detent.runner.open import Task, find_project, load_task
from detent.runner.settle import catch_up_log, close_locks
from detent.runner.vocabulary import vocabulary
from detent.store.atomic import make_folders, write_atomic
from detent.store.digest import sha256_of
from detent.store.fields import write_fields
from detent.store.lock import Lock
from detent.store.native import Native
from detent.store.places import Project, check_task_id, make_task_folder, read_pointer, write_pointer
from detent.store.settings import FILE, Settings, parse_settings
from detent.store.tasks import TaskStore

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from detent.core.machine import Machine
    from detent.core.values import Snapshot

DEFAULT_MACHINE = "phase"
_LONGEST_SLUG = 40


class Wish(Record):
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


def create(wish: Wish) -> Task:
    """A new task with a fresh native folder."""
    wish = wish.replace(title=wish.title.strip() or os.path.basename(wish.folder.rstrip("/")) or "untitled task")
    project, baseline = _project_for(wish)
    settings = _settings(project, baseline)
    machine, pinned = load_checked(wish.machine or settings.default_machine or DEFAULT_MACHINE, settings)
    snapshot = enter(machine, _mode(machine, wish.mode))
    make_folders(project.tasks_folder())
    with Lock(project.lock_path()):
        task_id = _free_id(project, wish)
        folder = os.path.abspath(wish.folder) if wish.folder else os.path.join(project.home(), task_id, "task")
        _refuse_taken(folder, machine, is_ours=not wish.folder)
        native = Native(machine, folder, project.task(task_id))
        make_folders(folder)
        head = _head(project, baseline, settings, machine, pinned, wish, task_id, folder)
        _write_scaffold(native, wish, snapshot)
        return _begin(project, native, head, snapshot, pinned, "created")


def adopt(wish: Wish) -> Task:
    """Take over a folder made by another tool: its owned fields are read once, its evidence counts as old."""
    folder = os.path.abspath(wish.folder)
    if not os.path.isdir(folder):
        raise UsageError(f"there is no folder {folder}", next_step="detent adopt DIR MACHINE")
    project, baseline = _project_for(wish)
    settings = _settings(project, baseline)
    machine, pinned = load_checked(wish.machine, settings)
    make_folders(project.tasks_folder())
    with Lock(project.lock_path()):
        task_id = _free_id(project, wish.replace(title=wish.title or os.path.basename(folder)))
        _refuse_taken(folder, machine, is_ours=False, adopting=True)
        native = Native(machine, folder, project.task(task_id))
        document = native.read()
        if document.state not in machine.states:
            raise UnreadableError(
                f"{native.file} names the state {document.state!r}, which {machine.name} does not have",
                where=document.path,
                next_step=f"write one of these behind '{native.state_label}:': {', '.join(machine.states)}",
            )
        wish = wish.replace(title=wish.title or document.value(machine.store.get("title", "")) or task_id)
        head = _head(project, baseline, settings, machine, pinned, wish, task_id, folder)
        snapshot = _adopted(machine, document.fields, enter(machine, _mode(machine, wish.mode)), document.state)
        return _begin(project, native, head, snapshot, pinned, "adopted")


def load_checked(name: str, settings: Settings) -> tuple[Machine, bytes]:
    """A machine that parses, lints and explores without a finding; any other does not load."""
    document, where = read_document(name)
    known = str(document.get("name", name))
    machine, pinned = load(
        name, vocabulary(), limits=settings.limits.get(known, {}), options=settings.options.get(known, ())
    )
    problems = lint(machine) or tuple(f"{one.rule}: {' / '.join(one.story)}" for one in explore(machine).violations)
    if problems:
        raise MachineError(problems, where=where)
    if pinned != canonical(document):
        raise MachineError(("the file changed while it was being read",), where=where)
    return machine, pinned


def _project_for(wish: Wish) -> tuple[Project, str]:
    start = os.path.abspath(wish.repo or os.getcwd())
    project = find_project(start)
    repository = find_repository(start)
    if repository is None:
        return project, ""
    if repository.is_bare:
        raise UsageError(
            "a bare repository has no files to work on", where=repository.top, next_step="give a checkout with --repo"
        )
    if repository.head is None:
        raise RefusedError(
            "the repository has no commit yet, so there is nothing to compare work with",
            where=repository.top,
            next_step='git add -A && git commit -m "first commit", then run the same command again',
        )
    return project, repository.head


def _settings(project: Project, baseline: str) -> Settings:
    """The settings as committed, so that an uncommitted edit can't loosen the proof of a task."""
    if baseline:
        git = Git(project.common_dir)
        listed = git.run("ls-tree", "-z", baseline, FILE)
        data = git.run("cat-file", "blob", f"{baseline}:{FILE}") if listed else b""
    else:
        from detent.store.atomic import read_plain

        data = read_plain(os.path.join(project.root, FILE)) or b""
    return parse_settings(data, f"{FILE} of {baseline[:12] or project.root}") if data else Settings()


def _mode(machine: Machine, wanted: str) -> str:
    if wanted and wanted not in machine.modes:
        known = ", ".join(machine.modes) or "none"
        raise UsageError(f"{machine.name} has no mode {wanted!r}", next_step=f"its modes: {known}")
    return wanted


def _free_id(project: Project, wish: Wish) -> str:
    taken = set(project.task_ids())
    if wish.task_id:
        if check_task_id(wish.task_id) in taken:
            raise UsageError(f"there is a task {wish.task_id!r} already", next_step=f"detent status {wish.task_id}")
        return wish.task_id
    words = "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in wish.title.lower())
    slug = "-".join(part for part in words.split("-") if part)[:_LONGEST_SLUG].strip("-") or "task"
    number = 1
    while (name := slug if number == 1 else f"{slug}-{number}") in taken:
        number += 1
    return name


def _refuse_taken(folder: str, machine: Machine, *, is_ours: bool, adopting: bool = False) -> None:
    """A folder in our own home without a journal is what a killed `new` left; other people's files are never touched."""
    pointer = read_pointer(folder) if os.path.isdir(folder) else None
    if pointer and os.path.exists(os.path.join(pointer, "journal.jsonl")):
        raise RefusedError(
            f"this folder already belongs to task {os.path.basename(pointer)}",
            where=folder,
            next_step=f"detent status {folder}",
        )
    names = (
        []
        if adopting or is_ours
        else [name for name in machine.store["files"] if os.path.lexists(os.path.join(folder, name))]
    )
    if names:
        raise RefusedError(
            f"the folder already holds {', '.join(names)}",
            where=folder,
            next_step=f"take it over with: detent adopt {folder} {machine.name}",
        )


def _head(
    project: Project,
    baseline: str,
    settings: Settings,
    machine: Machine,
    pinned: bytes,
    wish: Wish,
    task_id: str,
    folder: str,
) -> dict[str, Any]:
    named = [*settings.commands.items(), *((f"check {number}", line) for number, line in enumerate(wish.checks, 1))]
    return {
        "id": task_id,
        "title": wish.title,
        "machine": machine.name,
        "digest": sha256_of(pinned),
        "dir": folder,
        "root": project.root,
        "common_dir": project.common_dir,
        "tree_path": project.root,
        "baseline": baseline,
        "commands": [list(pair) for pair in named],
        "command_timeout_s": settings.command_timeout_s,
        "workspace": settings.workspace(),
        "limits": dict(settings.limits.get(machine.name, {})),
        "options": list(settings.options.get(machine.name, ())),
        "by": "person",
        "name": wish.by,
        "sandbox": "none",
    }


def _write_scaffold(native: Native, wish: Wish, snapshot: Snapshot) -> None:
    """Files first, journal last: a crash in between leaves a folder without a task, never a task without its folder."""
    store = native.machine.store
    for name in store.get("folders", ()):
        make_folders(native.path(name))
    extras = [name for key, name in store.get("extra", {}).items() if key in wish.extras]
    for name in (*store["files"], *extras):
        text = scaffold(native.machine.name, name).replace("{title}", wish.title)
        if name == native.file:
            values = {**native.wanted_fields(snapshot, ""), **_given(native.machine, wish)}
            text = write_fields(text, native.labels, {label: value for label, value in values.items() if value})
        write_atomic(native.path(name), text.encode(), durable=True)


def _given(machine: Machine, wish: Wish) -> Mapping[str, str]:
    """The words and checks of the command line, in the fields the machine keeps for them."""
    given: dict[str, str] = {}
    if wish.title and (label := machine.store.get("title")):
        given[label] = " ".join(wish.title.split())
    if wish.checks and (label := machine.store.get("checks")):
        given[label] = "\n" + "\n".join(f"- cmd: {line}" for line in wish.checks)
    return given


def _adopted(machine: Machine, fields: Mapping[str, Any], snapshot: Snapshot, state: str) -> Snapshot:
    registers = dict(snapshot.registers)
    for register in machine.registers.values():
        value = fields[register.field].line_value.strip("*_` ").lower() if register.field in fields else ""
        if value and (not register.values or value in register.values):
            registers[register.name] = value
    counters = dict(snapshot.counters)
    for limit in machine.limits.values():
        value = fields[limit.field].line_value if limit.field in fields else ""
        if value.isdigit():
            counters[limit.name] = min(int(value), limit.cap)
    return snapshot.replace(state=state, registers=registers, counters=counters, visits={state: 1})


def _begin(
    project: Project, native: Native, head: dict[str, Any], snapshot: Snapshot, pinned: bytes, kind: str
) -> Task:
    """Everything around the first journal line, which is what makes it a task."""
    places, machine = native.places, native.machine
    make_task_folder(places)
    machine_path = project.machine_path(head["digest"])
    make_folders(os.path.dirname(machine_path))
    if not os.path.exists(machine_path):
        write_atomic(machine_path, pinned, durable=True)
    write_pointer(native.folder, places)
    store = TaskStore(places)
    with Lock(places.lock()):
        document = native.read()
        draft = _draft(project, native, head, snapshot)
        entry = evidence_hashes(look(draft, draft.memory, document, ""))
        is_late = [lock for lock in machine.locks if snapshot.state not in lock.open_in]
        locked = close_locks(draft, snapshot, document, "") if is_late else {}
        memory = store.commit(None, kind, head, snapshot.replace(entry=entry, locked=locked))
        native.project(document, memory)
        catch_up_log(draft, memory)
        store.save_cache(memory)
    return load_task(project, places.id)


def _draft(project: Project, native: Native, head: dict[str, Any], snapshot: Snapshot) -> Task:
    """The task as it will be, to look at its files before its first line is written."""
    from detent.store.tasks import Memory

    memory = Memory(head, snapshot, 0, b"", 0, "")
    return Task(project, native.places, TaskStore(native.places), memory, native.machine, native)
