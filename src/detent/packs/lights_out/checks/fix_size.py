"""The check `big_fix`: whether a fix changed so much that the documents must be compared with the code again."""

from __future__ import annotations

import re

from detent.gates.seen import Finding
from detent.packs.lights_out.words import build as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from detent.core.machine import Gate
    from detent.gates.seen import Seen

INTERFACES = "Interfaces"


def big_fix(gate: Gate, seen: Seen) -> Finding:
    """Since the last passed gate a file came or went, or one changed that the design names under its interfaces."""
    changes = seen.since_gate()
    if changes is None:
        return Finding(ok=False, why=say.changes_unknown(), is_known=False)
    interfaces = seen.section(gate.params["design"], INTERFACES) or ""
    big = [(name, _WORDS[status]) for status, name in changes if status in _WORDS]
    big += [(name, "an interface") for status, name in changes if status not in _WORDS and _is_named(name, interfaces)]
    if big:
        return Finding(ok=True, note=say.significant_fix(big), by_engine=True)
    return Finding(ok=False, why=say.small_fix(INTERFACES))


_WORDS = {"A": "new", "D": "gone"}


def _is_named(path: str, text: str) -> bool:
    """Whether a text names a file, by its path or the last part of it."""
    return any(
        re.search(rf"(?<![\w./-]){re.escape(name)}(?![\w/-]|\.\w)", text) for name in (path, path.rpartition("/")[2])
    )
