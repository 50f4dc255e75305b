"""Help texts, made from the command table."""

from __future__ import annotations

from detent.errors import UsageError
from detent.faces.cli.arguments import find_command
from detent.faces.cli.table import COMMANDS, GLOBAL_OPTIONS, GROUPS, Command

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_HEAD = """detent - holds a coding agent in its state until there is proof

usage: detent COMMAND [...]        detent COMMAND --help        detent (what needs you)
"""
_EXIT_CODES = """Every command but tui has --json. Exit codes: 0 done, 1 refused, 2 wrong usage, 3 bug,
4 needs a person, 5 unreadable or locked, 6 stopped, 130 interrupted."""


def all_help() -> str:
    width = max(len(command.name) for command in COMMANDS)
    lines = [_HEAD]
    for group in GROUPS:
        lines.append(group)
        lines += [f"  {command.name:<{width}}  {command.summary}" for command in COMMANDS if command.group == group]
        lines.append("")
    return "\n".join([*lines, _EXIT_CODES])


def help_on(words: Sequence[str]) -> str:
    """About one command, or all that begin with the same word; else about everything."""
    try:
        return command_help(find_command(words)[0]) if words else all_help()
    except UsageError:
        return group_help(words[0]) or all_help()


def group_help(word: str) -> str:
    """The commands that begin with this word; empty where the word is no such beginning."""
    found = [command for command in COMMANDS if command.name.startswith(f"{word} ")]
    width = max((len(command.name) for command in found), default=0)
    lines = [f"  {command.name:<{width}}  {command.summary}" for command in found]
    return "\n".join([f"usage: detent {word} WORD [...]        detent {word} WORD --help", "", *lines]) if found else ""


def usage_line(command: Command) -> str:
    names = [argument.name if argument.required else f"[{argument.name}]" for argument in command.arguments]
    options = [
        f"[{option.flag}{' ' + option.value if option.value else ''}]{'...' if option.many else ''}"
        for option in command.options
    ]
    return " ".join(["detent", command.name, *names, *options])


def command_help(command: Command) -> str:
    rows = [(argument.name, argument.summary) for argument in command.arguments]
    others = [option for option in GLOBAL_OPTIONS if command.has_json or option.flag != "--json"]
    rows += [(f"{option.flag} {option.value}".strip(), option.summary) for option in (*command.options, *others)]
    width = max(len(name) for name, _ in rows)
    lines = [f"usage: {usage_line(command)}", "", command.summary, ""]
    lines += [f"  {name:<{width}}  {summary}" for name, summary in rows]
    if command.example:
        lines += ["", f"example: {command.example}"]
    return "\n".join(lines)
