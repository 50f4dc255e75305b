"""Tests of our own command line as a child: its end, its exit code and its last words."""

from __future__ import annotations

import os
import select
from pathlib import Path

import pytest

from detent.effects.host.children import Children, start_detent
from tests.unit.effects.host.keeper.keeper_runs import WAIT_S


def waited(children: Children) -> None:
    waiting = select.poll()
    for handle in children.handles():
        waiting.register(handle, select.POLLIN)
    assert waiting.poll(WAIT_S * 1000)


def test_children_end_one_by_one_with_code_and_last_words(tmp_path: Path) -> None:
    children = Children()
    children.start("good", ["--version"], str(tmp_path / "good"))
    children.start("bad", ["no-such-command"], str(tmp_path / "bad"))
    assert (len(children), "good" in children, "other" in children) == (2, True, False)
    found = {}
    while children:
        waited(children)
        found.update({child.name: child for child in children.ended()})
    assert (found["good"].code, found["good"].last_line[:7]) == (0, "detent ")
    assert (found["bad"].code, "next:" in found["bad"].last_line) == (2, True)
    assert (children.ended(), children.handles()) == ((), ())


def test_a_log_begins_anew(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("older words\n" * 1000)
    children = Children()
    children.start("one", ["--version"], str(log))
    waited(children)
    assert children.ended()[0].last_line.startswith("detent ")
    assert len(log.read_text().splitlines()) == 1


def test_a_child_survives_a_closed_terminal(tmp_path: Path) -> None:
    pid = start_detent(["--version"], str(tmp_path / "log"))
    try:
        assert os.getsid(pid) == pid != os.getsid(0)
    finally:
        os.waitpid(pid, 0)


def test_json_py_in_the_current_folder_is_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder is a checkout: what lies there was written by anybody, an agent too."""
    mark = tmp_path / "mark"
    for name in ("detent", "json", "select"):
        (tmp_path / f"{name}.py").write_text(f"open({str(mark)!r}, 'w')\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    children = Children()
    children.start("one", ["--version"], str(tmp_path / "log"))
    waited(children)
    assert children.ended()[0].last_line.startswith("detent ")
    assert not mark.exists()
