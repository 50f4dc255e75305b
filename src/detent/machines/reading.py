"""Reads a nested document key by key and collects every problem instead of stopping at the first.

A `Table` hands out each key once; `finish` reports the keys that were never read.
"""

from __future__ import annotations

from detent.words.later import Later

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any, TypeGuard

    from detent.words.machines import parse as say

    Kind = str  # what a parameter must be, in the words of an error
else:
    say = Later("detent.words.machines.parse")

# The kinds a check's parameter may be of, in the words of an error.
TEXT, TEXTS, GATES, GATE = "a text", "a list of texts", "a list of gates", "a gate"
STATES, ROLES, ROLE, MOVES, SIGN_OFF = "a list of states", "a list of roles", "a role", "a list of moves", "a sign-off"
TABLE = "a table of texts"
REGISTER, REGISTERS, FIELD = "a register", "a table of registers with their values", "a field"
WORDS = "a list of texts, of which `value` is one"
ONE_OF = "one of: "  # begins a kind that lists every value there is
ALL_OF = "a list of texts: all that gates ask for, in the same file, whose check is "
SCHEMA = "a schema that ships with a machine, as MACHINE/NAME"

ACCEPTS = "accepts"  # the one of them that a person's reason opens too
MADE_OF_GATES = ("not", "all", ACCEPTS)  # the checks that ask other gates
DEEPEST_GATES = 5  # how far these may be nested

IN_TREE = "tree:"  # before the name of a file that lies in the tree; any other file of a gate lies in the task folder


class Reader:
    """Where the problems of one document gather."""

    def __init__(self) -> None:
        self.problems: list[str] = []

    def problem(self, text: str) -> None:
        self.problems.append(text)


class Table:
    def __init__(self, content: object, where: str, reader: Reader) -> None:
        self.reader = reader
        self.where = where
        self.taken: set[str] = set()
        if not isinstance(content, dict):
            reader.problem(say.must_be_table(where))
            content = {}
        self.content: dict[str, Any] = content

    def take(self, key: str) -> Any:
        self.taken.add(key)
        return self.content.get(key)

    def peek(self, key: str) -> Any:
        return self.content.get(key)

    def peek_names(self, key: str) -> tuple[str, ...]:
        inner = self.peek(key)
        return tuple(inner) if isinstance(inner, dict) else ()

    def _wrong(self, key: str, kind: str) -> None:
        self.reader.problem(say.key_must_be(self.where, key, kind))

    def text(self, key: str, default: str | None = None) -> str:
        value = self.take(key)
        if value is None and default is not None:
            return default
        if not isinstance(value, str) or (default is None and not value):
            self._wrong(key, "a text")
            return default or ""
        return value

    def number(self, key: str, default: int) -> int:
        value = self.take(key)
        if value is None:
            return default
        if not isinstance(value, int) or isinstance(value, bool):
            self._wrong(key, "a whole number")
            return default
        return value

    def flag(self, key: str) -> bool:
        value = self.take(key)
        if value is not None and not isinstance(value, bool):
            self._wrong(key, "true or false")
        return value is True

    def texts(self, key: str, default: tuple[str, ...] = ()) -> tuple[str, ...]:
        """A list of texts; a single text stands for a list of one."""
        value = self.take(key)
        if value is None:
            return default
        found = [value] if isinstance(value, str) else value
        if not isinstance(found, list) or not all(isinstance(item, str) for item in found):
            self._wrong(key, "a text or a list of texts")
            return default
        return tuple(found)

    def table(self, key: str) -> Table:
        value = self.take(key)
        return Table({} if value is None else value, f"{self.where}{' ' if self.where else ''}{key}", self.reader)

    def tables(self, key: str, *, peek: bool = False) -> list[tuple[str, Table]]:
        """The named tables under a key, as in `[gate.NAME]`."""
        value = self.peek(key) if peek else self.take(key)
        if value is None:
            return []
        if not isinstance(value, dict):
            if not peek:
                self._wrong(key, f"written as [{key}.NAME]")
            return []
        return [
            (name, Table(inner, f"{key} {name}", Reader() if peek else self.reader)) for name, inner in value.items()
        ]

    def rows(self, key: str) -> list[Table]:
        """The tables of a list, as in `[[edge]]`."""
        value = self.take(key)
        if value is None:
            return []
        if not isinstance(value, list):
            self._wrong(key, f"written as [[{key}]]")
            return []
        return [Table(row, f"{key} {number}", self.reader) for number, row in enumerate(value, 1)]

    def mapping_of_text(self) -> dict[str, str]:
        return {key: self.text(key) if self.content[key] != "" else "" for key in self.content}

    def mapping_of_texts(self) -> dict[str, tuple[str, ...]]:
        return {key: self.texts(key) for key in self.content}

    def raw_rest(self) -> dict[str, Any]:
        """Every key not yet read, as it stands; the caller validates it, but it must fit into JSON."""
        rest = {key: value for key, value in self.content.items() if key not in self.taken}
        for key, value in rest.items():
            if not _fits_json(value):
                self._wrong(key, "made of texts, numbers, true, false, lists and tables")
        self.taken.update(rest)
        return rest

    def finish(self) -> None:
        for key in self.content:
            if key not in self.taken:
                self.reader.problem(say.unknown_key(self.where, key, self._near(key)))

    def _near(self, key: str) -> str:
        """The key that was most likely meant; empty where none is near."""
        from difflib import get_close_matches  # only a misspelt key comes here

        near = get_close_matches(key, sorted(self.taken), n=1, cutoff=0.75)
        return near[0] if near else ""


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value)


