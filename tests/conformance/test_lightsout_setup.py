"""Before the build: a person thinks, sets up and configures; audit and distillation are there on demand."""

from __future__ import annotations

import os
import re

import pytest

from detent.effects.host.access import BUBBLEWRAP
from detent.effects.host.sandbox import try_level
from detent.machines.load import load
from detent.packs.lights_out.harness import harness_files
from detent.runner.make.vocabulary import vocabulary
from tests.conformance.lightsout_pipeline import PREFERENCES, Lights

HELD = try_level(BUBBLEWRAP, os.environ)
PHASES = ("expand", "design", "analyze", "build", "review", "reconcile", "verify", "deploy")
SPECIALISTS = {"analyze": True, "review": True, "reconcile": False, "verify": True, "explore": True}
AUDIT = "# Audit\\n\\n## Findings\\n\\n- Python: keep, most would take it.\\n"
DISTILLED = "# Notes\\n\\n## Sources\\n\\nnotes.txt: three wishes.\\n"


@pytest.mark.requirement("S2.4", "S2.5")
def test_ideating_waits_for_a_person_and_asks_for_nothing(lights: Lights) -> None:
    line = lights.pipeline()
    status = line.json("status", "p")
    assert (status["state"], status["waiting_for"]) == ("Ideating", "a person")
    moves = {edge["to"]: edge for edge in line.json("next", "p")["edges"]}
    assert moves["TemplateForked"]["open"]
    assert moves["TemplateForked"]["by"] == ["person"]
    assert moves["TemplateForked"]["missing"] == []


@pytest.mark.requirement("S2.6", "S2.108")
def test_committing_to_build_writes_the_harness_over_no_file(lights: Lights) -> None:
    mine = {".github/prompts/build.prompt.md": "mine\n"}
    line = lights.pipeline(files=mine).moved("CommitToBuild")
    names = line.git("status", "--porcelain", "--untracked-files=all").splitlines()
    assert "?? .github/copilot-instructions.md" in names
    assert {f"?? .github/prompts/{name}.prompt.md" for name in PHASES if name != "build"} <= set(names)
    assert {f"?? .github/agents/{name}.agent.md" for name in SPECIALISTS} <= set(names)
    assert "?? preferences.md" in names
    assert line.read(".github/prompts/build.prompt.md") == "mine\n"
    acted = line.last("acted")
    assert acted["result"]["kept"] == ".github/prompts/build.prompt.md"
    assert set(line.repo.rglob("*.py")) == {line.repo / "app.py", line.repo / "test_app.py"}


@pytest.mark.requirement("S2.108")
def test_a_harness_file_behind_a_link_is_not_written(lights: Lights) -> None:
    line = lights.pipeline()
    outside = line.repo.parent / "outside"
    outside.mkdir()
    (line.repo / ".github").symlink_to(outside)
    line.moved("CommitToBuild")
    assert list(outside.iterdir()) == []
    assert line.read("preferences.md")


@pytest.mark.requirement("S2.6")
def test_in_fresh_repository_there_are_harness_files_and_nothing_else(lights: Lights) -> None:
    line = lights.pipeline()
    fresh = line.repo.parent / "fresh"
    fresh.mkdir()
    lights.make_repo.git(fresh, "init", "--quiet")
    lights.make_repo.git(fresh, "commit", "--quiet", "--allow-empty", "--message=First commit")
    for words in (("new", "lights-out", "Count words", "--id", "p"), ("move", "--edge", "CommitToBuild", "p")):
        done = lights.detent(*words, cwd=fresh)
        assert done.code == 0, done
    names = {str(path.relative_to(fresh)) for path in fresh.rglob("*") if path.is_file() and ".git" not in path.parts}
    expected = {f".github/prompts/{name}.prompt.md" for name in PHASES}
    expected |= {f".github/agents/{name}.agent.md" for name in SPECIALISTS}
    expected |= {f".github/prompts/{name}.prompt.md" for name in ("audit-stack", "distill", "iterate")}
    expected |= {".github/copilot-instructions.md", "preferences.md"}
    assert expected <= names
    assert [name for name in names - expected if not name.startswith("scaffolding/")] == [], "no project code"
    log = lights.make_repo.git(fresh, "rev-list", "--all", "--count")
    assert log == "1", "no history but the empty commit that a repository begins with"


