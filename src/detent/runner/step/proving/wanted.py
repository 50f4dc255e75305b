"""The disposable checkout in which the commands of a task prove one tree, and what is built in it first."""

from __future__ import annotations

import os

from detent.effects.workspace.checkout import BUILD, CheckoutSpec, FrozenTree, SetupFailed, run_command, why_cut_short
from detent.runner.access.access import command_running, setups_in
from detent.runner.access.command_place import place_of
from detent.runner.step.proving.homes import make_home
from detent.runner.step.proving.workspace import workspace_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

    from detent.effects.workspace.checkout import Checkout
    from detent.runner.task.open import Task


def is_last(task: Task) -> bool:
    """Whether a proof may open the last move, or lets work land: then nothing of an earlier one is taken on trust."""
    here = task.machine.states[task.memory.snapshot.state]
    states = (here, *(task.machine.states[edge.target] for edge in here.edges))
    return any(state.is_end or state.lands for state in states)


def wanted_checkout(task: Task, tree: str) -> CheckoutSpec:
    """How the checkout of a tree is made; the task's home is there afterwards."""
    head = task.memory.head
    home = os.path.join(task.project.home(), task.id)
    make_home(home, is_named=False)
    return CheckoutSpec(
        os.path.join(home, "proof"),
        FrozenTree(task.places.private_git(), tree, head.baseline or None, tuple(head.protect["deny"])),
        workspace_of(head),
        work_tree=task.root,
        cache_dir=os.path.join(home, "setup"),
        log_path=os.path.join(task.places.receipts(), f"setup-{tree[:16]}.log"),
        running=command_running(task),
        setups=setups_in(place_of(task), head.command_limits) if head.workspace["setup"] else None,
        build=os.path.join(home, "build-deps") if build_lines(task) else "",
        task_cache=place_of(task).cache,
        by_content=is_last(task),
        vouched=task.store.load().set_ups,
    )


def build_lines(task: Task) -> tuple[str, ...]:
    return tuple(line for name, line in task.memory.head.commands if name == BUILD)


def built(task: Task, checkout: Checkout, tree: str, but: Collection[str] = ()) -> Checkout | SetupFailed:
    """The checkout with what `[commands] build` makes of its own source, without the builds in `but`.

    Set-up holds dependencies only, so that the other commands would find nothing built, or what the baseline built.
    """
    running, timeout_s = command_running(task), task.memory.head.command_timeout_s
    log = os.path.join(task.places.receipts(), f"build-{tree[:16]}.log")
    for line in build_lines(task):
        if line in but:
            continue
        finished = run_command(line, checkout.folder, timeout_s, log, running, checkout.laid_for_build)
        why = why_cut_short(finished, timeout_s, running.limits) or (f"exit {finished.exit}" if finished.exit else "")
        if why:
            return SetupFailed(line, finished.exit, log, f"[commands] build: {line}: {why}")
    return checkout
