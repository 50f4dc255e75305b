"""What `detent audit` vouches for, through the command line: each tampering is named and makes it exit with 1."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path

import pytest

from tests.conftest import Detent, MakeRepo, environment_in
from tests.e2e.agent_runs import Agents, AgentTask


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def chained(entries: list[dict[str, object]]) -> bytes:
    """These lines as a journal, each with the hash of the line before."""
    previous, raws = "0" * 64, []
    for number, entry in enumerate(entries, 1):
        content = {**entry, "seq": number, "prev": previous}
        raws.append(json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode())
        previous = hashlib.sha256(raws[-1]).hexdigest()
    return b"".join(raw + b"\n" for raw in raws)


class Done:
    """A finished task, made once; `fresh` returns it as it was, in the same place."""

    def __init__(self, folder: Path) -> None:
        self.live, self.spare = folder / "live", folder / "spare"
        self.live.mkdir()
        environment = environment_in(self.live)
        self.agents = Agents(Detent(self.live, environment), MakeRepo(self.live, environment), self.live)
        self.agents.honest()
        self.task = self.agents.task()
        self.task.run(expect=0)
        shutil.copytree(self.live, self.spare, symlinks=True)

    def fresh(self) -> AgentTask:
        shutil.rmtree(self.live)
        shutil.copytree(self.spare, self.live, symlinks=True)
        return self.task


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Done:
    return Done(tmp_path_factory.mktemp("finished"))


@pytest.fixture
def done(finished: Done) -> AgentTask:
    return finished.fresh()


def test_lines_carry_the_hashes_of_the_files_they_are_about(done: AgentTask) -> None:
    assert done.entries()[0]["format"] == 2
    (proved,) = done.entries("proved")
    ((name, log),) = proved["logs"].items()
    assert log["sha256"] == sha256(done.control / "receipts" / name)
    for planned, ended in zip(done.entries("run_planned"), done.entries("run_ended"), strict=True):
        folder = done.run_dir(ended["run"])
        assert planned["prompt"] == sha256(folder / "prompt.md")
        assert {name: one["sha256"] for name, one in ended["files"].items()} == {
            name: sha256(folder / name) for name in ("events", "errors", "exit.json")
        }
    files = done.entries("moved")[-1]["files"]
    assert {name: sha256(done.folder / name)[:32] for name in files} == files
    assert {"EVIDENCE.md", "artifacts/result.txt"} <= set(files)


def test_a_journal_of_a_newer_detent_is_refused_and_left_alone(done: AgentTask) -> None:
    head, *rest = done.entries()
    journal = done.control / "journal.jsonl"
    journal.write_bytes(chained([{**head, "format": 3}, *rest]))
    (done.control / "snapshot.json").unlink()
    before = {path: path.read_bytes() for path in done.control.rglob("*") if path.is_file()}
    for words in (("status",), ("next",), ("audit",), ("run",), ("move", "verify"), ("history",)):
        told = done(*words, done.id, cwd=done.repo)
        assert (told.code, "written by a newer Detent" in told.err) == (5, True), told
    assert "written by a newer Detent" in done("list", cwd=done.repo).out
    assert {path: path.read_bytes() for path in done.control.rglob("*") if path.is_file()} == before
