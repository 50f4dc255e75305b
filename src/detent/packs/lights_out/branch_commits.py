"""The engine's commits on the branch of a task that works in place: at a passed gate, and when a run was cut short.

Each holds exactly the tree that the move saw, and the native log, which no tree id counts. Its words are conventional:
`docs(design): ...` where only documents changed, `feat(build): ...` where an agent that may write did the work,
`fix(review): ...` where findings of a reading agent were fixed, `wip(build): ...` for unfinished work. A task without
a branch of its own has only its private checkpoint: no other branch is moved.
"""

from __future__ import annotations

import os

from detent.core.record import Record
from detent.effects.git.engine_commit import BranchCommit, commit_on_branch, local_filters, tree_with_files
from detent.effects.git.git import find_repository, tree_of
from detent.effects.git.person_checkout import branch_commit
from detent.effects.git.tree.tree_id import changed_files
from detent.effects.host.access import BUBBLEWRAP
from detent.errors import RefusedError
from detent.gates.judge import judge
from detent.packs.lights_out.words import deploying as say
from detent.runner.access.level import level_of
from detent.runner.step.disorder import read_document
from detent.runner.step.in_place import made_branch, refuse_elsewhere
from detent.runner.step.look import look
from detent.store.disk.atomic import read_plain
from detent.store.journal.events import Moved
from detent.store.journal.fold import snapshot_after
from detent.store.journal.places import lies_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from detent.effects.git.git import Repository
    from detent.runner.step.registry import Done
    from detent.runner.task.open import Task
    from detent.store.journal.memory import Promised

_DOCUMENTS = (".md", ".txt", ".rst")
_MOST_LACKS = 6  # gates that a commit message names


class Ground(Record):
    """Where the commits of one effect go."""

    task: Task
    key: str
    move: Moved  # the line that promised it
    repository: Repository
    branch: str

    @property
    def phase(self) -> str:
        """What the commit is about: the group of the state that was left, as one word."""
        return phase_of(self.task, self.move.from_)

    def commit(self, tree: str, message: str, part: str = "", files: Mapping[str, bytes] | None = None) -> str:
        """One commit of a tree of the private git, with the log as it stands now unless other files are given."""
        private, scratch = self.task.places.private_git(), os.path.join(self.task.places.folder, "committing")
        whole = tree_with_files(private, tree, log_files(self.task) if files is None else files, scratch)
        key = f"{self.task.id}/{self.key}{part}"
        return commit_on_branch(
            BranchCommit(self.repository, self.branch, private, whole, key, f"{message}\n", scratch)
        )


def phase_of(task: Task, state: str) -> str:
    name = task.machine.states[state].group or state
    return "-".join("".join(mark if mark.isalnum() else " " for mark in name.lower()).split())


def ground_of(task: Task, key: str) -> Ground | None:
    """The task's own branch and what is committed to it; None where it has no branch."""
    branch = made_branch(task)
    repository = find_repository(task.tree_path) if branch else None
    if repository is None:
        return None
    refuse_elsewhere(task)
    _refuse_filters(task, repository)
    seq = int(key.partition(":")[0])
    move = next(line for line in reversed(task.store.history()) if line.seq == seq and isinstance(line, Moved))
    return Ground(task, key, move, repository, branch)


def _refuse_filters(task: Task, repository: Repository) -> None:
    """Where the kernel does not keep agents out of the git folder, a filter named there may be theirs: none is run."""
    if level_of(task.project).level == BUBBLEWRAP or not (names := local_filters(repository)):
        return
    raise RefusedError(say.local_filters(names), where=os.path.join(repository.common_dir, "config"))


def log_files(task: Task) -> dict[str, bytes]:
    """The native log by its path in the tree, if it lies there."""
    return tree_file(task, task.native.log_path()) if task.native.log_path() else {}


def tree_file(task: Task, path: str) -> dict[str, bytes]:
    """A plain file by its path in the tree; nothing where it is missing or lies elsewhere."""
    top, real = os.path.realpath(task.tree_path), os.path.realpath(path)
    data = read_plain(path) if lies_in(real, top) and real != top else None
    return {} if data is None else {os.path.relpath(real, top): data}


def commit_gate(task: Task, key: str, promised: Promised) -> Done:
    """The checkpoint of a passed gate as a commit on the branch of a task that works in place."""
    return _commit(task, key, promised, is_gate=True), {}


def commit_work(task: Task, key: str, promised: Promised) -> Done:
    """The same between two gates: no block goes back to it."""
    return _commit(task, key, promised, is_gate=False), {}


def _commit(task: Task, key: str, promised: Promised, *, is_gate: bool) -> dict[str, str]:
    ground = ground_of(task, key)
    if ground is None:
        return {}
    tree = promised.tree
    tip = branch_commit(ground.repository.common_dir, ground.branch)
    if not tip:
        raise RefusedError(say.branch_gone(ground.branch), where=ground.repository.top)
    names = [
        name for _, name in changed_files(task.places.private_git(), tree_of(ground.repository.common_dir, tip), tree)
    ]
    done = f"pass the {ground.phase} gate" if is_gate else f"{ground.move.from_} is done, {ground.move.to} goes on"
    subject = f"{_kind(task, ground.move.from_, names)}({ground.phase}): {done}"
    body = f"{task.memory.head.title}\n\n{ground.move.from_} -> {ground.move.to}"
    return {"branch": ground.branch, "sha": ground.commit(tree, f"{subject}\n\n{body}")}


def _kind(task: Task, state: str, names: list[str]) -> str:
    logs = tuple(log_files(task))
    if all(name.endswith(_DOCUMENTS) for name in names if name not in logs):
        return "docs"
    return "feat" if task.machine.states[state].access == "write" else "fix"


def _still_lacks(task: Task, move: Moved, tree: str) -> list[str]:
    """What the way on out of the state that was left still needs, as its own run was judged."""
    behind = [line for line in task.store.history() if line.seq < move.seq and line.after is not None]
    snapshot = snapshot_after(behind[-1])
    memory = task.memory.replace(snapshot=snapshot)
    seen = look(task.replace(memory=memory), memory, read_document(task), tree)
    ways = [way for edge in task.machine.states[move.from_].edges for way in edge.ways if way.resets and way.needs]
    names = [gate.name for gate in task.machine.parts(ways[0].needs) if gate.check != "all"] if ways else []
    closed = [(name, fact) for name, fact in judge(seen, names).items() if not fact.ok]
    return [f"{name}: {fact.why}" for name, fact in closed][:_MOST_LACKS]


def commit_unfinished(task: Task, key: str, promised: Promised) -> Done:
    """What a run left that was cut short or hands over, with where it was and what comes next."""
    ground = ground_of(task, key)
    if ground is None:
        return {}, {}
    move = ground.move
    is_cut = move.by == "crash"
    ended = f"its last agent run ended as {move.exit}" if is_cut else f"handed over by {move.by} {move.name}"
    words = "" if is_cut else move.reason  # the engine's own words about a crash tell nothing more
    where = f"Where: {move.from_}; {ended.strip()}. {words}".strip()
    lacks = _still_lacks(task, move, promised.tree)
    following = f"Next: recover the context, then go on with {move.from_}."
    following += f" Its gate still needs: {'; '.join(lacks)}." if lacks else ""
    message = (
        f"wip({ground.phase}): {move.from_} was {'cut short' if is_cut else 'handed over'}\n\n{where}\n{following}"
    )
    return {"branch": ground.branch, "wip": ground.commit(promised.tree, message)}, {}
