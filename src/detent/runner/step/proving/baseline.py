"""The result of a command on the baseline: its tests, and what can be planted there. Found out once, shared by tasks.

A part of the proof that fails on the untouched baseline can't be had for this command, so it counts against no change.
"""

from __future__ import annotations

import json
import os
from random import Random

from detent.core.record import Record
from detent.effects.git.git import Git
from detent.effects.tests.imports import BY_SEARCH, imports_any
from detent.effects.tests.judge_files import judge_of
from detent.effects.tests.kits.choose import language_of
from detent.effects.tests.planting import plant, plant_canary, raise_at_import
from detent.effects.tests.recognise import Found, Recognised, recognise
from detent.effects.workspace.checkout import SetupFailed, why_cut_short
from detent.effects.workspace.prepared import prepared_checkout
from detent.errors import UnreadableError
from detent.gates.grade import ANYTHING
from detent.runner.access.access import command_running
from detent.runner.step.proving.counted import RunPlace, junit_of, run_counted
from detent.runner.step.proving.planted import Outcomes, outcomes_of, small_tests
from detent.runner.step.proving.progress import BEGINS, Progress
from detent.runner.step.proving.sides import git_files
from detent.runner.step.proving.turn import alone_at
from detent.runner.step.proving.wanted import build_lines, built, wanted_checkout
from detent.store.disk.atomic import as_json, make_folders, read_cache, write_cache
from detent.store.disk.digest import sha256_of
from detent.store.journal.settings import FILE
from detent.store.text.assessment import BROKEN, CANARY, TWIN
from detent.store.text.census import GREEN, PASSED, RED, Case, CaseId, Census, from_json, names_of, to_json
from detent.words import assessed as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from detent.effects.tests.planting import Planting
    from detent.effects.tests.runners import Runners
    from detent.effects.workspace.checkout import Checkout
    from detent.runner.step.proving.counted import Counted
    from detent.runner.step.proving.progress import Tells
    from detent.runner.task.open import Task

FOLDER = "baselines"  # in the control folder of the project
LOCK = ".lock"  # at the end of the name of a result's lock
SAMPLE = 8  # tests of the baseline that are planted again
_CHANCE = "baseline"  # the same tests are chosen each time
_FORM = 4  # of what is kept
REPEATS = 2  # further runs there, where tests of the work go both ways
LEAST_S, TIMES = 15.0, 5  # a run of proof may take so long, or so often what the baseline took


YES, NO = "yes", "no"  # whether the tests noticed it
UNTRIED = ""  # nothing of theirs imports the code, or its compiler takes it from beside them


class Known(Record):
    """`census` is None where nothing believable was reported; `why` then says so.

    A test that goes both ways stands in it as passed: its failures show no change.
    """

    recognised: Recognised  # what the command calls there
    census: Census | None = None
    exit: int = 0
    seconds: float = 0.0
    why: str = ""
    unavailable: tuple[tuple[str, str], ...] = ()  # parts of a proof, with the reason
    odd: tuple[tuple[str, str], ...] = ()  # tests (file, name) whose copies do not pass even there
    noticed: str = UNTRIED  # whether the tests noticed that all code of the checkout raises
    is_final: bool = True  # a set-up that failed may be made the next time, so that nothing of it is kept
    anything_is_usual: bool = False  # its tests compare values that equal anything
    repeats: int = 0  # of the plain run
    both_ways: tuple[CaseId, ...] = ()  # tests that passed in one of these runs and failed in another

    def bound_s(self, longest_s: float) -> float:
        return min(longest_s, max(LEAST_S, TIMES * self.seconds))


