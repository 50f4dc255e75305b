"""What the checker must know of the checks, effects and steps that a machine names; handed in as they are declared.

The checker stands below the rooms that declare them, and knows none by its name: the same rules bind the declarations
of every pack.
"""

from __future__ import annotations

from detent.core.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Protocol

    from detent.core.machine import Gate, Way

    class AboutCheck(Protocol):
        """The part of a check's declaration by which gates are compared."""

        @property
        def judges(self) -> bool | tuple[str, ...]: ...
        @property
        def answer(self) -> str | None: ...
        @property
        def opposite(self) -> str: ...
        @property
        def delivers(self) -> bool: ...
        @property
        def binds(self) -> str: ...
        @property
        def runs(self) -> object: ...
        @property
        def beside(self) -> str: ...

    class AboutEffect(Protocol):
        @property
        def delivers_at_rest(self) -> bool: ...
        @property
        def delivers(self) -> bool: ...

    class AboutStep(Protocol):
        @property
        def delivers(self) -> bool: ...
        @property
        def is_signed(self) -> bool: ...
        @property
        def takes_back(self) -> bool: ...


ABOUT_TREE = "tree"  # what a verdict is about: it counts for the files that it was given on
# What a gate binds a move to: the tree of the moves it names, of the sign-off it names, or of the move that led here.
JUDGED, SIGNED, ENTERED = "edges", "edge", "entered"


class Meanings(Record):
    """Looks a name up and gives its declaration; an unknown name means nothing."""

    check: Callable[[str], AboutCheck]
    effect: Callable[[str], AboutEffect]
    step: Callable[[str], AboutStep]

    def judges(self, gate: Gate) -> bool:
        """Whether an open gate says something good about the tree it was asked of, and about no other."""
        if gate.params.get("about") == ABOUT_TREE:
            return True
        judges = self.check(gate.check).judges
        return judges if isinstance(judges, bool) else gate.params.get("value") in judges

    def is_signed(self, way: Way) -> bool:
        """Whether what this way hands over is the tree that was signed last."""
        return any(self.step(name).is_signed for name in way.prepare)

    def takes_back(self, way: Way) -> bool:
        """Whether this way leaves the tree as it was before the work."""
        return any(self.step(name).takes_back for name in way.prepare)

    def delivers(self, way: Way, *, is_rest: bool) -> bool:
        """Whether a step or an effect of this way hands the work over to people."""
        effects = [self.effect(name) for name in way.effects]
        at_rest = is_rest and any(effect.delivers_at_rest for effect in effects)
        steps = [self.step(name) for name in way.prepare]
        return at_rest or any(effect.delivers for effect in effects) or any(step.delivers for step in steps)
