"""How each journal line changes what is remembered of a task. Reads and writes nothing.

What a line says is taken by the fields of its type. A line that lacks one raises KeyError: nothing of it is folded.
"""

from __future__ import annotations

import time

from detent.core.machine import ASKED
from detent.store.disk.digest import sha256_of
from detent.store.journal.chain import FORMAT
from detent.store.journal.events import (
    Acted,
    Amended,
    Answered,
    Approved,
    Configured,
    Crashed,
    Deploy,
    FiledChange,
    Intended,
    Landed,
    Moved,
    Proved,
    Refused,
    RestoredTree,
    Resumed,
    SetUp,
    Unprepared,
)
from detent.store.journal.head import Head, found_before
from detent.store.journal.line import to_line
from detent.store.journal.memory import (
    NO_CLAIM,
    NO_END,
    NO_FAILURE,
    NO_FILING,
    NO_INTENT,
    NO_PLACE,
    NO_REFUSAL,
    NO_RUN,
    NO_STAGE,
    NO_VISIT,
    NOT_LANDED,
    AcceptedProof,
    Answer,
    Answers,
    Approval,
    Checkpoint,
    Claim,
    Deployed,
    Deployment,
    Drive,
    Ended,
    Failed,
    Filing,
    Intent,
    Landing,
    LastRun,
    Memory,
    NativePlace,
    Promised,
    Refusal,
    Report,
    Run,
    SeenTree,
    SetUpFrom,
    Signature,
    Stage,
    Unavailable,
    Visit,
    Word,
    Written,
    exact,
    filing_of,
    snapshot_from_json,
    snapshot_to_json,
    utc_at,
)
from detent.store.journal.observed import REPORT
from detent.store.journal.run_events import Claimed, Driven, Retitled, RunEnded, RunPlanned, RunVoid, Stopped, Unmoved
from detent.store.text.sealed import FAILED, MOST_FAILED, PASSED
from detent.view import content_of, view_of, with_fields

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, TypeVar

    from detent.core.values import Snapshot
    from detent.store.journal.line import Line

    L = TypeVar("L", bound=Line)

_JUDGEMENTS = (REPORT, "section:", "text:")  # how the keys of evidence begin that may be a verdict about a tree
MOST_SET_UPS = 20  # of which a proof may use a copy that is kept; an older one is made again
MOST_PROVED = 100  # older receipts are forgotten: their commands are run again should that tree come back


def compose(memory: Memory | None, line: L, after: Snapshot | None = None) -> L:
    """The next line, not written yet."""
    seq = 1 if memory is None else memory.snapshot.seq + 1
    first = {"format": FORMAT} if memory is None else {}
    now = time.time()
    said: dict[str, Any] = {"seq": seq, "time": utc_at(int(now)), "kind": line.kind, **first, **to_line(line)}
    if after is not None:
        said["us"] = f"{int(now % 1 * 1_000_000):06}"  # the length of a line does not depend on it
        said["after"] = snapshot_to_json(after)
    return view_of(type(line), said)


def fold(memory: Memory | None, line: Line, raw: bytes, size: int) -> Memory:
    """The memory after one more line."""
    return placed(memory_after(memory, line), line, raw, size)


def placed(memory: Memory, line: Line, raw: bytes, size: int) -> Memory:
    """A foretold memory, once its line has come to lie somewhere."""
    if line.native is None:
        return memory.replace(size=size, last=raw)
    place = NativePlace(time=line.time, start=size - len(raw) - 1, length=len(raw)) if line.native else NO_PLACE
    return memory.replace(size=size, last=raw, native=place)


def snapshot_after(line: Line) -> Snapshot:
    """What a line says is remembered of the task after it."""
    if line.after is None:
        raise KeyError("after")
    return snapshot_from_json(line.after, line.seq)


