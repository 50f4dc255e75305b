"""Unscanned files prove neither a gate nor its opposite: else a failed scan would count as failed work."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from detent.core.machine import Gate
from detent.core.values import Fact
from detent.gates.judge import judge
from detent.gates.seen import AgentSeen, Seen, Sibling
from detent.store.journal.memory import Signature
from detent.words import gates as say
from tests.unit.gates.around import Around
from tests.unit.gates.world import World

PLAN = {"file": "files.json", "schema": "global/plan-files", "plan": "plan.json", "plan_schema": "global/planning"}
SIGNED = {"sign": Signature(tree="tree-1", name="ann")}
GIVEN = {"file": "scope.md", "folder": "tree:docs/input/"}
DESIGN = "# Design\n\n## Directory Structure\n\n```\napp.py\n```\n"
NO_TREE: Mapping[str, Any] = {"tree": ""}
# By check: its parameters, and its fact without a scan.
UNKNOWN: list[tuple[str, Mapping[str, Any], Mapping[str, Any]]] = [
    ("same_tree", {}, {**NO_TREE, "entry_tree": "tree-1"}),
    ("same_tree", {}, {"entry_tree": ""}),
    ("filed", {"file": "code/diff.patch"}, NO_TREE),
    ("signed_tree", {"edge": "sign"}, {**NO_TREE, "signed": SIGNED}),
    ("protected_ok", {}, {}),
    ("scope", {**PLAN, "value": "inside"}, {}),
    ("scope", {**PLAN, "value": "outside"}, {}),
    ("inputs_used", GIVEN, {}),
    ("inputs_distilled", GIVEN, {}),
    ("structure_ok", {"design": "design.md"}, {}),
    ("git_clean", {}, {"around": Around()}),
    ("git_clean", {}, {}),
    ("agents_found", {"roles": ["implementer"]}, {}),
    ("agents_exhausted", {"role": "implementer"}, {}),
    ("agents_exhausted", {"role": "implementer"}, {"around": Around()}),
    ("no_sibling_in", {"states": ["verify"]}, {}),
    ("big_fix", {"design": "design.md"}, {}),
]
# The same checks after a scan that found a problem.
KNOWN: list[tuple[str, Mapping[str, Any], Mapping[str, Any]]] = [
    ("same_tree", {}, {"entry_tree": "tree-0"}),
    ("filed", {"file": "code/diff.patch"}, {}),
    ("signed_tree", {"edge": "sign"}, {**NO_TREE, "signed": {}}),
    ("signed_tree", {"edge": "sign"}, {"tree": "tree-2", "signed": SIGNED}),
    ("protected_ok", {}, {"touched": lambda: {"deploy/job": "a" * 40}}),
    ("scope", {**PLAN, "value": "inside"}, {"changed": lambda: ("other.py",)}),
    ("scope", {**PLAN, "value": "outside"}, {"changed": lambda: ("app.py",)}),
    ("inputs_used", GIVEN, {"tree_files": lambda: {"docs/input/brief.md": None}}),
    ("inputs_distilled", GIVEN, {"tree_files": lambda: {"docs/input/brief.md": None}}),
    ("structure_ok", {"design": "design.md"}, {"tree_files": dict}),
    ("structure_ok", {"design": "nothing.md"}, {}),
    ("agents_found", {"roles": ["implementer"]}, {"around": Around()}),
    ("agents_exhausted", {"role": "implementer"}, {"around": Around(agents=(AgentSeen("pi"),))}),
    ("no_sibling_in", {"states": ["verify"]}, {"around": Around(siblings=(Sibling("b", "phase", "verify"),))}),
]


def seen_by(world: World, check: str, params: Mapping[str, Any], more: Mapping[str, Any]) -> Seen:
    (world.folder / "files.json").write_text('["app.py"]', encoding="utf-8")
    (world.folder / "design.md").write_text(DESIGN, encoding="utf-8")
    (world.folder / "scope.md").write_text("# Scope\n\nwords\n", encoding="utf-8")
    ours = Gate("ours", check, params, "task", "do it")
    opposite = Gate("opposite", "not", {"of": ["ours"]}, "task", "do it")
    world.machine = world.machine.replace(gates={"ours": ours, "opposite": opposite})
    return world.seen().replace(**more)


def both(world: World, check: str, params: Mapping[str, Any], more: Mapping[str, Any]) -> tuple[Fact, Fact]:
    facts = judge(seen_by(world, check, params, more), ["ours", "opposite"])
    return facts["ours"], facts["opposite"]


@pytest.mark.parametrize(("check", "params", "more"), UNKNOWN)
def test_an_unscanned_tree_proves_neither_a_gate_nor_its_opposite(
    world: World, check: str, params: Mapping[str, Any], more: Mapping[str, Any]
) -> None:
    ours, opposite = both(world, check, params, more)
    assert (ours.ok, ours.is_known, ours.pending) == (False, False, False)
    assert (opposite.ok, opposite.is_known) == (False, False)
    assert opposite.why == say.unknown_whether_fails([ours.why])


@pytest.mark.parametrize(("check", "params", "more"), KNOWN)
def test_what_was_looked_at_and_is_wrong_proves_the_opposite(
    world: World, check: str, params: Mapping[str, Any], more: Mapping[str, Any]
) -> None:
    ours, opposite = both(world, check, params, more)
    assert (ours.ok, ours.is_known, opposite.ok) == (False, True, True)
