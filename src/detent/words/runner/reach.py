"""What a command's tests can prove on a commit, and how they could prove more."""

from __future__ import annotations

from detent.words.message import message
from detent.words.names import count_of, name_some

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


@message
def every_part_works() -> str:
    return "planted failures, wrong expectations and renamed copies are all noticed"


@message
def without_copies(why: str) -> str:
    return f"planted failures and wrong expectations are noticed; renamed copies can't be had ({why})"


@message
def no_runner() -> tuple[str, str]:
    return (
        "no test runner was recognised in it",
        "if it runs tests: call the runner itself, or have it write JUnit XML and name the files under [runners.NAME] "
        "with calls and junit",
    )


@message
def no_report(runner: str, why: str) -> tuple[str, str]:
    return (
        f"{runner} gave no report of its tests ({why})",
        f'have it write JUnit XML and name the files: [runners.{runner}] junit = ["PATH"]',
    )


@message
def no_report_but(why: str, fix: str) -> tuple[str, str]:
    return why, fix


@message
def no_tests_yet() -> tuple[str, str]:
    return "it finds no test yet, so that a task's own test is the best there can be", "add a test"


@message
def part_missing(parts: Sequence[tuple[str, str]]) -> tuple[str, str]:
    """`parts`: the names of parts, and why they can't be had."""
    listed = "; ".join(f"{name}: {why}" for name, why in parts)
    return (
        f"what a test proves can't be tried out ({listed})",
        "make a failing test fail the command, and write tests that assert plain values",
    )


@message
def not_ended(why: str) -> tuple[str, str]:
    return (
        f"it did not come to its own end ({why})",
        "make it end by itself, or give it more time: [commands] timeout_s",
    )


@message
def out_of_time(minutes: int) -> tuple[str, str]:
    return f"not tried: the {minutes} minutes of [proof] are over", "detent doctor again: what was found out is kept"


@message
def without_git() -> tuple[str, str]:
    return "without git there is no first commit to compare with: exit codes alone count", "git init, and commit"


@message
def red_at_first(tests: Sequence[str]) -> tuple[str, str]:
    does = "is red on this commit and keeps" if len(tests) == 1 else "are red on this commit and keep"
    return (
        f"{count_of(len(tests), 'test')} {does} every task from its end: {name_some(tests)}",
        "repair them, or accept them as they are: detent doctor --accept-red",
    )


@message
def accepted_red(tests: Sequence[str]) -> str:
    return f"{count_of(len(tests), 'test')} red on this commit, accepted in [proof] red: {name_some(tests)}"


@message
def no_longer_red(names: Sequence[str]) -> tuple[str, str]:
    return (
        f"[proof] red names what is not red on this commit: {name_some(names)}",
        "take it out: detent doctor --accept-red",
    )


@message
def list_not_written(where: str, line: str) -> tuple[str, str]:
    return f"{where} is written in a way in which the list can't be set by itself", f"write it yourself: {line}"


@message
def nothing_committed() -> tuple[str, str]:
    return "nothing is committed yet, so that no test can be red on a commit", "git add -A && git commit"
