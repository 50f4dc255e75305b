"""What a power cut may leave of a person's repository: looked at on every disk, without running anything on it.

A branch that is gone, or that names what is not there, is the worst of it: git takes the repository for an empty one,
or stops.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.crash.disk import NAMES, Cut, Recording, cuts
from tests.crash.trace import record
from tests.crash.world import Files


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
    return list(cuts(recording))


def assert_branches_whole(found: Sequence[Cut]) -> set[tuple[str, str]]:
    """On each disk the checkout is on a branch, and all that it names is there; the branches and commits it is on."""
    broken, stood = {}, set()
    for number, cut in enumerate(found):
        branch, commit = checked_out(cut.files)
        stood.add((branch, commit))
        if not commit or lacking(cut.files, commit):
            broken[number] = (branch, commit)
    assert not broken, f"{len(broken)} of {len(found)} disks: {broken}"
    return stood


def checked_out(files: Files) -> tuple[str, str]:
    branch = (files[".git/HEAD"] or b"").decode().removeprefix("ref: ").strip()
    return branch, (files.get(f".git/{branch}") or b"").decode().strip()


def lacking(files: Files, name: str) -> list[str]:
    """What a disk lacks of an object and of all that it names but parents; nothing is packed here."""
    try:
        head, _, body = zlib.decompress(files.get(f".git/objects/{name[:2]}/{name[2:]}") or b"").partition(b"\0")
    except zlib.error:
        return [name]
    if head.startswith(b"commit"):
        return lacking(files, body.split()[1].decode())
    found = []
    while head.startswith(b"tree") and body:
        _, _, rest = body.partition(b"\0")
        found += lacking(files, rest[:20].hex())
        body = rest[20:]
    return found
