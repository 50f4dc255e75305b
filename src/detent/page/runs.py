"""Reads the agent runs of a task out of its journal: each run as one value, and its lines as events of the page."""

from __future__ import annotations

from detent.effects.host.sandbox import ALLOWED
from detent.page.text import duration
from detent.page.values import Missing, Run, Wish

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from detent.page.values import Event, Excerpt

    Entry = Mapping[str, Any]
    Prompt = Callable[[int, str], Excerpt | None]  # of a run's number and the hash of what it was told

MOST_RUNS = 200  # the last ones are shown
EXITS = {
    "": "has not ended",
    "finished": "ended by itself",
    "failed": "failed",
    "timeout": "took too long and was ended",
    "killed": "was killed",
    "lost": "was lost",
    "quota": "ran into a quota",
    "void": "never began",
}
_DEEDS = ("moved", "unmoved", "crashed")  # the lines that say what became of an ended run


def runs_of(entries: Sequence[Entry], targets: Mapping[str, str], prompt: Prompt) -> tuple[Run, ...]:
    """Every run in the order of the journal; a line that names no run of its own belongs to the one that ended last."""
    found: dict[int, Run] = {}
    ended = 0  # the run whose end is not decided yet
    for entry in entries:
        kind, number = entry["kind"], int(entry.get("run", 0))
        if kind == "run_planned":
            found[number] = _planned(entry)
        elif kind == "claimed" and number in found:
            run = found[number]
            found[number] = run.replace(wishes=(*run.wishes, _wish(entry, targets)))
        elif kind == "run_void" and number in found:
            found[number] = found[number].replace(exit="void", became=_text(entry.get("why", "")))
        elif kind == "run_ended" and number in found:
            found[number] = _ended(found[number], entry, targets)
            ended = number
        elif kind in _DEEDS and ended:
            found[ended] = found[ended].replace(became=_became(entry), moved_to=_text(entry.get("to", "")))
            ended = 0
    shown = sorted(found.values(), key=lambda run: run.number)
    last = shown[-MOST_RUNS:]
    return (*shown[:-MOST_RUNS], *(run.replace(prompt=prompt(run.number, run.prompt_digest)) for run in last))


def _planned(entry: Entry) -> Run:
    return Run(
        number=int(entry["run"]),
        state=_text(entry["state"]),
        role=_text(entry["role"]),
        access=_text(entry["access"]),
        agent=_text(entry["agent"]),
        model=_text(entry["model"]),
        started=_text(entry["time"]),
        prompt_digest=_text(entry["prompt"]),
        sandbox=_held(entry),
    )


def _held(entry: Mapping[str, Any]) -> str:
    network = _text(entry.get("network", ALLOWED))
    return _text(entry.get("sandbox", "")) + (f", network {network}" if network != ALLOWED else "")


def _wish(entry: Entry, targets: Mapping[str, str]) -> Wish:
    want = _text(entry.get("want", ""))
    why = "; ".join(_text(one.get("why", "")) for one in entry.get("missing", ())) or _text(entry.get("problem", ""))
    return Wish(targets.get(want, want), bool(entry["accepted"]), why)


def _ended(run: Run, entry: Entry, targets: Mapping[str, str]) -> Run:
    usage, claim = entry["usage"], _text(entry["claim"])
    wishes = run.wishes
    if claim and entry["claim_by"] == "file":
        wishes = (*wishes, Wish(targets.get(claim, claim), is_accepted=True, why="written into the task's file"))
    return run.replace(
        ended=_text(entry["time"]),
        exit=_text(entry["exit"]),
        seconds=float(usage.get("seconds", 0)),
        turns=int(usage.get("turns", 0)),
        tokens=int(usage.get("input_tokens", 0)) + int(usage.get("output_tokens", 0)),
        cost_usd=float(usage.get("cost_usd", 0)),
        denials=int(entry["denials"]),
        wishes=wishes,
        put_back=tuple(map(_text, entry["restored"])),
        tainted=tuple(map(_text, entry["tainted"])),
        errors=tuple(map(_text, (*entry["errors"], *([entry["problem"]] if entry["problem"] else [])))),
    )


def _became(entry: Entry) -> str:
    if entry["kind"] == "moved":
        return f"the task moved from {_text(entry['from'])} to {_text(entry['to'])}"
    why = _text(entry.get("why", ""))
    return f"the task stayed: {why}" if why else "the task stayed where it was"


def run_event(plain: Event, entry: Entry, targets: Mapping[str, str], claim: str) -> Event | None:
    """The event of a line about runs; None for any other line.

    `claim` is what the run that ended last asked for and nobody has answered yet: a task that stays refuses it.
    """
    event = plain.replace(run=int(entry.get("run", 0)))
    match entry["kind"]:
        case "claimed":
            return _claimed(event, entry, targets)
        case "run_ended":
            return _ended_event(event, entry)
        case "unmoved" if claim:
            why = (_text(entry["why"]),) if entry["why"] else ()
            source, target = _text(entry["after"]["state"]), targets.get(claim, claim)
            return event.replace(kind="refused", source=source, target=target, lines=why)
        case kind if kind in _HEADS:
            why = (_text(entry["why"]),) if kind == "unmoved" and entry["why"] else ()
            return event.replace(head=_HEADS[kind](entry), lines=why, who="" if kind == "crashed" else event.who)
        case _:
            return None


_HEADS: Mapping[str, Callable[[Entry], str]] = {
    "run_planned": lambda entry: (
        f"was started: {_text(entry['agent'])}{_in_brackets(entry['model'])}"
        f" as {_text(entry['role'])} in {_text(entry['state'])}"
    ),
    "run_void": lambda entry: f"never began: {_text(entry['why'])}",
    "unmoved": lambda _entry: "left the task where it was",
    "crashed": lambda entry: f"The run {EXITS.get(entry['exit'], _text(entry['exit']))}; the task stayed where it was",
    "stopped": lambda entry: f"The task was stopped: {_text(entry['why'])}",
    "driven": lambda entry: "Agents may work on the task" if entry["on"] else "No agent is to work on the task",
}


def _in_brackets(model: object) -> str:
    return f" ({_text(model)})" if model else ""


def _ended_event(event: Event, entry: Entry) -> Event:
    lines = [f"It changed what it may only read: {', '.join(map(_text, entry['tainted']))}"] if entry["tainted"] else []
    lines += map(_text, entry["errors"])
    seconds = entry["usage"].get("seconds", 0)
    head = f"{EXITS.get(entry['exit'], _text(entry['exit']))} after {duration(seconds)}"
    return event.replace(head=head, undone=tuple(map(_text, entry["restored"])), lines=tuple(lines))


def _claimed(event: Event, entry: Entry, targets: Mapping[str, str]) -> Event:
    wish = _wish(entry, targets)
    if wish.is_accepted:
        return event.replace(head=f"asked for {wish.target}: accepted, to be decided when the run has ended")
    missing = tuple(
        Missing(_text(one.get("gate", "")), _text(one.get("why", "")), _text(one.get("fix", "")))
        for one in entry.get("missing", ())
    )
    lines = () if missing else (wish.why,)
    source = _text(entry.get("from", ""))
    return event.replace(kind="refused", source=source, target=wish.target, missing=missing, lines=lines)


def _text(value: object) -> str:
    return value if isinstance(value, str) else str(value)
