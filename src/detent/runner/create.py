"""Makes tasks: a new native folder from the machine's scaffold, or one that another tool left, taken over as it is."""

from __future__ import annotations

import os

from detent.core.decide import enter
from detent.core.explore import explore
from detent.core.lint import lint
from detent.core.record import Record
from detent.effects.git import Git, find_repository
from detent.errors import MachineError, RefusedError, StorageError, UnreadableError, UsageError
from detent.gates.judge import evidence_hashes
from detent.machines.load import canonical, load, read_document, scaffold
from detent.runner.look import look
from detent.runner.open import Task, current_folder, find_project, load_task
from detent.runner.pinned import pinned_settings, read_committed
from detent.runner.request import FILE as REQUEST
from detent.runner.request import find_request, keep_request
from detent.runner.settle import close_locks, unlogged
from detent.runner.vocabulary import vocabulary
from detent.store.atomic import make_folders, read_plain, sweep, write_atomic
from detent.store.digest import sha256_of
from detent.store.fields import write_fields
from detent.store.lock import Lock
from detent.store.native import Native
from detent.store.places import Project, TaskPlaces, check_task_id, make_task_folder, read_pointer, write_pointer
from detent.store.settings import FILE, Settings, parse_settings
from detent.store.tasks import TaskStore

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from detent.core.machine import Machine
    from detent.core.values import Snapshot
    from detent.store.native import Document

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
    agents: tuple[str, ...] = ()  # ROLE=AGENT[:MODEL]
    usd: str = ""
    source: str = ""  # the file with what is to be done, or "-"
    issue: str = ""


def create(wish: Wish) -> Task:
    """A new task with a fresh native folder."""
    project, baseline = _project_for(wish)
    settings = read_settings(project, baseline)
    request = find_request(project, settings, wish.source, wish.issue)
    words = wish.title if request is None or wish.title.strip() else request.title
    # One line: the title goes into headings and lists, where a second line would be read as something else.
    title = " ".join(words.split()) or os.path.basename(wish.folder.rstrip("/")) or "untitled task"
    wish = wish.replace(title=title)
    machine, pinned = load_checked(wish.machine or settings.default_machine or DEFAULT_MACHINE, settings)
    kept = pinned_settings(project, baseline, settings, machine, wish.agents, wish.usd)
    snapshot = enter(machine, _mode(machine, wish.mode))
    make_folders(project.tasks_folder())
    with Lock(project.lock_path()):
        task_id = _free_id(project, wish)
        folder = os.path.realpath(wish.folder or os.path.join(project.home(), task_id, "task"))
        native = Native(machine, folder, project.task(task_id))
        _refuse_place(folder, project, baseline)
        texts = _scaffold_texts(native, wish, snapshot)
        if request is not None:
            texts.setdefault(REQUEST, request.text.encode())
        _refuse_taken(folder, machine, texts if wish.folder else {})
        if wish.folder:
            _refuse_second(folder, project)
        make_home(folder, is_given=bool(wish.folder))
        head = _head(project, baseline, settings, machine, pinned, wish, task_id, folder) | kept
        if request is not None:
            head["request"] = keep_request(native.places, request)
        _write_scaffold(native, texts)
        return _begin(project, native, head, snapshot, pinned, "created")


def adopt(wish: Wish) -> Task:
    """Take over a folder made by another tool: its owned fields are read once, its evidence counts as old."""
    folder = os.path.realpath(wish.folder)
    if not os.path.isdir(folder):
        raise UsageError(f"there is no folder {folder}", next_step="detent adopt DIR MACHINE")
    project, baseline = _project_for(wish)
    settings = read_settings(project, baseline)
    machine, pinned = load_checked(wish.machine, settings)
    kept = pinned_settings(project, baseline, settings, machine)
    make_folders(project.tasks_folder())
    with Lock(project.lock_path()):
        task_id = _free_id(project, wish.replace(title=wish.title or os.path.basename(folder)))
        _refuse_place(folder, project, baseline)
        _refuse_taken(folder, machine, {})
        _refuse_second(folder, project)
        native = Native(machine, folder, project.task(task_id))
        document = _read_foreign(native)
        if document.state not in machine.states:
            raise UnreadableError(
                f"{native.file} names the state {document.state!r}, which {machine.name} does not have",
                where=document.path,
                next_step=f"write one of these behind '{native.state_label}:': {', '.join(machine.states)}",
            )
        if machine.states[document.state].is_end:
            raise RefusedError(
                f"{native.file} names {document.state}, an end: nobody has proven here how it was reached",
                where=document.path,
                next_step=f"write the state it is to go on from behind '{native.state_label}:'",
            )
        wish = wish.replace(title=wish.title or document.value(machine.store.get("title", "")) or task_id)
        head = _head(project, baseline, settings, machine, pinned, wish, task_id, folder) | kept
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
    start = os.path.abspath(wish.repo or current_folder())
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


