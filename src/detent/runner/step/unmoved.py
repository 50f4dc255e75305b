"""What is written down where a step moves nothing: a crash, an agent's refusal, a request that a command overtook."""

from __future__ import annotations

from detent.core.machine import ASKED
from detent.core.values import Crash, Refuse
from detent.runner.step.said_no import asked_target
from detent.runner.step.settle import remember
from detent.store.journal.events import Crashed, Refused, Restored

TYPE_CHECKING = False
if TYPE_CHECKING:
    from detent.core.values import Decision, Signal
    from detent.runner.step.disorder import Settled
    from detent.runner.task.open import Task
    from detent.store.journal.memory import Memory


def write_unmoved(task: Task, settled: Settled, asked: Signal, decision: Decision) -> tuple[Memory, tuple[str, ...]]:
    """The memory afterwards, and what was put back, in words."""
    memory, document = task.memory, settled.document
    if isinstance(decision, Crash):
        crashed = Crashed(by=asked.who, exit=decision.exit, why=asked.reason)
        return remember(task, memory, document, crashed, after=decision.after)[0], ()
    if isinstance(decision, Refuse) and asked.who == "agent":
        # A run that has ended asked for it: that is its no.
        target = asked_target(task.machine, memory.snapshot, asked.want) if memory.ended else ""
        refused = Refused(
            want=asked.want,
            by=asked.who,
            name=asked.name,
            from_=memory.snapshot.state,
            problem=decision.problem,
            missing=[{"gate": one.gate, "why": one.why, "fix": one.fix} for one in decision.missing],
            no=target,
        )
        # The same refusal again says nothing new; only a state line that must be put back is written once more.
        said = {"want": refused.want, "by": refused.by, "problem": refused.problem, "missing": refused.missing}
        is_known = {**memory.refusal, "time": ""} == {**said, "time": ""}
        if is_known and not settled.request and memory.snapshot.no.get(ASKED, "") == target:
            return memory, ()
        return remember(task, memory, document, refused)[0], ()
    if settled.request:
        why = f"{task.native.file} asked for {settled.request}; a command took its place"
        return remember(task, memory, document, Restored(file=task.native.file, why=why, kept=""))[0], (why,)
    return memory, ()
