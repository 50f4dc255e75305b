"""Ends agent runs: what is left when no process is, and which move follows from it.

1. no process of the run is left (the keeper saw to it; what a lost keeper left is ended here)
2. `run_ended`: exit class, tree, usage, what was put back, and what the run asked for; one line
3. a run that changed what it may not is tainted: what it asked for is not even considered
4. the claim is decided as the agent's
5. no claim, or refused: decided as the engine's
6. nothing open: the exit class decides: a crash, or a run that left the task where it is (`unmoved`)

Every stage is remembered, so that an engine that died in the middle goes on where it stopped. What nobody has to wait
for comes after the line: the anchor, and what readers are told of the tree. Who ends many runs does that for all later.
"""

from __future__ import annotations

import os
import re
from functools import partial

from detent.core.machine import TAINTED
from detent.core.record import Record
from detent.core.runs import run_over, stayed, stop
from detent.core.values import Advance, Refuse, Signal, Wait
from detent.effects import keeper
from detent.effects.agents.events import classify, read_usage
from detent.effects.keeper_look import TALKED, exit_class
from detent.effects.keeper_process import EVENTS
from detent.effects.put_back import put_back as put_back_files
from detent.effects.sandbox import BUBBLEWRAP
from detent.effects.tree import Taken, changed_files
from detent.errors import DetentError, RefusedError, UnreadableError
from detent.gates.judge import evidence_hashes
from detent.runner.anchor import anchor
from detent.runner.layout import writes_of
from detent.runner.locks import changed_of_others, items_of, shown_item
from detent.runner.look import current_tree, look, remember_taken, take_tree_at_once
from detent.runner.mend import put_back
from detent.runner.promises import put_in_order
from detent.runner.runs import fingerprint, run_seen
from detent.runner.settle import disorder_words, find_disorder, read_document, record, remember
from detent.runner.step import Outcome, step
from detent.store.atomic import read_plain
from detent.store.lock import Lock
from detent.store.memory import utc_now
from detent.store.patterns import matches

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from detent.core.values import Decision
    from detent.effects.agents.events import Usage
    from detent.effects.keeper_look import RunSeen
    from detent.runner.open import Task
    from detent.store.native import Document

_LOADED_LATE = ("hashlib", "subprocess", "zlib", "detent.effects.process", "detent.effects.tree_at_once")
BOUND = "bound"  # in a run's directory: which bound of the budget it was ended for
_SIGNALLED = 128  # an exit code above it is a signal
QUOTA_WAIT_S = 900  # where the agent does not say when it may go on
_MOST_NAMES = 50
_MOST_ERRORS = 3
_SESSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:-]{0,127}")  # becomes a word of a command line: nothing like an option
_LONGEST_TEXT = 1000


def load_for_ends() -> None:
    """Load what only the end of a run needs; for who waits for one, so that the first does not wait for that."""
    from importlib import import_module

    for name in _LOADED_LATE:
        import_module(name)


def attend(task: Task) -> tuple[Task, Outcome | None]:
    """Bring what is remembered of runs up to what is real; a living run is left alone.

    The outcome is that of a run which ended and was decided now.
    """
    if task.memory.run:
        task = end_run(task)
    if task.memory.ended and not task.memory.run:
        number, noted = task.memory.ended["run"], tuple(task.memory.visit.get("restored", ()))
        outcome = decide_end(task)
        if isinstance(outcome.decision, Advance):  # the next state remembers nothing of this run
            outcome = outcome.replace(notes=(*noted, *outcome.notes))
        is_ours = isinstance(outcome.decision, Advance) or outcome.task.memory.visit.get("run") == number
        return outcome.task, outcome if is_ours else None  # else somebody else decided it, and tells it
    return task, None


class Left(Record):
    """What is left to do once the line of an end stands; `since` is the moment before its tree was taken."""

    task: Task
    taken: Taken
    since: int


def end_run(task: Task, later: list[Left] | None = None) -> Task:
    """Write down the end of a run that is over; a run that lives, or of which nothing is sure, stays as it is.

    What may wait is done here too, or noted in `later` for `tidy_up`.
    """
    with Lock(task.places.lock()):
        task.native.look_again()
        task = task.now()
        seen = run_seen(task)
        if seen is None or seen.phase in ("alive", "unknown"):
            return task
        if seen.phase == "unborn":
            number = task.memory.run["run"]
            if not keeper.void(task.places.run(number)):
                return task  # it was begun just now
            memory = record(task, task.memory, "run_void", {"run": number, "why": "it was planned and never began"})
            return task.replace(memory=memory)
        left = _write_down(task, seen)
        if later is None:
            _tidy_up(left)
        else:
            later.append(left)
        return left.task


