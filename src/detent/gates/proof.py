"""Checks on what green test commands prove: the assessment of this very tree, and a person's word about it.

`runner/step/proving/full.py` makes the assessment that is missing; both ask `proof_key`, so that what is worked out is
what is judged. A task without `[proof]` was made before there were words, and is asked nothing.
"""

from __future__ import annotations

import json

from detent.errors import UnreadableError
from detent.gates.commands import standing_runs
from detent.gates.registry import declared
from detent.gates.seen import Finding
from detent.store.disk.digest import sha256_of
from detent.store.text.assessment import (
    ASKS,
    CENSUS,
    FAILED,
    UNAVAILABLE,
    Assessment,
    CommandAssessed,
    PartFound,
    from_json,
)
from detent.store.text.proof_words import EXIT_CODE_ONLY, REFUSED, is_enough, weaker
from detent.store.text.sealed import PASSED
from detent.words import assessed as say
from detent.words import sealed as of_sealed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from detent.core.machine import Gate
    from detent.gates.commands import Run
    from detent.gates.seen import Seen
    from detent.store.journal.receipts import Receipt

COMMAND = "full proof"  # stands in a receipt where a command line would


def runs_assessed(seen: Seen) -> tuple[Run, ...]:
    """The commands that judge the work in every state, each once: what is assessed together."""
    found: dict[str, Run] = {}
    for gate in seen.machine.gates.values():
        if not declared(gate.check).goes_first:
            for run in standing_runs(gate, seen):
                if not (run.before or run.is_recorded):
                    found.setdefault(run.command.line, run)
    return tuple(found.values())


def _is_asked(seen: Seen) -> bool:
    """Whether there is something to assess: what the green commands prove, or sealed checks. A red command speaks for
    itself.
    """
    if seen.proof is None:
        return False
    if seen.sealed:
        receipts = [seen.receipt(run.key) for run in runs_assessed(seen)]
        return all(receipt is None or receipt.is_green for receipt in receipts)
    return can_assess(seen)


def can_assess(seen: Seen) -> bool:
    """Whether the commands can prove more than their exit codes: one whose runner reports nothing, here or on the
    baseline, can't.
    """
    if seen.proof is None or not seen.baseline:
        return False
    receipts = [seen.receipt(run.key) for run in runs_assessed(seen)]
    if any(receipt is not None and not receipt.is_green for receipt in receipts):
        return False
    return any(receipt is None or receipt.census for receipt in receipts)


def proof_key(seen: Seen, scope: str = "") -> str:
    """What an assessment holds for: this tree against this baseline, these commands, settings and kind of change.

    `scope` names one that leaves parts out.
    """
    assert seen.proof is not None  # noqa: S101  # asked only of tasks that have such settings
    settings = json.dumps(seen.proof.to_json(), sort_keys=True)
    lines = [run.command.line for run in runs_assessed(seen)]
    parts = (f"{COMMAND}{scope}", seen.tree, seen.baseline, seen.workspace, settings, *lines)
    return sha256_of("\0".join(parts).encode("utf-8", "surrogatepass"))


def assessment_of(seen: Seen, scope: str = "") -> Assessment | None:
    """What was found out about this tree; None where it was not assessed yet, or what is kept of it can't be read."""
    receipt = seen.receipt(proof_key(seen, scope))
    return None if receipt is None or receipt.is_unrun else read_assessment(receipt)


def by_exit_code(seen: Seen) -> Assessment | None:
    """What is said of green commands none of whose tests are known; None where some are, or one is red or not run."""
    found = [(run, seen.receipt(run.key)) for run in runs_assessed(seen)]
    commands = []
    for run, receipt in found:
        if receipt is None or receipt.census or not receipt.is_green:
            return None
        if receipt.uncounted:
            why, _, fix = receipt.uncounted.partition("\n")
            part = PartFound(CENSUS, UNAVAILABLE, why, fix)
            commands.append(CommandAssessed(run.command.line, "", EXIT_CODE_ONLY, EXIT_CODE_ONLY, (part,)))
    return Assessment(EXIT_CODE_ONLY, EXIT_CODE_ONLY, tuple(commands)) if commands else None


