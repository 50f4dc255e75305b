"""Turns journal lines into the events of an evidence page; a kind of line nobody told us about is shown as it is."""

from __future__ import annotations

from detent.page.runs import run_event
from detent.page.text import count
from detent.page.values import Event, Gate, Missing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from detent.page.values import Ran

_FRAME = ("seq", "time", "kind", "prev", "after", "by", "name", "reason")  # shown elsewhere, or meant for the engine
_ANSWERS = ("run_ended", "moved", "refused", "unmoved", "crashed")  # after the first of them a claim is open
_LONGEST_VALUE = 10_000


def events_of(
    entries: Sequence[Mapping[str, Any]], targets: Mapping[str, str], command_gates: frozenset[str], ran: Sequence[Ran]
) -> tuple[Event, ...]:
    """`targets` says where an edge leads, for wishes that name the edge; `command_gates` are answered by receipts."""
    events: list[Event] = []
    moves = 0
    claim = ""  # of the run that ended last, until it is answered
    run = 0  # the one that ended last
    for entry in entries:
        moves += entry["kind"] == "moved"
        plain = Event(
            seq=entry["seq"],
            time=_text(entry.get("time", "")),
            kind=_text(entry["kind"]),
            who=_who(entry),
            words=_text(entry.get("answer") or entry.get("reason") or ""),
            number=moves,
        )
        if entry["kind"] == "moved":
            if plain.words == f"run {run}":  # by which run is shown as a link
                plain = plain.replace(words="", run=run)
            events.append(_moved(plain, entry, command_gates, ran))
        elif entry["kind"] == "refused":
            events.append(_refused(plain, entry, targets))
        else:
            events.append(run_event(plain, entry, targets, claim) or _other(plain, entry))
        if entry["kind"] in _ANSWERS:
            claim = _text(entry.get("claim", ""))
        if entry["kind"] == "run_ended":
            run = int(entry["run"])
    return tuple(events)


def _who(entry: Mapping[str, Any]) -> str:
    by, name = _text(entry.get("by", "")), _text(entry.get("name", ""))
    return f"{name} ({by})" if name and by else name or by


def _moved(plain: Event, entry: Mapping[str, Any], command_gates: frozenset[str], ran: Sequence[Ran]) -> Event:
    tree = entry.get("tree", "")
    keys = tuple(one.key for one in ran if tree and one.tree == tree)
    waived = entry.get("waived", ())
    gates = [
        Gate(
            name,
            bool(fact.get("ok")),
            _text(fact.get("why", "")),
            _text(fact.get("proof", "")),
            bool(fact.get("by_hand")),
            name in waived,
            _text(fact.get("note", "")),
            keys if name in command_gates else (),
        )
        for name, fact in entry.get("facts", {}).items()
    ]
    gates += [Gate(name, is_ok=False, is_waived=True) for name in waived if name not in entry.get("facts", {})]
    lines = [f"Gates waived by a person: {entry['override']}"] if entry.get("override") else []
    hashes = (("on tree", _text(tree)),) if tree else ()
    moved = plain.replace(source=_text(entry["from"]), target=_text(entry["to"]), gates=tuple(gates))
    return moved.replace(lines=tuple(lines), hashes=hashes)


def _refused(plain: Event, entry: Mapping[str, Any], targets: Mapping[str, str]) -> Event:
    want = _text(entry.get("want", ""))
    missing = tuple(
        Missing(_text(one.get("gate", "")), _text(one.get("why", "")), _text(one.get("fix", "")))
        for one in entry.get("missing", ())
    )
    problem = () if missing else (_text(entry.get("problem", "")),)
    return plain.replace(
        source=_text(entry.get("from", "")), target=targets.get(want, want), missing=missing, lines=problem
    )


def _other(plain: Event, entry: Mapping[str, Any]) -> Event:
    kind = entry["kind"]
    if kind in _HEADS:
        lines = _NOTES[kind](entry) if kind in _NOTES else ()
        return plain.replace(head=_HEADS[kind](entry), lines=lines)
    if kind == "proved":
        head = f"The engine ran {count(len(entry['receipts']), 'command')}"
        return plain.replace(head=head, hashes=(("on tree", _text(entry["tree"])),))
    if kind == "landed":
        head = f"The work was landed on {_text(entry['branch'])} ({_text(entry['how'])})"
        return plain.replace(head=head, hashes=(("commit", _text(entry["commit"])),))
    if kind == "acted":
        effect = _text(entry.get("step", "")).partition(":")[2].replace("_", " ")
        results = [(_text(name), _text(value)) for name, value in entry.get("result", {}).items() if value]
        return plain.replace(head=effect, hashes=tuple(results))
    told = [
        f"{name}: {_text(value)}" for name, value in entry.items() if name not in _FRAME and value not in ("", None)
    ]
    return plain.replace(head=_text(kind).replace("_", " "), lines=tuple(told))


_HEADS: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    "created": lambda entry: f"The task was made, in state {entry['after']['state']}",
    "adopted": lambda entry: f"The task was taken over from another tool, in state {entry['after']['state']}",
    "restored": lambda _entry: "An edit was undone",
    "restored_tree": lambda entry: f"The files were brought back to line {_text(entry['checkpoint'])}",
    "answered": lambda _entry: "A person said",
    "resumed": lambda _entry: "A person let the task go on",
    "approved": lambda entry: f"A person approved protected files: {', '.join(map(_text, entry.get('files', ())))}",
    "deploy": lambda entry: f"Deploy commands {_text(entry['stage']).replace('_', ' ')}{_deployed(entry)}",
    "set_up": lambda entry: f"The workspace was set up: {_text(entry['how'])}",
    "configured": lambda _entry: "A person changed what holds for the task",
    "amended": lambda entry: f"A person changed what was locked: {', '.join(map(_text, entry.get('fields', ())))}",
}
_NOTES: Mapping[str, Callable[[Mapping[str, Any]], tuple[str, ...]]] = {
    "restored": lambda entry: (_text(entry.get("why", "")),),
    "set_up": lambda entry: (_text(entry.get("why", "")),),
    "amended": lambda _entry: ("Earlier proof is old from here.",),
}


def _deployed(entry: Mapping[str, Any]) -> str:
    """Why it failed; of a person's word whether it was given ahead, and which files it accepts as not verified."""
    unseen = ", unseen: before there were files to look at" if entry.get("unseen") else ""
    differs = entry.get("differs") or ()
    accepted = f"; accepted although not verified: {', '.join(map(_text, differs))}" if differs else ""
    return f"{unseen}{accepted}" + (f": {_text(entry['why'])}" if entry["why"] else "")


def _text(value: object) -> str:
    text = value if isinstance(value, str) else str(value)
    return text if len(text) <= _LONGEST_VALUE else text[:_LONGEST_VALUE] + "…"
