"""Tells what the test commands of a task prove about its tree, and what its kind of change needs; read-only."""

from __future__ import annotations

import os

from detent.core.record import Record
from detent.gates.proof import assessment_of, by_exit_code, is_accepted, is_sealed_shut, lacks, required, word_told
from detent.runner.step.look import known_tree, look
from detent.store.text.assessment import OK, UNAVAILABLE
from detent.store.text.proof_words import REFUSED
from detent.store.text.sealed import PASSED
from detent.words import assessed as say
from detent.words import sealed as of_sealed
from detent.words.names import name_some

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from detent.runner.task.open import Task
    from detent.store.journal.native import Document
    from detent.store.text.assessment import Assessment, PartFound
    from detent.store.text.sealed import SealedFound

_QUOTED_LINES = 12
_RUN_MARK = "DETENT_ROLE"  # set in the environment of every agent run


class ProofSummary(Record):
    """The assessment of one tree, and how far it is enough."""

    found: Assessment
    kind: str  # of the change
    kind_by: str  # person, or engine: a guess
    required: str  # the word that this kind needs here
    is_enough: bool
    accepted_by: str = ""  # the person who accepted exactly this
    sealed_by: str = ""  # the person who accepted that sealed checks did not pass


def proof_summary(task: Task, document: Document) -> ProofSummary | None:
    """None where the task has no such settings, or its tree is not known or not assessed."""
    return proof_of_tree(task, document, known_tree(task))


def proof_of_tree(task: Task, document: Document, tree: str) -> ProofSummary | None:
    """The same of a tree that the task had before."""
    seen = look(task, task.memory, document, tree, is_reader=True)
    if seen.proof is None or not (seen.tree and (seen.baseline or seen.sealed)):
        return None
    found = assessment_of(seen) or (by_exit_code(seen) if not seen.sealed else None)
    if found is None:
        return None
    accepted = is_accepted(seen, found)
    is_shut = is_sealed_shut(seen, found)
    is_enough = found.word != REFUSED and not is_shut and (accepted or not lacks(seen, found)[0])
    by = seen.accepted_proof.name if accepted else ""
    sealed_by = "" if is_shut or found.sealed_result in ("", PASSED) else seen.accepted_sealed.name
    guessed_by = task.memory.head.change.get("by", "")
    return ProofSummary(found, seen.kind, guessed_by, required(seen, found), is_enough, by, sealed_by)


def proof_rows(proof: ProofSummary) -> tuple[tuple[str, str], ...]:
    """Label and text for people: the word and what the change needs, then each part that is not in order.

    Nothing of it names a sealed check: agents may read what is made of it.
    """
    rows = [("proof", f"{word_told(proof.found)}; {say.kind_needs(proof.kind, proof.kind_by, proof.required)}")]
    if proof.accepted_by:
        rows.append(("accepted", say.person_accepted(proof.accepted_by, proof.found.word)))
    for command in proof.found.commands:
        rows += [
            (say.part_in_plain_words(part.name), f"{part.result}{': ' if part.why else ''}{part.why}")
            for part in command.parts
            if part.result != OK or part.why
        ]
        rows += [("to prove more", part.next_step) for part in command.parts if _may_be_had(part)]
        rows += [("shows the change", name_some(command.targets))] if command.targets else []
    return tuple(rows)


def _may_be_had(part: PartFound) -> bool:
    return part.result == UNAVAILABLE and bool(part.next_step)


def sealed_rows(proof: ProofSummary) -> tuple[tuple[str, str], ...]:
    """The same of each sealed check, with its last lines; nothing in an agent run, which learns the word alone."""
    rows: list[tuple[str, str]] = []
    for sealed in _sealed_for_person(proof):
        rows.append((of_sealed.label(), of_sealed.has_come_of_it(sealed.place, sealed.result, sealed.why)))
        rows += [("", line) for line in sealed.said.splitlines()[-_QUOTED_LINES:]]
        rows += [("", sealed.log)] if sealed.result != PASSED and sealed.log else []
    return (*rows, *([(of_sealed.label(), of_sealed.accepted(proof.sealed_by))] if proof.sealed_by else []))


def _sealed_for_person(proof: ProofSummary) -> tuple[SealedFound, ...]:
    return () if os.environ.get(_RUN_MARK) else proof.found.sealed


def proof_to_json(proof: ProofSummary) -> dict[str, Any]:
    """What every command with `--json` says of it; in an agent run no sealed check is named."""
    found = proof.found
    sealed = [{**vars(check)} for check in _sealed_for_person(proof)]
    return {
        "word": found.word,
        "plain": word_told(found),
        "kind": proof.kind,
        "kind_by": proof.kind_by,
        "required": proof.required,
        "reach": found.reach,
        "enough": proof.is_enough,
        "accepted_by": proof.accepted_by,
        "commands": [
            {
                "line": command.line,
                "runner": command.runner,
                "word": command.word,
                "ran": command.ran,
                "targets": list(command.targets),
                "parts": [
                    {"name": part.name, "result": part.result, "why": part.why, "next": part.next_step}
                    for part in command.parts
                ],
            }
            for command in found.commands
        ],
        "changed": [
            {"file": part.file, "name": part.name, "how": part.how, "diff": part.diff} for part in found.changed
        ],
        "seen": found.seen,
        "sealed": {"result": found.sealed_result, "accepted_by": proof.sealed_by, "checks": sealed},
    }
