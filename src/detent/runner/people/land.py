"""Takes the work of a finished task over into the user's own branch; only people ask for it, nothing is pushed.

1. look     (lock)     the task stands where work lands; the checkout is on a branch, clean, with nothing under way
2. merge    (no lock)  in memory: the last checkpoint into the branch; a conflict is named and left to the person
3. tell                what will be done, before anything is run
4. prove    (no lock)  the commands of the task and of the receiving branch on the merged tree, with the protected files
                       of the receiving branch, unless their receipts for it are there; then that it keeps the tests of
                       the receiving branch. What a person waived, or has not accepted yet, needs their yes
5. commit              one commit in the person's name, synced; then the branch and the files go forward to it
6. record   (lock)     all that is synced too, then one journal line

Work that is on the branch already, because a person merged, squashed or picked it, is proven there before 6 says so.
A crash after 5 is found by the next `land`: the commit it made is part of the branch already.
"""

from __future__ import annotations

import os
import shlex

from detent.core.record import Record
from detent.effects.git.bring import wipe
from detent.effects.git.dirty import in_the_way, uncommitted
from detent.effects.git.git import Git, tree_of
from detent.effects.git.merge import (
    Message,
    advance,
    commit_merged,
    merge_in_memory,
    moved_submodules,
    other_line_ends,
    person_identity,
)
from detent.effects.git.person_checkout import make_safe
from detent.effects.git.tree.tree_id import changed_files
from detent.errors import RefusedError
from detent.runner.people.land_plan import FOUND, Candidate, Ground, ground_of, plan_of, proof_of
from detent.runner.people.land_proof import lines_waived, questions_about
from detent.runner.people.proof_basis import OF_TASK, before_work
from detent.runner.step.changing import changing
from detent.runner.step.look import touched_now
from detent.runner.step.proving.progress import quiet
from detent.runner.step.proving.prove import prove_commands
from detent.runner.task.open import waits_at_end
from detent.store.journal.events import Landed as LandedLine
from detent.words.runner import land as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from detent.effects.git.dirty import Dirty
    from detent.runner.people.land_plan import Plan
    from detent.runner.step.proving.progress import Progress
    from detent.runner.step.proving.prove import Proven
    from detent.runner.task.open import Task

_QUOTED_LINES = 12


class Landed(Record):
    how: str  # merge, squash, or found: it was there already
    commit: str
    branch: str
    judged_by: str = ""  # the commit whose protected files and gates judged it
    proven: tuple[Proven, ...] = ()
    is_known: bool = False  # it was recorded before
    touched: tuple[str, ...] = ()  # protected files that come with it
    submodules: tuple[str, ...] = ()  # those that stand at another commit now
    unconverted: tuple[str, ...] = ()  # files with other line ends than .gitattributes wants in commits
    red: tuple[str, ...] = ()  # commands that fail there: work that repaired them was taken back, or they were waived
    accepted: tuple[str, ...] = ()  # what the person said yes to


class Telling(Record):
    """Receives what is about to happen, and how far it has come."""

    plan: Callable[[Plan], None]
    progress: Callable[[Progress], None] = quiet
    is_yes: bool = False  # the person says yes to what they are asked


def land(task: Task, name: str, telling: Telling, *, squash: bool) -> Landed:
    """Merge the work into the branch that is checked out, once its commands pass on the merged tree."""
    task = _in_order(task)
    work = checkpoint_to_land(task)
    ground = ground_of(task)
    if known := _recorded(task, ground):
        return Landed(FOUND, known, ground.branch, is_known=True)
    candidate = _candidate(task, ground, work, squash=squash)
    if candidate.how != FOUND:
        _refuse_dirty(task, ground)
        _refuse_overwriting(task, ground, candidate.tree)
    proof = proof_of(task, work, candidate)
    plan = plan_of(task, ground, work, candidate, proof)
    telling.plan(plan)
    waived = proof.waived
    accepted: tuple[str, ...] = (
        (say.tests_waived(waived.gates, waived.name, waived.reason),) if waived is not None else ()
    )
    _ask(task, accepted, telling)
    proven = prove_commands(
        proof.task, proof.seen, proof.gates, again=True, with_before=False, progress=telling.progress
    )
    red = tuple(proof.receipt.command for proof in proven if not proof.receipt.is_green)
    if not _is_recorded_revert(task, work, candidate.tree):
        waived_lines = lines_waived(waived, proof)
        _refuse_red(
            task, ground, candidate, plan, [result for result in proven if result.receipt.command not in waived_lines]
        )
        accepted += questions_about(task, proof, proof.summary, telling.progress)
        _ask(task, accepted, telling)
    landed = Landed(
        candidate.how, candidate.commit, ground.branch, candidate.judged_by, proven, red=red, accepted=accepted
    )
    if candidate.how == FOUND:
        return record_landing(task, name, landed)
    if ground_of(task).head != ground.head:
        raise RefusedError(say.branch_moved(ground.branch, task.id))
    return record_landing(task, name, _merge(task, ground, work, candidate.tree, landed))


