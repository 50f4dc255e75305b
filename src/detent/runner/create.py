"""Makes tasks: a new native folder from the machine's scaffold, or one that another tool left, taken over as it is."""

from __future__ import annotations

import os

from detent.core.decide import enter
from detent.core.lint import lint
from detent.core.record import Record
from detent.effects.git import find_repository
from detent.effects.home import TREE, is_born
from detent.errors import MachineError, RefusedError, UnreadableError, UsageError
from detent.gates.judge import evidence_hashes
from detent.machines.load import built_in_names, canonical, explored_digests, read_document, scaffold
from detent.machines.parse import parse
from detent.runner.access import level_of
from detent.runner.homes import LOCK_WAIT_S, begin_home, make_home
from detent.runner.layout import active_problem, choose_active, exclude_root, is_tracked, native_folder, store_root
from detent.runner.locks import close_locks
from detent.runner.look import look
from detent.runner.open import Task, find_project, load_task
from detent.runner.pinned import pinned_settings, read_committed
from detent.runner.request import FILE as REQUEST
from detent.runner.request import find_request, keep_request
from detent.runner.settle import unlogged
from detent.runner.title import LONGEST_TITLE, one_line
from detent.runner.vacancy import free_id, refuse_place, refuse_second, refuse_taken
from detent.runner.vocabulary import vocabulary
from detent.store.atomic import make_folders, sweep, write_atomic
from detent.store.digest import sha256_of
from detent.store.lock import Lock
from detent.store.native import Native
from detent.store.places import Project, branch_of, make_task_folder, write_pointer
from detent.store.settings import FILE, Settings, parse_settings
from detent.store.shown import ROUNDS, state_label
from detent.store.tasks import TaskStore

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from detent.core.machine import Machine
    from detent.core.values import Snapshot
    from detent.effects.git import Repository
    from detent.store.native import Document

DEFAULT_MACHINE = "phase"
_MOST_ROUNDS = 1_000_000  # that a folder from elsewhere may claim
_NEARLY = 0.75  # how alike two names are of which one may be meant for the other


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
    in_place: bool = False  # work in the user's checkout instead of a clone
    include_dirty: bool = False  # carry what is not committed into the clone


class _Site(Record):
    """Where a task is made: its project, the commit it starts from, and the repository, if there is one."""

    project: Project
    baseline: str
    repository: Repository | None


def create(wish: Wish) -> Task:
    """A new task with a fresh native folder."""
    site = _site_for(wish)
    project, baseline = site.project, site.baseline
    settings = read_settings(project, baseline)
    request = find_request(project, settings, wish.source, wish.issue)
    # Of a text that is kept whole the first words are enough.
    words = one_line(wish.title) or (" ".join(request.title.split())[:LONGEST_TITLE].rstrip() if request else "")
    wish = wish.replace(title=words or os.path.basename(wish.folder.rstrip("/")) or "untitled task")
    machine, pinned = load_checked(wish.machine or settings.default_machine or DEFAULT_MACHINE, settings)
    wish = wish.replace(in_place=wish.in_place or machine.store.get("in_place", False))
    kept = pinned_settings(project, baseline, settings, machine, wish.agents, wish.usd)
    snapshot = enter(machine, _mode(machine, wish.mode))
    make_folders(project.tasks_folder())
    with Lock(project.lock_path(), LOCK_WAIT_S):
        task_id = free_id(project, wish.task_id, wish.title)
        folder = os.path.realpath(wish.folder or native_folder(machine.store, project, task_id))
        native = Native(machine, folder, project.task(task_id))
        is_whole = is_tracked(machine.store)  # what the repository holds there already stays proven
        place = folder if wish.folder else store_root(machine.store, project.root) or folder
        refuse_place(place, project, "" if is_whole else baseline)
        texts = _scaffold_texts(
            native, wish, snapshot, _given(machine, wish, words, _branch(site, wish, machine, task_id))
        )
        if request is not None:
            texts.setdefault(REQUEST, request.text.encode())
        refuse_taken(folder, machine, texts if wish.folder or is_whole else {})
        if wish.folder:
            refuse_second(folder, project)
        head = _head(site, settings, machine, pinned, wish, task_id, folder) | kept
        told: tuple[str, ...] = ()
        if site.repository is not None and not head["in_place"]:
            told = tuple(begin_home(project, site.repository, head, machine, include_dirty=wish.include_dirty))
        make_home(folder, is_given=bool(wish.folder))
        if request is not None:
            head["request"] = keep_request(native.places, request)
        shown, obstacle = exclude_root(machine.store, project), active_problem(machine.store, project, task_id)
        head["notes"] = tuple(note for note in (*misspelt(settings, machine.name), *told, shown, obstacle) if note)
        _write_scaffold(native, texts)
        task = _begin(project, native, head, snapshot, pinned, "created")
        is_born(head["home"])
        if not obstacle:
            choose_active(task)
        return task


