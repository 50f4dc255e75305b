"""What the journal says of a task at one moment; `fold.py` says how each further line changes that."""

from __future__ import annotations

import time
from functools import lru_cache

from detent.core.record import Record
from detent.core.values import Snapshot
from detent.view import View, content_of, view_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from detent.store.journal.head import Head
    from detent.store.journal.run_events import Filed, Lacking

TALKED = "talked"  # why a run ended that a person talked to, whatever its program ended with: the person was there


class Run(View):
    """The planned run of which no end is known."""

    seq: int
    time: str
    run: int = 0
    role: str
    state: str
    access: str
    sandbox: str
    agent: str = ""
    model: str = ""
    events: str
    session: str = ""
    tree: str
    cwd: str
    talk: bool
    held: Mapping[str, str] = {}
    hooks: Mapping[str, str] | None = None
    seen: Mapping[str, str]


class Claim(View):
    """What the living run asked for and was promised."""

    run: int = 0
    want: str = ""


class Ended(View):
    """A run that is over, as long as its end has not been decided; see `RunEnded` for the fields."""

    seq: int
    time: str
    run: int = 0
    role: str = ""
    state: str
    access: str
    agent: str = ""
    model: str = ""
    seen: Mapping[str, str]
    exit: str = ""
    how: str = ""
    before: str
    tree: str
    problem: str = ""
    tainted: Sequence[str]
    hooks: Sequence[str] | None = None
    put_back: bool = False
    by_person: bool = False
    claim: str
    claim_by: str
    said: str = ""
    session: str = ""
    errors: Sequence[str] = ()
    wake: str
    steered: Sequence[str] | None = None
    restored: Sequence[str] = ()
    filed: Filed
    taken: Mapping[str, str] = {}
    kept: str
    evidence: Mapping[str, str] = {}
    no: Mapping[str, str] = {}


class Visit(Ended):
    """The last run since the state was entered."""

    count: int = 0  # how many there were
    why: str = ""  # what kept the task where it is
    word: bool = False  # whether a person resumed the task since


class Failed(View):
    """The last of the runs in a row that crashed or opened no move."""

    run: int
    state: str
    exit: str
    why: str = ""
    count: int = 0  # how many there were


class LastRun(View):
    """The last of all runs that ended."""

    run: int = 0
    agent: str = ""
    model: str = ""
    left: Sequence[str] = ()  # files that it changed in a throw-away checkout; they do not reach the work


class Unavailable(View):
    """An agent that failed in this visit, or is out of quota."""

    exit: str = ""
    wake: str = ""  # when it may go on


class Refusal(View):
    """The last refusal since the state was entered."""

    want: str
    by: str
    problem: str
    missing: Sequence[Lacking]
    time: str


class Answer(View):
    """The last thing a person said."""

    seq: int = 0
    time: str
    text: str = ""
    name: str
    asked: str = ""


class Intent(View):
    """A decided move whose steps are being prepared."""

    seq: int
    edge: str
    prepare: Mapping[str, Mapping[str, str]]
    given: Mapping[str, str]
    move: Mapping[str, Any] = {}


class Promised(View):
    """An effect that a move promised, without its acted line."""

    tree: str = ""
    to: str


class Written(View):
    """Fields that an effect led somewhere, with the line that says so."""

    seq: int = 0
    fields: Mapping[str, str] = {}


class SeenTree(View):
    """The tree that a move saw, the line that says so, and the gates that a person waived for it."""

    tree: str = ""
    seq: int = 0
    waived: Sequence[str] = ()
    name: str = ""  # of that person
    reason: str = ""


class Checkpoint(View):
    """What came of the last checkpoint."""

    commit: str = ""
    branch: str = ""
    clone: str = ""  # the commit to which the task's clone followed


class Filing(View):
    """What was filed since the state was entered."""

    tree: str = ""
    files: Mapping[str, str] = {}
    refused: Sequence[str] = ()


class Landing(View):
    """How the work was taken over."""

    how: str = ""
    commit: str = ""
    branch: str = ""


class Approval(View):
    """The protected files that a person approved last, and the tree they were in."""

    tree: str = ""
    files: Sequence[str] | Mapping[str, str] = ()
    name: str = ""
    seq: int = 0


class AcceptedProof(View):
    """What a person accepted of what the test commands prove: the word, on which tree, with which changed tests."""

    tree: str = ""
    word: str = ""
    seen: str = ""
    name: str = ""


class Signature(View):
    """A sign-off: what the person was shown, and what they accepted although it is not proven."""

    tree: str = ""
    name: str = ""
    seq: int = 0
    files: Mapping[str, str] = {}
    accepted: Any = None


class Answers(View):
    """What a gate that is made of several answers found last."""

    seq: int
    to: str
    parts: Sequence[Sequence[Any]]  # name, whether it is open, and why


class Report(View):
    """A report that judges a tree: its hash, the tree it is about, and the role that wrote it."""

    hash: str = ""
    tree: str = ""
    role: str = ""


class Drive(View):
    """The last person that started or stopped the driving of the task."""

    seq: int
    on: bool = False
    name: str
    reason: str


