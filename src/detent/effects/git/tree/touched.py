"""Which protected files a tree has touched: those that match a pattern and are not as the baseline has them.

A path that leads through a symbolic link is such a file too: by a new link, or by a change of what a link leads to. For
`deny` an agent's own file is restored when its run is over; a person decides about the target of a baseline's link.

The memory of it is for readers, which start no git; a decision asks git again.
"""

from __future__ import annotations

import json
import os
from functools import cache

from detent.core.record import Record
from detent.effects.git.git import check_object_id
from detent.effects.git.tree.links import EVERYWHERE, LINK, changes_between, files_of, links_of
from detent.store.disk.atomic import as_json, read_cache, write_cache
from detent.store.disk.digest import sha256_of
from detent.store.disk.patterns import protects, reaches

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from detent.effects.git.tree.links import Seen

GONE = "gone"  # stands where the hash would, for a file the tree no longer has
# What a tree without a baseline is compared with, by the length of an object's name.
_NOTHING = {
    40: "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
    64: "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
}


class Touched(Record):
    """Protected files of one tree that were touched, each with the hash it has there."""

    tree: str = ""
    ask: Mapping[str, str] = {}
    report: Mapping[str, str] = {}
    rules: str = ""  # a hash of the baseline and the patterns this was found with
    has_links: bool = True


def touched_files(private_dir: str, baseline: str, tree: str, protect: Mapping[str, Sequence[str]]) -> Touched:
    """Without a baseline every file a person must be asked about counts as touched: nothing shows that it was not."""
    patterns = {"ask": protect["ask"], "report": protect["report"] if baseline else ()}
    rules = rules_of(baseline, protect)
    by_links: Sequence[str] = ()
    if baseline and has_protected_links(private_dir, check_object_id(baseline), tuple(protect["deny"])):
        by_links = protect["deny"]
    if not any((*patterns.values(), by_links)):
        return Touched(tree, rules=rules, has_links=False)
    base = check_object_id(baseline) if baseline else _NOTHING[len(check_object_id(tree))]
    changes = changes_between(private_dir, base, tree)
    links = links_of(private_dir, tree, changes)
    shown = links.changed_paths() if links is not None else []
    found: dict[str, dict[str, str]] = {name: {} for name in patterns}
    for kind, wanted in patterns.items():
        for change in changes:
            if protects(change.name, wanted):
                found[kind][_in_words(change.name)] = change.after or GONE
        for seen in shown:
            if shows_protected(seen, (*wanted, *by_links) if kind == "ask" else wanted):
                found[kind].setdefault(_in_words(seen.name), seen.blob or GONE)
    return Touched(tree, **found, rules=rules, has_links=links is not None)


def shows_protected(seen: Seen, patterns: Sequence[str]) -> bool:
    """Whether a path through links is protected, or may hold something that is."""
    if seen.name == EVERYWHERE:
        return bool(patterns)
    return protects(seen.name, patterns) or (seen.is_open and reaches(seen.name, patterns))


@cache
def has_protected_links(private_dir: str, baseline: str, patterns: tuple[str, ...]) -> bool:
    """Whether a link of a commit is protected or leads on to protected paths. Both stay as they are: asked once."""
    if not patterns:
        return False
    entries = files_of(private_dir, baseline).items()
    return any(mode == LINK and (protects(name, patterns) or reaches(name, patterns)) for name, (mode, _) in entries)


def _in_words(name: str) -> str:
    """Names go into the journal, which is UTF-8."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")


def rules_of(baseline: str, protect: Mapping[str, Sequence[str]]) -> str:
    return sha256_of(as_json(["with links, in any case", baseline, protect["ask"], protect["report"], protect["deny"]]))


def touched_later(
    touched: Touched, tree: str, changed: Iterable[str], protect: Mapping[str, Sequence[str]], work_tree: str
) -> Touched | None:
    """What a later tree has touched, if none of the paths it may have changed is protected; None when git must say."""
    patterns = (*protect["ask"], *protect["report"])
    if not patterns and not touched.has_links:
        return touched.replace(tree=tree)
    if touched.has_links or any(
        protects(path, patterns) or os.path.islink(os.path.join(work_tree, path)) for path in changed
    ):
        return None
    return touched.replace(tree=tree)


def remember_touched(path: str, touched: Touched) -> None:
    write_cache(path, as_json({field: getattr(touched, field) for field in Touched._fields}))


def recall_touched(path: str) -> Touched:
    """The remembered paths; nothing when they are unreadable."""
    try:
        content = json.loads(read_cache(path) or b"{}")
        ask, report = dict(content.get("ask", {})), dict(content.get("report", {}))
        has_links = bool(content.get("has_links", True))
        return Touched(str(content.get("tree", "")), ask, report, str(content.get("rules", "")), has_links)
    except (ValueError, TypeError, AttributeError, RecursionError):
        return Touched()
