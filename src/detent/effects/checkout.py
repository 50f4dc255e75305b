"""The disposable checkout in which commands prove a frozen tree: made anew, prepared like a workspace, then wiped.

It stands at a fixed path, so that what set-up made for that path (a venv) can be kept and put back. The order:

1. lock, so that two proofs of one task wait for each other; wipe what an earlier run left;
2. a small git repository of its own, because many test suites call git, and the frozen tree byte for byte;
3. `copy` and `carry` from the user's work tree;
4. set-up, or what it made the last time it had the same commands and key files;
5. the caller's work; wipe; unlock.

A file of the frozen tree is never replaced by one that was copied, kept or made by set-up.
"""

from __future__ import annotations

import os
import stat
from contextlib import contextmanager

from detent.core.record import Record
from detent.effects import process
from detent.effects.git import Git, check_object_id, clean_environment, write_git_dir, write_if_different
from detent.effects.tree import repair
from detent.errors import LockedError, StorageError, ToolError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from detent.effects.process import Finished

LOCK_WAIT_S = 1800.0
_LOCK_POLL_S = 0.05
_KEPT_SETUPS = 3  # how many results of set-up are kept; the least recently used one goes first


class FrozenTree(Record):
    """A tree id with the private git folder that holds its objects, and the commit that HEAD shall name."""

    private_dir: str
    tree: str
    baseline: str | None


class Workspace(Record):
    """The `[workspace]` part of the settings; all paths are relative and may be globs."""

    setup: tuple[str, ...] = ()
    key: tuple[str, ...] = ()
    copy: tuple[str, ...] = ()
    carry: tuple[str, ...] = ()
    timeout_s: float = 1800.0


class Checkout(Record):
    """A folder that is ready for commands; `missing` names what `carry` did not find."""

    folder: str
    missing: tuple[str, ...]
    setup: str  # "none", "ran" or "kept"


class SetupFailed(Record):
    """The checkout could not be prepared: neither a red gate nor a crash."""

    command: str
    exit: int
    log: str
    why: str


class _Place(Record):
    folder: str
    git: Git
    tree: str
    source: str
    tracked: frozenset[str]


@contextmanager
def prepared_checkout(
    folder: str,
    frozen: FrozenTree,
    workspace: Workspace,
    *,
    work_tree: str,
    cache_dir: str,
    log_path: str,
    env: Mapping[str, str],
    lock_wait_s: float = LOCK_WAIT_S,
) -> Iterator[Checkout | SetupFailed]:
    """Hold a checkout of the frozen tree at `folder` for the length of a `with` block, or say why set-up failed.

    `work_tree` is the user's, from which `copy` and `carry` are taken; `cache_dir` belongs to this checkout alone.
    """
    folder = os.path.abspath(folder)
    os.makedirs(os.path.dirname(folder), exist_ok=True)
    lock = _lock(f"{folder}.lock", lock_wait_s)
    try:
        wipe(folder)
        try:
            try:
                place = _make(folder, frozen, work_tree)
                outcome = _prepare(place, workspace, cache_dir, log_path, env)
            except OSError as problem:
                raise StorageError(f"the checkout cannot be made: {problem}", where=folder) from problem
            yield outcome
        finally:
            wipe(folder)
    finally:
        os.close(lock)


def run_command(command: str, checkout: str, env: Mapping[str, str], timeout_s: float, log_path: str) -> Finished:
    """Run a shell command in a checkout with the user's environment; nothing it started outlives it."""
    environment = clean_environment(env) | {"PWD": checkout}
    os.makedirs(os.path.dirname(os.path.abspath(log_path)), exist_ok=True)
    return process.run(
        ("sh", "-c", command),
        cwd=checkout,
        env=environment,
        timeout_s=timeout_s,
        output=log_path,
        whole_tree=True,
    )


def wipe(folder: str) -> None:
    """Remove a folder with everything in it, also below folders without write permission; links are not followed."""
    from shutil import rmtree

    try:
        if os.path.islink(folder) or os.path.isfile(folder):
            os.unlink(folder)
        elif os.path.lexists(folder):
            try:
                rmtree(folder)
            except PermissionError:
                _open_up(folder)
                rmtree(folder)
    except OSError as problem:
        raise StorageError(
            f"the checkout cannot be removed: {problem}",
            where=folder,
            next_step=f"remove it by hand: rm -rf {folder}",
        ) from problem


