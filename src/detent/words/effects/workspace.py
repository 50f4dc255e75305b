"""What became of homes, checkouts and their set-up: the sentences of workspaces."""

from __future__ import annotations

from detent.words.message import message
from detent.words.names import name_some

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


@message
def frozen_tree_unreadable(problem: str) -> tuple[str, str]:
    return (
        f"the frozen tree cannot be read: {problem}",
        "damaged objects were removed; try again, and they are taken from the work tree anew",
    )


@message
def timed_out(timeout_s: float) -> str:
    return f"timed out after {timeout_s:.0f} s"


@message
def too_much_memory(memory_bytes: int) -> str:
    return f"used more than {memory_bytes >> 20} MB of memory"


@message
def too_many_processes(processes: int) -> str:
    return f"had more than {processes} processes at a time"


@message
def too_much_output() -> str:
    return "wrote more output than is allowed"


@message
def submodule_missing(path: str, commit: str) -> str:
    return (
        f"submodule {path} is not there: its commit {commit[:12]} is not in your checkout; fill it there: git "
        f"submodule update --init {path}; if an agent made that commit, fetch it: git -C {path} fetch "
        f'"$(detent dir --tree TASK)/{path}" HEAD'
    )


@message
def home_not_made() -> str:
    return "the task's home can't be made"


@message
def objects_borrowed(ref: str) -> str:
    return f"the repository is large: the clone borrows its objects; {ref} keeps them there"


@message
def not_compared(problem: str) -> str:
    return f"your checkout can't be compared with its last commit: {problem}"


@message
def carried_over(files: str) -> str:
    return f"carried over, not committed: {files}"


@message
def not_in_clone(files: str) -> str:
    return f"not in the clone, because not committed: {files}; to have them there: detent new --include-dirty"


@message
def home_not_removed() -> str:
    return "the home can't be removed"


@message
def too_large_for_proof(most_bytes: int, most_together_bytes: int, path: str) -> tuple[str, str]:
    return (
        f"a file of more than {most_bytes >> 20} MB, or in a folder of more than {most_together_bytes >> 20} "
        "MB, is no proof: it is not read"
    ), f"make it smaller or remove it: rm {path}"


@message
def not_in_tree() -> str:
    return "file can't be read: it does not lie in the tree"


@message
def task_file_unreadable(reason: str) -> tuple[str, str]:
    return f"a file of the task folder can't be read: {reason}", "make it readable or remove it, then try again"


@message
def checkout_not_made() -> str:
    return "the checkout can't be made"


@message
def nothing_to_copy() -> str:
    return "nothing to copy in the work tree"


@message
def no_lock_file_named() -> str:
    return "[workspace] key names no lock file"


@message
def no_first_commit() -> str:
    return "there is no first commit"


@message
def first_commit_lacks(files: Iterable[str]) -> str:
    return f"the first commit has no {name_some(files)}"


@message
def changed(files: Iterable[str]) -> str:
    return f"changed: {name_some(files)}"


@message
def no_overlays(why: str) -> str:
    return f"no overlays: {why}"


@message
def set_up_not_kept() -> str:
    return "the set-up can't be kept"


@message
def no_mounts() -> str:
    return "this sandbox level has no mounts"
