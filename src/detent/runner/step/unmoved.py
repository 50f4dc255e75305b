"""What is written down where a step moves nothing: a crash, an agent's refusal, a request that a command overtook."""

from __future__ import annotations

from detent.core.machine import ASKED
from detent.core.values import Crash, Refuse
from detent.runner.step.promises import keep_promises
from detent.runner.step.said_no import requested_target
from detent.store.journal.events import Crashed, Refused, Restored
from detent.store.journal.fold import is_same
from detent.words.runner import step as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from detent.core.values import Decision, Signal
    from detent.runner.step.change import Change


def write_unmoved(change: Change, signal: Signal, decision: Decision) -> None:
    task, memory = change.task, change.memory
    if isinstance(decision, Crash):
        change.write(Crashed(by=signal.who, exit=decision.exit, why=signal.reason), after=decision.after)
        keep_promises(change)
    elif isinstance(decision, Refuse) and signal.who == "agent":
        # A run that has ended asked for it: that is its no.
        target = requested_target(task.machine, memory.snapshot, signal.want) if memory.ended else ""
        refused = Refused(
            want=signal.want,
            by=signal.who,
            name=signal.name,
            from_=memory.snapshot.state,
            problem=decision.problem,
            missing=[{"gate": gap.gate, "why": gap.why, "fix": gap.fix} for gap in decision.missing],
            no=target,
        )
        # The same refusal again says nothing new; only a state line that must be restored is written once more.
        is_known = is_same(memory.refusal, refused)
        if change.request or not is_known or memory.snapshot.no.get(ASKED, "") != target:
            change.write(refused)
    elif change.request:
        why = say.command_took_place(task.native.file, change.request)
        change.write(Restored(file=task.native.file, why=why, kept=""))
        change.notes += (why,)
