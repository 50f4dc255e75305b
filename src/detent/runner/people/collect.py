"""Removes the leftovers of finished tasks: homes, branches and refs; a running task only as a whole, and by its name.

A task counts as finished at an end that can't be re-opened. Git must show that its work has landed, whatever the
journal says, or a person must say that it may go. Per task, its lock in hand:

1. keep   what is in the home and in no checkpoint, as commits of the private git; work that git does not show anywhere
          else as a commit under refs/detent/collected/ of the user's repository, from where `git branch` takes it
2. record one journal line that names what goes
3. remove branches that stand where we put them, backups of what was finished since, the home, the ref that kept the
   baseline; then, if asked, records of agent runs, its folder in the project, the journal and its anchor

A crash between 2 and 3 is finished by the next `gc`, without a second line as long as nothing was added meanwhile.
"""

from __future__ import annotations

import os

from detent.core.record import Record
from detent.effects.git.acts import folder_tree, keep_commit
from detent.effects.git.branches import drop_branch, find_branches
from detent.effects.git.bring import wipe
from detent.effects.git.git import Git, tree_of
from detent.effects.git.landed_work import find_landed
from detent.effects.git.saved_work import COLLECTED, save
from detent.effects.workspace.home import keep_ref, kept_ids, remove_home, sweep_homes
from detent.errors import BeyondBoundError, DetentError, RefusedError
from detent.runner.access.command_place import RECORDS, SETUPS, mounted_setups
from detent.runner.step.anchor import drop_anchor
from detent.runner.step.changing import changing
from detent.runner.step.look import current_tree
from detent.runner.task.in_project import forget_active
from detent.runner.task.layout import is_tracked, native_folder, store_root
from detent.runner.task.open import is_over, load_all, load_task
from detent.runner.tell.landed import branches_of_tasks, put_branches, work_of
from detent.store.disk.lock import Lock
from detent.store.journal.events import Collected
from detent.store.journal.head import runs_before
from detent.store.journal.line import JOURNAL
from detent.store.journal.shown import run_id
from detent.store.journal.tasks import last_line
from detent.words.runner import people as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from detent.runner.task.open import Listed, Task
    from detent.store.journal.line import Line
    from detent.store.journal.places import Project


class Leftover(Record):
    """What one finished task left, and whether it goes."""

    id: str
    goes: bool
    why: str
    home: str = ""  # empty when it is gone already
    branches: tuple[str, ...] = ()
    has_keep_ref: bool = False
    journal: str = ""  # the control folder, where it goes too
    backups: tuple[str, ...] = ()  # refs that hold what a reset took away
    spared: int = 0  # as many of them stay, because the work they hold was never finished
    records: tuple[str, ...] = ()  # folders of its agent runs beside the tasks, where they go with the journal
    native: tuple[str, ...] = ()  # its folder and conversation in the project, where they go with the journal
    unsaved: str = ""  # what no snapshot could hold, and went all the same because the task was given up
    snapshot: str = ""  # the ref that holds work which git does not show elsewhere, once it is gone

    def __bool__(self) -> bool:
        return bool(self.home or self.branches or self.has_keep_ref or self.journal or self.backups or self.spared)


class Cleanup(Record):
    """What a person asked for."""

    name: str
    dry_run: bool = False
    unlanded: bool = False
    journals: bool = False
    task: str = ""  # this one alone; it need not be finished if all of it may go


def collect(project: Project, cleanup: Cleanup) -> tuple[Leftover, ...]:
    """Remove, or only list, what can go; what can't is listed with its reason."""
    if not os.path.isdir(project.tasks_folder()):
        return ()
    with Lock(project.lock_path()):
        if not cleanup.dry_run:
            sweep_homes(project.home(), set(project.task_ids()), project.common_dir)
            _drop_stray_refs(project)
        found, of_tasks = [], branches_of_tasks(project)
        for listed in load_all(project):
            if cleanup.task and listed.id != cleanup.task:
                continue
            if listed.error is None and (is_over(listed) or _is_given_up(listed, cleanup)):
                leftover = _look(project, listed, cleanup, of_tasks)
                if leftover.goes and not cleanup.dry_run:
                    leftover = _remove(load_task(project, listed.id), leftover, cleanup, of_tasks)
                if leftover:
                    found.append(leftover)
        if not cleanup.dry_run:
            _drop_set_ups(project)
            _drop_baselines(project)
        return tuple(found)


