"""`scaffolding/` of the checkout is the task folder of a pipeline, and part of the work."""

from __future__ import annotations

from detent.runner.step.look import current_tree
from detent.runner.task.open import find_project, load_task
from tests.conformance.lightsout_pipeline import Lights, Pipeline


def tree_of(line: Pipeline) -> str:
    return current_tree(load_task(find_project(str(line.repo)), "p"))


def test_new_pipeline_stands_in_scaffolding_and_shows_what_it_remembers(lights: Lights) -> None:
    line = lights.pipeline()
    shown = line.shown()
    assert (shown["stage"], shown["mode"], shown["attempts"]) == ("Ideating", "auto", 0)
    registers = ("paused_from", "reconcile_for", "distill_from", "blocked_in", "passed", "delivered")
    assert [shown[name] for name in registers] == [None] * len(registers)
    line.moved("CommitToBuild")
    assert line.shown()["stage"] == "TemplateForked"


def test_the_tree_has_the_documents_but_not_state_and_log(lights: Lights) -> None:
    line = lights.pipeline().moved("CommitToBuild").committed()
    before = tree_of(line)
    line.moved("CloneRepo")
    assert tree_of(line) == before
    line.put("scaffolding/scope.md", "# Scope\n")
    changed = tree_of(line)
    assert changed != before
    line.moved("OpenInEditor")
    assert tree_of(line) == changed
    # Git is told to pass over the state; the log belongs to the history, and is committed with every gate.
    shown = line.git("status", "--porcelain", "--untracked-files=all").splitlines()
    assert shown == [" M scaffolding/log.md", "?? scaffolding/scope.md"]
    # Neither does looking change the work: the evidence page lies beside the documents, and is none of them.
    page = line("evidence", "p").out.splitlines()[0]
    assert page == str(line.repo / "scaffolding/artifacts/evidence.html")
    assert (tree_of(line), line.git("status", "--porcelain", "--untracked-files=all").splitlines()) == (changed, shown)


def test_scaffolding_that_is_committed_already_is_taken_as_it_is(lights: Lights) -> None:
    line = lights.pipeline(files={"scaffolding/scope.md": "# Of last year\n"})
    assert line.read("scaffolding/scope.md") == "# Of last year\n"
    (line.folder / "scope.md").unlink()
    assert " D scaffolding/scope.md" in line.git("status", "--porcelain").splitlines()


def test_a_scope_that_a_person_wrote_before_the_build_stays(lights: Lights) -> None:
    line = lights.pipeline()
    text = "# Scope\n\n## Acceptance Criteria\n\n- AC-1: it prints 3.\n\n## Quality Tier\n\nshed\n"
    line.put("scaffolding/scope.md", text)
    line.moved("CommitToBuild", "CloneRepo")
    assert line.read("scaffolding/scope.md") == text


def test_a_checkout_has_one_pipeline(lights: Lights) -> None:
    line = lights.pipeline()
    second = line("new", "lights-out", "Another")
    assert second.code == 1
    assert "already belongs to task p" in second.err


def test_a_foreign_state_file_is_not_overwritten(lights: Lights) -> None:
    repository = lights.repository()
    path = repository / "scaffolding" / "state.json"
    path.parent.mkdir()
    path.write_text('{"stage": "Building"}\n', encoding="utf-8")
    refused = lights.detent("new", "lights-out", "Mine", cwd=repository)
    assert refused.code == 1
    assert "detent adopt" in refused.err
    assert path.read_text(encoding="utf-8") == '{"stage": "Building"}\n'
