"""Runs the command line for `python -m detent`."""

from __future__ import annotations

from detent.faces.cli.main import main

if __name__ == "__main__":
    raise SystemExit(main())