def tidy_up(left: Left) -> None:
    """Do what `end_run` left for later."""
    with Lock(left.task.places.lock()):
        task = left.task.now()
        if task.memory.snapshot.seq == left.task.memory.snapshot.seq:
            _tidy_up(left)
        else:
            anchor(task)  # somebody went on meanwhile, and took a tree of their own


def _tidy_up(left: Left) -> None:
    anchor(left.task)
    if left.taken.id:
        remember_taken(left.task, left.taken, left.since)


def _write_down(task: Task, seen: RunSeen) -> Left:
    memory, run = task.memory, task.memory.run
    if seen.phase == "lost" and seen.identity is not None:
        swept = keeper.end_survivors(seen.identity)
        if swept.left:
            raise RefusedError(
                f"processes of agent run #{run['run']} can't be ended: {', '.join(map(str, swept.left))}",
                next_step="end them by hand, then run the same command again",
            )
    document, told = _readable(task)
    disorder = find_disorder(task, memory, document)
    others = changed_of_others(task, run.get("held", {}), document)
    notes = (*told, *disorder_words(task, memory.snapshot, disorder), *_others_words(task, others))
    usage, exit_name = _result(task, seen)
    taken, since, problem = _taken(task)
    tainted = _tainted(task, taken)
    filed = {} if tainted else _file(task, taken.id)
    content: dict[str, Any] = {
        **{name: run[name] for name in ("run", "role", "state", "access", "agent", "model", "seen")},
        "exit": exit_name,
        **_how(seen, task),
        "before": run["tree"],
        "tree": taken.id,
        "problem": problem,
        "tainted": tainted,
        "put_back": not task.memory.head["in_place"],
        "by_person": _is_by_person(task, seen),
        "claim": memory.claim.get("want") or disorder.request,
        "claim_by": "command" if memory.claim else "file" if disorder.request else "",
        "said": task.store.keep(usage.last_text.encode("utf-8", "replace")) if usage.last_text else "",
        "usage": _used(seen, usage, exit_name),
        "session": usage.session if _SESSION.fullmatch(usage.session) else "",
        "denials": usage.denials,
        "errors": [error[:_LONGEST_TEXT] for error in usage.errors[-_MOST_ERRORS:]],
        "wake": (usage.quota_until or utc_now(QUOTA_WAIT_S)) if exit_name == "quota" else "",
        "restored": [*notes, *filed.get("refused", ())],
        "filed": filed,
        "taken": others,
        "kept": task.store.keep(document.text.encode("utf-8")) if notes or disorder.request else "",
        "evidence": evidence_hashes(look(task, memory, document, "")),
    }
    ended_as = TAINTED if content["tainted"] else exit_name
    after = run_over(task.machine, memory.snapshot, ended_as, by_person=content["by_person"])
    if content["tainted"]:
        after = after.replace(entry=_without_fresh(task, content["evidence"]))
    memory, _ = remember(task, memory, document, "run_ended", content, after=after, restore=(*disorder.locked, *others))
    return Left(task.replace(memory=memory), taken, since)


def _without_fresh(task: Task, evidence: Mapping[str, str]) -> Mapping[str, str]:
    """What is remembered as old once a run is not heard: all that it wrote is no proof for the next one either."""
    snapshot = task.memory.snapshot
    if task.machine.states[snapshot.state].must_open:  # it has crashed: nothing of this visit counts
        return evidence
    before = task.memory.visit.get("evidence", snapshot.entry)
    return {**snapshot.entry, **{key: value for key, value in evidence.items() if before.get(key) != value}}


def _file(task: Task, tree: str) -> dict[str, Any]:
    """What the state wants filed of a run, for the line of its end; nothing of a run that changed what it may not."""
    if not task.machine.states[task.memory.snapshot.state].files:
        return {}
    from detent.runner.filing import file_run  # few states want anything filed

    made = file_run(task, tree)
    return {"files": made.files, "refused": list(made.refused)}


def _others_words(task: Task, items: Iterable[str]) -> list[str]:
    owners = {item: " or ".join(lock.role) for lock in task.machine.locks for item in items_of(lock)}
    file, role = task.native.file, task.memory.run["role"]
    return [f"{shown_item(file, item)} is for the {owners[item]}, not the {role}, and was put back" for item in items]


