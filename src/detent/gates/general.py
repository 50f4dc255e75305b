"""The checks that any machine may ask, each declared once: its function, its parameters, and what it needs."""

from __future__ import annotations

from detent.gates.registry import ABOUT, ALSO, ONLY, SIBLINGS, TREE, Check
from detent.machines.reading import REGISTER, ROLE, ROLES, SCHEMA, STATES, TABLE, TEXT, TEXTS

CHECKS = (
    Check("fields_filled", "detent.gates.checks:fields_filled", {"fields": TEXTS}, {"empty": TEXTS, "none_in": TEXTS}),
    Check("fields_empty", "detent.gates.checks:fields_empty", {"fields": TEXTS}, {"empty": TEXTS}),
    Check("fields_present", "detent.gates.checks:fields_present", {"fields": TEXTS}),
    Check("field_is", "detent.gates.checks:field_is", {"field": TEXT, "value": TEXT}),
    Check("register_is", "detent.gates.checks:register_is", {"register": REGISTER, "value": TEXT}, {"unless": TABLE}),
    Check(
        "section_filled",
        "detent.gates.checks:section_filled",
        {"file": TEXT, "section": TEXT},
        {"empty": TEXTS, "quoted": TEXT},
    ),
    Check("section_empty", "detent.gates.checks:section_empty", {"file": TEXT, "section": TEXT}, {"empty": TEXTS}),
    Check(
        "verdict",
        "detent.gates.checks:verdict",
        {"file": TEXT, "section": TEXT, "value": TEXT},
        {"words": TEXTS, "about": ABOUT},
    ),
    Check("labels", "detent.gates.checks:labels", {"files": TEXTS, "section": TEXT, "labels": TEXTS, "relevant": TEXT}),
    Check("path_field", "detent.gates.checks:path_field", {"field": TEXT}, names_proof=True),
    Check("link_field", "detent.gates.checks:link_field", {"field": TEXT}, {"when_folder": TEXT}),
    Check(
        "commands",
        "detent.gates.commands:commands",
        {},
        {"field": TEXT},
        runs="detent.gates.commands:plan_runs",
        judges=True,
    ),
    Check("commands_named", "detent.gates.commands:commands_named", {"field": TEXT}),
    Check(
        "commands_failed",
        "detent.gates.commands:commands_failed",
        {},
        {"field": TEXT},
        runs="detent.gates.commands:plan_runs",
    ),
    Check(
        "red_green",
        "detent.gates.commands:red_green",
        {"field": TEXT},
        {"command": TEXT, "tests": TEXTS},
        runs="detent.gates.commands:red_green_runs",
        judges=True,
    ),
    Check(
        "manual_evidence",
        "detent.gates.checks:manual_evidence",
        {"field": TEXT, "file": TEXT, "section": TEXT},
        {"about": ABOUT},
    ),
    Check(
        "answers", "detent.gates.answers:answers", {"file": TEXT, "section": TEXT, "questions": TEXTS}, {"about": ABOUT}
    ),
    Check("file_unchanged", "detent.gates.surroundings:file_unchanged", {"file": TEXT}),
    Check("person_says", "detent.gates.surroundings:person_says", {"word": TEXT}),
    Check("git_clean", "detent.gates.surroundings:git_clean", is_asked_late=True),
    Check("baseline_known", "detent.gates.surroundings:baseline_known"),
    Check("agents_found", "detent.gates.surroundings:agents_found", {"roles": ROLES}, {"programs": TEXTS}),
    Check("agents_exhausted", "detent.gates.surroundings:agents_exhausted", {"role": ROLE}),
    Check("no_sibling_in", "detent.gates.surroundings:no_sibling_in", {"states": STATES}, needs=(SIBLINGS,)),
    Check("protected_ok", "detent.gates.people:protected_ok", needs=(TREE,), word=ONLY),
    Check("filed", "detent.gates.filed:filed", {"file": TEXT}, needs=(TREE,)),
    Check("renewed", "detent.gates.filed:renewed", {"files": TEXTS}),
    Check("same_tree", "detent.gates.filed:same_tree", needs=(TREE,)),
    Check(
        "as_judged",
        "detent.gates.judged:as_judged",
        {"edges": TEXTS},
        {"besides": TEXTS, "outputs": TEXT, "design": TEXT},
        needs=(TREE,),
        word=ALSO,
    ),
    Check("asked_by_name", "detent.gates.people:asked_by_name"),
    Check("json_valid", "detent.gates.json_artifacts:json_valid", {"file": TEXT, "schema": SCHEMA}),
    Check("signed_tree", "detent.gates.people:signed_tree", {"edge": TEXT}, {"files": TEXTS}, needs=(TREE,)),
    Check("tree_edited", "detent.gates.people:tree_edited", needs=(TREE,)),
)
