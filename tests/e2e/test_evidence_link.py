"""Wherever a task rests or is repaired, STATE.md links to its artifacts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import SAMPLE_FILES, Detent, MakeRepo
from tests.e2e.agent_runs import Agents
from tests.e2e.phase_task import BLOCKED, FRAME, PhaseTask

At = Callable[[str], PhaseTask]
LINKS = {1: "[result.txt](artifacts/result.txt)", 2: "[evidence](artifacts/evidence.html)"}


def leave(files: int) -> str:
    """The script of an agent that leaves so many artifacts."""
    names = ("result", "log")[:files]
    return "; ".join(("count", *(f'echo seen > "$DETENT_TASK_DIR/artifacts/{name}.txt"' for name in names)))


@pytest.mark.requirement("S0.38")
@pytest.mark.parametrize("phase", ["implement", "verify", "repair"])
@pytest.mark.parametrize("target", ["blocked", "needs_user_decision"])
@pytest.mark.parametrize("files", [1, 2])
def test_a_block_or_question_links_to_the_artifacts(at: At, phase: str, target: str, files: int) -> None:
    task = at(phase)
    for number in range(files):
        task.write(f"artifacts/{('result', 'log')[number]}.txt", "seen\n")
    task.set({**BLOCKED, "Evidence link": ""})
    task.move(target)
    assert task.field("Evidence link") == LINKS[files]
    assert (task.folder / "artifacts/evidence.html").exists() == (files == 2)


def test_an_existing_link_stays(at: At) -> None:
    task = at("implement")
    task.write("artifacts/result.txt", "seen\n")
    task.set({**BLOCKED, "Evidence link": "https://ci.acme.dev/builds/7"})
    task.move("blocked")
    assert task.field("Evidence link") == "https://ci.acme.dev/builds/7"


@pytest.mark.requirement("S0.39")
def test_an_artifact_is_linked_by_the_project_s_address(detent: Detent, repo: MakeRepo, tmp_path: Path) -> None:
    settings = '[evidence]\nbase = "https://proof.acme.dev/tasks"\n'
    path = repo(files={**SAMPLE_FILES, "detent.toml": settings})
    folder = tmp_path / "task"
    made = detent("new", "count", "--id", "t", "--check", "true", "--dir", folder, cwd=path)
    assert made.code == 0, made
    task = PhaseTask(detent, path, folder, "t")
    task.set(FRAME)
    task.move("shape")
    task.move("implement")
    task.candidate()
    task.move("verify")
    task.move("review")
    assert task.field("Evidence link") == "https://proof.acme.dev/tasks/t/artifacts/result.txt"


@pytest.mark.requirement("S0.38")
@pytest.mark.parametrize("files", [1, 2])
def test_a_stopped_task_links_to_its_artifacts(agents: Agents, files: int) -> None:
    agents.script("implement", leave(files))
    task = agents.task()
    task.run(expect=6)
    assert task.field("Status").startswith("stopped: ")
    assert task.field("Evidence link") == LINKS[files]
    page = task.folder / "artifacts/evidence.html"
    assert page.exists() == (files == 2)
    if files == 2:
        text = page.read_text(encoding="utf-8")
        assert "a person: stopped (the same refusal" in text
        assert "is behind the journal" not in text
    task.audit()
    assert task("resume", "--reason", "try again", task.id, cwd=task.repo).code == 0
    assert task.field("Evidence link") == LINKS[files]
    task.audit()


@pytest.mark.requirement("S0.38")
@pytest.mark.parametrize("files", [1, 2])
def test_a_question_in_intake_links_to_the_artifacts(agents: Agents, files: int) -> None:
    agents.script("intake", f"{leave(files)}; field Blockers 'which parser is meant?'")
    task = agents.task()
    task.set({"Done gate": ""})
    task.run(expect=4)
    assert (task.field("Phase"), task.field("Evidence link")) == ("intake", LINKS[files])
    task.audit()


@pytest.mark.requirement("S0.38")
@pytest.mark.parametrize("words", ["none", "TODO"])
def test_a_link_without_meaning_is_replaced_at_a_stop(agents: Agents, words: str) -> None:
    agents.script("implement", f"{leave(1)}; field 'Evidence link' {words}")
    task = agents.task()
    task.run(expect=6)
    assert task.field("Evidence link") == LINKS[1]


def test_a_stopped_task_without_artifacts_gets_no_link(agents: Agents) -> None:
    task = agents.task()
    before = task.field("Evidence link")
    task.run(expect=6)
    assert task.field("Evidence link") == before
    assert not (task.folder / "artifacts/evidence.html").exists()


def test_stop_keeps_link_of_the_agent_and_renews_the_page(agents: Agents) -> None:
    agents.script("implement", f"{leave(2)}; field 'Evidence link' 'https://ci.acme.dev/builds/7'")
    task = agents.task()
    task.run(expect=6)
    assert task.field("Evidence link") == f"{LINKS[2]} and https://ci.acme.dev/builds/7"
    assert "stopped (the same refusal" in (task.folder / "artifacts/evidence.html").read_text(encoding="utf-8")
    task.audit()


def test_linked_artifacts_folder_does_not_keep_a_task_from_stopping(agents: Agents, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    for name in ("one", "two"):
        (outside / name).write_text("not of this task\n", encoding="utf-8")
    task = agents.task()
    before = task.field("Evidence link")
    (task.folder / "artifacts").rmdir()
    (task.folder / "artifacts").symlink_to(outside)
    task.run(expect=6)
    assert task.field("Status").startswith("stopped: ")
    assert task.field("Evidence link") == before
    assert sorted(path.name for path in outside.iterdir()) == ["one", "two"]
    task.audit()


@pytest.mark.requirement("S0.38")
@pytest.mark.parametrize("files", [1, 2])
def test_the_link_of_the_engine_is_nobodys_evidence(agents: Agents, files: int) -> None:
    linkless = 'candidate "try $DETENT_RUN_NUMBER"; field "Evidence link" ""'
    more = '; echo seen > "$DETENT_TASK_DIR/artifacts/log.txt"' if files == 2 else ""
    agents.honest(implement=f"count; {linkless}{more}; detent move verify")
    task = agents.task()
    task.run(expect=6)
    assert task.field("Evidence link") == LINKS[files]
    assert task("resume", "--reason", "go on", task.id, cwd=task.repo).code == 0
    agents.script("implement", 'count; echo "# again" >> app.py; detent move verify')
    done = task.run(expect=6)
    assert "holds only the link that the engine wrote" in done.out
    assert (task.state(), task.field("Evidence link")) == ("implement", LINKS[files])
    assert task("resume", "--reason", "link it", task.id, cwd=task.repo).code == 0
    agents.script("implement", "count; echo '# linked' >> app.py; candidate 'seen at last'; detent move verify")
    task.run(expect=0)
    assert task.state() == "done"
    task.audit()


def test_the_link_of_a_block_is_nobodys_evidence(agents: Agents) -> None:
    agents.script("implement", f"{leave(1)}; field Blockers 'no key'; detent move blocked", run=1)
    agents.honest(implement='count; candidate; field "Evidence link" "$(cat "$SCRIPTS/link")"; detent move verify')
    task = agents.task()
    task.run()
    assert task.state() == "blocked"
    link = task.field("Evidence link")
    assert link == LINKS[1]
    (agents.scripts / "link").write_text(link, encoding="utf-8")
    assert task("resume", "--reason", "here is the key", task.id, cwd=task.repo).code == 0
    assert "link that the engine wrote" in task.missing("verify")["evidence_linked"]
    task.run(expect=6)
    assert task.state() == "implement"


@pytest.mark.requirement("S0.38")
@pytest.mark.parametrize("link", ["[mine](artifacts/result.txt)", "https://ci.acme.dev/builds/7"])
def test_link_to_the_page_goes_before_the_link_of_others(agents: Agents, link: str) -> None:
    more = f"; echo seen > \"$DETENT_TASK_DIR/artifacts/log.txt\"; field 'Evidence link' '{link}'; detent move verify"
    agents.honest(implement=f"count; echo '# worked on' >> app.py; candidate{more}")
    task = agents.task()
    task.run(expect=0)
    assert task.state() == "done"
    assert task.field("Evidence link") == f"{LINKS[2]} and {link}"
    task.audit()


@pytest.mark.requirement("S0.39")
def test_full_address_in_place_of_an_own_link_is_evidence(agents: Agents) -> None:
    agents.script("implement", leave(1))
    task = agents.task('[evidence]\nbase = "https://proof.acme.dev/tasks"\n')
    task.run(expect=6)
    address = "https://proof.acme.dev/tasks/words/artifacts/result.txt"
    assert task.field("Evidence link") == address
    agents.honest()
    assert task("resume", "--reason", "link it", task.id, cwd=task.repo).code == 0
    task.run(expect=0)
    assert (task.state(), task.field("Evidence link")) == ("done", address)
    task.audit()
