"""Journal lines for tests: what a test is about is given, everything else says nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from detent.store.journal.events import KINDS
from detent.store.journal.line import Line, required
from detent.view import view_of


def made(line_kind: str, said: Mapping[str, Any] = {}, **more: Any) -> Line:
    """A line of this kind; what its type requires and the test does not give is empty."""
    kind = KINDS[line_kind]
    types = {
        name.removesuffix("_"): text for parent in kind.__mro__[:-1] for name, text in parent.__annotations__.items()
    }
    content = {"kind": line_kind, **said, **more}
    return view_of(kind, {**content, **{name: _empty(types[name]) for name in required(kind) if name not in content}})


def _empty(text: str) -> object:
    if text.startswith(("Mapping", "Filed")):
        return {}
    return {"str": "", "int": 0, "bool": False, "float": 0.0}.get(text, [] if text.startswith("Sequence") else None)
