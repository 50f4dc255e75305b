"""Makes a task's clone ready to be worked in: brings files along and lays set-up into it, once for the same key."""

from __future__ import annotations

import os

from detent.core.record import Record
from detent.effects.git.bring import Place, bring, brought_marks, created_bytes, created_paths, marks
from detent.effects.git.git import Git
from detent.effects.git.put_back import put_back
from detent.effects.workspace.checkout import (
    COPIED,
    PER_CHECKOUT,
    SHARED,
    FrozenTree,
    Running,
    SetupFailed,
    Workspace,
    run_setup,
    tracked_at_first,
)
from detent.effects.workspace.lay import Ground, copied_bytes, lay_private, lay_writable
from detent.effects.workspace.set_up import NO_MOUNTS, Choice, base_key, base_tree, choose, order_of
from detent.effects.workspace.setups import make_set_up, shared_setup
from detent.runner.access.access import running_in, setups_in
from detent.runner.access.command_place import RUN_CACHE, is_laid, place_of, remember_laid, seat_of
from detent.runner.step.changing import changing
from detent.runner.step.look import current_tree
from detent.store.disk.atomic import as_json, read_plain, write_atomic
from detent.store.journal.events import SetUp
from detent.store.journal.memory import SetUpFrom
from detent.store.journal.places import lies_in
from detent.words.effects import workspace as of_workspace
from detent.words.runner import step as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from detent.effects.workspace.checkout import Begins
    from detent.runner.step.change import Change
    from detent.runner.task.open import Task
    from detent.store.journal.head import Head


DEPS = "deps"  # below a task's home: what its agent changes in a set-up
MOST_LEFT_OUT = 2000  # paths that set-up made, as the journal and every tree id carry them


def workspace_of(head: Head) -> Workspace:
    """The `[workspace]` settings a task began with."""
    lists = {name: tuple(values) for name, values in head.workspace.items()}
    return Workspace(**lists, timeout_s=head.command_timeout_s)


def prepare_tree(task: Task, begins: Begins | None = None) -> SetupFailed | None:
    """Bring `copy` and `carry` into the clone and lay set-up into it; None when it is ready.

    Called without the task's lock, while no agent run lives. A checkout that is worked on in place is its user's.
    """
    workspace = workspace_of(task.memory.head)
    if task.memory.head.in_place:
        return _learn_paths(task, workspace, begins) if workspace.setup and seat_of(task.project) else None
    if not (workspace.setup or workspace.copy or workspace.carry):
        return None
    with task.held():
        tree = current_tree(task)
    private = task.places.private_git()
    index = os.path.join(private, "cache", f"tmp-ready-{os.getpid()}")
    git = Git(private, task.tree_path, index)
    try:
        git.run("read-tree", tree)
        tracked = frozenset(os.fsdecode(path) for path in git.run("ls-files", "-z").split(b"\0")[:-1])
        place = Place(os.path.realpath(task.tree_path), git, tree, os.path.realpath(task.root), tracked)
        running = running_in(place_of(task, RUN_CACHE), task.memory.head.command_limits, begins)
        frozen = FrozenTree(private, tree, task.memory.head.baseline or None)
        choice = choose(frozen, tree, workspace, task.root, running.env.get("PATH", os.defpath))
        seat = seat_of(task.project)
        key = as_json([choice.key, choice.how, seat, brought_marks(task.root, (*workspace.copy, *workspace.carry))])
        if read_plain(task.places.prepared()) == key and is_laid(task, task.tree_path):
            return None
        failed = _bring(place, workspace)
        if failed is None and workspace.setup:
            prepare = _mounted if seat else _in_tree
            failed = prepare(task, place, SetupRequest(workspace, choice, frozen, running, seat))
    finally:
        if os.path.exists(index):
            os.unlink(index)
    if failed is None:
        write_atomic(task.places.prepared(), key, durable=False)
    return failed


def _learn_paths(task: Task, workspace: Workspace, begins: Begins | None) -> SetupFailed | None:
    """The paths that set-up makes, for a checkout it is not laid into: what its user has there is no work either."""
    frozen = FrozenTree(task.places.private_git(), "", task.memory.head.baseline or None)
    if frozen.baseline is None or not workspace.key:
        return None
    limits = task.memory.head.command_limits
    setups = setups_in(place_of(task), limits, begins)
    with task.held():
        current_tree(task)  # the private git is there from now on
    key = base_key(frozen, workspace, task.root, setups.running.env.get("PATH", os.defpath))
    if not key.has_lock or task.memory.set_up.key == key.text:
        return None
    made = shared_setup(setups, order_of(frozen, base_tree(frozen), key.text, workspace, task.root, _log(task)))
    if isinstance(made, SetupFailed):
        return made
    with changing(task, settles=False) as change:
        return note_set_up(change, Choice(SHARED, "", key.text), made.paths, made.changed)


