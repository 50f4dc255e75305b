"""Asks of replayed lines whether what they deliver was judged, and what they deploy was confirmed: as trees, by git.

1. a gate that bound a move to the tree of an earlier one is asked again (`as_judged`), and what a person accepted has a
   reason and stands in the sign-off (`accepts`)
2. a move that delivers is compared with every tree that a gate judged on the way, where the move itself neither asks
   again nor is bound: machines of an older edition allow that, so the report calls it not vouched for
3. a deployment begins on the files that a person confirmed, outside the documents; a rollback names what differs
"""

from __future__ import annotations

from functools import partial

from detent.gates.judge import judge
from detent.gates.judged import unjudged
from detent.gates.registry import declared
from detent.machines.meanings import JUDGED
from detent.machines.reading import ACCEPTS
from detent.machines.trees import covered, delivers, key_of, needed_gates
from detent.packs.lights_out.checks.deployed import changed_since_word
from detent.runner.step.look import compare_trees, look
from detent.runner.step.registry import meanings
from detent.store.journal.native import Document
from detent.verify.replay.lines import Finding
from detent.words.verify import replay as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from detent.core.machine import Edge, Gate, Machine, Way
    from detent.gates.seen import Seen
    from detent.runner.task.open import Task
    from detent.store.journal.events import Deploy, Moved

KIND = "tree"


class TreeReplay:
    """What gates judged so far in one journal, by key: the gate and the tree."""

    def __init__(self) -> None:
        self.judged: dict[str, tuple[Gate, str]] = {}
        self.signed: tuple[Edge, Way] | None = None
        self.meanings = meanings()

    def move_problems(self, task: Task, entry: Moved) -> Iterator[Finding]:
        """Judge one moved line; `task` remembers all before it."""
        machine = task.machine
        edge = next((edge for edge in machine.states[entry.from_].edges if edge.name == entry.edge), None)
        way = next((way for way in edge.ways if way.number == entry.way), None) if edge else None
        if edge is None or way is None:
            return  # an earlier problem says that it is no move of the machine
        seen = _seen(task, entry.tree)
        yield from _bound(machine, entry, seen)
        if entry.tree and delivers(machine, edge, way, self.meanings):
            yield from self._delivered(machine, entry, edge, way, seen)
        if self.meanings.takes_back(way):
            self.judged.clear()
        open_now = [name for name in way.needs if _is_open(entry, name)]
        if entry.tree:
            judging = [gate for gate in needed_gates(machine, open_now) if self.meanings.judges(gate)]
            self.judged |= {key_of(gate): (gate, entry.tree) for gate in judging}
        self.signed = (edge, way) if edge.sign_off else self.signed

    def _delivered(self, machine: Machine, entry: Moved, edge: Edge, way: Way, seen: Seen) -> Iterator[Finding]:
        cover = covered(machine, edge, way, self.meanings)
        if self.meanings.is_signed(way) and self.signed:
            cover |= covered(machine, *self.signed, self.meanings)
        for key, (gate, tree) in self.judged.items():
            again = gate.params.get("again", "")
            if key in cover or (again and key_of(machine.gates[again]) in cover) or tree == entry.tree:
                continue
            changed = seen.differences(tree)
            if changed:
                names = [path for _, path in changed]
                what = say.delivers_unjudged(edge.name, entry.tree, gate.name, tree, names)
                yield Finding(entry.seq, KIND, what, is_warning=True)


def _seen(task: Task, tree: str) -> Seen:
    """What the gates look at; trees are compared without a memory of it, because an audit writes nothing."""
    seen = look(task, task.memory, Document("", "", {}, task.memory.snapshot.state), tree, is_reader=True)
    return seen.replace(differences=partial(compare_trees, task, tree)) if tree else seen


def _is_open(entry: Moved, gate: str) -> bool:
    return gate in entry.facts and entry.facts[gate].get("ok") is True


def _bound(machine: Machine, entry: Moved, seen: Seen) -> Iterator[Finding]:
    for name, content in entry.facts.items():
        gate, is_open = machine.gates.get(name), content["ok"] is True
        if gate is None or not is_open:
            continue
        if declared(gate.check).binds == JUDGED:
            fact = judge(seen, [name])[name]
            if not fact.ok:
                what = say.gate_not_shown(name, fact.why)
                yield Finding(entry.seq, KIND, what, is_warning=not fact.is_known)
        elif gate.check == ACCEPTS:
            closed = [why for _, was_open, why in content.get("parts", ()) if not was_open]
            accepted = [part for part in gate.params["of"] if not _is_open(entry, part)]
            if (closed or accepted) and not (entry.by == "person" and str(entry.reason).strip()):
                yield Finding(entry.seq, KIND, say.accepts_without_reason(name, accepted or closed))
            if bool(closed or accepted) != bool(entry.signed.get("accepted")):
                yield Finding(entry.seq, KIND, say.accepted_not_told(entry.edge, name))


def deployed_problems(task: Task, entry: Deploy) -> Iterator[Finding]:
    """A deployment begins on files that a person confirmed; lines of an older edition name none."""
    gate = next((gate for gate in task.machine.gates.values() if gate.check == "deployed"), None)
    word, last = task.memory.deploy.word, task.memory.deploy.last
    if gate is None or entry.stage not in ("begun", "rolling_back") or not entry.tree:
        return
    seen = _seen(task, entry.tree)
    if entry.stage == "begun" and word.tree:
        if changed := changed_since_word(gate, seen):
            what = say.deploys_other_files(word.name, changed)
            yield Finding(entry.seq, KIND, what)
    elif entry.stage == "begun" and task.memory.head.format > 1:
        yield Finding(entry.seq, KIND, say.word_names_no_files())
    if entry.stage == "rolling_back" and last.tree:
        changed = unjudged(gate, seen, str(last.tree))
        if changed is not None and list(changed) != list(entry.differs or []):
            yield Finding(entry.seq, KIND, say.differing_not_told(changed))
