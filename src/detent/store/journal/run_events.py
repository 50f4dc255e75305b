"""The journal lines about agent runs, one type each; comments of fields stand in docs/reference/journal.md."""

from __future__ import annotations

from detent.store.journal.line import JOURNAL, Line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import TypedDict

    class Lacking(TypedDict):
        """A gate that kept a request from being granted."""

        gate: str
        why: str
        fix: str

    class Print(TypedDict):
        """What a line vouches for of a file."""

        size: int
        sha256: str

    class Filed(TypedDict, total=False):
        """What was filed of a run; empty where its state wants nothing filed."""

        files: Mapping[str, str]
        refused: Sequence[str]


class RunPlanned(Line):
    """Written by `run`, `start` and `talk` before an agent is started: the intent. The run counts from here on."""

    kind = "run_planned"
    reach = JOURNAL
    is_quiet = True

    run: int  # number of the run, from 1
    role: str  # role of the agent
    state: str  # state it works in
    access: str  # read or write: what it may do with the tree
    sandbox: str  # level it is sandboxed at: bubblewrap, landlock or none
    network: str  # whether it has the network: allowed, denied or open where that can't be enforced
    agent: str  # name of the agent
    model: str  # model that was asked for; empty for the agent's default
    talk: bool  # whether a person talks to it in a terminal
    events: str  # format of its output
    session: str  # session of an earlier run that it goes on with; empty for a new one
    tree: str  # git tree it starts from
    cwd: str  # folder it is started in
    prompt: str  # SHA-256 of its prompt
    held: Mapping[str, str] | None = None  # texts of the document that are for another role, with their hashes
    hooks: Mapping[str, str] | None = None  # git hooks of the checkout, with their hashes; none: not read
    seen: Mapping[str, str]  # what progress is measured by, as the run finds it


class Claimed(Line):
    """Written when a living run asks for a move with `detent move`: the answer it was given."""

    kind = "claimed"
    reach = JOURNAL
    is_quiet = True

    run: int  # number of the run
    want: str  # the move, state or verb that was asked for; once accepted the move
    by: str  # always agent
    name: str  # role of the agent
    reason: str  # the agent's own words
    from_: str  # state the task is in
    accepted: bool  # whether it may be made, as far as is known before the run has ended
    to: str | None = None  # state it leads to
    problem: str | None = None  # why it was refused
    missing: Sequence[Lacking] | None = None  # each gate that kept it from being made, with why and what to do


class Retitled(Line):
    """Written when an agent gives its task another title, where the state leaves the title open."""

    kind = "retitled"
    reach = JOURNAL
    is_quiet = True

    run: int  # number of the run
    by: str  # always agent
    name: str  # role of the agent
    title: str  # the new title


class RunVoid(Line):
    """Written when a planned run turns out never to have begun."""

    kind = "run_void"
    reach = JOURNAL
    is_quiet = True

    run: int  # number of the run
    why: str  # why it never began


class RunEnded(Line):
    """Written when no process of a run is left: how it ended, and what it left."""

    kind = "run_ended"
    is_state = True
    since_2 = ("files",)

    run: int  # number of the run
    role: str  # role of the agent
    state: str  # state it worked in
    access: str  # read or write
    agent: str  # name of the agent
    model: str  # model that was asked for
    seen: Mapping[str, str]  # what progress is measured by, as the run found it
    exit: str  # class of its end, such as finished, failed, timeout or quota
    how: str  # what ended it, such as exited, stopped, claimed or lost
    code: int | None  # exit code of the process; none where a signal ended it, or nothing is known
    signal: int | None  # signal that ended the process
    survivors: int  # processes that it left and that were ended
    before: str  # git tree it started from
    tree: str  # git tree it left; empty where that can't be taken
    problem: str  # why the tree can't be taken
    tainted: Sequence[str]  # what it changed although it may not
    hooks: Sequence[str] | None = None  # git hooks that it changed; these are among the tainted
    put_back: bool  # whether what it may not change is restored
    by_person: bool  # whether a person ended it
    claim: str  # what it asked for last; empty for nothing
    claim_by: str  # by what it asked: command, file, or empty
    said: str  # SHA-256 of its last words, which are kept under objects/
    usage: Mapping[str, float]  # what it used: runs, seconds, turns, tokens, cost
    session: str  # name of its session, with which a later run may go on
    denials: int  # how often it was denied a tool
    errors: Sequence[str]  # the last errors its output names
    wake: str  # when an agent that is out of quota may go on
    steered: Sequence[str] | None = None  # files that steer the agent later and that it changed
    restored: Sequence[str]  # what of the document was restored, and what was not filed, in words
    filed: Filed  # files that were filed of it with their hashes, and what was refused
    left: Sequence[str] = ()  # files that a writing role changed in a throw-away checkout; they do not reach the work
    taken: Mapping[str, str] | Sequence[str] | None = None  # texts for another role that it changed; they were restored
    kept: str  # SHA-256 of the document as it left it, where that differs
    evidence: Mapping[str, str]  # evidence it left, by key, with hashes
    files: Mapping[str, Print] | None = None  # size and hash of its output, errors and exit.json
    no: Mapping[str, str] | None = None  # what it said against going on, by gate; none: an older line


class Unmoved(Line):
    """Written when a run has ended and no move follows from it."""

    kind = "unmoved"
    is_state = True

    run: int  # number of the run
    exit: str  # class of its end
    progress: bool  # whether it changed anything that counts as progress
    why: str  # what keeps the task where it is
    closed: str | None = None  # the same as it is compared with later runs: gates with reasons
    effects: Sequence[str] = ()  # what is promised and done after it, where the task stops or waits


class Stopped(Line):
    """Written by the engine when a limit or budget is used up and no further run is started."""

    kind = "stopped"
    is_state = True

    by: str  # always engine
    why: str  # which limit
    effects: Sequence[str] = ()  # what is promised and done after it, where the task stops or waits


class Driven(Line):
    """Written by `start` and `stop`: whether the task is to be driven."""

    kind = "driven"
    reach = JOURNAL
    is_quiet = True
    is_of_person = True

    on: bool  # whether it is to be driven from now on
    by: str  # always person
    name: str  # the person that said so
    reason: str  # their words


ABOUT_RUNS = (RunPlanned, Claimed, Retitled, RunVoid, RunEnded, Unmoved, Stopped, Driven)
