"""The commands of the phase document, in its own words, as lines of our CLI."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

INIT_HELP = """usage: task-phase-init --task-dir DIR [--repo PATH] [TEXT] [options of detent new]

Make the files of a phase task in DIR: README.md, STATE.md, EVIDENCE.md, artifacts/.
The task works in the repository itself.

  --task-dir DIR   the folder of the task
  --repo PATH      the repository it works on (default: the current folder)
  TEXT             what is to be done
  --check CMD      a command that must exit with 0 before the task is done

example: task-phase-init --task-dir tasks/T-123 --repo . "count the words" --check "python3 -m unittest"
next:    task-phase-run --task-dir tasks/T-123 --repo .
"""
RUN_HELP = """usage: task-phase-run --task-dir DIR [--repo PATH] [options of detent run]

Run one bounded agent pass on the task in DIR. A folder that another tool made is taken over first.

  --task-dir DIR   the folder with STATE.md
  --repo PATH      the repository it works on (default: the current folder)

exit codes: 0 the pass did its work, or the task is done; 1 a transition was rejected or the pass failed; 2 usage;
            4 a person is needed; 5 unreadable or locked; 6 stopped
"""


def help_of(typed: Sequence[str], text: str) -> int | None:
    """Print the help of a program, on request (0) or for want of arguments (2); None where it has work to do."""
    import sys

    wants_help = "--help" in typed or "-h" in typed
    if typed and not wants_help:
        return None
    (sys.stdout if wants_help else sys.stderr).write(text)
    return 0 if wants_help else 2


def init_words(typed: Sequence[str]) -> list[str]:
    """`task-phase-init --task-dir DIR [--repo PATH] [TEXT]` as `detent new` understands it."""
    renamed = ["--dir" if word == "--task-dir" else word.replace("--task-dir=", "--dir=") for word in typed]
    return ["new", "phase", "--in-place", *renamed]  # the document works in the very repository it is given


def run_words(typed: Sequence[str]) -> list[str]:
    """`task-phase-run --task-dir DIR --repo PATH`: one bounded agent run on a folder, also of another tool."""
    words: list[str] = []
    rest = list(typed)
    while rest:
        word = rest.pop(0)
        name, equals, value = word.partition("=")
        if name != "--task-dir":
            words.append(word)
        elif equals or rest:
            words.append(value if equals else rest.pop(0))
    return ["run", "--once", "--adopt", "phase", *words]