class SetUpFrom(View):
    """What the last set-up was made from, and the paths of the tree that are its own."""

    how: str
    why: str
    key: str = ""
    left_out: Sequence[str] = ()


class Word(View):
    """A person's word about deploying, or about a tree that differs from the one that was judged."""

    tree: str = ""
    name: str = ""
    reason: str = ""
    unseen: bool = False
    edges: Sequence[str] = ()
    seq: int = 0


class Stage(View):
    """Deploy commands that began or ended."""

    plan: str = ""
    tree: str = ""
    visit: str = ""
    time: str = ""
    ok: bool = True
    why: str = ""
    proof: str = ""


class Deployed(View):
    """What was deployed last."""

    plan: str = ""
    commands: Sequence[Sequence[str]] = ()
    tree: str = ""


class Deployment(View):
    """The deploy commands a person confirmed, what began, and how the last one ended."""

    confirmed: str = ""
    word: Word = view_of(Word, {})
    begun: Stage = view_of(Stage, {})
    ended: Stage = view_of(Stage, {})
    last: Deployed = view_of(Deployed, {})
    back: str = ""  # the rollback that began
    taken_back: str = ""  # when it was taken back


class NativePlace(View):
    """The line that carries the native file's last text."""

    time: str
    start: int
    length: int


# What is remembered where there is nothing to remember.
NO_REFUSAL = view_of(Refusal, {})
NO_END = view_of(Ended, {})
NO_VISIT = view_of(Visit, {})
NO_INTENT = view_of(Intent, {})
NO_FILING = view_of(Filing, {})
NO_PLACE = view_of(NativePlace, {})
NO_FAILURE = view_of(Failed, {})
NOT_LANDED = view_of(Landing, {})
NO_STAGE = view_of(Stage, {})
NO_CLAIM = view_of(Claim, {})
NO_RUN = view_of(Run, {})
NOT_APPROVED = view_of(Approval, {})
NOT_ACCEPTED = view_of(AcceptedProof, {})
NOT_DEPLOYED = view_of(Deployment, {})
NO_WORD = view_of(Word, {})
AVAILABLE = view_of(Unavailable, {})
UNSIGNED = view_of(Signature, {})
NO_REPORT = view_of(Report, {})
UNSEEN = view_of(SeenTree, {})


def filing_of(tree: str, filed: Filed) -> Filing:
    """What the end of a run filed, as it is remembered."""
    return Filing(tree=tree, files=filed.get("files", {}), refused=filed.get("refused", ())) if filed else NO_FILING


_PARTS: Mapping[str, type[View]] = {
    "intent": Intent,
    "refusal": Refusal,
    "answer": Answer,
    "written": Written,
    "checkpoint": Checkpoint,
    "filing": Filing,
    "landed": Landing,
    "accepted": Word,
    "accepted_proof": AcceptedProof,
    "accepted_sealed": AcceptedProof,
    "approved": Approval,
    "run": Run,
    "claim": Claim,
    "ended": Ended,
    "visit": Visit,
    "failed_in_a_row": Failed,
    "last_run": LastRun,
    "driven": Drive,
    "set_up": SetUpFrom,
    "native": NativePlace,
}
_TABLES: Mapping[str, type[View]] = {
    "unsettled": Promised,
    "trees": SeenTree,
    "signed": Signature,
    "out": Unavailable,
    "results": Answers,
    "judged": Report,
}
_STAGES: Mapping[str, type[View]] = {"word": Word, "begun": Stage, "ended": Stage, "last": Deployed}


def parts_of(content: dict[str, Any]) -> dict[str, Any]:
    """What a cache keeps of a memory, with a type for each part; the mapping is changed."""
    for name, value in content.items():
        if kind := _PARTS.get(name):
            content[name] = view_of(kind, value)
        elif kind := _TABLES.get(name):
            content[name] = {key: view_of(kind, row) for key, row in value.items()}
        elif name == "deploy":
            content[name] = deployment_of(value)
    return content


def deployment_of(content: dict[str, Any]) -> Deployment:
    stages = {name: view_of(kind, content[name]) for name, kind in _STAGES.items() if content.get(name)}
    return view_of(Deployment, {**content, **stages})


def plain_parts(memory: Memory) -> dict[str, Any]:
    """The parts of a memory that say something, as a cache keeps them."""
    content = {name: value for name, value in vars(memory).items() if value}  # every default says nothing
    for name in content.keys() & _PARTS.keys():
        content[name] = content_of(content[name])
    for name in content.keys() & _TABLES.keys():
        content[name] = {key: content_of(row) for key, row in content[name].items()}
    if memory.deploy:
        said = content_of(memory.deploy)
        content["deploy"] = {name: content_of(part) if name in _STAGES else part for name, part in said.items() if part}
    return content


