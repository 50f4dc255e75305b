"""The step `try_hooks`: the person's pre-commit hook on the candidate, in a disposable checkout, before any review.

A hook that would refuse the commit, or change what is committed, is known before a person has approved anything.
"""

from __future__ import annotations

import os
import shutil

from detent.effects.checkout import FrozenTree, SetupFailed, Wanted, prepared_checkout, run_command, why_cut_short
from detent.effects.git import Git, find_repository
from detent.effects.merge import own_git
from detent.errors import RefusedError, StorageError
from detent.runner.access import command_running
from detent.runner.look import current_tree
from detent.runner.workspace import workspace_of
from detent.store.atomic import make_folders, read_plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from detent.runner.open import Task
    from detent.runner.prepare_values import Doing, Results

HOOK = "pre-commit"
_COMMAND = f"git -c core.hooksPath=.git/hooks hook run --ignore-missing {HOOK}"
_LONGEST_TOLD = 4000
_LARGEST_LOG_BYTES = 64_000_000


def look_hooks(_doing: Doing) -> dict[str, str]:
    return {}


def try_hooks(doing: Doing) -> Results:
    """Refused if the hook fails or changes the index; without a hook there is nothing to try."""
    task = doing.task
    hooks = _hooks(task)
    if not hooks:
        return {"try_hooks": {"hooks": "none"}}
    tree = current_tree(task)
    head = task.memory.head
    make_folders(task.home)
    log = os.path.join(task.places.receipts(), f"hooks-{tree[:16]}.log")
    frozen = FrozenTree(task.places.private_git(), tree, head["baseline"] or None)
    wanted = Wanted(
        os.path.join(task.home, "proof"),
        frozen,
        workspace_of(head),
        work_tree=task.root,
        cache_dir=os.path.join(task.home, "setup"),
        log_path=log,
        running=command_running(task),
    )
    with prepared_checkout(wanted) as checkout:
        if isinstance(checkout, SetupFailed):
            raise RefusedError(f"the checkout for the hooks can't be set up: {checkout.why}", where=checkout.log)
        _copy(hooks, os.path.join(checkout.folder, ".git", "hooks"))
        _run(task, checkout.folder, tree, log)
    return {"try_hooks": {"hooks": HOOK, "tree": tree}}


def _hooks(task: Task) -> str:
    """The folder of the person's hooks, if it has the one that looks at a commit; empty otherwise."""
    repository = find_repository(task.tree_path)
    if repository is None:
        return ""
    said = os.fsdecode(own_git(repository.top, "rev-parse", "--git-path", "hooks").stdout).strip()
    folder = os.path.join(repository.top, said)
    return folder if os.access(os.path.join(folder, HOOK), os.X_OK) else ""


def _copy(hooks: str, target: str) -> None:
    try:
        shutil.copytree(hooks, target, dirs_exist_ok=True)
    except (OSError, shutil.Error) as error:
        raise StorageError(f"the hooks can't be copied: {error}", where=hooks) from error


def _run(task: Task, folder: str, tree: str, log: str) -> None:
    timeout_s = task.memory.head["command_timeout_s"]
    running = command_running(task)
    finished = run_command(_COMMAND, folder, timeout_s, log, running)
    after = Git(os.path.join(folder, ".git"), folder).run("write-tree").decode().strip()
    if after != tree:
        diff = Git(os.path.join(folder, ".git"), folder).run("diff", "--no-color", "--no-ext-diff", tree, after)
        told = diff.decode("utf-8", "replace")[:_LONGEST_TOLD].rstrip()
        raise RefusedError(
            f"the {HOOK} hook would change what is committed:\n{told}",
            where=task.tree_path,
            next_step="make that change in the work itself, then try again",
        )
    cut_short = why_cut_short(finished, timeout_s, running.limits)
    if finished.exit != 0 or cut_short:
        ended = cut_short or f"exit {finished.exit}"
        said = (read_plain(log, _LARGEST_LOG_BYTES) or b"").decode("utf-8", "replace")[-_LONGEST_TOLD:].strip()
        raise RefusedError(
            f"the {HOOK} hook would refuse the commit ({ended}):\n{said}",
            where=log,
            next_step="mend what it names, then try again",
        )
