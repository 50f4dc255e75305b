"""The end of a command's output, fit to be quoted to people and agents: the last lines, without secrets."""

from __future__ import annotations

import os
import re
from contextlib import suppress

from detent.store.text.redact import redact

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

_MOST_LINES = 40
_MOST_CHARACTERS = 4000
_LONGEST_LINE = 300
_READ_BYTES = 64_000
_ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


def end_of(log: str) -> str:
    """The last part of a log, whole lines only; empty when there is none."""
    with suppress(OSError), open(log, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        file.seek(max(0, size - _READ_BYTES))
        text = file.read(_READ_BYTES).decode("utf-8", "replace")
        return text if size <= _READ_BYTES else text.partition("\n")[2] or text
    return ""


def quotable(text: str, environment: Mapping[str, str], *folders: str) -> str:
    """The last lines of a text; secrets are taken out before anything is cut, so that none is cut in two.

    Paths below `folders`, where the command ran, become relative: such a folder may be gone, or hidden from the reader.
    """
    clean = redact(_ESCAPE.sub("", text.replace("\r\n", "\n")), environment)
    for folder in sorted(filter(None, folders), key=len, reverse=True):
        clean = clean.replace(f"{folder}/", "")
    lines = [_CONTROL.sub("", line.rpartition("\r")[2]).rstrip() for line in clean.split("\n")]
    kept = [_clipped(line) for line in lines if line][-_MOST_LINES:]
    while len(kept) > 1 and sum(map(len, kept)) > _MOST_CHARACTERS:
        kept.pop(0)
    return "\n".join(kept)


def last_lines(log: str, environment: Mapping[str, str], *folders: str) -> str:
    """The last lines of a log that can be quoted."""
    return quotable(end_of(log), environment, *folders) if log else ""


def _clipped(line: str) -> str:
    return line if len(line) <= _LONGEST_LINE else f"{line[:_LONGEST_LINE]} ..."
