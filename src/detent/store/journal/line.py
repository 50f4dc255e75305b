"""What all types of journal lines have in common; the types themselves are in `events.py` and `run_events.py`.

An instance holds exactly what its line says, in the line's own order: reading takes the parsed line as it is (no copy,
no loop over fields), and what is written again is what was read. A field that a line may lack has a default, which lies
on the class; in a line that is made here it is left out where it has its default. What a line must have and lacks is an
error when it is asked for, as in a table: the audit names all that is missing.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, ClassVar, TypeVar, dataclass_transform

    L = TypeVar("L", bound="Line")
else:

    def dataclass_transform(**_options: object) -> object:
        return lambda cls: cls


_KEYS = {"from_": "from"}  # a field whose name in the line is a word of Python
_ADDED = ("native", "fields")  # what the engine may add to a line of any kind when it writes it


@dataclass_transform(frozen_default=True, eq_default=True, kw_only_default=True)
class Line:
    """One line of a journal. What stands here is in every line, or may be; the engine adds it when it writes."""

    seq: int  # the line's number, from 1
    time: str  # when it was written, in UTC, to the second
    format: int = 1  # in the first line: the format of the journal; none means 1
    us: str = ""  # microseconds of the time, where the line says what is remembered of the task after it
    after: Mapping[str, Any] | None = None  # what is remembered of the task after it: state, counters, locks
    native: Mapping[str, str] | None = None  # the text of the native file that the line leads to
    by: str = ""  # who caused the line: agent, engine, person or crash; empty for none of them
    name: str = ""  # role of the agent, or name of the person
    reason: str = ""  # their words
    prev: str = ""  # SHA-256 of the line before it
    fields: Mapping[str, str] | Sequence[str] = {}  # fields of the document that say how the task rests

    kind: ClassVar[str]
    is_quiet: ClassVar[bool] = False  # changes nothing in the document, so that this is not behind without it
    is_state: ClassVar[bool] = False  # says what is remembered of the task after it
    is_of_person: ClassVar[bool] = False  # only a person makes such a line
    since_2: ClassVar[tuple[str, ...]] = ()  # fields that lines have since format 2 of the journal
    _fields: ClassVar[tuple[str, ...]] = ()
    _defaults: ClassVar[Mapping[str, object]] = {}

    def __init_subclass__(cls) -> None:
        own = tuple(cls.__annotations__)
        cls._fields = cls._fields + own
        cls._defaults = {**cls._defaults, **{name: cls.__dict__[name] for name in own if name in cls.__dict__}}

    def __init__(self, **fields: Any) -> None:
        lacking = [name for name in self._fields if name not in fields and name not in self._defaults]
        if lacking:
            raise TypeError(f"a {self.kind} line needs {', '.join(lacking)}")
        _add(self, fields)

    if not TYPE_CHECKING:  # a type checker knows the fields

        def __getattr__(self, name: str) -> Any:
            return self.__dict__[_KEYS.get(name, name)]

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a {type(self).kind} line is immutable")

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self.__dict__ == other.__dict__

    __hash__ = None  # type: ignore[assignment]  # as of all that is equal by what it says and holds tables

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.__dict__!r})"


def _add(line: Line, fields: Mapping[str, object]) -> None:
    cls, own = type(line), line.__dict__
    for name, value in fields.items():
        if name not in cls._fields and name not in _ADDED:
            raise TypeError(f"a {cls.kind} line has no field {name}")
        key = _KEYS.get(name, name)
        if key in own or name not in cls._defaults or value != cls._defaults[name]:
            own[key] = value


def with_fields(line: L, **fields: object) -> L:
    """A copy of a line that is not written yet, with further fields."""
    copy = line_of(type(line), {**line.__dict__})
    _add(copy, fields)
    return copy


def telling(line: L, fields: Mapping[str, str]) -> L:
    """The line with these fields of the document, which are written with it."""
    return with_fields(line, fields=fields)


def carrying(line: L, native: Mapping[str, str]) -> L:
    """The line with the text of the native file that it leads to."""
    return with_fields(line, native=native)


def line_of(kind: type[L], said: dict[str, Any]) -> L:
    """A line of this kind that says this; the mapping is taken over as it is."""
    line = object.__new__(kind)
    object.__setattr__(line, "__dict__", said)
    return line


def to_line(line: Line) -> dict[str, Any]:
    """What stands in the journal, in the order of the line."""
    return {**line.__dict__}


def required(kind: type[Line]) -> tuple[str, ...]:
    """The names of what a line of this kind must have, as they stand in the line."""
    return tuple(_KEYS.get(name, name) for name in kind._fields if name not in kind._defaults)