def adopt(wish: Wish) -> Task:
    """Take over a folder made by another tool: its owned fields are read once, its evidence counts as old."""
    folder = os.path.realpath(wish.folder)
    if not os.path.isdir(folder):
        raise UsageError(f"there is no folder {folder}", next_step="detent adopt DIR MACHINE")
    site = _site_for(wish.replace(in_place=True))  # such a folder belongs to somebody's checkout already
    project, baseline = site.project, site.baseline
    settings = read_settings(project, baseline)
    machine, pinned = load_checked(wish.machine, settings)
    kept = pinned_settings(project, baseline, settings, machine)
    make_folders(project.tasks_folder())
    with Lock(project.lock_path(), LOCK_WAIT_S):
        task_id = free_id(project, wish.task_id, wish.title or os.path.basename(folder))
        refuse_place(folder, project, "" if is_tracked(machine.store) else baseline)
        refuse_taken(folder, machine, {})
        refuse_second(folder, project)
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
        _refuse_counts(machine, document)
        named = " ".join(document.value(machine.store.get("title", "")).split())
        wish = wish.replace(title=wish.title or named or task_id)
        head = _head(site, settings, machine, pinned, wish.replace(in_place=True), task_id, folder) | kept
        if is_tracked(machine.store) and (told := exclude_root(machine.store, project)):
            head["notes"] = (*head["notes"], told)
        snapshot = _adopted(machine, document.fields, enter(machine, _mode(machine, wish.mode)), document.state)
        return _begin(project, native, head, snapshot, pinned, "adopted")


def load_checked(name: str, settings: Settings) -> tuple[Machine, bytes]:
    """A machine that parses, lints and explores without a finding; any other does not load."""
    document, where = read_document(name)
    known = str(document.get("name", name))
    limits, options = settings.limits.get(known, {}), settings.options.get(known, ())
    try:
        return _checked(document, where, limits, options), canonical(document)
    except MachineError as error:
        if not limits and not options:
            raise
        _checked(document, where, {}, ())  # a file that is wrong by itself is told as such
        raise UsageError(
            f"[machine.{known}] of {FILE} does not fit the machine: {'; '.join(error.problems)}",
            next_step=f"correct {FILE} and commit it, then run the same command again",
        ) from error


def misspelt(settings: Settings, used: str = "") -> tuple[str, ...]:
    """What the settings say of machines that nobody has heard of, but whose name is nearly that of one."""
    from difflib import get_close_matches

    known = built_in_names()
    others = sorted({*settings.limits, *settings.options} - {*known, used})
    return tuple(
        f"[machine.{name}] of {FILE} is about no machine that comes with this tool; do you mean {near[0]}?"
        for name in others
        if (near := get_close_matches(name, known, 1, _NEARLY))
    )


def _checked(document: Mapping[str, Any], where: str, limits: Mapping[str, int], options: Sequence[str]) -> Machine:
    machine = parse(document, vocabulary(), limits=limits, options=options, where=where)
    problems = lint(machine)
    # A machine as it shipped need not be explored again, which can take half a second; any other is.
    if not problems and (limits or options or sha256_of(canonical(document)) not in explored_digests()):
        from detent.core.explore import explore  # only for such a machine

        problems = tuple(f"{one.rule}: {' / '.join(one.story)}" for one in explore(machine).violations)
    if problems:
        raise MachineError(problems, where=where)
    return machine


def _site_for(wish: Wish) -> _Site:
    project = find_project(wish.repo)
    repository = find_repository(project.root)
    if repository is None:
        return _Site(project, "", None)
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
    return _Site(project, repository.head, repository)


def read_settings(project: Project, baseline: str) -> Settings:
    """The settings as committed, so that an uncommitted edit can't loosen the proof of a task."""
    data = read_committed(project, baseline, FILE)
    return parse_settings(data, f"{FILE} of {baseline[:12] or project.root}") if data else Settings()


def _mode(machine: Machine, wanted: str) -> str:
    if wanted and wanted not in machine.modes:
        known = ", ".join(machine.modes) or "none"
        raise UsageError(f"{machine.name} has no mode {wanted!r}", next_step=f"its modes: {known}")
    return wanted


def _read_foreign(native: Native) -> Document:
    try:
        return native.read()
    except UnreadableError as error:
        error.next_step = f"give a folder with a readable {native.file}, or make a new task: detent new --dir DIR"
        raise


