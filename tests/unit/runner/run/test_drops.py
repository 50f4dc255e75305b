"""Tests of the drop folder: every request is answered once, by what is true of the living run."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from threading import Thread

import pytest

from detent.faces.cli.output import move_json
from detent.runner.run.drops import answer_drops, ask_by_drop
from detent.runner.task.open import Task
from detent.view import with_fields
from detent.words.runner import run as run_words
from tests.unit.runner.conftest import AgentTask, begin

NO_REQUEST = {"error": run_words.no_request()}


@pytest.fixture
def living(agent_task: AgentTask) -> Task:
    return begin(agent_task("exec sleep 1000"))


def drop(task: Task) -> Path:
    return Path(task.run_folders()["DETENT_DROP"])


def reply(task: Task, name: str) -> Mapping[str, object]:
    content: Mapping[str, object] = json.loads((drop(task) / f"{name}.reply.json").read_bytes())
    return content


NO_REQUESTS = (
    b"",
    b"no json",
    b"[]",
    b'{"move": null}',
    b'{"go": "verify"}',
    b"[" * 60_000,
    b"x" * 70_000,
    b"\xff\xfe",
)


def test_what_is_no_request_is_told_so(living: Task) -> None:
    for number, data in enumerate(NO_REQUESTS):
        (drop(living) / f"ask-{number}.json").write_bytes(data)
        assert answer_drops(living, move_json) == (), data[:20]
        assert reply(living, f"ask-{number}") == NO_REQUEST, data[:20]


def test_a_request_is_answered_once(living: Task) -> None:
    (drop(living) / "ask.json").write_text('{"move": "verify"}')
    (outcome,) = answer_drops(living, move_json)
    assert reply(living, "ask") == json.loads(json.dumps(move_json(outcome)))
    assert answer_drops(living, move_json) == ()
    assert [line.kind for line in living.store.history()].count("claimed") == 1


def test_link_is_not_followed_and_a_reply_is_no_request(living: Task, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text('{"move": "verify"}')
    (drop(living) / "link.json").symlink_to(tmp_path / "elsewhere")
    (drop(living) / "old.reply.json").write_text('{"move": "verify"}')
    assert answer_drops(living, move_json) == ()
    assert reply(living, "link") == NO_REQUEST


def test_a_folder_that_takes_no_reply_keeps_no_process_waiting(living: Task) -> None:
    (drop(living) / f"{'n' * 250}.json").write_text('{"move": "verify"}')
    assert len(answer_drops(living, move_json)) == 1
    for path in drop(living).iterdir():
        path.unlink()
    drop(living).rmdir()
    assert answer_drops(living, move_json) == ()


def test_request_about_a_run_that_is_over_is_not_heard(living: Task) -> None:
    (drop(living) / "ask.json").write_text('{"move": "verify"}')
    older = living.replace(memory=living.memory.replace(run=with_fields(living.memory.run, run=7)))
    assert answer_drops(older, move_json) == ()
    assert "over" in str(reply(living, "ask")["error"])


def test_a_request_waits_for_its_reply_or_the_time_limit(living: Task) -> None:
    assert ask_by_drop(str(drop(living)), {"move": "verify"}, 0.0) is None
    for name in os.listdir(drop(living)):
        (drop(living) / name).unlink()
    said: list[object] = []
    asking = Thread(target=lambda: said.append(ask_by_drop(str(drop(living)), {"move": "verify"}, 30.0)))
    asking.start()
    while asking.is_alive():
        answer_drops(living, move_json)
        asking.join(0.01)
    assert isinstance(said[0], dict)
    assert (said[0]["claimed"], said[0]["refusal"]["problem"]) == (False, "implement -> verify")


def test_folder_that_a_run_has_filled_is_not_looked_through(living: Task) -> None:
    (drop(living) / "ask.json").write_text('{"move": "verify"}')
    for number in range(10_001):
        (drop(living) / str(number)).touch()
    assert answer_drops(living, move_json) == ()
    assert not (drop(living) / "ask.reply.json").exists()
    (drop(living) / "0").unlink()
    (drop(living) / "1").unlink()
    assert len(answer_drops(living, move_json)) == 1
