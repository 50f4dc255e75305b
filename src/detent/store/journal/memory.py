"""What the journal says of a task at one moment; `fold.py` says how each further line changes that."""

from __future__ import annotations

import time
from functools import lru_cache

from detent.core.record import Record
from detent.core.values import Snapshot

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

TALKED = "talked"  # why a run ended that a person talked to, whatever its program ended with: the person was there


class Memory(Record):
    """What the journal says at one moment."""

    head: Mapping[str, Any]  # the first line, created or adopted, with what a person has configured since
    snapshot: Snapshot
    size: int  # bytes of whole lines
    last: bytes  # the last whole line
    due_seq: int  # the last line that must reach the document
    changed_time: str  # when the snapshot last changed
    entered_time: str = ""  # when the state was entered
    changed_at: str = ""  # as changed_time, to the microsecond; a cache of an older version has none
    unsettled: Mapping[str, Mapping[str, Any]] = {}  # promised effects without their acted line, by step key
    intent: Mapping[str, Any] = {}  # a decided move whose steps are being prepared
    prepared: Mapping[str, Mapping[str, str]] = {}  # what every such step came to last, by its name
    refusal: Mapping[str, Any] = {}  # the last refusal since the state was entered
    answer: Mapping[str, Any] = {}  # the last thing a person said
    written: Mapping[str, Any] = {}  # fields an effect led somewhere, with the line that says so
    statuses: Mapping[str, str] = {}  # what moves wrote into fields that say how a state stands
    kept: Mapping[str, str] = {}  # by effect: the tree that it kept a commit of last; the newest last
    checkpoint: Mapping[str, str] = {}  # what came of the last one: commit, and the branch it was brought to
    filed: Mapping[str, str] = {}  # revisions that never change, by their file: the hash of each
    revision: int = 0  # the number of the last one
    came_with: str = ""  # the tree that the last move saw; empty where it saw none
    trees: Mapping[str, Mapping[str, Any]] = {}  # by edge: the tree that its last move saw, and the line that says so
    filing: Mapping[str, Any] = {}  # what was filed since the state was entered: of which tree, files, what was refused
    landed: Mapping[str, str] = {}  # how, commit and branch, once the work was taken over
    accepted: Mapping[str, Any] = {}  # a tree a person accepted although it differs from the one that was judged
    approved: Mapping[str, Any] = {}  # the protected files a person approved last, and the tree they were in
    signed: Mapping[str, Mapping[str, Any]] = {}  # the last sign-off by each edge: who, and what they were shown
    proved: Mapping[str, str] = {}  # the receipts the journal vouches for, newest last: key -> hash
    runs: int = 0  # agent runs ever planned; the next one's number is one more
    run: Mapping[str, Any] = {}  # the planned run of which no end is known
    claim: Mapping[str, Any] = {}  # what that run asked for and was promised
    unheard: str = ""  # the state that run asked for last, where all it asked for was refused
    ended: Mapping[str, Any] = {}  # a run that is over, as long as its end has not been decided
    visit: Mapping[str, Any] = {}  # the last run since the state was entered, and how many there were
    fruitless: Mapping[str, Any] = {}  # the last run of those in a row that crashed or opened no move; their `count`
    same: Mapping[str, int] = {}  # how many runs of this visit each refusal ended; a person's word begins anew
    out: Mapping[str, Mapping[str, str]] = {}  # agents that failed in this visit, or are out of quota: exit and wake
    results: Mapping[str, Mapping[str, Any]] = {}  # what a gate made of several answers last found, by gate
    judged: Mapping[str, Mapping[str, str]] = {}  # reports by evidence key: hash, the tree it is about, whose it is
    last_run: Mapping[str, Any] = {}  # the last of all runs that ended: run, agent and model
    usage: Mapping[str, float] = {}  # what all runs together used
    driven: Mapping[str, Any] = {}  # who last wanted the task to be driven, or no longer
    deploy: Mapping[str, Any] = {}  # the deploy commands a person confirmed, what began, and how the last one ended
    set_ups: Sequence[str] = []  # hashes of the manifests of set-ups that proofs were made with, newest last
    set_up: Mapping[str, Any] = {}  # what the last set-up was made from, and the paths of the tree that are its own
    led: str = ""  # why the engine brought the task into this state; empty where somebody else did
    native: Mapping[str, Any] = {}  # the line that carries the native file's last text: its time, place and length

    def began_at(self) -> str:
        """The commit the work is compared with: what a step captured last, else where the task was made."""
        captured = self.prepared.get("baseline", {}).get("commit_sha")
        return str(captured or self.head["baseline"])


def exact(moment: str, us: str) -> str:
    """A time with its microseconds, where these are known: two moves in one second differ."""
    return f"{moment[:-1]}.{us}Z" if us else moment


def utc_now(later_s: float = 0) -> str:
    return utc_at(int(time.time() + later_s))


@lru_cache(maxsize=2)  # who makes many steps asks several times within the same second
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
