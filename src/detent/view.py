"""Typed attributes for a parsed mapping: what was read is taken over as it is, and each field is declared once.

A view holds exactly what its mapping says, in the mapping's own order: nothing is copied, no loop runs over fields, and
what is written again is what was read. A field that may be missing has its default on the class; in a view that is made
here it is left out where it has its default. A field without one is an error when it is asked for and missing, as in a
table. A view that says nothing is false.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, ClassVar, TypeVar, dataclass_transform

    V = TypeVar("V", bound="Content")
else:

    def dataclass_transform(**_options: object) -> object:
        return lambda cls: cls


KEYS = {"from_": "from", "is_": "is"}  # fields whose name in the mapping is a word of Python


class Content:
    """What views and journal lines have in common; a type checker sees the fields of their subclasses."""

    _fields: ClassVar[tuple[str, ...]] = ()
    _defaults: ClassVar[Mapping[str, object]] = {}
    _added: ClassVar[tuple[str, ...]] = ()  # what may be added besides the fields
    _older: ClassVar[Mapping[str, object]] = {}  # what a field reads as where an older version did not write it

    def __init_subclass__(cls, *, is_frame: bool = False) -> None:
        if is_frame:  # what it declares stands around the fields of its subclasses, and is never handed in
            return
        names = tuple(cls.__annotations__)
        cls._fields = cls._fields + names
        cls._defaults = {**cls._defaults, **{name: cls.__dict__[name] for name in names if name in cls.__dict__}}

    def __init__(self, **fields: Any) -> None:
        lacking = [name for name in self._fields if name not in fields and name not in self._defaults]
        if lacking:
            raise TypeError(f"a {name_of(type(self))} needs {', '.join(lacking)}")
        _add(self, fields)

    if not TYPE_CHECKING:  # a type checker knows the fields

        def __getattr__(self, name: str) -> Any:
            if name.startswith("__"):  # a lookup of attributes that all objects may have
                raise AttributeError(name)
            key = KEYS.get(name, name)
            return self.__dict__[key] if key in self.__dict__ else type(self)._older[key]

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a {name_of(type(self))} is immutable")

    def __bool__(self) -> bool:
        return bool(self.__dict__)

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self.__dict__ == other.__dict__

    __hash__ = None  # type: ignore[assignment]  # as of all that is equal by what it says and holds tables

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.__dict__!r})"


@dataclass_transform(frozen_default=True, eq_default=True, kw_only_default=True)
class View(Content, is_frame=True):
    """Base of what is read from a mapping and asked by attributes."""


def name_of(kind: type[Content]) -> str:
    """What an error calls a view of this kind."""
    return f"{kind.kind} line" if hasattr(kind, "kind") else kind.__name__


def _add(view: Content, fields: Mapping[str, object]) -> None:
    cls, content = type(view), view.__dict__
    for name, value in fields.items():
        if name not in cls._fields and name not in cls._added:
            raise TypeError(f"a {name_of(cls)} has no field {name}")
        key = KEYS.get(name, name)
        if key in content or name not in cls._defaults or value != cls._defaults[name]:
            content[key] = value


def with_fields(view: V, **fields: object) -> V:
    """A copy with other or further fields."""
    copy = view_of(type(view), {**view.__dict__})
    _add(copy, fields)
    return copy


def view_of(kind: type[V], content: dict[str, Any]) -> V:
    """A view of this kind that says this; the mapping is taken over as it is."""
    view = object.__new__(kind)
    object.__setattr__(view, "__dict__", content)
    return view


def content_of(view: Content) -> dict[str, Any]:
    """What a view says, in its own order."""
    return {**view.__dict__}
