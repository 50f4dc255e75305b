"""Keeps a set-up for one checkout, where nothing can be mounted: one copy, which is lent to the checkout and verified.

What set-up makes may name its own path, so each folder of checkouts has its own copy. It is moved into the checkout and
moved back before the checkout is wiped, so that it takes its room once. Commands may write to it meanwhile. Therefore
its manifest (mode, size and hash of every file) is compared before each use:

- what is not in the manifest is removed: compiled files and caches that tools left;
- a file that changed or is gone: the copy is not used, and set-up runs again;
- the journal may say which manifests it vouches for; the copy of any other is not used either.

The order of a use: `take_back`, `find`, or else `keep`; then `lend`. A killed process leaves a copy lent, or torn: then
it does not match its manifest. Commands that change the set-up each time get a copy of the copy from then on, or set-up
would run for each proof.
"""

from __future__ import annotations

import json
import os
import stat
from contextlib import suppress

from detent.core.record import Record
from detent.effects.git.bring import copy_path, wipe
from detent.effects.workspace.setups import break_links, file_hash, files_in
from detent.store.disk.atomic import as_json, forget, make_folders, read_cache, write_cache
from detent.store.disk.digest import sha256_of
from detent.store.disk.folders import walk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from detent.effects.git.bring import Place

_MOST_KEPT = 3  # for one folder; the least recently used one goes first
_LARGEST_RECORD_BYTES = 256_000_000
_LENT = "lent"


class Kept(Record):
    """A copy that is kept: where it lies, its paths, the tracked files set-up changed, and its manifest by path."""

    folder: str
    paths: tuple[str, ...]
    changed: tuple[str, ...]
    manifest: Mapping[str, str]
    is_copied: bool  # the copy stays where it is, and the checkout gets another

    @property
    def digest(self) -> str:
        lines = (f"{name}\0{self.manifest[name]}" for name in sorted(self.manifest))
        return sha256_of("\n".join(lines).encode("utf-8", "surrogateescape"))

    @property
    def size(self) -> int:
        return sum(int(seen.split(" ")[1]) for seen in self.manifest.values())


def take_back(cache_dir: str, checkout: str) -> None:
    """Move the copy that was lent to a checkout back to its place, whatever has become of it."""
    lent = os.path.join(_records(cache_dir), _LENT)
    mark = (read_cache(lent, 1024) or b"").decode("ascii", "replace")
    kept = _read_record(cache_dir, mark) if mark else None
    for name in kept.paths if kept is not None else ():
        source, target = os.path.join(checkout, name), os.path.join(cache_dir, mark, name)
        # The target of a link that a command left is not ours to move. A set-up that can't be moved is made again.
        if os.path.lexists(source) and not os.path.lexists(target) and _is_inside(checkout, name):
            with suppress(OSError):
                os.makedirs(os.path.dirname(target), exist_ok=True)
                _move(source, target)
    if mark:
        forget(lent)


def find(cache_dir: str, mark: str, vouched: Collection[str] | None) -> Kept | None:
    """The copy with this mark, if it is what its manifest says; `vouched`: manifests that may be believed."""
    kept = _read_record(cache_dir, mark)
    if kept is not None and vouched is not None and kept.digest not in vouched:
        forget(_record(cache_dir, mark))  # nothing says that commands altered it
        return None
    if kept is None or not _matches(kept):
        return None
    os.utime(kept.folder)
    return kept


def keep(cache_dir: str, mark: str, checkout: str, paths: Sequence[str], changed: Sequence[str]) -> Kept:
    """Move what set-up made out of a checkout into a new copy, and write its manifest down."""
    was_altered = _read_record(cache_dir, mark) is not None
    folder = os.path.join(cache_dir, mark)
    wipe(folder)
    os.makedirs(folder)
    kinds = (stat.S_IFDIR, stat.S_IFREG, stat.S_IFLNK)
    made = [name for name in paths if stat.S_IFMT(os.lstat(os.path.join(checkout, name)).st_mode) in kinds]
    for name in made:
        target = os.path.join(folder, name)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        _move(os.path.join(checkout, name), target)
    break_links(folder)
    manifest = {os.path.relpath(path, folder): _seen(path, status) for path, status in files_in(folder)}
    kept = Kept(folder, tuple(made), tuple(changed), manifest, is_copied=was_altered)
    make_folders(_records(cache_dir))
    write_cache(_record(cache_dir, mark), as_json({**vars(kept)}))
    _drop_oldest(cache_dir)
    return kept


