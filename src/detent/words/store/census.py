"""Why a list of tests can't be one: the sentences of the census."""

from __future__ import annotations

from detent.words.message import message

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


@message
def no_census(problem: str) -> str:
    return f"this is no census of tests: {problem}"


@message
def no_table() -> str:
    return "it must be a table of schema 1 with cases and calls"


@message
def no_lists() -> str:
    return "cases and calls must be lists"


@message
def too_many(most_cases: int, most_calls: int) -> str:
    return f"it has more than {most_cases} cases or {most_calls} calls"


@message
def wrong_call(number: int) -> str:
    return f"call {number} must be [runner, has_ended, exit]"


@message
def not_in_order() -> str:
    return "its cases are not in order, or one stands there twice"


@message
def wrong_fields() -> str:
    return "must be [file, name, parameters, outcome, stage, why]"


@message
def too_long(longest_name: int, longest_why: int) -> str:
    return f"a name is longer than {longest_name} characters, or a reason than {longest_why}"


@message
def no_file_or_name() -> str:
    return "it has neither a file nor a name"


@message
def no_outcome(outcome: str, outcomes: Iterable[str]) -> str:
    return f"{outcome!r} is no outcome; allowed: {', '.join(outcomes)}"


@message
def no_stage(stage: str, outcome: str) -> str:
    return f"{stage!r} is no stage of {outcome}"


@message
def wrong_case(number: int, problem: str) -> str:
    return f"case {number}: {problem}"
