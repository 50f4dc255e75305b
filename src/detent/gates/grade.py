"""Grades what one test command proves: from the censuses of its runs to one of the words, with each part's reason.

Pure. Only four facts refuse: a test of the baseline is lost although nothing that judges it changed; the command is
green though a test failed or its report is missing; a planted failure is reported as passed or not heard; a test that
shows the change passes whatever it expects. Everything else asks a person, or is a weaker word.
"""

from __future__ import annotations

from detent.core.record import Record
from detent.gates.compare_censuses import compare, find_targets, shown_by
from detent.store.text.assessment import (
    ASKS,
    BROKEN,
    CANARY,
    CENSUS,
    FAILED,
    JUDGED,
    LEFT_OUT,
    OK,
    RED_GREEN,
    SEEN,
    TWIN,
    UNAVAILABLE,
    ChangedPart,
    CommandAssessed,
    PartFound,
)
from detent.store.text.census import GONE, GREEN, RED, CaseId, Census, names_of
from detent.store.text.proof_words import ASK, BY_OWN_TEST, EXIT_CODE_ONLY, KEPT, PROVEN, REFUSED, weaker
from detent.words import assessed as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from detent.gates.compare_censuses import Change, Comparison, Target
    from detent.words.message import Message

    Place = tuple[str, str]  # file and name of a test

# Ends of a copy that expects something else, which the value it compares equals too: as it equals anything, or others.
ANYTHING, OTHERS = "equals anything", "equals others"


class Laid(Record):
    """A run of one tree's tests over another's code. Without a census the run is not needed, or came to no end."""

    is_needed: bool = False
    census: Census | None = None
    flaky: frozenset[CaseId] = frozenset()  # failed, and passed when they were run again


class Planted(Record):
    """What became of planted tests, by the test each was made from; `unavailable` says why a part can't be had here."""

    canary: str = ""  # its name; empty where none was planted
    canary_outcome: str = ""  # empty: it was not run
    canary_file_ran: bool = False  # other tests of its file were
    exit: int = 0
    broken: Mapping[Place, tuple[str, ...]] = {}  # outcomes of the versions that expect something else
    twins: Mapping[Place, tuple[str, ...]] = {}
    unavailable: Mapping[str, str] = {}  # by part: CANARY, BROKEN or TWIN
    cut: str = ""  # why the run with all of them came to no end
    anything_is_usual: bool = False  # tests of the baseline compare values that equal anything too


class Evidence(Record):
    """All that was found out about one command."""

    line: str
    runner: str
    base: Census | None
    now: Census | None
    exit: int = 0
    why_unreported: str = ""  # why the baseline has no census
    same_text: Mapping[Place, Place] = {}
    changed: tuple[ChangedPart, ...] = ()  # of what judges, without new tests
    changed_tests: frozenset[Place] = frozenset()  # tests whose text is not the baseline's
    old_judge: Laid = Laid()  # the baseline's tests over the code of now
    old_code: Laid = Laid()  # the tests of now over the baseline's code
    hollow: Census | None = None  # the tests of now where each changed function raises
    planted: Planted | None = None
    only_reported: bool = False  # changed tests are listed; no person is asked about them
    flaky: frozenset[CaseId] = frozenset()  # failed, and passed when they were run again
    accepted_red: frozenset[CaseId] = frozenset()
    tests_another_copy: bool = False  # the tests of the baseline do not notice that all code of its checkout raises
    left_out: Mapping[str, str] = {}  # parts that time did not allow, with the reason
    runs: int = 0
    seconds: float = 0.0


def name_of(case: CaseId) -> str:
    """A test as people write it: file, name and parameters."""
    text = "::".join(part for part in (case.file, case.name) if part)
    return f"{text}[{case.parameters}]" if case.parameters else text


def grade(found: Evidence) -> CommandAssessed:
    """The word for one command, with its parts in their order."""
    if not found.runner or found.base is None:
        return _by_exit_code(found)
    parts = {CENSUS: _census_part(found)}
    if found.now is None or parts[CENSUS].result == FAILED:
        return _assessed(found, parts, ())
    comparison = compare(found.base, found.now, found.same_text)
    parts[CENSUS] = _noted(_lost_part(found, comparison) or parts[CENSUS], found.flaky)
    if found.tests_another_copy:
        return _assessed(found, {CENSUS: _unless_lost(parts[CENSUS])}, ())
    parts[JUDGED] = _noted(_judged_part(found), found.old_judge.flaky)
    parts |= _planted_parts(found)
    targets = _targets(found)
    shown = () if RED_GREEN in found.left_out else shown_by(targets, found.hollow)
    parts[BROKEN] = _broken_part(found, shown, parts[BROKEN])
    parts[TWIN] = _twin_part(found, shown, parts[TWIN])
    parts[RED_GREEN] = _red_green_part(found, targets, shown)
    parts[SEEN] = _seen_part(found)
    return _assessed(found, parts, shown)