def _open_up(folder: str) -> None:
    os.chmod(folder, stat.S_IRWXU)
    for root, names, _files in os.walk(folder):
        for name in names:
            path = os.path.join(root, name)
            if not os.path.islink(path):
                os.chmod(path, stat.S_IRWXU)


def _lock(path: str, wait_s: float) -> int:
    from fcntl import LOCK_EX, LOCK_NB, flock
    from time import monotonic, sleep

    # The file stays for good: removing it would let two processes lock two files of one name.
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    deadline = monotonic() + wait_s
    while True:
        try:
            flock(descriptor, LOCK_EX | LOCK_NB)
        except BlockingIOError:
            if monotonic() < deadline:
                sleep(_LOCK_POLL_S)
                continue
            os.close(descriptor)
            raise LockedError(
                f"another proof of this task has held its checkout for more than {wait_s:.0f} s",
                where=path,
                next_step="wait for it or end it, then try again",
            ) from None
        return descriptor


def _make(folder: str, frozen: FrozenTree, work_tree: str) -> _Place:
    git_dir = os.path.join(folder, ".git")
    objects = os.path.join(os.path.abspath(frozen.private_dir), "objects")
    write_git_dir(git_dir, alternates=(objects,), is_sha256=len(frozen.tree) == 64, is_bare=False)
    if frozen.baseline is not None:
        commit = check_object_id(frozen.baseline).encode()
        write_if_different(os.path.join(git_dir, "refs/heads/main"), commit + b"\n")
    git = Git(git_dir, folder)
    try:
        git.run("read-tree", "--reset", "-u", check_object_id(frozen.tree))
    except ToolError as problem:
        repair(frozen.private_dir)
        raise ToolError(
            f"the frozen tree cannot be read: {problem.what}",
            where=frozen.private_dir,
            next_step="damaged objects were removed; try again, and they are taken from the work tree anew",
        ) from problem
    tracked = frozenset(os.fsdecode(path) for path in git.run("ls-files", "-z").split(b"\0")[:-1])
    return _Place(folder, git, frozen.tree, os.path.realpath(work_tree), tracked)


def _prepare(
    place: _Place, workspace: Workspace, cache_dir: str, log_path: str, env: Mapping[str, str]
) -> Checkout | SetupFailed:
    missing = _bring(place, workspace.copy)
    if missing:
        why = "nothing to copy in the work tree"
        return SetupFailed(command=f"copy {', '.join(missing)}", exit=1, log="", why=why)
    missing = _bring(place, workspace.carry)
    if not workspace.setup:
        return Checkout(place.folder, missing, "none")
    kept = os.path.join(cache_dir, _setup_key(place, workspace)) if workspace.key else None
    if kept is not None and os.path.isdir(kept):
        os.utime(kept)
        _copy_below(kept, place.folder, place.tracked)
        return Checkout(place.folder, missing, "kept")
    before = _marks(place.folder)
    for command in workspace.setup:
        finished = run_command(command, place.folder, env, workspace.timeout_s, log_path)
        if finished.exit != 0 or finished.timed_out or finished.truncated:
            return SetupFailed(command, finished.exit, log_path, _why(finished, workspace.timeout_s))
    # Set-up may have changed files of the frozen tree; what is proven is the tree, also when set-up is not run again.
    place.git.run("read-tree", "--reset", "-u", place.tree)
    if kept is not None:
        _keep(place, before, kept)
    return Checkout(place.folder, missing, "ran")


def _why(finished: Finished, timeout_s: float) -> str:
    if finished.timed_out:
        return f"took longer than {timeout_s:.0f} s"
    return "wrote too much output" if finished.truncated else f"exit {finished.exit}"


def _setup_key(place: _Place, workspace: Workspace) -> str:
    from hashlib import sha256
    from json import dumps

    patterns = [f":(top,glob){pattern}" for pattern in workspace.key]
    entries = place.git.run("ls-files", "-s", "-z", "--", *patterns)
    parts = [list(workspace.setup), list(workspace.key), os.fsdecode(entries), place.folder]
    return sha256(dumps(parts).encode()).hexdigest()


