"""What a machine keeps in its folder of the project: revisions that never change, run records, the conversation."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from detent.effects.host.access import BUBBLEWRAP
from detent.effects.host.sandbox import try_level
from tests.conftest import SAMPLE_FILES, Detent, MakeRepo, let_out
from tests.e2e.thread_task import MACHINE, ThreadTask, thread_task

AGENT = "cat > /dev/null; echo '# worked on' >> app.py; echo first; echo I am done"


@pytest.fixture
def thread(detent: Detent, repo: MakeRepo) -> ThreadTask:
    return thread_task(detent, repo)


def native(thread: ThreadTask) -> Path:
    return thread.repository / ".thread/threads" / thread.id


@pytest.mark.requirement("S4.74")
def test_each_finalize_files_the_draft_once_and_for_all(thread: ThreadTask) -> None:
    draft = native(thread) / "spec/draft.md"
    draft.write_text("# Second\n", encoding="utf-8")
    assert (native(thread) / "spec/v1.md").read_bytes() == b""
    thread.moved("move", "--edge", "reopen").moved("move", "Finalized")
    assert (native(thread) / "spec/v2.md").read_text(encoding="utf-8") == "# Second\n"
    acted = thread.journal()[-1]
    assert (acted["result"]["filed"], acted["result"]["version"]) == ("spec/v2.md", "2")
    kept = thread.control / "objects" / acted["result"]["sha256"]
    assert kept.read_text(encoding="utf-8") == "# Second\n"
    draft.write_text("# Third\n", encoding="utf-8")
    assert thread("move", "--edge", "no-such").code == 1
    assert (native(thread) / "spec/v2.md").read_text(encoding="utf-8") == "# Second\n"
    assert thread.is_sound()


@pytest.mark.requirement("S4.74")
@pytest.mark.parametrize("how", ["changed", "removed", "link"])
def test_a_filed_revision_is_put_back(thread: ThreadTask, how: str) -> None:
    (native(thread) / "spec/draft.md").write_text("# Mine\n", encoding="utf-8")
    thread.moved("move", "--edge", "reopen").moved("move", "Finalized")
    filed = native(thread) / "spec/v2.md"
    filed.unlink()
    if how == "changed":
        filed.write_text("# Weaker\n", encoding="utf-8")
    if how == "link":
        filed.symlink_to("draft.md")
    assert not thread("audit", "--json").json()["ok"]
    refused = thread("move", "--edge", "no-such")
    assert "spec/v2.md is filed and never changes" in refused.out
    assert filed.read_text(encoding="utf-8") == "# Mine\n"
    assert not filed.is_symlink()
    restored = [entry for entry in thread.journal() if entry["kind"] == "restored"]
    assert [entry["file"] for entry in restored] == ["spec/v2.md"]
    assert thread.is_sound()


def with_agent(detent: Detent, repo: MakeRepo) -> ThreadTask:
    argv = json.dumps(["sh", "-c", AGENT])
    settings = f'[agents]\ndefault = "mine"\n[agents.mine]\nargv = {argv}\nevents = "text"\n'
    repository = repo(files={**SAMPLE_FILES, "detent.toml": settings})
    let_out(repository)
    thread = ThreadTask(detent, repo, repository).begun().moved("move", "Preflight").moved("move", "Running")
    done = thread("run", "--once")
    assert done.code in (0, 4), done
    return thread


def turns(thread: ThreadTask) -> list[dict[str, Any]]:
    path = thread.repository / ".thread/spec/threads/t.jsonl"
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.mark.requirement("S4.76")
@pytest.mark.requirement("S4.77")
@pytest.mark.requirement("S4.79")
def test_a_run_leaves_its_record_and_its_output(detent: Detent, repo: MakeRepo) -> None:
    thread = with_agent(detent, repo)
    folder = thread.repository / ".thread/runs/t-run-001"
    record = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    assert (record["id"], record["thread_id"], record["role"], record["exit"]) == (
        "t-run-001",
        "t",
        "builder",
        "finished",
    )
    assert record["started_at"] <= record["ended_at"]
    assert (folder / "output.log").read_text(encoding="utf-8") == "first\nI am done\n"
    before = {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in folder.iterdir()}
    assert thread("respawn").code == 4
    assert {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in folder.iterdir()} == before
    assert (thread.repository / ".thread/runs/t-run-002/run.json").exists()


@pytest.mark.requirement("S4.76")
def test_the_next_command_writes_a_record_lost_in_a_crash(detent: Detent, repo: MakeRepo) -> None:
    thread = with_agent(detent, repo)
    record = thread.repository / ".thread/runs/t-run-001/run.json"
    text = record.read_bytes()
    record.unlink()
    assert thread("move", "--edge", "no-such").code == 1
    assert record.read_bytes() == text


@pytest.mark.requirement("S4.78")
def test_the_conversation_is_told_once_and_only_added_to(detent: Detent, repo: MakeRepo) -> None:
    thread = with_agent(detent, repo)
    thread.moved("answer", "keep both formats")
    assert [(turn["role"], turn["text"]) for turn in turns(thread)] == [
        ("builder", "first\nI am done"),
        ("person", "keep both formats"),
    ]
    path = thread.repository / ".thread/spec/threads/t.jsonl"
    before = path.read_bytes()
    thread.moved("answer", "and the new one")
    assert path.read_bytes().startswith(before)
    whole = path.read_bytes()
    path.write_bytes(whole[:-30])  # a crash in the middle of a line
    assert thread("move", "--edge", "no-such").code == 1
    assert path.read_bytes() == whole
    assert thread.is_sound()


def document(thread: ThreadTask) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((native(thread) / "thread.json").read_text(encoding="utf-8"))
    return content


@pytest.mark.requirement("S4.71")
@pytest.mark.requirement("S4.73")
def test_the_document_shows_what_the_journal_says(detent: Detent, repo: MakeRepo) -> None:
    thread = with_agent(detent, repo)
    shown = document(thread)
    baseline = shown["baseline"]
    assert (shown["schema_version"], shown["id"], shown["title"]) == (1, "t", "Count the words")
    assert (baseline["branch"], baseline["commit_sha"]) == ("main", thread.git("rev-parse", "main"))
    assert baseline["captured_at"].endswith("Z")
    assert (shown["current_run_id"], shown["spec_version"]) == ("t-run-001", 1)
    assert thread.is_sound()


@pytest.mark.requirement("S4.72")
def test_phase_is_tagged_and_has_data_only_where_machine_says(detent: Detent, repo: MakeRepo) -> None:
    thread = with_agent(detent, repo)
    assert document(thread)["phase"] == {"type": "Running", "data": {"iteration": 1}}
    thread.moved("move", "PendingReview")
    assert document(thread)["phase"] == {"type": "PendingReview"}


@pytest.mark.parametrize("key", ["id", "title", "baseline", "spec_version"])
def test_what_the_engine_shows_is_put_right(thread: ThreadTask, key: str) -> None:
    thread.moved("move", "Preflight")
    before = document(thread)
    path = native(thread) / "thread.json"
    path.write_text(json.dumps({**before, key: "forged", "mine": "kept"}, indent=2), encoding="utf-8")
    refused = thread("move", "--edge", "no-such")
    assert f'"/{key}" is written by the engine and was put back' in refused.out
    assert document(thread) == {**before, "mine": "kept"}


HELD = try_level(BUBBLEWRAP, os.environ)
REACHING = """cat > /dev/null
echo x > .thread/threads/u/thread.json && echo reached another thread
echo u > .thread/active_thread && echo reached the choice
mkdir .thread/runs && echo reached the runs
mv .thread .gone && echo moved it away
echo mine > .thread/threads/t/spec/draft.md && echo wrote its own
echo '# worked on' >> app.py && echo worked
"""


@pytest.mark.skipif(bool(HELD), reason=f"bubblewrap does not hold on this host: {HELD}")
def test_an_agent_in_the_checkout_reaches_its_own_thread_only(detent: Detent, repo: MakeRepo) -> None:
    argv = json.dumps(["sh", "-c", REACHING])
    settings = f'[agents]\ndefault = "mine"\n[agents.mine]\nargv = {argv}\nevents = "text"\n'
    repository = repo(files={**SAMPLE_FILES, "detent.toml": settings})
    other = ThreadTask(detent, repo, repository, "u").new()
    thread = ThreadTask(detent, repo, repository).begun().moved("move", "Preflight").moved("move", "Running")
    before = (native(other) / "thread.json").read_bytes()
    assert thread("run", "--once").code in (0, 4)
    said = (repository / ".thread/runs/t-run-001/output.log").read_text(encoding="utf-8")
    assert said.splitlines() == ["wrote its own", "worked"]
    assert (native(other) / "thread.json").read_bytes() == before
    assert (repository / ".thread/active_thread").read_text(encoding="utf-8") == "t\n"


def test_a_replacement_of_a_locked_tree_file_is_kept_outside(detent: Detent, repo: MakeRepo, tmp_path: Path) -> None:
    machine, lock = (
        tmp_path / "locking.toml",
        '[[lock]]\nname = "frame"\nafter = ["Drafting"]\nfiles = ["tree:app.py"]\n',
    )
    machine.write_text(f"{MACHINE.read_text(encoding='utf-8')}\n{lock}", encoding="utf-8")
    thread = ThreadTask(detent, repo, repo())
    made = detent("new", machine, "Count the words", "--id", thread.id, cwd=thread.repository)
    assert made.code == 0, made
    thread.moved("move", "Finalized")
    good = thread.read("app.py")
    (thread.repository / "app.py").unlink()
    thread.write("app.py/mine", "mine")
    thread.moved("move", "--edge", "reopen")
    assert thread.read("app.py") == good
    assert (thread.control / "aside/app.py.broken-1/mine").read_text(encoding="utf-8") == "mine"
    assert thread.git("status", "--porcelain") == ""
    assert thread.is_sound()