def read_settings(project: Project, baseline: str) -> Settings:
    """The settings as committed, so that an uncommitted edit can't loosen the proof of a task."""
    data = read_committed(project, baseline, FILE)
    return parse_settings(data, f"{FILE} of {baseline[:12] or project.root}") if data else Settings()


def _mode(machine: Machine, wanted: str) -> str:
    if wanted and wanted not in machine.modes:
        known = ", ".join(machine.modes) or "none"
        raise UsageError(f"{machine.name} has no mode {wanted!r}", next_step=f"its modes: {known}")
    return wanted


def _free_id(project: Project, wish: Wish) -> str:
    # A lost journal does not free its id: the files of that task are still there.
    taken = {*project.task_ids(), *_lost_ids(project)}
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


def _lost_ids(project: Project) -> tuple[str, ...]:
    folder = project.tasks_folder()
    return tuple(name for name in os.listdir(folder) if os.path.exists(project.task(name).snapshot()))


def _read_foreign(native: Native) -> Document:
    try:
        return native.read()
    except UnreadableError as error:
        error.next_step = f"give a folder with a readable {native.file}, or make a new task: detent new --dir DIR"
        raise


def _refuse_place(folder: str, project: Project, baseline: str) -> None:
    """A task folder is left out of the tree, so it may hold nothing of it, nor lie where git or detent keep theirs."""
    root = os.path.realpath(project.root)
    why = ""
    if _is_in(root, folder):
        why = f"the task folder would hold the whole of {project.root}"
    elif any(_is_in(folder, os.path.realpath(place)) for place in (project.common_dir, project.control) if place):
        why = "the task folder would lie inside git's own folder"
    elif baseline and _is_in(folder, root):
        inside = os.path.relpath(folder, root)
        if Git(project.common_dir).run("ls-tree", "-z", "--name-only", f"{baseline}", "--", f"{inside}/"):
            why = "the folder holds files of the repository, which would no longer be proven"
    if why:
        raise RefusedError(why, where=folder, next_step="give a folder of its own with --dir, or leave --dir out")


def _is_in(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


def _refuse_second(folder: str, project: Project) -> None:
    """No two tasks of a project share a folder, whatever has become of the pointer in it."""
    for task_id in project.task_ids():
        try:
            taken = os.path.realpath(str(TaskStore(project.task(task_id)).load().head["dir"])) == folder
        except UnreadableError:
            continue  # it says nothing of its folder any more; `doctor` shows it
        if taken:
            raise RefusedError(
                f"this folder already belongs to task {task_id}", where=folder, next_step=f"detent status {task_id}"
            )


def _belongs_to(folder: str, control: str) -> bool:
    """Whether a task's journal names this folder; in a copy of a task folder the pointer means nothing."""
    store = TaskStore(TaskPlaces(os.path.basename(control), control))
    try:
        return os.path.realpath(str(store.load().head["dir"])) == os.path.realpath(folder)
    except UnreadableError:
        # Without a journal it is what a killed `new` left, or its repository is gone; a damaged one still counts.
        return any(os.path.exists(path) for path in (store.places.journal(), store.places.snapshot()))


def make_home(folder: str, *, is_given: bool) -> None:
    """Make a folder below the task home or one that was asked for; when that fails, say which setting to change."""
    try:
        make_folders(folder)
    except (StorageError, UnreadableError) as error:
        error.next_step = (
            "give another folder with --dir"
            if is_given
            else "set XDG_STATE_HOME to a folder you can write to, then run the same command again"
        )
        raise


def _refuse_taken(folder: str, machine: Machine, texts: Mapping[str, bytes]) -> None:
    """A file that holds just what we would write is what a killed `new` left; somebody else's is never touched."""
    pointer = read_pointer(folder) if os.path.isdir(folder) else None
    if pointer and _belongs_to(folder, pointer):
        raise RefusedError(
            f"this folder already belongs to task {os.path.basename(pointer)}",
            where=folder,
            next_step=f"detent status {folder}",
        )
    names = [name for name, text in texts.items() if _holds_else(os.path.join(folder, name), text)]
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
        "evidence_base": settings.evidence_base,
        "by": "person",
        "name": wish.by,
        "sandbox": "none",
        "request": {},
    }


