"""A task whose main file is JSON, through the command line: moves, tampering, versions and repair."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Completed, Detent, MakeRepo

MACHINE = Path(__file__).parents[1] / "data/machines/thread.toml"


class Thread:
    def __init__(self, detent: Detent, repository: Path, folder: Path) -> None:
        self.detent = detent
        self.repository = repository
        self.file = folder / "thread.json"
        made = self("new", str(MACHINE), 'Fix "it"', "--id", "t", "--dir", str(folder), "--in-place")
        assert made.code == 0, made.err

    def __call__(self, *words: str) -> Completed:
        return self.detent(*words, cwd=self.repository)

    def data(self) -> Any:
        return json.loads(self.file.read_text())


@pytest.fixture
def thread(detent: Detent, repo: MakeRepo, tmp_path: Path) -> Thread:
    return Thread(detent, repo(), tmp_path / "thread")


def test_moves_write_state_and_data_and_leave_the_rest(thread: Thread) -> None:
    assert thread.data()["title"] == 'Fix "it"'
    thread.file.write_text(
        thread.file.read_text().replace('"schema_version"', '"theirs": [1.50,  2],\n  "schema_version"')
    )
    assert thread("move", "Running").code == 0
    assert thread.data()["phase"] == {"type": "Running", "data": {"iteration": 1}}
    assert thread.data()["current_run_id"] == "run-1"
    assert thread("move", "Paused").code == 0
    assert thread.data()["phase"] == {"type": "Paused"}
    assert thread.data()["current_run_id"] is None
    assert thread.data()["theirs"] == [1.5, 2]
    assert [*thread.data()][1:3] == ["theirs", "schema_version"]
    assert sorted(path.name for path in thread.file.parent.iterdir()) == [".detent-task", "thread.json"]
    assert thread("audit").code == 0


def test_values_of_the_engine_are_put_back(thread: Thread) -> None:
    thread("move", "Running")
    thread.file.write_text(thread.file.read_text().replace('"iteration": 1', '"iteration": 0, "mine": 1'))
    assert '"/phase/data/iteration" was changed' in thread("next").out
    assert thread("answer", "go on").code == 0
    assert thread.data()["phase"]["data"] == {"iteration": 1, "mine": 1}


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("{", "", "no valid JSON"),
        ('"Running"', '"Runing"', "names no state"),
        ('"schema_version": 2', '"schema_version": 3', "this version of detent knows 2"),
    ],
)
def test_a_damaged_file_is_shown_and_repaired(thread: Thread, old: str, new: str, words: str) -> None:
    thread("move", "Running")
    good = thread.data()
    damaged = thread.file.read_text().replace(old, new, 1)
    thread.file.write_text(damaged)
    shown = thread("next", "--json").json()
    assert not any(edge["open"] for edge in shown["edges"])
    assert all(words in edge["missing"][0]["why"] for edge in shown["edges"])
    assert thread("move", "Paused").code == 5
    assert thread.file.read_text() == damaged, "what can't be read is never overwritten unasked"
    assert thread("doctor", "--repair", "t").code == 0
    assert thread.data() == good
    assert thread.file.with_name("thread.json.broken-1").read_text() == damaged
    assert thread("move", "Paused").code == 0
    assert thread("audit").code == 0


def test_folder_of_older_version_is_taken_over_with_a_copy(detent: Detent, repo: MakeRepo, tmp_path: Path) -> None:
    repository, folder = repo(), tmp_path / "theirs"
    folder.mkdir()
    older = '{"schema_version":1,"title":"Old","phase":{"type":"Running","data":{"iteration":2}},"x":[ ]}'
    (folder / "thread.json").write_text(older)
    assert detent("adopt", str(folder), str(MACHINE), cwd=repository).code == 0
    assert (folder / "thread.json.v1").read_text() == older
    data = json.loads((folder / "thread.json").read_text())
    assert (data["schema_version"], data["phase"]["data"]["iteration"], data["x"]) == (2, 2, [])
    newer = tmp_path / "newer"
    newer.mkdir()
    (newer / "thread.json").write_text(older.replace("1", "9", 1))
    assert "knows 2" in detent("adopt", str(newer), str(MACHINE), cwd=repository).err
    assert (newer / "thread.json").read_text() == older.replace("1", "9", 1)
