"""Prints the number of words of a text file."""

from __future__ import annotations

import sys
from pathlib import Path


def count_words(text: str) -> int:
    return len(text.split())


def main(arguments: list[str]) -> int:
    if len(arguments) != 1 or not Path(arguments[0]).is_file():
        sys.stderr.write(f"no such file: {' '.join(arguments) or 'none was named'}\n")
        return 2
    sys.stdout.write(f"words={count_words(Path(arguments[0]).read_text(encoding='utf-8'))}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
