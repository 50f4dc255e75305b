"""What the bench knows of a tool."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from bench.liars.stage import Ran, Stage
from bench.liars.verdict import Played, Said

DEFAULT, STRICT = "default", "strictest"


class Tool(NamedTuple):
    name: str
    install: Callable[[Path, Path], Path]  # (root, ground): where its programs are; Unavailable with a reason
    version: Callable[[Path], str]
    play: Callable[[Stage, str], Played]  # (stage, settings)
    settings: tuple[tuple[str, str], ...]  # name, and what it means in words


def version_of(package: str) -> Callable[[Path], str]:
    """The version of a Python package in the environment whose programs are in this folder."""

    def read(place: Path) -> str:
        found = sorted(place.parent.glob(f"lib/python*/site-packages/{package}-*.dist-info"))
        return found[0].name.removesuffix(".dist-info").rpartition("-")[2] if found else ""

    return read


def npm_version_of(package: str) -> Callable[[Path], str]:
    """The version of an npm package beside the folder of its programs."""
    return lambda place: str(
        json.loads((place.parent / package / "package.json").read_text(encoding="utf-8"))["version"]
    )


def played(stage: Stage, ran: Ran, said: Said, why: str, tree: Path, *, approved: bool = False) -> Played:
    return Played(said, short(why), tree, stage.roles(), ran.seconds, approved)


def short(text: str) -> str:
    """One line of at most 200 characters."""
    line = " ".join(text.split())
    return line if len(line) <= 200 else line[:197] + "..."
