"""What the journal says of a task at one moment, and how each further line changes that. Reads and writes nothing."""

from __future__ import annotations

import time
from functools import lru_cache

from detent.core.machine import ASKED
from detent.core.record import Record
from detent.core.values import Snapshot
from detent.store.disk.digest import sha256_of
from detent.store.journal.chain import FORMAT
from detent.store.journal.observed import REPORT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from detent.store.journal.chain import Entry

_DEEDS = (
    *("acted", "proved", "landed", "approved", "intended", "unprepared", "configured", "filed", "deploy", "set_up"),
)
_JUDGEMENTS = (REPORT, "section:", "text:")  # how the keys of evidence begin that may be a verdict about a tree
TALKED = "talked"  # why a run ended that a person talked to, whatever its program ended with: the person was there
MOST_SET_UPS = 20  # of which a proof may use a copy that is kept; an older one is made anew
MOST_PROVED = 100  # older receipts are forgotten: their commands are run again should that tree come back


# What is remembered of a person's word about deploying; an older line names no tree.
_WORD: Mapping[str, Any] = {"tree": "", "name": "", "reason": "", "unseen": False, "edges": []}


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


def utc_now(later_s: float = 0) -> str:
    return _utc(int(time.time() + later_s))


def exact_time(entry: Mapping[str, Any]) -> str:
    """The time of a line to the microsecond, where it has that: two moves in one second differ."""
    return f"{entry['time'][:-1]}.{entry['us']}Z" if "us" in entry else str(entry["time"])


@lru_cache(maxsize=2)  # who makes many steps asks several times within the same second
def _utc(second: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(second))


def snapshot_to_json(snapshot: Snapshot) -> dict[str, Any]:
    content = {**vars(snapshot)}
    del content["seq"]  # every line has it anyway
    if not snapshot.no:  # as nearly always
        del content["no"]
    return content


def snapshot_from_json(content: Mapping[str, Any], seq: int) -> Snapshot:
    return Snapshot(seq=seq, **content)


def compose(memory: Memory | None, kind: str, content: Mapping[str, Any], after: Snapshot | None = None) -> Entry:
    """The next line, not written yet."""
    seq = 1 if memory is None else memory.snapshot.seq + 1
    first = {"format": FORMAT} if memory is None else {}
    now = time.time()
    entry: Entry = {"seq": seq, "time": _utc(int(now)), "kind": kind, **first, **content}
    if after is not None:
        entry["us"] = f"{int(now % 1 * 1_000_000):06}"  # the length of a line does not depend on it
        entry["after"] = snapshot_to_json(after)
    return entry


def fold(memory: Memory | None, entry: Entry, raw: bytes, size: int) -> Memory:
    """The memory after one more line."""
    return placed(foretell(memory, entry), entry, raw, size)


def placed(memory: Memory, entry: Entry, raw: bytes, size: int) -> Memory:
    """A foretold memory, once its line has come to lie somewhere."""
    if "native" not in entry:
        return memory.replace(size=size, last=raw)
    place = {"time": entry["time"], "start": size - len(raw) - 1, "length": len(raw)}
    return memory.replace(size=size, last=raw, native=place if entry["native"] else {})


def foretell(memory: Memory | None, entry: Entry) -> Memory:
    """The memory after a line that is not written yet: all of it but where the line lies."""
    from detent.store.journal.events import KINDS  # where the cache says all, no line is folded

    seq: int = entry["seq"]
    if memory is None:
        head = {key: value for key, value in entry.items() if key not in ("after", "prev")}
        first = snapshot_from_json(entry["after"], seq)
        found = {name: value for name, value in entry.get("found", {}).items() if name != "shown"}
        return Memory(head, first, 0, b"", seq, entry["time"], entry["time"], changed_at=exact_time(entry), **found)
    kind = entry["kind"]
    changes: dict[str, Any] = {} if KINDS[kind].is_quiet and not entry.get("fields") else {"due_seq": seq}
    if "after" in entry:
        changes.update(snapshot=snapshot_from_json(entry["after"], seq), changed_time=entry["time"])
        changes["changed_at"] = exact_time(entry)
    else:
        changes["snapshot"] = memory.snapshot.replace(seq=seq)
    if kind in _DEEDS:
        changes.update(_fold_deed(memory, kind, entry))
    elif kind == "refused" or (kind == "claimed" and not entry["accepted"]):
        changes.update(_fold_refusal(memory, entry))
    elif kind == "moved":
        # Where a run was refused and the engine takes another way, the next run learns what it was refused for.
        refusal = memory.refusal if changes["snapshot"].no and entry["by"] in ("engine", "crash") else {}
        changes.update(_fold_move(memory, entry), refusal=refusal, ended={}, visit={}, intent={}, filing={})
        changes["same"] = {}
        changes["entered_time"] = entry["time"]
    else:
        changes.update(_fold_run(memory, kind, entry))
    if kind in ("moved", "crashed", "unmoved", "resumed"):
        changes["fruitless"] = _fold_fruitless(memory, kind, entry)
    if isinstance(entry.get("fields"), dict) and entry["fields"]:  # an amended line lists the labels that were changed
        changes["written"] = {"seq": seq, "fields": entry["fields"]}
        if kind == "moved":
            changes["statuses"] = {**memory.statuses, **entry["fields"]}
    if entry.get("title"):  # other words than the first line gave it
        changes["head"] = {**memory.head, "title": entry["title"]}
    if entry.get("answer"):
        told = {"text": entry["answer"], "name": entry.get("name", ""), "asked": entry.get("asked", "")}
        changes["answer"] = {"seq": seq, "time": entry["time"], **told}
    return memory.replace(**changes)


