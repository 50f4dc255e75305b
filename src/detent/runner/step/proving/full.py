"""The full proof of a task's tree: what its green test commands prove, and not only that they are green.

For each command whose test runner is known:

1. what is known of the baseline (`baseline.py`): its tests, and what can be planted there;
2. the plain run on this tree, as its receipt has it;
3. what of its judge changed (`sides.py`); only then
4. the baseline's judge over the code of now, and
5. the judge of now over the baseline's code;
6. one run with planted tests: a canary, twins and broken copies of the tests that show the change, and of some others;
7. only where all that shows the change is that a name is new: one run in which the changed functions raise;
8. the word (`gates/grade.py`).

Then the sealed checks of the task, if it has any and nothing is refused (`sealed.py`). All of it is one receipt, kept
for this tree, this baseline and these settings. Nothing of it is run twice.
"""

from __future__ import annotations

import json
import os
from random import Random
from time import monotonic

from detent.core.record import Record
from detent.effects.tests.planting import make_raise, plant, plant_canary
from detent.effects.workspace.checkout import SetupFailed, why_cut_short
from detent.effects.workspace.prepared import prepared_checkout
from detent.gates.compare_censuses import find_targets, turned_green
from detent.gates.flaky import red_in
from detent.gates.grade import Evidence, Laid, Planted, grade, name_of
from detent.gates.proof import COMMAND, assessment_of, can_assess, proof_key, runs_assessed, word_told
from detent.runner.access.access import command_running
from detent.runner.step.proving.counted import RunPlace, junit_of, run_counted, runners_of
from detent.runner.step.proving.evidence import begun_evidence, known_of, repeated_of
from detent.runner.step.proving.planted import Outcomes, outcomes_of, small_tests
from detent.runner.step.proving.progress import BEGINS, ENDED, Progress, quiet
from detent.runner.step.proving.prove import vouch
from detent.runner.step.proving.retry import Suspects, retry
from detent.runner.step.proving.sealed import run_sealed
from detent.runner.step.proving.sides import sides_of
from detent.runner.step.proving.wanted import built, wanted_checkout
from detent.store.disk.atomic import write_atomic
from detent.store.disk.digest import sha256_of
from detent.store.journal.memory import utc_now
from detent.store.journal.receipts import Receipt, ReceiptStore
from detent.store.text.assessment import (
    BROKEN,
    CANARY,
    JUDGED,
    MOST_CHANGES,
    RED_GREEN,
    TWIN,
    Assessment,
    ChangedPart,
    CommandAssessed,
    to_json,
)
from detent.store.text.census import COLLECTION, GREEN, CaseId, Census
from detent.store.text.proof_words import ASK, EXIT_CODE_ONLY, REFUSED, WORDS, word_of_all
from detent.store.text.sealed import PASSED
from detent.words import assessed as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from detent.core.machine import Gate
    from detent.effects.tests.planting import Planting
    from detent.effects.tests.runners import Runner
    from detent.effects.workspace.checkout import Checkout
    from detent.gates.commands import Run
    from detent.gates.compare_censuses import Target
    from detent.gates.seen import Seen
    from detent.runner.step.proving.baseline import Known
    from detent.runner.step.proving.counted import Counted
    from detent.runner.step.proving.sides import Sides
    from detent.runner.task.open import Task

    Place = tuple[str, str]  # file and name of a test

MOST_TARGETS = 20  # tests that show the change and are planted again
SAMPLE = 8  # of the others
_MOST_DIFF = 200_000  # characters of all differences that an assessment keeps
_LARGEST_DIFF = 20_000


class Scope(Record):
    """The parts that an assessment leaves out, with the reason. One with a name is not taken for the whole."""

    name: str = ""
    left_out: Mapping[str, str] = {}
    only_reported: bool = False  # a person saw the changed tests before


WHOLE = Scope()


def repeated(*, is_shown: bool) -> Scope:
    """For a merged tree: what the tests show of the change itself was found out when the task's last move was made.

    `is_shown`: and a person was asked there about changed tests.
    """
    left_out = dict.fromkeys((BROKEN, TWIN, RED_GREEN), say.found_out_before())
    return Scope(f" of a merged tree{', tests shown' if is_shown else ''}", left_out, is_shown)