@pytest.mark.requirement("S2.7")
def test_in_a_clone_the_harness_is_there_and_does_nothing(lights: Lights) -> None:
    line = lights.pipeline().moved("CommitToBuild").committed()
    clone = line.repo.parent / "clone"
    lights.make_repo.git(line.repo.parent, "clone", "--quiet", str(line.repo), str(clone))
    for name in PHASES:
        path = f".github/prompts/{name}.prompt.md"
        assert (clone / path).read_text(encoding="utf-8") == line.read(path)
    assert lights.detent("list", "--json", cwd=clone).json()["tasks"] == []
    assert lights.make_repo.git(clone, "status", "--porcelain") == ""


@pytest.mark.requirement("S2.7", "S2.8")
def test_setup_takes_three_commands_and_starts_nothing(lights: Lights) -> None:
    line = lights.pipeline().moved("CommitToBuild")
    for state in ("RepoCloned", "WorkspaceOpened"):
        ran = line.run()
        assert ran.code == 4
        line.moved({"RepoCloned": "CloneRepo", "WorkspaceOpened": "OpenInEditor"}[state])
        assert line.state() == state
    assert line.entries("run_planned") == []
    assert all((line.repo / f".github/prompts/{name}.prompt.md").is_file() for name in PHASES)


@pytest.mark.requirement("S2.9")
def test_the_instructions_carry_loop_gates_checkpoints_and_discipline() -> None:
    text = harness_files(load("lights-out", vocabulary())[0])[".github/copilot-instructions.md"]
    for words in ("loop is closed", "Gates:", "Checkpoints:", "conventional message", "scaffolding/log.md", "BEE-OS"):
        assert words in text
    for name in PHASES:
        assert f"`/{name}`" in text


@pytest.mark.requirement("S2.10")
@pytest.mark.parametrize(("name", "reads"), SPECIALISTS.items())
def test_of_five_specialists_those_that_judge_cannot_edit(name: str, *, reads: bool) -> None:
    files = harness_files(load("lights-out", vocabulary())[0])
    text = files[f".github/agents/{name}.agent.md"]
    assert len([path for path in files if path.startswith(".github/agents/")]) == 5
    (tools,) = re.findall(r"^tools: \[(.*)\]$", text, re.MULTILINE)
    assert ("edit" not in tools) == reads
    assert f"`@{name}`" in files[".github/copilot-instructions.md"]


@pytest.mark.requirement("S2.11", "S2.12")
def test_template_of_preferences_is_not_enough_and_filled_one_is(lights: Lights) -> None:
    line = lights.pipeline().moved("CommitToBuild", "CloneRepo", "OpenInEditor")
    refused = line("move", "--edge", "ConfigurePreferences", "p")
    assert refused.code == 1
    assert "preferences.md" in refused.out + refused.err
    line.put("preferences.md", PREFERENCES)
    line.moved("ConfigurePreferences")
    assert line.state() == "PreferencesConfigured"


@pytest.mark.requirement("S2.13")
def test_build_begins_on_branch_of_its_own_from_committed_checkout(lights: Lights) -> None:
    line = lights.pipeline().configured()
    refused = line("move", "--edge", "RequestBuild", "p")
    assert refused.code == 1
    assert "git commit" in refused.out + refused.err
    line.committed().moved("RequestBuild")
    assert line.git("branch", "--show-current") == "lights-out/p"
    assert line.shown()["branch"] == "lights-out/p"


@pytest.mark.requirement("S2.15", "S2.16")
def test_an_audit_reports_and_leaves_preferences_as_they_are(lights: Lights) -> None:
    lights.script("AuditingStack", f"printf '{AUDIT}' > \"$DETENT_OUT/audit.md\"")
    line = lights.pipeline().configured().moved("AuditStackFromConfigured")
    line.run("--once")
    assert line.state() == "PreferencesConfigured"
    assert "most would take it" in line.read("scaffolding/audit.md")
    assert line.read("preferences.md") == PREFERENCES


