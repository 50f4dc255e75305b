"""What lies outside the journal and does not bear it out."""

from __future__ import annotations

from detent.words.message import message

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


_MOST_HEADINGS = 5  # of those that a log lacks


@message
def repository_unreadable(problem: str) -> str:
    return f"the repository can't be read: {problem}"


@message
def commit_gone(commit: str) -> str:
    return f"commit {commit[:12]} is gone from the repository"


@message
def commit_of_other(commit: str, key: str) -> str:
    return f"commit {commit[:12]} does not say that {key} made it"


@message
def begun_by_older() -> str:
    return (
        "begun by an older Detent: logs, output and exits, and files at the end, are not vouched for where no line has "
        "their hashes"
    )


@message
def file_gone(path: str, what: str) -> str:
    return f"{path}: the {what} is gone"


@message
def file_changed(path: str, what: str) -> str:
    return f"{path}: the {what} was changed"


@message
def unreadable(where: str, problem: str) -> str:
    return f"{where}: {problem}"


@message
def log_of_receipt() -> str:
    return "log of a receipt"


@message
def prompt_of_run(number: int) -> str:
    return f"prompt of agent run #{number}"


@message
def file_of_run(name: str, number: int) -> str:
    return f"{name} of agent run #{number}"


@message
def no_commit(commit: str) -> str:
    return f"{commit[:40]!r} is no commit"


@message
def other_tree(commit: str) -> str:
    return f"commit {commit[:12]} has another tree than the line says"


@message
def no_longer_on_branch(commit: str, branch: str, shown: str) -> str:
    return f"commit {commit[:12]} is no longer on {branch}; the work is in {shown}"


@message
def log_before_gone(name: str) -> str:
    return f"{name}: what was there before the task is gone or was changed"


@message
def foreign_line(number: int, name: str, shown: str) -> str:
    return f"line {number} of {name} is not from the engine, no journal line says so: {shown}"


@message
def more_foreign_lines(more: int, name: str) -> str:
    return f"{more} more lines of {name} are not from the engine"


@message
def log_no_text(file: str, problem: str) -> str:
    return f"{file} can't be read as text: {problem}"


@message
def told_more_than_once(name: str, line: int) -> str:
    return f"{name} tells line {line} more than once"


@message
def told_otherwise(number: int, name: str, seq: int) -> str:
    return f"line {number} of {name} tells line {seq} otherwise than the journal"


@message
def told_again(number: int, name: str, seq: int) -> str:
    return f"line {number} of {name} tells line {seq} a second time"


@message
def told_too_late(number: int, name: str, seq: int) -> str:
    return f"line {number} of {name} tells line {seq} too late"


@message
def log_knows_more(name: str, beyond: int) -> str:
    return f"{name} knows line {beyond}: lines were removed from the end, or somebody else wrote it"


@message
def not_done(promise: str) -> str:
    return f"{promise} was promised and not done"


@message
def private_git_unreadable(problem: Exception) -> str:
    return f"the private git can't be read: {problem}"


@message
def ref_holds_other(ref: str, commit: str, found: str) -> str:
    return f"{ref} should hold {commit[:12]}, it holds {found[:12]}"


@message
def commit_not_of_move(commit: str) -> str:
    return f"commit {commit[:12]} is not of the tree that the move saw, or is gone"


@message
def no_pointer_back(folder: str) -> str:
    return f"{folder} does not point back to this task"


@message
def file_behind(file: str) -> str:
    return f"{file} has not reached the last line yet"


@message
def label_differs(file: str, label: str) -> str:
    return f'{file}: "{label}" is not what the journal says'


@message
def locked_was_changed(item: str) -> str:
    return f"{item} is locked and was changed"


@message
def older_copy(file: str, state: str) -> str:
    return f"{file} is an older copy: it names {state}"


@message
def state_line_lost(file: str) -> str:
    return f"{file} has lost its state line"


@message
def names_other_state(file: str, request: str, state: str) -> str:
    return f"{file} names {request}, the journal {state}"


@message
def revision_gone() -> str:
    return "the filed revision is gone"


@message
def revision_changed() -> str:
    return "the filed revision was changed"


@message
def lines_not_told(log: str, lines: Sequence[int], headings: Sequence[str] | None) -> str:
    """`headings`: what would stand over them; None where the log has no headings."""
    gap = f"{log} does not tell {len(lines)} line(s), first {lines[0]}"
    if headings is None:
        return gap
    more = f" and {len(headings) - _MOST_HEADINGS} more" if len(headings) > _MOST_HEADINGS else ""
    return f"{gap}: {'; '.join(headings[:_MOST_HEADINGS])}{more}"


@message
def lines_before(count: int, log: str) -> str:
    return f"{count} line(s) of {log} were there before the task"


@message
def lines_not_vouched_for(count: int, log: str) -> str:
    return f"{count} line(s) of {log} stand before it, and are not vouched for"


@message
def no_landing(commit: str) -> str:
    return f"git does not show that the work landed: commit {commit[:12]} is not in the repository"


@message
def no_landing_on(commit: str, branch: str) -> str:
    return f"git does not show that the work landed: commit {commit[:12]} is not on {branch}"


@message
def landing_without_work(commit: str, branch: str) -> str:
    return f"git does not show that the work landed: commit {commit[:12]} is on {branch} and does not hold the work"


@message
def evidence_gone(name: str, state: str) -> str:
    return f"{name} is gone after {state} was reached"


@message
def evidence_changed(name: str, state: str) -> str:
    return f"{name} was changed after {state} was reached"


@message
def receipt_gone(path: str) -> str:
    return f"{path}: the receipt is gone"


@message
def receipt_changed(path: str, command: str) -> str:
    return f"{path}: the receipt of {command!r} was changed"
