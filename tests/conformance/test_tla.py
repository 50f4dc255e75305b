"""TLC and `machine check` agree: the same situations, the same moves, the same verdict on every property.

Every machine that ships is checked, and a sample of the seeded bugs, one of each kind and machine. DETENT_TLC=full
checks all of them (`make tlc`).
"""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from detent.core.explore import explore
from detent.core.machine import Machine, State, Way
from detent.machines.findings import findings
from detent.runner.step.registry import meanings
from tests.conformance import tlc
from tests.machines.seeded import DEAD_END, LINT, PARSE, PROPERTY, SEEDS, SOUND, WAITS, Seed
from tests.properties.test_decide import machines
from tests.unit.core.small import machine as whole
from tests.unit.core.small import small

SEEN = (PROPERTY, DEAD_END, WAITS)  # kinds of findings that the module states as well
EXPORTED = [seed for seed in SEEDS if seed.kind not in (PARSE, LINT)]
SHOWN = [seed for seed in EXPORTED if seed.in_tla]
NO_MOVE = "but has no move of its own"  # of the kind WAITS: in the module every gate may open, so none is waited for
LARGE = ("lights-out", "ralf")
IS_FULL = os.environ.get("DETENT_TLC") == "full"


def sample(seeds: list[Seed]) -> list[Seed]:
    """The last of each kind and machine; of the two large machines only kinds that no other shows."""
    if IS_FULL:
        return seeds
    chosen = {(seed.kind, seed.base): seed for seed in seeds}
    shown = {kind for kind, base in chosen if base not in LARGE}
    return [seed for (kind, base), seed in chosen.items() if base not in LARGE or kind not in shown]


def agree(machine: Machine, folder: Path) -> set[str]:
    """What TLC finds wrong, by the kind of finding, after it was held against our own exploration."""
    graph, found = explore(machine), tlc.check(machine, folder)
    ours = findings(machine, graph, meanings())
    assert found.counted() == tlc.explored(graph)
    assert found.moves(machine) == {
        (graph.snapshots[taken.source].state, taken.edge) for taken in graph.steps if taken.edge
    }
    broken = {
        f"Property_{number}"
        for number, rule in enumerate(machine.properties, 1)
        if any(violation.kind == PROPERTY and violation.rule.startswith(f"{rule.name}: ") for violation in ours)
    }
    broken |= {"EngineCanAct" for violation in ours if violation.kind == WAITS and NO_MOVE in violation.rule}
    assert found.violated == broken
    stuck = found.stuck(machine)
    assert (stuck > 0) == any(violation.kind == DEAD_END for violation in ours)
    kinds = {WAITS if name == "EngineCanAct" else PROPERTY for name in found.violated}
    return kinds | ({DEAD_END} if stuck else set())


@tlc.needs_tlc
@pytest.mark.parametrize(
    "seed", [seed for seed in SOUND if IS_FULL or seed.name.endswith("as it ships")], ids=lambda seed: seed.name
)
def test_tlc_agrees_on_a_machine_that_holds(seed: Seed, tmp_path: Path) -> None:
    assert agree(seed.machine(), tmp_path) == set()


