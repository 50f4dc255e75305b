"""Answers an agent's requests from inside its run: at once, and without moving anything.

A request is judged by the gates that need no command. Refused, the agent may repair its work and ask again. Accepted,
it is a promise: the run is to end now, and only when it is gone the claim is decided, with every gate.
"""

from __future__ import annotations

from detent.core.decide import candidates_for, decide
from detent.core.values import Advance, Fact, Refuse, Signal, Wait
from detent.effects.host.keeper import start as keeper
from detent.errors import RefusedError
from detent.gates.judge import judge
from detent.runner.run.runs import run_seen
from detent.runner.step.changing import changing
from detent.runner.step.disorder import find_disorder, read_document
from detent.runner.step.look import look, looks_at_tree
from detent.runner.step.said_no import requested_target
from detent.runner.step.step import Outcome
from detent.store.journal.run_events import Claimed
from detent.words.runner import run as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from detent.core.machine import Gate
    from detent.core.values import Decision
    from detent.runner.task.open import Task
    from detent.store.journal.native import Document


def claim(task: Task, number: int, want: str, reason: str = "", verb: str = "") -> Outcome:
    """Answer a request of the living run `number`; without `want`, what its file asks for, else the first open move.

    A request for the task's current state is answered as such; that is no claim, and leaves no line.
    """
    with changing(task, settles=False) as change:
        task = change.task
        seen = run_seen(task)
        if seen is None or seen.phase != "alive" or task.memory.run.run != number:
            raise RefusedError(say.run_is_over())
        if want == task.memory.snapshot.state:
            return Outcome(Wait(say.there_already()), task, {}, Signal("agent", want), want)
        document = read_document(task)
        wanted = want or ("" if verb else _file_wants(task, document))
        signal = Signal("agent", wanted, name=task.memory.run.role, reason=reason, verb=verb)
        facts = _facts(task, document, signal)
        decision = decide(task.machine, task.memory.snapshot, facts, signal)
        line = _claimed(task, signal, decision)
        if line is not None and not _is_said(task, line):
            change.write(line)
        if isinstance(decision, Advance):
            keeper.finish(task.places.run(task.memory.run.run))
        state, is_claimed = task.memory.snapshot.state, isinstance(decision, Advance)
        return Outcome(decision, change.task, facts, signal, state, claimed=is_claimed)


def _claimed(task: Task, signal: Signal, decision: Decision) -> Claimed | None:
    """The line about an answer; a request that nothing was decided about leaves none."""
    run, snapshot, want = task.memory.run.run, task.memory.snapshot, signal.want or signal.verb
    if isinstance(decision, Advance):
        return Claimed(
            run=run,
            want=decision.edge.name,
            by="agent",
            name=signal.name,
            reason=signal.reason,
            from_=snapshot.state,
            accepted=True,
            to=decision.after.state,
        )
    if not isinstance(decision, Refuse):
        return None
    return Claimed(
        run=run,
        want=want,
        by="agent",
        name=signal.name,
        reason=signal.reason,
        from_=snapshot.state,
        accepted=False,
        to=requested_target(task.machine, snapshot, want),
        problem=decision.problem,
        missing=[{"gate": gap.gate, "why": gap.why, "fix": gap.fix} for gap in decision.missing],
    )


def _file_wants(task: Task, document: Document) -> str:
    return find_disorder(task, task.memory, document).request


def _facts(task: Task, document: Document, signal: Signal) -> dict[str, Fact]:
    """The gates as they stand; one that needs the tree, or a report, is taken to be open until the run has ended."""
    filed = task.machine.states[task.memory.snapshot.state].files
    edges = candidates_for(task.machine, task.memory.snapshot, signal)
    gates = dict.fromkeys(gate for edge in edges for way in edge.ways for gate in way.needs)
    later = {gate for gate in gates if any(_is_seen_later(part, filed) for part in task.machine.parts((gate,)))}
    facts = judge(look(task, task.memory, document, ""), [gate for gate in gates if gate not in later])
    return {**facts, **{gate: Fact(gate, ok=True, note=say.looked_at_later()) for gate in later}}


def _is_seen_later(gate: Gate, filed: Mapping[str, str]) -> bool:
    """Whether a gate reads the tree, or a file that is filed only when the run is over."""
    return looks_at_tree(gate) or any(isinstance(value, str) and value in filed for value in gate.params.values())


def _is_said(task: Task, line: Claimed) -> bool:
    """Whether the last answer to this run was the very same: asking again says nothing new."""
    memory = task.memory
    if line.accepted:
        return (memory.claim.want, memory.claim.run) == (line.want, line.run)
    is_last = bool(memory.claim) or memory.unheard == line.to
    said, refusal = (line.want, line.problem, line.missing), memory.refusal
    return is_last and bool(refusal) and (refusal.want, refusal.problem, refusal.missing) == said
