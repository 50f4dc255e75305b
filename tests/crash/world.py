"""A small world that a step can change: a repository, a task home, folders. Kept in memory, put back in milliseconds.

`Ending` is what must be the same whether or not something died: everything but times and what depends on them.
"""

from __future__ import annotations

import calendar
import hashlib
import json
import os
import re
import shutil
import time
import zlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Files = Mapping[str, bytes | None]  # path below the world's top -> content; None is a folder

GENESIS = "0" * 64
TASK = "t"
CONTROL = f"repo/.git/detent/tasks/{TASK}"
JOURNAL = f"{CONTROL}/journal.jsonl"
CACHE = f"{CONTROL}/snapshot.json"
FOLDER = "folders/task"
STATE = f"{FOLDER}/STATE.md"
LOG = f"{FOLDER}/history.jsonl"
# A checkout that proofs are run in; it is wiped before each proof, so what a killed proof left in it is of no account.
SCRATCH = re.compile(r"^home/state/detent/[^/]+/[^/]+/(proof|reports)(/|\.lock$|$)")
TEMPORARY = ".detent-tmp-"
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{6})?Z")
# Values that the engine writes into STATE.md; everything else in there belongs to agents and people.
_OWNED = re.compile(r"^(Phase|Validator status|Repair applied|Revalidation status|Last updated):.*$", re.MULTILINE)


class World:
    """The files below one folder, apart from the repository's own git objects, which no step may touch."""

    def __init__(self, top: Path) -> None:
        self.top = top

    def read(self) -> dict[str, bytes | None]:
        return dict(self._walk(str(self.top), ""))

    def _walk(self, folder: str, prefix: str) -> Iterator[tuple[str, bytes | None]]:
        with os.scandir(folder) as entries:
            for entry in sorted(entries, key=lambda item: item.name):
                name = prefix + entry.name
                if prefix == "repo/.git/" and entry.name != "detent":
                    continue
                if entry.is_dir(follow_symlinks=False):
                    yield name, None
                    yield from self._walk(entry.path, name + "/")
                else:
                    with open(entry.path, "rb") as file:
                        yield name, file.read()

    def put(self, files: Files) -> None:
        """Make the world hold exactly these files."""
        for folder in (
            "repo/.git/detent",
            *(f"repo/{name}" for name in os.listdir(self.top / "repo") if name != ".git"),
        ):
            _remove(self.top / folder)
        for name in os.listdir(self.top):
            if name != "repo":
                _remove(self.top / name)
        top = str(self.top)
        for name in sorted(files):
            content = files[name]
            path = f"{top}/{name}"
            if content is None:
                if name not in ("repo", "repo/.git"):
                    os.mkdir(path)
                continue
            with open(path, "wb", buffering=0) as file:
                file.write(content)

    def marks(self) -> dict[str, tuple[int, int, int, int]]:
        """Everything a write would change about every file, the repository's own included."""
        marks = {}
        for folder, _folders, names in os.walk(self.top):
            for path in (folder, *(os.path.join(folder, name) for name in names)):
                seen = os.lstat(path)
                marks[path] = (seen.st_ino, seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns)
        return marks


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


@dataclass(frozen=True, slots=True)
class Ending:
    """What a step came to, without times."""

    journal: tuple[str, ...]
    state_file: str
    log: tuple[str, ...]
    checkpoints: Mapping[str, tuple[str, ...]]  # ref -> tree, parent, message
    receipts: Mapping[str, str]
    others: Mapping[str, str]  # every other file by hash, caches and git's own objects apart
    state: str

    def differences(self, other: Ending) -> list[str]:
        problems = []
        for field in ("journal", "state_file", "log", "checkpoints", "receipts", "others", "state"):
            mine, theirs = getattr(self, field), getattr(other, field)
            if mine != theirs:
                problems.append(f"{field}: {_difference(mine, theirs)}")
        return problems


def _difference(mine: Any, theirs: Any) -> str:
    if isinstance(mine, Mapping):
        keys = [key for key in sorted({*mine, *theirs}) if mine.get(key) != theirs.get(key)]
        return "; ".join(f"{key}: {mine.get(key)!r:.200} should be {theirs.get(key)!r:.200}" for key in keys[:4])
    if isinstance(mine, tuple):
        missing, added = [item for item in theirs if item not in mine], [item for item in mine if item not in theirs]
        return f"{len(mine)} lines, should be {len(theirs)}; missing {missing!r:.600}; too many {added!r:.600}"
    return f"{mine!r:.1500}\n      should be {theirs!r:.1500}"


def without_times(text: str) -> str:
    return _TIME.sub("TIME", text)


def foreign_text(state_file: str) -> str:
    """What in STATE.md is not the engine's."""
    return _OWNED.sub(r"\1:", state_file)


def whole_lines(data: bytes) -> list[bytes]:
    return data[: data.rfind(b"\n") + 1].split(b"\n")[:-1]


def read_journal(files: Files) -> list[dict[str, Any]]:
    """The whole lines of the journal with their chain proven, by other code than the engine's."""
    data = files.get(JOURNAL) or b""
    entries = []
    previous = GENESIS
    for number, raw in enumerate(whole_lines(data), 1):
        entry = json.loads(raw)
        assert entry["seq"] == number, f"line {number} of the journal says it is {entry['seq']}"
        assert entry["prev"] == previous, f"line {number} of the journal does not follow from the line before"
        previous = hashlib.sha256(raw).hexdigest()
        entries.append(entry)
    return entries


def moment_of_last_line(files: Files) -> int:
    """When the last whole line of the journal was written; 0 when there is none."""
    entries = read_journal(files)
    return calendar.timegm(time.strptime(entries[-1]["time"], "%Y-%m-%dT%H:%M:%SZ")) if entries else 0


