"""The sentences of this pack: specifications, criteria, promises, and the person's commit with its hooks."""

from __future__ import annotations

from detent.words.message import message
from detent.words.names import name_some

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_SHORT = 12  # characters of a commit


@message
def no_spec(file: str) -> str:
    return f"there is no {file}"


@message
def spec_problems(file: str, problems: Iterable[str]) -> str:
    return f"{file}: {'; '.join(problems)}"


@message
def no_section(heading: str, other: str) -> str:
    return f'there is no section "## {heading}" (or "## {other}")'


@message
def criteria_twice(headings: Iterable[str]) -> str:
    both = " and ".join(f'"## {name}"' for name in headings)
    return f"criteria stand under {both}: keep one of them"


@message
def label_twice(label: str) -> str:
    return f"{label} stands there twice"


@message
def no_criterion(heading: str) -> str:
    return f'"## {heading}" lists no criterion'


@message
def too_many_criteria(most: int) -> str:
    return f"there are more than {most} criteria"


@message
def no_promise_line(line: str) -> str:
    return f'there is no line "{line}"'


@message
def several_promises() -> str:
    return "it makes more than one promise"


@message
def no_real_promise(promise: str) -> str:
    return f"the promise {promise!r} is empty, a placeholder or too long"


@message
def criterion_says_nothing(label: str) -> str:
    return f"{label} says nothing"


@message
def criterion_without_command(label: str) -> str:
    return f'{label} has no command behind "cmd:"'


@message
def criterion_with_commands(label: str, count: int) -> str:
    return f"{label} has {count} commands: make a criterion of each"


@message
def no_promise(file: str) -> str:
    return f"{file} makes no promise that could be seen"


@message
def promise_in_time(file: str, tag: str) -> str:
    return f"once every criterion of {file} holds, print {tag} on a line of its own at the end of your last message"


@message
def no_run_ended() -> str:
    return "no agent run of this visit has ended"


@message
def not_promised(lines: int, tag: str) -> str:
    return f"the last {lines} lines of the run do not hold {tag} on a line of its own"


@message
def unknown_criteria(reasons: Iterable[tuple[str, Iterable[str]]]) -> str:
    """`reasons`: each with the criteria it is about."""
    return "; ".join(f"{why}: {', '.join(labels)}" for why, labels in reasons)


@message
def none_fails() -> str:
    return "no criterion is known to fail"


@message
def open_criteria(found: Iterable[tuple[str, str]]) -> str:
    """`found`: each criterion with its reason."""
    return "; ".join(f"{label}: {why}" for label, why in found)


@message
def not_run() -> str:
    return "not run on this tree"


@message
def not_looked_at() -> str:
    return "not looked at on this tree"


@message
def report_void(file: str, section: str, why: str) -> str:
    return f'{file}, "## {section}" {why}'


@message
def report_unchanged(state: str) -> str:
    return f"is unchanged since {state} was entered"


@message
def report_of_other_role(role: str, wanted: str) -> str:
    return f"was written by the {role}, not by the {wanted}"


@message
def report_of_other_files() -> str:
    return "is about other files than there are now"


@message
def not_reported(file: str, section: str) -> str:
    return f'{file}, "## {section}" has no line for it'


@message
def reported_failed(file: str, section: str, said: str) -> str:
    return f'{file}, "## {section}": {said}'


@message
def reported_unclear(file: str, section: str, said: str) -> str:
    return f'{file}, "## {section}" gives no clear PASS or FAIL: {said}'


@message
def nothing_approved(task: str) -> tuple[str, str]:
    return "no tree was approved, so there is nothing to commit", f"detent next {task}"


@message
def no_git(task: str) -> tuple[str, str]:
    return (
        "without git there is nothing to commit to",
        f"if the files as they are will do, say so: detent commit --no-git {task}",
    )


@message
def other_branch(branch: str, wanted: str) -> tuple[str, str]:
    return (
        f"your checkout is on {branch}, the work began on {wanted}",
        f"go there: git switch {wanted}; then run the same command again",
    )


@message
def no_commit(name: str) -> tuple[str, str]:
    return f"there is no commit {name!r}", "see: git log"


@message
def commit_elsewhere(commit: str, branch: str) -> tuple[str, str]:
    return f"{commit[:_SHORT]} is not on {branch}", f"git log {branch}"


@message
def commit_of_other_tree(commit: str, files: Iterable[str], task: str) -> tuple[str, str]:
    return (
        f"{commit[:_SHORT]} holds another tree than the approved one; it differs in {', '.join(files)}",
        f"let the engine commit what was approved: detent commit {task}",
    )


@message
def checkout_moved() -> tuple[str, str]:
    return "your checkout moved on meanwhile", "try again"


@message
def hooks_not_set_up(why: str) -> tuple[str, str]:
    return f"the checkout for the hooks can't be set up: {why}", "read that log, and try the settings: detent doctor"


@message
def hooks_not_copied(problem: str) -> str:
    return f"the hooks can't be copied: {problem}"


@message
def hook_would_change(hook: str, changes: str) -> tuple[str, str]:
    return (
        f"the {hook} hook would change what is committed:\n{changes}",
        "make that change in the work itself, then try again",
    )


@message
def hook_would_refuse(hook: str, ended: str, said: str) -> tuple[str, str]:
    return f"the {hook} hook would refuse the commit ({ended}):\n{said}", "mend what it names, then try again"


@message
def hook_removed_index() -> tuple[str, str]:
    return "a hook removed the index of its checkout", "correct the hook"


@message
def exit_code(code: int) -> str:
    return f"exit {code}"


@message
def no_branch_of_its_own() -> str:
    return "the task has no branch of its own"


@message
def not_on_branch(branch: str) -> str:
    return f"the checkout is not on {branch}"


@message
def not_committed(files: str) -> str:
    return f"not committed: {files}"


@message
def branch_gone(branch: str) -> str:
    return f"the branch {branch} is gone"


@message
def in_the_way(files: Iterable[str]) -> str:
    return f"files that are not committed stand in the way: {name_some(files)}"


@message
def revision_damaged() -> tuple[str, str]:
    return "a filed revision is missing or damaged", "detent audit"


@message
def revision_put_back(file: str) -> str:
    return f"{file} is filed and never changes; it was put back"
