"""What a disk may hold after a power cut, worked out from the system calls of one run.

The model, stricter than any one file system:
- bytes are on the disk for sure only after fsync or fdatasync of their file; before, each write may be there, be there
  in part, be there as zeros, or be missing, whatever happens to other files;
- after sync(2) everything is there for sure;
- a name (created, renamed, removed) is there for sure only after fsync of its folder; before, the changes of one folder
  arrive in order, but any number of the last ones may be missing, whatever happens in other folders;
- so a rename may reach the disk before the bytes of the renamed file;
- what one helper process (git) writes is there as a whole or missing as a whole; for sure only if it synced every file
  and a process synced the folders. The index files of git are caches, and its reflogs are read by people alone: they
  come apart from the rest, and are never there for sure.
"""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field

from tests.crash.trace import Call
from tests.crash.world import LOG, SCRATCH, Files

NAMES = (
    "openat", "write", "pwrite64", "fsync", "fdatasync", "rename", "renameat", "renameat2", "unlink", "unlinkat",
    "rmdir", "mkdir", "mkdirat", "ftruncate", "link", "linkat", "symlink", "sync", "sendfile",
)  # fmt: skip
MOST_COMBINATIONS = 600  # of one moment; beyond it one file or folder differs from all the others
_BLOCK_BYTES = 4096
_UNSURE = re.compile(r"/git/cache/|(^|/)\.git/logs(/|$)")  # what git never syncs, and nothing rests on
_TEXT = re.compile(r'"((?:\\x[0-9a-f]{2})*)"')
_SENT = re.compile(r"^\d+<[^>]*>, \d+<((?:\\x[0-9a-f]{2})*)>, \[(\d+)\]")
_DESCRIPTOR = re.compile(r"^(?:AT_FDCWD|-?\d+)<((?:\\x[0-9a-f]{2})*)>")


@dataclass(frozen=True, slots=True)
class Change:
    """One thing done to the disk. Files are numbered, because names move."""

    kind: str  # name | data | sync | sync folder | sync all | batch | ack
    path: str = ""
    action: str = ""  # of a name: create, folder, rename, exchange, link, remove
    target: str = ""
    file: int = -1
    data: bytes = b""
    offset: int = -1  # -1: at the end
    size: int = -1  # the file is cut to this size
    files: Mapping[str, bytes | int | None] = field(default_factory=dict)  # of a batch: content, folder, or 0 = removed
    is_synced: bool = False  # all files of a batch


@dataclass(frozen=True, slots=True)
class Cut:
    """A disk after a power cut, and whether the command had already said that it was done."""

    files: Files
    is_acknowledged: bool


