"""A module of sentences that is loaded when the first of them is asked for: most machine files have no problem."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Later:
    """Stands for the module; its users import the module itself for the type checker."""

    def __init__(self, module: str) -> None:
        self._module = module

    def __getattr__(self, sentence: str) -> Any:
        return getattr(__import__(self._module, fromlist=(sentence,)), sentence)