def _drop_set_ups(project: Project) -> None:
    """Remove shared set-ups that no task uses any more."""
    from detent.effects.workspace.unused_setups import drop_unused  # only where tasks are collected

    folder, used, mounted = os.path.join(project.home(), SETUPS), set(), set()
    for listed in load_all(project):
        if listed.memory is not None and os.path.isdir(os.path.join(project.home(), listed.id)):
            used.add(listed.memory.set_up.key)
            mounted |= mounted_setups(project.task(listed.id), folder)
    drop_unused(folder, os.path.join(folder, RECORDS), frozenset(used), frozenset(mounted))


def _drop_baselines(project: Project) -> None:
    """Remove what was found out about test commands on baselines that no proof asks for any more."""
    from detent.runner.step.proving.unused_baselines import drop_unused_baselines  # only where tasks are collected

    drop_unused_baselines(project)


def _is_given_up(listed: Listed, cleanup: Cleanup) -> bool:
    """Whether a person wants to be rid of a task that goes on; nothing of it may be left that could be driven."""
    if listed.id != cleanup.task or listed.memory is None:
        return False
    if number := listed.memory.run.run:
        raise RefusedError(say.run_works_on(number, listed.id))
    if not (cleanup.unlanded and cleanup.journals):
        raise RefusedError(say.no_end(listed.id, listed.memory.snapshot.state))
    return True


def _look(project: Project, listed: Listed, cleanup: Cleanup, of_tasks: Mapping[str, str]) -> Leftover:
    task = load_task(project, listed.id)
    home = str(task.memory.head.home)
    entries = task.store.history()
    has_landed = _has_landed(task, entries, of_tasks)
    goes = (has_landed or cleanup.unlanded) and not task.memory.run
    why = _why(task, has_landed=has_landed) if is_over(listed) else say.given_up()
    branches = find_branches(project.common_dir, put_branches(entries)) if project.common_dir else ()
    backups = _backups(task)
    # Only an end after which nothing is restored says that they are not needed; any other leaves that to a person.
    is_final = task.memory.snapshot.state in task.machine.store.final
    going = backups if is_final or cleanup.unlanded else ()
    return Leftover(
        listed.id,
        goes,
        why,
        home if os.path.isdir(home) and os.path.basename(home) == listed.id else "",
        branches,
        listed.id in kept_ids(project.common_dir),
        task.places.folder if cleanup.journals else "",
        going,
        len(backups) - len(going),
        _records(task) if cleanup.journals else (),
        _native_paths(task) if cleanup.journals else (),
    )


def _why(task: Task, *, has_landed: bool) -> str:
    if task.memory.head.in_place:
        return say.worked_in_place()
    if has_landed:
        return say.has_landed()
    if branch := task.memory.landed.branch:
        return say.landed_unseen(branch)
    return say.not_landed()


def _backups(task: Task) -> tuple[str, ...]:
    if not task.project.common_dir:
        return ()
    below = f"refs/detent/backup/{task.id}/"
    return tuple(Git(task.project.common_dir).run("for-each-ref", "--format=%(refname)", below).decode().split())


def _records(task: Task) -> tuple[str, ...]:
    """What the machine keeps of the task's agent runs beside its tasks."""
    store = task.machine.store
    if not store.runs:
        return ()
    folder = os.path.join(store_root(store, task.root), store.runs)
    first = runs_before(task.memory.head) + 1  # those before are of another tool
    paths = (os.path.join(folder, run_id(task.id, number)) for number in range(first, task.memory.runs + 1))
    return tuple(path for path in paths if os.path.lexists(path))


def _native_paths(task: Task) -> tuple[str, ...]:
    """The folder of a task that lies among those of its machine in the project, and its conversation beside them."""
    store, root = task.machine.store, store_root(task.machine.store, task.root)
    if not root or is_tracked(store):
        return ()
    folder = native_folder(store, task.project, task.id)
    paths = [folder] if os.path.realpath(task.native.folder) == os.path.realpath(folder) else []
    if store.conversation:
        paths.append(os.path.join(root, store.conversation.replace("{id}", task.id)))
    return tuple(path for path in paths if os.path.lexists(path))


def _has_landed(task: Task, entries: Sequence[Line], of_tasks: Mapping[str, str]) -> bool:
    """Whether the work is safe elsewhere: in the checkout from the start, or where git shows it."""
    return bool(task.memory.head.in_place or find_landed(work_of(task, entries, of_tasks)))


