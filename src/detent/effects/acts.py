"""Effects of edges: things done after a move was committed, each repeatable without harm until it has worked."""

from __future__ import annotations

from detent.core.record import Record
from detent.effects.git import Git

_IDENTITY = ("-c", "user.name=Detent", "-c", "user.email=detent@localhost", "-c", "commit.gpgSign=false")


class Promise(Record):
    """What a committed move promised to do."""

    key: str  # names this one effect of this one move, for ever
    private_git: str
    tree: str
    baseline: str
    message: str


def checkpoint_ref(key: str) -> str:
    """Where the checkpoint of one promise is kept."""
    return f"refs/detent/{key.replace(':', '-')}"


def checkpoint(promise: Promise) -> dict[str, str]:
    """Keep the tree as a commit under a private ref; the ref is how a repetition finds what was done before."""
    git = Git(promise.private_git)
    ref = checkpoint_ref(promise.key)
    found = git.run("for-each-ref", "--format=%(objectname)", ref).decode().strip()
    if found:
        return {"commit": found}
    parent = ("-p", promise.baseline) if promise.baseline else ()
    message = f"{promise.message}\n\nDetent-Step: {promise.key}\n".encode()
    commit = git.run(*_IDENTITY, "commit-tree", *parent, promise.tree, input_bytes=message).decode().strip()
    git.run("update-ref", ref, commit)
    return {"commit": commit}
