"""What is wrong with a file that a person seals, and what they should know about one that is taken."""

from __future__ import annotations

from detent.words.message import message
from detent.words.names import count_of, name_some

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_OUTSIDE = "keep it outside, for example in ~/.config/detent/sealed/, where no agent reads"


@message
def option() -> str:
    return "--sealed"


@message
def no_last_gate(machine: str) -> tuple[str, str]:
    return (
        f"{machine} has no move that asks what tests prove, so a sealed check would never run",
        "take phase, for example",
    )


@message
def too_many_files(number: int, most: int) -> tuple[str, str]:
    return f"{count_of(number, 'sealed file')}, at most {most}", "put several tests into one file"


@message
def no_file(path: str) -> tuple[str, str]:
    return f"sealed: there is no file {path}", "correct the path; a place in the tree is named after it: FILE:PLACE"


@message
def is_folder(path: str) -> tuple[str, str]:
    return f"sealed: {path} is a folder", "name its files, one by one"


@message
def unreadable(path: str, why: str) -> tuple[str, str]:
    return f"sealed: {path}: {why}", "name a plain file that you may read, of at most 5 MB"


@message
def is_empty(path: str) -> tuple[str, str]:
    return f"sealed: {path} is empty, so it checks nothing", "name another file"


@message
def inside_repository(path: str, folder: str) -> tuple[str, str]:
    return f"sealed: {path} lies in {folder}, which agents read", _OUTSIDE


@message
def repository_holds(path: str) -> tuple[str, str]:
    return f"sealed: the repository holds a file with the bytes of {path}, so agents can read it", "seal another check"


@message
def no_place(place: str, word: str) -> tuple[str, str]:
    return f"sealed: {place!r} in {word!r} is no path inside the tree", "for example: FILE:tests/test_more.py"


@message
def place_taken(place: str) -> tuple[str, str]:
    return f"sealed: two files have the place {place}", "give one of them another: FILE:PLACE"


@message
def neither(path: str) -> tuple[str, str]:
    return (
        f"sealed: {path} is no test file by its name, and no script (it does not begin with #!)",
        "rename it (test_more.py, more.test.js), add a #! line, or name its place if other checks read it: FILE:PLACE",
    )


@message
def nothing_to_run() -> tuple[str, str]:
    return "sealed: none of the files is a test or a script", "add a check that reads them"


@message
def laid_at(path: str, place: str, kind: str, *, replaces: bool) -> str:
    does = {"tests": "run by the test command", "script": "run as a command", "data": "read by the others"}[kind]
    return f"sealed: {path} as {place}, {does}{', in place of the file there' if replaces else ''}"


@message
def no_sandbox() -> str:
    return "sealed checks are not hidden: this host has no sandbox (detent doctor), so agents can read them"


@message
def landlock_leaves_open() -> str:
    return "sealed checks run without TCP only: at level landlock UDP and sockets of this host stay open to the code"


@message
def readable_here(paths: Sequence[str], folder: str) -> str:
    return f"agents can read {name_some(paths)} at level landlock: keep sealed files in {folder}/sealed/"


@message
def readable_elsewhere(paths: Sequence[str], folder: str) -> str:
    return f"agents of other tasks can read {name_some(paths)}: keep sealed files in {folder}/sealed/"