class Recording:
    """The changes of one run, by process and file."""

    def __init__(self, before: Files, calls: Sequence[Call], top: str, main: int) -> None:
        self.before = before
        self.top = top
        self.main = main
        self.changes: list[Change] = []
        self.names: dict[str, int | None] = {}
        self.first: dict[int, bytes] = {}
        for name, content in before.items():
            self.names[name] = None if content is None else self._new_file(content)
        self.start = dict(self.names)
        self.live = {number: bytearray(content) for number, content in self.first.items()}
        self._batches: dict[int, _Batch] = {}
        self._positions: dict[tuple[int, str], int] = {}  # of descriptors that do not append
        last = {call.pid: index for index, call in enumerate(calls)}
        for index, call in enumerate(calls):
            if call.is_done:
                self._take(call)
            if call.pid != main and last[call.pid] == index:
                self._close_batch(call.pid)
        self.changes.append(Change("ack"))
        touched = {path for change in self.changes for path in (change.path, change.target, *change.files)} - {""}
        # The same on every disk, and most of what there is: worked out once.
        self.changing = {name: file for name, file in self.start.items() if _is_touched(name, touched)}
        self.constant = {
            name: None if file is None else self.first[file]
            for name, file in self.start.items()
            if name not in self.changing
        }

    def _new_file(self, content: bytes = b"") -> int:
        self.first[len(self.first)] = content
        return len(self.first) - 1

    def files(self) -> dict[str, bytes | None]:
        """What the run left, by this model; it must be what is really there."""
        return {name: None if file is None else bytes(self.live[file]) for name, file in self.names.items()}

    # --- reading one call ---

    def _take(self, call: Call) -> None:
        match call.name:
            case "openat":
                self._open(call)
            case "write" | "pwrite64":
                self._write(call)
            case "sendfile":
                self._send(call)
            case "fsync" | "fdatasync" | "sync":
                self._sync(call)
            case "ftruncate":
                path = self._inside(_descriptor(call))
                if path in self.names:
                    self._cut(call.pid, path, int(call.arguments.rpartition(", ")[2]))
            case "mkdir" | "mkdirat":
                if path := self._path(call, 0):
                    self._name(call.pid, Change("name", path, "folder"))
            case "unlink" | "unlinkat" | "rmdir":
                if path := self._path(call, 0):
                    self._name(call.pid, Change("name", path, "remove"))
            case "rename" | "renameat" | "renameat2" | "link" | "linkat":
                self._move(call)
            case _:
                assert not self._path(call, 1), f"the model does not know {call}"

    def _inside(self, path: str) -> str:
        """The path below the world's top, or an empty text for what is none of our business."""
        if not path.startswith(self.top + "/"):
            return ""
        inner = os.path.relpath(path, self.top)
        is_foreign = inner.startswith("repo/.git/") and not inner.startswith("repo/.git/detent")
        return "" if is_foreign or SCRATCH.match(inner) else inner

    def _path(self, call: Call, number: int) -> str:
        text = _decoded(_TEXT.findall(call.arguments)[number])
        found = _DESCRIPTOR.match(call.arguments)
        return self._inside(os.path.normpath(os.path.join(_decoded(found[1]) if found else self.top, text)))

    def _move(self, call: Call) -> None:
        source, target = self._path(call, 0), self._path(call, 1)
        if source and target:
            self._name(call.pid, Change("name", source, _action(call), target))
        elif source and _action(call) == "rename":  # out of the world that is looked at
            self._name(call.pid, Change("name", source, "remove"))

    def _open(self, call: Call) -> None:
        path = self._path(call, 0)
        self._positions.pop((call.pid, call.result), None)
        if path and "O_APPEND" not in call.arguments:
            self._positions[call.pid, call.result] = 0
        if not path or ("O_CREAT" not in call.arguments and "O_TRUNC" not in call.arguments):
            return
        if path not in self.names:
            self._name(call.pid, Change("name", path, "create", file=self._new_file()))
        elif "O_TRUNC" in call.arguments:
            self._cut(call.pid, path, 0)

    def _write(self, call: Call) -> None:
        if call.pid == self.main and call.arguments.startswith("1<"):
            self.changes.append(Change("ack"))
            return
        self._put(call, _decoded_bytes(_TEXT.findall(call.arguments)[0])[: int(call.result)])

    def _send(self, call: Call) -> None:
        """Bytes that the kernel copied from one file of the world into another."""
        found = _SENT.match(call.arguments)
        assert found, f"the model does not know {call}"
        source = self.names.get(self._inside(_decoded(found[1])))
        start = int(found[2])
        if source is not None:
            self._put(call, bytes(self.live[source][start : start + int(call.result)]))

    def _put(self, call: Call, data: bytes) -> None:
        path = self._inside(_descriptor(call))
        if path not in self.names:
            return
        file = self.names[path]
        assert file is not None
        descriptor = call.arguments.partition("<")[0]
        offset = self._positions.get((call.pid, descriptor), -1)
        if call.name == "pwrite64":
            offset = int(call.arguments.rpartition(", ")[2])
        elif offset >= 0:
            self._positions[call.pid, descriptor] += len(data)
        change = Change("data", path, file=file, data=data, offset=offset)
        _apply(self.live[file], change)
        self._add(call.pid, change)

    def _cut(self, pid: int, path: str, size: int) -> None:
        file = self.names[path]
        assert file is not None
        change = Change("data", path, file=file, size=size)
        _apply(self.live[file], change)
        self._add(pid, change)

    def _sync(self, call: Call) -> None:
        if call.name == "sync":
            self._add(call.pid, Change("sync all"))
            return
        path = self._inside(_descriptor(call))
        if path not in self.names:
            return
        file = self.names[path]
        self._add(call.pid, Change("sync folder", path) if file is None else Change("sync", path, file=file))

    def _name(self, pid: int, change: Change) -> None:
        if change.action == "create":
            self.live[change.file] = bytearray()
        _rename(self.names, change)
        self._add(pid, change)

    def _add(self, pid: int, change: Change) -> None:
        if pid == self.main:
            self.changes.append(change)
            return
        batch = self._batches.setdefault(pid, _Batch())
        batch.touched |= {change.path, change.target} - {""}
        if change.kind == "sync":
            batch.synced.add(change.file)

    def _close_batch(self, pid: int) -> None:
        batch = self._batches.pop(pid, None)
        if batch is None:
            return
        for is_cache in (False, True):
            files: dict[str, bytes | int | None] = {}
            is_synced = not is_cache
            for path in sorted(path for path in batch.touched if bool(_UNSURE.search(path)) == is_cache):
                file = self.names.get(path, -1)
                files[path] = None if file is None else 0 if file < 0 else bytes(self.live[file])
                is_synced = is_synced and (file is None or file < 0 or file in batch.synced)
            if files:
                self.changes.append(Change("batch", files=files, is_synced=is_synced))


