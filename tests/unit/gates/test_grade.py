"""The word for one command: four facts refuse, everything else asks or is a weaker word."""

from __future__ import annotations

import pytest

from detent.gates.grade import ANYTHING, OTHERS, Evidence, Laid, Planted, grade, name_of
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
)
from detent.store.text.census import BODY, COLLECTION, GONE, PASSED, SKIPPED, Call, Case, CaseId, Census, census_of
from detent.store.text.census import FAILED as RED
from detent.store.text.proof_words import ASK, BY_OWN_TEST, EXIT_CODE_ONLY, KEPT, PROVEN, REFUSED
from detent.words import assessed as say

OLD, OTHER, NEW = (
    CaseId("tests/test_a.py", "test_old"),
    CaseId("tests/test_a.py", "test_other"),
    CaseId("tests/test_b.py", "test_new"),
)
WHOLE = Call("pytest", has_ended=True, exit=0)


def ran(*ends: tuple[CaseId, str], whole: bool = True) -> Census:
    cases = [Case(case, end, BODY if end == RED else "") for case, end in ends]
    return census_of(cases, [WHOLE if whole else Call("pytest", has_ended=False)])


def place(case: CaseId) -> tuple[str, str]:
    return case.file, case.name


PLANTED = Planted(
    canary="test_handles_many",
    canary_outcome=RED,
    canary_file_ran=True,
    exit=1,
    broken={place(NEW): (RED, RED), place(OLD): (RED,)},
    twins={place(NEW): (PASSED,), place(OLD): (PASSED,)},
)
BASE = ran((OLD, PASSED), (OTHER, PASSED))
HONEST = Evidence(
    line="python -m pytest",
    runner="pytest",
    base=BASE,
    now=ran((OLD, PASSED), (OTHER, PASSED), (NEW, PASSED)),
    old_judge=Laid(is_needed=True, census=BASE),
    old_code=Laid(is_needed=True, census=ran((OLD, PASSED), (OTHER, PASSED), (NEW, RED))),
    changed_tests=frozenset({("tests/test_b.py", "test_new")}),
    planted=PLANTED,
)


def result_of(found: CommandAssessed, part: str) -> str:
    return {shown.name: shown.result for shown in found.parts}[part]


def test_new_test_that_was_red_proves_by_own_test() -> None:
    found = grade(HONEST)
    assert (found.word, found.reach, found.targets) == (BY_OWN_TEST, PROVEN, ("tests/test_b.py::test_new",))


def test_old_red_test_that_passes_now_proves() -> None:
    found = grade(
        HONEST.replace(
            base=ran((OLD, RED), (OTHER, PASSED)),
            now=BASE,
            old_judge=Laid(),
            old_code=Laid(),
            changed_tests=frozenset(),
        )
    )
    assert (found.word, found.targets) == (PROVEN, ("tests/test_a.py::test_old",))


def test_change_that_no_test_shows_is_kept() -> None:
    found = grade(HONEST.replace(now=BASE, old_judge=Laid(), old_code=Laid(), changed_tests=frozenset()))
    assert (found.word, result_of(found, RED_GREEN)) == (KEPT, LEFT_OUT)


def test_import_error_alone_proves_nothing_until_hollow_run_is_red() -> None:
    unread = census_of([Case(CaseId("tests/test_b.py", ""), RED, COLLECTION)], [WHOLE])
    alone = HONEST.replace(old_code=Laid(is_needed=True, census=unread))
    assert grade(alone).word == KEPT
    assert grade(alone.replace(hollow=ran((NEW, RED)))).word == BY_OWN_TEST
    assert grade(alone.replace(hollow=ran((NEW, PASSED)))).word == KEPT


@pytest.mark.parametrize(
    ("evidence", "part"),
    [
        pytest.param({"now": ran((OLD, PASSED), (NEW, PASSED))}, CENSUS, id="a test of the baseline is gone"),
        pytest.param({"now": ran((OLD, SKIPPED), (OTHER, PASSED), (NEW, PASSED))}, CENSUS, id="it is skipped"),
        pytest.param(
            {"now": ran((OLD, RED), (OTHER, PASSED), (NEW, PASSED))}, CENSUS, id="exit 0 though a test failed"
        ),
        pytest.param({"now": Census()}, CENSUS, id="no report where the baseline gave one"),
        pytest.param({"now": None}, CENSUS, id="no readable report"),
        pytest.param({"now": ran((OLD, PASSED), (OTHER, PASSED), whole=False)}, CENSUS, id="the report breaks off"),
        pytest.param(
            {"old_judge": Laid(is_needed=True, census=ran((OLD, RED), (OTHER, PASSED)))},
            JUDGED,
            id="red under the baseline's tests",
        ),
        pytest.param(
            {"planted": PLANTED.replace(canary_outcome=PASSED)}, CANARY, id="the canary is reported as passed"
        ),
        pytest.param({"planted": PLANTED.replace(exit=0)}, CANARY, id="the canary failed and the command is green"),
        pytest.param(
            {"planted": PLANTED.replace(canary_outcome="", exit=0)}, CANARY, id="the canary is missing from its file"
        ),
        pytest.param(
            {"planted": PLANTED.replace(broken={place(NEW): (PASSED, PASSED)})},
            BROKEN,
            id="a target passes whatever it expects",
        ),
    ],
)
def test_each_of_the_four_facts_refuses(evidence: dict[str, object], part: str) -> None:
    found = grade(HONEST.replace(**evidence))
    assert (found.word, result_of(found, part)) == (REFUSED, FAILED)


