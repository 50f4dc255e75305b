"""A prepared move that was cut short and can't be settled: only the same again, `stop` and `restore` do anything."""

from __future__ import annotations

import json

import pytest

from tests.conftest import Detent, MakeRepo
from tests.e2e.test_git_reset import files, work_is_there, worked
from tests.e2e.thread_task import ThreadTask, thread_task


@pytest.fixture
def stuck(detent: Detent, repo: MakeRepo) -> ThreadTask:
    """A reset has saved everything; then git could not switch, because another process locks its index."""
    thread = worked(thread_task(detent, repo).moved("move", "Preflight").moved("move", "Running"))
    (thread.repository / ".git/index.lock").touch()
    failed = thread("move", "Drafting", "--yes")
    assert failed.code == 5, failed
    assert "index.lock" in failed.err
    assert thread.kinds()[-1] == "intended"
    return thread


def test_every_other_command_is_held_up_and_says_why(stuck: ThreadTask) -> None:
    for words in (("move", "PendingReview"), ("answer", "go on"), ("run", "--once"), ("prove",)):
        held = stuck(*words)
        assert held.code == 5, held
        assert "Running -> Drafting was cut short and can't be settled yet" in held.err
    assert stuck.kinds()[-1] == "intended"
    assert not (stuck.control / "runs").exists(), "nothing is started"
    assert work_is_there(stuck)


def test_status_tells_it(stuck: ThreadTask) -> None:
    shown = stuck("status", "--json").json()
    assert shown["state"] == "Running"
    assert any("Running -> Drafting was cut short" in problem for problem in shown["problems"])


def test_the_same_again_settles_it_once_it_can(stuck: ThreadTask) -> None:
    (stuck.repository / ".git/index.lock").unlink()
    again = stuck("move", "Drafting", "--yes")
    assert again.code == 0, "who asks again gets what was asked for"
    assert "is made now" in again.out
    assert stuck.state == "Drafting"
    assert [entry["to"] for entry in stuck.journal() if entry["kind"] == "moved"].count("Drafting") == 1
    assert files(stuck) == ["README.md", "app.py", "test_app.py"]
    assert len(stuck.git("for-each-ref", "refs/detent/backup").splitlines()) == 1
    assert stuck.is_sound()


def test_what_was_edited_since_is_saved_too(stuck: ThreadTask) -> None:
    stuck.write("since.txt", "edited after the crash\n")
    (stuck.repository / ".git/index.lock").unlink()
    stuck("move", "Drafting", "--yes")
    assert stuck.state == "Drafting"
    assert not (stuck.repository / "since.txt").exists()
    refs = stuck.git("for-each-ref", "--format=%(refname)", "refs/detent/backup").splitlines()
    assert len(refs) == 2
    assert stuck.git("show", f"{refs[1]}:since.txt") == "edited after the crash"


def test_stop_is_accepted(stuck: ThreadTask) -> None:
    assert stuck("stop").code == 0
    assert "driven" in stuck.kinds()


def test_restore_is_a_way_out(stuck: ThreadTask) -> None:
    (stuck.repository / ".git/index.lock").unlink()
    (stuck.repository / "app.py").write_text("half reset\n", encoding="utf-8")
    done = stuck("restore")
    assert done.code == 0, done
    assert work_is_there(stuck)
    assert stuck.branch == "thread/t"
    assert stuck.kinds()[-1] == "unprepared"
    assert stuck.state == "Running"
    stuck.moved("move", "PendingReview")  # nothing is reset behind anybody's back
    assert stuck.is_sound()


def test_a_forged_intent_is_found_by_an_audit(stuck: ThreadTask) -> None:
    """A move that no machine allows, written where an intent is expected."""
    (stuck.repository / ".git/index.lock").unlink()
    path = stuck.control / "journal.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines()
    intent = json.loads(lines[-1])
    intent["move"] = {**intent["move"], "edge": "no-such", "to": "Done"}
    path.write_text("\n".join([*lines[:-1], json.dumps(intent)]) + "\n", encoding="utf-8")
    (stuck.control / "snapshot.json").unlink()
    found = stuck("audit", "--json").json()
    assert not found["ok"]
    assert any("no-such was intended and is not allowed" in finding["what"] for finding in found["findings"])
