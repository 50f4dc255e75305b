"""Takes over a task folder that another tool left, as it is."""

from __future__ import annotations

import os

from detent.core.decide import enter
from detent.errors import RefusedError, UnreadableError, UsageError
from detent.runner.make.adopted_files import begin_draft, keep_copy, keep_revisions, refuse_beyond
from detent.runner.make.begin import begin, head_of, mode_of, read_settings, site_for
from detent.runner.make.checked import load_for_task
from detent.runner.make.taken_over import read_taken_over, refuse_problems
from detent.runner.make.vacancy import free_id, refuse_place, refuse_second, refuse_taken
from detent.runner.step.proving.homes import LOCK_WAIT_S
from detent.runner.task.layout import exclude_root, is_tracked
from detent.runner.task.open import waits_at_end
from detent.runner.task.pinned import pinned_settings
from detent.store.disk.atomic import make_folders
from detent.store.disk.lock import Lock
from detent.store.journal.events import Adopted, with_found, with_request
from detent.store.journal.native import Native
from detent.store.journal.places import make_task_folder
from detent.store.text.labels import ROUNDS, state_label
from detent.store.text.numbers import whole_number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from detent.core.machine import Machine
    from detent.core.values import Snapshot
    from detent.runner.make.begin import Wish
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
            f"{native.file} names {state}, an end: nothing here proves how it was reached",
            where=path,
            next_step=f"write the state it is to go on from behind '{native.state_label}:'",
        )


def _spelt(state: str, machine: Machine) -> str:
    """The state that a file written by hand means: `Implement` is implement."""
    return next((name for name in machine.states if name.casefold() == state.casefold()), state)


def adopt(wish: Wish) -> Task:
    """Take over a folder made by another tool: its owned fields are read once, its evidence counts as old."""
    folder = os.path.realpath(wish.folder)
    if not os.path.isdir(folder):
        raise UsageError(f"there is no folder {folder}", next_step="detent adopt DIR MACHINE")
    site = site_for(wish.replace(in_place=True))  # such a folder belongs to somebody's checkout already
    project, baseline = site.project, site.baseline
    settings = read_settings(project, baseline)
    machine, pinned, pack = load_for_task(project, wish.machine, settings)
    kept = pinned_settings(project, baseline, settings, machine)
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
                f"{native.file} names the state {document.state!r}, which {machine.name} does not have",
                where=document.path,
                next_step=f"write one of these behind '{native.state_label}:': {', '.join(machine.states)}",
            )
        if machine.states[document.state].is_end:
            raise AtEnd(document.state, native, document.path)
        _refuse_counts(machine, document)
        taken = read_taken_over(native, document, project)
        refuse_problems(taken, document)
        task_id = _id_for(project, wish, taken, document)
        native = Native(machine, folder, project.task(task_id))
        wish = wish.replace(title=wish.title or taken.title or task_id, in_place=True)
        head = head_of(
            Adopted, site, settings, machine, pinned, wish.replace(task_id=task_id, folder=folder), kept, pack
        )
        snapshot = _adopted(machine, document, enter(machine, mode_of(machine, wish.mode or taken.mode)))
        snapshot = snapshot.replace(visits={**snapshot.visits, **taken.visits})
        make_task_folder(native.places)
        copy = keep_copy(native, project)
        head = with_found(head, {**taken.found, "filed": keep_revisions(native)})
        begin_draft(native, taken.found["revision"], wish.title)
        shown = exclude_root(machine.store, project)
        notes = (*((shown,) if shown else ()), f"the folder as it was is kept in {copy}")
        return begin(project, native, with_request(head, request={}, notes=notes), snapshot, pinned)


def _id_for(project: Project, wish: Wish, taken: TakenOver, document: Document) -> str:
    """The id the file names; where it names none, the one that is asked for, else one made from the title."""
    if taken.id and wish.task_id not in ("", taken.id):
        raise RefusedError(
            f"{os.path.basename(document.path)} names the id {taken.id!r}, not {wish.task_id!r}",
            where=document.path,
            next_step="leave --id out, or change the id in that file",
        )
    return free_id(project, wish.task_id or taken.id, wish.title or os.path.basename(os.path.dirname(document.path)))


def _read_foreign(native: Native) -> Document:
    try:
        return native.read()
    except UnreadableError as error:
        error.next_step = f"give a folder with a readable {native.file}, or make a new task: detent new --dir DIR"
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
            problems.append(f"{limit.field} is {value!r:.40}, which is no count")
        elif count - limit.first > limit.cap:
            problems.append(f"{limit.field} is {value}, and {machine.name} counts no further than {limit.cap}")
    if problems:
        raise RefusedError(
            f"{os.path.basename(document.path)}: {'; '.join(problems)}",
            where=document.path,
            next_step="correct it there, then run the same command again",
        )


def _adopted(machine: Machine, document: Document, snapshot: Snapshot) -> Snapshot:
    """What the file says of registers and counters, and what the machine takes for granted in this state."""
    state, fields = document.state, document.fields
    registers = {**snapshot.registers, **machine.store.get("adopted", {}).get(state, {})}
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
    rounds = {name: _round(fields, state_label(machine, ROUNDS, name)) for name in machine.states}
    visits = {name: count for name, count in {state: 1, **rounds}.items() if count}
    return snapshot.replace(state=state, registers=registers, counters=counters, visits={state: 1, **visits})


def _round(fields: Mapping[str, Any], label: str) -> int:
    count = whole_number(fields[label].line_value) if label in fields else None
    return min(count or 0, _MOST_ROUNDS)
