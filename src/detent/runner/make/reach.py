"""What the test commands of a project can prove on its last commit, and which tests are red there.

Uses and keeps what a task's first proof would work out (`step/proving/baseline.py`), so that it is done once.
"""

from __future__ import annotations

from time import monotonic

from detent.core.record import Record
from detent.effects.workspace.checkout import BUILD
from detent.gates.grade import best_word, name_of
from detent.runner.make.draft import clear
from detent.runner.step.look import workspace_key
from detent.runner.step.proving.baseline import NO, kept_of
from detent.runner.step.proving.counted import runners_of
from detent.runner.step.proving.evidence import accepted_in, known_of
from detent.runner.step.proving.progress import BEGINS, ENDED, Progress, quiet
from detent.store.text.assessment import TWIN
from detent.store.text.census import RED
from detent.store.text.proof_words import BY_OWN_TEST, EXIT_CODE_ONLY, PROVEN
from detent.words import assessed
from detent.words.runner import reach as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from detent.runner.step.proving.baseline import Known
    from detent.runner.task.open import Task
    from detent.words.message import Message


class Reach(Record):
    """The best word that one command can get, and why it is no better."""

    name: str
    line: str
    runner: str  # empty where none was recognised
    word: str
    why: str
    next_step: str = ""
    tests: int = 0
    red: tuple[str, ...] = ()  # tests that fail on the commit
    unaccepted: tuple[str, ...] = ()  # those of them that no person accepted


def reach_commands(
    task: Task, cut_short: Mapping[str, str], minutes: int, progress: Callable[[Progress], None] = quiet
) -> tuple[Reach, ...]:
    """Each command but the build, on the commit that the task begins from; `cut_short`: lines that came to no end."""
    until = monotonic() + 60 * minutes
    runners, workspace, clock = runners_of(task), workspace_key(task, task.memory), _Clock(progress)
    found = []
    for name, line in task.memory.head.commands:
        if name == BUILD:
            continue
        if why := cut_short.get(line):
            found.append(_by_exit_code(name, line, "", say.not_ended(why)))
        elif monotonic() > until:
            found.append(_by_exit_code(name, line, "", say.out_of_time(minutes)))
        else:
            known = known_of(task, line, workspace, runners, clock.tells)
            clock.ends()
            found.append(reach_of(task, name, line, known))
    clear(task)
    return tuple(found)


class _Clock:
    """Reports when a run begins and how long it took."""

    def __init__(self, progress: Callable[[Progress], None]) -> None:
        self._progress = progress
        self._since: float | None = None

    def begins(self, label: str) -> None:
        self.ends()
        self._since = monotonic()
        self._progress(Progress(BEGINS, label))

    def tells(self, progress: Progress) -> None:
        if progress.stage == BEGINS:
            self.begins(progress.line)
        else:
            self._progress(progress)

    def ends(self) -> None:
        if self._since is not None:
            self._progress(Progress(ENDED, is_ok=True, seconds=monotonic() - self._since))
        self._since = None


def reach_of(task: Task, name: str, line: str, known: Known) -> Reach:
    """What a command can prove, by what is known of it on the first commit."""
    runner = ", ".join(known.recognised.runners)
    if not known.recognised.calls:
        return _by_exit_code(name, line, "", say.no_report_but(known.why, "") if known.why else say.no_runner())
    if known.census is None:
        why, _, fix = known.why.partition("; next: ")
        message = say.no_report(runner, why)
        return _by_exit_code(name, line, runner, say.no_report_but(message, fix) if fix else message)
    red = [case.id for case in known.census.of_outcome(RED)]
    accepted = accepted_in(task, known.census)
    found = Reach(
        name,
        line,
        runner,
        EXIT_CODE_ONLY,
        "",
        tests=len(known.census.cases),
        red=tuple(map(name_of, red)),
        unaccepted=tuple(name_of(case) for case in red if case not in accepted),
    )
    if known.noticed == NO:
        return _with(found, EXIT_CODE_ONLY, assessed.tests_another_copy())
    if not known.census.cases:
        return _with(found, BY_OWN_TEST, say.no_tests_yet())
    missing = dict(known.unavailable)
    word = best_word(missing)
    if word != PROVEN:
        return _with(
            found, word, say.part_missing([(assessed.part_in_plain_words(part), missing[part]) for part in missing])
        )
    return _with(found, PROVEN, say.without_copies(missing[TWIN]) if TWIN in missing else say.every_part_works())


def kept_reach(task: Task) -> tuple[Reach, ...] | None:
    """The same for the task's commands without any run; None where one of them was not tried on its first commit."""
    head = task.memory.head
    runners, workspace = runners_of(task), workspace_key(task, task.memory)
    found = []
    for name, line in head.commands:
        if name == BUILD:
            continue
        known = kept_of(task, head.baseline, line, workspace, runners)
        if known is None:
            return None
        found.append(reach_of(task, name, line, known))
    return tuple(found)


def _by_exit_code(name: str, line: str, runner: str, why: Message) -> Reach:
    return Reach(name, line, runner, EXIT_CODE_ONLY, why, why.next_step)


def _with(found: Reach, word: str, why: Message) -> Reach:
    return found.replace(word=word, why=why, next_step=why.next_step)


def red_tests(found: Sequence[Reach]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for command in found for name in command.red))
