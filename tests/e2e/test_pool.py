"""Task homes: made when work begins where the machine says so, and bounded by the project's pool."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import SAMPLE_FILES, Detent, MakeRepo
from tests.e2e.orange_task import Oranges

POOL = "[pool]\nsize = 1"


@pytest.fixture
def oranges(detent: Detent, repo: MakeRepo, tmp_path: Path) -> Iterator[Oranges]:
    made = Oranges(detent, repo, tmp_path)
    yield made
    made.close()


def test_pending_task_gets_its_clone_from_its_baseline_later(oranges: Oranges) -> None:
    task = oranges.orange()
    assert not task.tree.exists()
    assert task.json("status")["problems"] == []
    baseline = task.entries("created")[0]["baseline"]
    (task.repo / "app.py").write_text("later = True\n", encoding="utf-8")
    oranges.make_repo.git(task.repo, "commit", "--all", "--quiet", "--message=later")
    task.update("working", expect=0)
    assert oranges.make_repo.git(task.tree, "rev-parse", "HEAD") == baseline
    assert "later" not in (task.tree / "app.py").read_text(encoding="utf-8")
    task.audit()


def test_baseline_of_pending_task_survives_when_its_branch_is_gone(oranges: Oranges) -> None:
    task = oranges.orange()
    git = oranges.make_repo.git
    git(task.repo, "checkout", "--quiet", "--orphan", "other")
    git(task.repo, "commit", "--quiet", "--message=other")
    git(task.repo, "branch", "--quiet", "--delete", "--force", "main")
    git(task.repo, "reflog", "expire", "--expire=now", "--all")
    git(task.repo, "gc", "--quiet", "--prune=now")
    task.update("working", expect=0)
    assert (task.tree / "app.py").exists()


def test_new_reports_uncommitted_files_and_carries_them_on_request(oranges: Oranges) -> None:
    files = {**SAMPLE_FILES, "detent.toml": oranges.settings(POOL)}
    repo = oranges.make_repo("dirty", files)
    (repo / "app.py").write_text("dirty = True\n", encoding="utf-8")
    created = oranges.detent("new", "orange", "one", "--id", "one", cwd=repo)
    assert "not in the clone, because not committed: app.py" in created.out
    carried = oranges.detent("new", "orange", "two", "--id", "two", "--include-dirty", "--json", cwd=repo).json()
    assert (Path(carried["workspace"]) / "app.py").read_text(encoding="utf-8") == "dirty = True\n"
    assert oranges.detent("task", "update", "--status", "working", "one", cwd=repo).code == 1  # `two` has the only home
    assert oranges.detent("task", "update", "--status", "working", "two", cwd=repo).code == 0


def test_without_free_home_task_stays_and_the_users_are_named(oranges: Oranges) -> None:
    first = oranges.orange("working", more=POOL, task_id="first")
    second = oranges.orange(task_id="second", repo=first.repo)
    before = (second.control / "journal.jsonl").read_bytes()
    for words in (("task", "update", "--status", "working"), ("run", second.id), ("move", "clarification")):
        done = second(*words)
        assert done.code == 1, done
        assert "no task home is free: this project may have 1, in use by: first" in done.err
        assert "finish or cancel one of them" in done.err
    for word in ("status", "next", "inbox"):
        assert "no task home is free: this project may have 1, in use by: first" in second(word).out
    assert (second.control / "journal.jsonl").read_bytes() == before
    assert (second.state(), second.tree.exists()) == ("pending", False)
    first.to("agent-review", "reviewing")
    assert first("approve", first.id, cwd=first.repo).code == 0
    second.update("working", expect=0)


def test_a_committed_larger_pool_counts_at_once(oranges: Oranges) -> None:
    first = oranges.orange("working", more=POOL, task_id="first")
    second = oranges.orange(task_id="second", repo=first.repo)
    second.update("working", expect=1)
    settings = first.repo / "detent.toml"
    settings.write_text(settings.read_text(encoding="utf-8").replace("size = 1", "size = 2"), encoding="utf-8")
    second.update("working", expect=1)  # not committed yet
    oranges.make_repo.git(first.repo, "commit", "--all", "--quiet", "--message=pool")
    second.update("working", expect=0)


def test_a_full_pool_refuses_a_new_task_with_a_home(oranges: Oranges) -> None:
    first = oranges.orange("working", more=POOL, task_id="first")
    done = oranges.detent("new", "phase", "count", "--id", "count", cwd=first.repo)
    assert done.code == 1, done
    assert "in use by: first" in done.err
    assert oranges.detent("new", "phase", "count", "--id", "count", "--in-place", cwd=first.repo).code == 0


def test_supervisor_lets_waiting_task_begin_when_a_home_is_free(oranges: Oranges) -> None:
    oranges.honest()
    first = oranges.orange(more=POOL, task_id="first")
    second = oranges.orange(task_id="second", repo=first.repo)
    here = oranges.meeting()
    oranges.script("working", "meet here; orange task update --status clarification")
    for task in (first, second):
        assert task("start", task.id, cwd=first.repo).code == 0
    watching = oranges.begin("watch", cwd=first.repo)
    here.reached()
    busy, waiting = (first, second) if first.state() == "working" else (second, first)
    assert waiting.state() == "pending"
    here.go()
    watching.line("clarification")
    assert busy("cancel", busy.id, cwd=first.repo).code == 0
    assert waiting("start", waiting.id, cwd=first.repo).code == 0  # rings, as any word to the supervisor does
    here.reached()
    assert waiting.state() == "working"
    here.go()


@pytest.mark.parametrize("size", ["0", "-1", '"two"'])
def test_a_pool_of_nothing_is_refused(oranges: Oranges, size: str) -> None:
    repo = oranges.make_repo("pool", {**SAMPLE_FILES, "detent.toml": f"[pool]\nsize = {size}\n"})
    done = oranges.detent("new", "orange", "count", cwd=repo)
    assert done.code == 2, done
    assert "size" in done.err
