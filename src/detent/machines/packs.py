"""Finds the declarations of packs, and loads a function by its address, without naming a pack.

A pack is a folder of the package `detent.packs` with a module `pack.py`: lists of records named CHECKS, EXCUSES,
EFFECTS, STEPS and FEATURES. A function they point to is loaded at its first use. The callers that may read the user's
settings add packs from other folders (`outside.py`); the declarations of such a pack are called `PACK/NAME`.
"""

from __future__ import annotations

import os
from functools import cache

from detent.machines.brought import BROUGHT, MANIFEST, PACKAGE
from detent.words.later import Later

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from types import ModuleType
    from typing import Any, Protocol, TypeVar

    from detent.words.machines import load as say

    class Named(Protocol):
        @property
        def name(self) -> str: ...

    Declared = TypeVar("Declared", bound=Named)
    At = str | Callable[..., Any]  # "module:function", or the function itself
else:
    say = Later("detent.words.machines.load")

CHECKS, EXCUSES, EFFECTS, STEPS, FEATURES = "CHECKS", "EXCUSES", "EFFECTS", "STEPS", "FEATURES"


@cache
def manifests() -> tuple[ModuleType, ...]:
    """The manifest of every pack, in the order of their names."""
    places = __import__(PACKAGE, fromlist=("__path__",)).__path__
    names = {name for place in places for name in os.listdir(place) if _is_pack(os.path.join(place, name))}
    return tuple(__import__(f"{PACKAGE}.{name}.{MANIFEST}", fromlist=(MANIFEST,)) for name in sorted(names))


def _is_pack(folder: str) -> bool:
    return os.path.isfile(os.path.join(folder, f"{MANIFEST}.py"))


def of_packs(sort: str) -> Iterator[Any]:
    """Every declaration of one sort that packs bring along."""
    for manifest in manifests():
        yield from getattr(manifest, sort, ())


def by_name(declared: Iterable[Declared]) -> dict[str, Declared]:
    """The declarations by their names; a name stands for one thing only."""
    found: dict[str, Declared] = {}
    for declaration in declared:
        if declaration.name in found:
            raise ValueError(say.name_declared_twice(declaration.name))
        found[declaration.name] = declaration
    return found


@cache
def load(at: At) -> Any:
    """The function at an address, its module read when it is first asked for."""
    if not isinstance(at, str):
        return at
    module, _, function = at.partition(":")
    for pack in BROUGHT.values():
        if module.startswith(f"{pack.package}."):
            from detent.machines.outside import load_from  # only where there is one

            return load_from(pack, at)
    return getattr(__import__(module, fromlist=(function,)), function)
