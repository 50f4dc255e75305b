"""Finds what packs bring along, and loads a function by its address; nobody names a pack to get there.

A pack is a folder of the package `detent.packs` with a module `pack.py`: lists of records named CHECKS, EXCUSES,
EFFECTS, STEPS and FEATURES. What they point to is loaded when it is first asked for.
"""

from __future__ import annotations

import os
from functools import cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from types import ModuleType
    from typing import Any, Protocol, TypeVar

    class Named(Protocol):
        @property
        def name(self) -> str: ...

    Declared = TypeVar("Declared", bound=Named)
    At = str | Callable[..., Any]  # "module:function", or the function itself

_PACKAGE, _MANIFEST = "detent.packs", "pack"
CHECKS, EXCUSES, EFFECTS, STEPS, FEATURES = "CHECKS", "EXCUSES", "EFFECTS", "STEPS", "FEATURES"


@cache
def manifests() -> tuple[ModuleType, ...]:
    """The manifest of every pack, in the order of their names."""
    places = __import__(_PACKAGE, fromlist=("__path__",)).__path__
    names = {name for place in places for name in os.listdir(place) if _is_pack(os.path.join(place, name))}
    return tuple(__import__(f"{_PACKAGE}.{name}.{_MANIFEST}", fromlist=(_MANIFEST,)) for name in sorted(names))


def _is_pack(folder: str) -> bool:
    return os.path.isfile(os.path.join(folder, f"{_MANIFEST}.py"))


def of_packs(sort: str) -> Iterator[Any]:
    """Every declaration of one sort that packs bring along."""
    for manifest in manifests():
        yield from getattr(manifest, sort, ())


def by_name(declared: Iterable[Declared]) -> dict[str, Declared]:
    """The declarations by their names; a name stands for one thing only."""
    found: dict[str, Declared] = {}
    for one in declared:
        if one.name in found:
            raise ValueError(f"{one.name} is declared twice")
        found[one.name] = one
    return found


@cache
def load(at: At) -> Any:
    """The function at an address, its module read when it is first asked for."""
    if not isinstance(at, str):
        return at
    module, _, function = at.partition(":")
    return getattr(__import__(module, fromlist=(function,)), function)
