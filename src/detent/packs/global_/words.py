"""The sentences of this pack: plans, reviews, decisions, signals, and work that is taken back."""

from __future__ import annotations

from detent.words.message import message
from detent.words.names import count_of, name_some

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


@message
def version_not_kept() -> str:
    return "an artifact can't be kept as a version"


@message
def link_among_versions() -> tuple[str, str]:
    return "a link stands where versions are kept", "take it away"


@message
def decision_needs_reason(move: str) -> tuple[str, str]:
    return f"{move} needs a reason: whoever works on it next is told", 'add it: --reason "why", or /WORD why'


@message
def decision_not_read(move: str) -> tuple[str, str]:
    return f"{move} records a decision, and no gate of it reads one", "detent machine check"


@message
def other_decision(file: str, said: str, verdict: str) -> tuple[str, str]:
    return (
        f"{file} says {said!r}, and this move decides {verdict!r}",
        f"make the move it asks for: detent move; or take {file} away first",
    )


@message
def questions_open(questions: Sequence[str]) -> str:
    many = len(questions)
    head = "a blocking question is open" if many == 1 else f"{many} blocking questions are open"
    return f"{head}: {'; '.join(questions)}"


@message
def no_planned_files(file: str, other: str, plan: str) -> str:
    return f"neither {file} nor {other} is there, and {plan} lists no files"


@message
def lists_no_file() -> str:
    return "it lists no file"


@message
def path_outside(path: str) -> str:
    return f"{path} is no path inside the repository"


@message
def path_names_everything(path: str) -> str:
    return f"{path} names everything, which plans nothing"


@message
def paths_planned(count: int, file: str) -> str:
    return f"{count_of(count, 'path')} in {file}"


@message
def not_planned(file: str, paths: Iterable[str]) -> str:
    return f"not in {file}: {name_some(paths)}"


@message
def all_planned(file: str) -> str:
    return f"every changed file is in {file}; this move is for work on files that the plan does not name"


@message
def nothing_changed() -> str:
    return "nothing has changed so far; this move is for work on files that the plan does not name"


@message
def no_git() -> str:
    return "without git there is nothing to go back to"


@message
def tree_gone(task: str) -> tuple[str, str]:
    return "the tree of this task is gone", f"make it again: detent restore {task}"


@message
def revert_needs_reason() -> tuple[str, str]:
    return "taking work back needs a reason", '/revert "why", or --reason "why"'


@message
def changed_since(branch: str, files: Iterable[str]) -> tuple[str, str]:
    return (
        f"{branch} has changed {name_some(files)} since; what was done there can't be taken back alone",
        "take it back by hand: git revert COMMIT",
    )


@message
def is_blocked() -> str:
    return "it is blocked"


@message
def says(words: Iterable[str]) -> str:
    return f"it says {' and '.join(words)}"


@message
def blocked_by(reviewer: str) -> str:
    return f"{reviewer} blocks it"


@message
def blocking_issue(issue: str) -> str:
    return f"a blocking issue: {issue}"


@message
def not_ok() -> str:
    return "ok is false"


@message
def needs_changes() -> str:
    return "it needs changes"


@message
def structural_flaw(flaw: str) -> str:
    return f"a structural flaw: {flaw}"


@message
def no_verdict(said: str, words: Iterable[str]) -> str:
    return f"{said} is no verdict (one of: {', '.join(words)})"


@message
def no_severity(said: str) -> str:
    return f"{said} is no severity (one of: blocking, major, minor)"


@message
def ok_missing() -> str:
    return 'it does not say whether the plan is ok: write "ok": true or false'


@message
def blocked_missing() -> str:
    return 'it does not say that nothing blocks: write "blocked": false'


@message
def plan_flawed() -> str:
    return "the plan is flawed"


@message
def issue_of_plan(issue: str) -> str:
    return f"an issue of the plan: {issue}"


@message
def other_answer(why: str, word: str, wanted: str) -> str:
    return f"{why}, so the answer is {word or 'none'}, not {wanted}"


@message
def in_full(why: str, issues: Iterable[str], more: int) -> str:
    """`more`: how many issues are left out."""
    shown = [f"an issue: {issue}" for issue in issues]
    return "; ".join([why, *shown, *([f"and {more} more"] if more > 0 else [])])


@message
def about_other_files() -> str:
    return "it is about other files than there are now"


@message
def no_decision(said: str, known: Iterable[str]) -> str:
    return f"{said} is no decision; one of: {', '.join(known)}"


@message
def decides_nothing(words: Iterable[str]) -> str:
    return f"it says {' and '.join(words)}, which decides nothing"


@message
def decision_differs(said: str, wanted: str) -> str:
    return f"the decision is {said or 'not given'}, not {wanted}"


@message
def signal_differs(said: str, wanted: Iterable[str]) -> str:
    return f"the signal is {said or 'not given'}, not {' or '.join(wanted)}"


@message
def reason_without_signal(known: Iterable[str]) -> str:
    return f"it gives a reason and no signal (one of: {', '.join(known)})"


@message
def no_signal(said: str, known: Iterable[str]) -> str:
    return f"{said} is no signal (one of: {', '.join(known)})"


@message
def signals(said: str) -> str:
    return f"it signals {said}"


@message
def unclear_signal(words: Iterable[str]) -> str:
    return f"it says {' and '.join(words)}: no clear signal"