@dataclass(slots=True)
class _Batch:
    touched: set[str] = field(default_factory=set)
    synced: set[int] = field(default_factory=set)


def _decoded_bytes(text: str) -> bytes:
    return bytes.fromhex(text.replace("\\x", ""))


def _decoded(text: str) -> str:
    return os.fsdecode(_decoded_bytes(text))


def _is_touched(name: str, touched: Set[str]) -> bool:
    """Whether anything was done to it, or to a folder that it lies in."""
    while name and name not in touched:
        name = name.rpartition("/")[0]
    return bool(name)


def _action(call: Call) -> str:
    if "RENAME_EXCHANGE" in call.arguments:
        return "exchange"
    return "rename" if call.name.startswith("rename") else "link"


def _descriptor(call: Call) -> str:
    found = _DESCRIPTOR.match(call.arguments)
    return _decoded(found[1]) if found else ""


def _apply(content: bytearray, change: Change) -> None:
    if change.size >= 0:
        del content[change.size :]
        content.extend(bytes(change.size - len(content)))
    elif change.offset < 0:
        content.extend(change.data)
    else:
        content.extend(bytes(max(0, change.offset - len(content))))
        content[change.offset : change.offset + len(change.data)] = change.data


def _rename(names: dict[str, int | None], change: Change) -> None:
    """Carry a change of names out; what can't be done because its source never arrived is left undone."""
    if change.action == "create":
        names[change.path] = change.file
    elif change.action == "folder":
        names[change.path] = None
    elif change.action == "exchange":
        if change.path in names and change.target in names:
            names[change.path], names[change.target] = names[change.target], names[change.path]
    elif change.path in names:
        if change.action == "rename" and names[change.path] is None:
            for inner in [name for name in names if name.startswith(f"{change.path}/")]:
                names[change.target + inner.removeprefix(change.path)] = names.pop(inner)
        if change.action != "remove":
            names[change.target] = names[change.path]
        if change.action != "link":
            del names[change.path]


# --- power cuts ---


@dataclass(frozen=True, slots=True)
class _Pending:
    """What is not on the disk for sure at one moment."""

    folders: Mapping[str, Sequence[int]]  # folder -> its changes of names, by position
    files: Mapping[int, Sequence[int]]  # file -> its changes of data
    batches: Sequence[int]


def cuts(recording: Recording) -> Iterator[Cut]:
    """Every distinct disk a power cut at any moment may leave; of equal ones the stricter to judge."""
    found: dict[frozenset[tuple[str, bytes | None]], bool] = {}
    for moment in range(len(recording.changes) + 1):
        done = recording.changes[:moment]
        is_acknowledged = any(change.kind == "ack" for change in done)
        for files in _disks(recording, done):
            key = frozenset(files.items())
            found[key] = found.get(key, False) or is_acknowledged
    for key, is_acknowledged in found.items():
        yield Cut(dict(key), is_acknowledged)


def _pending(done: Sequence[Change]) -> _Pending:
    folders: dict[str, list[int]] = {}
    files: dict[int, list[int]] = {}
    batches: dict[int, set[str]] = {}  # with the folders that must still be synced
    for position, change in enumerate(done):
        match change.kind:
            case "name":
                folders.setdefault(os.path.dirname(change.target or change.path), []).append(position)
            case "data":
                files.setdefault(change.file, []).append(position)
            case "sync":
                files.pop(change.file, None)
            case "sync all":
                folders, files, batches = {}, {}, {}
            case "sync folder":
                folders.pop(change.path, None)
                for number in [number for number, rest in batches.items() if rest == {change.path}]:
                    del batches[number]
                for rest in batches.values():
                    rest.discard(change.path)
            case "batch":
                rest = {os.path.dirname(path) for path, content in change.files.items() if content != 0}
                batches[position] = rest if change.is_synced else {"never"}
            case _:
                assert change.kind == "ack"
    return _Pending(folders, files, tuple(batches))


