"""Writes down the end of an agent run once no process of it is left: `run_ended`, one line.

1. a run that lives, or of which nothing is sure, stays as it is; one that never began is made void
2. processes that a lost keeper left are ended here
3. the document: an unreadable one is written again; texts that the run may not change are restored
4. the tree as the run left it, and its forbidden changes
5. the files that the state wants filed
6. the line, and only then work without a waiting caller: the anchor, and the readers' memory of the tree. A caller
   that ends many runs does that for all later (`tidy_up`)

The moves that follow are decided elsewhere (ending.py).
"""

from __future__ import annotations

import re

from detent.core.machine import TAINTED
from detent.core.record import Record
from detent.core.runs import run_over
from detent.effects.git.tree.tree_id import Taken
from detent.effects.host.keeper import start as keeper
from detent.effects.host.keeper.process import ERRORS, EVENTS, EXIT
from detent.errors import DetentError, RefusedError, UnreadableError
from detent.gates.judge import evidence_hashes
from detent.runner.access.logins import changed_steering
from detent.runner.run.left_behind import left_behind
from detent.runner.run.repair import put_back
from detent.runner.run.run_result import how_ended, is_by_person, usage_and_exit, used
from detent.runner.run.runs import run_seen
from detent.runner.run.taint import is_put_back, tainted_files, tainted_hooks
from detent.runner.step.anchor import anchor
from detent.runner.step.changing import changing
from detent.runner.step.disorder import disorder_words, find_disorder, read_document
from detent.runner.step.locks import changed_of_others, items_of, shown_item
from detent.runner.step.look import look, remember_taken, take_tree_unremembered
from detent.runner.step.resolving import resolving
from detent.runner.step.said_no import said_no
from detent.store.journal.memory import filing_of, utc_now
from detent.store.journal.run_events import RunEnded, RunVoid
from detent.store.journal.vouched import prints_of
from detent.words.runner import run as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from detent.effects.host.keeper.look import RunSeen
    from detent.runner.step.change import Change
    from detent.runner.task.open import Task
    from detent.store.journal.run_events import Filed

QUOTA_WAIT_S = 900  # where the agent does not say when it may go on
_MOST_ERRORS = 3
_SESSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:-]{0,127}")  # becomes a word of a command line: nothing like an option
_LONGEST_TEXT = 1000


class Left(Record):
    """What is left to do once the line of an end stands; `since` is the moment before its tree was taken."""

    task: Task
    taken: Taken
    since: int


def end_run(task: Task, later: list[Left] | None = None) -> Task:
    """Write down the end of a run that is over; a run that lives, or of which nothing is sure, stays as it is.

    What may wait is done here too, or noted in `later` for `tidy_up`; then a tree that takes long to look at raises
    TakesLong, and nothing is written: the caller has other tasks.
    """
    with changing(task, settles=False) as change:
        task = change.task
        seen = run_seen(task)
        if seen is None or seen.phase in ("alive", "unknown"):
            return task
        if seen.phase == "unborn":
            number = task.memory.run.run
            if not keeper.void(task.places.run(number)):
                return task  # it was begun just now
            change.write(RunVoid(run=number, why=say.never_began()))
            return change.task
        left = _write_down(change, seen, in_a_hurry=later is not None)
        if later is None:
            _tidy_up(left)
        else:
            later.append(left)
        return left.task


def tidy_up(left: Left) -> None:
    """Do what `end_run` left for later."""
    with changing(left.task, settles=False) as change:
        if change.memory.snapshot.seq == left.task.memory.snapshot.seq:
            _tidy_up(left)
        else:
            anchor(change.task)  # another process went on meanwhile, and took a tree of its own


def _tidy_up(left: Left) -> None:
    anchor(left.task)
    if left.taken.id:
        remember_taken(left.task, left.taken, left.since)


