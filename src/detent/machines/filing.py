"""What a state may have filed when a run has ended: the places in the task folder, and the sources they come from."""

from __future__ import annotations

from detent.machines.reading import is_inner_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

DIFF = "diff"  # the patch from the baseline to the tree, as the engine sees it
CHANGED = "changed"  # the changed files themselves, as a folder
OUT = "out:"  # before the name of a file that the run left in its `out/`
TREE_SOURCES = (DIFF, CHANGED)


def filing_problems(state: str, files: Mapping[str, str], *, has_role: bool, own: Iterable[str]) -> Iterator[str]:
    """What is wrong with a state's `files`; `own` are the files that only the engine writes already."""
    where = f"state {state}: files"
    if files and not has_role:
        yield f"{where}: no run ends in a state without a role"
    for place, source in files.items():
        if not is_inner_path(place.removesuffix("/")):
            yield f"{where}: {place!r} must be a path inside the task folder, without '..'"
        if place in own:
            yield f"{where}: {place} is written by the engine already"
        if source not in TREE_SOURCES and not _is_out(source):
            yield f"{where}: unknown source {source!r}; known: {', '.join(TREE_SOURCES)}, {OUT}NAME"
        if place.endswith("/") != (source == CHANGED):
            yield f"{where}: {place!r} must {'' if source == CHANGED else 'not '}end with '/', as a folder does"


def _is_out(source: str) -> bool:
    name = source.removeprefix(OUT)
    return source.startswith(OUT) and is_inner_path(name) and "/" not in name
