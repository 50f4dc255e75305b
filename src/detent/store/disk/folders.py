"""Walks and removes folders with foreign content: however deep they are nested, nothing recurses.

An agent may nest thousands of folders. Python's own walk and removal call themselves for each level and fail there.
"""

from __future__ import annotations

import os
import stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_MOST_OPEN = 64  # folders that are open at a time
_LONGEST_SHOWN = 200  # characters of a path in a message


def folds_case(folder: str) -> bool:
    """Whether other capitals of a name in this folder mean the same file, as far as one of its names shows it."""
    try:
        with os.scandir(folder) as entries:
            names = ((entry.path, os.path.join(folder, entry.name.swapcase())) for entry in entries)
            path, other = next((pair for pair in names if pair[0] != pair[1]), ("", ""))
        return bool(path) and os.path.samestat(os.lstat(path), os.lstat(other))
    except OSError:
        return False


def walk(top: str, deepest: int = 0) -> Iterator[tuple[str, list[str], list[str]]]:
    """As `os.walk` from the top, names sorted: folder, names of folders in it, all other names.

    Links to folders are named among the folders and not followed. What is taken out of the first list is passed over;
    a folder that can't be read, or whose path is longer than the kernel allows, looks empty. With `deepest` so do
    folders that lie deeper: to resolve a path takes the longer the deeper it is.
    """
    levels = top.count(os.sep) + deepest
    waiting = [top]
    while waiting:
        base = waiting.pop()
        if deepest and base.count(os.sep) > levels:
            continue
        folders: list[str] = []
        names: list[str] = []
        try:
            with os.scandir(base) as entries:
                for entry in entries:
                    (folders if _is_folder(entry) else names).append(entry.name)
        except OSError:
            continue
        folders.sort()
        names.sort()
        yield base, folders, names
        below = [os.path.join(base, name) for name in folders]
        waiting += [path for path in reversed(below) if not os.path.islink(path)]


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


def remove_folder(path: str) -> None:
    """Remove a folder with everything in it, also below folders without permissions; links are not followed.

    Folders that lie deep are moved to the top before they are emptied, so a few descriptors are enough at any depth.
    """
    os.chmod(path, stat.S_IRWXU)
    top = os.open(path, _FOLDER)
    try:
        moved = 0
        while names := os.listdir(top):
            moved = _remove_in(top, names, moved)
    finally:
        os.close(top)
    try:
        os.rmdir(path)
    except FileNotFoundError:
        return  # another process was removing it too


def _remove_in(top: int, names: list[str], moved: int) -> int:
    """Remove these entries of a folder; returns the last number that a folder got which was moved up."""
    opened = [(top, names, "")]  # the way down: descriptor, what is left there, its name in the folder above
    try:
        while opened:
            folder, left, entry = opened[-1]
            if not left:
                opened.pop()
                if opened:
                    os.close(folder)
                    os.rmdir(entry, dir_fd=opened[-1][0])
                continue
            name = left.pop()
            if not _is_real_folder(name, folder):
                os.unlink(name, dir_fd=folder)
                continue
            os.chmod(name, stat.S_IRWXU, dir_fd=folder)  # else it can neither be read nor change its place
            if len(opened) > _MOST_OPEN:
                moved = _move_up(name, folder, top, moved)
                continue
            inner = os.open(name, _FOLDER, dir_fd=folder)
            opened.append((inner, [], name))
            opened[-1][1].extend(os.listdir(inner))
    finally:
        for folder, _left, _name in opened[1:]:
            os.close(folder)
    return moved


def _move_up(inner: str, folder: int, top: int, moved: int) -> int:
    while True:
        moved += 1
        try:
            os.stat(f"detent-{moved}", dir_fd=top, follow_symlinks=False)
        except FileNotFoundError:
            os.rename(inner, f"detent-{moved}", src_dir_fd=folder, dst_dir_fd=top)
            return moved


def _is_real_folder(name: str, folder: int) -> bool:
    return stat.S_ISDIR(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)


def shown_path(path: str) -> str:
    """A path for a message; of one that is kilobytes long its two ends."""
    if len(path) <= _LONGEST_SHOWN:
        return path
    half = _LONGEST_SHOWN // 2
    return f"{path[:half]}[{len(path) - 2 * half} more characters]{path[-half:]}"
