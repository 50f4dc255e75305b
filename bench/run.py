"""Starts the benchmark: `python bench/run.py [--quick] [--json FILE]`. It reports; a missed bar is no error."""

from __future__ import annotations

import sys
from pathlib import Path

if __name__ == "__main__":
    # Run as a file, Python looks for modules beside it; ours are named from the root of the project.
    sys.path[0] = str(Path(__file__).resolve().parent.parent)
    from bench.main import main

    sys.exit(main(sys.argv[1:]))
