"""A ralf thread that another tool made: `detent adopt` takes over every field and loses none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.ralf_threads import SPEC, Thread, Threads
from tests.conftest import SAMPLE_FILES, Completed, MakeRepo, let_out


class Foreign:
    """A thread folder as another tool leaves it, in a repository with scripted agents."""

    def __init__(self, threads: Threads, repo: MakeRepo, thread_id: str = "old1") -> None:
        self.threads, self.repo, self.id = threads, repo, thread_id
        self.top = repo("repo", {**SAMPLE_FILES, ".gitignore": ".ralf/\n", "detent.toml": threads.settings()})
        let_out(self.top)
        self.folder = self.top / ".ralf" / "threads" / thread_id
        (self.folder / "spec").mkdir(parents=True)
        self.head = repo.git(self.top, "rev-parse", "HEAD")

    def write(self, phase: str, data: dict[str, Any] | None = None, specs: int = 1, **more: Any) -> bytes:
        """Write thread.json and spec/v1.md to spec/vN.md; returns the bytes of thread.json."""
        for number in range(1, specs + 1):
            text = SPEC if number == specs else SPEC.replace("ready", f"v{number}")
            (self.folder / "spec" / f"v{number}.md").write_text(text, encoding="utf-8")
        content = {
            "schema_version": 1,
            "id": self.id,
            "title": "Cache prices",
            "created_at": "2026-01-03T10:00:00Z",
            "phase": {"type": phase, **({"data": data} if data else {})},
            "current_run_id": "run-004",
            "mode": "quick",
            "baseline": {"branch": "main", "commit_sha": self.head, "captured_at": "2026-01-03T10:20:00Z"},
            "labels": ["kept"],
            **more,
        }
        text = json.dumps({key: value for key, value in content.items() if value != "absent"})
        (self.folder / "thread.json").write_text(text, encoding="utf-8")
        return text.encode()

    def adopt(self, *words: str) -> Completed:
        return self.threads.detent("adopt", self.folder, "ralf", *words, cwd=self.top)

    def adopted(self, *words: str) -> Thread:
        done = self.adopt(*words)
        assert done.code == 0, done
        thread = Thread(self.threads.detent, self.top, self.folder, self.id)
        self.threads.tasks.append(thread)
        return thread

    def document(self) -> dict[str, Any]:
        content: dict[str, Any] = json.loads((self.folder / "thread.json").read_text(encoding="utf-8"))
        return content


@pytest.fixture
def foreign(threads: Threads, repo: MakeRepo) -> Foreign:
    return Foreign(threads, repo)


@pytest.mark.requirement("S4.71")
def test_adopt_keeps_every_field_of_the_thread(foreign: Foreign) -> None:
    foreign.write("Paused", {"iteration": 3}, specs=2, branch="ralf/old1", spec_version=2)
    foreign.repo.git(foreign.top, "switch", "--quiet", "--create", "ralf/old1")
    before = foreign.document()
    thread = foreign.adopted()
    after = foreign.document()
    assert {key: after[key] for key in before} == before
    assert set(after) - set(before) == {"commit_sha", "updated_at"}
    status = thread.json("status", thread.id)
    assert (status["id"], status["title"], status["mode"]) == ("old1", "Cache prices", "quick")
    assert status["counters"]["iteration"] == 2, "the third is under way"
    thread.audit()


def test_adopt_without_optional_fields_finds_spec_and_branch(foreign: Foreign) -> None:
    foreign.write("Paused", {"iteration": 1}, specs=3)
    foreign.repo.git(foreign.top, "switch", "--quiet", "--create", "ralf/old1")
    foreign.adopted()
    after = foreign.document()
    assert (after["spec_version"], after["branch"]) == (3, "ralf/old1")


@pytest.mark.requirement("S4.68", "S4.70")
def test_an_adopted_thread_is_resumed_to_its_end(foreign: Foreign) -> None:
    foreign.write("Paused", {"iteration": 3}, specs=2)
    foreign.repo.git(foreign.top, "switch", "--quiet", "--create", "ralf/old1")
    thread = foreign.adopted()
    thread.done("choose", "resume")
    foreign.threads.script("Running", "ready; promise")
    thread.run(expect=4)
    assert thread.state() == "PendingReview"
    assert "spec/v2.md" in thread.prompt(5), "the newest revision counts"
    assert foreign.document()["current_run_id"] == "old1-run-005"
    assert foreign.document()["created_at"] == "2026-01-03T10:00:00Z"
    thread.done("approve")
    thread.run(expect=4)
    thread.done("commit")
    assert thread.state() == "Done"
    thread.audit()


def test_an_adopted_thread_is_reset_to_its_own_baseline(foreign: Foreign) -> None:
    foreign.write("Stuck", specs=1)
    foreign.repo.git(foreign.top, "switch", "--quiet", "--create", "ralf/old1")
    (foreign.top / "app.py").write_text("# half\n", encoding="utf-8")
    thread = foreign.adopted()
    thread.done("choose", "R", "--yes")
    assert foreign.repo.git(foreign.top, "rev-parse", "--abbrev-ref", "HEAD") == "main"
    assert foreign.repo.git(foreign.top, "rev-parse", "HEAD") == foreign.head
    assert (foreign.folder / "spec" / "draft.md").read_text(encoding="utf-8") == SPEC, "the draft goes on from v1"
    thread.audit()


@pytest.mark.parametrize(("named", "branch"), [("mine", "mine"), ("", "ralf/old1")])
def test_reset_leaves_a_branch_that_was_there_before_the_adoption(foreign: Foreign, named: str, branch: str) -> None:
    """Its maker is unknown: the file of another tool may name any branch of the person's."""
    foreign.repo.git(foreign.top, "switch", "--quiet", "--create", branch)
    foreign.repo.git(foreign.top, "commit", "--quiet", "--allow-empty", "--message=Work")
    work = foreign.repo.git(foreign.top, "rev-parse", "HEAD")
    foreign.write("Stuck", branch=named or "absent")
    thread = foreign.adopted()
    output = thread.done("choose", "R", "--yes").out
    assert f"{branch} is left as it is: the engine did not make it" in output
    assert foreign.repo.git(foreign.top, "rev-parse", branch) == work
    assert foreign.repo.git(foreign.top, "rev-parse", "--abbrev-ref", "HEAD") == "main"
    thread.audit()
    thread.done("restore")
    assert foreign.repo.git(foreign.top, "rev-parse", "--abbrev-ref", "HEAD") == branch
    lines = (foreign.top / ".git/detent/tasks/old1/journal.jsonl").read_text(encoding="utf-8").splitlines()
    assert json.loads(lines[-1])["prepared"] == {"branch": {"name": branch}}, "the work goes on there"


