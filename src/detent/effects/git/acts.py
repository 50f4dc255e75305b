"""Effects of edges: things done after a move was committed, each repeatable without harm until it has worked."""

from __future__ import annotations

import os

from detent.core.record import Record
from detent.effects.git.bring import wipe
from detent.effects.git.git import Git, is_object_id, sync_names, write_git_dir
from detent.store.disk.atomic import make_folders, read_plain, storage_error, sweep, sync_folder, write_atomic
from detent.words.effects import git as say

_IDENTITY = ("-c", "user.name=Detent", "-c", "user.email=detent@localhost", "-c", "commit.gpgSign=false")
_LARGEST_REF_BYTES = 1024


class Promise(Record):
    """What a committed move promised to do."""

    key: str  # names this one effect of this one move, for ever
    private_git: str
    tree: str
    baseline: str
    message: str
    parent: str = ""  # the checkpoint before, else the baseline
    also: str = ""  # a second parent


def checkpoint_ref(key: str) -> str:
    """Where the checkpoint of one promise is kept."""
    return f"refs/detent/{key.replace(':', '-')}"


def checkpoint(promise: Promise) -> dict[str, str]:
    """Keep the tree as a commit under a private ref; the ref is how a repetition finds what was done before."""
    git = Git(promise.private_git)
    ref = checkpoint_ref(promise.key)
    commit = _named(promise.private_git, ref)
    if not commit:
        parents = [word for parent in (promise.parent, promise.also) if parent for word in ("-p", parent)]
        message = f"{promise.message}\n\nDetent-Step: {promise.key}\n".encode()
        commit = git.run(*_IDENTITY, "commit-tree", *parents, promise.tree, input_bytes=message).decode().strip()
        _name(promise.private_git, ref, commit)
    # Also of what was found: a power cut may have left a name whose objects are gone, or not have seen the name yet.
    git.run(*_walk(promise, commit))
    _sync_names(promise.private_git, ref)
    return {"commit": commit}


def _named(private_git: str, ref: str) -> str:
    """The commit under a private ref; empty where there is none, or a power cut left no name in it.

    The private git folder is our own, its refs are plain files and never packed: reading and writing one costs less
    than starting git for it.
    """
    text = (read_plain(os.path.join(private_git, ref), _LARGEST_REF_BYTES) or b"").decode("ascii", "replace").strip()
    return text if is_object_id(text) else ""


def _name(private_git: str, ref: str, commit: str) -> None:
    path = os.path.join(private_git, ref)
    make_folders(os.path.dirname(path))
    sweep(os.path.dirname(path))  # what a killed step left; the task's lock is held
    write_atomic(path, f"{commit}\n".encode(), durable=True)


def keep_commit(private_git: str, ref: str, tree: str, parent: str, message: str) -> str:
    """Keep a tree under a private ref before something is done to its files; a ref that is there is not moved."""
    git = Git(private_git)
    taken = git.run("for-each-ref", "--format=%(refname)", f"{ref}*").decode().split()
    while ref in taken:
        ref += "+"
    commit = commit_tree(private_git, tree, parent, message)
    git.run("update-ref", ref, commit)
    _sync_names(private_git, ref)
    return commit


def commit_tree(private_git: str, tree: str, parent: str, message: str) -> str:
    """A commit of a tree that no ref names: for a checkout that goes away again."""
    above = ("-p", parent) if parent else ()
    data = f"{message}\n".encode()
    return Git(private_git).run(*_IDENTITY, "commit-tree", *above, tree, input_bytes=data).decode().strip()


def folder_tree(private_git: str, folder: str) -> str:
    """All plain files of a folder that is about to go, ignored ones too, as a tree of the private git."""
    if not os.path.isdir(os.path.join(private_git, "objects")):
        write_git_dir(private_git, alternates=(), is_sha256=False, is_bare=True, durable=True)
    make_folders(os.path.join(private_git, "cache"))
    index = os.path.join(private_git, "cache", f"tmp-keep-{os.getpid()}")
    git = Git(private_git, folder, index)
    try:
        git.run("add", "--all", "--force", ".")
        return git.run("write-tree").decode().strip()
    finally:
        if os.path.exists(index):
            os.unlink(index)


def _walk(promise: Promise, commit: str) -> tuple[str, ...]:
    return ("rev-list", "--objects", "--quiet", commit, *(("--not", promise.baseline) if promise.baseline else ()))


def whole_parent(promise: Promise) -> str:
    """The parent, or the baseline where a power cut took something of the checkpoint before."""
    is_whole = promise.parent and Git(promise.private_git).finish(*_walk(promise, promise.parent)).exit == 0
    return promise.parent if is_whole else promise.baseline


def forget_checkpoint(promise: Promise) -> None:
    """Drop a name without its objects, and the memory that says those objects are there."""
    if os.path.isdir(promise.private_git):
        Git(promise.private_git).run("update-ref", "-d", checkpoint_ref(promise.key))
    wipe(os.path.join(promise.private_git, "cache"))


def _sync_names(private_git: str, ref: str) -> None:
    """A line that says "done" must not outlive what git wrote, nor the folders that name it."""
    sync_names(private_git, os.path.dirname(ref), "the checkpoint")
    objects = os.path.join(private_git, "objects")
    try:
        for folder in (private_git, objects, *(entry.path for entry in os.scandir(objects) if entry.is_dir())):
            sync_folder(folder)
    except OSError as error:
        raise storage_error(error, private_git, say.not_made_safe("checkpoint")) from error
