"""Reads one document of about 9 KB with our splitter and with a full CommonMark parser."""

from __future__ import annotations

from collections.abc import Callable

from markdown_it import MarkdownIt
from serve import serve

from detent.store.text.markdown import find_section, scan, sections
from detent.store.text.markdown_blocks import read_blocks

_SECTION = """## Round {number}

The parser was changed in *one* place; see `app.py` and the [guide](docs/guide.md).

- lists keep their order
- calls take a trailing comma
  1. positional
  2. named

```python
def add(left, right):
    return left + right  # ## not a heading
```

> A reviewer asked why. Because the grammar allows it.

"""
DOCUMENT = (
    "# Evidence\n\n" + "".join(_SECTION.format(number=number) for number in range(1, 30)) + "## Handoff\n\nDone.\n"
)


def _anew(read: Callable[[], object]) -> None:
    """Without what the splitter remembers of documents it has read."""
    read_blocks.cache_clear()
    scan.cache_clear()
    read()


def main() -> None:
    parser = MarkdownIt()
    found = [token.map for token in parser.parse(DOCUMENT) if token.type == "heading_open"]
    if len(found) != len(sections(DOCUMENT)):
        raise SystemExit("the two readers disagree, so their times can't be compared")
    serve(
        {
            "detent: find one section": lambda: _anew(lambda: find_section(DOCUMENT, "Handoff")),
            "detent: every line classified": lambda: _anew(lambda: scan(DOCUMENT)),
            "markdown-it-py: parse": lambda: parser.parse(DOCUMENT),
        },
        about={"size_bytes": len(DOCUMENT.encode())},
    )


if __name__ == "__main__":
    main()