def _head(
    site: _Site,
    settings: Settings,
    machine: Machine,
    pinned: bytes,
    wish: Wish,
    task_id: str,
    folder: str,
) -> dict[str, Any]:
    project, home = site.project, os.path.join(site.project.home(), task_id)
    in_place = wish.in_place or not site.baseline
    named = [*settings.commands.items(), *((f"check {number}", line) for number, line in enumerate(wish.checks, 1))]
    return {
        "id": task_id,
        "title": wish.title,
        "machine": machine.name,
        "digest": sha256_of(pinned),
        "dir": folder,
        "root": project.root,
        "common_dir": project.common_dir,
        "home": home,
        "in_place": in_place,
        "tree_path": project.root if in_place else os.path.join(home, TREE),
        "baseline": site.baseline,
        "commands": [list(pair) for pair in named],
        "command_timeout_s": settings.command_timeout_s,
        "command_limits": dict(settings.command_limits),
        "audit": dict(settings.audit),
        "workspace": settings.workspace(),
        "limits": dict(settings.limits.get(machine.name, {})),
        "options": list(settings.options.get(machine.name, ())),
        "evidence_base": settings.evidence_base,
        "land": {"how": settings.land_how, "pr": settings.land_pr},
        "notes": (),
        "by": "person",
        "name": wish.by,
        "sandbox": level_of(site.project).level,
        "request": {},
    }


def _scaffold_texts(native: Native, wish: Wish, snapshot: Snapshot, given: Mapping[str, str]) -> dict[str, bytes]:
    """The first content of every file of a new task, by name."""
    store = native.machine.store
    extras = [name for key, name in store.get("extra", {}).items() if key in wish.extras]
    texts = {}
    for name in (*store["files"], *extras):
        text = scaffold(native.machine.name, name).replace("{title}", wish.title)
        if name == native.file:
            values = {**native.wanted_fields(snapshot, ""), **given}
            text = native.codec.write(text, {label: value for label, value in values.items() if value})
        texts[name] = text.encode()
    return texts


def _write_scaffold(native: Native, texts: Mapping[str, bytes]) -> None:
    """Files first, journal last: a crash in between leaves a folder without a task, never a task without its folder."""
    for name in native.machine.store.get("folders", ()):
        make_folders(native.path(name))
    for name, text in texts.items():
        write_atomic(native.path(name), text, durable=True)


def _branch(site: _Site, wish: Wish, machine: Machine, task_id: str) -> str:
    """The branch the work is done on; none without git, and none where HEAD names no branch."""
    if site.repository is None:
        return ""
    return site.repository.branch or "" if wish.in_place else branch_of({"machine": machine.name, "id": task_id})


def _given(machine: Machine, wish: Wish, words: str, branch: str) -> Mapping[str, str]:
    """The words and checks of the command line, in the fields the machine keeps for them."""
    given: dict[str, str] = {}
    if label := machine.store.get("title"):
        given[label] = words
    if label := machine.store.get("branch"):
        given[label] = branch
    if wish.checks and (label := machine.store.get("checks")):
        lines = "\n".join(plan_line(line) for line in wish.checks)
        given[label] = lines.removeprefix("- ") if len(wish.checks) == 1 else f"\n{lines}"
    return given


def plan_line(command: str) -> str:
    """A command as a validation plan shows it; one of several lines needs a fence to stay one command."""
    return f"```\n{command}\n```" if "\n" in command.strip() else f"- cmd: {command.strip()}"


def _adopted(machine: Machine, fields: Mapping[str, Any], snapshot: Snapshot, state: str) -> Snapshot:
    """What the file says of registers and counters, and what the machine takes for granted in this state."""
    registers = {**snapshot.registers, **machine.store.get("adopted", {}).get(state, {})}
    for register in machine.registers.values():
        value = fields[register.field].line_value.strip("*_` ").lower() if register.field in fields else ""
        known = {name.lower(): name for name in register.values}
        if value and (not known or value in known):
            registers[register.name] = known.get(value, value)
    counters = dict(snapshot.counters)
    for limit in machine.limits.values():
        value = fields[limit.field].line_value if limit.field in fields else ""
        if value.isdigit():
            counters[limit.name] = min(max(int(value) - limit.first, 0), limit.cap)
    rounds = {name: _round(fields, state_label(machine, ROUNDS, name)) for name in machine.states}
    visits = {name: count for name, count in {state: 1, **rounds}.items() if count}
    return snapshot.replace(state=state, registers=registers, counters=counters, visits={state: 1, **visits})


def _round(fields: Mapping[str, Any], label: str) -> int:
    value = fields[label].line_value if label in fields else ""
    return min(int(value), _MOST_ROUNDS) if value.isdecimal() else 0


def _refuse_counts(machine: Machine, document: Document) -> None:
    """What a file says of its counters is taken over as it is, or not at all."""
    problems = []
    for limit in machine.limits.values():
        value = document.value(limit.field).strip("\"' ") if limit.field else ""
        if value in ("", "null", "~"):
            continue
        if not (value.isascii() and value.isdecimal()):
            problems.append(f"{limit.field} is {value!r}, which is no count")
        elif int(value) - limit.first > limit.cap:
            problems.append(f"{limit.field} is {value}, and {machine.name} counts no further than {limit.cap}")
    if problems:
        raise RefusedError(
            f"{os.path.basename(document.path)}: {'; '.join(problems)}",
            where=document.path,
            next_step="correct it there, then run the same command again",
        )


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
        sweep(native.folder, native.file)  # what a killed `new` left half-written is nobody's evidence
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
