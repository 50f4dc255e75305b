"""What a landing proves besides that its commands pass: the tests of the receiving branch are kept by the merged tree.

What the tests show of the work itself was found out at the task's last move, and is not asked again. What a person has
not accepted there is asked here.
"""

from __future__ import annotations

from detent.core.record import Record
from detent.effects.git.git import tree_of
from detent.errors import RefusedError
from detent.gates.commands import rests_on_commands, runs_of
from detent.gates.proof import assessment_of, can_assess, why_refused
from detent.runner.step.proving.full import assess, repeated
from detent.store.text.assessment import ASKS
from detent.store.text.proof_words import REFUSED
from detent.words.runner import land as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from detent.gates.seen import Seen
    from detent.runner.step.proving.progress import Progress
    from detent.runner.task.open import Task
    from detent.runner.tell.proof_summary import ProofSummary
    from detent.store.text.assessment import Assessment


class Waived(Record):
    """The gates on commands that a person waived for the very tree that lands."""

    gates: tuple[str, ...]
    name: str
    reason: str


class Proof(Record):
    """How a candidate is proven: the task as the receiving branch judges it, what is seen, which gates ask."""

    task: Task
    seen: Seen
    gates: tuple[str, ...]
    summary: ProofSummary | None
    waived: Waived | None


def waived_for(task: Task, work: str) -> Waived | None:
    """The override that let this work through although its commands fail; None where there was none."""
    tree, gates = tree_of(task.places.private_git(), work), task.machine.gates
    for seen in sorted(task.memory.trees.values(), key=lambda tree: tree.seq, reverse=True):
        found = tuple(name for name in seen.waived if name in gates and rests_on_commands(gates[name]))
        if found and seen.tree == tree:
            return Waived(found, seen.name, seen.reason)
    return None


def lines_waived(waived: Waived | None, proof: Proof) -> frozenset[str]:
    """The commands that an override let through."""
    gates = proof.task.machine.gates
    names = waived.gates if waived is not None else ()
    return frozenset(run.command.line for name in names for run in runs_of(gates[name], proof.seen))


def questions_about(
    task: Task, proof: Proof, summary: ProofSummary | None, progress: Callable[[Progress], None]
) -> tuple[str, ...]:
    """What a person is asked about the merged tree; refused where a test of the receiving branch is lost or faked.

    Nothing is run for a tree that was assessed against the same commit before.
    """
    seen = proof.seen.replace(proved=task.store.load().proved, findings={})
    if not can_assess(seen) or tree_of(task.places.private_git(), seen.baseline) == seen.tree:
        return ()
    if assessment_of(seen) is not None:
        return ()
    scope = repeated(is_shown=summary is not None)
    found = assessment_of(seen, scope.name) or assess(proof.task, seen, progress=progress, scope=scope)
    if found.word == REFUSED:
        why, fix = why_refused(found)
        raise RefusedError(say.tests_refuted(why, fix, task.id))
    known = _asks(summary.found) if summary is not None and summary.accepted_by else {}
    return tuple(why for key, why in _asks(found).items() if key not in known)


def _asks(found: Assessment) -> dict[tuple[str, str, str], str]:
    parts = [(command.line, part) for command in found.commands for part in command.parts if part.result == ASKS]
    return {(line, part.name, part.why): part.why for line, part in parts}