def baseline_of(task: Task, baseline: str, line: str, workspace: str, runners: Runners, progress: Tells) -> Known:
    """What is known of a command on the baseline (a tree id); run there if it is not known yet."""
    path = _path_of(task, task.places.private_git(), baseline, line, workspace, runners)
    if (known := _read_known(path)) is not None:
        os.utime(path)  # it is in use
        return known
    make_folders(os.path.dirname(path))
    with alone_at(path + LOCK, progress):
        if (known := _read_known(path)) is None:  # another task may have found out meanwhile
            known = _Trial(task, baseline, line, runners, progress).known()
            if known.is_final:
                write_cache(path, as_json(_to_json(known)))
    return known


def kept_of(task: Task, baseline: str, line: str, workspace: str, runners: Runners) -> Known | None:
    """What was found out before, by a task or by `doctor`; None where nothing was. A new task has no git of its own."""
    return _read_known(_path_of(task, task.project.common_dir, baseline, line, workspace, runners))


def _path_of(task: Task, git_dir: str, baseline: str, line: str, workspace: str, runners: Runners) -> str:
    """Settings are no part of what is run: what of them matters has a part of its own."""
    rows = Git(git_dir).run("ls-tree", "-z", baseline).split(b"\0")
    files = sha256_of(b"\0".join(row for row in rows if row.partition(b"\t")[2] != os.fsencode(FILE)))
    head = task.memory.head
    around = [build_lines(task), head.command_timeout_s, {**head.command_limits}, {**head.sandbox_rules}]
    parts = (str(_FORM), files, line, workspace, json.dumps(around), repr(sorted(runners.by_name.items())))
    return os.path.join(task.project.control, FOLDER, f"{sha256_of(chr(0).join(parts).encode())}.json")


def repeated_baseline(task: Task, baseline: str, line: str, workspace: str, runners: Runners, progress: Tells) -> Known:
    """The same with the command run there twice more, to see which tests go both ways by themselves; kept as well."""
    known = baseline_of(task, baseline, line, workspace, runners, progress)
    if known.census is None or known.repeats:
        return known
    path = _path_of(task, task.places.private_git(), baseline, line, workspace, runners)
    with alone_at(path + LOCK, progress):
        known = _read_known(path) or known
        if not known.repeats:
            known = _Trial(task, baseline, line, runners, progress).repeated(known)
            write_cache(path, as_json(_to_json(known)))
    return known


