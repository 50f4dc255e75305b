"""A ralf thread in a folder without git: told in Preflight, possible with `--no-git`, and honest about what is not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from detent.effects.host.access import NONE
from detent.store.journal.places import project_at
from tests.conformance.ralf_threads import SPEC, Thread, Threads
from tests.conftest import SAMPLE_FILES, force_level

Plain = Callable[[], Thread]


@pytest.fixture
def plain(threads: Threads, tmp_path: Path) -> Plain:
    """Makes a thread with a finalized spec in a folder that is no repository."""

    def make() -> Thread:
        folder = tmp_path / "plain"
        folder.mkdir()
        for name, text in {**SAMPLE_FILES, "detent.toml": threads.settings()}.items():
            (folder / name).write_text(text, encoding="utf-8")
        force_level(project_at(str(folder), ""), NONE)
        made = threads.detent("new", "ralf", "add sums", "--id", "sums", cwd=folder)
        assert made.code == 0, made
        thread = Thread(threads.detent, folder, folder / ".ralf" / "threads" / "sums", "sums")
        threads.tasks.append(thread)
        thread.spec(SPEC)
        thread.done("approve", "--skip-assess")
        return thread

    return make


def test_without_git_preflight_fails_and_names_the_flag(plain: Plain) -> None:
    thread = plain()
    thread.done("choose", "begin")
    ran = thread.run(expect=4)
    assert thread.state() == "PreflightFailed"
    assert "no git repository" in ran.out
    assert "add --no-git" in ran.out
    assert "next: detent resume sums" in ran.out
    thread.done("resume", "--no-git")
    thread.run(expect=4)
    assert thread.state() == "Configuring"


def test_with_flag_a_thread_without_git_runs_to_its_end(plain: Plain, threads: Threads) -> None:
    thread = plain()
    threads.script("Running", "ready; promise")
    thread.done("move", "Preflight", "--no-git")
    thread.run(expect=4)
    assert thread.state() == "Configuring"
    thread.done("choose", "start")
    thread.run(expect=4)
    assert thread.state() == "Implemented"
    thread.done("choose", "review")
    thread.done("approve")
    thread.run(expect=4)
    assert thread.state() == "ReadyToCommit"
    refused = thread("commit", thread.id)
    assert (refused.code, "--no-git" in refused.out + refused.err) == (1, True), refused
    done = thread.done("commit", "--no-git")
    assert "nothing was committed" in done.out
    assert thread.state() == "Done"
    thread.audit()


def test_a_reset_without_git_must_be_known_to_reset_nothing(plain: Plain, threads: Threads) -> None:
    thread = plain()
    threads.script("Running", "echo mine >> app.py; exit 0")
    thread.done("configure", "--limit", "iteration=1")
    thread.done("move", "Preflight", "--no-git")
    thread.run(expect=4)
    thread.done("choose", "start")
    thread.run(expect=4)
    assert thread.state() == "Stuck"
    refused = thread("choose", "R", "--yes", thread.id)
    assert (refused.code, "add --no-git" in refused.out) == (1, True), refused
    again = refused.out.partition("then: detent ")[2].split()
    assert thread(*again).code == 0, "the command that the refusal names is not refused again"
    assert thread.state() == "Drafting"
    assert "mine" in (thread.repo / "app.py").read_text(encoding="utf-8")
    thread.audit()
