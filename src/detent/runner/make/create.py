"""Makes new tasks: a native folder from the machine's scaffold, with the words and checks of the request."""

from __future__ import annotations

import os
from contextlib import contextmanager

from detent.core.decide import enter
from detent.effects.git.bring import wipe
from detent.effects.workspace.home import is_born
from detent.errors import DetentError
from detent.machines.load import scaffold
from detent.runner.make.begin import begin, head_of, mode_of, read_settings, refuse_idle_checks, site_for
from detent.runner.make.checked import load_for_task, misspelt
from detent.runner.make.request import FILE as REQUEST
from detent.runner.make.request import find_request, keep_request
from detent.runner.make.sealed import find_sealed, keep_sealed
from detent.runner.make.vacancy import free_id, refuse_place, refuse_second, refuse_taken
from detent.runner.step.proving.homes import LOCK_WAIT_S, begin_home, make_home
from detent.runner.task.in_project import choose_active
from detent.runner.task.layout import active_problem, exclude_root, is_tracked, native_folder, store_root
from detent.runner.task.pinned import pinned_settings
from detent.runner.task.title import LONGEST_TITLE, one_line
from detent.store.disk.atomic import make_folders, write_atomic
from detent.store.disk.lock import Lock
from detent.store.journal.head import Created, with_request, with_sealed
from detent.store.journal.native import Native
from detent.store.journal.places import branch_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from detent.core.machine import Machine
    from detent.core.values import Snapshot
    from detent.runner.make.begin import NewTask, Site
    from detent.runner.make.request import Request
    from detent.runner.task.open import Task

DEFAULT_MACHINE = "phase"


def create(new_task: NewTask) -> Task:
    """A new task with a fresh native folder."""
    site = site_for(new_task)
    project, baseline = site.project, site.baseline
    settings = read_settings(project, baseline)
    request = find_request(project, settings, new_task.source, new_task.issue)
    # Of a text that is kept whole the first words are enough.
    words = one_line(new_task.title) or (" ".join(request.title.split())[:LONGEST_TITLE].rstrip() if request else "")
    machine, pinned, pack = load_for_task(
        project, new_task.machine or settings.default_machine or DEFAULT_MACHINE, settings
    )
    new_task = new_task.replace(
        title=words or os.path.basename(new_task.folder.rstrip("/")) or "untitled task",
        in_place=new_task.in_place or machine.store.in_place,
    )
    kept = pinned_settings(project, baseline, settings, machine, new_task.agents, new_task.usd)
    snapshot = enter(machine, mode_of(machine, new_task.mode))
    refuse_idle_checks(machine, new_task.checks)
    sealing = find_sealed(site, machine, settings, new_task.sealed)
    make_folders(project.tasks_folder())
    with Lock(project.lock_path(), LOCK_WAIT_S):
        task_id = free_id(project, new_task.task_id, new_task.title)
        folder = os.path.realpath(new_task.folder or native_folder(machine.store, project, task_id))
        native = Native(machine, folder, project.task(task_id))
        is_whole = is_tracked(machine.store)  # what the repository holds there already stays proven
        place = folder if new_task.folder else store_root(machine.store, project.root) or folder
        refuse_place(place, project, "" if is_whole else baseline)
        filled = _filled_fields(machine, new_task, words, _branch(site, new_task, machine, task_id))
        texts = _scaffold_texts(native, new_task, snapshot, filled, request)
        refuse_taken(folder, machine, texts if new_task.folder or is_whole else {})
        if new_task.folder:
            refuse_second(folder, project)
        head = head_of(
            Created, site, settings, machine, pinned, new_task.replace(task_id=task_id, folder=folder), kept, pack
        )
        home_notes: tuple[str, ...] = ()
        if site.repository is not None and not head.in_place:
            home_notes = begin_home(project, site.repository, head, machine, include_dirty=new_task.include_dirty)
        make_home(folder, is_named=bool(new_task.folder))
        with _nothing_left(native):
            kept_request = keep_request(native.places, request) if request is not None else {}
            shown, obstacle = exclude_root(machine.store, project), active_problem(machine.store, project, task_id)
            notes = tuple(
                note for note in (*misspelt(settings, machine), *home_notes, shown, obstacle, *sealing.notes) if note
            )
            _write_scaffold(native, texts)
            head = with_sealed(head, keep_sealed(native.places, sealing))
            task = begin(project, native, with_request(head, request=kept_request, notes=notes), snapshot, pinned)
        is_born(head.home)
        if not obstacle:
            choose_active(task)
        return task


@contextmanager
def _nothing_left(native: Native) -> Iterator[None]:
    """Remove the control folder of a task whose first line could not be written; the project's lock is held."""
    try:
        yield
    except DetentError:
        places = native.places
        if not any(map(os.path.exists, (places.journal(), places.snapshot()))):
            wipe(places.folder)
        raise


def _scaffold_texts(
    native: Native, new_task: NewTask, snapshot: Snapshot, filled: Mapping[str, str], request: Request | None
) -> dict[str, bytes]:
    """The first content of every file of a new task, by name."""
    store = native.machine.store
    extras = [name for key, name in store.extra.items() if key in new_task.extras]
    texts = {}
    for name in (*store.files, *extras):
        text = scaffold(native.machine.name, name).replace("{title}", new_task.title)
        if name == native.file:
            values = {**native.wanted_fields(snapshot, ""), **filled}
            text = native.codec.write(text, {label: value for label, value in values.items() if value})
        texts[name] = text.encode()
    return texts if request is None else {REQUEST: request.text.encode(), **texts}


def _write_scaffold(native: Native, texts: Mapping[str, bytes]) -> None:
    """Files first, journal last: a crash in between leaves a folder without a task, never a task without its folder."""
    for name in native.machine.store.folders:
        make_folders(native.path(name))
    for name, text in texts.items():
        make_folders(os.path.dirname(native.path(name)))
        write_atomic(native.path(name), text, durable=True)


def _branch(site: Site, new_task: NewTask, machine: Machine, task_id: str) -> str:
    """The branch the work is done on; none without git, and none where HEAD names no branch."""
    if site.repository is None:
        return ""
    return site.repository.branch or "" if new_task.in_place else branch_of(machine.name, task_id)


def _filled_fields(machine: Machine, new_task: NewTask, words: str, branch: str) -> Mapping[str, str]:
    """The words and checks of the command line, in the fields the machine keeps for them."""
    fields: dict[str, str] = {}
    if label := machine.store.title:
        fields[label] = words
    if label := machine.store.branch:
        fields[label] = branch
    if new_task.checks and (label := machine.store.checks):
        lines = "\n".join(plan_line(line) for line in new_task.checks)
        fields[label] = lines.removeprefix("- ") if len(new_task.checks) == 1 else f"\n{lines}"
    return fields


def plan_line(command: str) -> str:
    """A command as a validation plan shows it; one of several lines needs a fence to stay one command."""
    return f"```\n{command}\n```" if "\n" in command.strip() else f"- cmd: {command.strip()}"
