"""Which protected files a tree has touched: those that match a pattern and are not as the baseline has them.

What is remembered of it is for readers, who start no git; whoever decides asks git anew.
"""

from __future__ import annotations

import json
import os

from detent.core.record import Record
from detent.effects.git import Git, check_object_id
from detent.store.atomic import as_json, read_cache, write_cache
from detent.store.digest import sha256_of
from detent.store.patterns import protects

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

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


def touched_files(private_dir: str, baseline: str, tree: str, protect: Mapping[str, Sequence[str]]) -> Touched:
    """Without a baseline every file a person must be asked about counts as touched: nothing shows that it was not."""
    patterns = {"ask": protect["ask"], "report": protect["report"] if baseline else ()}
    rules = rules_of(baseline, protect)
    if not any(patterns.values()):
        return Touched(tree, rules=rules)
    base = check_object_id(baseline) if baseline else _NOTHING[len(check_object_id(tree))]
    options = ("-r", "-z", "--raw", "--no-abbrev", "--no-renames", "--ignore-submodules=none")
    fields = Git(private_dir).run("diff-tree", *options, base, tree, "--").split(b"\0")[:-1]
    found: dict[str, dict[str, str]] = {name: {} for name in patterns}
    for facts, raw_name in zip(fields[::2], fields[1::2], strict=True):
        _, _, _, new, status = facts.decode().split(" ")
        for kind, wanted in patterns.items():
            if protects(os.fsdecode(raw_name), wanted):
                # Names go into the journal, which is UTF-8.
                found[kind][raw_name.decode("utf-8", "backslashreplace")] = GONE if status == "D" else new
    return Touched(tree, **found, rules=rules)


def rules_of(baseline: str, protect: Mapping[str, Sequence[str]]) -> str:
    return sha256_of(as_json([baseline, protect["ask"], protect["report"]]))


def touched_later(
    touched: Touched, tree: str, changed: Iterable[str], protect: Mapping[str, Sequence[str]]
) -> Touched | None:
    """What a later tree has touched, if none of the paths it may have changed is protected; None when git must say."""
    patterns = (*protect["ask"], *protect["report"])
    if any(protects(path, patterns) for path in changed):
        return None
    return touched.replace(tree=tree)


def remember_touched(path: str, touched: Touched) -> None:
    write_cache(path, as_json({field: getattr(touched, field) for field in Touched._fields}))


def recall_touched(path: str) -> Touched:
    """What was last seen; nothing when it can't be told."""
    try:
        content = json.loads(read_cache(path) or b"{}")
        ask, report = dict(content.get("ask", {})), dict(content.get("report", {}))
        return Touched(str(content.get("tree", "")), ask, report, str(content.get("rules", "")))
    except (ValueError, TypeError, AttributeError, RecursionError):
        return Touched()
