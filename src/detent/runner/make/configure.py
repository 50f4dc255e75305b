"""What a person sets for one task after it was made: budget, limits, mode, agents, checks, kind; one journal line.

The pinned machine and the first line stay as they are. What holds now is folded from the lines
(`store/journal/fold.py`), so every reader finds it where the first line's settings are. Nothing of this is written
into the native file except a check, which waits for the end of an agent run, and the mode where the file shows it:
while a run lives the file goes on showing the old one.
"""

from __future__ import annotations

from detent.core.explore import explore
from detent.core.record import Record
from detent.errors import RefusedError, UsageError
from detent.gates.plan import read_plan
from detent.runner.make.begin import takes_checks
from detent.runner.make.create import plan_line
from detent.runner.make.kind import kind_of
from detent.runner.step.changing import changing
from detent.runner.task.pinned import read_overrides, read_usd
from detent.store.journal.events import Configured, with_checks
from detent.store.journal.fold import configured
from detent.store.journal.line import FILE
from detent.store.text.labels import labels_from
from detent.store.text.numbers import whole_number
from detent.words.runner import make as say
from detent.words.runner import task as of_task

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from detent.runner.task.open import Task
    from detent.store.journal.native import Document


class NewSettings(Record):
    """What was asked for, in the words of the command line."""

    usd: str = ""
    runs: str = ""
    hours: str = ""
    limits: tuple[str, ...] = ()  # NAME=N
    mode: str = ""
    agents: tuple[str, ...] = ()  # ROLE=AGENT[:MODEL]
    checks: tuple[str, ...] = ()
    kind: str = ""  # of the change


def configure(task: Task, wanted: NewSettings, name: str, reason: str) -> tuple[Task, bool]:
    """Write down what is to hold from now on; False when all of it holds already and nothing was written."""
    with changing(task, settles=False) as change:
        task = change.task
        _refuse_end(task)
        line = _validated(task, wanted, name, reason)
        checks = [line for line in wanted.checks if line not in {known for _, known in task.memory.head.commands}]
        if not checks and configured(task.memory, line) == (task.memory.head, task.memory.snapshot):
            return task, False
        shows_mode = bool(wanted.mode) and bool(labels_from(task.machine, ("mode",)))
        is_shown = bool(checks) or (shows_mode and not task.memory.run)
        if is_shown:
            change.settle()
            task = change.task
        if checks:
            line = _with_checks(task, change.document, checks, line)
        _refuse_unsound(task, line)
        change.write(line, reach=FILE if is_shown else "")
    return task.at(change.memory), True


def _refuse_end(task: Task) -> None:
    """Where nothing goes on any more, nothing is to be set; an end that can be left is different."""
    state = task.machine.states[task.memory.snapshot.state]
    if state.is_end and not any(edge.reopen for edge in state.edges):
        raise RefusedError(say.nothing_goes_on(state.name, task.id))


def _validated(task: Task, wanted: NewSettings, name: str, reason: str) -> Configured:
    machine, table = task.machine, task.memory.head.agents.get("table", {})
    if wanted.mode and wanted.mode not in machine.modes:
        raise UsageError(of_task.no_mode(machine.name, wanted.mode, machine.modes))
    budget: dict[str, float] = {}
    if wanted.usd:
        budget["usd"] = read_usd(wanted.usd)
    if wanted.runs:
        budget["runs"] = _whole("--runs ", wanted.runs)
    if wanted.hours:
        budget["hours"] = _whole("--hours ", wanted.hours)
    return Configured(
        by="person",
        name=name,
        reason=reason,
        mode=wanted.mode,
        limits=dict(_limit(task, word) for word in wanted.limits),
        budget={"task": budget} if budget else {},
        agents=read_overrides(table, machine, wanted.agents),
        commands=[],
        fields={},
        locked={},
        change=kind_of(wanted.kind, "") if wanted.kind else {},
    )


def _limit(task: Task, word: str) -> tuple[str, int]:
    name, _, number = word.partition("=")
    if name not in task.machine.limits:
        raise UsageError(say.no_limit(word, task.machine.name, name, task.machine.limits))
    return name, _whole(f"--limit {name}=", number)


def _whole(flag: str, text: str) -> int:
    if not (number := whole_number(text)):
        raise UsageError(say.no_whole_number(flag, text))
    return number


def _refuse_unsound(task: Task, line: Configured) -> None:
    """A limit may close the only way out of somewhere: a machine in which that happens holds for no task."""
    if not line.limits:
        return
    head, snapshot = configured(task.memory, line)
    found = explore(task.at(task.memory.replace(head=head, snapshot=snapshot)).machine).violations
    if found:
        raise RefusedError(say.would_not_hold(task.machine.name, found[0].rule, found[0].story))


def _with_checks(task: Task, document: Document, checks: Sequence[str], line: Configured) -> Configured:
    """Further commands: they join every proof, and stand in the field the machine keeps for them, if it keeps one."""
    label, state = task.machine.store.checks, task.machine.states[task.memory.snapshot.state]
    if not takes_checks(task.machine):
        raise UsageError(say.no_commands_kept(task.machine.name))
    if state.is_end:
        raise RefusedError(say.frame_of_an_end(state.name, task.id))
    count = len(task.memory.head.commands)
    commands = [[f"check {number}", line] for number, line in enumerate(checks, count + 1)]
    if not label:
        return with_checks(line, commands, {}, {})
    old = document.value(label)
    new = _longer(old, checks)
    shown = task.native.parsed(task.native.codec.replace(document.text, label, new)).value(label)
    if read_plan(shown) != (tuple(dict.fromkeys((*read_plan(old)[0], *checks))), read_plan(old)[1]):
        raise RefusedError(say.plan_takes_no_command(label, task.id), where=document.path)
    item = f"field:{label}"
    locked = {item: task.store.keep(shown.encode("utf-8"))} if item in task.memory.snapshot.locked else {}
    return with_checks(line, commands, {label: shown}, locked)


def _longer(plan: str, checks: Sequence[str]) -> str:
    if not any(read_plan(plan)):
        plan = ""
    elif "\n" not in plan and not plan.startswith(("- ", "* ", "+ ")):
        plan = f"- {plan}"  # what follows is a list, and the first is part of it
    return "\n".join([*([plan] if plan else []), *map(plan_line, checks)])
