"""Turns journal lines into the events of an evidence page; a kind of line nobody told us about is shown as it is."""

from __future__ import annotations

from detent.effects.evidence_values import Event, Gate, Missing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from detent.effects.evidence_values import Ran

_FRAME = ("seq", "time", "kind", "prev", "after", "by", "name", "reason")  # shown elsewhere, or meant for the engine
_LONGEST_VALUE = 10_000


def events_of(
    entries: Sequence[Mapping[str, Any]], targets: Mapping[str, str], command_gates: frozenset[str], ran: Sequence[Ran]
) -> tuple[Event, ...]:
    """`targets` says where an edge leads, for wishes that name the edge; `command_gates` are answered by receipts."""
    events: list[Event] = []
    moves = 0
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
            events.append(_moved(plain, entry, command_gates, ran))
        elif entry["kind"] == "refused":
            events.append(_refused(plain, entry, targets))
        else:
            events.append(_other(plain, entry))
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
    if kind in ("created", "adopted"):
        made = "The task was made" if kind == "created" else "The task was taken over from another tool"
        return plain.replace(head=f"{made}, in state {entry['after']['state']}")
    if kind == "restored":
        return plain.replace(head="An edit was undone", lines=(_text(entry.get("why", "")),))
    if kind == "answered":
        return plain.replace(head="A person said")
    if kind == "resumed":
        return plain.replace(head="A person let the task go on")
    if kind == "amended":
        fields = ", ".join(map(_text, entry.get("fields", ())))
        return plain.replace(
            head=f"A person changed what was locked: {fields}", lines=("Earlier proof is old from here.",)
        )
    if kind == "acted":
        effect = _text(entry.get("step", "")).partition(":")[2].replace("_", " ")
        results = [(_text(name), _text(value)) for name, value in entry.get("result", {}).items() if value]
        return plain.replace(head=effect, hashes=tuple(results))
    lines = [
        f"{name}: {_text(value)}" for name, value in entry.items() if name not in _FRAME and value not in ("", None)
    ]
    return plain.replace(head=_text(kind).replace("_", " "), lines=tuple(lines))


def _text(value: object) -> str:
    text = value if isinstance(value, str) else str(value)
    return text if len(text) <= _LONGEST_VALUE else text[:_LONGEST_VALUE] + "…"