def test_diff_of_an_adopted_thread_starts_at_its_own_baseline(foreign: Foreign) -> None:
    foreign.write("Stuck")
    foreign.repo.git(foreign.top, "switch", "--quiet", "--create", "ralf/old1")
    (foreign.top / "wip.txt").write_text("half\n", encoding="utf-8")
    foreign.repo.git(foreign.top, "add", "wip.txt")
    foreign.repo.git(foreign.top, "commit", "--quiet", "--message", "wip")
    thread = foreign.adopted()
    shown = thread.json("diff", "old1")
    assert shown["baseline"] == foreign.head
    assert shown["files"] == [{"status": "A", "path": "wip.txt"}]
    output = thread.done("choose", "D").out
    assert "nothing differs" not in output, "no checkpoint is there to compare"
    assert "detent diff old1" in output


def test_the_specs_of_an_adopted_thread_never_change(foreign: Foreign) -> None:
    foreign.write("Paused", {"iteration": 1}, specs=2)
    thread = foreign.adopted()
    path = foreign.folder / "spec" / "v1.md"
    before = path.read_bytes()
    path.unlink()
    path.write_text("something else", encoding="utf-8")
    thread("move", "--edge", "no-such", thread.id)
    assert path.read_bytes() == before


def test_a_copy_of_the_whole_thread_stays_beside(foreign: Foreign) -> None:
    written = foreign.write("Drafting")
    (foreign.folder / "notes.txt").write_text("mine", encoding="utf-8")
    done = foreign.adopt()
    copy = foreign.top / ".ralf" / "adopted" / "old1"
    assert str(copy) in done.out
    found = {str(path.relative_to(copy)): path.read_bytes() for path in copy.rglob("*") if path.is_file()}
    assert found == {"thread.json": written, "notes.txt": b"mine", "spec/v1.md": SPEC.encode()}