def _readable(task: Task) -> tuple[Document, tuple[str, ...]]:
    """The document as the run left it; one it spoilt is written again, and what stood there is kept aside."""
    try:
        document = read_document(task)
    except UnreadableError as error:
        told, aside = put_back(task, error)
        return task.native.read(), (told + (f"; what stood there is now {aside}" if aside else ""),)
    if not document.found:
        return document, ()
    kept = task.store.keep(document.found)  # the computer stopped meanwhile, and the journal's text is newer
    return document, (f"{task.native.file} was older than the journal; what stood there is kept as {kept}",)


def _result(task: Task, seen: RunSeen) -> tuple[Usage, str]:
    import time

    run = task.memory.run
    usage = read_usage(os.path.join(task.places.run(run["run"]), EVENTS), run["events"], time.time())
    if _bound(task):
        return usage, "timeout"
    if seen.exit is not None and seen.exit.reason == "claimed":
        return usage, "finished"  # it was ended because it had got what it wanted, whatever it was saying
    return usage, classify(_class_of(seen, run["sandbox"]), usage)


def _class_of(seen: RunSeen, level: str) -> str:
    """How the program ended; bubblewrap stands between it and the keeper, and tells a signal as shells do."""
    found = exit_class(seen.exit)
    code = seen.exit.code if seen.exit is not None else None
    if level == BUBBLEWRAP and found == "failed" and code is not None and code > _SIGNALLED:
        return "killed"
    return found


def _bound(task: Task) -> str:
    data = read_plain(os.path.join(task.places.run(task.memory.run["run"]), BOUND))
    return (data or b"").decode("utf-8", "replace")


def _how(seen: RunSeen, task: Task) -> dict[str, Any]:
    ended = seen.exit
    if ended is None:
        return {"how": "lost", "code": None, "signal": None, "survivors": 0}
    how = _bound(task) or ended.reason
    return {"how": how, "code": ended.code, "signal": ended.signal, "survivors": ended.survivors}


def _is_by_person(task: Task, seen: RunSeen) -> bool:
    """Whether a person ended the run: that is no crash. Who talked to the agent was there all the time."""
    if seen.exit is not None and seen.exit.reason == TALKED:
        return True
    driven = task.memory.driven
    is_off = bool(driven) and not driven["on"] and driven["seq"] > task.memory.run["seq"]
    return is_off and seen.exit is not None and seen.exit.reason == "stopped" and not _bound(task)


def _used(seen: RunSeen, usage: Usage, exit_name: str) -> dict[str, float]:
    return {
        "runs": int(exit_name != "quota"),  # nobody worked, so it is none of the runs a budget allows
        "seconds": round(seen.exit.ended - seen.exit.started, 3) if seen.exit else 0,
        "turns": usage.turns,
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "cost_usd": usage.cost_usd,
    }


def _taken(task: Task) -> tuple[Taken, int, str]:
    """The tree as the run left it, or why it can't be taken: what can't be looked at proves nothing."""
    try:
        return *take_tree_at_once(task), ""
    except DetentError as error:
        return Taken("", ()), 0, f"{error.what} ({error.where})" if error.where else error.what


def _tainted(task: Task, taken: Taken) -> list[str]:
    """The files of the repository that the run changed and may not: a reading role none, any other none protected."""
    run = task.memory.run
    is_forbidden = partial(_is_forbidden, task, run["access"], run["role"])
    if not taken.id or taken.id == run["tree"]:
        return []
    if taken.before == run["tree"] and not any(map(is_forbidden, taken.changed)):
        return []  # whatever of it really differs, none is among them
    changed = changed_files(task.places.private_git(), run["tree"], taken.id)
    return [name for _status, name in changed if is_forbidden(name)][:_MOST_NAMES]


def _is_forbidden(task: Task, access: str, role: str, name: str) -> bool:
    folders = writes_of(task.machine.store, role)
    is_outside = bool(folders) and not name.startswith(folders)
    return access == "read" or is_outside or matches(name, task.memory.head["protect"]["deny"])


