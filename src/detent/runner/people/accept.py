"""A person accepts what the proof of a tree found: changed tests, a weaker word than the change needs, or sealed checks
that did not pass.

Their word is bound to the tree, the word of its assessment, and the hash of what they were shown.
"""

from __future__ import annotations

from detent.errors import RefusedError, UsageError
from detent.gates.proof import assessment_of, sealed_digest
from detent.runner.step.changing import changing
from detent.runner.step.look import current_tree, look, refuse_other_tree
from detent.runner.tell.explain import PROOF, PROOF_ACCEPTED
from detent.store.journal.events import Approved
from detent.store.text.proof_words import REFUSED, WORDS
from detent.store.text.sealed import PASSED
from detent.words.runner import people as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from detent.runner.task.open import Task
    from detent.store.text.assessment import Assessment


def accept_proof(task: Task, name: str, reason: str, word: str, shown: str = "") -> tuple[Task, Assessment]:
    """Write down that a person accepts the assessment of the tree as it is.

    `word` is the word they expect; empty accepts the changed tests, whatever the word. `shown` is the beginning of the
    id of the tree they reviewed.
    """
    if word and word not in WORDS:
        raise UsageError(say.unknown_word(word))
    with changing(task) as change:
        task = change.task
        _refuse_elsewhere(task)
        tree = current_tree(task)
        refuse_other_tree(tree, shown)
        found = assessment_of(look(task, task.memory, change.document, tree))
        if found is None:
            raise RefusedError(say.not_assessed_yet(task.id))
        if found.word == REFUSED:
            raise RefusedError(say.refused_is_not_accepted(task.id))
        if word and word != found.word:
            raise RefusedError(say.other_word(found.word, word, task.id))
        change.write(Approved(by="person", name=name, reason=reason, tree=tree, word=found.word, seen=found.seen))
        return change.task, found


def accept_sealed(task: Task, name: str, reason: str, shown: str = "") -> tuple[Task, Assessment]:
    """Write down that a person accepts the tree as it is although its sealed checks did not pass."""
    with changing(task) as change:
        task = change.task
        _refuse_elsewhere(task, PROOF)
        tree = current_tree(task)
        refuse_other_tree(tree, shown)
        found = assessment_of(look(task, task.memory, change.document, tree))
        if found is None:
            raise RefusedError(say.not_assessed_yet(task.id))
        result = found.sealed_result
        if result in ("", PASSED):
            raise RefusedError(say.no_sealed_to_accept(task.id))
        seen = sealed_digest(found)
        change.write(Approved(by="person", name=name, reason=reason, tree=tree, sealed=result, seen=seen))
        return change.task, found


def _refuse_elsewhere(task: Task, check: str = PROOF_ACCEPTED) -> None:
    """Only a state with a gate that waits for such a word takes one."""
    edges = task.machine.states[task.memory.snapshot.state].edges
    needed = task.machine.parts(gate for edge in edges for way in edge.ways for gate in way.needs)
    if not any(gate.check == check for gate in needed):
        raise RefusedError(say.nothing_to_accept(task.memory.snapshot.state, task.id))