def _bring(place: _Place, patterns: Sequence[str]) -> tuple[str, ...]:
    """Copy what the patterns name from the user's work tree; returns the patterns that brought nothing."""
    from glob import glob

    missing = []
    for pattern in patterns:
        if os.path.isabs(pattern) or ".." in pattern.split("/"):
            raise UsageError(f"{pattern!r} under [workspace] is not a path inside the work tree", where="detent.toml")
        found = 0
        for match in sorted(glob(pattern, root_dir=place.source, recursive=True, include_hidden=True)):
            name = os.path.normpath(match)
            if name.split("/")[0] not in (".", ".git") and _is_below(place.source, name):
                found += _copy_one(place, name)
        if not found:
            missing.append(pattern)
    return tuple(missing)


def _is_below(top: str, name: str) -> bool:
    """Whether a path is reached without going through a link that leads out of `top`."""
    parent = os.path.realpath(os.path.join(top, os.path.dirname(name)))
    return parent == top or parent.startswith(top + os.sep)


def _copy_one(place: _Place, name: str) -> bool:
    """Copy one path and what is below; False if the frozen tree has a link or a file where a folder is needed."""
    folder = place.folder
    for part in name.split("/")[:-1]:
        folder = os.path.join(folder, part)
        if not os.path.lexists(folder):
            os.mkdir(folder)
        elif os.path.islink(folder) or not os.path.isdir(folder):
            return False
    _copy(os.path.join(place.source, name), os.path.join(place.folder, name), name, place.tracked)
    return True


def _copy_below(source: str, target: str, tracked: frozenset[str], name: str = "") -> None:
    for entry in sorted(os.listdir(source)):
        inner = os.path.join(name, entry)
        _copy(os.path.join(source, entry), os.path.join(target, entry), inner, tracked)


def _copy(source: str, target: str, name: str, tracked: frozenset[str]) -> None:
    """Copy without following a link on either side; a tracked file, or a thing of another kind, stays as it is."""
    from shutil import copy2, copystat

    kind = stat.S_IFMT(os.lstat(source).st_mode)
    is_there = os.path.lexists(target)
    if kind == stat.S_IFDIR:
        if is_there and (os.path.islink(target) or not os.path.isdir(target)):
            return
        if not is_there:
            os.mkdir(target, stat.S_IRWXU)
        _copy_below(source, target, tracked, name)
        if not is_there:
            copystat(source, target)  # last, since it may take away the right to write
    elif kind in (stat.S_IFREG, stat.S_IFLNK) and name not in tracked:
        if is_there:
            if os.path.isdir(target) and not os.path.islink(target):
                return
            os.unlink(target)
        copy2(source, target, follow_symlinks=False)


def _marks(folder: str) -> dict[str, tuple[int, ...]]:
    """What is in a folder, with a mark for each path that changes when its content does."""
    marks: dict[str, tuple[int, ...]] = {}
    for root, folders, files in os.walk(folder):
        if root == folder:
            folders.remove(".git")
        for name in (*folders, *files):
            path = os.path.join(root, name)
            seen = os.lstat(path)
            is_folder = stat.S_ISDIR(seen.st_mode)
            mark = (seen.st_mode,) if is_folder else (seen.st_ino, seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns)
            marks[os.path.relpath(path, folder)] = mark
    return marks


def _keep(place: _Place, before: Mapping[str, tuple[int, ...]], kept: str) -> None:
    """Keep what set-up made, in one step, and drop the results that were not used for longest."""
    from shutil import copy2, copystat

    cache_dir = os.path.dirname(kept)
    temporary = os.path.join(cache_dir, f"tmp-{os.getpid()}")
    wipe(temporary)
    os.makedirs(temporary)
    made = {name for name, mark in _marks(place.folder).items() if before.get(name) != mark} - place.tracked
    folders = []
    for name in sorted(made):
        source, target = os.path.join(place.folder, name), os.path.join(temporary, name)
        kind = stat.S_IFMT(os.lstat(source).st_mode)
        os.makedirs(target if kind == stat.S_IFDIR else os.path.dirname(target), exist_ok=True)
        if kind == stat.S_IFDIR:
            folders.append((source, target))
        elif kind in (stat.S_IFREG, stat.S_IFLNK):
            copy2(source, target, follow_symlinks=False)
    for source, target in reversed(folders):
        copystat(source, target)  # last, since it may take away the right to write
    os.rename(temporary, kept)
    entries = sorted(os.scandir(cache_dir), key=lambda entry: entry.stat().st_mtime_ns, reverse=True)
    for entry in entries[_KEPT_SETUPS:]:
        wipe(entry.path)