def doubt(found: Evidence) -> str:
    """Why a green exit is not believed, by the plain run alone; empty where nothing that refuses was found."""
    part = _census_part(found)
    if part.result != FAILED and found.base is not None and found.now is not None:
        part = _lost_part(found, compare(found.base, found.now, found.same_text)) or part
    return part.why if part.result == FAILED else ""


def _assessed(found: Evidence, parts: Mapping[str, PartFound], shown: Sequence[CaseId]) -> CommandAssessed:
    results = [part.result for part in parts.values()]
    reach = EXIT_CODE_ONLY if found.tests_another_copy else best_word(_lacking(parts))
    if FAILED in results:
        word = REFUSED
    elif ASKS in results:
        word = ASK
    elif JUDGED in parts and parts[JUDGED].result == LEFT_OUT:
        word = EXIT_CODE_ONLY
    elif not shown or reach != PROVEN or parts[BROKEN].result == LEFT_OUT:
        word = weaker(KEPT, reach)
    else:
        word = PROVEN if any(_is_old(found, case) for case in shown) else BY_OWN_TEST
    return CommandAssessed(
        line=found.line,
        runner=found.runner,
        word=word,
        reach=reach,
        parts=tuple(parts.values()),
        targets=tuple(name_of(case) for case in shown),
        ran=len(found.now.cases) if found.now is not None else 0,
        runs=found.runs,
        seconds=found.seconds,
    )


def _unless_lost(part: PartFound) -> PartFound:
    return part if part.result in (FAILED, ASKS) else _part(CENSUS, UNAVAILABLE, say.tests_another_copy())


def _by_exit_code(found: Evidence) -> CommandAssessed:
    part = _part(CENSUS, UNAVAILABLE, uncounted(found.line, found.runner, found.why_unreported))
    return CommandAssessed(found.line, found.runner, EXIT_CODE_ONLY, EXIT_CODE_ONLY, (part,), runs=found.runs)


def uncounted(line: str, runner: str, why: str) -> Message:
    """Why the exit code of a command alone counts, and what to do about it."""
    return say.baseline_unreported(runner, why) if runner else say.no_runner(line)


def best_word(unavailable: Collection[str]) -> str:
    """The best word that a command can get whose baseline lacks these parts."""
    return KEPT if {CANARY, BROKEN} & set(unavailable) else PROVEN


def _lacking(parts: Mapping[str, PartFound]) -> tuple[str, ...]:
    return tuple(name for name, part in parts.items() if part.result == UNAVAILABLE)


def _is_old(found: Evidence, case: CaseId) -> bool:
    """Whether a test stood on the baseline as it stands now: the agent did not write it."""
    assert found.base is not None  # noqa: S101  # asked only where there is one
    place = (case.file, case.name)
    return place in names_of(found.base.cases) and place not in found.changed_tests


def _part(name: str, result: str, why: Message) -> PartFound:
    return PartFound(name, result, why, why.next_step)


def _noted(part: PartFound, flaky: frozenset[CaseId]) -> PartFound:
    """The part with the names of flaky tests, where nothing worse is to be said of it."""
    if part.result != OK or part.why or not flaky:
        return part
    return part.replace(why=say.passed_when_run_again(sorted(name_of(case) for case in flaky)))


def _census_part(found: Evidence) -> PartFound:
    if found.now is None or (found.base and found.base.cases and not found.now.calls):
        return _part(CENSUS, FAILED, say.report_missing(found.runner))
    if not found.now.is_whole:
        return _part(CENSUS, FAILED, say.report_cut_short(found.runner))
    red = [case.id for case in found.now.of_outcome(RED) if case.id not in found.accepted_red]
    if red and found.exit == 0:
        return _part(CENSUS, FAILED, say.green_though_failed([name_of(case) for case in red]))
    if not found.now.cases and not (found.base and found.base.cases):
        return _part(CENSUS, ASKS, say.no_tests())
    return PartFound(CENSUS, OK)


def _lost_part(found: Evidence, comparison: Comparison) -> PartFound | None:
    assert found.now is not None  # noqa: S101  # asked only where there is one
    still_there = names_of(found.now.cases)
    lost = comparison.lost
    vanished = [
        change for change in lost if change.now == GONE and change.id.parameters and _place(change.id) in still_there
    ]
    return _hard_part(found, CENSUS, [change for change in lost if change not in vanished]) or (
        _part(CENSUS, ASKS, say.cases_gone([name_of(change.id) for change in vanished])) if vanished else None
    )


def _hard_part(found: Evidence, name: str, lost: Sequence[Change]) -> PartFound | None:
    """Refused, if nothing that judges a lost test changed; else a person is asked."""
    is_steered = any(not changed.name or _place_of(changed) not in found.changed_tests for changed in found.changed)
    hard = [change for change in lost if _place(change.id) not in found.changed_tests and not is_steered]
    if hard:
        return _part(name, FAILED, say.tests_lost([name_of(change.id) for change in hard]))
    if not lost:
        return None
    asks = _part(name, ASKS, say.tests_lost_by_change([name_of(change.id) for change in lost]))
    shown = {_place_of(changed) for changed in found.changed}
    if not all(_place(change.id) in shown for change in lost):
        return asks
    return PartFound(name, OK, asks.why) if found.only_reported else asks.replace(told_by=SEEN)


