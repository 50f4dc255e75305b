"""Reads a validation plan: fenced blocks and `cmd:` lines are commands, every other line asks for manual evidence."""

from __future__ import annotations

import re

from detent.core.values import Command
from detent.store.markdown import is_placeholder, scan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_COMMAND_LINE = re.compile(r"(?:[-*+]\s+|\d+[.)]\s+)?cmd:\s*(.*)", re.IGNORECASE)
_FENCE = re.compile(r"\s*(?:[-*+>]\s+|\d+[.)]\s+)*(`{3,}|~{3,})")


def read_plan(value: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The commands of a plan and what it asks for besides."""
    commands: list[str] = []
    manual: list[str] = []
    block: list[str] = []
    for line in scan(value):
        if line.kind == "code":
            if _FENCE.match(line.text):
                commands += _script(block)
                block = []
            else:
                block.append(line.text)
            continue
        commands += _script(block)
        block = []
        if line.kind != "text":
            continue
        if match := _COMMAND_LINE.fullmatch(line.content):
            commands += _script([match[1].strip().strip("`")])
        elif not is_placeholder(line.content):
            manual.append(line.content)
    commands += _script(block)
    return tuple(dict.fromkeys(commands)), tuple(manual)


def _script(lines: list[str]) -> list[str]:
    """One block is one script; what is only comments or placeholders is none."""
    useful = [line for line in lines if line.strip() and not line.strip().startswith("#")]
    if not useful or all(is_placeholder(line) for line in useful):
        return []
    indent = min(len(line) - len(line.lstrip()) for line in useful)
    return ["\n".join(line[indent:].rstrip() for line in lines if line.strip())]


def all_commands(given: Iterable[Command], plan: str) -> tuple[Command, ...]:
    """The project's and the task's own commands first, then the plan's; the same line is run once."""
    found = {command.line: command for command in given}
    for number, line in enumerate(read_plan(plan)[0], 1):
        found.setdefault(line, Command(f"plan {number}", line))
    return tuple(found.values())
