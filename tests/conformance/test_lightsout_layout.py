"""`scaffolding/` of the checkout is the task folder of a pipeline, and part of the work."""

from __future__ import annotations

from detent.runner.look import current_tree
from detent.runner.open import find_project, load_task
from tests.conformance.lightsout_pipeline import Pipeline, pipeline
from tests.conftest import SAMPLE_FILES, Detent, MakeRepo


def tree_of(line: Pipeline) -> str:
    return current_tree(load_task(find_project(str(line.repository)), "p"))


def test_a_new_pipeline_stands_in_scaffolding_and_shows_what_it_remembers(detent: Detent, repo: MakeRepo) -> None:
    line = pipeline(detent, repo).new()
    shown = line.shown()
    assert (shown["stage"], shown["mode"], shown["attempts"]) == ("Ideating", "auto", 0)
    registers = ("paused_from", "reconcile_for", "distill_from", "blocked_in", "passed", "delivered")
    assert [shown[name] for name in registers] == [None] * len(registers)
    line.moved("CommitToBuild")
    assert line.shown()["stage"] == "TemplateForked"


def test_the_documents_are_part_of_the_tree_and_what_changes_with_every_move_is_not(
    detent: Detent, repo: MakeRepo
) -> None:
    line = pipeline(detent, repo).new()
    before = tree_of(line)
    line.moved("CommitToBuild")
    assert tree_of(line) == before
    line.write("scaffolding/scope.md", "# Scope\n")
    changed = tree_of(line)
    assert changed != before
    line.moved("CloneRepo")
    assert tree_of(line) == changed
    assert line.git("status", "--porcelain", "--untracked-files=all").split() == ["??", "scaffolding/scope.md"]


def test_scaffolding_that_is_committed_already_is_taken_as_it_is(detent: Detent, repo: MakeRepo) -> None:
    line = pipeline(detent, repo, {**SAMPLE_FILES, "scaffolding/scope.md": "# Of last year\n"}).new()
    assert (line.folder / "scope.md").read_text(encoding="utf-8") == "# Of last year\n"
    (line.folder / "scope.md").unlink()
    assert line.git("status", "--porcelain") == " D scaffolding/scope.md"


def test_a_checkout_has_one_pipeline(detent: Detent, repo: MakeRepo) -> None:
    line = pipeline(detent, repo).new()
    second = detent("new", "lights-out", "Another", cwd=line.repository)
    assert second.code == 1
    assert "already belongs to task p" in second.err


def test_a_state_file_of_somebody_else_is_not_written_over(detent: Detent, repo: MakeRepo) -> None:
    line = pipeline(detent, repo)
    line.write("scaffolding/state.json", '{"stage": "Building"}\n')
    refused = detent("new", "lights-out", "Mine", cwd=line.repository)
    assert refused.code == 1
    assert "detent adopt" in refused.err
    assert (line.folder / "state.json").read_text(encoding="utf-8") == '{"stage": "Building"}\n'