@pytest.mark.requirement("S2.15")
def test_from_the_word_for_an_audit_to_the_build(lights: Lights) -> None:
    """Each answer says what is next: where the findings lie, what to commit, and the sentence to say again."""
    lights.script("AuditingStack", f"printf '{AUDIT}' > \"$DETENT_OUT/audit.md\"")
    line = lights.pipeline().configured().committed()
    assert line("say", "/audit-stack", "p").code == 0
    assert line.run().code == 4
    assert "findings: scaffolding/audit.md" in line("status", "p").out
    refused = line("say", "build me a word counter", "p")
    assert "not committed: scaffolding/audit.md" in refused.out
    assert "then: detent say 'build me a word counter' p" in refused.out
    line.committed()
    assert line("say", "build me a word counter", "p").code == 0
    assert line.state() == "Expanding"


@pytest.mark.requirement("S2.16")
def test_auditor_that_edits_preferences_is_caught_and_they_come_back(lights: Lights) -> None:
    """Nothing holds this agent; what it changed in the checkout is put back, byte for byte."""
    lights.script(
        "AuditingStack", f"printf '{AUDIT}' > \"$DETENT_OUT/audit.md\"; echo '## Mine' >> \"$REPO/preferences.md\""
    )
    line = lights.pipeline()
    lights.detent.environment = {**lights.detent.environment, "REPO": str(line.repo)}
    line.configured().moved("AuditStackFromConfigured")
    line.run("--once")
    assert line.read("preferences.md") == PREFERENCES
    assert any("preferences.md is locked" in note for note in line.last("run_ended")["restored"])


@pytest.mark.requirement("S2.17", "S2.18", "S2.19")
def test_distill_writes_beside_the_originals_and_goes_back(lights: Lights) -> None:
    lights.script("Distilling", f"printf '{DISTILLED}' > docs/input/distilled-notes.md")
    line = lights.pipeline()
    line.put("docs/input/notes.txt", "three wishes\n")
    line.moved("DistillFromIdeating")
    line.run("--once")
    assert line.state() == "Ideating"
    assert line.read("docs/input/notes.txt") == "three wishes\n"
    line.configured().moved("DistillFromConfigured")
    lights.script("Distilling", "true")
    line.run("--once")
    assert line.state() == "Distilling", "what was distilled before is not what this run was asked for"
    assert "docs/input/distilled-*.md is unchanged since Distilling was entered" in line.last("unmoved")["why"]
    line.put("docs/input/more.txt", "a fourth wish\n")  # and a new text beside an old one is enough
    lights.script("Distilling", f"printf '{DISTILLED}more.txt\\n' > docs/input/distilled-more.md")
    line.run("--once")
    assert line.state() == "PreferencesConfigured"


def test_a_distiller_that_writes_elsewhere_is_tainted(lights: Lights) -> None:
    lights.script("Distilling", f"printf '{DISTILLED}' > docs/input/distilled-notes.md; echo '# more' >> app.py")
    line = lights.pipeline()
    line.put("docs/input/notes.txt", "three wishes\n")
    line.moved("DistillFromIdeating")
    line.run("--once")
    assert line.state() == "Distilling"
    assert line.last("run_ended")["tainted"] == ["app.py"]
    assert "may write to docs/input/distilled-*.md alone" in line.json("status", "p")["registers"]["stopped"]


@pytest.mark.skipif(bool(HELD), reason=f"bubblewrap does not hold here: {HELD}")
def test_the_kernel_keeps_a_distiller_to_its_folder(lights: Lights) -> None:
    lights.script(
        "Distilling",
        f"printf '{DISTILLED}' > docs/input/distilled-notes.md; echo '# no' >> app.py || true; echo > new.txt || true",
    )
    line = lights.pipeline(held=True, more=f'[sandbox]\nshow = ["{lights.scripts}"]\n')
    line.put("docs/input/notes.txt", "three wishes\n")
    line.moved("DistillFromIdeating")
    line.run("--once")
    assert line.state() == "Ideating"
    assert "# no" not in line.read("app.py")
    assert not (line.repo / "new.txt").exists()
