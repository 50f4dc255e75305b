"""Every kind of journal line, one type each. First lines are in `head.py`, runs in `run_events.py`.

The comment of a field is its sentence in docs/reference/journal.md, the first line of a docstring names the writer of
the line. A kind that is not in `KINDS` was written by a newer Detent: nothing of it is read.
"""

from __future__ import annotations

from detent.store.journal.head import Adopted, Created
from detent.store.journal.line import JOURNAL, LOG, Line
from detent.store.journal.run_events import (
    Claimed,
    Driven,
    Retitled,
    RunEnded,
    RunPlanned,
    RunVoid,
    Stopped,
    Unmoved,
)
from detent.view import view_of, with_fields

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, TypedDict

    from detent.store.journal.memory import Intent
    from detent.store.journal.run_events import Lacking, Print

    class FactSaid(TypedDict, total=False):
        """What a gate was found to be; what says nothing is left out."""

        ok: bool
        why: str
        proof: str
        by_hand: bool
        note: str
        unknown: bool
        parts: Sequence[Sequence[Any]]  # name, whether it is open, and why


class Moved(Line):
    """Written by the step: a move was made. It promises the effects it names."""

    kind = "moved"
    is_state = True

    edge: str  # name of the move
    way: int  # which of its ways was open, from 0
    from_: str  # state the task was in
    to: str  # state the task is in now
    by: str  # agent, engine, person or crash
    name: str  # role of the agent, or name of the person
    reason: str  # words given for the move
    verb: str  # command that stands for the move, such as approve
    exit: str  # class of a run's end, where that made the move
    answer: str  # words of a person that answer a question
    facts: Mapping[str, FactSaid]  # each gate that was asked, and its fact
    waived: Sequence[str]  # gates that a person waived
    override: str  # reason for waiving them
    tree: str  # git tree that was scanned; empty where no gate needs it
    signed: Mapping[str, Any]  # of a sign-off: the files it is about, and what was accepted although it is not proven
    effects: Sequence[str]  # what is promised and done after it
    machine: str  # SHA-256 of the machine file
    sandbox: str  # level that the commands it rests on were sandboxed at
    asked: str = ""  # question of the document that was answered
    fields: Mapping[str, str] = {}  # fields of the document that were written
    prepared: Mapping[str, Mapping[str, str]] | None = None  # what each prepared step came to
    led: str = ""  # why the engine took this way
    files: Mapping[str, str] | None = None  # at an end: the files of the task folder with their hashes


class Intended(Line):
    """Written by the step before it prepares a move: the whole move as it was decided."""

    kind = "intended"
    reach = LOG
    is_quiet = True

    edge: str  # name of the move
    prepare: Mapping[str, Mapping[str, str]]  # each step to be done, and what it starts from
    given: Mapping[str, str]  # what came with the command
    move: Mapping[str, Any]  # fields of the line that the move will be


class Unprepared(Line):
    """Written when a step of an intended move failed or was given up: the task stays where it is."""

    kind = "unprepared"
    reach = LOG

    step: str  # line of the intent and the step
    edge: str  # name of the move
    why: str  # why it was given up


class Refused(Line):
    """Written when a request of an agent is refused by the step."""

    kind = "refused"

    want: str  # what was asked for
    by: str  # always agent
    name: str  # role of the agent
    from_: str  # state the task is in
    problem: str  # why it was refused
    missing: Sequence[Lacking]  # each gate that kept it from being made, with why and what to do
    no: str = ""  # state that an ended run asked for: the refusal is its no


class Restored(Line):
    """Written when a file was restored to what the journal says of it."""

    kind = "restored"

    file: str  # name of the file
    why: str  # what was wrong with it
    kept: str  # SHA-256 or place of what stood there before; empty where nothing is kept


class FiledChange(Line):
    """Written when the change of the tree was filed into the task folder, where the state wants that."""

    kind = "filed"
    reach = LOG
    is_quiet = True

    tree: str  # git tree it was made from
    files: Mapping[str, str]  # files that were filed with their hashes
    refused: Sequence[str]  # what was not filed, and why


class SetUp(Line):
    """Written when the task's tree was set up, where something of that is new."""

    kind = "set_up"
    reach = LOG
    is_quiet = True

    how: str  # shared, copied or per checkout
    why: str  # why it is not shared
    key: str  # what it was made from
    left_out: Sequence[str]  # paths that set-up made and that count as no work
    changed: Sequence[str]  # tracked files that it changed; they were restored
    made_bytes: int = 0  # size of a copy that was made for this tree alone


