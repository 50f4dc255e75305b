"""The kit for a file, by its name."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from random import Random
    from typing import Protocol

    from detent.effects.tests.kits.values import Function, Sown, Unit

    class Kit(Protocol):
        """What is done to one file of a language; every function raises Unparsable for text that is none of it."""

        def units(self, source: str) -> tuple[Unit, ...]:
            """The parts of a test file, in order. For Rust: only what stands in modules for tests."""

        def canary(
            self, source: str, name: str, random: Random, beside: Collection[str] = ()
        ) -> tuple[str, str] | None:
            """The file with a test that must fail, beside one of these, and its name; None if there is no place."""

        def plant(self, source: str, wanted: Mapping[str, bool], random: Random) -> Sown:
            """The file with copies of the wanted tests; True for those that show the change, which get more of them."""

        def functions(self, source: str) -> tuple[Function, ...]:
            """Every function of a code file that could be made to raise."""


_EXTENSIONS = {
    "python": (".py",),
    "javascript": (".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx"),
    "go": (".go",),
    "rust": (".rs",),
}


def language_of(path: str) -> str:
    """The language whose kit reads this file; empty if none does."""
    extension = os.path.splitext(path)[1]
    return next((name for name, known in _EXTENSIONS.items() if extension in known), "")


def kit_of(path: str) -> Kit | None:
    """The kit for a file, by its name."""
    match language_of(path):
        case "python":
            from detent.effects.tests.kits.python_kit import PythonKit

            return PythonKit()
        case "javascript":
            from detent.effects.tests.kits.javascript_kit import JavaScriptKit

            return JavaScriptKit(os.path.splitext(path)[1])
        case "go":
            from detent.effects.tests.kits.go_kit import GoKit

            return GoKit()
        case "rust":
            from detent.effects.tests.kits.rust_kit import RustKit

            return RustKit()
        case _:
            return None