@pytest.mark.parametrize(
    ("evidence", "part"),
    [
        pytest.param({"changed": (ChangedPart("tests/conftest.py", "", "changed", ""),)}, SEEN, id="a helper changed"),
        pytest.param(
            {"planted": PLANTED.replace(twins={place(NEW): (RED,)})}, TWIN, id="a target fails under another name"
        ),
        pytest.param({"planted": PLANTED.replace(broken={})}, BROKEN, id="no target has an expectation"),
        pytest.param(
            {"planted": PLANTED.replace(canary_outcome="", canary_file_ran=False)}, CANARY, id="the canary was not run"
        ),
        pytest.param({"old_judge": Laid(is_needed=True)}, JUDGED, id="the baseline's tests can't run"),
        pytest.param(
            {"base": Census(calls=(WHOLE,)), "now": Census(calls=(WHOLE,)), "changed_tests": frozenset()},
            CENSUS,
            id="no tests at all",
        ),
    ],
)
def test_what_is_no_such_fact_asks_a_person(evidence: dict[str, object], part: str) -> None:
    found = grade(HONEST.replace(**evidence))
    assert (found.word, result_of(found, part)) == (ASK, ASKS)


def test_lost_test_asks_where_its_text_or_judges_changed() -> None:
    lost = HONEST.replace(now=ran((OTHER, PASSED), (NEW, PASSED)))
    assert grade(lost).word == REFUSED
    assert grade(lost.replace(changed_tests=HONEST.changed_tests | {(OLD.file, OLD.name)})).word == ASK
    assert grade(lost.replace(changed=(ChangedPart("pytest.ini", "", "changed", ""),))).word == ASK


def test_vanished_case_of_unchanged_parametrised_test_asks() -> None:
    first, second = (CaseId("tests/test_a.py", "test_each", text) for text in ("1", "2"))
    found = grade(
        HONEST.replace(
            base=ran((first, PASSED), (second, PASSED)), now=ran((first, PASSED)), old_judge=Laid(), old_code=Laid()
        )
    )
    assert (found.word, result_of(found, CENSUS)) == (ASK, ASKS)


def test_test_that_turned_green_by_its_judge_asks() -> None:
    base = ran((OLD, RED), (OTHER, PASSED))
    found = grade(HONEST.replace(base=base, old_judge=Laid(is_needed=True, census=base)))
    assert (found.word, result_of(found, JUDGED)) == (ASK, ASKS)


def test_failing_twin_of_test_that_shows_nothing_does_not_ask() -> None:
    assert (
        grade(HONEST.replace(planted=PLANTED.replace(twins={place(NEW): (PASSED,), place(OLD): (RED,)}))).word
        == BY_OWN_TEST
    )


def test_flaky_test_is_named_and_excuses_nothing_else() -> None:
    found = grade(HONEST.replace(flaky=frozenset({OLD})))
    assert (found.word, result_of(found, CENSUS)) == (BY_OWN_TEST, OK)
    assert [one.why for one in found.parts if one.name == CENSUS] == [say.passed_when_run_again([name_of(OLD)])]
    gone = HONEST.replace(now=ran((OLD, GONE), (OTHER, PASSED), (NEW, PASSED)), flaky=frozenset({OLD}))
    assert grade(gone).word == REFUSED


def test_value_that_equals_anything_refuses_and_several_others_ask() -> None:
    def planted(end: str, *, is_usual: bool = False) -> CommandAssessed:
        ends = {place(NEW): (RED, end)}
        return grade(HONEST.replace(planted=PLANTED.replace(broken=ends, anything_is_usual=is_usual)))

    assert (planted(ANYTHING).word, planted(OTHERS).word, planted(RED).word) == (REFUSED, ASK, BY_OWN_TEST)
    assert planted(ANYTHING, is_usual=True).word == ASK


def test_planted_run_that_came_to_no_end_asks() -> None:
    found = grade(HONEST.replace(planted=PLANTED.replace(broken={}, twins={}, cut="timed out after 15 s")))
    assert (found.word, result_of(found, BROKEN)) == (ASK, ASKS)
    assert [one.why for one in found.parts if one.name == BROKEN] == [say.planted_cut("timed out after 15 s")]


