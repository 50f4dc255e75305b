"""What is written down where a step moves nothing: a crash, an agent's refusal, a request that a command overtook."""

from __future__ import annotations

from detent.core.machine import ASKED
from detent.core.values import Crash, Refuse
from detent.runner.step.said_no import asked_target
from detent.runner.step.settle import remember

TYPE_CHECKING = False
if TYPE_CHECKING:
    from detent.core.values import Decision, Signal
    from detent.runner.step.disorder import Settled
    from detent.runner.task.open import Task
    from detent.store.journal.memory import Memory

_SAYS = ("want", "by", "problem", "missing")  # by which a refusal is known again


def write_unmoved(task: Task, settled: Settled, asked: Signal, decision: Decision) -> tuple[Memory, tuple[str, ...]]:
    """The memory afterwards, and what was put back, in words."""
    memory, document = task.memory, settled.document
    if isinstance(decision, Crash):
        crashed = {"by": asked.who, "exit": decision.exit, "why": asked.reason}
        return remember(task, memory, document, "crashed", crashed, after=decision.after)[0], ()
    if isinstance(decision, Refuse) and asked.who == "agent":
        refused = {
            "want": asked.want,
            "by": asked.who,
            "name": asked.name,
            "from": memory.snapshot.state,
            "problem": decision.problem,
            "missing": [{"gate": one.gate, "why": one.why, "fix": one.fix} for one in decision.missing],
        }
        target = asked_target(task.machine, memory.snapshot, asked.want) if memory.ended else ""
        if target:  # the run that asked has ended: that is its no
            refused["no"] = target
        # The same refusal again says nothing new; only a state line that must be put back is written once more.
        is_known = {**memory.refusal, "time": ""} == {**{key: refused[key] for key in _SAYS}, "time": ""}
        if is_known and not settled.request and memory.snapshot.no.get(ASKED, "") == target:
            return memory, ()
        return remember(task, memory, document, "refused", refused)[0], ()
    if settled.request:
        why = f"{task.native.file} asked for {settled.request}; a command took its place"
        restored = {"file": task.native.file, "why": why, "kept": ""}
        return remember(task, memory, document, "restored", restored)[0], (why,)
    return memory, ()
