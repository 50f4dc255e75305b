"""Journals that an older Detent wrote are read, driven and audited; what their lines do not vouch for is only named."""

from __future__ import annotations

import fcntl
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import Detent

DATA = Path(__file__).parents[1] / "data" / "journals"
PLACE = Path("/tmp/detent-journals")  # where they were made: journals name absolute paths
PLACE_2 = Path("/tmp/detent-journals-2")
ENDS = {"phase": "done", "global": "done", "lights-out": "PipelineComplete", "orange": "done", "ralf": "Done"}


@pytest.fixture
def place() -> Iterator[Path]:
    """The folder the journals were made in; one test at a time has it."""
    yield from alone_in(PLACE)


@pytest.fixture
def place_2() -> Iterator[Path]:
    """The same for journals of format 2."""
    yield from alone_in(PLACE_2)


def alone_in(folder: Path) -> Iterator[Path]:
    lock = folder.with_suffix(".lock")
    try:
        descriptor = lock.open("w")
    except OSError as error:
        pytest.skip(f"the tests of another user hold {lock}: {error}")
    with descriptor:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        try:
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
        except OSError as error:
            pytest.skip(f"another user left {folder}: {error}")
        yield folder
        shutil.rmtree(folder)


class Old:
    """One old task with its repository."""

    def __init__(self, detent: Detent, place: Path, machine: str) -> None:
        subprocess.run(["tar", "-xzf", DATA / f"{machine}.tar.gz", "-C", place, "--no-same-owner"], check=True)
        (self.repo,) = (place / machine).glob("repo*")
        (self.control,) = self.repo.glob(".git/detent/tasks/*")
        self.journal = self.control / "journal.jsonl"
        environment = {**detent.environment, "XDG_STATE_HOME": str(place / machine / "home" / "state")}
        self.detent = Detent(self.repo, environment)


@pytest.fixture(params=list(ENDS))
def old(request: pytest.FixtureRequest, detent: Detent, place: Path) -> Old:
    return Old(detent, place, request.param)


def test_an_old_journal_is_read_and_audited_with_notes_alone(old: Old) -> None:
    machine = old.detent("status", "--json").json()["machine"]
    assert b'"format"' not in old.journal.read_bytes()
    assert old.detent("status", "--json").json()["state"] == ENDS[machine]
    assert old.detent("next").code == 0
    assert ENDS[machine] in old.detent("list").out
    audited = old.detent("audit", "--json")
    assert audited.code == 0, audited
    notes = audited.json()["findings"]
    assert all(note["warning"] and "not vouched for" in note["what"] for note in notes), notes
    # Machines of that time bound no tree where they deliver.
    assert {note["kind"] for note in notes} == ({"format", "tree"} if machine == "lights-out" else {"format"}), notes


def test_old_task_continues_and_its_new_lines_are_vouched_for(detent: Detent, place: Path) -> None:
    old = Old(detent, place, "lights-out")
    before = old.journal.read_bytes()
    done = old.detent("prove")
    assert done.code in (0, 1), done
    done = old.detent("start")
    assert done.code == 0, done
    assert old.journal.read_bytes().startswith(before)
    assert len(old.journal.read_bytes()) > len(before)
    assert old.detent("audit").code == 0


def test_what_old_journal_has_hash_of_is_held_against_it(detent: Detent, place: Path) -> None:
    old = Old(detent, place, "phase")
    (old.control / "runs" / "1" / "prompt.md").write_text("be bold\n", encoding="utf-8")
    evidence = place / "phase" / "words-task" / "EVIDENCE.md"
    evidence.write_text(evidence.read_text(encoding="utf-8").replace("PASS", "FAIL"), encoding="utf-8")
    audited = old.detent("audit")
    assert audited.code == 1
    assert "prompt of agent run #1 was changed" in audited.out
    assert "EVIDENCE.md ## Review was changed after done was reached" in audited.out


def test_task_of_an_older_version_counts_caches_as_it_did(detent: Detent, place: Path) -> None:
    """Its receipts and reviews are about trees that hold them: another rule would make all of these stale."""
    old = Old(detent, place, "phase")
    cache = Path(old.detent("dir", "--tree").out.strip()) / ".pytest_cache" / "CACHEDIR.TAG"
    cache.parent.mkdir()
    cache.write_text("Signature: 8a477f597d28d172789f06886806bc55\n", encoding="utf-8")
    shown = old.detent("diff", "--json").json()
    assert ".pytest_cache/CACHEDIR.TAG" in [file["path"] for file in shown["files"]]
    assert shown["left_out"] == []


@pytest.mark.parametrize("machine", list(ENDS))
def test_a_format_2_journal_is_driven_and_audited_without_findings(detent: Detent, place_2: Path, machine: str) -> None:
    archive = DATA / "format-2" / f"{machine}.tar.gz"
    subprocess.run(["tar", "-xzf", archive, "-C", place_2, "--no-same-owner"], check=True)
    live = place_2 / machine / "live"
    journal = live / "repo" / ".git" / "detent" / "tasks" / "main" / "journal.jsonl"
    before = journal.read_bytes()
    home = {"HOME": str(live / "home"), "XDG_STATE_HOME": str(live / "home" / "state")}
    old = Detent(live / "repo", {**detent.environment, **home})
    assert old("status", "main", "--json").json()["state"] == ENDS[machine]
    assert old("next", "main").code == 0
    assert ENDS[machine] in old("list").out
    assert len(old("history", "main", "--json").json()["lines"]) == before.count(b"\n")
    audited = old("audit", "--json")
    assert (audited.code, audited.json()["findings"]) == (0, []), audited
    assert old("start", "main").code == 0
    assert journal.read_bytes().startswith(before)
    assert b'"kind":"driven"' in journal.read_bytes().removeprefix(before)
    again = old("audit", "main")  # the log of the task folder is told of that line by the next step
    assert again.code == 0, again
