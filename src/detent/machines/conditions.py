"""What the conditions of ways say about each other: which can't hold together, and which hold whenever others do.

Gates are compared by what they ask, not by their names: two gates with one check and the same parameters ask the same
question, and one that wants fresh evidence (`since = "entry"`) is the stronger one. Which checks exclude each other
their declarations say.
"""

from __future__ import annotations

from detent.core.machine import CRASH_CLASSES
from detent.machines.reading import MADE_OF_GATES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from detent.core.machine import Gate, Machine, Way
    from detent.machines.meanings import Meanings

_BESIDES = ("value", "about", "again", "quoted")  # parameters that are no part of the question


class Conditions:
    """The gates of one machine; what was found out is kept, because loops ask for the same again and again."""

    def __init__(self, machine: Machine, meanings: Meanings) -> None:
        self.machine = machine
        self.meanings = meanings
        # Two checks that are each other's opposite ask one question; what each asks is its answer.
        checks = {gate.check for gate in machine.gates.values()}
        self.opposites = {name: other for name in checks if (other := meanings.check(name).opposite)}
        self.known: dict[frozenset[str], tuple[str, str] | None] = {}

    def implied(self, needs: Iterable[str]) -> list[Gate]:
        """These gates and those they are made of, all of which are open when these are."""
        found = [self.machine.gates[name] for name in needs]
        for gate in found:  # grows while it is read
            if gate.check == "all":
                found += [
                    self.machine.gates[name] for name in gate.params["of"] if self.machine.gates[name] not in found
                ]
        return found

    def holds(self, name: str, gates: list[Gate]) -> bool:
        """Whether a gate is open whenever these are."""
        gate = self.machine.gates[name]
        if gate.check == "all":
            return all(self.holds(part, gates) for part in gate.params["of"])
        return any(other.name == name or self._is_stronger(other, gate) for other in gates)

    def contradiction(self, needs: Iterable[str]) -> tuple[str, str] | None:
        """Two of these gates, or of those they are made of, that are never open together."""
        wanted = frozenset(needs)
        if wanted not in self.known:
            self.known[wanted] = self._contradiction(wanted)
        return self.known[wanted]

    def _contradiction(self, needs: frozenset[str]) -> tuple[str, str] | None:
        gates = self.implied(sorted(needs))
        for number, gate in enumerate(gates):
            if gate.check == "not" and all(self.holds(part, gates) for part in gate.params["of"]):
                return gate.params["of"][0], gate.name
            for other in gates[:number]:
                if self._exclude(gate, other):
                    return other.name, gate.name
        return None

    def one_is_open(self, ways: Iterable[tuple[str, ...]]) -> bool:
        """Whether one of these ways is open whatever the gates say: it needs none, or two need opposite answers."""
        wanted = set(ways)
        alone = [self.machine.gates[needs[0]] for needs in wanted if len(needs) == 1]
        opposite = [self.implied(gate.params["of"]) for gate in alone if gate.check == "not"]
        pairs = ((needs, gates) for needs in wanted for gates in opposite)
        return () in wanted or any(all(self.holds(name, gates) for name in needs) for needs, gates in pairs)

    def hides(self, earlier: Way, later: Way, actor: str, *, has_run: bool) -> bool:
        """Whether the earlier way is open to an actor whenever the later one is."""
        gates = self.implied(later.needs)
        return (
            actor in earlier.by
            and actor in later.by
            and all(self.holds(name, gates) for name in earlier.needs)
            and (not earlier.modes or (bool(later.modes) and set(later.modes) <= set(earlier.modes)))
            and all(
                name in later.when and set(later.when[name]) <= set(values) for name, values in earlier.when.items()
            )
            and earlier.under in ("", later.under)
            and earlier.spent in ("", later.spent)
            and (not has_run or _exits(later, actor) <= _exits(earlier, actor))
            and (earlier.after_no in ("yes", later.after_no) or not later.after_no)
        )

    def _question(self, gate: Gate) -> tuple[str, dict[str, object]]:
        question = {name: value for name, value in gate.params.items() if name not in _BESIDES}
        return self.opposites.get(gate.check, gate.check), question

    def _is_one_of_two(self, gate: Gate) -> bool:
        return gate.check in self.opposites or gate.check in self.opposites.values()

    def _answer(self, gate: Gate) -> object:
        if self._is_one_of_two(gate):
            return gate.check
        return gate.params.get("value", self.meanings.check(gate.check).answer or None)

    def _is_stronger(self, gate: Gate, other: Gate) -> bool:
        """Whether the one gate is open only where the other is: it asks the same and is no less strict."""
        is_same = self._question(gate) == self._question(other) and self._answer(gate) == self._answer(other)
        if gate.check in MADE_OF_GATES or not is_same:
            return False
        is_fresh = gate.since == "entry" or other.since == "task"
        return is_fresh and other.params.get("about") in (None, gate.params.get("about"))

    def _exclude(self, gate: Gate, other: Gate) -> bool:
        """Whether two gates are never open together: they ask one question and want different answers."""
        has_one_answer = self.meanings.check(gate.check).answer is not None or self._is_one_of_two(gate)
        return (
            has_one_answer
            and self._question(gate) == self._question(other)
            and self._answer(gate) != self._answer(other)
        )


def _exits(way: Way, actor: str) -> set[str]:
    """The ends of a run after which an actor may take a way."""
    return (set(way.after) & set(CRASH_CLASSES) or set(CRASH_CLASSES)) if actor == "crash" else set(way.after)