def memory_after(memory: Memory | None, line: Line) -> Memory:
    """The memory after a line that is not written yet: all of it but where the line lies."""
    if memory is None:
        return _begun(line)
    seq = line.seq
    changes: dict[str, Any] = {} if type(line).is_quiet and not line.fields else {"due_seq": seq}
    if line.after is not None:
        changes.update(snapshot=snapshot_after(line), changed_time=line.time, changed_at=exact(line.time, line.us))
    else:
        changes["snapshot"] = memory.snapshot.replace(seq=seq)
    if isinstance(line, Moved):
        # Where a run was refused and the engine takes another way, the next run learns what it was refused for.
        refusal = memory.refusal if changes["snapshot"].no and line.by in ("engine", "crash") else NO_REFUSAL
        changes.update(_fold_move(memory, line), refusal=refusal, ended=NO_END, visit=NO_VISIT)
        changes.update(intent=NO_INTENT, filing=NO_FILING)
        changes["same"] = {}
        changes["entered_time"] = line.time
    elif isinstance(line, Refused) or (isinstance(line, Claimed) and not line.accepted):
        changes.update(_fold_refusal(memory, line))
    else:
        changes.update(_fold_deed(memory, line) or _fold_proof(memory, line) or _fold_run(memory, line))
    if isinstance(line, (Unmoved, Stopped, Crashed)) and line.effects:
        changes["unsettled"] = {**memory.unsettled, **_promised(line, Promised(tree="", to=""))}
    if isinstance(line, (Moved, Crashed, Unmoved, Resumed)):
        changes["failed_in_a_row"] = _fold_failures(memory, line)
    changes.update(_fold_words(memory, line))
    if memory.sealed_failed and _lets_go_on(memory, line):
        changes["sealed_failed"] = 0
    return memory.replace(**changes)


def _lets_go_on(memory: Memory, line: Line) -> bool:
    """Whether a person has said how to go on after sealed checks: no run starts unasked where too many failed."""
    if isinstance(line, RunPlanned):
        return memory.sealed_failed >= MOST_FAILED
    return isinstance(line, (Moved, Answered, Resumed)) and line.by == "person"


def _begun(line: Line) -> Memory:
    """The memory after a task's first line."""
    if not isinstance(line, Head):
        raise TypeError(f"a {line.kind} line begins no journal")
    head = view_of(type(line), {key: value for key, value in to_line(line).items() if key not in ("after", "prev")})
    found: Mapping[str, Any] = {key: value for key, value in found_before(line).items() if key != "shown"}
    first, moment = snapshot_after(line), line.time
    return Memory(head, first, 0, b"", line.seq, moment, moment, changed_at=exact(line.time, line.us), **found)


def _fold_words(memory: Memory, line: Line) -> dict[str, Any]:
    """What a line of any kind wrote into fields, called the task, or says of a person."""
    changes: dict[str, Any] = {}
    if isinstance(line.fields, dict) and line.fields:  # an amended line lists the labels that were changed
        changes["written"] = Written(seq=line.seq, fields=line.fields)
        if isinstance(line, Moved):
            changes["statuses"] = {**memory.statuses, **line.fields}
    if isinstance(line, (Amended, Retitled)) and line.title:  # other words than the first line gave it
        changes["head"] = with_fields(memory.head, title=line.title)
    if isinstance(line, (Moved, Answered, Resumed)) and line.answer:
        changes["answer"] = Answer(seq=line.seq, time=line.time, text=line.answer, name=line.name, asked=line.asked)
    return changes


def _fold_refusal(memory: Memory, line: Refused | Claimed) -> dict[str, Any]:
    """What a refused request changes: at the end of a run it is the run's no, while it lives its last word so far."""
    problem, missing = line.problem or "", [] if line.missing is None else line.missing
    refusal = Refusal(want=line.want, by=line.by, problem=problem, missing=missing, time=line.time)
    changes: dict[str, Any] = {"refusal": refusal}
    if isinstance(line, Claimed):
        return changes if memory.claim else {**changes, "unheard": line.to or ""}
    if memory.ended:  # the claim is answered; what the run left is still to be decided
        changes["ended"] = with_fields(memory.ended, claim="")
    if line.no:
        snapshot = memory.snapshot
        changes["snapshot"] = snapshot.replace(seq=line.seq, no={**snapshot.no, ASKED: line.no})
    return changes


def is_same(refusal: Refusal, line: Refused) -> bool:
    """Whether a line refuses the same for the same reasons as the last one did."""
    said = (line.want, line.by, line.problem, line.missing)
    return bool(refusal) and (refusal.want, refusal.by, refusal.problem, refusal.missing) == said


def _fold_failures(memory: Memory, line: Moved | Crashed | Unmoved | Resumed) -> Failed:
    """How many runs in a row failed; a person's act, and a run that led somewhere, reset the count."""
    ended, by = memory.ended, "" if isinstance(line, Unmoved) else line.by
    if isinstance(line, Resumed) or by == "person" or (isinstance(line, Moved) and ended and by != "crash"):
        return NO_FAILURE
    if not ended or ended.by_person or ended.exit == "quota":
        return memory.failed_in_a_row  # the engine's own move, or no agent could work
    why = line.why if isinstance(line, Unmoved) else ""
    count = memory.failed_in_a_row.count + 1
    return Failed(run=ended.run, state=ended.state, exit=ended.exit, why=why, count=count)


