"""The check: a changelog has an entry under a heading, and differs from what it was."""

from detent.gates.seen import Finding
from detent.store.text.markdown import find_section

FILE = "CHANGELOG.md"


def entries(text, heading):
    """The list items under a heading."""
    section = find_section(text, heading)
    lines = text[section.body_start : section.end].splitlines() if section else []
    return [line.removeprefix("- ") for line in lines if line.startswith("- ")]


def noted(gate, seen):
    """CHANGELOG.md of the work tree was changed and lists something under `heading`."""
    changed = seen.changed()
    if changed is None:
        return Finding(ok=False, why="the work tree changed since the last scan", is_known=False)
    heading = gate.params["heading"]
    if not entries(seen.files.text(f"tree:{FILE}") or "", heading):
        return Finding(ok=False, why=f'{FILE} has no "- " line under "## {heading}"')
    if FILE not in changed:
        return Finding(ok=False, why=f"{FILE} is as it was")
    return Finding(ok=True, proof=seen.tree, by_engine=True)
