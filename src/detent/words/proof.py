"""Why something is not proven: the sentences about commands, the work tree, and what a person said of them."""

from __future__ import annotations

from detent.words.message import message
from detent.words.names import name_some

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_SHORT = 12  # characters of a tree id or commit


def ending(said: str) -> str:
    """The last line a command wrote, for the end of a sentence; all its last lines are quoted where there is room."""
    last = said.rpartition("\n")[2]
    return f": {last}" if last else ""


@message
def tree_not_scanned() -> str:
    return "the work tree changed since the last scan"


@message
def programs_not_found(names: Iterable[str]) -> str:
    return f"the plan can never be proven here: {', '.join(names)} not found on PATH"


@message
def not_run(commands: Iterable[str]) -> str:
    return f"not run on this tree: {', '.join(commands) or 'nothing'}"


@message
def not_run_without_change(commands: Iterable[str]) -> str:
    return f"not run without the change: {', '.join(commands)}"


@message
def came_to_no_end(problem: str, said: str) -> str:
    return f"{problem}{ending(said)}; that says nothing about the work"


@message
def every_command_passed() -> str:
    return "every command passed on this tree"


@message
def result(ended: str, said: str) -> str:
    """`ended`: how the command ended, e.g. `exit 1`."""
    return f"{ended}{ending(said)}"


@message
def command_failed(command: str, ended: str) -> str:
    return f"{command!r} failed ({ended})"


@message
def command_failed_here(command: str, ended: str, said: str, withheld: str = "") -> str:
    """`withheld`: variables that the command asked for and was not given."""
    lacks = f"; not in its environment: {withheld}" if withheld else ""
    return f"{command!r} failed on this tree ({ended}{lacks}){ending(said)}"


@message
def no_first_commit() -> str:
    return "there is no first commit to compare with"


@message
def broken_without_change(command: str, problem: str) -> str:
    return f"without the change {command!r} did not come to its own end: {problem}; that proves nothing"


@message
def passes_without_change(commands: Iterable[str]) -> tuple[str, str]:
    return (
        f"it passes without the change too, so it proves nothing: {', '.join(commands)}",
        "write a test that fails without the change, where the test files are",
    )


_CONFIGURE = 'as a person: detent configure --check "your test command"; for later tasks [commands] of detent.toml'


@message
def no_command_anywhere() -> tuple[str, str]:
    return "neither the project nor the task names a command", _CONFIGURE


@message
def field_names_no_command(field: str, fix: str) -> tuple[str, str]:
    """`fix`: what the gate itself asks for; empty where that helps no more."""
    why = f'"{field}" names no command (a "cmd: ..." line or a fenced block)'
    return why, f"{fix}; or {_CONFIGURE}" if fix else _CONFIGURE


@message
def move_saw_no_tree() -> str:
    return "the move that led here did not look at the tree"


@message
def not_waived(gate: str) -> str:
    return f"no person waived {gate} for the move that led here"


@message
def tree_differs(tree: str, before: str) -> str:
    return f"the tree is {tree[:_SHORT]} now, it was {before[:_SHORT]} when it came here"


@message
def not_filed(place: str) -> str:
    return f"{place} is not there for the tree as it is: nothing has changed, or nobody has asked for the move"


@message
def nothing_to_file(place: str) -> str:
    return f"{place} would be empty: nothing has changed since the work began"


@message
def not_renewed(places: Iterable[str], state: str) -> str:
    return f"{' and '.join(places)}: the same as when {state} was entered"


@message
def unknown_whether_about(name: str) -> str:
    return f"whether {name} is about these files is not known yet"


@message
def about_other_files(name: str, changed: Iterable[str], visit: int) -> tuple[str, str]:
    return (
        f"{name} is about other files than there are now; changed since: {name_some(changed)}",
        f"have it written again, with a line: Round: {visit}",
    )


@message
def nothing_judged(moves: Iterable[str]) -> str:
    return f"{' or '.join(moves)} was never taken in this task: nothing has judged these files"


@message
def unknown_whether_judged(move: str) -> str:
    return f"whether the files are still those of {move} is not known until the move is requested"


@message
def changed_since_judged(move: str, changed: Iterable[str], tree: str) -> tuple[str, str]:
    """The next step names the tree, so that what a person says is about these files alone."""
    look = f"look at it: detent diff --since {tree[:_SHORT]}"
    return (
        f"changed since {move} judged the files: {name_some(changed)}",
        f'{look}; bring the files back, or accept them as a person: detent approve --reason "why"',
    )


@message
def accepted(name: str, reason: str) -> str:
    return f"{name} accepted what differs from the files that were judged: {reason}"


@message
def not_asked_by_name() -> str:
    return "nobody has asked for this very move"


@message
def not_signed(move: str) -> str:
    return f"nobody has signed {move} yet"


@message
def signed_other_tree(tree: str, signed: str, name: str, move: str) -> str:
    return f"the tree is {tree[:_SHORT]}, not {signed[:_SHORT]}, which {name} signed by {move}"


@message
def signed_other_files(files: Iterable[str], name: str, move: str) -> str:
    return f"{name_some(files)} is not what {name} signed by {move}"


@message
def files_touched() -> str:
    return "files were changed since they were last looked at"


@message
def no_file_changed(state: str) -> str:
    return f"no file was changed since {state} was entered"


@message
def protected_not_looked_at() -> tuple[str, str]:
    return "whether this tree touches protected files has not been looked at", "look at the changes: detent diff"


@message
def approved(name: str, files: Iterable[str]) -> str:
    return f"{name} approved {name_some(files)}"


@message
def protected_touched(files: Iterable[str], approved_by: str) -> str:
    """`approved_by`: the approver of other changes; empty where there is no approval."""
    changed = f"; what {approved_by} approved has changed since" if approved_by else ""
    return f"a person must look at {name_some(files)} first{changed}"
