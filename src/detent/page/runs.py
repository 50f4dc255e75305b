"""Reads the agent runs of a task out of its journal: each run as one value, and its lines as events of the page."""

from __future__ import annotations

from detent.effects.host.sandbox import ALLOWED
from detent.page.text import duration
from detent.page.values import Missing, Run, Wish
from detent.store.journal.events import Crashed, Moved
from detent.store.journal.fold import snapshot_after
from detent.store.journal.run_events import Claimed, Driven, Retitled, RunEnded, RunPlanned, RunVoid, Stopped, Unmoved

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from detent.page.values import Event, Excerpt
    from detent.store.journal.line import Line

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


def runs_of(lines: Sequence[Line], targets: Mapping[str, str], prompt: Prompt) -> tuple[Run, ...]:
    """Every run in the order of the journal; a line that names no run of its own belongs to the one that ended last."""
    found: dict[int, Run] = {}
    ended = 0  # the run whose end is not decided yet
    for line in lines:
        if isinstance(line, RunPlanned):
            found[line.run] = _planned(line)
        elif isinstance(line, (Moved, Unmoved, Crashed)):
            if ended:  # what became of it
                found[ended] = found[ended].replace(became=_became(line), moved_to=_target(line))
            ended = 0
        elif not isinstance(line, (Claimed, RunVoid, RunEnded)) or line.run not in found:
            continue
        elif isinstance(line, Claimed):
            run = found[line.run]
            found[line.run] = run.replace(wishes=(*run.wishes, _wish(line, targets)))
        elif isinstance(line, RunVoid):
            found[line.run] = found[line.run].replace(exit="void", became=_text(line.why))
        else:
            found[line.run] = _ended(found[line.run], line, targets)
            ended = line.run
    shown = sorted(found.values(), key=lambda run: run.number)
    last = shown[-MOST_RUNS:]
    return (*shown[:-MOST_RUNS], *(run.replace(prompt=prompt(run.number, run.prompt_digest)) for run in last))


def _target(line: Moved | Unmoved | Crashed) -> str:
    return _text(line.to) if isinstance(line, Moved) else ""


def _planned(entry: RunPlanned) -> Run:
    return Run(
        number=entry.run,
        state=_text(entry.state),
        role=_text(entry.role),
        access=_text(entry.access),
        agent=_text(entry.agent),
        model=_text(entry.model),
        started=_text(entry.time),
        prompt_digest=_text(entry.prompt),
        sandbox=_held(entry),
    )


def _held(entry: RunPlanned) -> str:
    network = _text(entry.network)
    return _text(entry.sandbox) + (f", network {network}" if network != ALLOWED else "")


def _wish(entry: Claimed, targets: Mapping[str, str]) -> Wish:
    want = _text(entry.want)
    why = "; ".join(_text(one.get("why", "")) for one in entry.missing or ()) or _text(entry.problem or "")
    return Wish(targets.get(want, want), bool(entry.accepted), why)


def _ended(run: Run, entry: RunEnded, targets: Mapping[str, str]) -> Run:
    usage, claim = entry.usage, _text(entry.claim)
    wishes = run.wishes
    if claim and entry.claim_by == "file":
        wishes = (*wishes, Wish(targets.get(claim, claim), is_accepted=True, why="written into the task's file"))
    return run.replace(
        ended=_text(entry.time),
        exit=_text(entry.exit),
        seconds=float(usage.get("seconds", 0)),
        turns=int(usage.get("turns", 0)),
        tokens=int(usage.get("input_tokens", 0)) + int(usage.get("output_tokens", 0)),
        cost_usd=float(usage.get("cost_usd", 0)),
        denials=entry.denials,
        wishes=wishes,
        put_back=tuple(map(_text, entry.restored)),
        tainted=tuple(map(_text, entry.tainted)),
        errors=tuple(map(_text, (*entry.errors, *([entry.problem] if entry.problem else [])))),
    )


def _became(entry: Moved | Unmoved | Crashed) -> str:
    if isinstance(entry, Moved):
        return f"the task moved from {_text(entry.from_)} to {_text(entry.to)}"
    why = _text(entry.why or "")
    return f"the task stayed: {why}" if why else "the task stayed where it was"


def run_event(plain: Event, line: Line, targets: Mapping[str, str], claim: str) -> Event | None:
    """The event of a line about runs; None for any other line.

    `claim` is what the run that ended last asked for and nobody has answered yet: a task that stays refuses it.
    """
    text, event = "", plain.replace(run=_run_named(line))
    why: tuple[str, ...] = ()
    match line:
        case Claimed():
            return _claimed(event, line, targets)
        case RunEnded():
            return _ended_event(event, line)
        case Unmoved():
            why = (_text(line.why),) if line.why else ()
            if claim:
                source, target = _text(snapshot_after(line).state), targets.get(claim, claim)
                return event.replace(kind="refused", source=source, target=target, lines=why)
            text = "left the task where it was"
        case RunPlanned():
            text = f"was started: {_text(line.agent)}{_in_brackets(line.model)}"
            text += f" as {_text(line.role)} in {_text(line.state)}"
        case RunVoid():
            text = f"never began: {_text(line.why)}"
        case Crashed():
            text = f"The run {EXITS.get(line.exit, _text(line.exit))}; the task stayed where it was"
        case Stopped():
            text = f"The task was stopped: {_text(line.why)}"
        case Driven():
            text = "Agents may work on the task" if line.on else "No agent is to work on the task"
        case _:
            pass
    if not text:
        return None
    return event.replace(head=text, lines=why, who="" if isinstance(line, Crashed) else event.who)


def _run_named(line: Line) -> int:
    """The number of the run that a line is about; 0 for a line about none."""
    if isinstance(line, (RunPlanned, Claimed, Retitled, RunVoid, RunEnded, Unmoved)):
        return line.run
    return 0


def _in_brackets(model: object) -> str:
    return f" ({_text(model)})" if model else ""


def _ended_event(event: Event, entry: RunEnded) -> Event:
    lines = [f"It changed what it may only read: {', '.join(map(_text, entry.tainted))}"] if entry.tainted else []
    lines += map(_text, entry.errors)
    seconds = entry.usage.get("seconds", 0)
    head = f"{EXITS.get(entry.exit, _text(entry.exit))} after {duration(seconds)}"
    return event.replace(head=head, undone=tuple(map(_text, entry.restored)), lines=tuple(lines))


def _claimed(event: Event, entry: Claimed, targets: Mapping[str, str]) -> Event:
    wish = _wish(entry, targets)
    if wish.is_accepted:
        return event.replace(head=f"asked for {wish.target}: accepted, to be decided when the run has ended")
    missing = tuple(
        Missing(_text(one.get("gate", "")), _text(one.get("why", "")), _text(one.get("fix", "")))
        for one in entry.missing or ()
    )
    lines = () if missing else (wish.why,)
    source = _text(entry.from_)
    return event.replace(kind="refused", source=source, target=wish.target, missing=missing, lines=lines)


def _text(value: object) -> str:
    return value if isinstance(value, str) else str(value)
