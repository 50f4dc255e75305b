"""What the machine `global` alone brings along, declared once; records only, so that reading them costs nothing."""

from __future__ import annotations

from detent.gates.registry import TREE, Check
from detent.machines.reading import SCHEMA, TEXT, TEXTS, all_of, one_of
from detent.runner.step.registry import Effect, Step

CHECKS = (
    Check("questions_closed", "detent.packs.global_.planned:questions_closed", {"file": TEXT, "schema": SCHEMA}),
    Check(
        "files_planned",
        "detent.packs.global_.planned:files_planned",
        {"file": TEXT, "schema": SCHEMA, "plan": TEXT, "plan_schema": SCHEMA},
    ),
    Check(
        "scope",
        "detent.packs.global_.planned:scope",
        {"file": TEXT, "schema": SCHEMA, "plan": TEXT, "plan_schema": SCHEMA, "value": one_of(("inside", "outside"))},
        needs=(TREE,),
        judges=("inside",),
        answer="",
    ),
    Check(
        "plan_review",
        "detent.packs.global_.reviews:plan_review",
        {"file": TEXT, "schema": SCHEMA, "value": one_of(("ok", "needs_changes", "blocked"))},
    ),
    Check(
        "code_review",
        "detent.packs.global_.reviews:code_review",
        {"file": TEXT, "schema": SCHEMA, "value": one_of(("ok", "needs_changes", "plan"))},
        needs=(TREE,),
        judges=("ok",),
    ),
    Check(
        "decision",
        "detent.packs.global_.reviews:decision",
        {
            "file": TEXT,
            "schema": SCHEMA,
            "value": one_of(("accepted", "needs_changes", "unclear", "upstream", "revert")),
        },
        answer="",
    ),
    Check(
        "no_signal",
        "detent.packs.global_.reviews:no_signal",
        {"file": TEXT, "schema": SCHEMA, "values": all_of("signal_is")},
    ),
    Check("signal_is", "detent.packs.global_.reviews:signal_is", {"file": TEXT, "schema": SCHEMA, "values": TEXTS}),
)

EFFECTS = (
    Effect(
        "archive",
        "keep the artifacts of the entered state and of those after it as a version: see `archive` below",
        "detent.packs.global_.archive:archive",
    ),
    Effect(
        "revert_record",
        "write `[store] record` about the step `revert`, and bring its commit to the task's branch",
        "detent.packs.global_.revert_step:record_revert",
    ),
    Effect(
        "eval_report",
        "write eval/eval-report.json from the receipts of the commands on the move's tree",
        "detent.packs.global_.eval_report:write_eval_report",
        needs_tree=True,
    ),
)

STEPS = (
    Step(
        "revert",
        "take the work back by a commit on the task's own branch, or, where it landed, on top of "
        "that branch; the files follow and are kept before; needs a reason",
        look="detent.packs.global_.revert_step:look_revert",
        act="detent.packs.global_.revert_step:do_revert",
        begun="detent.packs.global_.revert_step:has_revert",
        takes_back=True,
    ),
    Step(
        "decision",
        "record the person's command in the file that the move's `decision` gate reads, with its word",
        look="detent.packs.global_.decision_step:look_decision",
        act="detent.packs.global_.decision_step:record_decision",
        begun="detent.packs.global_.decision_step:has_decision",
    ),
)