def read_assessment(receipt: Receipt) -> Assessment | None:
    """The assessment that a receipt keeps; None where it can't be read."""
    try:
        return from_json(json.loads(receipt.output), receipt.log)
    except (ValueError, UnreadableError):
        return None


def required(seen: Seen, found: Assessment) -> str:
    """The word that opens the last move: what the kind of change asks for, as far as the baseline can be judged."""
    assert seen.proof is not None  # noqa: S101  # asked only of tasks that have such settings
    return weaker(seen.proof.require[seen.kind], found.reach)


def proof(_gate: Gate, seen: Seen) -> Finding:
    """Nothing refutes that the green commands prove something: no test was lost, faked or can't fail."""
    if not _is_asked(seen):
        return Finding(ok=True, by_engine=True)
    found = assessment_of(seen)
    if found is None:
        return Finding(ok=False, why=say.not_assessed(), pending=True)
    if found.word == REFUSED:
        why, fix = why_refused(found)
        return Finding(ok=False, why=why, fix=fix)
    if is_sealed_shut(seen, found):
        failed = of_sealed.sealed_failed()  # all that an agent may learn
        return Finding(ok=False, why=failed, fix=failed.next_step)
    return Finding(ok=True, note=word_told(found), proof=proof_key(seen), by_engine=True)


def is_sealed_shut(seen: Seen, found: Assessment) -> bool:
    """Whether a sealed check did not pass, and no person accepted that on this tree."""
    if found.sealed_result in ("", PASSED):
        return False
    said = seen.accepted_sealed
    return (said.tree, said.seen, said.word) != (seen.tree, sealed_digest(found), found.sealed_result)


def sealed_digest(found: Assessment) -> str:
    """What a person's word about sealed results is bound to: every file, and what came of it."""
    rows = [[check.place, check.sha256, check.result, check.why] for check in found.sealed]
    return sha256_of(json.dumps(rows).encode("utf-8", "surrogatepass"))


def word_told(found: Assessment) -> str:
    """The word for people, with `+ sealed` where sealed checks passed as well."""
    return say.word_reached(found.word, found.sealed_result)


def why_refused(found: Assessment) -> tuple[str, str]:
    """What refutes the green commands, and what to do."""
    failed = [part for command in found.commands for part in command.parts if part.result == FAILED]
    why, fix = dict.fromkeys(part.why for part in failed), dict.fromkeys(part.next_step for part in failed)
    return "; ".join(why), "; ".join(fix)


def is_accepted(seen: Seen, found: Assessment) -> bool:
    """Whether a person accepted exactly this, on this tree."""
    said = seen.accepted_proof
    return (said.tree, said.seen, said.word) == (seen.tree, found.seen, found.word)


def lacks(seen: Seen, found: Assessment) -> tuple[str, str]:
    """Why an assessment needs a person, and what to do; empty where it is enough by itself."""
    assert seen.proof is not None  # noqa: S101  # asked only of tasks that have such settings
    wanted = required(seen, found)
    asks = [part for command in found.commands for part in command.parts if part.result == ASKS]
    if asks:
        names = {part.name for part in asks}
        said_once = [part for part in asks if part.told_by not in names]
        why, fix = dict.fromkeys(part.why for part in said_once), dict.fromkeys(part.next_step for part in said_once)
        return "; ".join(why), "; ".join(fix)
    if is_enough(found.word, wanted):
        return "", ""
    too_weak = say.word_too_weak(found.word, wanted, seen.kind)
    return too_weak, too_weak.next_step


def proof_accepted(_gate: Gate, seen: Seen) -> Finding:
    """The word is enough and nothing asks for a person, or a person accepted exactly what was found on this tree."""
    found = assessment_of(seen) if can_assess(seen) else None
    if found is None or found.word == REFUSED or seen.proof is None:  # the check `proof` keeps the move closed
        return Finding(ok=True, by_engine=True)
    why, fix = lacks(seen, found)
    if not why:
        return Finding(ok=True, proof=proof_key(seen), by_engine=True)
    if is_accepted(seen, found):
        note = say.person_accepted(seen.accepted_proof.name, found.word)
        return Finding(ok=True, proof=proof_key(seen), note=note, by_engine=True)
    return Finding(ok=False, why=why, fix=fix)
