"""Replays a journal line by line: every recorded move is decided again, and must come to the same end.

For each line, in this order:
1. its kind is known and all its fields are there; its time does not run backwards;
2. what it says happened is what the rules make of the moment before (`core.decide` for moves, fixed rules otherwise);
3. proof that can still be recomputed is: receipts for the tree, remembered values, kept texts;
4. it is folded into the memory, which the next line starts from.

Nothing is raised for a bad line and nothing is written; the store proved the chain before.
"""

from __future__ import annotations

import os
import re

from detent.core.decide import decide, enter
from detent.core.machine import CRASHES, IDLE, RUNS, STOPPED
from detent.core.record import Record
from detent.core.values import Advance, Crash, Fact, Refuse, Signal, Snapshot
from detent.errors import ToolError, UnreadableError, UsageError
from detent.gates.judge import judge
from detent.proof.replay_deploy import deploy_problems
from detent.proof.replay_runs import RUN_KINDS, after_run, end_problems, run_order_problems, run_problems
from detent.proof.replay_settings import setting_problems
from detent.runner.locks import closed_items, items_of
from detent.runner.look import look, touched_now
from detent.runner.prepare import decide_again, steps_of
from detent.store.atomic import read_plain
from detent.store.digest import sha256_of
from detent.store.fields import Found
from detent.store.native import Document
from detent.store.tasks import fold, snapshot_from_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from detent.core.machine import Machine
    from detent.runner.open import Task
    from detent.store.journal import Entry
    from detent.store.tasks import Memory

_HEAD = (
    *("id", "title", "machine", "digest", "dir", "root", "common_dir", "home", "in_place", "tree_path"),
    *("baseline", "commands", "notes", "land"),
    *(
        "command_timeout_s",
        "command_limits",
        "audit",
        "workspace",
        "limits",
        "options",
        "evidence_base",
        "by",
        "name",
        "sandbox",
        "after",
    ),
    *("agents", "budget", "notify", "prompts", "request", "sandbox_rules", "protect", "allow_no_new_privs"),
)
_MOVE = ("edge", "way", "from", "to", "by", "name", "reason", "verb", "exit", "answer", "facts", "waived", "override")

# Every kind of line with the fields it must have besides seq, time, kind and prev.
KINDS: Mapping[str, tuple[str, ...]] = {
    "created": _HEAD,
    "adopted": _HEAD,
    "moved": (*_MOVE, "tree", "signed", "effects", "machine", "sandbox", "after"),
    "intended": ("edge", "prepare", "given", "move"),
    "unprepared": ("step", "edge", "why"),
    "refused": ("want", "by", "name", "from", "problem", "missing"),
    "restored": ("file", "why", "kept"),
    "filed": ("tree", "files", "refused"),
    "proved": ("tree", "receipts", "limits", "sandbox", "network"),
    "approved": ("by", "name", "reason", "tree", "files"),
    "deploy": (*("stage", "plan", "commands", "by", "name", "reason", "tree", "visit", "receipts", "ok", "why"),),
    "landed": ("by", "name", "how", "commit", "branch", "tree"),
    "collected": ("by", "name", "branches", "kept"),
    "restored_tree": ("by", "name", "checkpoint", "tree", "kept"),
    "acted": ("step", "result", "fields"),
    "crashed": ("by", "exit", "after"),
    "answered": ("by", "name", "answer"),
    "resumed": ("by", "name", "reason", "answer", "after"),
    "amended": ("by", "name", "reason", "fields", "was", "after"),
    "configured": ("by", "name", "reason", "mode", "limits", "budget", "agents", "commands", "fields", "locked"),
    **RUN_KINDS,
}
_FIRST = ("created", "adopted")
_BY_PERSON = (
    *("approved", "answered", "resumed", "amended", "configured"),
    *("restored_tree", "landed", "collected", "driven"),
)
_HASHES = ("entry", "locked")  # of files at that moment: nothing to decide them from
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
# Checks whose answer lies in what we keep, not in files that go on changing.
_RECOMPUTED = ("commands", "red_green", "register_is", "protected_ok", "signed_tree")
MALFORMED = (KeyError, TypeError, ValueError, AttributeError, IndexError)  # what a line of the wrong shape runs into


class Finding(Record):
    """Something that does not agree; a warning is what a crash or a clock may leave behind without anybody's fault."""

    line: int
    kind: str
    what: str
    is_warning: bool = False


