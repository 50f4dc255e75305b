"""What the engine filed or saw itself: it counts for the tree as it is, and what lay there before is no answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from detent.core.machine import Edge, Gate, Way
from detent.core.values import Fact
from detent.gates.judge import evidence_hashes, judge
from detent.gates.seen import Seen
from detent.store.journal.memory import Filing, SeenTree
from detent.words import gates as say
from detent.words import proof as proof_words
from tests.unit.gates.world import MACHINE, World

PATCH, FOLDER = "code/diff.patch", "code/files/"
NOT_LOOKED = proof_words.tree_not_scanned()
NOT_WAIVED = proof_words.not_waived("checked")


def filing(tree: str = "tree-1", *refused: str, **files: str) -> Filing:
    """What a run's end filed; a place is named by its first word."""
    places = {"patch": PATCH, "folder": FOLDER}
    return Filing(tree=tree, files={places[name]: digest for name, digest in files.items()}, refused=list(refused))


def seen_by(world: World, gate: Gate, **more: Any) -> Seen:
    world.machine = MACHINE.replace(gates={**MACHINE.gates, "ours": gate})
    return world.seen().replace(**more)


def fact_of(
    world: World, check: str, since: str = "entry", *, params: Mapping[str, Any] | None = None, **more: Any
) -> Fact:
    """The answer of one gate; `more` is what else was seen."""
    return judge(seen_by(world, Gate("ours", check, params or {}, since, "do it"), **more), ["ours"])["ours"]


def lay_there(world: World, check: str, params: Mapping[str, Any], **more: Any) -> None:
    """The state is entered with what lies there now."""
    seen = seen_by(world, Gate("ours", check, params, "entry", "do it"), **more)
    world.snapshot = world.snapshot.replace(entry=evidence_hashes(seen))


# --- the tree a move came with ---


def test_a_tree_that_is_still_the_same_is_the_proof(world: World) -> None:
    fact = fact_of(world, "same_tree", entry_tree="tree-1")
    assert (fact.ok, fact.why, fact.proof, fact.by_hand) == (True, "", "tree-1", False)


@pytest.mark.parametrize(
    ("now", "then", "why"),
    [
        ("", "", NOT_LOOKED),
        ("", "a" * 40, NOT_LOOKED),
        ("a" * 40, "", proof_words.move_saw_no_tree()),
        ("a" * 40, "b" * 40, proof_words.tree_differs("a" * 40, "b" * 40)),
    ],
)
def test_tree_that_changed_or_is_not_known_is_not_same(world: World, now: str, then: str, why: str) -> None:
    world.tree_id = now
    fact = fact_of(world, "same_tree", entry_tree=then)
    assert (fact.ok, fact.why, fact.proof) == (False, why, "")


@pytest.mark.parametrize(
    ("trees", "why"),
    [
        ({}, NOT_WAIVED),
        ({"go": SeenTree(tree="tree-1", seq=3)}, NOT_WAIVED),
        ({"go": SeenTree(tree="tree-1", seq=3, waived=["checked"])}, ""),
        (
            {"go": SeenTree(tree="tree-1", seq=3, waived=["checked"]), "again": SeenTree(tree="tree-1", seq=5)},
            NOT_WAIVED,
        ),
    ],
)
def test_unchanged_tree_of_an_override_needs_the_waived_gate(
    world: World, trees: Mapping[str, SeenTree], why: str
) -> None:
    here = world.snapshot.state
    edges = tuple(Edge(name, "", here, here, (Way(0, ("agent",)),)) for name in ("go", "again"))
    seen = seen_by(world, Gate("ours", "same_tree", {"waived": "checked"}, "entry", "do it"), entry_tree="tree-1")
    state = seen.machine.states[here].replace(edges=edges)
    machine = seen.machine.replace(states={**seen.machine.states, here: state})
    fact = judge(seen.replace(machine=machine, trees=trees), ["ours"])["ours"]
    assert (fact.ok, fact.why) == (not why, why)


# --- what was filed ---


@pytest.mark.parametrize(("place", "name"), [(PATCH, "patch"), (FOLDER, "folder")])
def test_filing_of_the_current_tree_counts_by_its_hash(world: World, place: str, name: str) -> None:
    (world.folder / FOLDER).mkdir(parents=True)
    (world.folder / PATCH).write_text("+ one\n", encoding="utf-8")
    fact = fact_of(world, "filed", params={"file": place}, filing=filing(**{name: "digest"}))
    assert (fact.ok, fact.why, fact.proof) == (True, "", "digest")


