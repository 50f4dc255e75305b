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
from contextlib import contextmanager

from detent.core.record import Record
from detent.effects import process
from detent.effects.bring import Place, bring, copy_below, keep_made, marks, wipe
from detent.effects.git import Git, check_object_id, clean_environment, write_git_dir, write_if_different
from detent.effects.patterns import matches
from detent.effects.tree import changed_files, repair
from detent.errors import StorageError, ToolError
from detent.store.lock import Lock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from detent.effects.process import Finished

    Wrap = Callable[[Sequence[str], str], Sequence[str]]  # a command line and its folder, held by something

LOCK_WAIT_S = 1800.0


class FrozenTree(Record):
    """A tree id with the private git folder that holds its objects, and the commit that HEAD shall name."""

    private_dir: str
    tree: str
    baseline: str | None
    protected: tuple[str, ...] = ()  # patterns of files that are taken from the baseline, whatever the tree has there
    commit: str = ""  # holds the tree: HEAD names it instead, and origin/HEAD the baseline, so that the work is a diff


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


def unheld(argv: Sequence[str], _cwd: str) -> Sequence[str]:
    """A command line as it is: with the user's rights."""
    return argv


@contextmanager
def prepared_checkout(  # noqa: PLR0913  # all but three are given by name
    folder: str,
    frozen: FrozenTree,
    workspace: Workspace,
    *,
    work_tree: str,
    cache_dir: str,
    log_path: str,
    env: Mapping[str, str],
    wrap: Wrap = unheld,
    lock_wait_s: float = LOCK_WAIT_S,
) -> Iterator[Checkout | SetupFailed]:
    """Hold a checkout of the frozen tree at `folder` for the length of a `with` block, or say why set-up failed.

    `work_tree` is the user's, from which `copy` and `carry` are taken; `cache_dir` belongs to this checkout alone.
    """
    folder = os.path.abspath(folder)
    os.makedirs(os.path.dirname(folder), exist_ok=True)
    with Lock(f"{folder}.lock", lock_wait_s):
        try:
            yield _make_anew(folder, frozen, workspace, work_tree, cache_dir, log_path, env, wrap)
        finally:
            wipe(folder)


def lasting_checkout(
    folder: str,
    frozen: FrozenTree,
    workspace: Workspace,
    *,
    work_tree: str,
    cache_dir: str,
    log_path: str,
    env: Mapping[str, str],
    wrap: Wrap = unheld,
) -> Checkout | SetupFailed:
    """The same for somebody who works in it without us: it stays until it is made anew."""
    folder = os.path.abspath(folder)
    os.makedirs(os.path.dirname(folder), exist_ok=True)
    with Lock(f"{folder}.lock", LOCK_WAIT_S):
        return _make_anew(folder, frozen, workspace, work_tree, cache_dir, log_path, env, wrap)


def _make_anew(
    folder: str,
    frozen: FrozenTree,
    workspace: Workspace,
    work_tree: str,
    cache_dir: str,
    log_path: str,
    env: Mapping[str, str],
    wrap: Wrap,
) -> Checkout | SetupFailed:
    wipe(folder)
    try:
        return _prepare(_make(folder, frozen, work_tree), workspace, cache_dir, log_path, env, wrap)
    except OSError as problem:
        raise StorageError(f"the checkout cannot be made: {problem}", where=folder) from problem


def run_command(
    command: str, checkout: str, env: Mapping[str, str], timeout_s: float, log_path: str, wrap: Wrap = unheld
) -> Finished:
    """Run a shell command in a checkout; nothing it started outlives it. `wrap` says what holds it meanwhile."""
    environment = clean_environment(env) | {"PWD": checkout}
    os.makedirs(os.path.dirname(os.path.abspath(log_path)), exist_ok=True)
    return process.run(
        wrap(("/bin/sh", "-c", command), checkout),
        cwd=checkout,
        env=environment,
        timeout_s=timeout_s,
        output=log_path,
        whole_tree=True,
    )


def _guarded_tree(frozen: FrozenTree) -> str:
    """The frozen tree with its protected files as the baseline has them: what judges the work is not part of it."""
    if not frozen.protected or frozen.baseline is None:
        return frozen.tree
    index = os.path.join(frozen.private_dir, f"guarded-index-{os.getpid()}")
    git = Git(os.path.abspath(frozen.private_dir), None, index)
    base = git.run("rev-parse", f"{check_object_id(frozen.baseline)}^{{tree}}").decode().strip()
    changes = [path for _, path in changed_files(frozen.private_dir, frozen.tree, base)]
    names = [os.fsencode(path) for path in changes if matches(path, frozen.protected)]
    if not names:
        return frozen.tree
    try:
        git.run("read-tree", check_object_id(frozen.tree))
        # Mode 0 takes a name out; those the baseline has come back as it has them.
        lines = [b"0 " + b"0" * len(frozen.tree) + b"\t" + name for name in names]
        for line in git.run("ls-tree", "-r", "-z", base).split(b"\0")[:-1]:
            entry, _, name = line.partition(b"\t")
            if name in names:
                mode, _kind, sha = entry.split(b" ")
                lines.append(mode + b" " + sha + b"\t" + name)
        git.run("update-index", "-z", "--index-info", input_bytes=b"\0".join(lines) + b"\0")
        return git.run("write-tree").decode().strip()
    finally:
        if os.path.exists(index):
            os.unlink(index)


