"""What the machine `global` alone brings along, declared once; records only, so that reading them costs nothing."""

from __future__ import annotations

from detent.gates.registry import TREE, Check
from detent.machines.reading import SCHEMA, TEXT, TEXTS, one_of

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
    ),
    Check("no_signal", "detent.packs.global_.reviews:no_signal", {"file": TEXT, "schema": SCHEMA, "values": TEXTS}),
    Check("signal_is", "detent.packs.global_.reviews:signal_is", {"file": TEXT, "schema": SCHEMA, "values": TEXTS}),
)
