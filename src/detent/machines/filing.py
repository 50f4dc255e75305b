"""What a state may have filed when a run has ended: the places in the task folder, and the sources they come from."""

from __future__ import annotations

from detent.machines.reading import is_inner_path
from detent.words.machines import parse as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

DIFF = "diff"  # the patch from the baseline to the tree, as the engine sees it
CHANGED = "changed"  # the changed files themselves, as a folder
OUT = "out:"  # before the name of a file that the run left in its `out/`
TREE_SOURCES = (DIFF, CHANGED)


def filing_problems(
    state: str, files: Mapping[str, str], *, has_role: bool, store_files: Iterable[str]
) -> Iterator[str]:
    """What is wrong with a state's `files`; `own` are the files that only the engine writes already."""
    if files and not has_role:
        yield say.files_without_role(state)
    for place, source in files.items():
        if not is_inner_path(place.removesuffix("/")):
            yield say.file_outside_folder(state, place)
        if place in store_files:
            yield say.file_of_engine(state, place)
        if source not in TREE_SOURCES and not _is_out(source):
            yield say.unknown_source(state, source, (*TREE_SOURCES, f"{OUT}NAME"))
        if place.endswith("/") != (source == CHANGED):
            yield say.folder_source(state, place) if source == CHANGED else say.file_source(state, place)


def _is_out(source: str) -> bool:
    name = source.removeprefix(OUT)
    return source.startswith(OUT) and is_inner_path(name) and "/" not in name
