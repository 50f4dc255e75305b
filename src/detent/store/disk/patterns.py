"""Which paths of a repository a pattern means, from its top: `*`, `?` within a name, `dir/**` for all below a folder.

What allows something is read as narrowly as it is written (`matches`). What protects is read as widely as it may be
meant (`protects`): `**/` is any folders or none, the plain name of a folder means all below it, and letters have no
case: where a checkout folds it, `Deploy` is `deploy`.
"""

from __future__ import annotations

from functools import cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_ANY = "**"
_WILD = frozenset("*?[")


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


def protects(path: str, patterns: Sequence[str]) -> bool:
    parts = path.split("/")
    return any(_fits(parts, pattern.split("/")) for pattern in patterns)


def reaches(path: str, patterns: Sequence[str]) -> bool:
    """Whether a path below this one could be protected, whatever it is called."""
    parts = path.split("/")
    return any(_reached_widely(parts, pattern.split("/")) for pattern in patterns)


def is_pattern(pattern: str) -> bool:
    """Whether a pattern can mean anything: no path has an empty name in it, or one that stands for its own folder."""
    return {"", "."}.isdisjoint(pattern.split("/"))


def names(parts: Sequence[str], wanted: Sequence[str]) -> tuple[bool, bool]:
    """Whether a pattern, read as written, names this path, and whether it could name something below it.

    `**` is any folders or none, also between others; at the end it is all below a folder, and that folder.
    """
    from fnmatch import fnmatchcase

    reached = _reached(parts, wanted, fnmatchcase)
    ends = {len(wanted), len(wanted) - 1} if wanted[-1] == _ANY else {len(wanted)}
    return not ends.isdisjoint(reached), bool(reached)


def _fits(parts: Sequence[str], wanted: Sequence[str]) -> bool:
    return len(wanted) in _reached_widely(parts, wanted)


def _reached_widely(parts: Sequence[str], wanted: Sequence[str]) -> set[int]:
    return _reached(parts, wanted, _is_like, holds_below=_WILD.isdisjoint(wanted[-1]))


def _is_like(name: str, wanted: str) -> bool:
    from fnmatch import fnmatchcase

    return fnmatchcase(name, wanted) or fnmatchcase(folded(name), folded(wanted))


def _reached(
    parts: Sequence[str], wanted: Sequence[str], fits: Callable[[str, str], bool], *, holds_below: bool = False
) -> set[int]:
    """All places of the pattern that the path may have come to are followed at once: no path takes long."""
    end = len(wanted)
    reached = _with_skipped({0}, wanted)
    for part in parts:
        if end in reached and holds_below:
            return reached
        after: set[int] = set()
        for at in reached - {end}:
            if wanted[at] == _ANY:
                after |= {at, end} if at == end - 1 else {at}
            elif fits(part, wanted[at]):
                after.add(at + 1)
        reached = _with_skipped(after, wanted)
    return reached


def folded(name: str) -> str:
    """A name as file systems compare it that fold case: they also join accents to their letters, and skip marks."""
    if name.isascii():
        return name.lower()
    from unicodedata import normalize

    return normalize("NFC", normalize("NFC", name.translate(_skipped())).casefold())


@cache
def _skipped() -> dict[int, None]:
    from detent.store.disk.invisible import invisible_codes

    return dict.fromkeys((*invisible_codes(), 0x200C, 0x200D, *range(0xFE00, 0xFE10)))


def _with_skipped(places: set[int], wanted: Sequence[str]) -> set[int]:
    """Also the places behind a `**/` that stands for no folder at all."""
    found = set(places)
    for at in range(len(wanted) - 1):
        if at in found and wanted[at] == _ANY:
            found.add(at + 1)
    return found
