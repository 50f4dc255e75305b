"""The tree is the one that a move judged, outside a few paths; outputs of deploying are a narrow exception."""

from __future__ import annotations

from typing import Any

import pytest

from detent.core.machine import Gate
from detent.core.values import Fact
from detent.gates.judge import judge
from detent.store.journal.memory import SeenTree, Word
from detent.store.journal.observed import Command, TreeFile
from detent.view import with_fields
from detent.words import proof as say
from tests.unit.gates.world import MACHINE, World

TREES = {"verify-it": SeenTree(tree="tree-0", seq=7), "review-it": SeenTree(tree="tree-9", seq=3)}
DESIGN = "## Directory Structure\n\n```\nsite/\n  dist/app.js\n```\n"


def fact_of(world: World, *changed: tuple[str, str], edges: tuple[str, ...] = ("verify-it",), **more: Any) -> Fact:
    """The answer about a tree with these changes since `tree-0`."""
    params = {"edges": list(edges), "besides": ["README.md", "docs/"], "outputs": "tree:preferences.md"}
    gate = Gate("ours", "as_judged", {**params, "design": "design.md"}, "task", "do it")
    world.machine = MACHINE.replace(gates={**MACHINE.gates, "ours": gate})
    found = {"tree-0": changed, "tree-1": ()}
    files = {"app.py": TreeFile(1, 1), **{path: TreeFile(1, 1) for status, path in changed if status != "D"}}
    seen = world.seen().replace(trees=TREES, differences=found.get, tree_files=lambda: files)
    return judge(seen.replace(**more), ["ours"])["ours"]


def outputs(world: World, *places: str, deploy: str = "rsync -a dist/ host:") -> None:
    items = "".join(f"- `{place}`\n" for place in places)
    names = {"Pre-flight": "true", "Deploy": deploy, "Check": "true", "Rollback": "true"}
    lines = "".join(f"- {name}: `{line}`\n" for name, line in names.items())
    text = f"# P\n\n## Deploy Commands\n\n{lines}\n## Deploy Outputs\n\n{items}"
    (world.tree / "preferences.md").write_text(text, encoding="utf-8")
    (world.folder / "design.md").write_text(DESIGN, encoding="utf-8")


def test_unchanged_tree_is_the_judged_one(world: World) -> None:
    fact = fact_of(world)
    assert (fact.ok, fact.proof, fact.is_known) == (True, "tree-0", True)


def test_changed_paths_are_named_with_the_command_that_shows_them(world: World) -> None:
    fact = fact_of(world, ("M", "app.py"), ("D", "tests/test_app.py"), ("M", "README.md"), ("A", "docs/x.md"))
    assert (fact.ok, fact.is_known) == (False, True)
    assert fact.why == say.changed_since_judged("verify-it", ("app.py", "tests/test_app.py"), "tree-0")
    assert fact.fix == say.changed_since_judged("verify-it", ("app.py", "tests/test_app.py"), "tree-0").next_step


def test_name_of_an_excepted_file_excepts_nothing_else(world: World) -> None:
    assert not fact_of(world, ("M", "README.md.py")).ok
    assert not fact_of(world, ("M", "src/README.md")).ok


def test_last_of_several_moves_counts(world: World) -> None:
    assert fact_of(world, edges=("review-it", "verify-it")).ok
    assert not fact_of(world, edges=("review-it",)).ok, "that tree was never compared"


def test_move_that_was_never_taken_has_judged_nothing(world: World) -> None:
    fact = fact_of(world, edges=("other",))
    assert (fact.ok, fact.why) == (False, say.nothing_judged(["other"]))


def test_unknown_trees_prove_nothing(world: World) -> None:
    assert not fact_of(world, tree="").is_known
    fact = fact_of(world, differences=lambda _tree: None)
    assert (fact.ok, fact.is_known) == (False, False)


def test_difference_that_a_person_accepted_is_told(world: World) -> None:
    said = Word(tree="tree-1", name="ada", reason="a hot fix")
    fact = fact_of(world, ("M", "app.py"), accepted=said)
    assert fact.ok
    assert fact.note == say.accepted("ada", "a hot fix")
    assert not fact_of(world, ("M", "app.py"), accepted=with_fields(said, tree="tree-0")).ok, "about other files"


def test_output_of_deploying_may_differ(world: World) -> None:
    outputs(world, "dist/", "site.tar")
    assert fact_of(world, ("A", "dist/index.html"), ("A", "dist/a/b.css"), ("A", "site.tar")).ok


@pytest.mark.parametrize(
    ("places", "changed", "deploy"),
    [
        (("dist/",), (("M", "dist/index.html"),), "true"),  # it was judged
        (("dist/",), (("A", "dist/x"), ("M", "dist/y")), "true"),  # so the place is part of the work
        (("dist/",), (("A", "dist/tests/x.py"),), "true"),
        (("dist/",), (("A", "dist/conftest.py"),), "true"),
        (("site/",), (("A", "site/dist/app.js"),), "true"),  # the design draws it
        (("dist/",), (("A", "dist/go.sh"),), "sh dist/go.sh"),
        (("dist/",), (("A", "dist/go.sh"),), "cd dist && sh go.sh"),
        (("dist/",), (("A", "dist/__main__.py"),), "true; python3 ./dist"),
        (("dist/",), (("A", "other/x"),), "true"),
        (("/dist/", "../dist/", ".", "./"), (("A", "dist/x"),), "true"),
        ((), (("A", "dist/x"),), "true"),
    ],
)
def test_output_that_is_work_may_not_differ(
    world: World, places: tuple[str, ...], changed: tuple[tuple[str, str], ...], deploy: str
) -> None:
    outputs(world, *places, deploy=deploy)
    assert not fact_of(world, *changed).ok


def test_output_that_command_of_the_project_runs_may_not_differ(world: World) -> None:
    outputs(world, "dist/")
    world.commands = (Command("test", "node dist/run.js"),)
    assert not fact_of(world, ("A", "dist/run.js")).ok