class Memory(Record):
    """What the journal says at one moment."""

    head: Head  # the first line, with what a person has configured since
    snapshot: Snapshot
    size: int  # bytes of whole lines
    last: bytes  # the last whole line
    due_seq: int  # the last line that must reach the document
    changed_time: str  # when the snapshot last changed
    entered_time: str = ""  # when the state was entered
    changed_at: str = ""  # as changed_time, to the microsecond; a cache of an older version has none
    unsettled: Mapping[str, Promised] = {}  # promised effects without their acted line, by step key
    intent: Intent = NO_INTENT  # a decided move whose steps are being prepared
    prepared: Mapping[str, Mapping[str, str]] = {}  # what every such step came to last, by its name
    refusal: Refusal = NO_REFUSAL  # the last refusal since the state was entered
    answer: Answer = view_of(Answer, {})  # the last thing a person said
    written: Written = view_of(Written, {})  # fields an effect led somewhere, with the line that says so
    link: str = ""  # the link to proof that the engine wrote last of its own accord: it is no evidence
    statuses: Mapping[str, str] = {}  # what moves wrote into fields that say how a state stands
    kept: Mapping[str, str] = {}  # by effect: the tree that it kept a commit of last; the newest last
    checkpoint: Checkpoint = view_of(
        Checkpoint, {}
    )  # the result of the last one: commit, and the branch that received it
    filed: Mapping[str, str] = {}  # revisions that never change, by their file: the hash of each
    revision: int = 0  # the number of the last one
    entry_tree: str = ""  # the tree that the last move saw; empty where it saw none
    trees: Mapping[str, SeenTree] = {}  # by edge: the tree that its last move saw, and the line that says so
    filing: Filing = view_of(
        Filing, {}
    )  # what was filed since the state was entered: of which tree, files, what was refused
    landed: Landing = NOT_LANDED  # how, commit and branch, once the work was taken over
    accepted: Word = NO_WORD  # a tree a person accepted although it differs from the one that was judged
    approved: Approval = NOT_APPROVED  # the protected files a person approved last, and the tree they were in
    accepted_proof: AcceptedProof = NOT_ACCEPTED  # what a person accepted last of what the test commands prove
    accepted_sealed: AcceptedProof = NOT_ACCEPTED  # the same of sealed checks that did not pass
    sealed_failed: int = 0  # proofs in which sealed checks did not pass, since a person said how to go on
    signed: Mapping[str, Signature] = {}  # the last sign-off by each edge: the person, and the files shown
    proved: Mapping[str, str] = {}  # the receipts the journal vouches for, newest last: key -> hash
    runs: int = 0  # agent runs ever planned; the next one's number is one more
    run: Run = NO_RUN  # the planned run of which no end is known
    claim: Claim = NO_CLAIM  # what that run asked for and was promised
    unheard: str = ""  # the state that run asked for last, where all it asked for was refused
    ended: Ended = NO_END  # a run that is over, as long as its end has not been decided
    visit: Visit = NO_VISIT  # the last run since the state was entered, and how many there were
    failed_in_a_row: Failed = view_of(
        Failed, {}
    )  # the last run of those in a row that crashed or opened no move; their `count`
    same: Mapping[str, int] = {}  # how many runs of this visit each refusal ended; a person's act resets it
    out: Mapping[str, Unavailable] = {}  # agents that failed in this visit, or are out of quota: exit and wake
    results: Mapping[str, Answers] = {}  # what a gate made of several answers last found, by gate
    judged: Mapping[str, Report] = {}  # reports by evidence key: hash, the tree it is about, whose it is
    last_run: LastRun = view_of(LastRun, {})  # the last of all runs that ended: run, agent and model
    usage: Mapping[str, float] = {}  # what all runs together used
    driven: Drive = view_of(Drive, {})  # the last start or stop of the driving by a person
    deploy: Deployment = view_of(
        Deployment, {}
    )  # the deploy commands a person confirmed, what began, and how the last one ended
    set_ups: Sequence[str] = []  # hashes of the manifests of set-ups that proofs were made with, newest last
    set_up: SetUpFrom = view_of(
        SetUpFrom, {}
    )  # what the last set-up was made from, and the paths of the tree that are its own
    led: str = ""  # why the engine moved the task into this state; empty where another actor did
    judged_by: str = ""  # only while work is proven for another branch: the commit in place of the task's own baseline
    native: NativePlace = view_of(
        NativePlace, {}
    )  # the line that carries the native file's last text: its time, place and length

    def began_at(self) -> str:
        """The commit the work is compared with: what a step captured last, else where the task was made."""
        captured = self.prepared.get("baseline", {}).get("commit_sha")
        return str(captured or self.head.baseline)


def exact(moment: str, us: str) -> str:
    """A time with its microseconds, where these are known: two moves in one second differ."""
    return f"{moment[:-1]}.{us}Z" if us else moment


def utc_now(later_s: float = 0) -> str:
    return utc_at(int(time.time() + later_s))


@lru_cache(maxsize=2)  # many steps ask several times within the same second
def utc_at(second: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(second))


def snapshot_to_json(snapshot: Snapshot) -> dict[str, Any]:
    content = {**vars(snapshot)}
    del content["seq"]  # every line has it anyway
    if not snapshot.no:  # as nearly always
        del content["no"]
    return content


def snapshot_from_json(content: Mapping[str, Any], seq: int) -> Snapshot:
    return Snapshot(seq=seq, **content)
