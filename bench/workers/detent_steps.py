"""Detent: one whole step (lock, look, gates, decision, journal, native file, native log, cache) is one transition."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path

from detent_task import Bouncing, make_repository
from serve import serve


def main() -> None:
    task = Bouncing(make_repository(Path("repository").resolve()))
    serve(task.move, before=lambda _: task.renew(), about={"version": version("detent")})


if __name__ == "__main__":
    main()
