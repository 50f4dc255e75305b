"""What is known of one command before any further run: its baseline, its judge, and the tests of the plain run."""

from __future__ import annotations

from detent.effects.git.git import tree_of
from detent.effects.tests.judge_change import ADDED, MOVED
from detent.effects.tests.judge_files import BESIDE, INLINE, TESTS
from detent.effects.tests.kits.values import IMPORT
from detent.gates.grade import Evidence, name_of
from detent.runner.step.proving.baseline import NO, baseline_of, repeated_baseline
from detent.store.text.assessment import ChangedPart
from detent.store.text.proof_settings import proof_from_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from detent.effects.tests.judge_change import JudgeChange
    from detent.effects.tests.runners import Runners
    from detent.runner.step.proving.baseline import Known
    from detent.runner.step.proving.progress import Tells
    from detent.runner.step.proving.sides import Sides
    from detent.runner.task.open import Task
    from detent.store.text.census import CaseId, Census


def known_of(task: Task, line: str, workspace: str, runners: Runners, progress: Tells) -> Known:
    """What a command does on the baseline of a task."""
    baseline = tree_of(task.places.private_git(), task.memory.head.baseline)
    return baseline_of(task, baseline, line, workspace, runners, progress)


def repeated_of(task: Task, line: str, workspace: str, runners: Runners, progress: Tells) -> Known:
    """The same, and which of its tests go both ways there."""
    baseline = tree_of(task.places.private_git(), task.memory.head.baseline)
    return repeated_baseline(task, baseline, line, workspace, runners, progress)


def begun_evidence(task: Task, sides: Sides, line: str, known: Known, now: Census | None, exit_code: int) -> Evidence:
    """The evidence that the plain run gives, compared with the baseline; no run is made for it."""
    settings = proof_from_json(task.memory.head.proof)
    has_tests = known.census is None or bool(known.census.cases)
    return Evidence(
        line=line,
        runner=", ".join(known.recognised.runners),
        base=known.census,
        now=now,
        exit=exit_code,
        why_unreported=known.why,
        same_text=sides.change.same_text,
        changed=_changed_parts(sides.change) if has_tests else (),
        changed_tests=sides.change.changed_tests | _added_tests(sides.change),
        only_reported=settings.changed_tests == "report",
        accepted_red=named(settings.red, known.census, now),
        tests_another_copy=known.noticed == NO,
    )


def named(names: Sequence[str], *censuses: Census | None) -> frozenset[CaseId]:
    """The tests that a person named, by file and name, with or without parameters."""
    wanted = frozenset(names)
    cases = [case.id for census in censuses if census is not None for case in census.cases] if wanted else []
    return frozenset(case for case in cases if wanted & {name_of(case), name_of(case.replace(parameters=""))})


def accepted_in(task: Task, census: Census) -> frozenset[CaseId]:
    """The tests of a census that a person accepted as red."""
    return named(proof_from_json(task.memory.head.proof).red, census)


def _added_tests(change: JudgeChange) -> frozenset[tuple[str, str]]:
    return frozenset((part.file, part.name) for part in change.tests if part.how == ADDED)


def _changed_parts(change: JudgeChange) -> tuple[ChangedPart, ...]:
    """What a person must see: old tests and helpers that differ, and files that steer; new tests are the work."""
    parts = [
        ChangedPart(part.file, part.name, part.how, part.diff)
        for part in change.parts
        if part.kind != IMPORT and part.how != MOVED and (part.how != ADDED or part.runs_by_itself)
    ]
    whole = [
        ChangedPart(file.path, "", file.how, "")
        for file in change.files
        if file.role not in (TESTS, INLINE) and not (file.role == BESIDE and file.how == ADDED)
    ]
    unread = [ChangedPart(path, "", why, "") for path, why in change.unread]
    return (*parts, *whole, *unread)
