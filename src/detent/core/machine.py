"""What a machine is: states, edges with their ways, gates, limits, registers and locks, as immutable values.

Only shapes live here. `parse.py` makes them from a document, `decide.py` reads them. Nothing knows where a file lies.
"""

from __future__ import annotations

from detent.core.record import Record
from detent.store_spec import NO_STORE, StoreSpec

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Any

ACTORS = ("agent", "engine", "person", "crash")
EXIT_CLASSES = ("finished", "failed", "timeout", "killed", "lost", "quota")
CRASH_CLASSES = ("failed", "timeout", "killed", "lost")
ENTRY = "entry"  # stands where an exit class would: no agent run of this visit has ended yet
TAINTED = "tainted"  # likewise: the run changed what it may not, and no move of the engine follows from it
ANY_EXIT = tuple(name for name in EXIT_CLASSES if name != "quota")

STOPPED = "stopped"  # the register that holds why a task does not go on by itself
RUNS, CRASHES = "runs", "crashes"  # the two limits every machine has, whatever its document says
IDLE = "idle"  # counts agent runs in a row that changed nothing

# Keys of a no beside the names of gates: the state a run asked for and was refused; what was said before the last move.
ASKED, SAID = "asked", "said"
UNASKED = "unasked"  # a way may be taken after a no, unless the run asked for another state


class Way(Record):
    """One set of conditions under which an edge may be taken, and what taking it changes."""

    number: int
    by: tuple[str, ...]
    needs: tuple[str, ...] = ()
    modes: tuple[str, ...] = ()
    under: str = ""
    spent: str = ""
    when: Mapping[str, tuple[str, ...]] = {}
    after: tuple[str, ...] = ("finished",)
    counts: tuple[str, ...] = ()
    resets: tuple[str, ...] = ()
    sets: Mapping[str, str] = {}
    prepare: tuple[str, ...] = ()
    effects: tuple[str, ...] = ()
    after_no: str = ""  # yes | unasked: the engine may take it although the last run said no
    given: bool = False  # on entry it is for what a person gave: before any agent run, and on the first visit only


class Edge(Record):
    """One row of a machine's transition relation; a `reopen` edge lies outside it."""

    name: str
    label: str
    source: str
    target: str
    ways: tuple[Way, ...]
    verbs: tuple[str, ...] = ()
    says: tuple[str, ...] = ()  # plain words that mean it; `{text}` at the end stands for whatever a person adds
    key: str = ""
    confirm: str = ""
    sign_off: bool = False
    never: str = ""
    option: str = ""
    reopen: bool = False
    instead: Mapping[str, str] = {}

    def by(self) -> tuple[str, ...]:
        """The actors that have a way to take this edge, in their fixed order."""
        return tuple(actor for actor in ACTORS if any(actor in way.by for way in self.ways))


class State(Record):
    name: str
    driver: str  # agent | engine | person | "" for an end
    role: str = ""
    access: str = ""
    group: str = ""
    cross_cutting: bool = False
    title: str = ""
    may: tuple[str, ...] = ()
    must_not: tuple[str, ...] = ()
    prompt: str = ""
    prompt_counted: Mapping[str, str] = {}  # the words instead, once something was counted towards this limit
    respawn: str = "ask"
    counts_run: tuple[str, ...] = ()
    counts_crash: tuple[str, ...] = (CRASHES,)  # nothing: a run that dies here is no crash
    must_open: bool = False  # a run that ends without opening a move has crashed, however it ended
    is_end: bool = False
    is_rest: bool = False  # no end, but nothing is left to do until a person wants more
    views: Mapping[str, str] = {}  # what a person may look at here, by key
    recommends: Mapping[str, str] = {}  # the `verb` a person is advised to, in this `mode`, while this `gate` is open
    words: tuple[str, ...] = ()  # by which a person goes here, or has it worked on once more
    judged_as: str = ""  # the state whose role judges what this one's own run has changed
    lands: bool = False  # the work of a task that stands here may be taken over into the user's branch
    edges: tuple[Edge, ...] = ()
    files: Mapping[str, str] = {}  # what the engine files into the task folder when a run has ended: place -> source
    asks: tuple[str, ...] = ()  # fields of the native file, and `## sections`, that hold its question to a person
    no: tuple[str, ...] = ()  # gates that, open when a run ends, mean that the run said no

    def can_crash(self) -> bool:
        """Whether a run that dies here counts towards anything or leads anywhere."""
        return bool(self.role) and bool(self.counts_crash or any("crash" in edge.by() for edge in self.edges))

    def is_crash(self, exit_class: str) -> bool:
        """Whether a run that opened no move and ended so has crashed."""
        return exit_class in (ANY_EXIT if self.must_open else CRASH_CLASSES)