@pytest.mark.parametrize(
    ("tree", "filed", "why"),
    [
        ("", filing("", patch="digest"), NOT_LOOKED),
        ("tree-1", Filing(), proof_words.not_filed(PATCH)),
        ("tree-1", filing("tree-0", patch="digest"), proof_words.not_filed(PATCH)),
        ("tree-1", filing(), proof_words.nothing_to_file(PATCH)),
        ("tree-1", filing(patch=""), proof_words.nothing_to_file(PATCH)),
        ("tree-1", filing(folder="digest"), proof_words.nothing_to_file(PATCH)),
        ("tree-1", filing("tree-1", "a.bin is too large", "b is a link"), "a.bin is too large; b is a link"),
    ],
)
def test_filing_of_another_tree_does_not_count(world: World, tree: str, filed: Filing, why: str) -> None:
    (world.folder / "code").mkdir()
    (world.folder / PATCH).write_text("written by somebody else\n", encoding="utf-8")
    world.tree_id = tree
    fact = fact_of(world, "filed", params={"file": PATCH}, filing=filed)
    assert not fact.ok
    assert fact.why.startswith(why)


@pytest.mark.parametrize(
    "on_entry",
    [
        pytest.param({}, id="nothing was filed yet"),
        pytest.param({"tree": ""}, id="nobody looked at the tree"),
        pytest.param({"filing": filing("tree-1", "a.bin is too large")}, id="it was refused"),
        pytest.param({"filing": filing(patch="digest")}, id="it had just been filed"),
    ],
)
def test_the_same_change_as_on_entry_is_no_answer(world: World, on_entry: Mapping[str, Any]) -> None:
    (world.folder / "code").mkdir()
    patch = world.folder / PATCH
    patch.write_text("+ one\n", encoding="utf-8")
    params = {"file": PATCH}
    lay_there(world, "filed", params, **on_entry)
    fact = fact_of(world, "filed", params=params, filing=filing(patch="digest"))
    assert (fact.ok, fact.proof) == (False, "")
    assert fact.why == say.stale([PATCH], "verify")
    assert fact_of(world, "filed", "task", params=params, filing=filing(patch="digest")).ok
    patch.write_text("+ two\n", encoding="utf-8")
    assert fact_of(world, "filed", params=params, filing=filing(patch="other")).ok


def test_filed_folder_is_new_by_the_patch_beside_it(world: World) -> None:
    (world.folder / FOLDER).mkdir(parents=True)
    (world.folder / FOLDER / "app.py").write_text("x", encoding="utf-8")
    lay_there(world, "filed", {"file": FOLDER})
    assert fact_of(world, "filed", params={"file": FOLDER}, filing=filing(folder="digest")).ok


def test_engine_s_own_file_counts_as_filed_when_it_changed(world: World) -> None:
    """The engine's own files are no proof to others, and still they are seen to be old or new."""
    params = {"file": "history.jsonl"}
    (world.folder / "history.jsonl").write_text("{}\n", encoding="utf-8")
    lay_there(world, "filed", params)
    filed = Filing(tree="tree-1", files={"history.jsonl": "digest"})
    assert fact_of(world, "filed", params=params, filing=filed).why == say.stale(["history.jsonl"], "verify")
    (world.folder / "history.jsonl").write_text("{}\n{}\n", encoding="utf-8")
    assert fact_of(world, "filed", params=params, filing=filed).ok


# --- what was written again ---


def test_one_file_that_is_new_renews_them_all(world: World) -> None:
    params = {"files": ["plan.md", "history.jsonl"]}
    assert not fact_of(world, "renewed", params=params).ok, "there was none and there is none"
    lay_there(world, "renewed", params)
    for name in params["files"]:
        path = world.folder / name
        path.write_text("new\n", encoding="utf-8")
        fact = fact_of(world, "renewed", params=params)
        assert (fact.ok, fact.why, fact.by_hand) == (True, "", False), name
        lay_there(world, "renewed", params)
        fact = fact_of(world, "renewed", params=params)
        assert (fact.ok, fact.why) == (False, proof_words.not_renewed(["plan.md", "history.jsonl"], "verify"))
    path.unlink()
    assert fact_of(world, "renewed", params=params).ok, "one that is gone is not what lay there"
