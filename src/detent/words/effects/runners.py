"""What is wrong with test runners of the settings, why one can't be reached, and why a report counts for nothing."""

from __future__ import annotations

from detent.words.message import message
from detent.words.names import count_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


# ---- runners of the settings -----------------------------------------------------------------------------------------


@message
def problems_in_runners(problems: Sequence[str], where: str, runners: Iterable[str]) -> tuple[str, str]:
    return (
        f"[runners] has {count_of(len(problems), 'problem')}: {'; '.join(problems)}",
        f"correct {where}; known runners: {', '.join(runners)}",
    )


@message
def wrong_in(table: str, problem: str) -> str:
    return f"{table}: {problem}"


@message
def no_calls() -> str:
    return "calls must list the first words of the command that starts it"


@message
def not_one_of(key: str, allowed: Iterable[str]) -> str:
    return f"{key} must be one of {', '.join(allowed)}"


@message
def report_outside(path: str) -> str:
    return f"junit must lie in the tree, {path!r} does not"


# ---- what can't be reached -------------------------------------------------------------------------------------------


@message
def too_many_steps() -> str:
    return "the command is made of more steps than are followed"


@message
def ignores_environment(call: str) -> str:
    return (
        f"{call} ignores its environment (-I, -E or -S), so no report can be asked for; "
        "next: take that option away (-P keeps the checkout's folder off the path)"
    )


@message
def no_report_of_its_own(runner: str, key: str, declare: str) -> str:
    line = f" ({declare})" if declare else ""
    return (
        f"{runner} tells no test by itself; next: let it write JUnit XML{line} and name the files: "
        f'[runners.{key}] junit = ["PATH"]'
    )


# ---- reports ---------------------------------------------------------------------------------------------------------


@message
def wrong_report(name: str, problem: str) -> str:
    return f"{name}: {problem}"


@message
def reports_unreadable(reason: str) -> str:
    return f"the reports can't be read: {reason}"


@message
def too_many_processes(most: int) -> str:
    return f"more than {most} processes reported"


@message
def too_many_tests(most: int) -> str:
    return f"more than {most} tests were reported"


@message
def too_many_files(most: int, patterns: Sequence[str]) -> str:
    return f"more than {most} files are named {' or '.join(patterns)}"


@message
def no_file(patterns: Sequence[str]) -> str:
    return f"the command wrote no file named {' or '.join(patterns)}"


@message
def no_beginning() -> str:
    return "it does not begin as a report does"


@message
def no_exit_code() -> str:
    return "its end is no exit code"


@message
def long_line(number: int, most_bytes: int) -> str:
    return f"line {number} is longer than {most_bytes >> 10} KB"


@message
def line_no_json(number: int) -> str:
    return f"line {number} is no JSON"


@message
def line_no_table(number: int) -> str:
    return f"line {number} is no table"


@message
def torn() -> str:
    return "it is one torn line"


@message
def line_no_test(fields: Sequence[str]) -> str:
    return f"a line is no test: it must have {', '.join(fields)}"


@message
def has_document_type() -> str:
    return "it declares a document type, which no report needs"


@message
def no_xml(reason: str) -> str:
    return f"it is no XML: {reason}"


@message
def no_junit() -> str:
    return "it is no JUnit report: it begins with neither testsuites nor testsuite"
