"""Reads a requirements file as pip does: a line may go on in the next, and comments are left out."""

from __future__ import annotations

import re

PINNED = re.compile(r"[A-Za-z0-9][\w.-]*(?:\[[\w,.\s-]*\])?\s*==(?!=)\s*[^\s;#*]+(?=[\s;]|$)")


def requirement_lines(text: str) -> list[str]:
    """Every line that says something, options included."""
    lines = re.sub(r"\\\r?\n", " ", text).splitlines()
    bare = (re.sub(r"(?:^|\s)#.*", "", line).strip() for line in lines)
    return [line for line in bare if line]
