"""A file system that takes `KEY` and `key` for the same file: ntfs-3g makes one."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

SIZE_BYTES = 32 << 20
TOOLS = ("mkntfs", "lowntfs-3g", "umount")


def undisturbed(ask: Callable[[], str]) -> str:
    """What is said, asked again where ntfs-3g lost a folder: it gives the number of a removed one to the next."""
    for _ in range(5):
        said = ask()
        if "No such file" not in said:
            break
    return said


@contextmanager
def folding_place(folder: Path) -> Iterator[Path]:
    """Mounts one below a folder; skips where none can be made."""
    if missing := [name for name in TOOLS if shutil.which(name) is None]:
        pytest.skip(f"no file system that folds case can be made: {', '.join(missing)} not found")
    image, place = folder / "image", folder / "place"
    image.touch()
    os.truncate(image, SIZE_BYTES)
    place.mkdir()
    subprocess.run(["mkntfs", "--force", "--quick", "--quiet", str(image)], check=True, capture_output=True)
    words = ["lowntfs-3g", "-o", "ignore_case,permissions", str(image), str(place)]
    mounted = subprocess.run(words, capture_output=True, encoding="utf-8", check=False)
    if mounted.returncode != 0:
        pytest.skip(f"no file system that folds case can be mounted: {mounted.stderr.strip()}")
    try:
        yield place
    finally:
        subprocess.run(["umount", "--lazy", str(place)], check=True)