class Gate(Record):
    """A named question; `check` names the function that answers it from observations, `params` its arguments."""

    name: str
    check: str
    params: Mapping[str, Any]
    since: str = "entry"
    fix: str = ""


class Limit(Record):
    name: str
    most: int
    cap: int  # the counter saturates here, so that every machine has finitely many states
    per_group: bool = False
    resets_always: bool = False
    field: str = ""
    first: int = 0  # the number the field shows before anything was counted


class Register(Record):
    """A remembered value; one with a `field` is projected into the native file and owned by the engine."""

    name: str
    start: str = ""
    values: tuple[str, ...] = ()
    field: str = ""


class Lock(Record):
    """What an agent may no longer change once a state of `after` was left, except in `open_in`; or only a role may."""

    name: str
    after: tuple[str, ...]
    open_in: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()
    sections: tuple[tuple[str, str], ...] = ()  # (file, heading)
    files: tuple[str, ...] = ()  # of the task folder; one that ends with "/" is a folder with all in it
    role: tuple[str, ...] = ()  # whose runs alone may change it


class Forbidden(Record):
    """A pair the document rules out by name, so that its refusal can say why."""

    source: str
    target: str
    why: str


class Property(Record):
    """`then` may be taken only if a move of `first` was taken since any state of `since` was last entered."""

    name: str
    then: str
    first: tuple[str, ...]
    since: tuple[str, ...]
    tree: bool = False  # and all that `first` asked of the tree holds of the tree that `then` sees


class Machine(Record):
    name: str
    title: str
    initial: str
    states: Mapping[str, State]
    gates: Mapping[str, Gate]
    limits: Mapping[str, Limit]
    registers: Mapping[str, Register]
    locks: tuple[Lock, ...] = ()
    forbidden: tuple[Forbidden, ...] = ()
    properties: tuple[Property, ...] = ()
    exceptions: Mapping[str, Mapping[str, str]] = {}  # what the machine means though the checker refuses it, and why
    switched_off: tuple[Edge, ...] = ()
    modes: tuple[str, ...] = ()
    may_override: bool = False
    store: StoreSpec = NO_STORE
    fields: Mapping[str, tuple[str, ...]] = {}  # every known native field, with its allowed values if it has some
    answers: Mapping[str, Any] = {}  # where a person's words go; `clears`: fields that hold the question they answer
    ask: str = ""  # the command line by which an agent asks for a state, with {to} in it
    shims: Mapping[str, str] = {}  # programs of a run by name, each a line of this tool
    progress: Mapping[str, Any] = {}

    def edges(self) -> Iterator[Edge]:
        """The relation: every edge of every state, without re-openings."""
        return (edge for state in self.states.values() for edge in state.edges if not edge.reopen)

    def parts(self, names: Iterable[str]) -> tuple[Gate, ...]:
        """These gates and every gate they are made of, each once."""
        todo = list(dict.fromkeys(names))
        for name in todo:  # grows while it is read
            if made_of := self.gates[name].params.get("of"):
                todo += [part for part in made_of if part not in todo]
        return tuple([self.gates[name] for name in todo])

    def ends(self) -> tuple[str, ...]:
        return tuple(state.name for state in self.states.values() if state.is_end)


class Vocabulary(Record):
    """The closed lists a machine file may draw on; the rooms above fill them in."""

    checks: Mapping[str, tuple[Mapping[str, str], Mapping[str, str]]]  # required and optional parameters with kinds
    effects: tuple[str, ...] = ()
    prepares: tuple[str, ...] = ()
    codecs: tuple[str, ...] = ()
    shown: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()  # of journal lines
