"""Turns the `.gitignore` files of a baseline into one exclude file that means the same; text only, no git asked."""

from __future__ import annotations


def combined_ignore_rules(ignore_files: dict[bytes, bytes]) -> bytes:
    """One exclude file that means the same as these .gitignore files (content by folder; the top is empty)."""
    lines = []
    # Of several matching rules the last one decides, and a deeper file decides over a higher one.
    for folder in sorted(ignore_files, key=lambda folder: (folder.count(b"/") + bool(folder), folder)):
        for line in ignore_files[folder].removeprefix(b"\xef\xbb\xbf").split(b"\n"):
            rule = _without_trailing_spaces(line.removesuffix(b"\r"))
            if rule.strip(b"/!") and not rule.startswith(b"#"):
                lines.append(_scoped(rule, folder) + b"\n")
    return b"".join(lines)


def _scoped(rule: bytes, folder: bytes) -> bytes:
    if not folder:
        return rule
    sign, body = (b"!", rule[1:]) if rule.startswith(b"!") else (b"", rule)
    # A slash at the start or in the middle ties a rule to its own folder; otherwise it holds at any depth below.
    depth = b"" if b"/" in body.removesuffix(b"/") else b"**/"
    return sign + b"/" + escape_path(folder) + b"/" + depth + body.removeprefix(b"/")


def _without_trailing_spaces(line: bytes) -> bytes:
    end = position = 0
    while position < len(line):
        step = 2 if line[position : position + 1] == b"\\" else 1
        if line[position : position + 1] != b" ":
            end = position + step
        position += step
    return line[:end]


def escape_path(path: bytes) -> bytes:
    """A path as an ignore rule that means exactly it."""
    for character in (b"\\", b"*", b"?", b"["):
        path = path.replace(character, b"\\" + character)
    return path.replace(b"\n", b"?")  # an exclude file cannot name a line end; this matches any one character