def _ask(task: Task, questions: tuple[str, ...], telling: Telling) -> None:
    if questions and not telling.is_yes:
        raise RefusedError(say.needs_yes(questions, task.id))


def plan_to_land(task: Task, *, squash: bool) -> Plan:
    """What `land` would do now."""
    task = _in_order(task)
    work = checkpoint_to_land(task)
    ground = ground_of(task)
    candidate = _candidate(task, ground, work, squash=squash)
    return plan_of(task, ground, work, candidate, proof_of(task, work, candidate))


def _candidate(task: Task, ground: Ground, work: str, *, squash: bool) -> Candidate:
    """What is to be proven: the work where it is on the branch already, else the merge of both."""
    private, common = Git(task.places.private_git()), task.project.common_dir
    begun = private.run("for-each-ref", "--format=%(objectname)", _landing(task, work)).decode().strip()
    if begun and _is_part(task, begun, ground.head):  # our own commit, made after its proof
        first = private.run("rev-parse", "--verify", f"{begun}^1").decode().strip()
        return Candidate(FOUND, tree_of(common, begun), first, begun)
    tree = tree_of(common, ground.head)
    if not _is_part(task, work, ground.head):
        merged = merge_in_memory(task.places.private_git(), ground.head, work)
        _refuse_conflicts(task, ground, merged.conflicts)
        if merged.tree != tree:
            return Candidate("squash" if squash else "merge", merged.tree, ground.head)
    return Candidate(FOUND, tree, before_work(task, ground.head, work), ground.head)


def _refuse_conflicts(task: Task, ground: Ground, conflicts: tuple[str, ...]) -> None:
    if conflicts:
        branch = task.memory.checkpoint.branch
        raise RefusedError(say.both_changed(branch, ground.branch, conflicts, task.id), where=ground.repository.top)


def _merge(task: Task, ground: Ground, work: str, tree: str, landed: Landed) -> Landed:
    """Make the commit in the person's name and lead the branch to it."""
    squash = landed.how == "squash"
    commit = commit_merged(
        task.places.private_git(),
        task.project.common_dir,
        tree,
        (ground.head,) if squash else (ground.head, work),
        _message(task, ground, squash=squash),
    )
    Git(task.places.private_git()).run("update-ref", _landing(task, work), commit)
    make_safe()  # a branch must not name what a power cut could still take, nor move before the landing is known
    advance(ground.repository.top, commit)
    touched = touched_now(task, work)
    changed = [path for status, path in changed_files(task.places.private_git(), ground.head, tree) if status != "D"]
    return landed.replace(
        commit=commit,
        touched=tuple(sorted({*touched.ask, *touched.report})),
        submodules=moved_submodules(task.project.common_dir, ground.head, commit),
        unconverted=other_line_ends(ground.repository.top, changed),
    )


def _in_order(task: Task) -> Task:
    with changing(task) as change:
        return change.task


def checkpoint_to_land(task: Task) -> str:
    """The commit that holds the work, if this task may land at all."""
    state = task.memory.snapshot.state
    if task.memory.head.in_place:
        raise RefusedError(say.worked_in_checkout(), where=task.tree_path)
    if not task.machine.states[state].lands:
        if task.machine.states[state].is_end and not waits_at_end(task.machine.states[state]):
            raise RefusedError(say.does_not_land(state, task.machine.name, task.id))
        raise RefusedError(say.not_accepted_yet(state, task.id))
    if not task.memory.checkpoint.branch:
        raise RefusedError(say.nothing_to_land(task.id))
    return str(task.memory.checkpoint.commit)


