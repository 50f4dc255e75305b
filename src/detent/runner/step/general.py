"""The effects and steps that any machine may name, each declared once."""

from __future__ import annotations

from detent.runner.step.registry import Effect, Step

EFFECTS = (
    Effect(
        "checkpoint",
        "keep the tree as a commit of the engine's own git",
        checkpoints=True,
        is_gate=True,
    ),
    Effect(
        "evidence_page",
        "write the evidence page",
        "detent.runner.tell.evidence:evidence_page",
        needs_tree=True,
    ),
)

STEPS = (
    Step(
        "workspace",
        "make the task's clone, if it has none yet and the project's pool has room",
        foresee="detent.runner.step.homes:foresee_workspace",
        provide="detent.runner.step.homes:make_workspace",
        provided="detent.runner.step.homes:has_workspace",
    ),
    Step(
        "baseline",
        "write down branch and commit of the checkout, to come back to; without git only with `--no-git`",
        look="detent.runner.step.git_steps:look_baseline",
        act="detent.runner.step.git_steps:do_baseline",
        foresee="detent.runner.step.git_steps:foresee_baseline",
    ),
    Step(
        "branch",
        "make and check out `MACHINE/ID`, from a clean checkout; `--no-branch` leaves it out",
        look="detent.runner.step.git_steps:look_branch",
        act="detent.runner.step.git_steps:do_branch",
        begun="detent.runner.step.git_steps:has_branch",
        undo="detent.runner.step.git_steps:undo_branch",
        foresee="detent.runner.step.git_steps:foresee_branch",
    ),
    Step(
        "try_baseline",
        "as `baseline`; what it would refuse is written down, and the gate `baseline_known` tells it",
        look="detent.runner.step.git_steps:try_look_baseline",
        act="detent.runner.step.git_steps:try_baseline",
    ),
    Step(
        "try_branch",
        "as `branch`, likewise; nothing is done where `try_baseline` could not be",
        look="detent.runner.step.git_steps:try_look_branch",
        act="detent.runner.step.git_steps:try_branch",
        begun="detent.runner.step.git_steps:has_branch",
        undo="detent.runner.step.git_steps:undo_branch",
    ),
    Step(
        "reset",
        "save files and commits under `refs/detent/backup/`, go back to the baseline's branch, delete the task's",
        look="detent.runner.step.git_steps:look_reset",
        act="detent.runner.step.git_steps:do_reset",
        begun="detent.runner.step.git_steps:has_saved",
        foresee="detent.runner.step.git_steps:foresee_reset",
    ),
)