def _write_down(change: Change, seen: RunSeen, *, in_a_hurry: bool) -> Left:
    task, memory, run = change.task, change.memory, change.memory.run
    if seen.phase == "lost" and seen.identity is not None:
        swept = keeper.end_survivors(seen.identity)
        if swept.left:
            raise RefusedError(say.processes_left(run.run, swept.left))
    repaired, document = _made_readable(change), change.document
    disorder = find_disorder(task, memory, document)
    others = changed_of_others(task, run.held, document)
    notes = (*repaired, *disorder_words(task, memory.snapshot, disorder), *_others_words(task, others))
    usage, exit_name = usage_and_exit(task, seen)
    taken, since, problem = tree_left(task, in_a_hurry=in_a_hurry)
    left = left_behind(task, in_a_hurry=in_a_hurry)
    hooks = tainted_hooks(task)
    tainted = list(dict.fromkeys((*hooks, *tainted_files(task, taken))))
    filed: Filed = {} if tainted else _file(task, taken.id)
    claim = memory.claim.want or disorder.request
    refused = "" if claim else memory.unheard
    filing = filing_of(taken.id, filed)
    how = how_ended(seen, task)
    by_person = is_by_person(task, seen)
    evidence = evidence_hashes(look(task, memory, document, ""))
    steered = list(changed_steering(task.places.run(run.run)))
    line = RunEnded(
        run=run.run,
        role=run.role,
        state=run.state,
        access=run.access,
        agent=run.agent,
        model=run.model,
        seen=run.seen,
        exit=exit_name,
        how=how.how,
        code=how.code,
        signal=how.signal,
        survivors=how.survivors,
        before=run.tree,
        tree=taken.id,
        problem=problem,
        tainted=tainted,
        hooks=hooks,
        put_back=is_put_back(task, run.role, tainted),
        by_person=by_person,
        claim=claim or refused,
        claim_by="command" if memory.claim or refused else "file" if disorder.request else "",
        said=task.store.keep(usage.last_text.encode("utf-8", "replace")) if usage.last_text else "",
        usage=used(seen, usage, exit_name),
        session=usage.session if _SESSION.fullmatch(usage.session) else "",
        denials=usage.denials,
        errors=[error[:_LONGEST_TEXT] for error in usage.errors[-_MOST_ERRORS:]],
        wake=(usage.quota_until or utc_now(QUOTA_WAIT_S)) if exit_name == "quota" else "",
        steered=steered,
        restored=[*notes, *filed.get("refused", ())],
        filed=filed,
        taken=others,
        kept=task.store.keep(document.text.encode("utf-8")) if notes or disorder.request else "",
        evidence=evidence,
        files=prints_of(task.places.run(run.run), (EVENTS, ERRORS, EXIT), sync=seen.exit is None),
        left=left,
        no={} if tainted else said_no(task, document, taken.id, filing, refused),
    )
    if task.machine.store.retitles:
        from detent.runner.run.retitle import retitle_by_run  # few machines call a task by a field

        retitle_by_run(change)
    after = run_over(
        task.machine, change.memory.snapshot, TAINTED if tainted else exit_name, line.no, by_person=by_person
    )
    if tainted:
        after = after.replace(entry=_without_fresh(task, evidence))
    change.write(line, after=after, restore=(*disorder.locked, *others))
    return Left(change.task, taken, since)


def _without_fresh(task: Task, evidence: Mapping[str, str]) -> Mapping[str, str]:
    """What is remembered as old once a run is not heard: all that it wrote is no proof for the next one either."""
    snapshot = task.memory.snapshot
    if task.machine.states[snapshot.state].must_open:  # it has crashed: nothing of this visit counts
        return evidence
    before = task.memory.visit.evidence if task.memory.visit else snapshot.entry
    return {**snapshot.entry, **{key: value for key, value in evidence.items() if before.get(key) != value}}


def _file(task: Task, tree: str) -> Filed:
    """What the state wants filed of a run, for the line of its end; nothing of a run that changed what it may not."""
    if not task.machine.states[task.memory.snapshot.state].files:
        return {}
    from detent.runner.step.filing import file_run  # few states want anything filed

    made = file_run(task, tree)
    return {"files": made.files, "refused": list(made.refused)}


def _others_words(task: Task, items: Iterable[str]) -> list[str]:
    found = resolving(task.machine, task.memory.snapshot)
    resolver = (found.role if found is not None else "",)
    owners = {item: " or ".join(lock.role or resolver) for lock in task.machine.locks for item in items_of(lock)}
    file, role = task.native.file, task.memory.run.role
    return [say.was_put_back(shown_item(file, item), owners[item], role) for item in items]


def _made_readable(change: Change) -> tuple[str, ...]:
    """Write the document again where the run damaged it; the damaged text is kept aside, and reported."""
    task = change.task
    try:
        change.document = read_document(task)
    except UnreadableError as error:
        problem, aside = put_back(task, error)
        change.document = task.native.read()
        return (say.stood_there(problem, aside),)
    if not change.document.found:
        return ()
    kept = task.store.keep(change.document.found)  # the computer stopped meanwhile, and the journal's text is newer
    return (say.older_than_journal(task.native.file, kept),)


def tree_left(task: Task, *, in_a_hurry: bool = False) -> tuple[Taken, int, str]:
    """The tree as the run left it, or why it can't be taken: an unreadable tree proves nothing."""
    try:
        return *take_tree_unremembered(task, in_a_hurry=in_a_hurry), ""
    except DetentError as error:
        return Taken("", ()), 0, say.at_place(error.what, error.where)
