"""Tests of what an opened task is taken for: its pinned machine, and whether its agent died."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from detent.core.machine import State
from detent.core.values import Snapshot
from detent.errors import UnreadableError
from detent.machines.load import load
from detent.runner.task.open import pinned_machine
from detent.runner.tell.explain import is_dead, is_left
from detent.store.disk.digest import sha256_of
from detent.store.journal.head import head_of
from detent.store.journal.memory import TALKED, Memory, parts_of
from detent.store.journal.places import Project
from detent.words.runner import task as say

HERE = State("working", "agent", role="builder")


def remembered(pinned: bytes = b"", **more: object) -> Memory:
    head = {"machine": "phase", "digest": sha256_of(pinned), "limits": {}, "options": [], **more}
    return Memory(head_of(head), Snapshot("working"), 1, b"{}", 1, "")


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(str(tmp_path), str(tmp_path / "control"))


def pin(project: Project, content: bytes) -> Path:
    path = Path(project.machine_path(sha256_of(content)))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def test_a_pinned_machine_is_read_each_time_and_parsed_once(project: Project) -> None:
    _, pinned = load("phase", None)
    path = pin(project, pinned)
    first = pinned_machine(project, remembered(pinned))
    assert pinned_machine(project, remembered(pinned)) is first
    more = pinned_machine(project, remembered(pinned, limits={"runs": 7}))
    assert (first.limits["runs"].most, more.limits["runs"].most) == (30, 7)
    path.write_bytes(pinned + b" ")
    with pytest.raises(UnreadableError, match=re.escape(say.machine_changed("phase"))):
        pinned_machine(project, remembered(pinned))


@pytest.mark.parametrize("content", [b"{}", b"{"])
def test_pinned_file_that_is_no_machine_is_named(project: Project, content: bytes) -> None:
    path = pin(project, content)
    with pytest.raises(UnreadableError) as caught:
        pinned_machine(project, remembered(content))
    assert caught.value.where == str(path)


@pytest.mark.parametrize(
    ("how", "is_gone", "dead"), [("exited", False, True), (TALKED, False, False), (TALKED, True, True)]
)
def test_talk_is_no_death_but_run_after_it_may_be(how: str, *, is_gone: bool, dead: bool) -> None:
    memory = remembered().replace(**parts_of({"visit": {"how": how, "run": 1}}))
    assert is_left(memory, HERE, is_gone=is_gone)
    assert is_dead(memory, HERE, is_gone=is_gone) == dead