def _fold_move(memory: Memory, line: Moved) -> dict[str, Any]:
    """What a move promises, what was prepared for it, what a person signed, and what its gates found part by part."""
    changes: dict[str, Any] = {"entry_tree": line.tree, "led": line.led}
    if line.tree:
        changes["trees"] = {**memory.trees, line.edge: _seen_tree(line)}
        word = memory.deploy.word
        if word.unseen and not word.tree and line.edge in word.edges:
            # A word given ahead is about the first tree that is verified after it, and about no other.
            changes["deploy"] = with_fields(memory.deploy, word=with_fields(word, tree=line.tree))
        entry = {} if line.after is None else line.after["entry"]
        changes["judged"] = _fold_judged(memory, entry, line.tree, "")
    if line.effects:
        # A move is the intent of its own effects: one line, one sync.
        changes["unsettled"] = {**memory.unsettled, **_promised(line, Promised(tree=line.tree, to=line.to))}
    if line.prepared:
        changes["prepared"] = {**memory.prepared, **line.prepared}
    if line.signed:
        signature = Signature(tree=line.tree, name=line.name, seq=line.seq, **line.signed)
        changes["signed"] = {**memory.signed, line.edge: signature}
    for name, fact in line.facts.items():
        if "parts" in fact:
            found = Answers(seq=line.seq, to=line.to, parts=fact["parts"])
            changes["results"] = {**changes.get("results", memory.results), name: found}
    if memory.out:  # an agent that failed may try elsewhere
        changes["out"] = {name: last for name, last in memory.out.items() if last.wake}
    return changes


def _seen_tree(line: Moved) -> SeenTree:
    seen = SeenTree(tree=line.tree, seq=line.seq)
    return with_fields(seen, waived=line.waived, name=line.name, reason=line.override) if line.waived else seen


def _promised(line: Moved | Unmoved | Stopped | Crashed, promised: Promised) -> dict[str, Promised]:
    return {f"{line.seq}:{effect}": promised for effect in line.effects}


def configured(memory: Memory, line: Configured) -> tuple[Head, Snapshot]:
    """First line and snapshot with what such a line sets; the one place that says what holds for a task now."""
    head, snapshot = memory.head, memory.snapshot
    head = with_fields(
        head,
        limits={**head.limits, **line.limits},
        budget={**head.budget, **{name: {**head.budget.get(name, {}), **new} for name, new in line.budget.items()}},
        agents={**head.agents, "overrides": {**head.agents.get("overrides", {}), **line.agents}},
        commands=[*head.commands, *line.commands],
        **({"pack": line.pack} if line.pack else {}),
        **({"change": line.change} if line.change else {}),
    )
    locked = {**snapshot.locked, **line.locked}
    found = snapshot.entry if line.entry is None else line.entry  # with other code what was found before is old
    return head, snapshot.replace(mode=line.mode or snapshot.mode, locked=locked, entry=found)


def _fold_deed(memory: Memory, line: Line) -> dict[str, Any]:
    """What a line about something that was done changes: an intent, an effect, a landing, other settings."""
    changes: dict[str, Any] = {}
    match line:
        case Intended():
            steps, doing = line.prepare, line.move
            changes["intent"] = Intent(seq=line.seq, edge=line.edge, prepare=steps, given=line.given, move=doing)
        case Unprepared():
            changes["intent"] = NO_INTENT
        case Acted():
            changes = _fold_acted(memory, line)
        case SetUp():
            changes["set_up"] = SetUpFrom(how=line.how, why=line.why, key=line.key, left_out=line.left_out)
        case Approved() if line.sealed:
            accepted = AcceptedProof(tree=line.tree, word=line.sealed, seen=line.seen, name=line.name)
            changes.update(accepted_sealed=accepted, sealed_failed=0)
        case Approved() if line.word:
            changes["accepted_proof"] = AcceptedProof(tree=line.tree, word=line.word, seen=line.seen, name=line.name)
        case Approved():
            changes["approved"] = Approval(tree=line.tree, files=line.files, name=line.name, seq=line.seq)
        case FiledChange():
            changes["filing"] = Filing(tree=line.tree, files=line.files, refused=line.refused)
        case Landed():
            changes["landed"] = Landing(how=line.how, commit=line.commit, branch=line.branch)
        case Configured():
            head, snapshot = configured(memory, line)
            changes = {"head": head, "snapshot": snapshot.replace(seq=line.seq)}
        case _:
            pass
    return changes


