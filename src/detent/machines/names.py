"""Asks whether the names a machine file uses are known, and reports those that are not."""

from __future__ import annotations

from detent.words.later import Later

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from detent.core.machine import Vocabulary
    from detent.words.machines import parse as say
else:
    say = Later("detent.words.machines.parse")


class Names:
    def __init__(self, problem: Callable[[str], None], vocabulary: Vocabulary | None) -> None:
        self.problem = problem
        self.vocabulary = vocabulary

    def known(self, where: str, name: str, among: Mapping[str, Any] | Sequence[str], what: str) -> str:
        """A name that may be left out."""
        if name and name not in among:
            self.problem(say.unknown(where, what, name))
        return name

    def known_all(
        self, where: str, names: tuple[str, ...], among: Mapping[str, Any] | Sequence[str], what: str
    ) -> tuple[str, ...]:
        for name in names:
            if name not in among:
                self.problem(say.unknown(where, what, name))
        return names

    def words(self, where: str, names: tuple[str, ...], kind: str) -> tuple[str, ...]:
        """Names drawn from one of the closed lists of the rooms above."""
        if self.vocabulary is None:
            return names
        return self.known_all(where, names, getattr(self.vocabulary, kind), kind.removesuffix("s"))
