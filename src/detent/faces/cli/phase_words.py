"""The commands of the phase document, in its own words, as lines of our CLI."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def init_words(given: Sequence[str]) -> list[str]:
    """`task-phase-init --task-dir DIR [--repo PATH] [TEXT]` as `detent new` understands it."""
    if "--help" in given or "-h" in given or not given:
        return ["new", "--help"]
    renamed = ["--dir" if word == "--task-dir" else word.replace("--task-dir=", "--dir=") for word in given]
    return ["new", "phase", "--in-place", *renamed]  # the document works in the very repository it is given


def run_words(given: Sequence[str]) -> list[str]:
    """`task-phase-run --task-dir DIR --repo PATH`: one bounded agent run on a folder, whoever made it."""
    if "--help" in given or "-h" in given or not given:
        return ["run", "--help"]
    words: list[str] = []
    rest = list(given)
    while rest:
        word = rest.pop(0)
        name, equals, value = word.partition("=")
        if name != "--task-dir":
            words.append(word)
        elif equals or rest:
            words.append(value if equals else rest.pop(0))
    return ["run", "--once", "--adopt", "phase", *words]