def _fold_acted(memory: Memory, line: Acted) -> dict[str, Any]:
    """What a promised effect changes: it is kept, and what came of it is known."""
    result = line.result
    changes: dict[str, Any] = {"unsettled": {key: kept for key, kept in memory.unsettled.items() if key != line.step}}
    if "link" in result:
        changes["link"] = result["link"]
    if "commit" in result:
        changes["checkpoint"] = Checkpoint(
            commit=result["commit"], branch=result.get("branch", ""), clone=result.get("clone", "")
        )
        if memory.landed and result["commit"] != memory.checkpoint.commit:
            changes["landed"] = NOT_LANDED  # not this work
        promise = memory.unsettled.get(line.step)
        if tree := promise.tree if promise is not None else "":
            effect = line.step.partition(":")[2]
            changes["kept"] = {**{name: kept for name, kept in memory.kept.items() if name != effect}, effect: tree}
    if filed := result.get("filed"):
        changes["filed"] = {**memory.filed, filed: result["sha256"]}
        changes["revision"] = int(result["version"])
    return changes


def _fold_proof(memory: Memory, line: Line) -> dict[str, Any]:
    """What a line that vouches for receipts changes."""
    if isinstance(line, Deploy):
        return _fold_deploy(memory, line)
    if not isinstance(line, Proved):
        return {}
    used = [line.set_up["digest"]] if line.set_up.get("digest") else []
    set_ups = [*(digest for digest in memory.set_ups if digest not in used), *used][-MOST_SET_UPS:]
    found = {"proved": _newest({**memory.proved, **line.receipts}), "set_ups": set_ups}
    return {**found, "sealed_failed": _failed_now(memory, line.sealed)} if line.sealed else found


def _failed_now(memory: Memory, result: str) -> int:
    """How often sealed checks did not pass; one that says nothing clear is a person's to look at, at once."""
    return {PASSED: 0, FAILED: memory.sealed_failed + 1}.get(result, max(memory.sealed_failed + 1, MOST_FAILED))


def _newest(proved: Mapping[str, str]) -> dict[str, str]:
    return dict(list(proved.items())[-MOST_PROVED:])


def _fold_deploy(memory: Memory, line: Deploy) -> dict[str, Any]:
    """A person's approval resets it; its end closes a begun deployment. The last one is kept until taken back."""
    before, last = memory.deploy, memory.deploy.last
    if line.stage == "confirmed":
        word = Word(
            tree=line.tree, name=line.name, reason=line.reason, unseen=bool(line.unseen), edges=line.edges or []
        )
        accepted = {"accepted": with_fields(word, seq=line.seq)} if line.differs else {}
        return {"deploy": Deployment(confirmed=line.plan, word=word, last=last), **accepted}
    stage = Stage(plan=line.plan, tree=line.tree, visit=line.visit, time=line.time, ok=line.ok, why=line.why)
    if line.stage == "begun":
        last = Deployed(plan=line.plan, commands=line.commands, tree=line.tree)
        return {"deploy": with_fields(before, begun=stage, last=last)}
    if line.stage == "rolling_back":  # nothing is deployed any more, and deploying again needs another word
        return {"deploy": Deployment(last=last, back=line.visit)}
    proved = _newest({**memory.proved, **line.receipts})
    if line.stage == "rolled_back":
        back = Deployment(taken_back=line.time)  # until a person lets it be deployed again
        return {"proved": proved, "deploy": back if line.ok else Deployment(last=last)}
    ended = with_fields(stage, proof=sha256_of("".join(line.receipts.values()).encode()))
    deploy = with_fields(before, begun=NO_STAGE, ended=ended)
    if line.left:  # what the commands themselves made is no change since the person's word
        deploy = with_fields(
            deploy, word=with_fields(before.word, tree=line.left), last=with_fields(last, tree=line.left)
        )
    return {"proved": proved, "deploy": deploy}


def _fold_run(memory: Memory, line: Line) -> dict[str, Any]:
    """What a line about an agent run changes, and what a person says that lets the next one start."""
    over: dict[str, Any] = {"claim": NO_CLAIM, "unheard": ""}
    match line:
        case RunPlanned():
            return {"runs": line.run, "run": _planned(line), **over}
        case Claimed():
            return {"claim": Claim(run=line.run, want=line.want), "unheard": ""}
        case RunVoid():
            return {"run": NO_RUN, **over}
        case RunEnded():
            return {"run": NO_RUN, **over, **_fold_end(memory, line)}
        case Crashed() | Unmoved():
            return _fold_unmoved(memory, line)
        case Driven():
            return {"driven": Drive(seq=line.seq, on=line.on, name=line.name, reason=line.reason)}
        case _:
            return _fold_word(memory, line)