def comparable(entry: Mapping[str, Any]) -> str:
    """A journal or log line without what depends on the time."""
    # "judged" is the hash of a document that holds a time.
    kept = {key: value for key, value in entry.items() if key not in ("time", "us", "prev", "judged", "native")}
    if "native" in entry:
        kept["native"] = without_times(entry["native"].get("text", ""))
    for name in ("result", "receipts"):  # commits and receipts hold times; `ending` looks at them by themselves
        if name in entry:
            kept[name] = sorted(entry[name])
    if "logs" in entry:  # named by key and attempt; an attempt that was cut short is kept, so that numbers differ
        kept["logs"] = {name.rpartition("-")[0]: log for name, log in entry["logs"].items()}
    return without_times(json.dumps(kept, sort_keys=True))


def journal_lines(files: Files) -> tuple[str, ...]:
    return tuple(comparable(entry) for entry in read_journal(files))


def ending(files: Files, committed: Collection[str]) -> Ending:
    """Take a world apart; `committed` are the objects that the user's own repository holds."""
    entries = read_journal(files)
    checkpoints = _checkpoints(files, committed)
    acted = [entry["result"]["commit"] for entry in entries if "commit" in entry.get("result", {})]
    kept = [values[-1] for values in checkpoints.values()]
    assert sorted(acted) == sorted(kept), f"the journal names the checkpoints {acted}, the refs name {kept}"
    _need_receipts(files, entries)
    log = [json.loads(line) for line in whole_lines(files.get(LOG) or b"")]
    assert not (files.get(LOG) or b"\n").rpartition(b"\n")[2], "the log ends in half a line"
    return Ending(
        journal=tuple(comparable(entry) for entry in entries),
        state_file=without_times((files.get(STATE) or b"").decode()),
        log=tuple(comparable(entry) for entry in log),
        checkpoints={ref: values[:-1] for ref, values in checkpoints.items()},
        receipts=_receipts(files),
        others=_others(files),
        state=next((entry["after"]["state"] for entry in reversed(entries) if "after" in entry), ""),
    )


def _others(files: Files) -> dict[str, str]:
    others = {}
    for name, content in files.items():
        is_cache = name.startswith(f"{CONTROL}/") and name.split("/")[-1] in (
            "snapshot.json", "projected.jsonl", "native-last", "tree.json", "touched.json", "lock", "journal.jsonl",
        )  # fmt: skip
        is_cache = is_cache or f"{name}/".startswith("repo/.git/detent/baselines/")  # found out again where it is lost
        is_cache = is_cache or name == "repo/.git/detent/proving.lock"  # an empty file, made again
        is_git = f"{name}/".startswith(f"{CONTROL}/git/")
        is_timed = name in (STATE, LOG) or name.startswith(f"{CONTROL}/receipts/")
        if is_cache or is_git or is_timed or SCRATCH.match(name):
            continue
        others[name] = "folder" if content is None else hashlib.sha256(content).hexdigest()
    return others


def _receipts(files: Files) -> dict[str, str]:
    """Each receipt by what it proves; how often its command ran is no part of that: a killed proof is run again."""
    found = {}
    for name, content in files.items():
        if name.startswith(f"{CONTROL}/receipts/") and name.endswith(".json") and content is not None:
            receipt = json.loads(content)
            kept = {key: receipt[key] for key in ("key", "command", "tree", "problem")}
            found[receipt["key"]] = json.dumps({**kept, "exit": receipt["attempts"][-1:]}, sort_keys=True)
    return found


def _need_receipts(files: Files, entries: Sequence[Mapping[str, Any]]) -> None:
    """The receipt that the journal's last word about a command names must be there, byte for byte."""
    named: dict[str, str] = {}
    for entry in entries:
        named.update(entry.get("receipts", {}))
    for key, digest in named.items():
        content = files.get(f"{CONTROL}/receipts/{key}.json")
        assert content is not None, f"the receipt {key} is gone"
        assert hashlib.sha256(content).hexdigest() == digest, f"the receipt {key} is not the one in the journal"


def _checkpoints(files: Files, committed: Collection[str]) -> dict[str, tuple[str, ...]]:
    """Each checkpoint's ref with its commit taken apart; a commit or a file of it that is not there is an error."""
    prefix = f"{CONTROL}/git/refs/detent/"
    found = {}
    for name, content in files.items():
        if name.startswith(prefix) and content is not None:
            commit = content.decode().strip()
            head, _, message = git_object(files, commit).decode().partition("\n\n")
            tree = head.splitlines()[0].removeprefix("tree ")
            _need_tree(files, tree, committed)
            parents = [line for line in head.splitlines() if line.startswith("parent ")]
            found[name.removeprefix(prefix)] = (tree, *parents, message, commit)
    return found


def _need_tree(files: Files, tree: str, committed: Collection[str]) -> None:
    if tree in committed:
        return
    data = git_object(files, tree)
    while data:
        mode, _, rest = data.partition(b"\0")
        child, data = rest[:20].hex(), rest[20:]
        if mode.startswith(b"40000"):
            _need_tree(files, child, committed)
        elif child not in committed:
            git_object(files, child)


def git_object(files: Files, name: str) -> bytes:
    content = files.get(f"{CONTROL}/git/objects/{name[:2]}/{name[2:]}")
    assert content is not None, f"the checkpoint's object {name} is gone"
    whole = zlib.decompress(content)
    assert hashlib.sha1(whole).hexdigest() == name, f"the checkpoint's object {name} is damaged"
    return whole.partition(b"\0")[2]


def temporaries(files: Files) -> list[str]:
    """Files that only a running process needs; the private git folder is swept by age and not looked at here."""
    return [name for name in files if TEMPORARY in name and not SCRATCH.match(name)]
