"""The words for what was: each line of a journal, and what an agent run asked for."""

from __future__ import annotations

from detent.faces.words.screen import megabytes, one_line
from detent.store.journal.events import (
    Acted,
    Amended,
    Answered,
    Approved,
    Collected,
    Configured,
    Crashed,
    Deploy,
    FiledChange,
    Intended,
    Landed,
    Moved,
    Proved,
    Refused,
    Restored,
    RestoredTree,
    Resumed,
    SetUp,
    Unprepared,
)
from detent.store.journal.fold import snapshot_after
from detent.store.journal.head import Adopted, Created
from detent.store.journal.native_log import because, noted
from detent.store.journal.run_events import Claimed, Driven, Retitled, RunEnded, RunPlanned, RunVoid, Stopped, Unmoved
from detent.words.names import name_some

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from detent.store.journal.line import Line


def history_words(lines: Sequence[Line]) -> str:
    return "\n".join(map(_line_words, lines))


def _line_words(line: Line) -> str:
    who = line.name or line.by
    text = _deed_words(line, who) or _person_words(line, who) or _run_words(line) or str(line.kind)
    reason = f" ({line.reason})" if line.reason else ""
    return f"{line.seq:>4}  {line.time}  {one_line(text + reason)}"


def _deed_words(line: Line, who: str) -> str:
    """What the engine did, moves before all."""
    text = ""
    match line:
        case Created():
            text = f"created in {snapshot_after(line).state} by {who}: {line.title}"
        case Adopted():
            text = f"adopted in {snapshot_after(line).state} by {who}: {line.dir}"
        case Moved():
            text = f"{line.from_} -> {line.to} by {who or line.by}{_proof_words(line)}"
        case Intended():
            text = f"prepares {line.edge}: {', '.join(line.prepare)}"
        case Unprepared():
            text = f"{line.edge} could not be prepared: {line.why}"
        case Refused():
            text = f"refused {line.from_} -> {line.want} by {who}: {_missing_words(line)}"
        case Restored():
            text = f"restored: {line.why}"
        case Proved():
            text = _proved_words(line)
        case SetUp():
            text = _set_up_words(line)
        case FiledChange():
            text = f"filed {name_some(place for place, made in line.files.items() if made) or 'nothing'}"
        case Acted():
            text = _acted_words(line)
        case _:
            pass
    return text


def _person_words(line: Line, who: str) -> str:
    """What a person did or said."""
    text = ""
    match line:
        case Landed():
            text = f"{who} landed it ({line.how}): {line.commit[:12]} on {line.branch}"
        case Collected():
            text = f"{who} had its home, branches and refs removed"
        case RestoredTree():
            text = f"{who} brought the files back to line {line.checkpoint}"
        case Approved():
            text = f"{who} approved {name_some(line.files)} of tree {line.tree[:12]}"
        case Answered():
            text = f"{who} said: {line.answer}"
        case Resumed():
            text = f"resumed by {who}"
        case Driven():
            text = f"{who} wants it {'driven' if line.on else 'left alone'}"
        case Amended():
            text = f"{who} changed {', '.join(line.fields)}"
        case Configured():
            text = f"{who} set {_set_words(line)}"
        case Deploy():
            text = _deploy_words(line, who)
        case _:
            pass
    return text


def _run_words(line: Line) -> str:
    """What became of an agent run."""
    text = ""
    match line:
        case Crashed():
            text = f"an agent run ended as {line.exit} and took no move"
        case RunPlanned():
            text = f"agent run #{line.run} planned: {line.agent} as {line.role}"
        case RunVoid():
            text = f"agent run #{line.run} never began: {line.why}"
        case RunEnded():
            text = _ended_words(line)
        case Claimed():
            text = claim_words(line)
        case Unmoved():
            text = f"agent run #{line.run} opened no move{': ' + line.why if line.why else ''}"
        case Stopped():
            text = f"stopped: {line.why}"
        case Retitled():
            text = f"agent run #{line.run} calls it: {line.title}"
        case _:
            pass
    return text


def claim_words(line: Claimed) -> str:
    if line.accepted:
        return f"agent run #{line.run} asked for {line.to}: accepted, if it holds when the run has ended"
    return one_line(f"agent run #{line.run} asked for {line.want}: refused: {_missing_words(line)}")


def _ended_words(line: RunEnded) -> str:
    put_back = "".join(f"; put back: {note}" for note in line.restored)
    if line.left:
        put_back += f"; left in a throw-away checkout: {name_some(line.left)}"
    if line.tainted:
        put_back += f"; it changed what it may not: {', '.join(line.tainted[:5])}"
    if steered := line.steered:
        put_back += f"; changed while it ran, by it or by you: {', '.join(steered)}"
    problem = f"; {line.problem}" if line.problem else ""
    return f"agent run #{line.run} ended as {line.exit} ({line.how}){problem}{put_back}"


def _proved_words(line: Proved) -> str:
    made = line.set_up
    why = f" ({made['why']})" if made.get("why") else ""
    set_up = f"; set-up {made['how']}{why}" if made else ""
    set_up += f", {megabytes(made['made_bytes'])}" if made.get("made_bytes") else ""
    return f"ran {len(line.receipts)} command(s) on tree {line.tree[:12]}{set_up}"


def _set_up_words(line: SetUp) -> str:
    why = f" ({line.why})" if line.why else ""
    made = f"; not part of the work: {name_some(line.left_out)}" if line.left_out else ""
    changed = f"; it changed tracked files, which were restored: {name_some(line.changed)}"
    size = f", {megabytes(line.made_bytes)}" if line.made_bytes else ""
    return f"set up: {line.how}{why}{size}{made}{changed if line.changed else ''}"


def _acted_words(line: Acted) -> str:
    number, _, effect = line.step.partition(":")
    branch = line.result.get("branch", "")
    return f"did {effect} of line {number}" + (f", brought to branch {branch}" if branch else "")


def _proof_words(line: Moved) -> str:
    by_hand = [name for name, fact in line.facts.items() if fact.get("by_hand")]
    waived = f", waived: {', '.join(line.waived)}" if line.waived else ""
    reason, notes = because(line), noted(line)
    why = f", because {reason}" if reason else f", noted: {notes}" if notes else ""
    return (f", proof by hand: {', '.join(by_hand)}" if by_hand else "") + waived + why


def _deploy_words(line: Deploy, who: str) -> str:
    if line.stage == "confirmed":
        unseen = ", unseen" if line.unseen else ""
        files = f" for the files of {line.tree[:12]}" if line.tree else ""
        differs = f"; accepted although not verified: {name_some(line.differs)}" if line.differs else ""
        return f"{who} confirmed the deploy commands{unseen}{files}{differs}: {line.reason}"
    if line.stage == "begun":
        rollback = next(command for label, command in line.commands if label == "Rollback")
        return f"deploys tree {line.tree[:12]}; to go back: {rollback}"
    if line.stage == "rolling_back":
        return f"{who} takes the deployment back: {line.reason}"
    done, not_done = {"rolled_back": ("taken back", "take it back")}.get(line.stage, ("deployed", "deploy"))
    return done if line.ok else f"could not {not_done}: {line.why}"


def _set_words(line: Configured) -> str:
    from detent.faces.words.settings import set_words  # few journals have such a line

    return set_words(line)


def _missing_words(line: Refused | Claimed) -> str:
    return "; ".join(dict.fromkeys(gap["why"] for gap in line.missing or ())) or str(line.problem)
