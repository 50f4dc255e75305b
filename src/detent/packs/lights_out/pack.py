"""What the machine `lights-out` alone brings along, declared once; records only, so that reading them costs nothing."""

from __future__ import annotations

from detent.gates.registry import ABOUT, ALSO, TREE, Check, Excuse, Outside
from detent.machines.reading import GATE, MOVES, TEXT, TEXTS, one_of
from detent.runner.step.registry import Effect, Feature

CHECKS = (
    Check("preferences_doc", "detent.packs.lights_out.checks.scope:preferences_doc", {"file": TEXT}),
    Check("inputs_distilled", "detent.packs.lights_out.checks.scope:inputs_distilled", {"folder": TEXT}, needs=(TREE,)),
    Check(
        "inputs_used", "detent.packs.lights_out.checks.scope:inputs_used", {"file": TEXT, "folder": TEXT}, needs=(TREE,)
    ),
    Check(
        "scope_doc", "detent.packs.lights_out.checks.scope:scope_doc", {"file": TEXT}, {"ignore": TEXT, "before": TEXT}
    ),
    Check("design_doc", "detent.packs.lights_out.checks.design:design_doc", {"file": TEXT, "scope": TEXT}),
    Check(
        "secret_scan",
        "detent.packs.lights_out.checks.build:scan",
        runs="detent.packs.lights_out.checks.build:scanners",
        goes_first=True,
        judges=True,
    ),
    Check(
        "dependency_audit",
        "detent.packs.lights_out.checks.build:scan",
        runs="detent.packs.lights_out.checks.build:scanners",
        goes_first=True,
        judges=True,
    ),
    Check("lockfile", "detent.packs.lights_out.checks.build:lockfile", needs=(TREE,), judges=True),
    Check(
        "no_placeholders",
        "detent.packs.lights_out.checks.build:no_placeholders",
        {"readiness": TEXT},
        needs=(TREE,),
        judges=True,
    ),
    Check(
        "brake",
        "detent.packs.lights_out.checks.brake:brake",
        {"design": TEXT},
        {"besides": TEXTS, "approaches": TEXT},
        needs=(TREE,),
    ),
    Check(
        "within_design",
        "detent.packs.lights_out.checks.brake:within_design",
        {"design": TEXT},
        {"besides": TEXTS, "approaches": TEXT},
        needs=(TREE,),
        judges=True,
    ),
    Check(
        "structure_ok",
        "detent.packs.lights_out.checks.design:structure_ok",
        {"design": TEXT},
        {"besides": TEXTS},
        needs=(TREE,),
        judges=True,
    ),
    Check(
        "readiness_doc",
        "detent.packs.lights_out.checks.readiness:readiness_doc",
        {"file": TEXT, "scope": TEXT, "design": TEXT},
    ),
    Check(
        "ac_tests", "detent.packs.lights_out.checks.readiness:ac_tests", {"scope": TEXT, "readiness": TEXT}, judges=True
    ),
    Check(
        "findings",
        "detent.packs.lights_out.checks.reports:findings",
        {"file": TEXT, "severities": TEXTS, "value": one_of(("none open", "some open"))},
        {"about": ABOUT, "again": GATE},
        answer="",
    ),
    Check(
        "drift",
        "detent.packs.lights_out.checks.reports:drift",
        {"file": TEXT, "value": one_of(("CLEAN", "REPAIRED", "BLOCKED"))},
        {"about": ABOUT, "again": GATE},
        answer="",
    ),
    Check("blocked_doc", "detent.packs.lights_out.checks.reports:blocked_doc", {"file": TEXT}, {"kind": TEXT}),
    Check(
        "verification_doc",
        "detent.packs.lights_out.checks.verification:verification_doc",
        {"file": TEXT, "scope": TEXT, "readiness": TEXT},
        {"value": one_of(("PASS", "FAIL")), "about": ABOUT},
        answer="PASS",
    ),
    Check(
        "recorded_runs",
        "detent.packs.lights_out.checks.recorded:recorded_runs",
        {"file": TEXT},
        runs="detent.packs.lights_out.checks.recorded:recorded_commands",
        is_momentary=True,
        judges=True,
    ),
    Check(
        "delivery_doc",
        "detent.packs.lights_out.checks.delivery:delivery_doc",
        {"readme": TEXT, "delivery": TEXT, "scope": TEXT},
    ),
    Check("proposal_doc", "detent.packs.lights_out.checks.delivery:proposal_doc", {"file": TEXT}),
    Check(
        "architecture",
        "detent.packs.lights_out.checks.delivery:architecture",
        {"file": TEXT, "value": one_of(("none", "changes"))},
        answer="",
    ),
    Check("big_fix", "detent.packs.lights_out.checks.fix_size:big_fix", {"design": TEXT}, needs=(TREE,)),
    Check("deploy_named", "detent.packs.lights_out.checks.deployed:deploy_named", {"preferences": TEXT}),
    Check(
        "deployed",
        "detent.packs.lights_out.checks.deployed:deployed",
        {"preferences": TEXT},
        {"edges": MOVES, "besides": TEXTS},
        needs=(TREE,),
        word=ALSO,
        delivers=True,
        outside=Outside(
            run="detent.packs.lights_out.deploy:deploy",
            word="detent.packs.lights_out.deploy:word_wanted",
            lines="detent.packs.lights_out.checks.deployed:command_lines",
        ),
    ),
    Check("taken_back", "detent.packs.lights_out.checks.deployed:taken_back", lets_again=True),
)

EFFECTS = (
    Effect(
        "gate_commit",
        "the same, and in place a commit of tree and log on the task's branch: `docs(design): ...`",
        "detent.packs.lights_out.branch_commits:commit_gate",
        checkpoints=True,
        is_gate=True,
        delivers_at_rest=True,
    ),
    Effect(
        "work_commit",
        "the same between two gates, for what an interruption changed; no block goes back to it",
        "detent.packs.lights_out.branch_commits:commit_work",
        checkpoints=True,
    ),
    Effect(
        "wip_commit",
        "the same for a run that was cut short: `wip(build): ...`, with where it was and what comes next",
        "detent.packs.lights_out.branch_commits:commit_unfinished",
        checkpoints=True,
    ),
    Effect(
        "block",
        "commit the broken state, then the tree of the last `gate_commit` (or `checkpoint`), and "
        "go back to it; its line holds the post-mortem",
        "detent.packs.lights_out.block:restore_gate",
        checkpoints=True,
    ),
    Effect(
        "report",
        "`BLOCKED: ... Options: [...]. Recommendation: ...` where `[store] report` and `report_field` say",
        "detent.packs.lights_out.block:report",
    ),
    Effect(
        "post_mortem",
        "commit the log, which tells the post-mortem, and the report",
        "detent.packs.lights_out.block:commit_post_mortem",
    ),
    Effect(
        "clear_report",
        "take the report away; the branch and the journal keep it",
        "detent.packs.lights_out.block:clear_report",
    ),
    Effect(
        "harness",
        "write the files of `[store.harness]` that are not there yet",
        "detent.packs.lights_out.harness:write_harness",
    ),
)

FEATURES = (
    Feature(
        "recovery",
        ("recovers_in",),
        readies="detent.packs.lights_out.recovery:look_again",
        prompts="detent.packs.lights_out.recovery:briefing",
    ),
    Feature("project agents", ("harness",), prompts="detent.packs.lights_out.project_agents:project_agents"),
)

EXCUSES = (
    Excuse(
        "outputs",
        "detent.packs.lights_out.outputs:excused_outputs",
        of=("as_judged", "deployed"),
        optional={"outputs": TEXT, "design": TEXT},
    ),
)
