"""Tries the person's commit hooks on the candidate, in a disposable checkout, before any review.

A hook that would refuse the commit or its message, or change what is committed, is known before a person has approved
anything. Hooks may take as long as tests do: they run without the task's lock, and what came of them is a receipt of
this tree, these hooks and these words. The move is made only where that receipt is green.
"""

from __future__ import annotations

import os
import shlex
import shutil

from detent.effects.git.bring import wipe
from detent.effects.git.git import Git, find_repository, write_git_dir
from detent.effects.git.merge import person_git
from detent.effects.git.person_checkout import stand_at
from detent.effects.git.person_commit import TRAILER, with_trailer
from detent.effects.workspace.checkout import (
    Checkout,
    CheckoutSpec,
    FrozenTree,
    SetupFailed,
    run_command,
    why_cut_short,
)
from detent.effects.workspace.prepared import prepared_checkout
from detent.errors import RefusedError, StorageError
from detent.packs.ralf import words as say
from detent.packs.ralf.commit_message import message_of
from detent.packs.ralf.commit_step import changed_names
from detent.runner.access.access import command_running, setups_in
from detent.runner.access.command_place import place_of
from detent.runner.step.look import current_tree
from detent.runner.step.proving.prove import set_up_used, vouch
from detent.runner.step.proving.workspace import workspace_of
from detent.store.disk.atomic import make_folders, read_plain, write_atomic
from detent.store.disk.digest import sha256_of
from detent.store.journal.memory import utc_now
from detent.store.journal.receipts import Receipt, ReceiptStore

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from detent.runner.step.registry import Doing, Results
    from detent.runner.task.open import Task

_MESSAGE = ".git/COMMIT_EDITMSG"
# In the order of a commit, each with what git hands to it.
HOOKS: Mapping[str, str] = {
    "pre-commit": "",
    "prepare-commit-msg": f" -- {_MESSAGE} message",
    "commit-msg": f" -- {_MESSAGE}",
}
_PLACE = ".git/hooks"
_LONGEST_TOLD = 4000
_LARGEST_LOG_BYTES = 64_000_000


def look_hooks(_doing: Doing) -> dict[str, str]:
    return {}


def note_hooks(doing: Doing) -> Results:
    """For the move's line: which hooks were tried, on which tree."""
    folder, names = _hooks(doing.task)
    if not folder:
        return {"try_hooks": {"hooks": "none"}}
    return {"try_hooks": {"hooks": ", ".join(names), "tree": current_tree(doing.task)}}


def were_tried(task: Task) -> bool:
    """Whether all hooks let the tree pass as it is now; without a hook there is nothing to try. The lock is held."""
    folder, names = _hooks(task)
    if not folder:
        return True
    key = _key(task, folder, names, current_tree(task))
    receipt = ReceiptStore(task.places.receipts()).find(key)
    return receipt is not None and receipt.is_green and task.memory.proved.get(key) == receipt.digest


def try_hooks(task: Task) -> tuple[str, ...]:
    """Refused if a hook fails or changes the index; each attempt leaves a receipt."""
    folder, names = _hooks(task)
    with task.held():
        tree = current_tree(task)
    head, store = task.memory.head, ReceiptStore(task.places.receipts())
    make_folders(task.home)
    key = _key(task, folder, names, tree)
    before = store.find(key)
    log = store.log_path(key, len(before.attempts) + 1 if before else 1)
    wanted = CheckoutSpec(
        os.path.join(task.home, "proof"),
        FrozenTree(task.places.private_git(), tree, head.baseline or None),
        workspace_of(head),
        work_tree=task.root,
        cache_dir=os.path.join(task.home, "setup"),
        log_path=log,
        running=command_running(task),
        setups=setups_in(place_of(task), head.command_limits) if head.workspace["setup"] else None,
        task_cache=place_of(task).cache,
        vouched=task.store.load().set_ups,
    )
    refused: RefusedError | None = None
    with prepared_checkout(wanted) as checkout:
        if isinstance(checkout, SetupFailed):
            raise RefusedError(say.hooks_not_set_up(checkout.why), where=checkout.log)
        place = _place(task, folder, checkout.folder)
        _copy(folder, os.path.join(checkout.folder, place))
        write_atomic(os.path.join(checkout.folder, _MESSAGE), _message(task, tree).encode(), durable=False)
        try:
            for name in names:
                _run(task, name, place, checkout, tree, log)
        except RefusedError as error:
            refused = error
        attempts = (*(before.attempts if before else ()), 1 if refused else 0)
        receipt = store.save(Receipt(key, f"hooks: {', '.join(names)}", tree, attempts, log, time=utc_now()))
        vouch(task, tree, [receipt], set_up_used(checkout))
    if refused:
        raise refused
    return ()