def _place(case: CaseId) -> Place:
    return case.file, case.name


def _place_of(part: ChangedPart) -> Place:
    return part.file, part.name


def _judged_part(found: Evidence) -> PartFound:
    """Every test of the baseline still passes where the baseline's own tests judge the code of now."""
    if not found.old_judge.is_needed:
        return PartFound(JUDGED, OK)
    if JUDGED in found.left_out:
        return PartFound(JUDGED, LEFT_OUT, found.left_out[JUDGED])
    then = found.old_judge.census
    if then is None or not then.calls:
        return _part(JUDGED, ASKS, say.old_judge_unusable())
    assert found.base is not None and found.now is not None  # noqa: S101, PT018  # asked only where there are both
    lost = compare(found.base, then).lost
    if part := _hard_part(found, JUDGED, lost):
        return part
    green = {case.id for case in then.of_outcome(GREEN)}
    bent = [
        change.id for change in compare(found.base, found.now, found.same_text).turned_green if change.id not in green
    ]
    bent = [case for case in bent if _place(case) not in found.changed_tests]
    return _part(JUDGED, ASKS, say.green_by_judge([name_of(case) for case in bent])) if bent else PartFound(JUDGED, OK)


def _planted_parts(found: Evidence) -> dict[str, PartFound]:
    """What the canary says; of broken tests and twins only whether they can be had."""
    parts = {name: PartFound(name, OK) for name in (CANARY, BROKEN, TWIN)}
    for name in parts:
        if found.planted is not None and name in found.planted.unavailable:
            parts[name] = _part(name, UNAVAILABLE, say.part_unavailable(found.planted.unavailable[name]))
        elif name in found.left_out or found.planted is None:
            parts[name] = PartFound(name, LEFT_OUT, found.left_out.get(name, ""))
    if parts[CANARY].result == OK and found.planted is not None:
        parts[CANARY] = _canary_part(found.planted)
    return parts


def _canary_part(planted: Planted) -> PartFound:
    if planted.canary_outcome in GREEN:
        return _part(CANARY, FAILED, say.canary_passed(planted.canary))
    if planted.canary_outcome in RED:
        unheard = say.canary_unheard(planted.canary)
        return PartFound(CANARY, OK) if planted.exit else _part(CANARY, FAILED, unheard)
    if planted.canary_file_ran and planted.exit == 0:
        return _part(CANARY, FAILED, say.canary_unheard(planted.canary))
    return _part(CANARY, ASKS, say.planted_cut(planted.cut) if planted.cut else say.canary_not_run(planted.canary))


def _targets(found: Evidence) -> tuple[Target, ...]:
    assert found.base is not None and found.now is not None  # noqa: S101, PT018  # asked only where there are both
    before = found.old_code.census if found.old_code.is_needed else found.base
    return find_targets(found.base, before or Census(), found.now, found.changed_tests)


def _broken_part(found: Evidence, shown: Sequence[CaseId], part: PartFound) -> PartFound:
    if part.result != OK or found.planted is None or not shown:
        return part
    ends = {case: frozenset(found.planted.broken.get(_place(case), ())) for case in shown}
    refuses = frozenset() if found.planted.anything_is_usual else frozenset({ANYTHING})
    if idle := [case for case in shown if ends[case] and (ends[case] <= GREEN or ends[case] & refuses)]:
        return _part(BROKEN, FAILED, say.passes_whatever([name_of(case) for case in idle]))
    if lax := [case for case in shown if ends[case] & {ANYTHING, OTHERS}]:
        return _part(BROKEN, ASKS, say.equals_others([name_of(case) for case in lax]))
    if not any(found.planted.broken.get(_place(case)) for case in shown):
        if found.planted.cut:
            return _part(BROKEN, ASKS, say.planted_cut(found.planted.cut))
        return _part(BROKEN, ASKS, say.no_expectation([name_of(case) for case in shown]))
    return part


def _twin_part(found: Evidence, shown: Sequence[CaseId], part: PartFound) -> PartFound:
    if part.result != OK or found.planted is None:
        return part
    failed = [case for case in shown if (ends := found.planted.twins.get(_place(case))) and not set(ends) <= GREEN]
    return _part(TWIN, ASKS, say.twin_failed([name_of(case) for case in failed])) if failed else part


def _red_green_part(found: Evidence, targets: Sequence[Target], shown: Sequence[CaseId]) -> PartFound:
    if RED_GREEN in found.left_out:
        return PartFound(RED_GREEN, LEFT_OUT, found.left_out[RED_GREEN])
    if shown:
        return PartFound(RED_GREEN, OK)
    return _part(RED_GREEN, LEFT_OUT, say.names_alone_are_new() if targets else say.nothing_shows_change())


def _seen_part(found: Evidence) -> PartFound:
    if not found.changed:
        return PartFound(SEEN, OK)
    names = ["::".join(part for part in _place_of(changed) if part) for changed in found.changed]
    why = say.judge_changed(names)
    return PartFound(SEEN, OK, why) if found.only_reported else _part(SEEN, ASKS, why)
