"""The descriptions of a task, and the reasons why a typed line has no meaning there."""

from __future__ import annotations

from detent.words.message import message

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


@message
def no_baseline() -> tuple[str, str]:
    return (
        "a folder without git has no baseline to compare with",
        "make it a git repository before the next task: git init",
    )


@message
def page_folder_is_link() -> tuple[str, str]:
    return "the folder of the evidence page is a link", "put a plain folder there, then try again"


@message
def choice_may_mean(word: str, moves: Iterable[tuple[str, str]], task_id: str) -> tuple[str, str]:
    """`moves`: the name of each and where it leads."""
    names = ", ".join(f"{name} (to {target})" for name, target in moves)
    return f"{word!r} may mean {names}", f"detent choose NAME {task_id}"


@message
def nothing_to_say(help_word: str) -> tuple[str, str]:
    return "there is nothing to say", f"what is understood here: {help_word}"


@message
def nothing_to_leave(help_word: str) -> tuple[str, str]:
    return "there is nothing to leave: one line was said", f"what is understood here: {help_word}"


@message
def decision_is_a_persons(state: str, help_word: str) -> tuple[str, str]:
    return (
        f"{state} waits for a person's decision, and an override never takes its place",
        f"what is understood here: {help_word}",
    )


@message
def no_one_move(next_word: str, state: str, help_word: str) -> tuple[str, str]:
    return (
        f"{next_word} stands for no one move of {state}, so there is nothing to override",
        f"look at its moves: {next_word}; or name one: what is understood here: {help_word}",
    )


@message
def is_an_end(state: str, redo: str, target: str) -> tuple[str, str]:
    return f"{state} is an end", f'to go back: {redo} {target} "why"'


@message
def no_one_tree(count: int, task_id: str, start: str, fewest: int) -> tuple[str, str]:
    """`count`: how many trees begin so; `fewest`: how many characters must be named."""
    found = f"{count} trees" if count else "no tree"
    return f"{found} of {task_id} begins with {start!r}", f"name {fewest} or more characters of its id"


@message
def no_choice(word: str, state: str, choices: Iterable[str]) -> tuple[str, str]:
    return f"{word!r} is no choice in {state}", f"one of: {', '.join(choices)}"


@message
def no_choice_at_all(word: str, state: str, task_id: str) -> tuple[str, str]:
    return (
        f"{word!r} is no choice in {state}",
        f"nothing is a person's to choose there; its moves: detent next {task_id}",
    )


@message
def no_step_back(state: str, target: str, redo: str, back: Iterable[str]) -> tuple[str, str]:
    return f"{state} -> {target} is no step back", f"{redo} goes to: {', '.join(back)}"


@message
def nothing_again(state: str, help_word: str) -> tuple[str, str]:
    return f"nothing can be done again from {state}", f"what is understood here: {help_word}"


@message
def did_you_mean(close: str, lines: Iterable[str]) -> str:
    return f"did you mean {close}? understood here: {', '.join(lines)}"


@message
def understood_here(lines: Iterable[str]) -> str:
    return f"understood here: {', '.join(lines)}"


@message
def run_works(number: int, task_id: str) -> tuple[str, str]:
    return f"agent run #{number} works on this task", f"wait for it, or end it: detent stop {task_id}"


@message
def cut_short(source: str, target: str) -> str:
    return f"{source} -> {target} was cut short; the next command that writes settles it"


@message
def file_behind(file: str) -> str:
    return f"{file} is behind the journal; the next command that writes brings it up to date"


@message
def engines_field_changed(file: str, label: str) -> str:
    return f'{file}: "{label}" was changed; it is written by the engine'


@message
def locked_changed(item: str, state: str, task_id: str) -> str:
    return (
        f"{item} was changed, but it is locked in {state}; "
        f'it will be put back, unless a person accepts it: detent amend --reason "why" {task_id}'
    )


@message
def older_copy(file: str, state: str) -> str:
    return f"{file} is an older copy: it names {state}"


@message
def state_line_lost(file: str, label: str) -> str:
    return f'{file} has no "{label}:" line; it will be put back'


@message
def field_repeated(file: str, label: str, count: int) -> str:
    return f'{file}: "{label}:" stands there {count} times; the first one counts'


@message
def tree_gone(gone: str, remedy: str) -> str:
    return f"{gone}; {remedy}"


@message
def deploy_again(problem: str, verb: str, task_id: str) -> str:
    return f'{problem}; deploy it again: detent say "/{verb} why" {task_id}'


@message
def by_hand(gate: str) -> str:
    return f"{gate}: proof was written by hand"


@message
def signs_tree(tree: str) -> str:
    """`tree`: empty where it is not known any more."""
    return f"it signs the tree as it is ({tree[:12] or 'changed since it was last looked at'}): detent diff"


@message
def unread(where: str, problem: str) -> str:
    return f"{where}: {problem}"