class Replay:
    """The state of one replay. Without a machine the lines are folded, but no move can be decided again."""

    def __init__(self, task: Task | None) -> None:
        self.task = task
        self.findings: list[Finding] = []
        self.memories: list[Memory] = []  # after each line; what the cache is compared with
        self.effects: list[tuple[int, str, Mapping[str, Any]]] = []  # acted lines: number, step key, result
        self.time = ""

    def line(self, entry: Entry, raw: bytes, size: int) -> bool:
        """Take one more line; False when nothing after it can be understood."""
        number, kind = entry["seq"], entry.get("kind")
        memory = self.memories[-1] if self.memories else None
        if kind not in KINDS:
            self.found(number, "kind", f"{kind!r} is no kind of line we know")
        else:
            self.shape(number, entry, is_first=memory is None)
        try:
            if self.task is not None and kind in KINDS:
                for finding in self.judged(self.task, entry, memory):
                    self.findings.append(finding)
            self.memories.append(fold(memory, entry, raw, size))
        except MALFORMED as error:
            self.found(number, "malformed", f"the line can't be understood: {type(error).__name__} {error}")
            return False
        return True

    def found(self, line: int, kind: str, what: str, *, is_warning: bool = False) -> None:
        self.findings.append(Finding(line, kind, what, is_warning))

    def shape(self, number: int, entry: Entry, *, is_first: bool) -> None:
        kind = entry["kind"]
        lacking = [field for field in KINDS[kind] if field not in entry]
        if is_first != (kind in _FIRST):
            self.found(number, "kind", f"a {kind} line can't stand here")
        if lacking:
            self.found(number, "malformed", f"a {kind} line needs {', '.join(lacking)}")
        if "after" in entry and "after" not in KINDS[kind]:
            self.found(number, "decision", f"a {kind} line changes nothing, this one says it did")
        if kind in _BY_PERSON and entry.get("by") != "person":
            self.found(number, "decision", f"only a person makes a {kind} line, not {entry.get('by')!r}")
        time = str(entry.get("time", ""))
        if not _TIME.fullmatch(time):
            self.found(number, "malformed", f"{time!r} is no time")
        elif time < self.time:
            self.found(number, "time", f"{time} is earlier than the line before ({self.time})", is_warning=True)
        self.time = max(self.time, time)

    def judged(self, task: Task, entry: Entry, memory: Memory | None) -> Iterator[Finding]:
        kind, number = entry["kind"], entry["seq"]
        if memory is None:
            yield from _first(task, entry)
            return
        task, before = task.at(memory), memory.snapshot
        if entry.get("from", before.state) != before.state:
            yield Finding(number, "decision", f"it starts in {entry['from']}, but the task was in {before.state}")
        yield from (Finding(number, "run", problem) for problem in run_order_problems(entry, memory))
        if kind == "moved":
            yield from _moved(task.machine, entry, memory)
            yield from _proof(task.replace(memory=memory), entry)
        elif kind in ("intended", "unprepared"):
            yield from _intended(task, entry, memory)
        elif kind in ("resumed", "amended"):
            yield from _by_rule(entry, before)
        elif kind in ("configured", "deploy"):
            told = setting_problems(task, entry) if kind == "configured" else deploy_problems(entry, memory)
            yield from (Finding(number, "decision", problem) for problem in told)
        elif kind == "crashed":
            yield from _crashed(task.machine, entry, before)
        elif kind in RUN_KINDS:
            yield from _about_run(task, entry, memory)
        elif kind == "approved":
            yield from _approved(task, entry)
        elif kind == "restored":
            yield from _kept(task, entry)
        elif kind == "acted":
            if entry["step"] not in memory.unsettled:
                yield Finding(number, "effect", f"no move promised {entry['step']}, or it was done before")
            self.effects.append((number, entry["step"], entry["result"]))
        yield from _carried(task, entry, before)


def _crashed(machine: Machine, entry: Entry, before: Snapshot) -> Iterator[Finding]:
    counted = decide(machine, before, {}, Signal("crash", exit=entry["exit"]))
    if not isinstance(counted, Crash):
        yield Finding(entry["seq"], "decision", f"a run that ended as {entry['exit']} is not counted so here")
    else:
        yield from _differences(entry["seq"], counted.after, snapshot_from_json(entry["after"], entry["seq"]))


def _carried(task: Task, entry: Entry, before: Snapshot) -> Iterator[Finding]:
    """The text of the native file that a line carries must name the state the task is in after it."""
    if carried := entry.get("native"):
        try:
            state = task.native.parsed(carried["text"]).state
        except UnreadableError as error:
            yield Finding(entry["seq"], "native", f"the text it carries can't be read: {error.what}")
            return
        wanted = entry["after"]["state"] if "after" in entry else before.state
        if state != wanted:
            yield Finding(entry["seq"], "native", f"the text it carries names {state or 'no state'}, not {wanted}")


