"""The tests of a plain run: kept with its receipt, and compared with those of the baseline, at no further run.

A command that is green although a test failed, or a test of the baseline was lost, is not believed; one whose only red
tests a person accepted as red is.
"""

from __future__ import annotations

from detent.core.record import Record
from detent.gates.flaky import red_in
from detent.gates.grade import doubt, uncounted
from detent.runner.step.proving.counted import junit_of, runners_of
from detent.runner.step.proving.evidence import begun_evidence, known_of
from detent.runner.step.proving.sides import sides_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from detent.effects.tests.reports import Reported
    from detent.effects.tests.runners import Runner, Runners
    from detent.gates.grade import Evidence
    from detent.gates.seen import Seen
    from detent.runner.step.proving.baseline import Known
    from detent.runner.step.proving.progress import Tells
    from detent.runner.task.open import Task
    from detent.store.journal.receipts import Receipt, ReceiptStore
    from detent.store.text.census import Census


class Tests(Record):
    """What is known of a command's tests before it runs."""

    known: Known
    runners: Runners
    junit: Runner | None


def tests_of(task: Task, seen: Seen, lines: Iterable[str], progress: Tells) -> Mapping[str, Tests]:
    """By command; a task that was made before there were words, or without a baseline, has none."""
    if seen.proof is None or not seen.baseline:
        return {}
    runners, found = runners_of(task), {}
    for line in dict.fromkeys(lines):
        known = known_of(task, line, seen.workspace, runners, progress)
        found[line] = Tests(known, runners, junit_of(known.recognised, runners))
    return found


def with_tests(task: Task, store: ReceiptStore, receipt: Receipt, tests: Tests, reported: Reported) -> Receipt:
    """The receipt with what its runners reported, and why a green exit is not believed."""
    is_read = bool(reported.census.calls) and not reported.problems
    if is_read:
        receipt = store.keep_census(receipt, reported.census)
    if receipt.problem:
        return receipt
    if tests.known.census is None:
        reason = uncounted(receipt.command, ", ".join(tests.known.recognised.runners), tests.known.why)
        return receipt.replace(uncounted=f"{reason}\n{reason.next_step}")
    sides = sides_of(task, receipt.tree, tests.known.recognised, tests.runners)
    now = reported.census if is_read else None
    evidence = begun_evidence(task, sides, receipt.command, tests.known, now, receipt.attempts[-1])
    return judged(receipt, evidence, now)


def judged(receipt: Receipt, evidence: Evidence, last: Census | None) -> Receipt:
    """The receipt with the reason why its red exit counts as green, or its green one does not; `last` is its last run.

    A red test is excused where a person accepted it as red, or where it is flaky and passed in another run.
    """
    red = red_in(last) if last is not None else frozenset()
    if receipt.attempts[-1] and red and red <= evidence.accepted_red | evidence.flaky:
        receipt = receipt.replace(excused=str(len(red)))
    return receipt.replace(doubt=doubt(evidence.replace(exit=0))) if receipt.is_green else receipt
