"""Reads a validation plan: fenced blocks and `cmd:` lines are commands, every other line asks for manual evidence."""

from __future__ import annotations

import re

from detent.core.record import Record
from detent.store.disk.digest import sha256_of
from detent.store.journal.observed import Command
from detent.store.text.markdown import is_placeholder, scan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from detent.core.machine import Gate

# As text: compiled by the first task that has a plan, not by every start of a command.
_COMMAND_LINE = r"(?i:(?:\*\*|__)?cmd(?:\*\*|__)?[ \t]*:(?:\*\*|__)?[ \t]*(.*))"
_FENCE = r"(?P<before>\s*(?:(?:[-*+]|\d{1,9}[.)])\s+|>\s?)*)(?P<fence>`{3,}|~{3,})(?P<after>.*)"


class _Block(Record):
    """An open fence: what stands before it on its line, the fence itself, and how deep in lists and quotes it lies."""

    before: str
    fence: str
    depth: int

    def is_closed_by(self, text: str) -> bool:
        match = re.fullmatch(_FENCE, text)
        return (
            match is not None
            and match["fence"].startswith(self.fence)
            and not match["after"].strip()
            and len(match["before"]) <= len(self.before) + 3
        )

    def content(self, text: str) -> str:
        """A line without the quote marks that only say where the block lies; to a shell they are redirections."""
        for _ in range(self.before.count(">")):
            text = re.sub(r"^\s{0,3}>\s?", "", text)
        return text


def read_plan(value: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The commands of a plan and what it asks for besides."""
    commands: list[str] = []
    manual: list[str] = []
    block: _Block | None = None
    script: list[str] = []
    for line in scan(value):
        if block is not None:
            is_inside = line.kind == "code" and line.depth >= block.depth
            if is_inside and not block.is_closed_by(line.text):
                script.append(block.content(line.text))
                continue
            commands += _script(script)
            block, script = None, []
            if is_inside:
                continue
        if line.kind == "code" and (opening := re.match(_FENCE, line.text)):
            block = _Block(opening["before"], opening["fence"], line.depth)
        elif match := re.fullmatch(_COMMAND_LINE, _unquoted(line.content)):
            commands += _script([_unquoted(match[1].strip())])
        elif line.kind in ("text", "code", "html") and not is_placeholder(re.sub("<[^<>]*>", " ", line.text)):
            manual.append(line.content or line.text.strip())
    commands += _script(script)
    return tuple(dict.fromkeys(commands)), tuple(manual)


def _unquoted(text: str) -> str:
    """A command that stands in a code span as a whole, without the span."""
    is_span = text.count("`") == 2 and text[0] == text[-1] == "`"
    return text[1:-1].strip() if is_span else text


def _script(lines: list[str]) -> list[str]:
    """One block is one script; what is only comments or placeholders is none."""
    filled = [line for line in lines if line.strip()]
    if all(line.lstrip().startswith("#") or _is_filler(line) for line in filled):
        return []
    indent = min(len(line) - len(line.lstrip()) for line in filled)
    return ["\n".join(line[indent:] for line in lines).strip("\n").rstrip()]


def _is_filler(line: str) -> bool:
    # `{ make; }` is a group of commands to a shell, though a template would write {name} the same way.
    return is_placeholder(line) and not line.strip().startswith("{ ")


def all_commands(commands: Iterable[Command], plan: str) -> tuple[Command, ...]:
    """The project's and the task's own commands first, then the plan's; the same line is run once."""
    found = {command.line: command for command in commands}
    for number, line in enumerate(read_plan(plan)[0], 1):
        found.setdefault(line, Command(f"plan {number}", line))
    return tuple(found.values())


def receipt_key(tree: str, line: str, gate: Gate, workspace: str) -> str:
    """What a receipt holds for: this tree, this command, this gate as defined, this way to prepare a checkout."""
    # Which answer a gate wants is no part of what was run: "all pass" and "some fail" ask the same receipts.
    params = sorted(item for item in gate.params.items() if item[0] != "value")
    parts = (tree, line, gate.check, repr(params), workspace)
    return sha256_of("\0".join(parts).encode("utf-8", "surrogatepass"))
