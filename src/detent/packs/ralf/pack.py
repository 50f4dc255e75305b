"""What the machine `ralf` alone brings along, declared once; records only, so that reading them costs nothing."""

from __future__ import annotations

from detent.gates.registry import Check
from detent.machines.reading import ROLE, TEXT, one_of
from detent.runner.step.registry import Effect, Feature, Step

CHECKS = (
    Check("spec", "detent.packs.ralf.criteria:spec", {"file": TEXT}),
    Check("promise_seen", "detent.packs.ralf.criteria:promise_seen", {"file": TEXT}),
    Check(
        "criteria",
        "detent.packs.ralf.criteria:criteria",
        {"file": TEXT, "report": TEXT, "section": TEXT, "value": one_of(("all pass", "some fail"))},
        {"role": ROLE},
        runs="detent.packs.ralf.criteria:criteria_runs",
        judges=("all pass",),
        lacks_judge="detent.packs.ralf.criteria:is_to_be_judged",
        answer="",
        is_progress=True,
    ),
)

EFFECTS = (
    Effect(
        "leave_branch",
        "check out the baseline's branch again, if nothing is uncommitted; the task's branch stays",
        "detent.packs.ralf.leave:leave_branch",
    ),
    Effect(
        "file_spec",
        "file `[store] draft` as the revision that the state it leads to counts; it never changes again",
        "detent.packs.ralf.revisions:file_revision",
    ),
    Effect(
        "commit_message",
        "write the message of the person's commit where `[store] message` says",
        "detent.packs.ralf.commit_step:message_signed",
    ),
)

STEPS = (
    Step(
        "try_hooks",
        "run the person's commit hooks, with the message too, on the tree as it is, in a disposable checkout",
        look="detent.packs.ralf.hook_trial:look_hooks",
        act="detent.packs.ralf.hook_trial:note_hooks",
        provide="detent.packs.ralf.hook_trial:try_hooks",
        provided="detent.packs.ralf.hook_trial:were_tried",
    ),
    Step(
        "commit",
        "commit the tree that was signed off last, with the person's identity and hooks; or `--sha` records one",
        look="detent.packs.ralf.commit_step:look_commit",
        act="detent.packs.ralf.commit_step:do_commit",
        begun="detent.packs.ralf.commit_step:has_commit",
        foresee="detent.packs.ralf.commit_step:foresee_commit",
        names_tree=True,
        delivers=True,
        is_signed=True,
    ),
)

FEATURES = (
    Feature("revisions", ("draft",), settles="detent.packs.ralf.revisions:restore_revisions"),
    Feature("files beside", ("runs", "conversation"), projects="detent.packs.ralf.beside:project_beside"),
    Feature("conversation", ("talks_in",), talks="detent.packs.ralf.beside:turns"),
)