def _planned(line: RunPlanned) -> Run:
    return Run(
        seq=line.seq,
        time=line.time,
        run=line.run,
        role=line.role,
        state=line.state,
        access=line.access,
        sandbox=line.sandbox,
        agent=line.agent,
        model=line.model,
        events=line.events,
        session=line.session,
        tree=line.tree,
        cwd=line.cwd,
        talk=line.talk,
        held=line.held or {},
        hooks=line.hooks,
        seen=line.seen,
    )


def _over(line: RunEnded) -> Ended:
    return Ended(
        seq=line.seq,
        time=line.time,
        run=line.run,
        role=line.role,
        state=line.state,
        access=line.access,
        agent=line.agent,
        model=line.model,
        seen=line.seen,
        exit=line.exit,
        how=line.how,
        before=line.before,
        tree=line.tree,
        problem=line.problem,
        tainted=line.tainted,
        hooks=line.hooks,
        put_back=line.put_back,
        by_person=line.by_person,
        claim=line.claim,
        claim_by=line.claim_by,
        said=line.said,
        session=line.session,
        errors=line.errors,
        wake=line.wake,
        steered=line.steered,
        restored=line.restored,
        filed=line.filed,
        taken=line.taken if isinstance(line.taken, dict) else {},
        kept=line.kept,
        evidence=line.evidence,
        no=line.no or {},
    )


def _fold_end(memory: Memory, line: RunEnded) -> dict[str, Any]:
    """What the end of a run leaves to be decided, and what it used."""
    ended, filed = _over(line), line.filed
    return {
        "ended": ended,
        "filing": filing_of(line.tree, filed),
        "visit": with_fields(view_of(Visit, content_of(ended)), count=memory.visit.count + 1),
        "usage": {name: memory.usage.get(name, 0) + value for name, value in line.usage.items()},
        "out": _fold_out(memory, line),
        "judged": _fold_judged(memory, _left(line), line.tree, line.role, line.filed.get("files", {})),
        "last_run": LastRun(run=line.run, agent=line.agent, model=line.model, left=line.left),
    }


def _fold_unmoved(memory: Memory, line: Crashed | Unmoved) -> dict[str, Any]:
    changes: dict[str, Any] = {"ended": NO_END, "visit": with_fields(memory.visit, why=line.why or "")}
    if isinstance(line, Unmoved) and line.closed:
        changes["same"] = {**memory.same, line.closed: times(memory, line.closed)}
    return changes


def times(memory: Memory, closed: str) -> int:
    """How many runs of this visit a refusal has ended, with the one that ends now."""
    return memory.same.get(closed, 0) + 1 if closed else 0


def _fold_word(memory: Memory, line: Line) -> dict[str, Any]:
    """A person's word: it answers a no, empties the question, and lets a run start that may have waited for it."""
    if isinstance(line, RestoredTree):  # a branch that is there again
        return {"prepared": {**memory.prepared, **line.prepared}}
    if isinstance(line, Resumed):
        return {"same": {}, "visit": with_fields(memory.visit, word=True)} if memory.visit else {"same": {}}
    if not isinstance(line, Answered):
        return {}
    return {"same": {}, **({"snapshot": memory.snapshot.replace(seq=line.seq, no={})} if memory.snapshot.no else {})}


def _left(line: RunEnded) -> dict[str, str]:
    """The evidence as a run left it, without the reports that were restored because they are not its own."""
    # A file that was restored takes all its sections with it.
    taken = tuple(f"{item.partition(':')[2]}:" for item in line.taken or ())
    return {key: value for key, value in line.evidence.items() if not f"{key.partition(':')[2]}:".startswith(taken)}


def _fold_judged(
    memory: Memory, evidence: Mapping[str, str], tree: str, role: str, filed: Mapping[str, str] = {}
) -> dict[str, Report]:
    """Reports that are new are about the tree they were found with; without a role a person wrote them.

    One that was filed from this very run is new, also where it says the same.
    """
    found = {key: value for key, value in evidence.items() if key.startswith(_JUDGEMENTS)}
    known = {key: report.hash for key, report in memory.judged.items()}
    new = {key: value for key, value in found.items() if known.get(key) != value or filed.get(key.split(":")[1])}
    return {**memory.judged, **{key: Report(hash=value, tree=tree, role=role) for key, value in new.items()}}


def _fold_out(memory: Memory, line: RunEnded) -> dict[str, Unavailable]:
    name = f"{line.agent}:{line.model}" if line.model else line.agent
    out = {known: last for known, last in memory.out.items() if known != name}
    is_out = line.exit != "finished" and not line.by_person and line.exit != "lost"
    return {**out, name: Unavailable(exit=line.exit, wake=line.wake)} if is_out else out
