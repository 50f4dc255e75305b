"""Finds git's folder of a checkout by its files alone; no git is run, and what the folder says is not asked here."""

from __future__ import annotations

import os

from detent.errors import UnreadableError

_SMALL_FILE_BYTES = 64 * 1024


def git_dir_of(folder: str) -> str:
    """The git folder of the checkout whose top is exactly this folder; empty where it is none."""
    marker = os.path.join(folder, ".git")
    if not os.path.isfile(marker):
        return marker if looks_like_git_dir(marker) else ""
    text = read_small(marker)
    if not text.startswith("gitdir: "):
        from detent.words.store import disk as say

        raise UnreadableError(say.git_file_names_nothing(), where=marker)
    git_dir = os.path.normpath(os.path.join(folder, text[len("gitdir: ") :].rstrip("\n")))
    if not looks_like_git_dir(git_dir):
        from detent.words.store import disk as say

        raise UnreadableError(say.git_file_names_no_git_folder(git_dir), where=marker)
    return git_dir


def looks_like_git_dir(path: str) -> bool:
    if not os.path.lexists(os.path.join(path, "HEAD")):
        return False
    common_dir = common_dir_of(path)
    return all(os.path.isdir(os.path.join(common_dir, name)) for name in ("objects", "refs"))


def common_dir_of(git_dir: str) -> str:
    """The folder that all worktrees of a repository share."""
    try:
        named = read_small(os.path.join(git_dir, "commondir")).rstrip("\n")
    except FileNotFoundError:
        return git_dir
    return os.path.normpath(os.path.join(git_dir, named))


def read_small(path: str, *, missing: str | None = None) -> str:
    """The text of a small file of a git folder; `missing` stands for one that is not there."""
    try:
        with open(path, "rb") as file:
            return os.fsdecode(file.read(_SMALL_FILE_BYTES))
    except FileNotFoundError:
        if missing is None:
            raise
        return missing
    except PermissionError as problem:
        from detent.words.store import disk as say

        raise UnreadableError(say.git_folder_unreadable(), where=path) from problem
