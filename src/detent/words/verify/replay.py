"""What a line of the journal says otherwise than the rules: what an audit finds when it decides again."""

from __future__ import annotations

from detent.words.message import message
from detent.words.names import name_some

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


@message
def journal_of_other_task(found: str, task_id: str) -> str:
    return f"it is the journal of task {found}, not of {task_id}"


@message
def no_state(machine: str, state: str) -> str:
    return f"{machine} has no state {state!r}"


@message
def not_recorded() -> str:
    return "not recorded"


@message
def was_closed() -> str:
    return "it was closed"


@message
def nothing_open(by: str) -> str:
    return f"{by} finds nothing open"


@message
def move_not_allowed(source: str, target: str, why: str) -> str:
    return f"{source} -> {target} is not allowed: {why}"


@message
def field_differs(field: str, found: object, value: object) -> str:
    return f"{field} is {found!r}, the rules give {value!r}"


@message
def signed_nothing(edge: str) -> str:
    return f"{edge} was signed without the tree or the files it is about"


@message
def no_sign_off(edge: str) -> str:
    return f"{edge} is no sign-off, and this line says it was one"


@message
def prepares_other(steps: Iterable[str]) -> str:
    return f"the move prepares {', '.join(steps)}, not what it says"


@message
def not_intended_move() -> str:
    return "it is not the move that was intended"


@message
def unknown_outcome(lacking: Iterable[str]) -> str:
    return f"nothing says what became of {', '.join(lacking)}"


@message
def crash_not_counted(how: str) -> str:
    return f"a run that ended as {how} is not counted so here"


@message
def after_differs(field: str, written: object, due: object) -> str:
    return f"{field} after it is {written!r}, the rules give {due!r}"


@message
def locked_text_changed_by_line(item: str) -> str:
    return f"the locked text {item!r} was changed by this line"


@message
def item_problem(item: str, problem: str) -> str:
    return f"{item}: {problem}"


@message
def gate_not_shown(gate: str, why: str) -> str:
    return f"gate {gate} was open then and can't be shown now: {why}"


@message
def other_receipts(gate: str) -> str:
    return f"gate {gate} names other receipts than those of its commands"


@message
def approved_tree_unreadable(problem: str) -> str:
    return f"the tree that was approved can't be read: {problem}"


@message
def nothing_says_what_was_accepted(word: str, tree: str) -> str:
    return f"no receipt says that the tests of tree {tree[:12]} prove {word!r}, which was accepted"


@message
def other_files_approved(tree: str) -> str:
    return f"the files approved are not those that {tree[:12]} touched"


@message
def carried_unreadable(problem: str) -> str:
    return f"the text it carries can't be read: {problem}"


@message
def carried_names_other(state: str, wanted: str) -> str:
    return f"the text it carries names {state}, not {wanted}"


@message
def aside_gone(kept: str) -> str:
    return f"{kept}, which was moved aside, is gone"


@message
def kept_unreadable(digest: str, problem: str) -> str:
    return f"kept text {digest[:12]}: {problem}"


@message
def kept_missing(digest: str) -> str:
    return f"kept text {digest[:12]} is missing"


@message
def kept_changed(digest: str) -> str:
    return f"kept text {digest[:12]} was changed"


@message
def not_understood(kind: str, problem: Exception) -> str:
    return f"the line can't be understood: {kind} {problem}"


@message
def cant_stand_here(kind: str) -> str:
    return f"a {kind} line can't stand here"


@message
def line_needs(kind: str, fields: Iterable[str]) -> str:
    return f"a {kind} line needs {', '.join(fields)}"


@message
def changes_nothing(kind: str) -> str:
    return f"a {kind} line changes nothing, this one says it did"


@message
def only_by_person(kind: str, by: object) -> str:
    return f"only a person makes a {kind} line, not {by!r}"


@message
def no_time(time: str) -> str:
    return f"{time!r} is no time"


@message
def earlier(time: str, before: str) -> str:
    return f"{time} is earlier than the line before ({before})"


@message
def starts_elsewhere(source: str, state: str) -> str:
    return f"it starts in {source}, but the task was in {state}"


@message
def not_promised(step: str) -> str:
    return f"no move promised {step}, or it was done before"


@message
def accepts_without_reason(gate: str, files: Iterable[str]) -> str:
    return f"{gate} accepts {name_some(files)} without a person's reason"


@message
def accepted_not_told(edge: str, gate: str) -> str:
    return f"{edge} does not tell what the person accepted with {gate}"


@message
def deploys_other_files(name: str, files: Iterable[str]) -> str:
    return f"it deploys other files than {name} confirmed: {name_some(files)}"


@message
def word_names_no_files() -> str:
    return "the word it rests on names no files"


@message
def differing_not_told(files: Iterable[str]) -> str:
    return f"it does not tell that {name_some(files)} differ from what was deployed"


@message
def intended_beside() -> str:
    return "it is intended while another is"


@message
def nothing_intended() -> str:
    return "nothing was intended"


@message
def delivers_unjudged(edge: str, tree: str, gate: str, judged: str, files: Iterable[str]) -> str:
    return f"{edge} delivers {tree[:12]}, but {gate} judged {judged[:12]}: {name_some(files)} differ (not vouched for)"