def _make(folder: str, frozen: FrozenTree, work_tree: str) -> Place:
    frozen = frozen.replace(tree=_guarded_tree(frozen))
    git_dir = os.path.join(folder, ".git")
    objects = os.path.join(os.path.abspath(frozen.private_dir), "objects")
    write_git_dir(git_dir, alternates=(objects,), is_sha256=len(frozen.tree) == 64, is_bare=False, durable=False)
    if frozen.baseline is not None:
        base = check_object_id(frozen.baseline)
        _name(git_dir, "heads/main", check_object_id(frozen.commit) if frozen.commit else base)
        if frozen.commit:
            _name(git_dir, "remotes/origin/main", base)
            _name(git_dir, "remotes/origin/HEAD", "ref: refs/remotes/origin/main")
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
    _check_bytes(git, frozen)
    tracked = frozenset(os.fsdecode(path) for path in git.run("ls-files", "-z").split(b"\0")[:-1])
    return Place(folder, git, frozen.tree, os.path.realpath(work_tree), tracked)


def _name(git_dir: str, ref: str, content: str) -> None:
    path = os.path.join(git_dir, "refs", ref)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    write_if_different(path, f"{content}\n".encode(), durable=False)


def _check_bytes(git: Git, frozen: FrozenTree) -> None:
    """Hash every file anew: git believes an object under a false name, and the tree's name is what is proven."""
    fresh = Git(git.git_dir, git.work_tree, os.path.join(git.git_dir, "fresh-index"))
    fresh.run("read-tree", frozen.tree)  # knows no file times, so that nothing is taken for unchanged
    finished = fresh.finish("update-index", "--ignore-submodules", "--refresh")
    if finished.exit != 0:
        name = finished.stdout.decode("utf-8", "replace").partition(":")[0]
        raise ToolError(
            f"git gives other bytes for {name!r} than its name says: an object of the repository is damaged or forged",
            where=git.git_dir,
            next_step="look at the repository with: git fsck --full",
        )


def _prepare(
    place: Place, workspace: Workspace, cache_dir: str, log_path: str, env: Mapping[str, str], wrap: Wrap
) -> Checkout | SetupFailed:
    missing = bring(place, workspace.copy)
    if missing:
        why = "nothing to copy in the work tree"
        return SetupFailed(command=f"copy {', '.join(missing)}", exit=1, log="", why=why)
    missing = bring(place, workspace.carry)
    if not workspace.setup:
        return Checkout(place.folder, missing, "none")
    kept = os.path.join(cache_dir, setup_key(place, workspace)) if workspace.key else None
    if kept is not None and os.path.isdir(kept):
        os.utime(kept)
        copy_below(kept, place.folder, place.tracked)
        return Checkout(place.folder, missing, "kept")
    before = marks(place.folder)
    if failed := run_setup(place.folder, workspace, log_path, env, wrap):
        return failed
    # Set-up may have changed files of the frozen tree; what is proven is the tree, also when set-up is not run again.
    place.git.run("read-tree", "--reset", "-u", place.tree)
    if kept is not None:
        keep_made(place, before, kept)
    return Checkout(place.folder, missing, "ran")


def run_setup(
    folder: str, workspace: Workspace, log_path: str, env: Mapping[str, str], wrap: Wrap = unheld
) -> SetupFailed | None:
    """Run every command of set-up in a folder, up to the first that fails."""
    for command in workspace.setup:
        finished = run_command(command, folder, env, workspace.timeout_s, log_path, wrap)
        if finished.exit != 0 or finished.timed_out or finished.truncated:
            return SetupFailed(command, finished.exit, log_path, _why(finished, workspace.timeout_s))
    return None


def _why(finished: Finished, timeout_s: float) -> str:
    if finished.timed_out:
        return f"took longer than {timeout_s:.0f} s"
    return "wrote too much output" if finished.truncated else f"exit {finished.exit}"


def setup_key(place: Place, workspace: Workspace) -> str:
    """Stands for the commands of set-up, the key files and the folder: the same key, the same result."""
    from hashlib import sha256
    from json import dumps

    patterns = [f":(top,glob){pattern}" for pattern in workspace.key]
    entries = place.git.run("ls-files", "-s", "-z", "--", *patterns)
    parts = [list(workspace.setup), list(workspace.key), os.fsdecode(entries), place.folder]
    return sha256(dumps(parts).encode()).hexdigest()