def _holds_else(path: str, text: bytes) -> bool:
    try:
        return os.path.lexists(path) and read_plain(path) != text
    except UnreadableError:
        return True


def _scaffold_texts(native: Native, wish: Wish, snapshot: Snapshot) -> dict[str, bytes]:
    """The first content of every file of a new task, by name."""
    store = native.machine.store
    extras = [name for key, name in store.get("extra", {}).items() if key in wish.extras]
    texts = {}
    for name in (*store["files"], *extras):
        text = scaffold(native.machine.name, name).replace("{title}", wish.title)
        if name == native.file:
            values = {**native.wanted_fields(snapshot, ""), **_given(native.machine, wish)}
            text = write_fields(text, native.labels, {label: value for label, value in values.items() if value})
        texts[name] = text.encode()
    return texts


def _write_scaffold(native: Native, texts: Mapping[str, bytes]) -> None:
    """Files first, journal last: a crash in between leaves a folder without a task, never a task without its folder."""
    for name in native.machine.store.get("folders", ()):
        make_folders(native.path(name))
    for name, text in texts.items():
        write_atomic(native.path(name), text, durable=True)


def _given(machine: Machine, wish: Wish) -> Mapping[str, str]:
    """The words and checks of the command line, in the fields the machine keeps for them."""
    given: dict[str, str] = {}
    if wish.title and (label := machine.store.get("title")):
        given[label] = " ".join(wish.title.split())
    if wish.checks and (label := machine.store.get("checks")):
        lines = "\n".join(_plan_line(line) for line in wish.checks)
        given[label] = lines.removeprefix("- ") if len(wish.checks) == 1 else f"\n{lines}"
    return given


def _plan_line(command: str) -> str:
    """A command as a validation plan shows it; one of several lines needs a fence to stay one command."""
    return f"```\n{command}\n```" if "\n" in command.strip() else f"- cmd: {command.strip()}"


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
    sweep(os.path.dirname(machine_path))  # the project's lock is held
    if not os.path.exists(machine_path):
        write_atomic(machine_path, pinned, durable=True)
    write_pointer(native.folder, places)
    store = TaskStore(places)
    with Lock(places.lock()):
        sweep(native.folder)  # what a killed `new` left half-written is nobody's evidence
        document = native.read()
        draft = _draft(project, native, head, snapshot)
        entry = evidence_hashes(look(draft, draft.memory, document, ""))
        is_late = [lock for lock in machine.locks if snapshot.state not in lock.open_in]
        locked = close_locks(draft, snapshot, document, "") if is_late else {}
        memory = store.commit(None, kind, head, snapshot.replace(entry=entry, locked=locked))
        native.project(document, memory, {}, unlogged(draft, memory))
        store.save_cache(memory)
    return load_task(project, places.id)


def _draft(project: Project, native: Native, head: dict[str, Any], snapshot: Snapshot) -> Task:
    """The task as it will be, to look at its files before its first line is written."""
    from detent.store.tasks import Memory

    memory = Memory(head, snapshot, 0, b"", 0, "")
    return Task(project, native.places, TaskStore(native.places), memory, native.machine, native)