def _fold_refusal(memory: Memory, entry: Entry) -> dict[str, Any]:
    """What a refused request changes: at the end of a run it is the run's no, while it lives its last word so far."""
    changes: dict[str, Any] = {
        "refusal": {key: entry[key] for key in ("want", "by", "problem", "missing", "time")},
    }
    if entry["kind"] == "claimed":
        return changes if memory.claim else {**changes, "unheard": entry.get("to", "")}
    if memory.ended:  # the claim is answered; what the run left is still to be decided
        changes["ended"] = {**memory.ended, "claim": ""}
    if entry.get("no"):
        snapshot = memory.snapshot
        changes["snapshot"] = snapshot.replace(seq=entry["seq"], no={**snapshot.no, ASKED: entry["no"]})
    return changes


def _fold_fruitless(memory: Memory, kind: str, entry: Entry) -> Mapping[str, Any]:
    """How many runs in a row came to nothing; what people do, and a run that led somewhere, begins the count anew."""
    ended, by = memory.ended, entry.get("by", "")
    if kind == "resumed" or by == "person" or (kind == "moved" and ended and by != "crash"):
        return {}
    if not ended or ended["by_person"] or ended["exit"] == "quota":
        return memory.fruitless  # the engine's own move, or nobody could work
    told = {"run": ended["run"], "state": ended["state"], "exit": ended["exit"]}
    why = entry.get("why", "") if kind == "unmoved" else ""
    return {**told, "why": why, "count": memory.fruitless.get("count", 0) + 1}


def _fold_move(memory: Memory, entry: Entry) -> dict[str, Any]:
    """What a move promises, what was prepared for it, what a person signed, and what its gates found part by part."""
    changes: dict[str, Any] = {"came_with": entry.get("tree", ""), "led": entry.get("led", "")}
    if entry.get("tree") and "edge" in entry:
        changes["trees"] = {**memory.trees, entry["edge"]: {"tree": entry["tree"], "seq": entry["seq"]}}
        word = memory.deploy.get("word", {})
        if word.get("unseen") and not word["tree"] and entry["edge"] in word["edges"]:
            # A word given ahead is about the first tree that is verified after it, and about no other.
            changes["deploy"] = {**memory.deploy, "word": {**word, "tree": entry["tree"]}}
    if effects := entry.get("effects"):
        # A move is the intent of its own effects: one line, one sync.
        intents = {f"{entry['seq']}:{effect}": {"tree": entry["tree"], "to": entry["to"]} for effect in effects}
        changes["unsettled"] = {**memory.unsettled, **intents}
    if entry.get("prepared"):
        changes["prepared"] = {**memory.prepared, **entry["prepared"]}
    if entry.get("signed"):
        shown = {"tree": entry["tree"], "name": entry["name"], "seq": entry["seq"], **entry["signed"]}
        changes["signed"] = {**memory.signed, entry["edge"]: shown}
    for name, fact in entry.get("facts", {}).items():
        if "parts" in fact:
            found = {"seq": entry["seq"], "to": entry["to"], "parts": fact["parts"]}
            changes["results"] = {**changes.get("results", memory.results), name: found}
    if entry.get("tree"):
        changes["judged"] = _fold_judged(memory, entry["after"]["entry"], entry["tree"], "")
    if memory.out:  # who failed may try elsewhere
        changes["out"] = {name: last for name, last in memory.out.items() if last["wake"]}
    return changes