def assess_gate(
    task: Task, seen: Seen, _gate: Gate, *, again: bool = False, progress: Callable[[Progress], None] = quiet
) -> Assessment:
    """Work out what the commands prove, for a gate that asks for it.

    What is known of this tree stands; `again` is a person's wish to try once more what is refused or needs them.
    """
    known = assessment_of(seen.replace(proved=task.store.load().proved))  # it may have been made since
    is_open = known is not None and known.word not in (REFUSED, ASK) and known.sealed_result in ("", PASSED)
    if known is not None and not (again and not is_open):
        return known
    return assess(task, seen, progress=progress)


def assess(task: Task, seen: Seen, *, progress: Callable[[Progress], None] = quiet, scope: Scope = WHOLE) -> Assessment:
    """Work out what the green commands prove on this tree, keep it as a receipt, and have the journal vouch for it.

    Called without the task's lock, when every command is green.
    """
    assert seen.proof is not None  # noqa: S101  # asked only of tasks that have such settings
    until = monotonic() + 60 * seen.proof.minutes
    seen = seen.replace(proved=task.store.load().proved, findings={})  # commands may have been run since
    work = _Work(task, seen, until, progress, scope)
    found = [work.assess(run) for run in runs_assessed(seen)] if can_assess(seen) else []
    changed = _bounded([part for _assessed, parts in found for part in parts])
    commands = [assessed for assessed, _parts in found]
    words = [command.word for command in commands if command.runner or command.word == REFUSED]
    reach = max((command.reach for command in commands), key=WORDS.index, default=EXIT_CODE_ONLY)
    digest = sha256_of(json.dumps([[*vars(part).values()] for part in changed]).encode())
    assessment = Assessment(word_of_all(words), reach, tuple(commands), changed, digest)
    if seen.sealed and scope is WHOLE and assessment.word != REFUSED:
        lines = [run.command.line for run in runs_assessed(seen)]
        found_sealed = run_sealed(task, seen.tree, lines, progress)
        assessment = assessment.replace(sealed=found_sealed)
    receipt = _receipt(task, seen, assessment, scope)
    saved = ReceiptStore(task.places.receipts()).save(receipt)
    vouch(task, seen.tree, [saved], sealed=assessment.sealed_result)
    return assessment


def _receipt(task: Task, seen: Seen, assessment: Assessment, scope: Scope) -> Receipt:
    store, key = ReceiptStore(task.places.receipts()), proof_key(seen, scope.name)
    before = store.find(key)
    is_shut = assessment.word == REFUSED or assessment.sealed_result not in ("", PASSED)
    attempts = (*(before.attempts if before else ()), int(is_shut))
    log = store.log_path(key, len(attempts))
    write_atomic(log, _log_of(assessment).encode(), durable=True)
    output = json.dumps(to_json(assessment))
    return Receipt(key, f"{COMMAND}{scope.name}", seen.tree, attempts, log, time=utc_now(), output=output)


def _log_of(assessment: Assessment) -> str:
    lines: list[str] = [word_told(assessment)]
    for command in assessment.commands:
        lines += ["", f"$ {command.line}", f"  {command.runner or '-'}: {say.word_reached(command.word)}"]
        lines += [f"  {part.name}: {part.result}{': ' if part.why else ''}{part.why}" for part in command.parts]
        lines += [f"  shows the change: {name}" for name in command.targets]
    lines += [f"\n{part.how}: {part.file} {part.name}\n{part.diff}" for part in assessment.changed]
    return "\n".join((*lines, ""))


