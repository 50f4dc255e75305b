"""The tests of a plain run: kept with its receipt, and compared with those of the baseline, at no further run.

A command that is green although a test failed, or a test of the baseline was lost, is not believed; one whose only red
tests a person accepted as red is.
"""

from __future__ import annotations

from detent.core.record import Record
from detent.gates.grade import doubt
from detent.runner.step.proving.counted import junit_of, runners_of
from detent.runner.step.proving.evidence import begun_evidence, known_of
from detent.runner.step.proving.sides import sides_of
from detent.store.text.census import RED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from detent.effects.tests.reports import Reported
    from detent.effects.tests.runners import Runner, Runners
    from detent.gates.seen import Seen
    from detent.runner.step.proving.baseline import Known
    from detent.runner.task.open import Task
    from detent.store.journal.receipts import Receipt, ReceiptStore


class Tests(Record):
    """What is known of a command's tests before it runs."""

    known: Known
    runners: Runners
    junit: Runner | None


def tests_of(task: Task, seen: Seen, lines: Iterable[str], begins: Callable[[str], None]) -> Mapping[str, Tests]:
    """By command; a task that was made before there were words, or without a baseline, has none."""
    if seen.proof is None or not seen.baseline:
        return {}
    runners, found = runners_of(task), {}
    for line in dict.fromkeys(lines):
        known = known_of(task, line, seen.workspace, runners, begins)
        found[line] = Tests(known, runners, junit_of(known.recognised, runners))
    return found


def with_tests(task: Task, store: ReceiptStore, receipt: Receipt, tests: Tests, reported: Reported) -> Receipt:
    """The receipt with what its runners reported, and why a green exit is not believed."""
    is_read = bool(reported.census.calls) and not reported.problems
    if is_read:
        receipt = store.keep_census(receipt, reported.census)
    if receipt.problem or tests.known.census is None:
        return receipt
    sides = sides_of(task, receipt.tree, tests.known.recognised, tests.runners)
    now = reported.census if is_read else None
    evidence = begun_evidence(task, sides, receipt.command, tests.known, now, receipt.attempts[-1])
    red = {case.id for case in now.of_outcome(RED)} if now is not None else set()
    if red and red <= evidence.accepted_red:
        return receipt.replace(excused=str(len(red)))
    return receipt.replace(doubt=doubt(evidence)) if receipt.is_green else receipt
