"""Immutable records without the import cost of `dataclasses` (see docs/adr/0002).

A subclass lists its fields as annotations, with defaults where it likes; it gets slots, equality, hash, repr, `match`
support and `replace`. Type checkers see a frozen dataclass. Nothing else is offered: no inheritance between records, no
post-init, no field options.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Self, dataclass_transform
else:

    def dataclass_transform(**_options: object) -> object:
        return lambda cls: cls


class _RecordType(type):
    if TYPE_CHECKING:
        _fields: tuple[str, ...]
        _defaults: dict[str, Any]
        _setters: tuple[Any, ...]

    def __new__(mcs, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> _RecordType:
        fields = tuple(namespace.get("__annotations__", ()))
        defaults = {field: namespace.pop(field) for field in fields if field in namespace}
        namespace.update(__slots__=fields, __match_args__=fields, _fields=fields, _defaults=defaults)
        made = super().__new__(mcs, name, bases, namespace)
        # Writing through the slots is the one way round the frozen __setattr__, and the fastest.
        made._setters = tuple(made.__dict__[field].__set__ for field in fields)
        return made


@dataclass_transform(frozen_default=True, eq_default=True)
class Record(metaclass=_RecordType):
    """Base of every value that rooms hand to each other."""

    if TYPE_CHECKING:
        _fields: tuple[str, ...]
        _defaults: dict[str, Any]

    def __init__(self, *values: Any, **named: Any) -> None:
        setters = type(self)._setters
        given = len(values)
        for put, value in zip(setters, values, strict=False):
            put(self, value)
        if given != len(setters) or named:
            self._complete(given, named)

    def _complete(self, given: int, named: dict[str, Any]) -> None:
        """Fill the fields that were not given by place, from names and defaults, and refuse what fits nowhere."""
        cls, fields, defaults = type(self), self._fields, self._defaults
        for field, put in zip(fields[given:], cls._setters[given:], strict=True):
            if field in named:
                put(self, named.pop(field))
            elif field in defaults:
                put(self, defaults[field])
            else:
                raise TypeError(f"{cls.__name__} needs {field!r}")
        if given > len(fields):
            raise TypeError(f"{cls.__name__} takes {len(fields)} values, {given} were given")
        for field in named:
            raise TypeError(f"{cls.__name__} {'got twice' if field in fields else 'has no field'} {field!r}")

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} is immutable; use replace({name}=...)")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__} is immutable")

    def _values(self) -> tuple[Any, ...]:
        return tuple(getattr(self, field) for field in self._fields)

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self._values() == other._values()

    def __hash__(self) -> int:
        return hash(self._values())

    def __repr__(self) -> str:
        inside = ", ".join(f"{field}={getattr(self, field)!r}" for field in self._fields)
        return f"{type(self).__name__}({inside})"

    def replace(self, **changes: Any) -> Self:
        """A copy with some fields changed."""
        copy = type(self)(*[changes.pop(field) if field in changes else getattr(self, field) for field in self._fields])
        if changes:
            raise TypeError(f"{type(self).__name__} has no field {', '.join(sorted(changes))}")
        return copy