def _disks(recording: Recording, done: Sequence[Change]) -> Iterator[dict[str, bytes | None]]:
    pending = _pending(done)
    contents = {file: _contents(recording, done, file, pending.files.get(file, ())) for file in recording.first}
    dimensions: list[list[tuple[str, object]]] = [
        [("missing", frozenset(positions[kept:])) for kept in range(len(positions), -1, -1)]
        for positions in pending.folders.values()
    ]
    dimensions += [[("content", (file, content)) for content in contents[file]] for file in pending.files]
    if pending.batches:
        dimensions.append([("missing", gone) for gone in _missing_batches(pending.batches)])
    sure = {file: options[0] for file, options in contents.items()}
    for choice in _combinations(dimensions):
        missing: set[int] = set()
        chosen = dict(sure)
        for kind, value in choice:
            if kind == "missing":
                assert isinstance(value, frozenset)
                missing |= value
            else:
                assert isinstance(value, tuple)
                chosen[value[0]] = value[1]
        yield _disk(recording, done, missing, chosen)


def _missing_batches(batches: Sequence[int]) -> list[frozenset[int]]:
    """None, all, each alone, and all from one on: helpers run one after the other, but nothing is synced."""
    options = [frozenset[int](), frozenset(batches)]
    options += [frozenset((batch,)) for batch in batches]
    options += [frozenset(batches[start:]) for start in range(1, len(batches))]
    return list(dict.fromkeys(options))


def _combinations(
    dimensions: Sequence[Sequence[tuple[str, object]]],
) -> Iterator[tuple[tuple[str, object], ...]]:
    total = 1
    for options in dimensions:
        total *= len(options)
    if total <= MOST_COMBINATIONS:
        yield from itertools.product(*dimensions)
        return
    # The first option of each dimension is "all arrived", the last one "nothing did".
    for rest in (0, -1):
        fixed = [options[rest] for options in dimensions]
        for number, options in enumerate(dimensions):
            for option in options:
                yield (*fixed[:number], option, *fixed[number + 1 :])


def _contents(recording: Recording, done: Sequence[Change], file: int, pending: Sequence[int]) -> list[bytes]:
    """What a file may hold: all of it first, then less and less, then what was synced."""
    content = bytearray(recording.first[file])
    unsure = set(pending)
    for position, change in enumerate(done):
        if change.kind == "data" and change.file == file and position not in unsure:
            _apply(content, change)
    options = [bytes(content)]
    for position in pending:
        change = done[position]
        if change.data:
            torn = [change.data[: len(change.data) // 2]]
            if os.path.basename(change.path) != os.path.basename(
                LOG
            ):  # see docs/crash-safety.md, "What is not promised"
                torn.append(bytes(len(change.data)))
                torn.append(bytes(_BLOCK_BYTES) + change.data[_BLOCK_BYTES:])
            for part in torn:
                partial = bytearray(content)
                _apply(partial, Change("data", file=file, data=part, offset=change.offset))
                options.append(bytes(partial))
        _apply(content, change)
        options.append(bytes(content))
    return list(dict.fromkeys(reversed(options)))


def _disk(
    recording: Recording, done: Sequence[Change], missing: set[int], contents: Mapping[int, bytes]
) -> dict[str, bytes | None]:
    names = dict(recording.changing)
    extra: dict[int, bytes] = {}  # what batches wrote, by a number below zero
    for position, change in enumerate(done):
        if position in missing:
            continue
        if change.kind == "name":
            _rename(names, change)
        for path, content in change.files.items():
            if content is None:
                names[path] = None
            elif isinstance(content, bytes):
                extra[-1 - len(extra)] = content
                names[path] = -len(extra)
            else:
                names.pop(path, None)
    files = dict(recording.constant)
    for name in sorted(names):
        parent = name.rpartition("/")[0]  # `dirname` costs as much as all the rest
        if parent and files.get(parent, b"") is not None:
            continue  # its folder never arrived
        file = names[name]
        files[name] = None if file is None else extra[file] if file < 0 else contents[file]
    return files