class _Trial:
    """One command is tried on the baseline."""

    def __init__(self, task: Task, baseline: str, line: str, runners: Runners, progress: Tells) -> None:
        self.task, self.baseline, self.line, self.runners, self.progress = task, baseline, line, runners, progress
        self.longest_s: float = task.memory.head.command_timeout_s

    def known(self) -> Known:
        with prepared_checkout(wanted_checkout(self.task, self.baseline)) as made:
            if isinstance(made, SetupFailed):
                return Known(Recognised((), (), ()), why=say.set_up_failed(made.why), is_final=False)
            recognised = recognise(self.line, made.folder, self.runners)
            if not recognised.calls:
                return Known(recognised, why="; ".join(recognised.unreached))
            self.progress(Progress(BEGINS, say.on_baseline(self.line)))
            ran = self._run(made, recognised, self.longest_s, "")
        if isinstance(ran, SetupFailed):
            return Known(recognised, why=say.set_up_failed(ran.why), is_final=False)
        finished = ran.finished
        known = Known(recognised, exit=finished.exit, seconds=finished.seconds)
        if problem := why_cut_short(finished, self.longest_s, command_running(self.task).limits):
            return known.replace(why=problem)
        if not ran.reported.is_believable:
            why = "; ".join((*recognised.unreached, *ran.reported.problems)) or say.nothing_reported(finished.exit)
            return known.replace(why=why)
        known = known.replace(census=ran.reported.census)
        known = known.replace(noticed=self._noticed(known, ran.reported.census))
        is_planted = bool(ran.reported.census.cases) and known.noticed != NO
        return self._with_planted(known, ran.reported.census) if is_planted else known

    def _run(self, made: Checkout, recognised: Recognised, timeout_s: float, suffix: str) -> Counted | SetupFailed:
        ready = built(self.task, made, self.baseline)
        if isinstance(ready, SetupFailed):
            return ready
        log = os.path.join(self.task.places.receipts(), f"baseline-{self.baseline[:16]}{suffix}.log")
        place = RunPlace(ready.folder, ready.laid, log, timeout_s)
        return run_counted(self.task, self.line, place, junit_of(recognised, self.runners), self.progress)

    def repeated(self, known: Known) -> Known:
        """A run that is cut short or reports nothing believable shows nothing; the others count."""
        assert known.census is not None  # noqa: S101  # asked only where there is one
        found = [known.census]
        for number in range(1, REPEATS + 1):
            self.progress(Progress(BEGINS, say.again_on_baseline(self.line, number, REPEATS)))
            with prepared_checkout(wanted_checkout(self.task, self.baseline)) as made:
                if isinstance(made, SetupFailed):
                    continue
                ran = self._run(made, known.recognised, known.bound_s(self.longest_s), f"-again-{number}")
            if isinstance(ran, SetupFailed) or ran.finished.timed_out or ran.believable is None:
                continue
            found.append(ran.believable)
        both = both_ways_in(found)
        cases = (Case(case.id, PASSED) if case.id in both else case for case in known.census.cases)
        return known.replace(census=known.census.replace(cases=tuple(cases)), repeats=REPEATS, both_ways=both)

    def _noticed(self, known: Known, census: Census) -> str:
        """Whether the tests notice that all code of the checkout raises when it is imported.

        If they do not, they test another copy of it. Tests that import none of it are accused of nothing.
        """
        tree = git_files(self.task.places.private_git(), self.baseline)
        judge = judge_of(known.recognised, self.runners, tree.marks)
        languages = {runner.language for runner in judge.runners} & set(BY_SEARCH)
        code = [path for path in tree.marks if language_of(path) in languages and not judge.role_of(path)]
        green = {case.id for case in census.of_outcome(GREEN)}
        if not code or not imports_any(sorted({case.file for case in green}), tree, code):
            return UNTRIED
        self.progress(Progress(BEGINS, say.raising_on_baseline(self.line)))
        with prepared_checkout(wanted_checkout(self.task, self.baseline)) as made:
            if isinstance(made, SetupFailed) or not raise_at_import(made.folder, code):
                return UNTRIED
            ran = self._run(made, known.recognised, known.bound_s(self.longest_s), "-raising")
        if isinstance(ran, SetupFailed) or ran.finished.exit != known.exit or not ran.reported.is_believable:
            return YES
        return NO if green <= {case.id for case in ran.reported.census.of_outcome(GREEN)} else YES

    def _with_planted(self, known: Known, census: Census) -> Known:
        """Plant on the untouched baseline: what does not work there is no sign of anything."""
        chance = Random(_CHANCE)  # noqa: S311  # no secret: the same choice each time
        places = small_tests(census.of_outcome(GREEN))
        chosen = chance.sample(places, min(SAMPLE, len(places)))
        hosts = sorted({file for file, _name in names_of(census.cases)})
        tried = self._planted(known, lambda root: plant(root, dict.fromkeys(chosen, True), chance, hosts))
        if isinstance(tried, SetupFailed):
            why = say.set_up_failed(tried.why)
            lost = tuple((part, why) for part in (CANARY, BROKEN, TWIN))
            return known.replace(unavailable=lost, is_final=False)
        planting, found = tried
        if found.canary and not (found.canary_outcome or found.canary_file_ran):
            # A copy that failed ended the run before the canary's turn, or copies took too long.
            alone = self._planted(known, lambda root: plant_canary(root, hosts, chance))
            if not isinstance(alone, SetupFailed):
                found = alone[1].replace(broken=found.broken, twins=found.twins)
        return _judged(known, planting, found)

    def _planted(self, known: Known, plant_some: Callable[[str], Planting]) -> tuple[Planting, Outcomes] | SetupFailed:
        self.progress(Progress(BEGINS, say.planted_on_baseline(self.line)))
        with prepared_checkout(wanted_checkout(self.task, self.baseline)) as made:
            if isinstance(made, SetupFailed):
                return made
            planting = plant_some(made.folder)
            bound_s = known.bound_s(self.longest_s)
            ran = self._run(made, known.recognised, bound_s, "-planted")
        if isinstance(ran, SetupFailed):
            return ran
        is_cut = bool(why_cut_short(ran.finished, bound_s, command_running(self.task).limits))
        return planting, outcomes_of(planting, None if is_cut else ran)


