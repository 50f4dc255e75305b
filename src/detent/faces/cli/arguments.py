"""Parses a command line against the command table; argparse would cost a third of a cold start (docs/adr/0003)."""

from __future__ import annotations

from detent.core.record import Record
from detent.errors import UsageError
from detent.faces.cli.table import COMMANDS, GLOBAL_OPTIONS, Command, Option

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class Arguments(Record):
    """What was given, by argument name and option flag."""

    command: Command
    named: Mapping[str, str]
    options: Mapping[str, tuple[str, ...]]
    more: tuple[str, ...] = ()  # of the last argument, where it may be given more than once

    def text(self, name: str) -> str:
        """An argument or an option's last value; empty when it was not given."""
        if name.startswith("--"):
            return self.options[name][-1] if name in self.options else ""
        return self.named.get(name, "")

    def texts(self, flag: str) -> tuple[str, ...]:
        return self.options.get(flag, ())

    def has(self, flag: str) -> bool:
        return flag in self.options

    def number(self, flag: str, next_step: str, what: str = "a number", least: int = 0) -> int | None:
        """An option's value as a whole number; None when it was not given."""
        if not (value := self.text(flag)):
            return None
        from detent.store.text.numbers import whole_number  # few commands take one

        found = whole_number(value)
        if found is None or found < least:
            raise UsageError(f"{flag} needs {what}, not {value!r}", next_step=next_step)
        return found


def find_command(words: Sequence[str]) -> tuple[Command, list[str]]:
    """The command the words begin with, and the rest; two-word commands come first."""
    by_name = {command.name: command for command in COMMANDS}
    for count in (2, 1):
        name = " ".join(words[:count])
        if len(words) >= count and name in by_name:
            return by_name[name], list(words[count:])
    first = words[0]
    inner = [name for name in by_name if name.startswith(f"{first} ")]
    if inner:
        raise UsageError(f"{first} needs one more word", next_step=f"one of: {', '.join(inner)}")
    raise UsageError(f"there is no command {first!r}", next_step=_nearest(first, list(by_name)))


def _nearest(word: str, names: list[str]) -> str:
    from difflib import get_close_matches  # only after a mistake

    close = get_close_matches(word, names, 1)
    return f"did you mean: detent {close[0]}" if close else "detent --help"


def parse_arguments(words: Sequence[str]) -> Arguments:
    command, rest = find_command(words)
    flags = {option.flag: option for option in (*command.options, *GLOBAL_OPTIONS)}
    options: dict[str, tuple[str, ...]] = {}
    plain: list[str] = []
    usage = f"detent {command.name} --help"
    while rest:
        word = rest.pop(0)
        if word == "--":
            plain += rest
            break
        if word == "-h":
            word = "--help"
        if not word.startswith("--") and word not in flags:
            plain.append(word)
            continue
        flag, equals, value = word.partition("=")
        if flag not in flags:
            raise UsageError(f"detent {command.name} has no option {flag}", next_step=usage)
        options[flag] = _with_value(flags[flag], options.get(flag, ()), bool(equals), value, rest, usage)
    if "--help" in options:
        return Arguments(command, {}, options)
    names = [argument.name for argument in command.arguments]
    takes_more = bool(command.arguments) and command.arguments[-1].many
    if len(plain) > len(names) and not takes_more:
        raise UsageError(f"detent {command.name} does not know what to do with {plain[len(names)]!r}", next_step=usage)
    named = dict(zip(names, plain, strict=False))
    for argument in command.arguments:
        if argument.required and argument.name not in named:
            raise UsageError(f"detent {command.name} needs {argument.name}: {argument.summary}", next_step=usage)
    return Arguments(command, named, options, tuple(plain[len(names) :]))


def _with_value(
    option: Option, before: tuple[str, ...], has_equals: bool, value: str, rest: list[str], usage: str
) -> tuple[str, ...]:
    if not option.value:
        if has_equals:
            raise UsageError(f"{option.flag} takes no value", next_step=usage)
        return ("yes",)
    if not has_equals:
        if not rest:
            raise UsageError(f"{option.flag} needs a value: {option.value}", next_step=usage)
        value = rest.pop(0)
    if not value.strip():
        raise UsageError(f"{option.flag} was given an empty value", next_step=usage)
    if before and not option.many:
        raise UsageError(f"{option.flag} was given twice", next_step=usage)
    return (*before, value)
