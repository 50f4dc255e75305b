"""Turns journal lines into the events of an evidence page; a line of an unknown kind is shown as it is."""

from __future__ import annotations

from detent.page.runs import run_event
from detent.page.text import count
from detent.page.values import Event, Gate, Missing
from detent.store.journal.events import (
    Acted,
    Amended,
    Answered,
    Approved,
    Configured,
    Crashed,
    Deploy,
    Landed,
    Moved,
    Proved,
    Refused,
    Restored,
    RestoredTree,
    Resumed,
    SetUp,
)
from detent.store.journal.fold import snapshot_after
from detent.store.journal.head import Adopted, Created
from detent.store.journal.line import to_line
from detent.store.journal.run_events import RunEnded, Unmoved

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from detent.page.values import Ran
    from detent.store.journal.line import Line

_FRAME = ("seq", "time", "kind", "prev", "after", "by", "name", "reason")  # shown elsewhere, or meant for the engine
_LONGEST_VALUE = 10_000


def events_of(
    lines: Sequence[Line], targets: Mapping[str, str], command_gates: frozenset[str], ran: Sequence[Ran]
) -> tuple[Event, ...]:
    """`targets`: where an edge leads, for requests that name the edge; receipts answer `command_gates`."""
    events: list[Event] = []
    moves = 0
    claim = ""  # of the run that ended last, until it is answered
    run = 0  # the one that ended last
    for line in lines:
        moves += isinstance(line, Moved)
        plain = Event(
            seq=line.seq,
            time=_shortened(line.time),
            kind=_shortened(line.kind),
            who=_who(line),
            words=_words(line),
            number=moves,
        )
        if isinstance(line, Moved):
            if plain.words == f"run {run}":  # by which run is shown as a link
                plain = plain.replace(words="", run=run)
            events.append(_moved(plain, line, command_gates, ran))
        elif isinstance(line, Refused):
            events.append(_refused(plain, line, targets))
        else:
            events.append(run_event(plain, line, targets, claim) or _other(plain, line))
        if isinstance(line, (Moved, Refused, Unmoved, Crashed)):
            claim = ""
        elif isinstance(line, RunEnded):
            claim, run = _shortened(line.claim), line.run
    return tuple(events)


def _words(line: Line) -> str:
    answer = line.answer if isinstance(line, (Moved, Answered, Resumed)) else ""
    return _shortened(answer or line.reason or "")


def _who(line: Line) -> str:
    by, name = _shortened(line.by), _shortened(line.name)
    return f"{name} ({by})" if name and by else name or by


def _moved(plain: Event, entry: Moved, command_gates: frozenset[str], ran: Sequence[Ran]) -> Event:
    tree = entry.tree
    keys = tuple(command.key for command in ran if tree and command.tree == tree)
    waived = entry.waived
    gates = [
        Gate(
            name,
            bool(fact.get("ok")),
            _shortened(fact.get("why", "")),
            _shortened(fact.get("proof", "")),
            bool(fact.get("by_hand")),
            name in waived,
            _shortened(fact.get("note", "")),
            keys if name in command_gates else (),
        )
        for name, fact in entry.facts.items()
    ]
    gates += [Gate(name, is_ok=False, is_waived=True) for name in waived if name not in entry.facts]
    lines = [f"Gates waived by a person: {entry.override}"] if entry.override else []
    hashes = (("on tree", _shortened(tree)),) if tree else ()
    moved = plain.replace(source=_shortened(entry.from_), target=_shortened(entry.to), gates=tuple(gates))
    return moved.replace(lines=tuple(lines), hashes=hashes)


def _refused(plain: Event, entry: Refused, targets: Mapping[str, str]) -> Event:
    want = _shortened(entry.want)
    missing = tuple(
        Missing(_shortened(gap.get("gate", "")), _shortened(gap.get("why", "")), _shortened(gap.get("fix", "")))
        for gap in entry.missing
    )
    problem = () if missing else (_shortened(entry.problem),)
    return plain.replace(source=_shortened(entry.from_), target=targets.get(want, want), missing=missing, lines=problem)


def _other(plain: Event, line: Line) -> Event:
    lines: tuple[str, ...] = ()
    hashes: tuple[tuple[str, str], ...] = ()
    head = _person_head(line)
    match line:
        case Created():
            head = f"The task was made, in state {snapshot_after(line).state}"
        case Adopted():
            head = f"The task was taken over from another tool, in state {snapshot_after(line).state}"
        case Restored():
            head, lines = "An edit was undone", (_shortened(line.why),)
        case SetUp():
            head, lines = f"The workspace was set up: {_shortened(line.how)}", (_shortened(line.why),)
        case Amended():
            lines = ("Earlier proof is old from here.",)
        case Proved():
            head, hashes = (
                f"The engine ran {count(len(line.receipts), 'command')}",
                (("on tree", _shortened(line.tree)),),
            )
        case Landed():
            head = f"The work was landed on {_shortened(line.branch)} ({_shortened(line.how)})"
            hashes = (("commit", _shortened(line.commit)),)
        case Acted():
            head = _shortened(line.step).partition(":")[2].replace("_", " ")
            hashes = tuple((_shortened(name), _shortened(value)) for name, value in line.result.items() if value)
        case _:
            pass
    if not head:
        said = to_line(line).items()
        shown = [
            f"{name}: {_shortened(value)}" for name, value in said if name not in _FRAME and value not in ("", None)
        ]
        head, lines = _shortened(line.kind).replace("_", " "), tuple(shown)
    return plain.replace(head=head, lines=lines, hashes=hashes)


def _person_head(line: Line) -> str:
    """What a person did; empty for any other line."""
    head = ""
    match line:
        case RestoredTree():
            head = f"The files were brought back to line {_shortened(line.checkpoint)}"
        case Answered():
            head = "A person said"
        case Resumed():
            head = "A person let the task go on"
        case Approved():
            head = f"A person approved protected files: {', '.join(map(_shortened, line.files))}"
        case Deploy():
            head = f"Deploy commands {_shortened(line.stage).replace('_', ' ')}{_deployed(line)}"
        case Configured():
            head = "A person changed what holds for the task"
        case Amended():
            head = f"A person changed what was locked: {', '.join(map(_shortened, line.fields))}"
        case _:
            pass
    return head


def _deployed(entry: Deploy) -> str:
    """Why it failed; of an approval, whether it was given ahead and which files it accepts as not verified."""
    unseen = ", unseen: before there were files to look at" if entry.unseen else ""
    differs = entry.differs or ()
    accepted = f"; accepted although not verified: {', '.join(map(_shortened, differs))}" if differs else ""
    return f"{unseen}{accepted}" + (f": {_shortened(entry.why)}" if entry.why else "")


def _shortened(value: object) -> str:
    text = value if isinstance(value, str) else str(value)
    return text if len(text) <= _LONGEST_VALUE else text[:_LONGEST_VALUE] + "…"