def both_ways_in(censuses: Sequence[Census]) -> tuple[CaseId, ...]:
    """The tests of the first census that passed in one of these runs of the same tree and failed in another."""
    green = {case.id for census in censuses for case in census.of_outcome(GREEN)}
    red = {case.id for census in censuses for case in census.of_outcome(RED)}
    return tuple(case.id for case in censuses[0].cases if case.id in green and case.id in red)


def _judged(known: Known, planting: Planting, found: Outcomes) -> Known:
    unavailable: dict[str, str] = {}
    if not found.canary:
        unavailable[CANARY] = "; ".join(left.why for left in planting.left) or say.no_place_for_canary()
    elif not found.canary_is_heard:
        unavailable[CANARY] = say.canary_unheard_on_baseline()
    if not any(ends and not set(ends) <= GREEN for ends in found.broken.values()):
        unavailable[BROKEN] = say.nothing_broken_on_baseline()
    odd = [place for place, ends in found.twins.items() if not set(ends) <= GREEN]
    if not found.twins or len(odd) == len(found.twins):
        unavailable[TWIN] = say.no_twin_on_baseline()
    usual = any(ANYTHING in ends for ends in found.broken.values())
    return known.replace(unavailable=tuple(unavailable.items()), odd=tuple(sorted(odd)), anything_is_usual=usual)


def _to_json(known: Known) -> dict[str, Any]:
    return {
        "calls": [[call.runner, list(call.words), call.folder, list(call.way)] for call in known.recognised.calls],
        "files": list(known.recognised.files),
        "unreached": list(known.recognised.unreached),
        "census": to_json(known.census) if known.census is not None else None,
        "exit": known.exit,
        "seconds": round(known.seconds, 3),
        "why": known.why,
        "unavailable": [list(pair) for pair in known.unavailable],
        "odd": [list(pair) for pair in known.odd],
        "noticed": known.noticed,
        "anything_is_usual": known.anything_is_usual,
        "repeats": known.repeats,
        "both_ways": [[case.file, case.name, case.parameters] for case in known.both_ways],
    }


def _read_known(path: str) -> Known | None:
    """The kept result; None where there is none, or it can't be read: it is worked out again then."""
    try:
        content = json.loads(read_cache(path) or b"null")
        if content is None:
            return None
        census = from_json(content["census"], path) if content["census"] is not None else None
        unavailable, odd = (tuple((str(a), str(b)) for a, b in content[name]) for name in ("unavailable", "odd"))
        calls = tuple(
            Found(runner, tuple(words), folder, tuple(way)) for runner, words, folder, way in content["calls"]
        )
        recognised = Recognised(calls, tuple(content["files"]), tuple(content["unreached"]))
        exit_code, seconds, why = int(content["exit"]), float(content["seconds"]), str(content["why"])
        return Known(
            recognised,
            census,
            exit_code,
            seconds,
            why,
            unavailable,
            odd,
            noticed=str(content["noticed"]),
            anything_is_usual=bool(content["anything_is_usual"]),
            repeats=int(content["repeats"]),
            both_ways=tuple(CaseId(str(file), str(name), str(more)) for file, name, more in content["both_ways"]),
        )
    except (ValueError, KeyError, TypeError, UnreadableError):
        return None
