"""Where ralf keeps a thread: every file of the document's table, safe from crashes; and its git safety."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.ralf_threads import SPEC, Thread, Threads
from tests.conftest import MakeRepo
from tests.crash.trace import record, why_not_here


def document(thread: Thread) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((thread.folder / "thread.json").read_text(encoding="utf-8"))
    return content


def implemented(threads: Threads) -> Thread:
    thread = threads.thread()
    threads.script("Running", "ready; promise")
    thread.to("Running")
    thread.run(expect=4)
    assert thread.state() == "Implemented"
    return thread


def reviewed(threads: Threads) -> Thread:
    thread = implemented(threads)
    thread.done("move", "PendingReview")
    thread.done("approve")
    thread.run(expect=4)
    assert thread.state() == "ReadyToCommit"
    return thread


@pytest.mark.requirement("S4.71", "S4.73")
def test_the_thread_shows_its_fields_as_they_come_to_be(threads: Threads, repo: MakeRepo) -> None:
    thread = threads.thread("--mode", "quick")
    assert thread.folder == thread.repo / ".ralf/threads/sums"
    first = document(thread)
    assert list(first)[:3] == ["schema_version", "id", "title"]
    assert (first["schema_version"], first["id"], first["title"]) == (1, "sums", "add sums")
    assert (first["mode"], first["baseline"], first["current_run_id"]) == ("quick", None, None)
    thread.spec(SPEC)
    thread.done("approve")
    threads.script("Running", "ready; promise")
    thread.run(expect=4)
    assert thread.state() == "PendingReview"
    shown = document(thread)
    assert set(shown["baseline"]) == {"branch", "commit_sha", "captured_at"}
    assert (shown["baseline"]["branch"], shown["branch"]) == ("main", "ralf/sums")
    assert shown["baseline"]["commit_sha"] == repo.git(thread.repo, "rev-parse", "main")
    assert (shown["spec_version"], shown["current_run_id"]) == (1, "sums-run-001")


@pytest.mark.requirement("S4.72")
def test_the_phase_is_a_tagged_object(threads: Threads) -> None:
    thread = threads.thread()
    assert document(thread)["phase"] == {"type": "Drafting"}
    threads.script("Running", "echo working")
    thread.to("Running")
    assert document(thread)["phase"] == {"type": "Running", "data": {"iteration": 1}}
    thread("run", "--once", thread.id)
    assert document(thread)["phase"] == {"type": "Running", "data": {"iteration": 2}}


@pytest.mark.requirement("S4.69")
def test_thread_is_written_by_synced_temporary_that_takes_its_place(threads: Threads, tmp_path: Path) -> None:
    if why := why_not_here():
        pytest.skip(why)
    thread = threads.thread()
    thread.spec(SPEC)
    argv = [sys.executable, "-m", "detent", "approve", "--skip-assess", thread.id]
    names = ("openat", "fsync", "rename")
    environment = threads.detent.environment
    ended, calls = record(argv, cwd=thread.repo, env=environment, log=tmp_path / "calls", names=names)
    assert ended.code == 0, ended
    pattern = re.compile(r"/thread\.json\.[0-9a-zA-Z_-]+\.tmp")
    about = [(call.name, call.arguments) for call in calls if pattern.search(call.arguments)]
    assert [name for name, _ in about][:3] == ["openat", "fsync", "rename"]
    assert "O_EXCL" in about[0][1]
    assert about[2][1].endswith('/.ralf/threads/sums/thread.json"')
    temporaries = {match.group() for _, text in about if (match := pattern.search(text))}
    assert len(temporaries) == len([name for name, _ in about if name == "rename"]), "each write has one of its own"
    assert not list(thread.folder.glob("*.tmp"))


@pytest.mark.requirement("S4.68", "S4.69")
def test_what_a_killed_writer_left_is_cleared_away(threads: Threads) -> None:
    thread = threads.thread()
    left = thread.folder / "thread.json.0123abcd.tmp"
    left.write_text('{"half', encoding="utf-8")
    assert thread("move", "--edge", "no-such", thread.id).code == 1
    assert not left.exists()
    assert document(thread)["phase"] == {"type": "Drafting"}


@pytest.mark.requirement("S4.70")
def test_an_older_thread_is_migrated_and_a_newer_one_refused(threads: Threads) -> None:
    thread = threads.thread()
    path = thread.folder / "thread.json"
    older = path.read_text(encoding="utf-8").replace('"schema_version": 1', '"schema_version": 0')
    path.write_text(older, encoding="utf-8")
    assert thread("move", "--edge", "no-such", thread.id).code == 1
    assert document(thread)["schema_version"] == 1
    assert (thread.folder / "thread.json.v0").read_text(encoding="utf-8") == older
    path.write_text(older.replace('"schema_version": 0', '"schema_version": 2'), encoding="utf-8")
    refused = thread("move", "Assessing", thread.id)
    assert refused.code == 5
    assert "schema_version" in refused.err
    assert '"schema_version": 2' in path.read_text(encoding="utf-8"), "it is never written down"


@pytest.mark.requirement("S4.75")
def test_the_chosen_thread_is_named_in_a_plain_file(threads: Threads) -> None:
    first, second = threads.thread(task_id="first"), threads.thread(task_id="second")
    chosen = first.repo / ".ralf/active_thread"
    assert chosen.read_text(encoding="utf-8") == "second\n"
    first.done("use")
    assert chosen.read_text(encoding="utf-8") == "first\n"
    assert second("status", "--json").json()["id"] == "first"


def test_new_works_with_a_folder_at_active_thread(threads: Threads) -> None:
    first = threads.thread(task_id="first")
    chosen = first.repo / ".ralf/active_thread"
    chosen.unlink()
    chosen.mkdir()
    made = first("new", "ralf", "more sums", "--id", "second")
    assert made.code == 0, made
    assert "move it away, then run: detent use second" in made.out
    chosen.rmdir()
    assert first("use", "second").code == 0
    assert chosen.read_text(encoding="utf-8") == "second\n"


@pytest.mark.requirement("S4.74", "S4.76", "S4.77", "S4.78", "S4.79")
def test_everything_lies_where_the_table_says(threads: Threads) -> None:
    thread = threads.thread()
    thread.done("answer", "both formats, please")
    threads.script("Running", "ready; promise")
    thread.to("Running")
    thread.run(expect=4)
    root = thread.repo / ".ralf"
    found = {str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()}
    assert found >= {
        "active_thread",
        "threads/sums/thread.json",
        "threads/sums/spec/v1.md",
        "runs/sums-run-001/run.json",
        "runs/sums-run-001/output.log",
        "spec/threads/sums.jsonl",
    }
    run = json.loads((root / "runs/sums-run-001/run.json").read_text(encoding="utf-8"))
    assert (run["role"], run["exit"], run["state"]) == ("implementer", "finished", "Running")
    assert "<promise>ALL GREEN</promise>" in (root / "runs/sums-run-001/output.log").read_text(encoding="utf-8")
    (line,) = (root / "spec/threads/sums.jsonl").read_text(encoding="utf-8").splitlines()
    assert json.loads(line)["text"] == "both formats, please"
    before = {name: (root / name).read_bytes() for name in found if name.startswith(("runs/", "spec/"))}
    thread.done("answer", "and a third")
    for name, data in before.items():
        assert (root / name).read_bytes().startswith(data), f"{name} is only added to"


@pytest.mark.requirement("S4.54", "S4.42")
def test_beginning_captures_the_baseline_and_makes_the_branch(threads: Threads, repo: MakeRepo) -> None:
    thread = threads.thread()
    head = repo.git(thread.repo, "rev-parse", "HEAD")
    thread.to("Preflight")
    baseline = document(thread)["baseline"]
    assert (baseline["branch"], baseline["commit_sha"]) == ("main", head)
    assert repo.git(thread.repo, "rev-parse", "--abbrev-ref", "HEAD") == "ralf/sums"
    other = threads.thread(task_id="other")
    other.spec(SPEC)
    other.done("approve", "--skip-assess")
    repo.git(thread.repo, "switch", "--quiet", "main")
    other.done("move", "Preflight", "--no-branch")
    assert repo.git(thread.repo, "rev-parse", "--abbrev-ref", "HEAD") == "main"


@pytest.mark.requirement("S4.31", "S4.55", "S4.56")
def test_a_reset_asks_saves_and_goes_back(threads: Threads, repo: MakeRepo) -> None:
    thread = implemented(threads)
    thread.done("move", "PendingReview")
    base = document(thread)["baseline"]["commit_sha"]
    refused = thread("move", "Drafting", thread.id)
    assert refused.code == 1
    assert "This will reset changes. Continue?" in refused.out
    assert "# ready" in (thread.repo / "app.py").read_text(encoding="utf-8")
    thread.done("move", "Drafting", "--yes")
    assert repo.git(thread.repo, "rev-parse", "--abbrev-ref", "HEAD") == "main"
    assert repo.git(thread.repo, "rev-parse", "HEAD") == base
    assert repo.git(thread.repo, "status", "--porcelain") == ""
    assert repo.git(thread.repo, "branch", "--list", "ralf/*") == ""
    assert document(thread)["branch"] is None
    thread.done("restore")
    assert "# ready" in (thread.repo / "app.py").read_text(encoding="utf-8")
    assert thread.state() == "Drafting"
    thread.audit()
    assert document(thread)["branch"] == "ralf/sums", "the branch that is the task's again"
    assert "ralf/sums" in thread.done("status").out


def test_restore_shows_branch_and_keeps_what_the_file_asks_for(threads: Threads) -> None:
    thread = implemented(threads)
    thread.done("move", "PendingReview")
    thread.done("move", "Drafting", "--yes")
    asking = {**document(thread), "phase": {"type": "Finalized"}}
    (thread.folder / "thread.json").write_text(json.dumps(asking), encoding="utf-8")
    thread.done("restore")
    assert document(thread) == {**asking, "branch": "ralf/sums"}
    found = [finding["what"] for finding in thread.json("audit", thread.id)["findings"]]
    assert found == ["thread.json names Finalized, the journal Drafting"], "as before: not judged yet"
    written = len(thread.entries())
    thread("run", "--once", thread.id)
    refused = thread.entries()[written]
    assert (refused["kind"], refused["want"]) == ("refused", "Finalized"), "the next command judges it"
    assert document(thread)["branch"] == "ralf/sums"


def test_backups_are_removed_on_commit_and_kept_on_cancel(threads: Threads, repo: MakeRepo) -> None:
    def backups() -> list[str]:
        listed = repo.git(thread.repo, "for-each-ref", "--format=%(refname)", "refs/detent/backup")
        return [ref.split("/")[3] for ref in listed.split()]

    for name in ("given-up", "finished"):
        thread = threads.thread(task_id=name)
        threads.script("Running", "ready; promise")
        thread.to("Running")
        thread.run(expect=4)
        thread.done("move", "PendingReview")
        thread.done("move", "Drafting", "--yes")
        if name == "given-up":
            thread.done("cancel")
    assert sorted(backups()) == ["finished", "given-up"]
    thread.to("Running")
    thread.run(expect=4)
    thread.done("move", "PendingReview")
    thread.done("approve")
    thread.run(expect=4)
    assert thread("gc").code == 0
    assert sorted(backups()) == ["finished", "given-up"], "what goes on keeps everything"
    thread.done("commit")
    output = thread("gc").out
    assert "1 backup(s) of what was reset" in output
    assert "kept: given-up: 1 backup(s) of work that was not finished; they go with --yes" in output
    assert backups() == ["given-up"]
    records = thread.repo / ".ralf" / "runs"
    assert {path.name.partition("-run-")[0] for path in records.iterdir()} == {"given-up", "finished"}
    assert thread("gc", "--yes", "--journals").code == 0
    assert (backups(), list(records.iterdir())) == ([], [])


@pytest.mark.requirement("S4.33", "S4.57", "S4.67", "S4.80")
def test_the_commit_is_the_person_s_and_nothing_undoes_it(threads: Threads, repo: MakeRepo) -> None:
    thread = reviewed(threads)
    main = repo.git(thread.repo, "rev-parse", "main")
    assert (thread.folder / "commit.txt").read_text(encoding="utf-8").startswith("feat: add sums\n")
    thread.done("commit")
    commit = repo.git(thread.repo, "rev-parse", "ralf/sums")
    assert document(thread)["commit_sha"] == commit
    assert document(thread)["phase"] == {"type": "Done"}
    assert repo.git(thread.repo, "log", "-1", "--format=%an|%s", commit) == "Tester|feat: add sums"
    assert repo.git(thread.repo, "rev-parse", "main") == main, "merging is left to the person"
    refused = thread("restore", thread.id)
    assert refused.code == 1
    assert "Done is final" in refused.err
    assert thread.json("audit", thread.id)["ok"]
