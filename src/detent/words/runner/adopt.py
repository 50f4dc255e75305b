"""Why a folder of another tool can't be taken over."""

from __future__ import annotations

from detent.words.message import message

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


@message
def names_an_end(file: str, state: str, label: str) -> tuple[str, str]:
    return (
        f"{file} names {state}, an end: nothing here proves how it was reached",
        f"write the state it is to go on from behind '{label}:'",
    )


@message
def no_folder(folder: str) -> tuple[str, str]:
    return f"there is no folder {folder}", "detent adopt DIR MACHINE"


@message
def unknown_state(file: str, state: str, machine: str, label: str, states: Iterable[str]) -> tuple[str, str]:
    return (
        f"{file} names the state {state!r}, which {machine} does not have",
        f"write one of these behind '{label}:': {', '.join(states)}",
    )


@message
def folder_kept(copy: str) -> str:
    return f"the folder as it was is kept in {copy}"


@message
def other_id(file: str, task_id: str, wanted: str) -> tuple[str, str]:
    return f"{file} names the id {task_id!r}, not {wanted!r}", "leave --id out, or change the id in that file"


@message
def no_readable_file(file: str) -> str:
    return f"give a folder with a readable {file}, or make a new task: detent new --dir DIR"


@message
def no_count(field: str, value: str) -> str:
    return f"{field} is {value!r:.40}, which is no count"


@message
def count_beyond(field: str, value: str, machine: str, cap: int) -> str:
    return f"{field} is {value}, and {machine} counts no further than {cap}"


@message
def problems_of_file(file: str, problems: Iterable[str]) -> tuple[str, str]:
    return f"{file}: {'; '.join(problems)}", "correct it there, then run the same command again"


@message
def not_copied() -> str:
    return "the folder can't be copied before it is taken over"


@message
def too_deep(most: int) -> str:
    return f"has more than {most} folders in each other"


@message
def too_many(most: int) -> str:
    return f"has more than {most} files"


@message
def too_large(most_bytes: int) -> str:
    return f"is larger than {most_bytes >> 20} MB"


@message
def beyond(how: str) -> tuple[str, str]:
    return (
        f"the folder {how}, and is not copied before it is taken over",
        "move away what is no part of the task, then run the same command again",
    )


@message
def no_text(label: str) -> str:
    return f"{label} is no text"


@message
def no_id(label: str, value: str) -> str:
    return f"{label} is {value!r:.60}, which can't be an id here"


@message
def no_mode(label: str, value: str, modes: Iterable[str]) -> str:
    return f"{label} is {value!r:.60}; known: {', '.join(modes)}"


@message
def no_baseline(label: str, names: Iterable[str]) -> str:
    return f"{label} is no object with the texts {', '.join(names)}"


@message
def no_commit(label: str, commit: str) -> str:
    return f"{label}: {commit[:60]!r} is no commit of this repository"


@message
def no_branch(label: str, branch: str) -> str:
    return f"{label}: this repository has no branch {branch[:60]!r}"


@message
def no_number(label: str, text: str) -> str:
    return f"{label} is {text!r:.60}, which is no number"


@message
def no_finalized_spec(state: str, file: str, start: str) -> str:
    return f"{state} needs a finalized spec, and the folder has no {file}; or begin at {start}"


@message
def other_revision(label: str, named: int, missing: str, last: str) -> str:
    return f"{label} is {named}, but the folder has no {missing} as its last revision: the last one is {last}"


@message
def no_revision(label: str, named: int, missing: str) -> str:
    return f"{label} is {named}, but the folder has no {missing} as its last revision: it holds no revision"
