"""Whether a fix is significant: files that came or went, and files the design names under its interfaces."""

from __future__ import annotations

import pytest

from detent.core.machine import Gate
from detent.gates.judge import judge
from detent.packs.lights_out.checks.fix_size import big_fix
from detent.packs.lights_out.words import build as say
from tests.unit.gates.world import World

GATE = Gate("big", "big_fix", {"design": "design.md"}, "task")
DESIGN = "# Design\n\n## Interfaces\n\n`src/api.py` has `count(text) -> int`; see pool.py.\n\n## Next\n\nother.py\n"


@pytest.mark.requirement("S2.70")
@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ([("A", "src/new.py")], say.significant_fix([("src/new.py", "new")])),
        ([("D", "src/old.py")], say.significant_fix([("src/old.py", "gone")])),
        ([("M", "src/api.py")], say.significant_fix([("src/api.py", "an interface")])),
        ([("M", "lib/pool.py")], say.significant_fix([("lib/pool.py", "an interface")])),
        ([("M", "src/other.py")], ""),
        ([("M", "src/my-api.py"), ("M", "api.pyi")], ""),
        ([], ""),
    ],
)
def test_fix_that_adds_files_or_changes_interfaces_is_big(
    world: World, changes: list[tuple[str, str]], words: str
) -> None:
    (world.folder / "design.md").write_text(DESIGN, encoding="utf-8")
    found = big_fix(GATE, world.seen().replace(since_gate=lambda: changes))
    assert (found.ok, found.is_known) == (bool(words), True)
    assert words in found.note


def test_a_fix_is_seen_by_the_engine_and_never_old(world: World) -> None:
    (world.folder / "design.md").write_text(DESIGN, encoding="utf-8")
    world.machine = world.machine.replace(gates={"big": GATE.replace(since="entry")})
    for changes, ok in (([("A", "new.py")], True), ([("M", "other.py")], False)):
        fact = judge(world.seen().replace(since_gate=lambda found=changes: found), ["big"])["big"]
        assert (fact.ok, fact.by_hand) == (ok, False)
    assert fact.why == say.small_fix("Interfaces")


def test_a_design_without_interfaces_names_no_file(world: World) -> None:
    found = big_fix(GATE, world.seen().replace(since_gate=lambda: [("M", "src/api.py")]))
    assert (found.ok, found.is_known) == (False, True)


def test_an_uncompared_fix_is_neither_big_nor_small(world: World) -> None:
    found = big_fix(GATE, world.seen())
    assert (found.ok, found.is_known) == (False, False)
