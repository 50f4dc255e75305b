"""Checks that rest on commands: which runs a gate asks for, and what the receipts of them say.

`runner/step/proving/prove.py` makes the receipts that are missing; both ask `runs_of`, so that what is run is what is
judged.
"""

from __future__ import annotations

import re
from functools import partial

from detent.core.record import Record
from detent.gates.plan import all_commands, read_plan, receipt_key
from detent.gates.registry import declared
from detent.gates.seen import Finding
from detent.machines.packs import load
from detent.store.disk.digest import hash_text
from detent.store.journal.observed import Command
from detent.store.text.markdown import is_placeholder
from detent.words import proof as say
from detent.words.gates import fields_blank, together

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from detent.core.machine import Gate, Machine
    from detent.gates.seen import Seen
    from detent.store.journal.receipts import Receipt

WITHOUT_CHANGE = "on the first commit, with the tests of this task"  # where a run before the change took place
_MOST_SHOWN = 80  # characters of a command, where a sentence quotes it


# A command of which a shell takes nothing apart; what stands for something in the shell itself is no program.
_PLAIN = r"([A-Za-z][\w.+-]*)(?:[ \t][^\n|&;<>()$`\\]*)?"
_OF_SHELL = (
    *(
        "alias",
        "bg",
        "break",
        "case",
        "cd",
        "command",
        "continue",
        "echo",
        "eval",
        "exec",
        "exit",
        "export",
        "false",
        "fg",
    ),
    *("for", "function", "getopts", "hash", "if", "jobs", "kill", "let", "local", "printf", "pwd", "read", "return"),
    *(
        "select",
        "set",
        "shift",
        "source",
        "test",
        "time",
        "times",
        "trap",
        "true",
        "type",
        "ulimit",
        "umask",
        "unalias",
    ),
    *("unset", "until", "wait", "while"),
)
_PROGRAM = re.compile(r" -m detent\.packs\.\w+\.(\w+)\b")


class Run(Record):
    """One command a gate asks for; `before` the change: on the baseline, with the task's tests laid over it."""

    key: str
    command: Command
    before: bool = False
    exit: int = 0  # what it should end with
    is_recorded: bool = False  # its output is compared with a recorded one, so the receipt keeps it


def runs_commands(machine: Machine) -> bool:
    """Whether any gate of a machine rests on commands."""
    return any(rests_on_commands(gate) for gate in machine.gates.values())


def rests_on_commands(gate: Gate) -> bool:
    """Whether a gate asks the engine to run commands."""
    return bool(declared(gate.check).runs)


def is_momentary(gate: Gate) -> bool:
    """Whether a gate's commands stand in a report of the moment, so that no other state is judged by them."""
    return declared(gate.check).is_momentary


def shown_command(line: str) -> str:
    """A command as shown to people and agents: a program of the engine by its name, any other by its line."""
    match = _PROGRAM.search(line)
    return match[1].replace("_", " ") if match else line


def runs_of(gate: Gate, seen: Seen) -> tuple[Run, ...]:
    """Every run this gate asks for on the tree as it is seen; nothing for a gate that asks for none."""
    runs = declared(gate.check).runs
    found: tuple[Run, ...] = load(runs)(gate, seen) if runs else ()
    return found


def run_on(gate: Gate, seen: Seen, command: Command) -> Run:
    """A command as this gate alone asks for it, on the tree as it is seen."""
    return Run(receipt_key(seen.tree, command.line, gate, seen.workspace), command)


def plan_runs(gate: Gate, seen: Seen) -> tuple[Run, ...]:
    """The commands of the plan and of the project; the same one on the same tree says the same whichever gate asks."""
    field = gate.params.get("field", "")
    found = all_commands(seen.commands, seen.field(field))
    if only := gate.params.get("command"):
        found = tuple(command for command in found if command.name == only)
    return tuple(run_on(_plain(gate), seen, command) for command in found)


def _plain(gate: Gate) -> Gate:
    """The gate that all ask by whose commands are those of a plan and of the project."""
    return gate.replace(check="commands", params={"field": gate.params.get("field", "")})


def red_green_runs(gate: Gate, seen: Seen) -> tuple[Run, ...]:
    """The same, and each of them on the first commit with the task's test files laid over it."""
    runs = plan_runs(gate, seen)
    if not seen.baseline:
        return runs
    key = partial(receipt_key, f"before {seen.tree}", gate=gate, workspace=seen.workspace)
    return (*runs, *(Run(key(run.command.line), run.command, before=True) for run in runs))


def standing_runs(gate: Gate, seen: Seen) -> tuple[Run, ...]:
    """The same without commands that a report records: what the work is judged by in every state."""
    return () if is_momentary(gate) else runs_of(gate, seen)


def commands(gate: Gate, seen: Seen) -> Finding:
    """Every command of the plan and of the project exited with 0, run by the engine on exactly this tree.

    Where neither names one the gate is closed, or open by `none = "open"`.
    """
    runs = runs_of(gate, seen)
    if not runs and "none" in gate.params:
        return Finding(ok=True, by_engine=True)
    return _all_green(gate, seen, runs)


