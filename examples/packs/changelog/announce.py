"""The step that counts entries before a move, and the effect that writes them down after it."""

import os

from detent.packs.changelog.entries import FILE, entries

from detent.errors import RefusedError

HEADING = "Unreleased"


def look_entries(doing):
    """What the step starts from; it refuses the move by raising, and changes nothing."""
    text = _changelog(doing.task)
    if "<<<<<<<" in text:
        raise RefusedError(f"a merge left its marks in {FILE}", next_step=f"resolve it in {doing.task.tree_path}")
    return {"entries": str(len(entries(text, HEADING)))}


def note_entries(doing):
    """What the move's journal line says of the step."""
    return {"changelog/count_entries": dict(doing.seen)}


def announce(task, _key, _intent):
    """Write ANNOUNCE.md beside NOTE.md; done twice it writes the same."""
    lines = [f"- {entry}\n" for entry in entries(_changelog(task), HEADING)]
    with open(task.native.path("ANNOUNCE.md"), "w", encoding="utf-8") as file:
        file.write(f"# {task.memory.head.title}\n\n{''.join(lines)}")
    return {"wrote": "ANNOUNCE.md"}, {}


def _changelog(task):
    with open(os.path.join(task.tree_path, FILE), encoding="utf-8") as file:
        return file.read()
