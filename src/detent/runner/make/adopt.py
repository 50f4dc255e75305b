"""Takes over a task folder that another tool left, as it is."""

from __future__ import annotations

import os

from detent.core.decide import enter
from detent.errors import RefusedError, UnreadableError, UsageError
from detent.runner.make.adopted_files import begin_draft, keep_copy, keep_revisions, refuse_beyond
from detent.runner.make.begin import begin, head_of, mode_of, read_settings, site_for
from detent.runner.make.checked import load_for_task
from detent.runner.make.sealed import find_sealed, keep_sealed
from detent.runner.make.taken_over import read_taken_over, refuse_problems
from detent.runner.make.vacancy import free_id, refuse_place, refuse_second, refuse_taken
from detent.runner.step.proving.homes import LOCK_WAIT_S
from detent.runner.task.layout import exclude_root, is_tracked
from detent.runner.task.open import waits_at_end
from detent.runner.task.pinned import pinned_settings
from detent.store.disk.atomic import make_folders
from detent.store.disk.lock import Lock
from detent.store.journal.head import Adopted, with_found, with_request, with_sealed
from detent.store.journal.native import Native
from detent.store.journal.places import make_task_folder
from detent.store.text.labels import state_label
from detent.store.text.numbers import whole_number
from detent.words.runner import adopt as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from detent.core.machine import Machine
    from detent.core.values import Snapshot
    from detent.runner.make.begin import NewTask
    from detent.runner.make.taken_over import TakenOver
    from detent.runner.task.open import Task
    from detent.store.journal.native import Document
    from detent.store.journal.places import Project

_MOST_ROUNDS = 1_000_000  # that a folder from elsewhere may claim


class AtEnd(RefusedError):
    """The folder says that its task is over."""

    def __init__(self, state: str, native: Native, path: str) -> None:
        self.state, self.is_waiting = state, waits_at_end(native.machine.states[state])
        super().__init__(
            say.names_an_end(native.file, state, native.state_label),
            where=path,
        )


def _spelt(state: str, machine: Machine) -> str:
    """The state that a file written by hand means: `Implement` is implement."""
    return next((name for name in machine.states if name.casefold() == state.casefold()), state)


def adopt(new_task: NewTask) -> Task:
    """Take over a folder made by another tool: its owned fields are read once, its evidence counts as old."""
    folder = os.path.realpath(new_task.folder)
    if not os.path.isdir(folder):
        raise UsageError(say.no_folder(folder))
    site = site_for(new_task.replace(in_place=True))  # such a folder belongs to a checkout already
    project, baseline = site.project, site.baseline
    settings = read_settings(project, baseline)
    machine, pinned, pack = load_for_task(project, new_task.machine, settings)
    kept = pinned_settings(project, baseline, settings, machine)
    sealing = find_sealed(site, machine, settings, new_task.sealed)
    make_folders(project.tasks_folder())
    with Lock(project.lock_path(), LOCK_WAIT_S):
        refuse_place(folder, project, "" if is_tracked(machine.store) else baseline)
        refuse_taken(folder, machine, {})
        refuse_second(folder, project)
        refuse_beyond(folder)
        native = Native(machine, folder, project.task(os.path.basename(folder)))
        document = _read_foreign(native)
        document = document.replace(state=_spelt(document.state, machine))
        if document.state not in machine.states:
            raise UnreadableError(
                say.unknown_state(native.file, document.state, machine.name, native.state_label, machine.states),
                where=document.path,
            )
        if machine.states[document.state].is_end:
            raise AtEnd(document.state, native, document.path)
        _refuse_counts(machine, document)
        taken = read_taken_over(native, document, project)
        refuse_problems(taken, document)
        task_id = _id_for(project, new_task, taken, document)
        native = Native(machine, folder, project.task(task_id))
        new_task = new_task.replace(title=new_task.title or taken.title or task_id, in_place=True)
        head = head_of(
            Adopted, site, settings, machine, pinned, new_task.replace(task_id=task_id, folder=folder), kept, pack
        )
        snapshot = _adopted(machine, document, enter(machine, mode_of(machine, new_task.mode or taken.mode)))
        snapshot = snapshot.replace(visits={**snapshot.visits, **taken.visits})
        make_task_folder(native.places)
        copy = keep_copy(native, project)
        head = with_found(head, {**taken.found, "filed": keep_revisions(native)})
        begin_draft(native, taken.found.get("revision", 0), new_task.title)
        shown = exclude_root(machine.store, project)
        notes = (*((shown,) if shown else ()), say.folder_kept(copy), *sealing.notes)
        head = with_sealed(head, keep_sealed(native.places, sealing))
        return begin(project, native, with_request(head, request={}, notes=notes), snapshot, pinned)


def _id_for(project: Project, new_task: NewTask, taken: TakenOver, document: Document) -> str:
    """The id the file names; where it names none, the one that is asked for, else one made from the title."""
    if taken.id and new_task.task_id not in ("", taken.id):
        raise RefusedError(
            say.other_id(os.path.basename(document.path), taken.id, new_task.task_id), where=document.path
        )
    return free_id(
        project, new_task.task_id or taken.id, new_task.title or os.path.basename(os.path.dirname(document.path))
    )


def _read_foreign(native: Native) -> Document:
    try:
        return native.read()
    except UnreadableError as error:
        error.next_step = say.no_readable_file(native.file)
        raise


def _refuse_counts(machine: Machine, document: Document) -> None:
    """What a file says of its counters is taken over as it is, or not at all."""
    problems = []
    for limit in machine.limits.values():
        value = document.value(limit.field).strip("\"' ") if limit.field else ""
        if value in ("", "null", "~"):
            continue
        count = whole_number(value)
        if count is None:
            problems.append(say.no_count(limit.field, value))
        elif count - limit.first > limit.cap:
            problems.append(say.count_beyond(limit.field, value, machine.name, limit.cap))
    if problems:
        raise RefusedError(say.problems_of_file(os.path.basename(document.path), problems), where=document.path)


def _adopted(machine: Machine, document: Document, snapshot: Snapshot) -> Snapshot:
    """What the file says of registers and counters, and what the machine takes for granted in this state."""
    state, fields = document.state, document.fields
    registers = {**snapshot.registers, **machine.store.adopted.get(state, {})}
    for register in machine.registers.values():
        value = fields[register.field].line_value.strip("*_` ").lower() if register.field in fields else ""
        known = {name.lower(): name for name in register.values}
        if value and (not known or value in known):
            registers[register.name] = known.get(value, value)
    counters = dict(snapshot.counters)
    for limit in machine.limits.values():
        value = fields[limit.field].line_value if limit.field in fields else ""
        if (count := whole_number(value)) is not None:
            counters[limit.name] = min(max(count - limit.first, 0), limit.cap)
    rounds = {name: _round(fields, state_label(machine, machine.store.rounds, name)) for name in machine.states}
    visits = {name: count for name, count in {state: 1, **rounds}.items() if count}
    return snapshot.replace(state=state, registers=registers, counters=counters, visits={state: 1, **visits})


def _round(fields: Mapping[str, Any], label: str) -> int:
    count = whole_number(fields[label].line_value) if label in fields else None
    return min(count or 0, _MOST_ROUNDS)