class Proved(Line):
    """Written when commands were run on a tree: the receipts that count from now on."""

    kind = "proved"
    reach = LOG
    is_quiet = True
    since_2 = ("logs",)

    tree: str  # git tree they ran on
    receipts: Mapping[str, str]  # hash of each receipt by its key
    logs: Mapping[str, Print] | None = None  # size and hash of each log
    limits: Mapping[str, Any]  # memory and processes they might use
    sandbox: str  # level they were sandboxed at
    network: str  # whether they had the network
    set_up: Mapping[str, Any] = {}  # what the checkout was set up with
    sealed: str = ""  # the result of the sealed checks, where they ran: passed, failed or unclear


class Approved(Line):
    """Written by `approve`: a person approves changes of protected files, or accepts what a proof found."""

    kind = "approved"
    reach = LOG
    is_quiet = True
    is_of_person = True

    by: str  # always person
    name: str  # the person that approves
    reason: str  # their words
    tree: str  # git tree they were shown
    files: Sequence[str] | Mapping[str, str] = {}  # the protected files
    word: str = ""  # what the test commands prove, where that was accepted
    seen: str = ""  # hash of the changed tests, or of the sealed results, that were shown with it
    sealed: str = ""  # the result of sealed checks that was accepted: failed or unclear


class Deploy(Line):
    """Written at each stage of a deployment: confirmed, begun, ended, rolling_back and rolled_back."""

    kind = "deploy"
    reach = LOG
    is_quiet = True
    since_2 = ("logs",)

    stage: str  # confirmed, begun, ended, rolling_back or rolled_back
    plan: str  # hash of the commands
    commands: Sequence[Sequence[str]]  # labels and commands
    by: str  # person where they confirm or take back, else engine
    name: str  # the person that confirmed it
    reason: str  # their words
    tree: str  # git tree it is about
    visit: str  # names this deployment
    receipts: Mapping[str, str]  # hash of each receipt by its key
    logs: Mapping[str, Print] | None = None  # size and hash of each log
    ok: bool  # whether all commands succeeded
    why: str  # why not
    unseen: bool | None = None  # whether it was confirmed before there was anything to see
    edges: Sequence[str] | None = None  # moves of which the first that verifies a tree gives it to such a word
    differs: Sequence[str] | None = None  # files that differ from what was verified and were accepted
    left: str = ""  # git tree after the commands


class Landed(Line):
    """Written by `land`: the work was merged, or was found to be."""

    kind = "landed"
    reach = LOG
    is_of_person = True

    by: str  # always person
    name: str  # the person that landed it
    how: str  # merge, squash, pr or found
    commit: str  # commit that has the work
    branch: str  # branch it landed on
    tree: str  # git tree of that commit
    judged_by: str | None = None  # commit whose protected files and gates judged it
    receipts: Mapping[str, str] | None = None  # hash of each receipt by its key
    accepted: Sequence[str] | None = None  # what the person said yes to, although it is waived or not proven


class Collected(Line):
    """Written by `gc`: what a finished task left is removed."""

    kind = "collected"
    reach = LOG
    is_of_person = True
    since_2 = ("snapshot",)

    by: str  # always person
    name: str  # the person that removed it
    branches: Sequence[str]  # branches and refs that go
    kept: Sequence[str]  # commits of the private git that keep what was in no checkpoint
    snapshot: str | None = None  # ref that keeps work which has not landed


class RestoredTree(Line):
    """Written by `restore`: the tree is as it was at a checkpoint."""

    kind = "restored_tree"
    reach = LOG
    is_of_person = True

    by: str  # always person
    name: str  # the person that restored it
    checkpoint: int  # line of the move whose checkpoint it is
    tree: str  # git tree of the checkpoint
    kept: str  # commit of the private git that keeps what was there before
    prepared: Mapping[str, Mapping[str, str]] = {}  # branch that is there again


class Acted(Line):
    """Written when an effect that a move promised was done."""

    kind = "acted"

    step: str  # line of the move and the effect
    result: Mapping[str, str]  # what came of it, such as the commit
    fields: Mapping[str, str]  # fields of the document that were written


class Crashed(Line):
    """Written when a run has crashed and its state counts that."""

    kind = "crashed"
    is_state = True

    by: str  # always crash
    exit: str  # class of the run's end
    why: str | None = None  # what kept it from a move
    effects: Sequence[str] = ()  # what is promised and done after it, where the task stops or waits


