"""The step `decision`: a person's command is the decision, and it is recorded in its file before the move is made.

Which file and which word is said by the gate of the same edge that reads such a file.
"""

from __future__ import annotations

import json

from detent.errors import RefusedError, UnreadableError
from detent.gates.json_artifacts import hash_data
from detent.packs.global_ import words as say
from detent.packs.global_.reviews import DECISIONS
from detent.runner.step.locks import kept_text
from detent.store.disk.atomic import as_json, read_plain
from detent.store.journal.locked_files import put_back_files
from detent.store.journal.memory import utc_now

TYPE_CHECKING = False
if TYPE_CHECKING:
    from detent.runner.step.registry import Doing, Results

CHECK = "decision"


def look_decision(doing: Doing) -> dict[str, str]:
    """Where the decision goes, and its word."""
    task, move = doing.task, doing.move
    edge = next(edge for edge in task.machine.states[move.from_].edges if edge.name == move.edge)
    if not edge.sign_off and not move.reason.strip():
        raise RefusedError(say.decision_needs_reason(edge.name))
    gates = task.machine.parts(gate for way in edge.ways for gate in way.needs)
    for gate in gates:
        if gate.check == CHECK:
            _refuse_other_word(doing, gate.params["file"], gate.params["value"])
            return {"file": gate.params["file"], "verdict": gate.params["value"], "time": utc_now()}
    raise RefusedError(say.decision_not_read(edge.name))


def _refuse_other_word(doing: Doing, file: str, verdict: str) -> None:
    """A decision that a person wrote by hand is not overwritten by another one without a word."""
    try:
        found = json.loads(read_plain(doing.task.native.path(file)) or b"{}")
    except (ValueError, UnreadableError):
        return  # it says nothing, and what stands there is kept by its hash
    if doing.task.memory.snapshot.entry.get(f"file:{file}") == hash_data(found):
        return  # a decision of an earlier round, which opens no move any more
    said = found.get("verdict") if isinstance(found, dict) and "recorded" not in found else None
    if isinstance(said, str) and said not in DECISIONS.get(verdict, (verdict,)):
        raise RefusedError(say.other_decision(file, said[:40], verdict), where=doing.task.native.path(file))


def _decision_text(doing: Doing) -> bytes:
    seen, move = doing.seen, doing.move
    content = {
        "verdict": seen["verdict"],
        "reason": move.reason,
        "by": move.name,
        "time": seen["time"],
        "tree": move.tree,
        "round": doing.task.memory.snapshot.visits.get(move.from_, 1),
        "recorded": doing.key,
    }
    return as_json({name: value for name, value in content.items() if value != ""}, compact=False) + b"\n"


def record_decision(doing: Doing) -> Results:
    """Write the file; what stood there is kept by its hash."""
    task, file = doing.task, doing.seen["file"]
    digest = task.store.keep(_decision_text(doing))
    put_back_files(
        task.native.folder,
        file,
        {file: digest},
        lambda content_digest: kept_text(task, content_digest),
        task.store.keep,
    )
    return {"decision": {"file": file, "verdict": doing.seen["verdict"], "sha256": digest}}


def has_decision(doing: Doing) -> bool:
    try:
        return read_plain(doing.task.native.path(doing.seen["file"])) == _decision_text(doing)
    except UnreadableError:
        return False  # a link or a folder in its place is not what we wrote
