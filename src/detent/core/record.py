"""Immutable records without the import cost of `dataclasses` (see docs/adr/0002).

A subclass lists its fields as annotations, those with defaults last; it gets equality, hash, repr, `match`
support and `replace`. Type checkers see a frozen dataclass. Nothing else is offered: no inheritance between records, no
post-init, no field options.
"""

from __future__ import annotations

from types import FunctionType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Self, dataclass_transform
else:

    def dataclass_transform(**_options: object) -> object:
        return lambda cls: cls


def _take_all(self: Record) -> None:
    """The body of every record's `__init__`, whose arguments are the fields of that record."""
    self.__dict__.update(locals())  # goes round the frozen __setattr__
    del self.__dict__["self"]


class _RecordType(type):
    if TYPE_CHECKING:
        _fields: tuple[str, ...]

    def __new__(mcs, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> _RecordType:
        fields = tuple(namespace.get("__annotations__", ()))
        defaults = {field: namespace.pop(field) for field in fields if field in namespace}
        if tuple(defaults) != fields[len(fields) - len(defaults) :]:
            raise TypeError(f"{name}: fields without a default come first")
        if "self" in fields or "__init__" in namespace:
            raise TypeError(f"{name}: a record is made of its fields alone, none of which is called self")
        # Python itself then sees to it that a call gives each field once: no code of ours is as fast or as clear.
        count = len(fields) + 1
        code = _take_all.__code__.replace(co_argcount=count, co_nlocals=count, co_varnames=("self", *fields))
        make = FunctionType(code, globals(), name, tuple(defaults.values()))
        make.__qualname__ = name
        namespace.update(__match_args__=fields, _fields=fields, __init__=make)
        return super().__new__(mcs, name, bases, namespace)


@dataclass_transform(frozen_default=True, eq_default=True)
class Record(metaclass=_RecordType):
    """Base of every value that rooms hand to each other."""

    if TYPE_CHECKING:
        _fields: tuple[str, ...]

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} is immutable; use replace({name}=...)")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__} is immutable")

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self.__dict__ == other.__dict__

    def __hash__(self) -> int:
        return hash(tuple([self.__dict__[field] for field in self._fields]))

    def __repr__(self) -> str:
        inside = ", ".join(f"{field}={getattr(self, field)!r}" for field in self._fields)
        return f"{type(self).__name__}({inside})"

    def replace(self, **changes: Any) -> Self:
        """A copy with some fields changed."""
        copy = object.__new__(type(self))
        fields = copy.__dict__
        fields.update(self.__dict__, **changes)
        if len(fields) != len(self._fields):
            unknown = ", ".join(sorted(changes.keys() - self.__dict__.keys()))
            raise TypeError(f"{type(self).__name__} has no field {unknown}")
        return copy
