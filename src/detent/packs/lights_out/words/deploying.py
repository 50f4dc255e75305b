"""Deploy commands: what a person is asked, what failed, and how it is taken back."""

from __future__ import annotations

from detent.words.message import message
from detent.words.names import name_some
from detent.words.proof import ending

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_SHORT = 12  # characters of a tree id


def _look(tree: str) -> str:
    return f"detent diff --since {tree[:_SHORT]}"


@message
def plan_problem(file: str, problem: str, example: str) -> tuple[str, str]:
    return f"{file}: {problem}", f"write in {file}: {example}"


@message
def no_section(section: str) -> str:
    return f'there is no "## {section}"'


@message
def named_twice(section: str, label: str) -> str:
    return f'"## {section}" names {label} twice'


@message
def command_missing(section: str, labels: Iterable[str]) -> str:
    return f'"## {section}" names no command for {", ".join(labels)}'


@message
def rollback_is(line: str) -> str:
    return f"to go back: {line}"


@message
def look_and_approve() -> str:
    return 'look at the commands, then run: detent approve --reason "why they may run"'


@message
def unknown_whether_confirmed() -> str:
    return "whether the files are those that were confirmed is not known yet"


@message
def deploy_failed(why: str, rollback: str) -> str:
    return f"{why}; to go back: {rollback} (a person: detent rollback)"


@message
def not_deployed() -> str:
    return "the deploy commands have not been run on this tree"


@message
def not_taken_back() -> str:
    return "no deployment was taken back"


@message
def changed_since_word(files: Iterable[str], name: str, tree: str, *, unseen: bool) -> str:
    what = "it unseen for" if unseen else "deploying"
    return f"{name_some(files)} changed since {name} confirmed {what} {tree[:_SHORT]}: look at it: {_look(tree)}"


@message
def changed_since_deployed() -> str:
    return "the files changed since they were deployed; deploying again needs a person's word"


@message
def confirm_first(commands: Iterable[tuple[str, str]]) -> str:
    """`commands`: each label with its line."""
    lines = "; ".join(f"{label}: {line}" for label, line in commands)
    return f"a person must confirm the deploy commands first, they run with your rights: {lines}"


@message
def end_unknown(time: str) -> str:
    return f"a deployment began at {time} and its end is not known; it is not repeated unasked"


@message
def word_names_no_files() -> str:
    return "a person must confirm the deploy commands for the files as they are: the last word names no files"


@message
def never_verified(word: str, what: str) -> str:
    """`word`: why a person is asked."""
    return f"{word}; {what} was verified in this task"


@message
def changed_since_judged(word: str, move: str, files: Iterable[str], tree: str) -> str:
    """`word`: why a person is asked."""
    return f"{word}; changed since {move} judged the files: {name_some(files)}, look at it: {_look(tree)}"


@message
def nothing_to_confirm(machine: str, task: str) -> tuple[str, str]:
    return f"{machine} deploys nothing that could be confirmed ahead", f"see what waits for you: detent next {task}"


@message
def no_commands_to_confirm(file: str) -> tuple[str, str]:
    return f"{file} names no deploy commands to confirm", f"name them in {file} first"


@message
def confirming_needs_reason(task: str, differs: Sequence[str], *, unseen: bool) -> tuple[str, str]:
    """`differs`: what a person would accept as not verified."""
    more = f"; it also accepts {name_some(differs)} as not verified" if differs else ""
    again = f'detent approve {task}{" --unseen" if unseen else ""} --reason "why"'
    return f"deploy commands run with your rights: confirming them needs a reason{more}", again


@message
def command_failed(label: str, ended: str, said: str) -> str:
    return f"{label} failed ({ended}){ending(said)}"


@message
def took_too_long(timeout_s: float) -> str:
    return f"it took longer than {timeout_s:g} s"


@message
def look_before_rollback(task: str, files: Sequence[str], before: str, tree: str) -> tuple[str, str]:
    """`files`: what differs from what was deployed at `before`; none where that is not known."""
    what = f"changed since it was deployed: {name_some(files)}" if files else "it is not known what was deployed"
    look = f"{_look(before)} {task}" if files else f"detent diff {task}"
    return (
        f"{what}; the rollback command would run with your rights on files that you have not confirmed",
        f'look at it: {look}; then: detent rollback {task} --tree {tree[:_SHORT]} --reason "why"',
    )


@message
def nothing_deployed(task: str) -> tuple[str, str]:
    return "nothing was deployed that could be taken back", f"detent status {task}"


@message
def rollback_needs_reason(task: str) -> tuple[str, str]:
    return "taking a deployment back needs a reason", f'detent rollback {task} --reason "why"'


@message
def deployment_under_way(time: str, task: str) -> tuple[str, str]:
    return (
        f"a deployment began at {time} and its end is not known",
        f'make sure that none is under way, then: detent rollback {task} --reason "why" --yes',
    )


@message
def local_filters(names: Iterable[str]) -> tuple[str, str]:
    return (
        f"the git settings of this repository name {name_some(names)}, and agents can change them here",
        "look at them; move what is yours to your global settings (git config --global), remove the rest",
    )


@message
def branch_gone(branch: str) -> str:
    return f"the branch {branch} is gone"