def configured(memory: Memory, entry: Mapping[str, Any]) -> tuple[Mapping[str, Any], Snapshot]:
    """First line and snapshot with what such a line sets; the one place that says what holds for a task now."""
    head, snapshot = memory.head, memory.snapshot
    budget, agents = head.get("budget", {}), head.get("agents", {})
    changed = {
        "limits": {**head["limits"], **entry["limits"]},
        "budget": {**budget, **{name: {**budget.get(name, {}), **new} for name, new in entry["budget"].items()}},
        "agents": {**agents, "overrides": {**agents.get("overrides", {}), **entry["agents"]}},
        "commands": [*head["commands"], *entry["commands"]],
    }
    if entry.get("pack"):
        changed["pack"] = entry["pack"]
    locked = {**snapshot.locked, **entry["locked"]}
    evidence = entry.get("entry", snapshot.entry)  # with other code what was found before is old
    return {**head, **changed}, snapshot.replace(mode=entry["mode"] or snapshot.mode, locked=locked, entry=evidence)


def _fold_deed(memory: Memory, kind: str, entry: Entry) -> dict[str, Any]:
    """What a line about something that was done changes: proof, an effect, a landing, other settings."""
    if kind == "proved":
        proved = {**memory.proved, **entry["receipts"]}
        used = [entry["set_up"]["digest"]] if entry.get("set_up", {}).get("digest") else []
        set_ups = [*(one for one in memory.set_ups if one not in used), *used][-MOST_SET_UPS:]
        return {"proved": dict(list(proved.items())[-MOST_PROVED:]), "set_ups": set_ups}
    if kind in ("intended", "unprepared"):
        return {"intent": {key: entry[key] for key in entry if key != "prev"} if kind == "intended" else {}}
    if kind == "deploy":
        return _fold_deploy(memory, entry)
    if kind == "set_up":
        return {"set_up": {key: entry[key] for key in ("how", "why", "key", "left_out")}}
    if kind == "approved":
        return {"approved": {key: entry[key] for key in ("tree", "files", "name", "seq")}}
    if kind == "filed":
        return {"filing": {key: entry[key] for key in ("tree", "files", "refused")}}
    if kind == "landed":
        return {"landed": {key: entry[key] for key in ("how", "commit", "branch")}}
    changes: dict[str, Any]
    if kind == "configured":
        head, snapshot = configured(memory, entry)
        changes = {"head": head, "snapshot": snapshot.replace(seq=entry["seq"])}
    else:
        changes = {"unsettled": {key: value for key, value in memory.unsettled.items() if key != entry["step"]}}
    if "commit" in entry.get("result", {}):
        changes |= _fold_commit(memory, entry)
    if filed := entry.get("result", {}).get("filed"):
        changes["filed"] = {**memory.filed, filed: entry["result"]["sha256"]}
        changes["revision"] = int(entry["result"]["version"])
    return changes


def _fold_commit(memory: Memory, entry: Entry) -> dict[str, Any]:
    """What a commit of the engine's own changes."""
    changes: dict[str, Any] = {"checkpoint": entry["result"]}
    if memory.landed and entry["result"]["commit"] != memory.checkpoint.get("commit"):
        changes["landed"] = {}  # not this work
    if tree := memory.unsettled.get(entry["step"], {}).get("tree", ""):
        effect = entry["step"].partition(":")[2]
        changes["kept"] = {**{name: kept for name, kept in memory.kept.items() if name != effect}, effect: tree}
    return changes


def _fold_deploy(memory: Memory, entry: Entry) -> dict[str, Any]:
    """A person's word lets it begin anew; what began is over with its end. The last one is known until taken back."""
    stage, last = entry["stage"], {key: memory.deploy[key] for key in ("last",) if key in memory.deploy}
    if stage == "confirmed":
        word = {key: entry.get(key, default) for key, default in _WORD.items()}
        accepted = {"accepted": {**word, "seq": entry["seq"]}} if entry.get("differs") else {}
        return {"deploy": {"confirmed": entry["plan"], "word": word, **last}, **accepted}
    told = {key: entry[key] for key in ("plan", "tree", "visit", "time", "ok", "why")}
    if stage == "begun":
        last = {"last": {"plan": entry["plan"], "commands": entry["commands"], "tree": entry["tree"]}}
        return {"deploy": {**memory.deploy, "begun": told, **last}}
    if stage == "rolling_back":  # nothing is deployed any more, and deploying again needs another word
        return {"deploy": {**last, "back": entry["visit"]}}
    proved = {**memory.proved, **entry["receipts"]}
    if stage == "rolled_back":
        back = {"taken_back": entry["time"]}  # until a person lets it be deployed again
        return {"proved": dict(list(proved.items())[-MOST_PROVED:]), "deploy": back if entry["ok"] else last}
    ended = {**told, "proof": sha256_of("".join(entry["receipts"].values()).encode())}
    deploy = {**{key: value for key, value in memory.deploy.items() if key != "begun"}, "ended": ended}
    if left := entry.get("left"):  # what the commands themselves made is no change since the person's word
        deploy["word"] = {**deploy.get("word", _WORD), "tree": left}
        deploy["last"] = {**deploy.get("last", {}), "tree": left}
    return {"proved": dict(list(proved.items())[-MOST_PROVED:]), "deploy": deploy}