def lend(cache_dir: str, kept: Kept, place: Place, *, is_built: bool = False) -> None:
    """Bring the copy into a checkout: moved, or copied where the checkout has something there; tracked files win.

    `is_built`: a build command will write into it.
    """
    mark = os.path.basename(kept.folder)
    write_cache(os.path.join(_records(cache_dir), _LENT), mark.encode())
    for name in kept.paths:
        target = os.path.join(place.folder, name)
        is_taken = os.path.lexists(target) or name in place.tracked or not _is_inside(place.folder, name)
        if is_taken or is_built or kept.is_copied:
            copy_path(kept.folder, place.folder, name, place.tracked)
        else:
            os.makedirs(os.path.dirname(target), exist_ok=True)
            _move(os.path.join(kept.folder, name), target)


def _matches(kept: Kept) -> bool:
    """Whether every file is as the manifest says; what is not in there is removed on the way."""
    missing = {*kept.manifest}
    for base, folders, names in walk(kept.folder):
        for name in (*folders, *names):
            path = os.path.join(base, name)
            known = kept.manifest.get(os.path.relpath(path, kept.folder))
            if known is None:
                wipe(path)
                if name in folders:
                    folders.remove(name)
                continue
            missing.discard(os.path.relpath(path, kept.folder))
            status = os.lstat(path)
            # Size and mode first: an agent may leave a file of terabytes.
            if not known.startswith(_looks(status)) or known != _seen(path, status):
                return False
    return not missing


def _looks(status: os.stat_result) -> str:
    is_file = stat.S_ISREG(status.st_mode)
    # A second name for a file would let it be changed from elsewhere.
    return f"{status.st_mode:o} {status.st_size if is_file else 0} {status.st_nlink if is_file else 1} "


def _seen(path: str, status: os.stat_result) -> str:
    if stat.S_ISREG(status.st_mode):
        return _looks(status) + file_hash(path)
    return _looks(status) + (os.readlink(path) if stat.S_ISLNK(status.st_mode) else "")


def _is_inside(checkout: str, name: str) -> bool:
    """Whether no folder on the way to a path is a link, as far as they are there."""
    parent = os.path.dirname(os.path.join(os.path.realpath(checkout), name))
    return os.path.realpath(parent) == parent


def _move(source: str, target: str) -> None:
    """Rename, also a folder that its owner may not write: it holds the name of the folder above."""
    mode = stat.S_IMODE(os.lstat(source).st_mode)
    if stat.S_ISDIR(os.lstat(source).st_mode) and not mode & stat.S_IWUSR:
        os.chmod(source, mode | stat.S_IRWXU)
        os.rename(source, target)
        os.chmod(target, mode)
    else:
        os.rename(source, target)


def _records(cache_dir: str) -> str:
    return f"{cache_dir}.records"


def _record(cache_dir: str, mark: str) -> str:
    return os.path.join(_records(cache_dir), f"{mark}.json")


def _read_record(cache_dir: str, mark: str) -> Kept | None:
    try:
        content = json.loads(read_cache(_record(cache_dir, mark), _LARGEST_RECORD_BYTES) or b"{}")
        paths, changed, manifest = (content[name] for name in ("paths", "changed", "manifest"))
        is_copied = bool(content["is_copied"])
    except (ValueError, KeyError, TypeError):
        return None
    return Kept(os.path.join(cache_dir, mark), tuple(paths), tuple(changed), manifest, is_copied)


def _drop_oldest(cache_dir: str) -> None:
    entries = sorted(os.scandir(cache_dir), key=lambda entry: entry.stat().st_mtime_ns, reverse=True)
    for entry in entries[_MOST_KEPT:]:
        wipe(entry.path)
        wipe(_record(cache_dir, entry.name))
