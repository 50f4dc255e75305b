"""Checks the lines in which a person set something for a task against its machine and its kept texts."""

from __future__ import annotations

import os
from string import hexdigits

from detent.core.explore import explore
from detent.gates.plan import read_plan
from detent.store.disk.atomic import read_plain
from detent.store.disk.digest import sha256_of
from detent.store.journal.fold import configured
from detent.store.journal.settings import TASK_BOUNDS, is_bound
from detent.store.text.proof_words import KINDS
from detent.words.verify import lines as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from detent.runner.task.open import Task
    from detent.store.journal.events import Configured
    from detent.store.journal.memory import Memory


def setting_problems(task: Task, entry: Configured) -> Iterator[str]:
    """What is wrong with such a line, given the moment before it."""
    machine, memory = task.machine, task.memory
    if entry.mode and entry.mode not in machine.modes:
        yield say.no_mode(machine.name, entry.mode)
    for name, most in entry.limits.items():
        if name not in machine.limits or type(most) is not int or most < 1:
            yield say.no_limit(machine.name, name, most)
            return
    if entry.limits:
        head, snapshot = configured(memory, entry)
        found = explore(task.at(memory.replace(head=head, snapshot=snapshot)).machine).violations
        yield from (say.would_not_hold(machine.name, violation.rule) for violation in found[:1])
    for part, bounds in entry.budget.items():
        if part != "task" or any(name not in TASK_BOUNDS or not is_bound(value) for name, value in bounds.items()):
            yield say.budget_bounds_nothing(part, bounds)
    if not is_pack_change(entry, memory):
        yield say.pack_changed_otherwise()
    if entry.change and entry.change not in [{"kind": kind, "by": "person"} for kind in KINDS]:
        yield say.kind_changed_otherwise()
    yield from _check_problems(task, entry)


def is_pack_change(entry: Configured, memory: Memory) -> bool:
    """A line about a pack gives its hash and takes evidence again; any other line does neither."""
    if not entry.pack:
        return entry.entry is None
    digest = entry.pack
    is_digest = len(digest) == len(memory.head.digest) and not set(digest) - set(hexdigits)
    return is_digest and bool(memory.head.pack) and bool(entry.reason) and entry.entry is not None


def _check_problems(task: Task, entry: Configured) -> Iterator[str]:
    """A line may only add commands: each of them, and no other field or lock than the one they stand in."""
    label = task.machine.store.checks
    stands = bool(label and entry.commands)  # a machine without such a field keeps them in this line alone
    if stands != bool(entry.fields) or set(entry.fields) - {label}:
        yield say.writes_other_field()
        return
    old = task.memory.snapshot.locked.get(f"field:{label}", "")
    before = (read_plain(os.path.join(task.places.objects(), old)) or b"").decode("utf-8", "replace") if old else ""
    for text in entry.fields.values():
        due = (*read_plan(before)[0], *(line for _name, line in entry.commands))
        lacking = [line for line in due if line not in read_plan(text)[0]]
        if lacking:
            yield say.label_lacks(label, lacking[0])
    texts = {f"field:{name}": sha256_of(text.encode("utf-8")) for name, text in entry.fields.items()}
    wanted = {item: digest for item, digest in texts.items() if item in task.memory.snapshot.locked}
    if entry.locked != wanted:
        yield say.locked_text_changed()
