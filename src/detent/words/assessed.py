"""What green test commands do not prove, and what to do about it."""

from __future__ import annotations

import json

from detent.words.message import message
from detent.words.names import count_of, name_some

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_LONGEST_LINE = 200  # of a command in a sentence
_LOOK = "look at them: detent diff; accept them: detent approve --tests"


def _showing(tests: Sequence[str], does: str, do: str) -> str:
    """`1 test that shows the change passes`, `2 tests that show the change pass`."""
    is_one = len(tests) == 1
    return f"{count_of(len(tests), 'test')} that {'shows' if is_one else 'show'} the change {does if is_one else do}"


@message
def report_missing(runner: str) -> tuple[str, str]:
    return (
        f"{runner} gave no report of its tests, though it did on the first commit",
        "undo what keeps it from reporting, such as an early exit or a changed configuration",
    )


@message
def report_cut_short(runner: str) -> tuple[str, str]:
    return (
        f"the report of {runner} breaks off: a process ended before its tests did",
        "look for code that ends the process, such as os._exit or process.exit",
    )


@message
def green_though_failed(tests: Sequence[str]) -> tuple[str, str]:
    number = count_of(len(tests), "test")
    return f"the command exited with 0 though {number} failed: {name_some(tests)}", "repair these tests' code"


@message
def passed_when_run_again(tests: Sequence[str]) -> str:
    number, again = count_of(len(tests), "test"), "it was" if len(tests) == 1 else "they were"
    return f"flaky: {number} failed, and passed when {again} run again: {name_some(tests)}"


@message
def tests_lost(tests: Sequence[str]) -> tuple[str, str]:
    return (
        f"{count_of(len(tests), 'test')} passed on the first commit, and {'is' if len(tests) == 1 else 'are'} now "
        f"skipped, failed or gone: {name_some(tests)}",
        "make them pass again by the code; a test that must change is shown to a person",
    )


@message
def tests_lost_by_change(tests: Sequence[str]) -> tuple[str, str]:
    return (
        f"{count_of(len(tests), 'test')} of the first commit no longer {'passes' if len(tests) == 1 else 'pass'} "
        f"as before: {name_some(tests)}",
        _LOOK,
    )


@message
def cases_gone(tests: Sequence[str]) -> tuple[str, str]:
    return (
        f"{count_of(len(tests), 'case')} of unchanged tests no longer {'exists' if len(tests) == 1 else 'exist'}: "
        f"{name_some(tests)}",
        "look whether they may go; accept it: detent approve --tests",
    )


@message
def green_by_judge(tests: Sequence[str]) -> tuple[str, str]:
    return (
        f"{count_of(len(tests), 'test')} turned green by a change of what judges, not of the code: {name_some(tests)}",
        _LOOK,
    )


@message
def old_judge_unusable() -> tuple[str, str]:
    return (
        "the tests of the first commit can't run on this code",
        _LOOK,
    )


@message
def canary_passed(test: str) -> tuple[str, str]:
    return (
        f"a planted test that must fail was reported as passed: {test}",
        "undo what makes failing tests pass, such as a patched report",
    )


@message
def canary_unheard(test: str) -> tuple[str, str]:
    return (
        f"a planted test that must fail did not make the command fail: {test}",
        "undo what hides failing tests, such as a changed exit code or a filter",
    )


@message
def canary_not_run(test: str) -> tuple[str, str]:
    return f"a planted test that must fail was not run: {test}", "look at what the command runs: detent logs"


@message
def planted_cut(why: str) -> tuple[str, str]:
    return (
        f"the run with planted tests came to no end: {why}",
        "run it again: detent prove --again; or look at it and accept: detent approve --tests",
    )


@message
def passes_whatever(tests: Sequence[str]) -> tuple[str, str]:
    return (
        f"{count_of(len(tests), 'test')} that should show the change "
        f"{'passes whatever it expects' if len(tests) == 1 else 'pass whatever they expect'}: {name_some(tests)}",
        "write a test whose assertion is reached and compares plain values",
    )


@message
def equals_others(tests: Sequence[str]) -> tuple[str, str]:
    return (
        f"{_showing(tests, 'compares', 'compare')} a value that equals several others: {name_some(tests)}",
        "compare plain values; or look at it and accept: detent approve --tests",
    )


@message
def no_expectation(tests: Sequence[str]) -> tuple[str, str]:
    return (
        f"{_showing(tests, 'has', 'have')} no expectation that can be changed: {name_some(tests)}",
        "assert a plain value in one of them",
    )


@message
def twin_failed(tests: Sequence[str]) -> tuple[str, str]:
    return (
        f"{_showing(tests, 'passes', 'pass')}, but not under another name: {name_some(tests)}",
        "look whether the code knows its tests by name: detent diff; accept it: detent approve --tests",
    )


@message
def found_out_before() -> str:
    return "found out at the task's last move"


@message
def nothing_shows_change() -> tuple[str, str]:
    return (
        "no test fails on the first commit's code and passes now",
        "add a test that fails without the change",
    )


@message
def names_alone_are_new() -> tuple[str, str]:
    return (
        "the tests that show the change fail on the first commit only because a name is new: "
        "no test runs the changed code",
        "call the changed code in a test and assert its result",
    )