def _landing(task: Task, work: str) -> str:
    """Named by what it lands: work that came after a first landing is not there yet."""
    return f"refs/detent/{task.id}/landing/{work}"


def _recorded(task: Task, ground: Ground) -> str:
    """The commit of a recorded landing, if it is part of the branch. A pull request is no landing."""
    landed = task.memory.landed
    is_ours = bool(landed) and landed.how != "pr" and _is_part(task, landed.commit, ground.head)
    return str(landed.commit) if is_ours else ""


def _is_part(task: Task, commit: str, head: str) -> bool:
    return Git(task.project.common_dir).finish("merge-base", "--is-ancestor", commit, head).exit == 0


def _refuse_dirty(task: Task, ground: Ground) -> None:
    dirty = _dirty(task, ground)
    if dirty.changed or dirty.gone:
        raise RefusedError(say.not_committed((*dirty.changed, *dirty.gone), task.id), where=ground.repository.top)


def _dirty(task: Task, ground: Ground) -> Dirty:
    """What a person has not committed; the task's own folder is no work of theirs."""
    scratch = os.path.join(task.places.folder, f"look-{os.getpid()}")
    inside = os.path.relpath(os.path.realpath(task.native.folder), os.path.realpath(ground.repository.top))
    try:
        return uncommitted(ground.repository, ground.head, scratch, () if inside.startswith("..") else (inside,))
    finally:
        wipe(scratch)


def _refuse_overwriting(task: Task, ground: Ground, tree: str) -> None:
    changes = changed_files(task.places.private_git(), ground.head, tree)
    added, gone = ([path for status, path in changes if status == wanted] for wanted in "AD")
    if found := in_the_way(ground.repository.top, added, gone):
        raise RefusedError(say.in_the_way(found, task.id), where=ground.repository.top)


def _is_recorded_revert(task: Task, work: str, tree: str) -> bool:
    """Whether the merge is exactly the tree that the revert recorded: its proof is that, not what commands say of it.

    What the work had repaired is broken again without it.
    """
    done = task.memory.prepared.get("revert", {})
    return bool(tree) and (done.get("commit"), done.get("tree")) == (work, tree)


def _refuse_red(task: Task, ground: Ground, candidate: Candidate, plan: Plan, proven: Sequence[Proven]) -> None:
    for proof in proven:
        if proof.receipt.is_green:
            continue
        where = ground.branch if candidate.how == FOUND else say.merged_tree()
        sources = next((named.sources for named in plan.commands if named.line == proof.receipt.command), ())
        whose = [say.the_task() if source == OF_TASK else source for source in sources]
        said = proof.receipt.said.splitlines()[-_QUOTED_LINES:]
        failed = say.command_fails(
            proof.receipt.command, proof.receipt.result, where, whose, said, branch=ground.branch, task_id=task.id
        )
        raise RefusedError(failed, where=proof.receipt.log)


def _message(task: Task, ground: Ground, *, squash: bool) -> Message:
    head = task.memory.head
    branch = task.memory.checkpoint.branch
    first = head.title if squash else f"Merge branch '{branch}' into {ground.branch}\n\n{head.title}"
    name, email = person_identity(ground.repository.top)
    return Message(f"{first}\n\nDetent-Task: {task.id}\n", name, email)


def record_landing(task: Task, name: str, landed: Landed) -> Landed:
    tree = tree_of(task.project.common_dir, landed.commit)
    make_safe()  # also what was found: the person's git may have made it just now, or a landing that was killed
    receipts = {proof.receipt.key: proof.receipt.digest for proof in landed.proven}
    line = LandedLine(
        by="person",
        name=name,
        how=landed.how,
        commit=landed.commit,
        branch=landed.branch,
        tree=tree,
        judged_by=landed.judged_by,
        receipts=receipts,
        accepted=list(landed.accepted) or None,
    )
    with changing(task) as change:
        change.write(line)
    return landed


def commands_to_land(task: Task, *, squash: bool) -> tuple[str, ...]:
    """What a person would run to do the same by hand."""
    checkpoint_to_land(task)
    branch = shlex.quote(task.memory.checkpoint.branch)
    title = shlex.quote(task.memory.head.title)
    lines = [f"cd {shlex.quote(task.project.root)}"]
    if squash:
        lines += [f"git merge --squash {branch}", f"git commit -m {title}"]
    else:
        lines.append(f"git merge --no-ff {branch}")
    return tuple(lines)