class Answered(Line):
    """Written by `answer`, where no move has that verb: what a person says."""

    kind = "answered"
    is_of_person = True

    by: str  # always person
    name: str  # the person that says it
    answer: str  # their words
    asked: str = ""  # question of the document that was answered
    fields: Mapping[str, str] = {}  # fields of the document that were written


class Resumed(Line):
    """Written by `resume`: a stopped task may go on."""

    kind = "resumed"
    is_state = True
    is_of_person = True

    by: str  # always person
    name: str  # the person that resumed it
    reason: str  # their words
    answer: str  # the reason once more: the next prompt has it
    asked: str = ""  # question of the document that was answered
    fields: Mapping[str, str] = {}  # fields of the document that were written


class Amended(Line):
    """Written by `amend` and by a change of the title: locked texts as they are from now on."""

    kind = "amended"
    is_state = True
    is_of_person = True

    by: str  # always person
    name: str  # the person that changed them
    reason: str  # their words
    fields: Sequence[str]  # labels that were changed
    was: Mapping[str, str]  # hashes of the texts before, by label
    title: str = ""  # the new title


class Configured(Line):
    """Written by `configure`: settings of this task from now on."""

    kind = "configured"
    reach = JOURNAL
    is_quiet = True
    is_of_person = True

    by: str  # always person
    name: str  # the person that set them
    reason: str  # their words
    mode: str  # mode from now on; empty for no change
    limits: Mapping[str, int]  # limits that are set
    budget: Mapping[str, Mapping[str, float]]  # bounds that are set
    agents: Mapping[str, Any]  # agents that are set, by role
    commands: Sequence[Sequence[str]]  # names and commands that are added
    fields: Mapping[str, str]  # fields of the document that were written
    locked: Mapping[str, str]  # texts that are locked as they are now
    pack: str = ""  # hash of the code of the machine's pack that a person took instead
    change: Mapping[str, str] = {}  # kind of the change that the person named; empty for no change
    entry: Mapping[str, str] | None = None  # with that: the evidence that is old from now on


_TYPES = (
    *(Created, Adopted, Moved, Refused, Restored, Proved, Landed, Collected, RestoredTree, Acted, Crashed, Answered),
    *(Resumed, Amended, RunPlanned, Claimed, RunVoid, RunEnded, Unmoved, Driven, Stopped, Retitled, Approved, Intended),
    *(Unprepared, Configured, FiledChange, Deploy, SetUp),
)
KINDS: Mapping[str, type[Line]] = {line.kind: line for line in _TYPES}


def at_tree(move: Moved, tree: str) -> Moved:
    """The move as it is made from another tree than the scanned one."""
    return with_fields(move, tree=tree)


def completed(
    move: Moved,
    *,
    prepared: Mapping[str, Mapping[str, str]] | None,
    led: str,
    fields: Mapping[str, str],
    files: Mapping[str, str] | None,
) -> Moved:
    """The line of a decided move with what is known only when it is written."""
    return with_fields(move, prepared=prepared, led=led, fields=fields, files=files)


def with_checks(
    line: Configured, commands: Sequence[Sequence[str]], fields: Mapping[str, str], locked: Mapping[str, str]
) -> Configured:
    """The line with further commands, and the field and lock they stand in."""
    return with_fields(line, commands=commands, fields=fields, locked=locked)


def move_of(intent: Intent | Intended) -> Moved:
    """The move that was intended, from what is remembered of the intent."""
    return view_of(Moved, {**intent.move})


UNDECIDED = view_of(Moved, {})  # a move of which nothing is known yet


def tree_seen(line: Line) -> str:
    """The git tree that a line is about; empty where it is about none."""
    match line:
        case Moved() | FiledChange() | Proved() | Approved() | Deploy() | Landed() | RestoredTree():
            return line.tree
        case RunPlanned() | RunEnded():
            return line.tree
        case _:
            return ""


def trees_of(line: Line) -> tuple[str, ...]:
    """Every git tree that a line names."""
    more = line.before if isinstance(line, RunEnded) else line.left if isinstance(line, Deploy) else ""
    return tuple(tree for tree in (tree_seen(line), more) if tree)


def from_line(said: dict[str, Any]) -> Line:
    """The parsed line as what its kind is; nothing is copied. A kind that is not known is a KeyError."""
    return view_of(KINDS[said["kind"]], said)
