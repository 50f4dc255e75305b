"""Which role the next run of a task has: its state's own, or one that judges or carries out what that role may not.

A verdict is about one tree. Where a state changes the tree after it was judged, what no command can prove is judged
again before the state is left: by the role of another state, in its words.
"""

from __future__ import annotations

from detent.core.machine import State
from detent.gates.registry import declared
from detent.machines.packs import load
from detent.runner.step.disorder import read_document
from detent.runner.step.look import current_tree, look
from detent.runner.step.resolving import resolver_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from detent.runner.task.open import Task

_LENT = ("role", "access", "prompt", "prompt_counted", "may", "must_not")  # what a judging state lends


def next_run(task: Task, tree: str) -> State:
    """The current state as its next run on this tree is to find it. Starts nothing."""
    state = task.machine.states[task.memory.snapshot.state]
    visit = task.memory.visit
    if resolver := resolver_of(task.machine, task.memory.snapshot, visit):
        return resolver
    is_over = visit.exit == "finished" or (bool(visit) and visit.role != state.role)
    if not state.judged_as or not is_over or not _lacks_only_judgement(task, tree):
        return state
    judge = task.machine.states[state.judged_as]
    return state.replace(**{name: getattr(judge, name) for name in _LENT})


def is_judged_next(task: Task) -> bool:
    """Whether the work of the state's own run now only lacks a judgement, and no judge was asked in vain."""
    state, visit = task.machine.states[task.memory.snapshot.state], task.memory.visit
    if not state.judged_as or (visit.role != state.role and visit.exit != "quota"):
        return False
    with task.held():
        tree = current_tree(task)
    return next_run(task, tree).role != state.role


def _lacks_only_judgement(task: Task, tree: str) -> bool:
    state = task.machine.states[task.memory.snapshot.state]
    seen = look(task, task.memory, read_document(task), tree, is_reader=True)
    gates = task.machine.parts(gate for edge in state.edges for way in edge.ways for gate in way.needs)
    return any(load(lacks)(gate, seen) for gate in gates if (lacks := declared(gate.check).lacks_judge))