class SetupRequest(Record):
    """The set-up that a clone is to have."""

    workspace: Workspace
    choice: Choice
    frozen: FrozenTree
    running: Running
    seat: str


def _bring(place: Place, workspace: Workspace) -> SetupFailed | None:
    if missing := bring(place, workspace.copy):
        return SetupFailed(f"copy {', '.join(missing)}", 1, "", say.nothing_to_copy())
    bring(place, workspace.carry)
    return None


def _mounted(task: Task, place: Place, wanted: SetupRequest) -> SetupFailed | None:
    """Nothing is run in the agent's own tree: folders of the set-up are mounted there for its runs, as its own."""
    private, log = os.path.join(task.home, DEPS), _log(task)
    ground = Ground(place.folder, place.tracked, wanted.seat)
    choice, frozen, copied = wanted.choice, wanted.frozen, 0
    if choice.how == SHARED:
        setups = setups_in(place_of(task), task.memory.head.command_limits, wanted.running.begins)
        order = order_of(frozen, base_tree(frozen), choice.key, wanted.workspace, task.root, log)
        made = shared_setup(setups, order)
        if isinstance(made, SetupFailed):
            return made
        laid = lay_writable(made, ground, private, overlays=not setups.no_overlays)
        if copied := copied_bytes(made, laid, private):
            choice = choice.replace(how=COPIED, why=of_workspace.no_overlays(setups.no_overlays))
    else:
        order = order_of(frozen, place.tree, choice.key, wanted.workspace, task.root, log)
        made = make_set_up(private, order, wanted.running, wanted.seat)
        if isinstance(made, SetupFailed):
            return made
        laid = lay_private(made, ground)
    remember_laid(task, task.tree_path, laid)
    with changing(task, settles=False) as change:
        return note_set_up(change, choice, made.paths, made.changed, copied)


def _in_tree(task: Task, place: Place, wanted: SetupRequest) -> SetupFailed | None:
    """Without mounts set-up runs in the agent's tree itself: what it makes may name its own path."""
    before = marks(place.folder)
    failed = run_setup(place.folder, wanted.workspace, _log(task), wanted.running)
    after = marks(place.folder)
    created = created_paths(before, after, place.tracked | tracked_at_first(wanted.frozen))
    choice = wanted.choice
    if choice.how == SHARED:
        choice = choice.replace(how=PER_CHECKOUT, why=NO_MOUNTS)
    with changing(task, settles=False) as change:
        if problem := note_set_up(change, choice, created, (), created_bytes(before, after)):
            return problem
        task = change.task
        # Set-up is no work: files of the tree that it changed are restored.
        restored = put_back(task.places.private_git(), task.tree_path, current_tree(task), place.tree)
        if changed := (*restored.written, *restored.removed):
            note_set_up(change, choice, created, changed)
    return failed


def _log(task: Task) -> str:
    return os.path.join(task.places.receipts(), "setup-tree.log")


def note_set_up(
    change: Change, choice: Choice, created: Sequence[str], changed: Sequence[str], made_bytes: int = 0
) -> SetupFailed | None:
    """Journal what set the task up, and the paths that no tree id counts from now on.

    `made_bytes` is the size of a copy that was made for the task's tree alone.
    """
    seen = change.memory.set_up
    left_out = list(joined_paths((*seen.left_out, *created)))
    if len(left_out) > MOST_LEFT_OUT:
        return too_many(left_out)
    found = SetUpFrom(how=choice.how, why=choice.why, key=choice.key, left_out=left_out)
    if changed or made_bytes or seen != found:
        line = SetUp(
            how=choice.how,
            why=choice.why,
            key=choice.key,
            left_out=left_out,
            changed=list(changed),
            made_bytes=made_bytes,
        )
        change.write(line)
    return None


def joined_paths(paths: Iterable[str]) -> tuple[str, ...]:
    """The paths once each, without those that lie below another of them."""
    found: list[str] = []
    for path in sorted(set(paths), key=lambda path: path.split("/")):
        if not (found and lies_in(path, found[-1])):
            found.append(path)
    return tuple(found)


def too_many(paths: Sequence[str]) -> SetupFailed:
    why = say.too_many_between(paths, MOST_LEFT_OUT)
    return SetupFailed("set-up", 1, "", why)
