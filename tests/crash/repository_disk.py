"""What a power cut may leave of a person's repository: looked at on every disk, without running anything on it.

A branch that is gone, or that names what is not there, is the worst of it: git takes the repository for an empty one,
or stops.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import zlib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from detent.store.disk.boot import boot_id
from tests.crash.disk import NAMES, Cut, Recording, cuts
from tests.crash.trace import Call, record
from tests.crash.world import Files

_FAN_OUT_END = 8 + 256 * 4  # of the index of a pack: mark, version, how many names begin with at most each byte


def read_files(top: Path) -> dict[str, bytes | None]:
    found = sorted(top.rglob("*"))
    return {str(path.relative_to(top)): None if path.is_dir() else path.read_bytes() for path in found}


def disks_of(argv: Sequence[str], top: Path, environment: Mapping[str, str], log: Path) -> list[Cut]:
    """Every disk that a power cut may leave while this command works on a repository."""
    before = read_files(top)
    ended, calls = record(argv, cwd=top, env=environment, log=log, names=NAMES, with_data=True)
    assert ended.code == 0, ended
    recording = Recording(before, calls, str(top), calls[0].pid)
    real, model = read_files(top), recording.files()
    assert model == real, {name for name in real.keys() | model.keys() if real.get(name) != model.get(name)}
    _assert_bytes_before_name(calls, top)
    return list(cuts(recording))


def _assert_bytes_before_name(calls: Sequence[Call], top: Path) -> None:
    """No branch gets its name before its bytes are synced: else a power cut may leave it there and empty.

    The model takes what one git writes for one thing; so this is looked at by itself.
    """
    heads = "".join(f"\\x{byte:02x}" for byte in f"{top}/.git/refs/heads/".encode())
    touching = [call for call in calls if heads in call.arguments]
    synced = {(call.pid, call.arguments.partition(heads)[2].rstrip(">")) for call in touching if call.name == "fsync"}
    named = [call for call in touching if call.name == "rename" and call.is_done]
    unsure = [call for call in named if (call.pid, call.arguments.split('"')[1].partition(heads)[2]) not in synced]
    assert not unsure, f"{len(unsure)} of {len(named)} times a branch got its name before its bytes were synced"


def write_disk(files: Files, top: Path) -> None:
    """As the next start of the computer finds it: the marks of projections are those of another boot."""
    shutil.rmtree(top)
    top.mkdir()
    for name, content in files.items():
        path = top / name
        if content is None:
            path.mkdir(parents=True, exist_ok=True)
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        is_mark = name.endswith("/projected.jsonl")
        path.write_bytes(content.replace(boot_id().encode(), b"another boot, the one before") if is_mark else content)


def assert_branches_whole(found: Sequence[Cut], top: Path) -> set[tuple[str, str]]:
    """On each disk the checkout is on a branch, and all that any branch names is there; where the checkout stood.

    The repository, as the command left it, is asked what belongs to a commit: that is the same on every disk.
    """
    broken, stood = {}, set()
    for number, cut in enumerate(found):
        stood.add(checked_out(cut.files))
        for branch, commit in (checked_out(cut.files), *branches(cut.files).items()):
            if not commit or lacking(cut.files, commit, top):
                broken[number] = (branch, commit)
    assert not broken, f"{len(broken)} of {len(found)} disks: {broken}"
    return stood


def checked_out(files: Files) -> tuple[str, str]:
    branch = (files[".git/HEAD"] or b"").decode().removeprefix("ref: ").strip()
    return branch, branches(files).get(branch, "")


def branches(files: Files) -> dict[str, str]:
    """Each branch that is a file of its own, as they all are in a new repository, and the text in it."""
    return {
        name.removeprefix(".git/"): text.decode().strip()
        for name, text in files.items()
        if text is not None and name.startswith(".git/refs/heads/") and not name.endswith(".lock")
    }


def lacking(files: Files, commit: str, top: Path) -> list[str]:
    """What a disk lacks of a commit, its history and all that they name."""
    packed = _packed(files)
    return [name for name in _belongs_to(commit, str(top)) if name not in packed and not _is_loose(files, name)]


def _is_loose(files: Files, name: str) -> bool:
    content = files.get(f".git/objects/{name[:2]}/{name[2:]}")
    return content is not None and _names(content) == name


@cache
def _names(loose: bytes) -> str:
    """The name that a file of one object should have; empty when its bytes are none."""
    try:
        return hashlib.sha1(zlib.decompress(loose), usedforsecurity=False).hexdigest()
    except zlib.error:
        return ""


def _packed(files: Files) -> frozenset[str]:
    folder = ".git/objects/pack/"
    indexes = [name for name in files if name.startswith(folder) and name.endswith(".idx")]
    pairs = ((files[name] or b"", files.get(f"{name.removesuffix('.idx')}.pack") or b"") for name in indexes)
    return frozenset(name for index, pack in pairs for name in _pack_names(index, pack))


@cache
def _pack_names(index: bytes, pack: bytes) -> frozenset[str]:
    """The objects of a pack, by its index (gitformat-pack, version 2); none when either is not whole."""
    is_whole = all(hashlib.sha1(file[:-20], usedforsecurity=False).digest() == file[-20:] for file in (index, pack))
    if not is_whole:
        return frozenset()
    count = int.from_bytes(index[_FAN_OUT_END - 4 : _FAN_OUT_END], "big")
    return frozenset(index[at : at + 20].hex() for at in range(_FAN_OUT_END, _FAN_OUT_END + 20 * count, 20))


@cache
def _belongs_to(commit: str, top: str) -> frozenset[str]:
    """What must be on a disk whose branch says this; of what git does not know as a whole commit, more than any has."""
    argv = ["git", "-C", top, "rev-list", "--objects", "--no-object-names", commit]
    listed = subprocess.run(argv, capture_output=True, text=True, check=False)
    return frozenset(listed.stdout.split()) if listed.returncode == 0 else frozenset((f"not known: {commit}",))
