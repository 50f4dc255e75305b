"""An explored graph as the rules about paths read it: what each step takes, and the shortest story to any of them."""

from __future__ import annotations

from detent.core.explore import Violation, tell
from detent.words.machines import explore as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from detent.core.explore import Graph, Step
    from detent.core.machine import Edge, Machine, State, Way

    Place = tuple[str, str, int]  # a state, a move out of it, the number of a way


class Chart:
    def __init__(self, machine: Machine, graph: Graph) -> None:
        self.machine, self.graph = machine, graph
        self.ways = {
            (state.name, edge.name, way.number): (edge, way)
            for state in machine.states.values()
            for edge in state.edges
            for way in edge.ways
        }
        self.leaving: dict[int, list[Step]] = {}
        for step in graph.steps:
            self.leaving.setdefault(step.source, []).append(step)
        self.starts = [at for at, snapshot in enumerate(graph.snapshots[: len(machine.modes) or 1]) if not snapshot.no]

    def state(self, at: int) -> State:
        return self.machine.states[self.graph.snapshots[at].state]

    def place(self, step: Step) -> Place:
        return self.graph.snapshots[step.source].state, step.edge, step.way

    def taken(self, step: Step) -> tuple[Edge, Way] | None:
        """The move of a step and its way; None for a crash, a run that opened nothing, or a switch of the mode."""
        return self.ways[self.place(step)] if step.edge else None

    def target(self, step: Step) -> str:
        return self.graph.snapshots[step.target].state

    def paths(self, starts: Iterable[int], may_take: Callable[[Step], bool]) -> dict[int, Step | None]:
        """Every situation that allowed steps reach, with the last step of a shortest path there."""
        last: dict[int, Step | None] = dict.fromkeys(starts)
        for at in (todo := list(last)):  # grows while it is read
            for step in self.leaving.get(at, ()):
                if step.target not in last and may_take(step):
                    last[step.target] = step
                    todo.append(step.target)
        return last

    def steps_to(self, at: int, last: dict[int, Step | None]) -> list[Step]:
        """The steps of the path that `paths` found."""
        steps: list[Step] = []
        while (step := last[at]) is not None:
            steps.append(step)
            at = step.source
        return steps[::-1]

    def way_to(self, at: int) -> list[Step]:
        """A shortest path from a start."""
        return self.steps_to(at, self.all_paths())

    def all_paths(self) -> dict[int, Step | None]:
        if not hasattr(self, "_all_paths"):
            self._all_paths = self.paths(self.starts, lambda _step: True)
        return self._all_paths

    def story(self, steps: Sequence[Step], *after: str) -> tuple[str, ...]:
        start = self.graph.snapshots[steps[0].source if steps else self.starts[0]].state
        return (say.start(start), *(tell(self.graph.snapshots, step) for step in steps), *after)

    def violation(self, kind: str, about: str, rule: str, steps: Sequence[Step], *after: str) -> Violation:
        return Violation(rule, self.story(steps, *after), kind, about)
