"""What a landing is about to do: where the work goes, what comes with it, what proves it. Changes nothing."""

from __future__ import annotations

import os

from detent.core.machine import Gate
from detent.core.record import Record
from detent.effects.git.git import Git, check_object_id, find_repository, tree_of
from detent.effects.git.merge import under_way
from detent.effects.git.tree.tree_id import changed_files
from detent.errors import RefusedError, UnreadableError
from detent.gates.commands import is_momentary, runs_of, standing_runs
from detent.page.diff import patch_text
from detent.runner.people.land_proof import Proof, waived_for
from detent.runner.people.proof_basis import judged_by, named_commands
from detent.runner.step.changing import changing
from detent.runner.step.look import look, take_current_tree
from detent.runner.tell.proof_summary import proof_of_tree
from detent.words.runner import land as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from detent.effects.git.git import Repository
    from detent.runner.people.land_proof import Waived
    from detent.runner.people.proof_basis import NamedCommand
    from detent.runner.task.open import Task
    from detent.runner.tell.proof_summary import ProofSummary

FOUND = "found"  # the work is on the branch already
_MOST_COMMITS = 1000


class Ground(Record):
    """Where the work is to land."""

    repository: Repository
    head: str
    branch: str


class Candidate(Record):
    """The tree that must be proven before the work counts as landed."""

    how: str  # merge, squash or found
    tree: str
    judged_by: str  # the commit whose protected files and gates judge it
    commit: str = ""  # that holds this tree, where the work was found on the branch


class Plan(Record):
    """The whole plan, for a person that has nothing to decide but may want to read it."""

    branch: str
    into: str
    how: str
    commits: tuple[tuple[str, str], ...]  # id and subject, oldest first
    files: tuple[tuple[str, str], ...]  # status letter and path
    stat: str
    commands: tuple[NamedCommand, ...]
    protected_from: str
    protected: tuple[str, ...]
    caches: tuple[str, ...] = ()  # folders in the task's tree that stay behind: caches of tools
    summary: ProofSummary | None = None  # what the tests prove of the work; None where that was never asked
    waived: Waived | None = None


def ground_of(task: Task) -> Ground:
    """The branch that is checked out; a checkout with something under way is refused."""
    repository = find_repository(task.project.root)
    if repository is None or repository.head is None:
        raise RefusedError(say.repository_gone(task.id), where=task.project.root)
    if repository.branch is None:
        raise RefusedError(say.on_no_branch(task.id), where=repository.top)
    if begun := under_way(repository):
        raise RefusedError(say.under_way(begun), where=repository.top)
    return Ground(repository, repository.head, repository.branch)


def proof_of(task: Task, work: str, candidate: Candidate) -> Proof:
    """Every command that must pass on the candidate: those of the task's gates, and all that either side names."""
    of_task, waived = task, waived_for(task, work)
    task = judged_by(task, candidate.judged_by)
    with changing(task) as change:
        summary = proof_of_tree(of_task, change.document, tree_of(of_task.places.private_git(), work))
        memory = change.memory.replace(head=task.memory.head)
        seen = look(task, memory, change.document, candidate.tree)
    covered = {run.command.line for gate in task.machine.gates.values() for run in standing_runs(gate, seen)}
    # A machine's gates may run only some of the commands, or none. The rest is run here at the latest.
    names = dict.fromkeys(command.name for command in seen.commands if command.line not in covered)
    extra = {f"land {name}": Gate(f"land {name}", "commands", {"command": name}) for name in names}
    machine = task.machine.replace(gates={**task.machine.gates, **extra})
    gates = tuple(name for name, gate in machine.gates.items() if not is_momentary(gate))
    return Proof(task.replace(machine=machine), seen.replace(machine=machine), gates, summary, waived)


def plan_of(task: Task, ground: Ground, work: str, candidate: Candidate, proof: Proof) -> Plan:
    private, head = task.places.private_git(), proof.task.memory.head
    gates = proof.task.machine.parts(proof.gates)
    runs = [run for gate in gates for run in runs_of(gate, proof.seen) if not run.before]
    lines = {run.command.line: run.command.name for run in runs}
    base, tree = (tree_of(private, ground.head), candidate.tree)
    if candidate.how == FOUND:  # nothing will change on the branch: what the task did is shown
        base, tree = tree_of(private, str(task.memory.head.baseline)), tree_of(private, work)
    return Plan(
        str(task.memory.checkpoint.branch),
        ground.branch,
        candidate.how,
        _commits(task, ground, work),
        changed_files(private, base, tree),
        patch_text(private, base, tree, stat=True),
        named_commands(task, candidate.judged_by, ground.branch, lines),
        candidate.judged_by,
        tuple(head.protect["deny"]),
        _caches(task),
        proof.summary,
        proof.waived,
    )


def _caches(task: Task) -> tuple[str, ...]:
    """For the reader of the plan only: a tree that is gone or unreadable by now lands all the same."""
    if not os.path.isdir(task.tree_path):
        return ()
    try:
        with task.held():
            return take_current_tree(task).caches
    except UnreadableError:
        return ()


def _commits(task: Task, ground: Ground, work: str) -> tuple[tuple[str, str], ...]:
    options = ("--reverse", f"--max-count={_MOST_COMMITS}", "--format=%H %s", "-z")
    found = Git(task.places.private_git()).run(
        "log", *options, check_object_id(work), f"^{check_object_id(ground.head)}", "--"
    )
    rows = (os.fsdecode(row).partition(" ") for row in found.split(b"\0") if row)
    return tuple((sha, subject) for sha, _, subject in rows)
