"""Starts the game: `python -m bench.liars [--tool NAME...] [--lie KEY...] [--json FILE] [--markdown FILE]`."""

from __future__ import annotations

import sys

from bench.liars.main import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
