"""Where files and folders really lie; the kernel answers at once what `realpath` asks for part by part."""

from __future__ import annotations

import os


def real_path(descriptor: int) -> str:
    """Where an open file or folder lies, with no link left in it; empty where the system does not say."""
    try:
        return os.readlink(f"/proc/self/fd/{descriptor}")
    except OSError:
        return ""


def real_folder(path: str) -> str:
    """The same for a folder that is there or not."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        return os.path.realpath(path)
    try:
        return path if real_path(descriptor) == path else os.path.realpath(path)
    finally:
        os.close(descriptor)