@message
def judge_changed(parts: Sequence[str]) -> tuple[str, str]:
    return (
        f"{count_of(len(parts), 'part')} of what judges the work changed: {name_some(parts)}",
        _LOOK,
    )


@message
def no_runner(line: str) -> tuple[str, str]:
    first = json.dumps(line.partition("\n")[0][:_LONGEST_LINE], ensure_ascii=False)
    return (
        "no test runner was recognised: its exit code alone counts",
        "name a command that calls the runner itself; or let it write JUnit XML and add to detent.toml: "
        f'runners.own = {{ calls = [{first}], junit = ["report.xml"] }}',
    )


@message
def baseline_unreported(runner: str, why: str) -> tuple[str, str]:
    return (
        f"{runner} gave no report on the first commit ({why}): the exit code alone counts",
        "run detent doctor: it says how this command can be reached",
    )


@message
def tests_another_copy() -> tuple[str, str]:
    return (
        "this command does not test this checkout: its tests stay green though all of the project's code raises",
        "have the tests import the checkout: install the project as a link (editable), or add its folder to the path "
        "(pytest: pythonpath)",
    )


@message
def no_tests() -> tuple[str, str]:
    return "there are no tests, on the first commit or now", "accept it: detent approve --tests"


@message
def part_unavailable(why: str) -> str:
    return f"not available for this command: {why}"


@message
def out_of_time(minutes: int) -> tuple[str, str]:
    return f"left out: the proof took its {minutes} minutes", "give it more: [proof] minutes in detent.toml"


_PLAIN = {
    "refused": "not believed",
    "ask": "a person must look",
    "exit_code_only": "by exit code only",
    "kept": "what passed before still passes",
    "proven_by_own_test": "proven by the agent's own test",
    "proven": "proven by a test of the first commit",
}


def in_plain_words(word: str) -> str:
    return _PLAIN[word]


_PARTS = {
    "census": "tests that ran",
    "kept": "by the old tests",
    "canary": "planted failure",
    "broken": "wrong expectation",
    "twin": "renamed copies",
    "red_green": "red before, green now",
    "seen": "changed tests",
}


def part_in_plain_words(part: str) -> str:
    return _PARTS[part]


@message
def kind_needs(kind: str, by: str, required: str) -> str:
    guessed = "" if by == "person" else ", as guessed from the request,"
    return f"this {kind}{guessed} needs: {in_plain_words(required)} ({required})"


@message
def no_place_for_reports() -> str:
    return "the place for test reports can't be made"


@message
def not_assessed() -> str:
    return "what the green commands prove was not assessed on this tree"


@message
def word_reached(word: str, sealed: str = "") -> str:
    """`sealed` is the result of the task's sealed checks, where they ran."""
    if sealed in ("", "passed"):
        more = " + sealed" if sealed else ""
        return f"{in_plain_words(word)}{more} ({word}{more})"
    return f"{in_plain_words(word)} ({word}), but a sealed check failed"


@message
def person_accepted(name: str, word: str) -> str:
    return f"{name} accepted it: {in_plain_words(word)} ({word})"


@message
def word_too_weak(word: str, required: str, kind: str) -> tuple[str, str]:
    return (
        f"{in_plain_words(word)} ({word}); a {kind} needs: {in_plain_words(required)} ({required})",
        f'add a test that fails without the change, or accept it: detent approve --proof {word} --reason "why"',
    )


# ---- what a proof does just now, and on the first commit -------------------------------------------------------------


@message
def on_baseline(line: str) -> str:
    return f"{line} (on the first commit)"


@message
def again_on_baseline(line: str, number: int, total: int) -> str:
    return f"{line} (on the first commit again, {number} of {total}: is a failed test flaky there?)"


@message
def again_for_flaky(line: str, number: int, most: int) -> str:
    return f"{line} (again, {number} of at most {most}: only flaky tests failed)"


@message
def other_proof_runs(task_id: str) -> str:
    running = f"a test command of task {task_id}" if task_id else "another test command of this project"
    return f"for {running} to end ([proof] parallel = true lets them overlap)"


@message
def other_tries_baseline() -> str:
    return "for another task that runs the tests on the same first commit"


@message
def planted_on_baseline(line: str) -> str:
    return f"{line} (on the first commit, with planted tests)"


@message
def raising_on_baseline(line: str) -> str:
    return f"{line} (on the first commit, with its code made to raise)"


@message
def under_old_judge(line: str) -> str:
    return f"{line} (with the tests of the first commit)"


@message
def on_old_code(line: str) -> str:
    return f"{line} (with the code of the first commit)"


@message
def with_planted(line: str) -> str:
    return f"{line} (with planted tests)"


@message
def with_raising(line: str) -> str:
    return f"{line} (with the changed functions made to fail)"


@message
def set_up_failed(why: str) -> str:
    return f"its set-up failed: {why}"


@message
def nothing_reported(exit_code: int) -> str:
    return f"no test reported anything, exit {exit_code}"


@message
def no_place_for_canary() -> str:
    return "no test file can hold one"


@message
def canary_unheard_on_baseline() -> str:
    return "on the first commit a failing test does not make this command fail"


@message
def nothing_broken_on_baseline() -> str:
    return "on the first commit no test has an expectation that can be changed"


@message
def no_twin_on_baseline() -> str:
    return "on the first commit no test passes under another name"
