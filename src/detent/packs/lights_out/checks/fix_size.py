"""The check `big_fix`: whether a fix changed so much that the documents must be compared with the code again."""

from __future__ import annotations

import re

from detent.gates.seen import Finding
from detent.store.text.names import name_some

TYPE_CHECKING = False
if TYPE_CHECKING:
    from detent.core.machine import Gate
    from detent.gates.seen import Seen

INTERFACES = "Interfaces"


def big_fix(gate: Gate, seen: Seen) -> Finding:
    """Since the last passed gate a file came or went, or one changed that the design names under its interfaces."""
    changes = seen.since_gate()
    if changes is None:
        return Finding(ok=False, why="what changed since the last passed gate is not known", is_known=False)
    interfaces = seen.section(gate.params["design"], INTERFACES) or ""
    big = [f"{name} ({_WORDS[status]})" for status, name in changes if status in _WORDS]
    big += [
        f"{name} (an interface)" for status, name in changes if status not in _WORDS and _is_named(name, interfaces)
    ]
    if big:
        return Finding(ok=True, note=f"a significant fix: {name_some(big)}", by_engine=True)
    why = f'the fix adds and removes no file, and changes none that "## {INTERFACES}" names'
    return Finding(ok=False, why=why)


_WORDS = {"A": "new", "D": "gone"}


def _is_named(path: str, text: str) -> bool:
    """Whether a text names a file, by its path or the last part of it."""
    return any(
        re.search(rf"(?<![\w./-]){re.escape(name)}(?![\w/-]|\.\w)", text) for name in (path, path.rpartition("/")[2])
    )