def _fold_run(memory: Memory, kind: str, entry: Entry) -> dict[str, Any]:
    """What a line about an agent run changes."""
    content = {key: value for key, value in entry.items() if key not in ("prev", "after", "kind", "native")}
    if kind == "restored_tree":  # a branch that is there again
        return {"prepared": {**memory.prepared, **entry.get("prepared", {})}}
    if kind == "run_planned":
        return {"runs": entry["run"], "run": content, "claim": {}, "unheard": ""}
    if kind == "claimed":
        return {"claim": content, "unheard": ""}
    if kind == "run_void":
        return {"run": {}, "claim": {}, "unheard": ""}
    if kind == "run_ended":
        used = {name: memory.usage.get(name, 0) + value for name, value in entry["usage"].items()}
        visit = {**content, "count": memory.visit.get("count", 0) + 1}
        return {
            "run": {},
            "claim": {},
            "unheard": "",
            "ended": content,
            "filing": {"tree": entry["tree"], **entry["filed"]} if entry.get("filed") else {},
            "visit": visit,
            "usage": used,
            "out": _fold_out(memory, entry),
            "judged": _fold_judged(memory, _left(entry), entry["tree"], entry["role"], _filed(entry)),
            "last_run": {name: entry[name] for name in ("run", "agent", "model")},
        }
    if kind in ("crashed", "unmoved"):
        told = {"ended": {}, "visit": {**memory.visit, "why": entry.get("why", "")}}
        if closed := entry.get("closed", ""):
            told["same"] = {**memory.same, closed: times(memory, closed)}
        return told
    if kind == "driven":
        return {"driven": content}
    return _fold_word(memory, kind, entry) if kind in ("resumed", "answered") else {}


def times(memory: Memory, closed: str) -> int:
    """How many runs of this visit a refusal has ended, with the one that ends now."""
    return memory.same.get(closed, 0) + 1 if closed else 0


def _fold_word(memory: Memory, kind: str, entry: Entry) -> dict[str, Any]:
    """A person's word: it answers a no, empties the question, and lets a run start that may have waited for it."""
    changes: dict[str, Any] = {"same": {}}
    if kind == "resumed" and memory.visit:
        changes["visit"] = {**memory.visit, "word": True}
    if kind == "answered" and memory.snapshot.no:
        changes["snapshot"] = memory.snapshot.replace(seq=entry["seq"], no={})
    return changes


def _filed(entry: Mapping[str, Any]) -> Mapping[str, str]:
    files: Mapping[str, str] = entry.get("filed", {}).get("files", {})
    return files


def _left(entry: Mapping[str, Any]) -> dict[str, str]:
    """The evidence as a run left it, without the reports that were put back because they are not its own."""
    # A file that was put back takes all its sections with it.
    taken = tuple(f"{item.partition(':')[2]}:" for item in entry.get("taken", ()))
    return {key: value for key, value in entry["evidence"].items() if not f"{key.partition(':')[2]}:".startswith(taken)}


def _fold_judged(
    memory: Memory, evidence: Mapping[str, str], tree: str, role: str, filed: Mapping[str, str] = {}
) -> dict[str, Mapping[str, str]]:
    """Reports that are new are about the tree they were found with; without a role a person wrote them.

    One that was filed from this very run is new, also where it says the same.
    """
    found = {key: value for key, value in evidence.items() if key.startswith(_JUDGEMENTS)}
    known = {key: one["hash"] for key, one in memory.judged.items()}
    new = {key: value for key, value in found.items() if known.get(key) != value or filed.get(key.split(":")[1])}
    return {**memory.judged, **{key: {"hash": value, "tree": tree, "role": role} for key, value in new.items()}}


def _fold_out(memory: Memory, entry: Entry) -> dict[str, Mapping[str, str]]:
    name = f"{entry['agent']}:{entry['model']}" if entry["model"] else entry["agent"]
    out = {known: last for known, last in memory.out.items() if known != name}
    is_out = entry["exit"] != "finished" and not entry["by_person"] and entry["exit"] != "lost"
    return {**out, name: {"exit": entry["exit"], "wake": entry["wake"]}} if is_out else out
