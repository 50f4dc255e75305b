"""What goes into a decision and what comes out of it.

A refusal is a value, not an error: every face shows the same `Refuse`.
"""

from __future__ import annotations

from detent.core.machine import ENTRY, Edge, Way
from detent.core.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


class Snapshot(Record):
    """All that is remembered of a task; the journal can rebuild it line by line."""

    state: str
    mode: str = ""
    counters: Mapping[str, int] = {}
    registers: Mapping[str, str] = {}
    seq: int = 0
    exit: str = ENTRY  # exit class of the last agent run of this visit
    visits: Mapping[str, int] = {}  # how often each state was entered
    entry: Mapping[str, str] = {}  # evidence key -> hash, taken when the state was entered
    locked: Mapping[str, str] = {}  # lock item -> hash of the text it holds
    no: Mapping[str, str] = {}  # what the last run said against going on: by gate, in words; see ASKED and SAID


class Fact(Record):
    """The answer to one gate. Only `ok` counts for the decision; the rest says why."""

    gate: str
    ok: bool
    why: str = ""
    fix: str = ""
    proof: str = ""  # hash or receipt that shows it
    by_hand: bool = False  # the evidence changed while no agent run lived
    pending: bool = False  # a command has not been run on this tree: not proven, but provable
    note: str = ""  # worth telling although the gate is open
    parts: tuple[tuple[str, bool | None, str], ...] = ()  # made of several answers: label, result, reason
    is_known: bool = True  # False: there is no answer yet, or there can be none
    is_meant: bool = True  # False: the file clearly gives another answer, so another way was meant
    once: str = ""  # open only until this happens, which the work itself may bring about


class Signal(Record):
    """A request for a decision. `want` is an edge name or a target state; empty means whatever is open first."""

    who: str  # agent | engine | person | crash
    want: str = ""
    name: str = ""  # the person's name, or the agent's role
    reason: str = ""
    exit: str = ""  # exit class, for a crash
    override: str = ""
    verb: str = ""  # restricts the candidates to edges that carry this verb


class Missing(Record):
    """One thing that keeps an edge closed: which gate or guard, why, and how to open it."""

    gate: str
    why: str
    fix: str = ""
    pending: bool = False


class Advance(Record):
    edge: Edge
    way: Way
    after: Snapshot
    waived: tuple[str, ...] = ()


class Refuse(Record):
    problem: str
    missing: tuple[Missing, ...] = ()
    allowed: tuple[str, ...] = ()
    edge: Edge | None = None
    hint: str = ""


class Crash(Record):
    """An agent run died and no edge was taken; `after` has counted it."""

    after: Snapshot
    exit: str


class Wait(Record):
    reason: str
    missing: tuple[Missing, ...] = ()  # what the nearest way lacks; the step proves what is only unproven


if TYPE_CHECKING:
    Decision = Advance | Refuse | Crash | Wait