def _remove(task: Task, leftover: Leftover, cleanup: Cleanup, of_tasks: Mapping[str, str]) -> Leftover:
    common_dir = task.project.common_dir
    try:
        with changing(task, settles=False) as change:
            task = change.task
            going = _going(task, leftover)
            if not _is_recorded(task, leftover, going):
                kept, leftover = _keep(task, going), _save_unlanded(task, leftover, of_tasks)
                names = [*leftover.branches, *leftover.backups]
                line = Collected(by="person", name=cleanup.name, branches=names, kept=kept, snapshot=leftover.snapshot)
                # A folder that goes is not written to once more.
                change.write(line, reach=JOURNAL if _lies_in_home(task, leftover) else "")
            put = put_branches(task.store.history())
            for branch in leftover.branches:
                drop_branch(common_dir, branch, put[branch])
            for ref in leftover.backups:  # the private git has what they hold, as long as it stays
                Git(common_dir).run("update-ref", "-d", ref)
            if leftover.home:
                remove_home(leftover.home, common_dir)
            elif leftover.has_keep_ref:
                Git(common_dir).run("update-ref", "-d", keep_ref(task.id))
    except DetentError as problem:
        details = "; ".join(part for part in (problem.what, problem.where, problem.next_step) if part)
        return leftover.replace(goes=False, why=say.left_as_it_is(details))
    if leftover.journal:
        drop_anchor(common_dir, task.id)  # it would name a journal that is gone
        forget_active(task)
    for path in (*leftover.records, *leftover.native, *((leftover.journal,) if leftover.journal else ())):
        wipe(path)
    return leftover


def _save_unlanded(task: Task, leftover: Leftover, of_tasks: Mapping[str, str]) -> Leftover:
    """With the ref that now holds work which git shows nowhere else, if there is any.

    Of a task that is given up with its journal the last checkpoint is enough, where its tree is beyond every bound.
    """
    head, private, common_dir = task.memory.head, task.places.private_git(), task.project.common_dir
    if not head.baseline or _has_landed(task, task.store.history(), of_tasks):
        return leftover
    last, has_files = str(task.memory.checkpoint.commit or head.baseline), os.path.isdir(task.tree_path)
    if not has_files and not os.path.isdir(private):
        return leftover  # its files were never copied
    try:
        tree = current_tree(task) if has_files else tree_of(private, last)
    except BeyondBoundError as error:
        if not leftover.journal:
            raise
        tree = tree_of(private, last)
        leftover = leftover.replace(unsaved=say.path_unsaved(error.where, error.what))
    if tree == tree_of(private, head.baseline):
        return leftover
    ref, why = f"{COLLECTED}{task.id}/{task.memory.snapshot.seq + 1}", f"{task.id}: before gc"
    return leftover.replace(snapshot=save(private, common_dir, ref, tree, last, known=head.baseline, why=why).ref)


class _Last(Record):
    """A tree that goes with the home and is in no checkpoint."""

    name: str
    tree: str
    parent: str


def _is_recorded(task: Task, leftover: Leftover, going: Sequence[_Last]) -> bool:
    """Whether a `gc` that died has written its line, and kept all that is still to go."""
    last = last_line(task.memory)
    if not isinstance(last, Collected) or not {*leftover.branches, *leftover.backups} <= set(last.branches):
        return False
    kept = {tree_of(task.places.private_git(), commit) for commit in last.kept}
    return {last.tree for last in going} <= kept


def _going(task: Task, leftover: Leftover) -> tuple[_Last, ...]:
    """What would be lost with the home: files that no checkpoint has, and the task's own folder."""
    if not leftover.home or leftover.journal:
        return ()
    found: list[_Last] = []
    private = task.places.private_git()
    last = task.memory.checkpoint.commit or task.memory.head.baseline
    if not task.memory.head.in_place and os.path.isdir(task.tree_path):
        tree = current_tree(task)
        if tree != tree_of(private, last):
            found.append(_Last("tree", tree, last))
    if _lies_in_home(task, leftover) and os.path.isdir(task.native.folder):
        found.append(_Last("folder", folder_tree(private, task.native.folder), ""))
    return tuple(found)


def _keep(task: Task, going: Sequence[_Last]) -> list[str]:
    private, ref = task.places.private_git(), f"refs/detent/{task.id}/{task.memory.snapshot.seq + 1}"
    return [
        keep_commit(private, f"{ref}-{last.name}", last.tree, last.parent, f"{task.id}: its {last.name} before gc")
        for last in going
    ]


def _lies_in_home(task: Task, leftover: Leftover) -> bool:
    home = os.path.realpath(leftover.home or task.memory.head.home)
    return os.path.realpath(task.native.folder).startswith(home + os.sep)


def _drop_stray_refs(project: Project) -> None:
    """Refs of tasks that are gone altogether, home and all."""
    known = set(project.task_ids())
    for task_id in kept_ids(project.common_dir):
        if task_id not in known and not os.path.lexists(os.path.join(project.home(), task_id)):
            Git(project.common_dir).run("update-ref", "-d", keep_ref(task_id))
