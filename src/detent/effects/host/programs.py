"""Finds the programs that the engine starts outside the sandbox, where no agent could have put them.

Relative entries of PATH are skipped: they would be looked up in the folder a program is started in, which may be the
tree of a task. So are folders that tasks write to, and, for what holds the sandbox, programs of other users.
"""

from __future__ import annotations

import os
import stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


def absolute_entries(path: str) -> str:
    """A search path without its relative entries; an empty entry means the current folder and is one of them."""
    return os.pathsep.join(folder for folder in path.split(os.pathsep) if os.path.isabs(folder))


def with_absolute_path(environment: Mapping[str, str]) -> dict[str, str]:
    """An environment whose programs are not looked up in the folder they are started from."""
    if "PATH" not in environment:
        return dict(environment)
    return {**environment, "PATH": absolute_entries(environment["PATH"]) or os.defpath}


def find_on(path: str, name: str) -> str:
    """The first program of that name on absolute entries of a search path, or nothing."""
    for folder in absolute_entries(path).split(os.pathsep):
        program = os.path.join(folder, name)
        if folder and os.access(program, os.X_OK) and os.path.isfile(program):
            return program
    return ""


def find_outside(path: str, name: str, *, is_trusted: bool = False) -> str:
    """The first one outside all folders that tasks write to; `is_trusted`: also owned by root or by this user."""
    for folder in absolute_entries(path).split(os.pathsep):
        program = find_on(folder, name)
        if program and not _is_written_by_tasks(program) and (not is_trusted or _is_ours(program)):
            return program
    return ""


def _is_written_by_tasks(program: str) -> bool:
    """Whether a program, or what it links to, lies in a checkout that has tasks or in the homes of tasks."""
    return any(
        _lies_in_project(os.path.dirname(path)) for path in {os.path.abspath(program), os.path.realpath(program)}
    )


def _lies_in_project(folder: str) -> bool:
    from detent.errors import UnreadableError
    from detent.store.disk.git_folder import common_dir_of, git_dir_of
    from detent.store.journal.places import lies_in, state_folder

    if lies_in(os.path.realpath(folder), os.path.realpath(state_folder())):
        return True
    while True:
        try:
            git_dir = git_dir_of(folder) if os.path.lexists(os.path.join(folder, ".git")) else ""
            control = os.path.join(common_dir_of(git_dir), "detent") if git_dir else os.path.join(folder, ".detent")
        except UnreadableError:
            return True  # its owner is unknown
        if os.path.isdir(os.path.join(control, "tasks")):
            return True
        if (parent := os.path.dirname(folder)) == folder:
            return False
        folder = parent


def _is_ours(program: str) -> bool:
    """Whether only root and this user can have written it."""
    real = os.path.realpath(program)
    for path in (real, os.path.dirname(real), os.path.dirname(program)):
        seen = os.stat(path)
        is_open = seen.st_mode & stat.S_IWOTH and not seen.st_mode & stat.S_ISVTX
        if seen.st_uid not in (0, os.getuid()) or is_open:
            return False
    return True
