"""What is wrong with a hand-over and a verification, and how a recorded command differs."""

from __future__ import annotations

from detent.words.message import message
from detent.words.proof import ending

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


def _first(printed: str) -> str:
    return f'"{printed}"' if printed else "nothing else"


@message
def other_design(criterion: str, section: str, design: str) -> tuple[str, str]:
    return (
        f'the design of {criterion} under "## {section}" names nothing that is in {design}',
        f'under "## {section}": name a file in a code span, or a section of the design',
    )


@message
def test_names_no_file(criterion: str, section: str) -> str:
    return f'the test of {criterion} under "## {section}" names no file'


@message
def not_ready(section: str, said: str, wanted: str) -> str:
    return f'it gives {said or "no clear verdict"} under "## {section}", not {wanted}'


@message
def no_truths(section: str) -> str:
    return f'"## {section}" lists no T-1, T-2, ...'


@message
def truth_is_question(truth: str, section: str, text: str, other: str) -> tuple[str, str]:
    return (
        f'{truth} under "## {section}" is a question, not a truth ("{text}")',
        f"move it to ## {other}",
    )


@message
def truth_twice(truth: str, section: str, other: str) -> tuple[str, str]:
    return f'{truth} stands under "## {section}" and under "## {other}"', "keep it where it belongs"


@message
def question_open(entry: str) -> str:
    return f'"{entry}" is open and may change what passes'


@message
def entry_lacks(criterion: str, section: str, labels: Iterable[str]) -> str:
    return f'{criterion} under "## {section}" has no {" and no ".join(labels)}'


@message
def criteria_untestable(scope: str) -> str:
    return f"{scope} names no AC-* that could be tested"


@message
def criterion_not_named(criterion: str, files: Iterable[str]) -> str:
    return f"{criterion} is not named in {', '.join(files)}"


@message
def no_test_planned(file: str, criterion: str) -> str:
    return f"{file} plans no test for {criterion}"


@message
def name_the_test(criterion: str) -> str:
    return f"name the test after it, as in: def test_{criterion.lower().replace('-', '_')}_..."


@message
def no_pass(name: str, result: str, section: str) -> str:
    return f'{name} has no result {result} under "## {section}"'


@message
def did_not_pass() -> str:
    return "it did not pass"


@message
def no_kind(where: str, kinds: Iterable[str]) -> str:
    return f"{where} has no kind of: {', '.join(kinds)}"


@message
def step_lacks(entry: str, section: str, labels: Iterable[str]) -> str:
    return f'"{entry}" under "## {section}" has no {", no ".join(labels)}'


@message
def no_steps(section: str) -> str:
    return f'"## {section}" lists no steps'


@message
def failure_not_shown(section: str, criterion: str) -> str:
    return f'"## {section}" does not show how {criterion} fails'


@message
def no_truth_listed(readiness: str) -> tuple[str, str]:
    return f"{readiness} lists no truth it could be held against", "correct readiness.md first"


@message
def not_said(section: str, words: str) -> str:
    return f'"## {section}" does not say "{words}"'


@message
def other_target(section: str) -> str:
    return f'"## {section}" does not name the target of the scope'


@message
def too_little_load(section: str, criteria: Iterable[str], most: int) -> tuple[str, str]:
    return (
        f'"## {section}" was not run at the concurrency of {", ".join(criteria)} ({most})',
        f'under "## {section}": Concurrency: {most}',
    )


@message
def asks_host(host: str) -> str:
    return f"it asks {host}"


@message
def asks_server() -> str:
    return "it asks a server that it does not start"


@message
def nothing_recorded(file: str) -> str:
    return f"{file} records no command of a verification that passed"


@message
def only_prints(file: str, commands: Iterable[tuple[str, str]]) -> str:
    """`commands`: each label with its line."""
    listed = ", ".join(f"{label} (`{line}`)" for label, line in commands)
    return f"{file}: a recorded command only prints text, which exercises nothing: {listed}"


@message
def not_repeated(commands: Iterable[tuple[str, str]]) -> str:
    """`commands`: each label with its line."""
    listed = ", ".join(f"{label}: `{line}`" for label, line in commands)
    return f"not repeated on this tree: {listed}"


@message
def unrun(label: str, problem: str, said: str) -> str:
    return f"{label}: {problem}{ending(said)}"


@message
def other_output(file: str, differences: Iterable[tuple[str, str, str]]) -> str:
    """`differences`: label and line of each command, and how it differs."""
    listed = "; ".join(f"{label}: `{line}` {why}" for label, line, why in differences)
    return f"{file} does not match what the engine saw: {listed}"


@message
def left_alone(commands: Iterable[tuple[str, str]]) -> str:
    """`commands`: each label with the reason."""
    listed = ", ".join(f"{label} ({why})" for label, why in commands)
    return f"not repeated by the engine: {listed}"


@message
def other_exit(exit_code: int, wanted: int, printed: str) -> str:
    """`printed`: its last line; empty where it printed none."""
    said = f', and printed: "{printed}"' if printed else ""
    return f"exited with {exit_code}, not {wanted}{said}"


@message
def record_leaves_all_out() -> str:
    return "has a recorded output that leaves everything out"


@message
def record_leaves_out(count: int, most: int, mark: str) -> str:
    return f'leaves something out in {count} lines; at most {most} may hold "{mark}"'


@message
def not_printed(recorded: str, printed: str) -> str:
    return f'does not print the recorded "{recorded}"; it prints {_first(printed)}'


@message
def printed_besides(printed: str, more: int, mark: str) -> str:
    """`more`: how many lines besides the first."""
    besides = f" and {more} more lines" if more else ""
    return f'prints {_first(printed)}{besides}, which the record leaves out without a line "{mark}"'
