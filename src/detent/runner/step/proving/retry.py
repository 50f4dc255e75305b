"""Runs a command again whose only failed tests are flaky: on the baseline to see that they are, then on the work."""

from __future__ import annotations

from detent.core.record import Record
from detent.gates.flaky import MOST_RETRIES, may_be_flaky, red_in, retried_of, together
from detent.gates.grade import name_of
from detent.runner.step.proving.evidence import begun_evidence, named, repeated_of
from detent.runner.step.proving.plain import judged
from detent.runner.step.proving.sides import sides_of
from detent.store.journal.memory import utc_now
from detent.store.journal.receipts import Receipt, ReceiptStore
from detent.store.text.proof_settings import proof_from_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from detent.effects.tests.runners import Runners
    from detent.gates.grade import Evidence
    from detent.runner.step.proving.baseline import Known
    from detent.runner.step.proving.counted import Counted
    from detent.runner.step.proving.plain import Tests
    from detent.runner.step.proving.progress import Tells
    from detent.runner.task.open import Task
    from detent.store.text.census import CaseId, Census


class Retried(Record):
    """All runs together. `flaky` are the tests that failed in one of them and passed in another."""

    census: Census
    flaky: frozenset[CaseId]
    last: Counted


class Suspects(Record):
    """Red tests of one run of a command, and what is known of it."""

    red: frozenset[CaseId]
    census: Census
    known: Known
    changed: Collection[tuple[str, str]]  # tests that the task wrote or changed


def retry(
    task: Task, suspects: Suspects, known_again: Callable[[], Known], run: Callable[[int], Counted | None]
) -> Retried | None:
    """Run again what failed, twice at most; None where a test may not have another chance, or `run` came to no end.

    `known_again`: the baseline after the command was run there twice more.
    """
    known, red = suspects.known, suspects.red
    if known.census is None or not may_be_flaky(red, known.census, suspects.changed):
        return None
    listed = named(proof_from_json(task.memory.head.proof).flaky, known.census)
    if not red <= retried_of(listed, known.census, suspects.changed):
        known = known_again()
    assert known.census is not None  # noqa: S101  # as above
    retried = retried_of({*known.both_ways, *listed}, known.census, suspects.changed)
    if not red <= retried:
        return None
    census, failed, last = suspects.census, red, None
    for number in range(1, MOST_RETRIES + 1):
        last = run(number)
        if last is None or last.believable is None:
            return None
        failed |= red_in(last.believable) & retried
        census = together(census, last.believable, retried)
        if not red_in(census) & retried:
            break
    assert last is not None  # noqa: S101  # there is at least one retry
    return Retried(census, failed - red_in(census), last)


def with_retries(
    task: Task, workspace: str, receipt: Receipt, tests: Tests, run: Callable[[int, str], Counted | None], tells: Tells
) -> Receipt:
    """The receipt of a command after its flaky tests had another chance; the same where none may have it.

    `run` gets the number of the retry and the path of its log.
    """
    store, known = ReceiptStore(task.places.receipts()), tests.known
    census = None if receipt.problem or known.census is None else store.census(receipt)
    if census is None or not red_in(census):
        return receipt
    evidence = _evidence(task, receipt, known, tests.runners, census)
    attempts = list(receipt.attempts)

    def attempt(number: int) -> Counted | None:
        ran = run(number, store.log_path(receipt.key, len(attempts) + 1))
        attempts.extend([ran.finished.exit] if ran is not None else [])
        return ran

    found = retry(
        task,
        Suspects(red_in(census) - evidence.accepted_red, census, known, evidence.changed_tests),
        lambda: repeated_of(task, receipt.command, workspace, tests.runners, tells),
        attempt,
    )
    if found is None:
        return receipt
    log = store.log_path(receipt.key, len(attempts))
    names = "\n".join(sorted(name_of(case) for case in found.flaky))
    receipt = receipt.replace(attempts=tuple(attempts), log=log, time=utc_now(), flaky=names, doubt="", excused="")
    receipt = store.keep_census(receipt, found.census)
    receipt = judged(receipt, evidence.replace(now=found.census, flaky=found.flaky), found.last.reported.census)
    return receipt.replace(said="", withheld="") if receipt.is_green else receipt


def _evidence(task: Task, receipt: Receipt, known: Known, runners: Runners, census: Census) -> Evidence:
    sides = sides_of(task, receipt.tree, known.recognised, runners)
    return begun_evidence(task, sides, receipt.command, known, census, 0)
