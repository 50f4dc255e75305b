"""The words for what was: each line of a journal, and what an agent run asked for."""

from __future__ import annotations

from detent.faces.words.screen import megabytes, one_line
from detent.store.journal.reasons import because, noted
from detent.store.text.names import name_some

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from detent.store.journal.chain import Entry


def history_words(entries: Sequence[Entry]) -> str:
    return "\n".join(_entry_words(entry) for entry in entries)


def _entry_words(entry: Entry) -> str:
    kind = entry["kind"]
    who = entry.get("name") or entry.get("by", "")
    text = {
        "created": lambda: f"created in {entry['after']['state']} by {who}: {entry['title']}",
        "adopted": lambda: f"adopted in {entry['after']['state']} by {who}: {entry['dir']}",
        "moved": lambda: f"{entry['from']} -> {entry['to']} by {who or entry['by']}{_proof_words(entry)}",
        "intended": lambda: f"prepares {entry['edge']}: {', '.join(entry['prepare'])}",
        "unprepared": lambda: f"{entry['edge']} could not be prepared: {entry['why']}",
        "refused": lambda: f"refused {entry['from']} -> {entry['want']} by {who}: {_missing_words(entry)}",
        "restored": lambda: f"restored: {entry['why']}",
        "landed": lambda: f"{who} landed it ({entry['how']}): {entry['commit'][:12]} on {entry['branch']}",
        "collected": lambda: f"{who} had its home, branches and refs removed",
        "restored_tree": lambda: f"{who} brought the files back to line {entry['checkpoint']}",
        "approved": lambda: f"{who} approved {name_some(entry['files'])} of tree {entry['tree'][:12]}",
        "proved": lambda: _proved_words(entry),
        "set_up": lambda: _set_up_words(entry),
        "filed": lambda: f"filed {name_some(place for place, made in entry['files'].items() if made) or 'nothing'}",
        "acted": lambda: _acted_words(entry),
        "crashed": lambda: f"an agent run ended as {entry['exit']} and took no move",
        "answered": lambda: f"{who} said: {entry['answer']}",
        "resumed": lambda: f"resumed by {who}",
        "run_planned": lambda: f"agent run #{entry['run']} planned: {entry['agent']} as {entry['role']}",
        "run_void": lambda: f"agent run #{entry['run']} never began: {entry['why']}",
        "run_ended": lambda: _ended_words(entry),
        "claimed": lambda: claim_words(entry),
        "unmoved": lambda: f"agent run #{entry['run']} opened no move{': ' + entry['why'] if entry['why'] else ''}",
        "stopped": lambda: f"stopped: {entry['why']}",
        "retitled": lambda: f"agent run #{entry['run']} calls it: {entry['title']}",
        "driven": lambda: f"{who} wants it {'driven' if entry['on'] else 'left alone'}",
        "amended": lambda: f"{who} changed {', '.join(entry['fields'])}",
        "configured": lambda: f"{who} set {_set_words(entry)}",
        "deploy": lambda: _deploy_words(entry, who),
    }.get(kind, lambda: str(kind))()
    reason = f" ({entry['reason']})" if entry.get("reason") else ""
    return f"{entry['seq']:>4}  {entry['time']}  {one_line(text + reason)}"


def claim_words(entry: Mapping[str, Any]) -> str:
    if entry["accepted"]:
        return f"agent run #{entry['run']} asked for {entry['to']}: accepted, if it holds when the run has ended"
    return one_line(f"agent run #{entry['run']} asked for {entry['want']}: refused: {_missing_words(entry)}")


def _ended_words(entry: Entry) -> str:
    put_back = "".join(f"; put back: {note}" for note in entry["restored"])
    if entry["tainted"]:
        put_back += f"; it changed what it may not: {', '.join(entry['tainted'][:5])}"
    if steered := entry.get("steered", ()):
        put_back += f"; changed while it ran, by it or by you: {', '.join(steered)}"
    problem = f"; {entry['problem']}" if entry["problem"] else ""
    return f"agent run #{entry['run']} ended as {entry['exit']} ({entry['how']}){problem}{put_back}"


def _proved_words(entry: Entry) -> str:
    made = entry.get("set_up", {})
    why = f" ({made['why']})" if made.get("why") else ""
    told = f"; set-up {made['how']}{why}" if made else ""
    told += f", {megabytes(made['made_bytes'])}" if made.get("made_bytes") else ""
    return f"ran {len(entry['receipts'])} command(s) on tree {entry['tree'][:12]}{told}"


def _set_up_words(entry: Entry) -> str:
    why = f" ({entry['why']})" if entry["why"] else ""
    made = f"; not part of the work: {name_some(entry['left_out'])}" if entry["left_out"] else ""
    changed = f"; it changed tracked files, which were restored: {name_some(entry['changed'])}"
    size = f", {megabytes(entry['made_bytes'])}" if entry.get("made_bytes") else ""
    return f"set up: {entry['how']}{why}{size}{made}{changed if entry['changed'] else ''}"


def _acted_words(entry: Entry) -> str:
    number, _, effect = entry["step"].partition(":")
    branch = entry["result"].get("branch", "")
    return f"did {effect} of line {number}" + (f", brought to branch {branch}" if branch else "")


def _proof_words(entry: Entry) -> str:
    by_hand = [name for name, fact in entry["facts"].items() if fact.get("by_hand")]
    waived = f", waived: {', '.join(entry['waived'])}" if entry["waived"] else ""
    told, notes = because(entry), noted(entry)
    why = f", because {told}" if told else f", noted: {notes}" if notes else ""
    return (f", proof by hand: {', '.join(by_hand)}" if by_hand else "") + waived + why


def _deploy_words(entry: Entry, who: str) -> str:
    if entry["stage"] == "confirmed":
        unseen = ", unseen" if entry.get("unseen") else ""
        files = f" for the files of {entry['tree'][:12]}" if entry["tree"] else ""
        differs = f"; accepted although not verified: {name_some(entry['differs'])}" if entry.get("differs") else ""
        return f"{who} confirmed the deploy commands{unseen}{files}{differs}: {entry['reason']}"
    if entry["stage"] == "begun":
        return f"deploys tree {entry['tree'][:12]}; to go back: {dict(entry['commands'])['Rollback']}"
    if entry["stage"] == "rolling_back":
        return f"{who} takes the deployment back: {entry['reason']}"
    done, not_done = {"rolled_back": ("taken back", "take it back")}.get(entry["stage"], ("deployed", "deploy"))
    return done if entry["ok"] else f"could not {not_done}: {entry['why']}"


def _set_words(entry: Entry) -> str:
    from detent.faces.words.settings import set_words  # few journals have such a line

    return set_words(entry)


def _missing_words(entry: Mapping[str, Any]) -> str:
    return "; ".join(dict.fromkeys(one["why"] for one in entry["missing"])) or str(entry["problem"])
