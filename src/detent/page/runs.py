"""Reads the agent runs of a task out of its journal: each run as one value, and its lines as events of the page."""

from __future__ import annotations

from detent.effects.host.sandbox import ALLOWED
from detent.page.text import duration
from detent.page.values import Missing, Request, Run
from detent.store.journal.events import Crashed, Moved
from detent.store.journal.fold import snapshot_after
from detent.store.journal.run_events import Claimed, Driven, Retitled, RunEnded, RunPlanned, RunVoid, Stopped, Unmoved

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from detent.page.values import Event, Excerpt
    from detent.store.journal.line import Line

    Prompt = Callable[[int, str], Excerpt | None]  # by a run's number and the hash of its prompt

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
            found[line.run] = run.replace(requests=(*run.requests, _request(line, targets)))
        elif isinstance(line, RunVoid):
            found[line.run] = found[line.run].replace(exit="void", became=_as_text(line.why))
        else:
            found[line.run] = _ended(found[line.run], line, targets)
            ended = line.run
    shown = sorted(found.values(), key=lambda run: run.number)
    last = shown[-MOST_RUNS:]
    return (*shown[:-MOST_RUNS], *(run.replace(prompt=prompt(run.number, run.prompt_digest)) for run in last))


def _target(line: Moved | Unmoved | Crashed) -> str:
    return _as_text(line.to) if isinstance(line, Moved) else ""


def _planned(entry: RunPlanned) -> Run:
    return Run(
        number=entry.run,
        state=_as_text(entry.state),
        role=_as_text(entry.role),
        access=_as_text(entry.access),
        agent=_as_text(entry.agent),
        model=_as_text(entry.model),
        started=_as_text(entry.time),
        prompt_digest=_as_text(entry.prompt),
        sandbox=_held(entry),
    )


def _held(entry: RunPlanned) -> str:
    network = _as_text(entry.network)
    return _as_text(entry.sandbox) + (f", network {network}" if network != ALLOWED else "")


def _request(entry: Claimed, targets: Mapping[str, str]) -> Request:
    want = _as_text(entry.want)
    why = "; ".join(_as_text(gap.get("why", "")) for gap in entry.missing or ()) or _as_text(entry.problem or "")
    return Request(targets.get(want, want), bool(entry.accepted), why)


def _ended(run: Run, entry: RunEnded, targets: Mapping[str, str]) -> Run:
    usage, claim = entry.usage, _as_text(entry.claim)
    requests = run.requests
    if claim and entry.claim_by == "file":
        requests = (*requests, Request(targets.get(claim, claim), is_accepted=True, why="written into the task's file"))
    return run.replace(
        ended=_as_text(entry.time),
        exit=_as_text(entry.exit),
        seconds=float(usage.get("seconds", 0)),
        turns=int(usage.get("turns", 0)),
        tokens=int(usage.get("input_tokens", 0)) + int(usage.get("output_tokens", 0)),
        cost_usd=float(usage.get("cost_usd", 0)),
        denials=entry.denials,
        requests=requests,
        put_back=tuple(map(_as_text, entry.restored)),
        tainted=tuple(map(_as_text, entry.tainted)),
        errors=tuple(map(_as_text, (*entry.errors, *([entry.problem] if entry.problem else [])))),
    )


def _became(entry: Moved | Unmoved | Crashed) -> str:
    if isinstance(entry, Moved):
        return f"the task moved from {_as_text(entry.from_)} to {_as_text(entry.to)}"
    why = _as_text(entry.why or "")
    return f"the task stayed: {why}" if why else "the task stayed where it was"


def run_event(plain: Event, line: Line, targets: Mapping[str, str], claim: str) -> Event | None:
    """The event of a line about runs; None for any other line.

    `claim` is the unanswered request of the run that ended last: a task that stays refuses it.
    """
    text, event = "", plain.replace(run=_run_named(line))
    why: tuple[str, ...] = ()
    match line:
        case Claimed():
            return _claimed(event, line, targets)
        case RunEnded():
            return _ended_event(event, line)
        case Unmoved():
            why = (_as_text(line.why),) if line.why else ()
            if claim:
                source, target = _as_text(snapshot_after(line).state), targets.get(claim, claim)
                return event.replace(kind="refused", source=source, target=target, lines=why)
            text = "left the task where it was"
        case RunPlanned():
            text = f"was started: {_as_text(line.agent)}{_in_brackets(line.model)}"
            text += f" as {_as_text(line.role)} in {_as_text(line.state)}"
        case RunVoid():
            text = f"never began: {_as_text(line.why)}"
        case Crashed():
            text = f"The run {EXITS.get(line.exit, _as_text(line.exit))}; the task stayed where it was"
        case Stopped():
            text = f"The task was stopped: {_as_text(line.why)}"
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
    return f" ({_as_text(model)})" if model else ""


def _ended_event(event: Event, entry: RunEnded) -> Event:
    lines = [f"It changed what it may only read: {', '.join(map(_as_text, entry.tainted))}"] if entry.tainted else []
    lines += map(_as_text, entry.errors)
    seconds = entry.usage.get("seconds", 0)
    head = f"{EXITS.get(entry.exit, _as_text(entry.exit))} after {duration(seconds)}"
    return event.replace(head=head, undone=tuple(map(_as_text, entry.restored)), lines=tuple(lines))


def _claimed(event: Event, entry: Claimed, targets: Mapping[str, str]) -> Event:
    request = _request(entry, targets)
    if request.is_accepted:
        return event.replace(head=f"asked for {request.target}: accepted, to be decided when the run has ended")
    missing = tuple(
        Missing(_as_text(gap.get("gate", "")), _as_text(gap.get("why", "")), _as_text(gap.get("fix", "")))
        for gap in entry.missing or ()
    )
    lines = () if missing else (request.why,)
    source = _as_text(entry.from_)
    return event.replace(kind="refused", source=source, target=request.target, missing=missing, lines=lines)


def _as_text(value: object) -> str:
    return value if isinstance(value, str) else str(value)
