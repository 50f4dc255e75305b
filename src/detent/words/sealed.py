"""What came of sealed checks. Agents are told the first sentence and no other."""

from __future__ import annotations

from detent.words.message import message
from detent.words.names import count_of, name_some

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


@message
def sealed_failed() -> tuple[str, str]:
    return "a sealed check failed", "compare the work with the request again"


@message
def running() -> str:
    return "sealed checks"


@message
def not_hidden() -> str:
    return "this host has no sandbox: agents can read the sealed checks"


@message
def how_many(number: int, level: str) -> str:
    hidden = "not hidden: this host has no sandbox" if level == "none" else "hidden from agents"
    return f"{count_of(number, 'check')}, {hidden}"


@message
def has_come_of_it(place: str, result: str, why: str) -> str:
    return f"{place}: {result}{': ' if why else ''}{why}"


@message
def not_passed_often(number: int, task_id: str) -> tuple[str, str]:
    return (
        f"sealed checks did not pass in {count_of(number, 'proof')}",
        f"read which: detent status {task_id}; let an agent try again: detent respawn {task_id}; "
        f'or accept the work as it is: detent approve {task_id} --sealed --reason "why"',
    )


@message
def label() -> str:
    return "sealed"


@message
def accepted(name: str) -> str:
    return f"{name} accepted this tree as it is"


@message
def lost(place: str) -> str:
    return f"the kept copy of {place} is missing or changed"


@message
def script_exited(exit_code: int) -> str:
    return f"exit {exit_code}"


@message
def no_command(place: str) -> str:
    return f"none of the task's commands runs tests like {place}"


@message
def tests_failed(names: Sequence[str]) -> str:
    return f"failed: {name_some(names)}"


@message
def tests_not_run(names: Sequence[str]) -> str:
    return f"skipped or not run: {name_some(names)}"


@message
def cut_short() -> str:
    return "the report breaks off: a process ended before its tests did"


@message
def not_collected(place: str, line: str) -> str:
    return f"{line} does not run {place}, on the first commit either: give it another place (FILE:PLACE)"


@message
def not_reported() -> str:
    return "no test of it was reported, though they are on the first commit"


@message
def canary_passed() -> str:
    return "a planted test that must fail was reported as passed"


@message
def pass_whatever(names: Sequence[str]) -> str:
    return f"pass whatever they expect: {name_some(names)}"


@message
def pass_by_name(names: Sequence[str]) -> str:
    return f"pass, but no copy under another name and with other comparisons does: {name_some(names)}"


@message
def folder_in_the_way(place: str) -> str:
    return f"the tree has a folder at {place}"