def _about_run(task: Task, entry: Entry, memory: Memory) -> Iterator[Finding]:
    number = entry["seq"]
    yield from (Finding(number, "run", problem) for problem in run_problems(task.machine, entry, memory))
    if (due := after_run(task.machine, entry, memory.snapshot, memory.ended)) is not None:
        yield from _differences(number, due, snapshot_from_json(entry["after"], number))
    if entry["kind"] == "run_ended":
        yield from (Finding(number, "run", problem) for problem in end_problems(task, entry))
        yield from _kept(task, entry)


def _first(task: Task, entry: Entry) -> Iterator[Finding]:
    if entry["id"] != task.id:
        yield Finding(1, "head", f"it is the journal of task {entry['id']}, not of {task.id}")
    after = snapshot_from_json(entry["after"], 1)
    if after.state not in task.machine.states:
        yield Finding(1, "decision", f"{task.machine.name} has no state {after.state!r}")
    elif entry["kind"] == "created":
        yield from _differences(1, enter(task.machine, after.mode), after)


def _moved(machine: Machine, entry: Entry, memory: Memory) -> Iterator[Finding]:
    """Ask again for the very edge that was taken, with the facts that were seen then."""
    number, before = entry["seq"], memory.snapshot
    # Gates nobody wrote down were not looked at; as pending ones they can be neither open nor waived.
    facts = {name: Fact(name, ok=False, why="not recorded", pending=True) for name in machine.gates}
    for gate, content in entry["facts"].items():
        facts[gate] = Fact(gate, content["ok"] is True, content.get("why", "it was closed"))
    signal = Signal(
        entry["by"],
        entry["edge"],
        name=entry["name"],
        reason=entry["reason"],
        exit=entry.get("exit", ""),
        override=entry["override"],
        verb=entry["verb"],
    )
    decision = decide(machine, before, facts, signal)
    if not isinstance(decision, Advance):
        missing = decision.missing if isinstance(decision, Refuse) else ()
        why = "; ".join(f"{one.gate}: {one.why}" for one in missing) or getattr(decision, "problem", "")
        why = why or f"{entry['by']} finds nothing open"
        yield Finding(number, "decision", f"{entry['from']} -> {entry['to']} is not allowed: {why}")
        return
    wanted = {
        "edge": decision.edge.name,
        "way": decision.way.number,
        "to": decision.after.state,
        "waived": list(decision.waived),
        "effects": list(decision.way.effects),
        "machine": memory.head["digest"],
    }
    for field, value in wanted.items():
        if entry[field] != value:
            yield Finding(number, "decision", f"{field} is {entry[field]!r}, the rules give {value!r}")
    yield from _prepared(entry, memory, steps_of(decision.way.prepare))
    if decision.edge.sign_off and not (entry["tree"] and entry["signed"].get("files")):
        yield Finding(number, "sign-off", f"{entry['edge']} was signed without the tree or the files it is about")
    if entry["signed"] and not decision.edge.sign_off:
        yield Finding(number, "sign-off", f"{entry['edge']} is no sign-off, and this line says it was one")
    after = snapshot_from_json(entry["after"], number)
    yield from _differences(number, decision.after, after)
    free = {item for lock in machine.locks if before.state in lock.after for item in items_of(lock)}
    yield from _locks(number, before, after, free)


def _intended(task: Task, entry: Entry, memory: Memory) -> Iterator[Finding]:
    """A move is prepared only after it was decided, one at a time, and given up only while it is."""
    number = entry["seq"]
    if (entry["kind"] == "intended") == bool(memory.intent):
        yield Finding(number, "prepare", "it is intended while another is" if memory.intent else "nothing was intended")
    if entry["kind"] == "unprepared":
        return
    try:
        taken = decide_again(task.replace(memory=memory), entry["move"])
    except UnreadableError as error:
        yield Finding(number, "decision", error.what)
        return
    if list(entry["prepare"]) != list(taken.way.prepare):
        yield Finding(number, "prepare", f"the move prepares {', '.join(taken.way.prepare)}, not what it says")


def _prepared(entry: Entry, memory: Memory, wanted: Sequence[str]) -> Iterator[Finding]:
    """A move with steps was intended first, as it is made now; without steps it carries no results."""
    number = entry["seq"]
    intended = memory.intent.get("move", {})
    if bool(intended) != bool(wanted) or any(entry[key] != value for key, value in intended.items()):
        yield Finding(number, "prepare", "it is not the move that was intended")
    if lacking := [name for name in wanted if name not in entry.get("prepared", {})]:
        yield Finding(number, "prepare", f"nothing says what became of {', '.join(lacking)}")


