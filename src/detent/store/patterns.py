"""Which paths of a repository a pattern means: `*` and `?` within a name, `dir/**` for all below a folder."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def matches(path: str, patterns: Sequence[str]) -> bool:
    from fnmatch import fnmatchcase

    for pattern in patterns:
        folder = pattern.removesuffix("/**")
        if folder != pattern:
            parts = path.split("/")
            depth = folder.count("/") + 1
            if len(parts) > depth and fnmatchcase("/".join(parts[:depth]), folder):
                return True
        elif path.count("/") == pattern.count("/") and fnmatchcase(path, pattern):
            return True
    return False
