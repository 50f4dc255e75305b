"""Programs that stand for real ones on PATH."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path


def put_program(folder: Path, name: str, script: str) -> Path:
    """A shell script called `name` in a folder that can come first on PATH."""
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / name
    program.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    program.chmod(0o755)
    return program


def with_path(environment: Mapping[str, str], *folders: Path) -> dict[str, str]:
    """The environment with these folders first on PATH."""
    return {"PATH": os.pathsep.join((*map(str, folders), environment["PATH"]))}


def bare_path(folder: Path, *programs: str) -> dict[str, str]:
    """An environment whose PATH holds only these programs of the host, as links in `folder`, and what lies there."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in programs:
        found = next(
            path
            for base in os.environ.get("PATH", os.defpath).split(os.pathsep)
            if (path := Path(base) / name).is_file() and os.access(path, os.X_OK)
        )
        if not (folder / name).exists():
            (folder / name).symlink_to(found)
    return {"PATH": str(folder)}