def _by_rule(entry: Entry, before: Snapshot) -> Iterator[Finding]:
    """A person let a stopped task go on, or changed what is locked; neither moves it."""
    number = entry["seq"]
    after = snapshot_from_json(entry["after"], number)
    wanted, free = before, set(before.locked)
    if entry["kind"] == "resumed":
        registers = {name: value for name, value in before.registers.items() if name != STOPPED}
        counters = {name: value for name, value in before.counters.items() if name not in (RUNS, CRASHES, IDLE)}
        wanted, free = before.replace(registers=registers, counters=counters), set()
    else:
        free = {name for label in entry["fields"] for name in (label, f"field:{label}")}
    yield from _differences(number, wanted, after)
    yield from _locks(number, before, after, free)


def _differences(number: int, wanted: Snapshot, recorded: Snapshot) -> Iterator[Finding]:
    for field in Snapshot._fields:
        if field not in (*_HASHES, "seq") and getattr(wanted, field) != getattr(recorded, field):
            given, due = getattr(recorded, field), getattr(wanted, field)
            yield Finding(number, "decision", f"{field} after it is {given!r}, the rules give {due!r}")


def _locks(number: int, before: Snapshot, after: Snapshot, free: set[str]) -> Iterator[Finding]:
    for item, digest in before.locked.items():
        if item not in free and after.locked.get(item) != digest:
            yield Finding(number, "decision", f"the locked text {item.partition(':')[2]!r} was changed by this line")


def _approved(task: Task, entry: Entry) -> Iterator[Finding]:
    """A person's word about files must name a tree, and the very files that tree has touched."""
    try:
        files = touched_now(task, entry["tree"]).ask
    except (ToolError, UsageError) as error:
        yield Finding(entry["seq"], "approval", f"the tree that was approved can't be read: {error.what}")
        return
    if entry["files"] != files:
        yield Finding(entry["seq"], "approval", f"the files approved are not those that {entry['tree'][:12]} touched")


def _kept(task: Task, entry: Entry) -> Iterator[Finding]:
    """What stood in a file before it was put back: an object by its hash, or a file moved aside."""
    kept = entry["kept"]
    if not kept:
        return
    if os.path.isabs(kept):
        if not os.path.lexists(kept):
            yield Finding(entry["seq"], "object", f"{kept}, which was moved aside, is gone", is_warning=True)
    elif problem := object_problem(task, kept):
        yield Finding(entry["seq"], "object", problem)


def object_problem(task: Task, digest: str) -> str:
    """What is wrong with a text kept by its hash; empty when it is whole."""
    try:
        data = read_plain(os.path.join(task.places.objects(), digest))
    except UnreadableError as error:
        return f"kept text {digest[:12]}: {error.what}"
    if data is None:
        return f"kept text {digest[:12]} is missing"
    return "" if sha256_of(data) == digest else f"kept text {digest[:12]} was changed"


def _proof(task: Task, entry: Entry) -> Iterator[Finding]:
    """Ask the gates again whose answer must be the same for ever: this tree, these commands, this moment."""
    snapshot = task.memory.snapshot
    texts: dict[str, Found] = {}
    for item in closed_items(task.machine, snapshot):
        if problem := object_problem(task, snapshot.locked[item]):
            yield Finding(entry["seq"], "object", f"{item.partition(':')[2]}: {problem}")
            continue
        data = read_plain(os.path.join(task.places.objects(), snapshot.locked[item])) or b""
        kind, _, label = item.partition(":")
        if kind == "field":
            texts[label] = Found(label, "", data.decode("utf-8", "replace"), 0, 0)
    seen = look(task, task.memory, Document("", "", texts, snapshot.state), entry["tree"])
    for name, content in entry["facts"].items():
        if content["ok"] is not True or not _can_recompute(task.machine, name, texts):
            continue
        fact = judge(seen, [name])[name]
        if not fact.ok:
            yield Finding(entry["seq"], "proof", f"gate {name} was open then and can't be shown now: {fact.why}")
        elif content.get("proof", "") != fact.proof:
            yield Finding(entry["seq"], "proof", f"gate {name} names other receipts than those of its commands")


def _can_recompute(machine: Machine, name: str, texts: Mapping[str, Found]) -> bool:
    gate = machine.gates[name]
    if gate.check in ("not", "all"):
        return all(_can_recompute(machine, part, texts) for part in gate.params["of"])
    if gate.params.get("files"):  # what stands in the task folder goes on changing
        return False
    return gate.check in _RECOMPUTED and gate.params.get("field", "") in ("", *texts)