# Rules of `decide` that no machine which ships can tell from simpler ones.
DETAILS = {
    "a request of an agent that is granted leaves no no": """
[[edge]]
name = "hand-over"
from = "work"
to   = "wait"
by   = ["agent"]
[[edge]]
name = "go-on"
from = "wait"
to   = "over"
by   = ["engine"]
""",
    "the first of two ways is taken": """
[limit.tries]
max = 3
[[edge]]
name  = "show"
from  = "work"
to    = "look"
by    = ["agent"]
needs = ["ready"]
ways  = [{ counts = ["tries"] }, {}]
[[edge]]
name = "back"
from = "look"
to   = "work"
by   = ["person"]
[[edge]]
name  = "finish"
from  = "look"
to    = "over"
by    = ["agent"]
needs = ["seen"]
spent = "tries"
""",
    "a crash takes the first move that is open to it": """
[[edge]]
name  = "killed"
from  = "work"
to    = "wait"
by    = ["crash"]
after = ["killed"]
[[edge]]
name  = "again"
from  = "wait"
to    = "work"
by    = ["person"]
[[edge]]
name  = "give-up"
from  = "work"
to    = "over"
by    = ["crash"]
needs = ["seen"]
[[edge]]
name  = "look-at-it"
from  = "work"
to    = "look"
by    = ["crash"]
needs = ["ready", "seen"]
[[edge]]
name  = "finish"
from  = "look"
to    = "over"
by    = ["agent"]
needs = ["seen"]
""",
}
GROUPS = """
format  = 1
name    = "groups"
initial = "one"
[role.builder]
access = "write"
[gate.ready]
check = "file"
file  = "ready.txt"
[limit.tries]
max = 3
per = "group"
[state.one]
role  = "builder"
group = "first"
[state.two]
role  = "builder"
group = "second"
[state.over]
end = true
[[edge]]
name   = "fail-one"
from   = "one"
to     = "two"
by     = ["agent"]
counts = ["tries"]
[[edge]]
name   = "again"
from   = "one"
to     = "one"
by     = ["agent"]
counts = ["tries"]
[[edge]]
name   = "fail-two"
from   = "two"
to     = "one"
by     = ["agent"]
counts = ["tries"]
[[edge]]
name   = "pass-two"
from   = "two"
to     = "one"
by     = ["agent"]
needs  = ["ready"]
resets = ["tries"]
[[edge]]
name  = "stop"
from  = "one"
to    = "over"
by    = ["person"]
spent = "tries"
"""


@tlc.needs_tlc
@pytest.mark.parametrize("name", [*DETAILS, "what one group counted is not another's"])
def test_tlc_agrees_on_a_rule_of_decide(name: str, tmp_path: Path) -> None:
    agree(small(DETAILS[name]) if name in DETAILS else whole(GROUPS), tmp_path)


@st.composite
def nosy_machines(draw: st.DrawFn) -> Machine:
    """Random machines whose runs may say no, and count."""

    def way(old: Way) -> Way:
        after = draw(st.sampled_from((old.after, ("entry",), ("entry", "finished"))))
        return old.replace(after_no=draw(st.sampled_from(("", "yes", "unasked"))), after=after)

    def state(old: State) -> State:
        edges = tuple(edge.replace(ways=tuple(map(way, edge.ways))) for edge in old.edges)
        no = draw(st.sampled_from(((), ("g",)))) if old.role else ()
        return old.replace(edges=edges, no=no, counts_run=draw(st.sampled_from(((), ("l",)))) if old.role else ())

    made = draw(machines())
    return made.replace(states={name: state(old) for name, old in made.states.items()})


@tlc.needs_tlc
@settings(max_examples=60 if IS_FULL else 4)
@given(made=nosy_machines())
def test_tlc_agrees_on_random_machines(made: Machine) -> None:
    with TemporaryDirectory() as folder:
        graph, found = explore(made), tlc.check(made, Path(folder))
    assert found.counted() == tlc.explored(graph)
    assert (found.stuck(made) > 0) == any(violation.kind == DEAD_END for violation in graph.violations)


@tlc.needs_tlc
@pytest.mark.parametrize("seed", sample(SHOWN), ids=lambda seed: seed.name)
def test_tlc_refuses_a_seeded_bug(seed: Seed, tmp_path: Path) -> None:
    found = agree(seed.machine(), tmp_path)
    assert found
    assert seed.kind in found or seed.kind not in SEEN


@tlc.needs_tlc
@pytest.mark.skipif(not IS_FULL, reason="the bugs that TLC can't see: only with DETENT_TLC=full")
@pytest.mark.parametrize("seed", [seed for seed in EXPORTED if seed not in SHOWN], ids=lambda seed: seed.name)
def test_tlc_agrees_on_the_situations_of_other_bugs(seed: Seed, tmp_path: Path) -> None:
    """What makes them wrong is not in the module (gates with a meaning, files, loops), but the situations are."""
    agree(seed.machine(), tmp_path)
