"""Immutable records without the import cost of `dataclasses` (see docs/adr/0002).

A subclass lists its fields as annotations, with defaults where it likes; it gets equality, hash, repr, `match`
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
        _names: frozenset[str]
        _defaults: dict[str, Any]

    def __new__(mcs, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> _RecordType:
        fields = tuple(namespace.get("__annotations__", ()))
        defaults = {field: namespace.pop(field) for field in fields if field in namespace}
        namespace.update(__match_args__=fields, _fields=fields, _names=frozenset(fields), _defaults=defaults)
        return super().__new__(mcs, name, bases, namespace)


@dataclass_transform(frozen_default=True, eq_default=True)
class Record(metaclass=_RecordType):
    """Base of every value that rooms hand to each other."""

    if TYPE_CHECKING:
        _fields: tuple[str, ...]
        _names: frozenset[str]
        _defaults: dict[str, Any]

    def __init__(self, *values: Any, **named: Any) -> None:
        # Whole dictionaries go round the frozen __setattr__, and cost the same however many fields there are.
        own, fields = self.__dict__, self._fields
        if not named and len(values) == len(fields):  # nothing is left to be odd
            own.update(zip(fields, values))  # noqa: B905  # as long as each other, as was just seen
            return
        own.update(self._defaults)
        own.update(zip(fields, values, strict=False))
        is_odd = len(values) > len(fields)
        if named:
            own.update(named)
            is_odd |= not self._names.issuperset(named) or not named.keys().isdisjoint(fields[: len(values)])
        if is_odd or len(own) != len(fields):
            self._refuse(len(values), named)

    def _refuse(self, given: int, named: dict[str, Any]) -> None:
        """Say what of the given values fits nowhere, or what is missing."""
        name, fields = type(self).__name__, self._fields
        for field in fields:
            if field not in self.__dict__:
                raise TypeError(f"{name} needs {field!r}")
        if given > len(fields):
            raise TypeError(f"{name} takes {len(fields)} values, {given} were given")
        for field in named:
            if field not in fields[given:]:
                raise TypeError(f"{name} {'got twice' if field in fields else 'has no field'} {field!r}")

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
        cls = type(self)
        copy = cls.__new__(cls)
        own = copy.__dict__
        own.update(self.__dict__)
        own.update(changes)
        if len(own) != len(self._fields):
            raise TypeError(f"{cls.__name__} has no field {', '.join(sorted(changes.keys() - self.__dict__.keys()))}")
        return copy