def is_texts(value: object) -> TypeGuard[list[str]]:
    """Nothing is no list: what has to hold for each of its items would always hold."""
    return isinstance(value, list) and bool(value) and all(map(_is_text, value))


def is_inner_path(path: str) -> bool:
    """Whether a path stays inside the folder it is read from, by its words alone."""
    parts = path.split("/")
    return not path.startswith("/") and "\0" not in path and not {"", ".", ".."}.intersection(parts)


def _is_table(value: object) -> bool:
    return isinstance(value, dict) and all(isinstance(inner, str) for inner in value.values())


def _is_schema(value: object) -> bool:
    from detent.machines.schemas import has_schema  # only few gates name one

    if not isinstance(value, str) or value.count("/") != 1 or not is_inner_path(value):
        return False
    return has_schema(value)


KINDS: Mapping[str, Callable[[object], bool]] = {
    TEXT: _is_text,
    **dict.fromkeys((TABLE, REGISTERS), _is_table),
    SCHEMA: _is_schema,
    **dict.fromkeys((TEXTS, GATES, STATES, ROLES, MOVES, WORDS), is_texts),
    **dict.fromkeys((GATE, ROLE, SIGN_OFF, REGISTER, FIELD), _is_text),
}


def one_of(values: Iterable[str]) -> Kind:
    """The kind of a parameter that has one of these values."""
    return ONE_OF + ", ".join(values)


def all_of(check: str) -> Kind:
    """The kind of a parameter that lists all `values` which gates of this check ask for in the same `file`."""
    return ALL_OF + check


def is_of_kind(kind: str, value: object) -> bool:
    if kind.startswith(ALL_OF):
        return is_texts(value)
    return value in kind.removeprefix(ONE_OF).split(", ") if kind.startswith(ONE_OF) else KINDS[kind](value)


def _fits_json(value: object) -> bool:
    """TOML also knows dates and times; a machine is pinned as JSON, which does not."""
    if isinstance(value, dict):
        return all(_fits_json(inner) for inner in value.values())
    if isinstance(value, list):
        return all(_fits_json(inner) for inner in value)
    return isinstance(value, (str, int, float))