def _hooks(task: Task) -> tuple[str, tuple[str, ...]]:
    """The folder of the person's hooks and those in it that look at a commit; empty where there are none."""
    repository = find_repository(task.tree_path)
    if repository is None:
        return "", ()
    said = os.fsdecode(person_git(repository.top, "rev-parse", "--git-path", "hooks").stdout).strip()
    folder = os.path.join(repository.top, said)
    names = tuple(name for name in HOOKS if os.access(os.path.join(folder, name), os.X_OK))
    return (folder, names) if names else ("", ())


def _key(task: Task, folder: str, names: tuple[str, ...], tree: str) -> str:
    """This tree, these hooks as they are now, and the words of the commit."""
    marks = [os.stat(os.path.join(folder, name)) for name in names]
    hooks = [f"{name} {mark.st_size} {mark.st_mtime_ns} {mark.st_ino}" for name, mark in zip(names, marks, strict=True)]
    return sha256_of("\0".join(("hooks", tree, _message(task, tree), *hooks)).encode("utf-8", "surrogateescape"))


def _message(task: Task, tree: str) -> str:
    """The words of the commit as they would be made now; only the number of its line is not known yet."""
    stand = stand_at(task.tree_path)
    names = changed_names(task, stand, tree) if stand is not None else []
    return with_trailer(message_of(task, names), f"{TRAILER}: {task.id}/0:commit")


def _place(task: Task, hooks: str, checkout: str) -> str:
    """Where the hooks lie in the checkout: those of the work tree find their own files by where they lie themselves."""
    inside = os.path.relpath(hooks, os.path.realpath(task.tree_path))
    folder = os.path.join(os.path.realpath(checkout), inside)
    return inside if not inside.startswith("..") and os.path.realpath(folder) == folder else _PLACE


def _copy(hooks: str, target: str) -> None:
    wipe(target)  # nothing is written through a link that the tree has there
    try:
        shutil.copytree(hooks, target)
    except (OSError, shutil.Error) as error:
        raise StorageError(say.hooks_not_copied(str(error)), where=hooks) from error


def _run(task: Task, name: str, place: str, checkout: Checkout, tree: str, log: str) -> None:
    folder = checkout.folder
    timeout_s = task.memory.head.command_timeout_s
    running = command_running(task)
    command = f"git -c core.hooksPath={shlex.quote(place)} hook run --ignore-missing {name}{HOOKS[name]}"
    finished = run_command(command, folder, timeout_s, log, running, checkout.laid)
    after, changed = _staged(task, folder, tree)
    if after != tree:
        raise RefusedError(say.hook_would_change(name, changed), where=task.tree_path)
    cut_short = why_cut_short(finished, timeout_s, running.limits)
    if finished.exit != 0 or cut_short:
        ended = cut_short or say.exit_code(finished.exit)
        said = (read_plain(log, _LARGEST_LOG_BYTES) or b"").decode("utf-8", "replace")[-_LONGEST_TOLD:].strip()
        raise RefusedError(say.hook_would_refuse(name, ended, said), where=log)


def _staged(task: Task, folder: str, tree: str) -> tuple[str, str]:
    """The tree that a hook left in the index, and how it differs from the work.

    Hooks start what agents wrote, which may have changed the settings of that git folder, so that its git would run
    programs outside the sandbox: index and objects are read by a git folder of ours.
    """
    theirs, private = os.path.join(folder, ".git"), task.places.private_git()
    scratch = os.path.join(private, "cache", f"tmp-hooks-{os.getpid()}")
    staged = read_plain(os.path.join(theirs, "index"), _LARGEST_LOG_BYTES)
    if staged is None:
        raise RefusedError(say.hook_removed_index(), where=folder)
    try:
        objects = [os.path.join(folder_, "objects") for folder_ in (theirs, private)]
        write_git_dir(scratch, alternates=objects, is_sha256=len(tree) == 64, is_bare=True, durable=False)
        git = Git(scratch, None, os.path.join(scratch, "index"))
        write_atomic(os.path.join(scratch, "index"), staged, durable=False)
        after = git.run("write-tree").decode().strip()
        diff = git.run("diff", "--no-color", "--no-ext-diff", "--no-textconv", tree, after) if after != tree else b""
    finally:
        wipe(scratch)
    return after, diff.decode("utf-8", "replace")[:_LONGEST_TOLD].rstrip()