def _put_tree_back(task: Task) -> None:
    """Undo in a clone what a tainted run may not change; only after its line stands, or a crash would hide the taint.

    A checkout that is worked on in place is its user's, who may have been at work too: there it is only told. What the
    run made of the files stays in the private git folder, under the tree id of that line.
    """
    ended = task.memory.ended
    if ended["tainted"] and ended["put_back"]:
        only = partial(_is_forbidden, task, ended["access"], ended["role"])
        put_back_files(task.places.private_git(), task.tree_path, current_tree(task), ended["before"], only=only)


def decide_end(task: Task) -> Outcome:
    """Take the move that follows from an ended run, or write down that none did."""
    ended = task.memory.ended
    why = ended["problem"]
    if ended["tainted"]:
        names = ", ".join(ended["tainted"][:5])
        folders = writes_of(task.machine.store, ended["role"])
        what = f"its role may write to {' and '.join(folders)} alone" if folders else "these files are protected"
        what = "its role may only read the repository" if ended["access"] == "read" else what
        why = f"{what}, and it changed {names}: what it asked for was not considered"
        must_open = task.machine.states[task.memory.snapshot.state].must_open
        if not (must_open and ended["put_back"]):
            return _stays(task, why)
    if not why:
        asked = [Signal("agent", ended["claim"], name=ended["role"], reason=f"run {ended['run']}")]
        monitor = Signal("engine", reason=f"run {ended['run']} ended as {ended['exit']}")
        for signal in (*(asked if ended["claim"] else ()), monitor):
            outcome = step(task, signal, of_run=ended["run"])
            if isinstance(outcome.decision, Advance) or not outcome.task.memory.ended:
                return outcome  # it moved, now or by somebody else
            task, decision = outcome.task, outcome.decision
            why = why or _closed(decision)
    if not _is_crash(task):
        # Who talked to the agent is there to hear what is missing; who stopped a run knows why it opened nothing.
        is_cut = ended["by_person"] and ended["how"] != TALKED
        return _stays(task, "a person ended the run" if is_cut else why)
    if ended["tainted"]:
        with Lock(task.places.lock()):
            memory = task.store.load()
            if memory.ended.get("run") == ended["run"]:  # else somebody else decided it, and the tree is not ours
                _put_tree_back(task.replace(memory=memory))
    return step(task, Signal("crash", exit=ended["exit"], reason=why), of_run=ended["run"])


def _is_crash(task: Task) -> bool:
    """Whether a run that opened nothing counts as one that crashed: its state says so."""
    ended, state = task.memory.ended, task.machine.states[task.memory.snapshot.state]
    return state.can_crash() and not ended["by_person"] and state.is_crash(ended["exit"])


def _closed(decision: Decision) -> str:
    """What kept a move from being made, in words."""
    if isinstance(decision, Refuse):
        parts = (f"refused: {decision.problem}", "; ".join(one.why for one in decision.missing))
        return ": ".join(part for part in parts if part)
    missing = decision.missing if isinstance(decision, Wait) else ()
    # Where nothing was the engine's to do, nothing kept it from doing it.
    return "" if any(one.gate == "by" for one in missing) else "; ".join(dict.fromkeys(one.why for one in missing))


def _stays(task: Task, why: str) -> Outcome:
    ended = task.memory.ended
    with Lock(task.places.lock()):
        settled = put_in_order(task)
        task = task.at(settled.memory)
        memory, snapshot = settled.memory, settled.memory.snapshot
        if memory.ended.get("run") != ended["run"]:
            return Outcome(Wait("somebody else decided it"), task, {}, Signal("engine"), "")
        _put_tree_back(task)
        is_excused = ended["exit"] == "quota" or ended["by_person"]
        made_progress = is_excused or _has_changed(task, settled.document)
        after = stayed(task.machine, snapshot, made_progress=made_progress)
        if ended["tainted"] and not ended["put_back"]:
            # What it changed is still there, and the next run would be measured from it.
            after = stop(snapshot, why)
        content = {"run": ended["run"], "exit": ended["exit"], "progress": made_progress, "why": why}
        memory, _ = remember(task, memory, settled.document, "unmoved", content, after=after)
    task = task.replace(memory=memory)
    return Outcome(Wait(why or "no move is open"), task, {}, Signal("engine"), snapshot.state)


def _has_changed(task: Task, document: Document) -> bool:
    ended = task.memory.ended
    # What a tainted run may not change was put back; the rest of its work counts.
    tree = _taken(task)[0].id if ended["tainted"] else ended["tree"]
    return bool(tree) and fingerprint(task, task.memory, document, tree) != ended["seen"]