def commands_named(gate: Gate, seen: Seen) -> Finding:
    """There is a plan, and it, the project or the task names a command: else nothing could ever be proven.

    A plain command of the plan whose program is nowhere to be found could not be proven either.
    """
    plan = seen.field(gate.params["field"])
    if is_placeholder(plan):
        return Finding(ok=False, why=fields_blank(seen.machine.store.file, (gate.params["field"],)))
    if not all_commands(seen.commands, plan):
        return _names_none(gate)
    if absent := _absent_programs(seen, read_plan(plan)[0]):
        return Finding(ok=False, why=say.programs_not_found(absent))
    return Finding(ok=True)


def _absent_programs(seen: Seen, lines: Iterable[str]) -> list[str]:
    """The programs that plain commands begin with and that are not on PATH; set-up may bring others along."""
    if seen.around is None or seen.around.has_set_up():
        return []
    named = (match[1] for line in lines if (match := re.fullmatch(_PLAIN, line)))
    return [name for name in dict.fromkeys(named) if name not in _OF_SHELL and not seen.around.has_program(name)]


def commands_failed(gate: Gate, seen: Seen) -> Finding:
    """Every command came to an end on exactly this tree, and one of them failed, was cut short or ran out of time.

    A checkout that could not be made ready says nothing about the work: then this is not open either.
    """
    runs = runs_of(gate, seen)
    unknown, ended = [], []
    for run in runs:
        receipt = seen.receipt(run.key)
        if receipt is None:
            unknown.append(_first(run))
        else:
            ended.append((run, receipt))
    if unknown or not runs:
        return Finding(ok=False, why=say.not_run(unknown), pending=bool(runs))
    if unrun := [receipt for _, receipt in ended if receipt.is_unrun]:
        return Finding(ok=False, why=say.came_to_no_end(unrun[0].problem, unrun[0].said))
    red = [(run, receipt) for run, receipt in ended if not receipt.is_green]
    if not red:
        return Finding(ok=False, why=say.every_command_passed())
    failed = [(_first(run), say.result(receipt.result, receipt.said)) for run, receipt in red]
    note = together(say.command_failed(command, result) for command, result in failed)
    parts = tuple((command, False, result) for command, result in failed)
    proof = hash_text("".join(run.key for run in runs))
    return Finding(ok=True, note=note, proof=proof, by_engine=True, parts=parts)


def red_green(gate: Gate, seen: Seen) -> Finding:
    """The commands pass on this tree, and one failed on the first commit with the task's test files laid over it."""
    if not seen.baseline:
        return Finding(ok=False, why=say.no_first_commit())
    runs = runs_of(gate, seen)
    found = _all_green(gate, seen, [run for run in runs if not run.before])
    if not found.ok:
        return found
    before = [run for run in runs if run.before]
    receipts = [receipt for run in before if (receipt := seen.receipt(run.key)) is not None]
    if len(receipts) < len(before):
        unknown = [_first(run) for run in before if seen.receipt(run.key) is None]
        return Finding(ok=False, why=say.not_run_without_change(unknown), pending=True)
    if any(is_red(receipt) for receipt in receipts):
        keys = "".join((found.proof, *(run.key for run in before)))
        return Finding(ok=True, proof=hash_text(keys), by_engine=True)
    broken = [receipt for receipt in receipts if receipt.problem]
    if broken:
        return Finding(ok=False, why=say.broken_without_change(broken[0].command, broken[0].problem))
    why = say.passes_without_change([_first(run) for run in before])
    return Finding(ok=False, why=why, fix=why.next_step)


def is_red(receipt: Receipt) -> bool:
    """Whether a command failed by itself; one that was cut short says nothing."""
    return not receipt.problem and bool(receipt.attempts) and receipt.attempts[-1] != 0


def _all_green(gate: Gate, seen: Seen, runs: Iterable[Run]) -> Finding:
    runs = tuple(runs)
    if not runs:
        return _names_none(gate)
    unknown, red, proofs = [], [], []
    for run in runs:
        receipt = seen.receipt(run.key)
        if receipt is None:
            unknown.append(_first(run))
        elif not receipt.is_green:
            red.append(say.command_failed_here(_first(run), receipt.result, receipt.said, receipt.withheld))
        else:
            proofs.append(run.key)
    if red:
        return Finding(ok=False, why=together(red))
    if unknown:
        return Finding(ok=False, why=say.not_run(unknown), pending=True)
    return Finding(ok=True, proof=hash_text("".join(proofs)), by_engine=True)


def _names_none(gate: Gate) -> Finding:
    """Nothing is there to run; what helps where the plan itself may no longer be changed is a person's command."""
    field = gate.params.get("field", "")
    if not field or field.startswith("/"):  # a place in a JSON file that the engine keeps is nothing to fill in
        why = say.no_command_anywhere()
    else:
        why = say.field_names_no_command(field, gate.fix if gate.check == "commands_named" else "")
    return Finding(ok=False, why=why, fix=why.next_step)


def _first(run: Run) -> str:
    return run.command.line.partition("\n")[0][:_MOST_SHOWN]