@pytest.mark.parametrize("change", ["nothing", "new bytes", "a new file"])
def test_adopting_again_copies_only_a_changed_thread(foreign: Foreign, change: str) -> None:
    foreign.write("Drafting")
    first = foreign.adopted()
    first.done("cancel")
    assert first("gc", "--yes", "--journals").code == 0
    (foreign.folder / "spec").mkdir(parents=True)
    written = foreign.write("Drafting", title="Cache more" if change == "new bytes" else "Cache prices")
    if change == "a new file":
        (foreign.folder / "notes.txt").write_text("mine", encoding="utf-8")
    foreign.adopted()
    copies = sorted(path.name for path in (foreign.top / ".ralf" / "adopted").iterdir())
    assert copies == (["old1"] if change == "nothing" else ["old1", "old1-2"])
    assert (foreign.top / ".ralf" / "adopted" / copies[-1] / "thread.json").read_bytes() == written


@pytest.mark.requirement("S4.70")
def test_an_older_thread_is_migrated_when_it_is_adopted(foreign: Foreign) -> None:
    absent: dict[str, Any] = dict.fromkeys(("schema_version", "mode", "current_run_id", "baseline"), "absent")
    written = foreign.write("Finalized", specs=1, **absent)
    thread = foreign.adopted()
    after = foreign.document()
    assert (after["schema_version"], after["title"], after["mode"]) == (1, "Cache prices", "methodical")
    assert after["created_at"] == "2026-01-03T10:00:00Z"
    assert (foreign.folder / "thread.json.v0").read_bytes() == written
    thread.done("choose", "begin")
    thread.run(expect=4)
    assert thread.state() == "Configuring", "the spec that was finalized elsewhere is found"


UNREADABLE: dict[str, tuple[dict[str, Any], str]] = {
    "a title that is no text": ({"title": ["a", "b"]}, "/title"),
    "an unknown mode": ({"mode": "careful"}, "careful"),
    "a baseline that is no object": ({"baseline": "main"}, "/baseline"),
    "a baseline without its commit": ({"baseline": {"branch": "main", "captured_at": "x"}}, "commit_sha"),
    "a baseline of another repository": (
        {"baseline": {"branch": "main", "commit_sha": "a" * 40, "captured_at": "x"}},
        "is no commit of this repository",
    ),
    "a spec version that is no number": ({"spec_version": "two"}, "/spec_version"),
    "a spec version without its file": ({"spec_version": 7}, "spec/v7.md"),
    "a branch that is gone": ({"branch": "ralf/gone"}, "ralf/gone"),
    "an id that is none": ({"id": "../evil"}, "../evil"),
}


@pytest.mark.parametrize("case", UNREADABLE)
def test_adopt_refuses_a_field_it_cannot_read(foreign: Foreign, case: str) -> None:
    fields, named = UNREADABLE[case]
    written = foreign.write("Paused", {"iteration": 1}, **fields)
    refused = foreign.adopt()
    assert refused.code in (1, 5), refused
    assert named in refused.err
    assert (foreign.folder / "thread.json").read_bytes() == written
    assert not (foreign.top / ".git" / "detent" / "tasks" / "old1" / "journal.jsonl").exists()


def test_adopt_names_every_problem_at_once(foreign: Foreign) -> None:
    foreign.write("Paused", {"iteration": 1}, mode="careful", spec_version="two")
    output = foreign.adopt().err
    assert "careful" in output
    assert "/spec_version" in output


def test_adopt_refuses_a_later_state_without_its_spec(foreign: Foreign) -> None:
    foreign.write("Paused", {"iteration": 1}, specs=0)
    refused = foreign.adopt()
    assert refused.code == 1
    assert "spec/v1.md" in refused.err
    assert "Drafting" in refused.err


def test_another_id_than_the_thread_s_own_is_refused(foreign: Foreign) -> None:
    foreign.write("Drafting")
    refused = foreign.adopt("--id", "new1")
    assert refused.code == 1
    assert "old1" in refused.err
    assert Path(foreign.folder / "thread.json").exists()