def test_red_green_left_out_shows_no_change() -> None:
    found = grade(HONEST.replace(left_out={RED_GREEN: "no time"}, old_code=Laid(is_needed=True)))
    assert (found.word, found.targets) == (KEPT, ())


def test_old_tests_left_out_leave_the_exit_code_alone() -> None:
    found = grade(HONEST.replace(left_out={JUDGED: "no time"}, old_judge=Laid(is_needed=True)))
    assert (found.word, found.reach) == (EXIT_CODE_ONLY, PROVEN)


def test_accepted_red_tests_are_not_held_against_the_work() -> None:
    red = ran((OLD, RED), (OTHER, PASSED), (NEW, PASSED))
    allowed = HONEST.replace(
        base=ran((OLD, RED), (OTHER, PASSED)), now=red, old_judge=Laid(), accepted_red=frozenset({OLD})
    )
    assert grade(allowed).word == BY_OWN_TEST


def test_command_without_a_baseline_report_counts_by_exit_code() -> None:
    for found in (grade(HONEST.replace(base=None, why_unreported="exit 2")), grade(HONEST.replace(runner=""))):
        assert (found.word, found.reach, result_of(found, CENSUS)) == (EXIT_CODE_ONLY, EXIT_CODE_ONLY, UNAVAILABLE)


def test_part_that_cannot_be_had_lowers_what_is_within_reach() -> None:
    found = grade(HONEST.replace(planted=PLANTED.replace(unavailable={BROKEN: "no file can hold one"})))
    assert (found.word, found.reach) == (KEPT, KEPT)


def test_part_left_out_for_lack_of_time_lowers_the_word() -> None:
    found = grade(HONEST.replace(planted=None, left_out=dict.fromkeys((CANARY, BROKEN, TWIN), "no time")))
    assert (found.word, found.reach) == (KEPT, PROVEN)


def test_removed_test_is_told_by_the_part_that_shows_it() -> None:
    gone = ChangedPart("tests/test_a.py", "test_old", "removed", "")
    removed = HONEST.replace(
        now=ran((OTHER, PASSED), (NEW, PASSED)),
        changed=(gone,),
        changed_tests=HONEST.changed_tests | {place(OLD)},
    )
    census = next(part for part in grade(removed).parts if part.name == CENSUS)
    assert (census.result, census.told_by) == (ASKS, SEEN)
    assert census.why == say.tests_lost_by_change(["tests/test_a.py::test_old"])
    steered = removed.replace(changed=(ChangedPart("pytest.ini", "", "added", ""),))
    assert next(part for part in grade(steered).parts if part.name == CENSUS).told_by == ""


@pytest.mark.parametrize(("tests", "said"), [((NEW,), "1 test that shows"), ((NEW, OLD), "2 tests that show")])
def test_sentence_agrees_with_the_number_of_tests(tests: tuple[CaseId, ...], said: str) -> None:
    base = ran(*((case, RED) for case in tests if case == OLD), (OTHER, PASSED))
    shown = HONEST.replace(
        base=base,
        now=ran((OTHER, PASSED), *((case, PASSED) for case in tests)),
        old_judge=Laid(),
        old_code=Laid(is_needed=True, census=ran((OTHER, PASSED), *((case, RED) for case in tests))),
        planted=PLANTED.replace(twins={place(case): (RED,) for case in tests}),
    )
    assert next(part for part in grade(shown).parts if part.name == TWIN).why.startswith(f"{said} the change pass")


def test_changed_tests_that_are_reported_ask_and_lift_nothing() -> None:
    changed = HONEST.replace(changed=(ChangedPart("tests/conftest.py", "", "changed", ""),))
    assert grade(changed).word == ASK
    reported = grade(changed.replace(only_reported=True))
    assert reported.word == BY_OWN_TEST
    assert next(part for part in reported.parts if part.name == SEEN).why
    shows_nothing = changed.replace(
        only_reported=True, now=BASE, old_judge=Laid(), old_code=Laid(), changed_tests=frozenset()
    )
    assert grade(shows_nothing).word == KEPT


def test_tests_of_another_copy_count_by_exit_code() -> None:
    found = grade(HONEST.replace(tests_another_copy=True))
    assert (found.word, found.reach, found.targets) == (EXIT_CODE_ONLY, EXIT_CODE_ONLY, ())
    assert [(part.name, part.result) for part in found.parts] == [(CENSUS, UNAVAILABLE)]
    assert found.parts[0].why == say.tests_another_copy()


def test_lost_test_of_another_copy_is_still_refused() -> None:
    found = grade(HONEST.replace(tests_another_copy=True, now=ran((OLD, PASSED), (OTHER, SKIPPED))))
    assert (found.word, found.reach) == (REFUSED, EXIT_CODE_ONLY)
