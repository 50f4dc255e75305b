"""What differs between two trees of the private git.

The memory of it is for readers, which start no git; a decision asks git again.
"""

from __future__ import annotations

import json

from detent.effects.git.tree.tree_id import changed_files
from detent.store.disk.atomic import as_json, read_cache, write_cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_LARGEST_MEMORY_BYTES = 4_000_000
_MOST_PAIRS = 8  # of trees that are remembered, the newest last
_MOST_PATHS = 2_000  # that one pair may have to be remembered


def tree_differences(private_dir: str, before: str, now: str) -> tuple[tuple[str, str], ...]:
    """Status and path of every file that differs; a path that is no text is made readable, as in the journal."""
    found = changed_files(private_dir, before, now)
    return tuple((status, path.encode("utf-8", "backslashreplace").decode()) for status, path in found)


def remember_differences(path: str, before: str, now: str, found: Sequence[tuple[str, str]]) -> None:
    known = _read_memory(path)
    if len(found) > _MOST_PATHS or known.get(f"{before} {now}") == [list(pair) for pair in found]:
        return
    known.pop(f"{before} {now}", None)
    kept = dict([*known.items(), (f"{before} {now}", [list(pair) for pair in found])][-_MOST_PAIRS:])
    write_cache(path, as_json(kept))


def recall_differences(path: str, before: str, now: str) -> tuple[tuple[str, str], ...] | None:
    """The differences of the last comparison of these two trees; None when there was none."""
    found = _read_memory(path).get(f"{before} {now}")
    try:
        return None if found is None else tuple((str(status), str(name)) for status, name in found)
    except (TypeError, ValueError):
        return None


def _read_memory(path: str) -> dict[str, list[list[str]]]:
    try:
        content = json.loads(read_cache(path, _LARGEST_MEMORY_BYTES) or b"{}")
    except (ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}