class _Work:
    """One assessment while it is worked out: bounded in time, the begin and end of each run reported."""

    def __init__(
        self, task: Task, seen: Seen, until: float, progress: Callable[[Progress], None], scope: Scope
    ) -> None:
        self.task, self.seen, self.until, self.progress, self.scope = task, seen, until, progress, scope
        self.runs, self.seconds = 0, 0.0

    def assess(self, run: Run) -> tuple[CommandAssessed, tuple[ChangedPart, ...]]:
        self.runs, self.seconds = 0, 0.0
        runners, line = runners_of(self.task), run.command.line
        known = self._kept_once(lambda: known_of(self.task, line, self.seen.workspace, runners, self.progress))
        if not known.recognised.calls:
            return grade(Evidence(line=line, runner="", base=None, now=None)), ()
        sides = sides_of(self.task, self.seen.tree, known.recognised, runners)
        receipt = self.seen.receipt(run.key)
        plain = ReceiptStore(self.task.places.receipts()).census(receipt) if receipt is not None else None
        evidence = begun_evidence(self.task, sides, line, known, plain, 0)
        census = None if evidence.tests_another_copy else known.census
        if census is not None and plain is not None and receipt is not None:
            command = _Command(line, sides, known, junit_of(known.recognised, runners))
            is_asked = RED_GREEN not in self.scope.left_out
            if is_asked and turned_green(census, plain, evidence.changed_tests):
                command = command.replace(known=self._repeated(command))  # a test that goes both ways shows no change
            passed = frozenset(case.id for case in plain.cases if name_of(case.id) in receipt.flaky.split("\n"))
            evidence = self._with_runs(command, evidence.replace(base=command.known.census, flaky=passed))
        return grade(evidence.replace(runs=self.runs, seconds=self.seconds)), evidence.changed

    def _with_runs(self, command: _Command, evidence: Evidence) -> Evidence:
        base, now = evidence.base, evidence.now
        assert base is not None and now is not None  # noqa: S101, PT018  # the caller looked
        left_out = dict(self.scope.left_out)
        is_changed = bool(command.sides.change.files)
        old_judge = old_code = Laid()
        if is_changed:
            old_judge = self._laid(
                command, JUDGED, command.sides.old_judge_tree, say.under_old_judge(command.line), left_out
            )
            old_judge = self._retried(command, old_judge, evidence)
            old_code = self._laid(
                command, RED_GREEN, command.sides.old_code_tree, say.on_old_code(command.line), left_out
            )
        evidence = evidence.replace(old_judge=old_judge, old_code=old_code, left_out=left_out)
        evidence = evidence.replace(only_reported=evidence.only_reported or self.scope.only_reported)
        before = old_code.census if old_code.is_needed else base
        targets: tuple[Target, ...] = ()
        if RED_GREEN not in self.scope.left_out:
            targets = find_targets(base, before or Census(), now, evidence.changed_tests)
        planted = self._planted(command, evidence, targets, left_out)
        hollow = None
        if targets and all(target.red_at == COLLECTION for target in targets):
            hollow = self._hollow(command, left_out)
        return evidence.replace(planted=planted, hollow=hollow, left_out=left_out)

    def _laid(
        self, command: _Command, part: str, tree: Callable[[], str], label: str, left_out: dict[str, str]
    ) -> Laid:
        """A run that hangs has no census, which is red; a checkout that can't be made ready says nothing."""
        if self._is_late(command, part, left_out):
            return Laid(is_needed=True)
        ran = self._run(command, tree(), label)
        if ran.unready:
            left_out[part] = ran.unready
        return Laid(is_needed=True, census=ran.census)

    def _retried(self, command: _Command, laid: Laid, evidence: Evidence) -> Laid:
        """Flaky tests of the baseline get another chance on the code of now too."""
        if laid.census is None or evidence.base is None:
            return laid
        green = {case.id for case in evidence.base.of_outcome(GREEN)}
        suspects = Suspects(red_in(laid.census) & green, laid.census, command.known, evidence.changed_tests)
        label, tree = say.under_old_judge(command.line), command.sides.old_judge_tree()
        found = retry(
            self.task,
            suspects,
            lambda: self._repeated(command),
            lambda _number: self._run(command, tree, label).counted,
        )
        return laid.replace(census=found.census, flaky=found.flaky) if found is not None else laid

    def _repeated(self, command: _Command) -> Known:
        seen, runners = self.seen, runners_of(self.task)
        return self._kept_once(lambda: repeated_of(self.task, command.line, seen.workspace, runners, self.progress))

    def _kept_once(self, find_out: Callable[[], Known]) -> Known:
        """What is found out once for all tasks takes nothing of this proof's time."""
        since = monotonic()
        known = find_out()
        self.until += monotonic() - since
        return known

    def _planted(
        self, command: _Command, evidence: Evidence, targets: Sequence[Target], left_out: dict[str, str]
    ) -> Planted | None:
        if self._is_late(command, CANARY, left_out):
            left_out |= dict.fromkeys((BROKEN, TWIN), left_out[CANARY])
            return None
        assert evidence.now is not None  # noqa: S101  # as above
        chance = Random(os.urandom(16))  # noqa: S311  # unknown to the work, which is all that is needed
        green = small_tests(evidence.now.of_outcome(GREEN))
        wanted = dict.fromkeys(sorted({_place(target.id) for target in targets})[:MOST_TARGETS], True)
        rest = [place for place in green if place not in wanted and place not in command.known.odd]
        wanted |= dict.fromkeys(chance.sample(rest, min(SAMPLE, len(rest))), False)
        hosts = sorted({case.id.file for case in evidence.now.cases})
        found = Outcomes()
        if BROKEN not in left_out:
            found = self._planted_run(command, lambda root: plant(root, wanted, chance, hosts))
        if not (found.canary_outcome or found.canary_file_ran):
            # One of the others may upset the runner, or a red test end the run before the canary's turn.
            alone = self._planted_run(command, lambda root: plant_canary(root, hosts, chance))
            found = alone.replace(broken=found.broken, twins=found.twins, cut=found.cut)
        return Planted(
            canary=found.canary,
            canary_outcome=found.canary_outcome,
            canary_file_ran=found.canary_file_ran,
            exit=found.exit,
            broken=found.broken,
            twins=found.twins,
            unavailable=dict(command.known.unavailable),
            cut=found.cut,
            anything_is_usual=command.known.anything_is_usual,
        )

    def _planted_run(self, command: _Command, plant_some: Callable[[str], Planting]) -> Outcomes:
        made: list[Planting] = []
        ran = self._run(
            command, self.seen.tree, say.with_planted(command.line), lambda root: made.append(plant_some(root))
        )
        return outcomes_of(made[0], ran.counted).replace(cut=ran.why) if made else Outcomes(cut=ran.why)

    def _hollow(self, command: _Command, left_out: dict[str, str]) -> Census | None:
        if self._is_late(command, RED_GREEN, left_out):
            return None
        files = command.sides.changed_code()
        return self._run(
            command, self.seen.tree, say.with_raising(command.line), lambda root: make_raise(root, files)
        ).census

    def _is_late(self, command: _Command, part: str, left_out: dict[str, str]) -> bool:
        """Whether a run that takes as long as the baseline's would end too late."""
        assert self.seen.proof is not None  # noqa: S101  # as in `assess`
        if part in left_out:
            return True
        if monotonic() + command.known.seconds < self.until:
            return False
        left_out[part] = say.out_of_time(self.seen.proof.minutes)
        return True

    def _run(
        self, command: _Command, tree: str, label: str, change: Callable[[str], object] = lambda _root: None
    ) -> _Ran:
        """One run in a checkout of a tree that was changed first."""
        timeout_s = command.known.bound_s(self.task.memory.head.command_timeout_s)
        self.runs += 1
        begins = Progress(BEGINS, label)
        self.progress(begins)
        since = monotonic()
        log = os.path.join(self.task.places.receipts(), f"proof-{self.seen.tree[:16]}-{self.runs}.log")
        with prepared_checkout(wanted_checkout(self.task, tree)) as made:
            if isinstance(made, SetupFailed):
                return _Ran(unready=say.set_up_failed(made.why))
            change(made.folder)
            ready: Checkout | SetupFailed = built(self.task, made, tree)
            if isinstance(ready, SetupFailed):
                return _Ran(unready=say.set_up_failed(ready.why))
            place = RunPlace(ready.folder, ready.laid, log, timeout_s)
            ran = run_counted(self.task, command.line, place, command.junit, self.progress)
        seconds = monotonic() - since - ran.waited_s
        self.seconds += seconds
        self.until += ran.waited_s
        self.progress(begins.replace(stage=ENDED, is_ok=True, seconds=seconds))
        if cut := why_cut_short(ran.finished, timeout_s, command_running(self.task).limits):
            return _Ran(cut=cut)
        return _Ran(ran)


class _Ran(Record):
    """A run that came to its own end; or why it did not; or why its checkout could not be made ready."""

    counted: Counted | None = None
    cut: str = ""
    unready: str = ""

    @property
    def census(self) -> Census | None:
        return self.counted.reported.census if self.counted is not None else None

    @property
    def why(self) -> str:
        return self.cut or self.unready


class _Command(Record):
    """One command while it is assessed."""

    line: str
    sides: Sides
    known: Known
    junit: Runner | None


def _place(case: CaseId) -> Place:
    return case.file, case.name


def _bounded(parts: Sequence[ChangedPart]) -> tuple[ChangedPart, ...]:
    left, found = _MOST_DIFF, []
    for part in dict.fromkeys(parts[:MOST_CHANGES]):
        diff = part.diff[: min(left, _LARGEST_DIFF)]
        left -= len(diff)
        found.append(part.replace(diff=diff))
    return tuple(found)
