"""Parts of the REPL that need no terminal: what a beginning may become, and the file of what was typed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from detent.errors import UnreadableError
from detent.faces.repl.suggest import Suggestion, fitting
from detent.faces.repl.typed import MOST_LINES, keep_typed, read_typed

LINES = tuple(
    Suggestion(line)
    for line in ("/next", '/next --override "', "/review plan", "/review code", "/redo plan ", "build me ", "continue")
)


@pytest.mark.parametrize(
    ("typed", "lines"),
    [
        ("", []),
        ("  ", []),
        ("/", [line.line for line in LINES if line.line.startswith("/")]),
        ("//", []),
        ("//n", []),
        ("/n", ["/next", '/next --override "']),
        ("/next", ['/next --override "']),
        ("/next ", ['/next --override "']),
        ("/Review", ["/review plan", "/review code"]),
        ("/review  p", ["/review plan"]),
        ("/reviewp", []),
        ("build", ["build me "]),
        ("c", ["continue"]),
        ("continue", []),
        ("hello", []),
    ],
)
def test_a_beginning_becomes_what_the_task_understands(typed: str, lines: list[str]) -> None:
    assert [line.line for line in fitting(LINES, typed)] == lines


def test_the_newest_lines_are_kept_for_one_person(tmp_path: Path) -> None:
    path = str(tmp_path / "home/.typed")
    assert read_typed(path) == []
    for number in range(3):
        keep_typed(path, f"/next {number}\nsecond line")
    assert read_typed(path) == [f"/next {number} second line" for number in range(3)]
    assert os.stat(path).st_mode & 0o777 == 0o600
    Path(path).write_text("".join(f"{number}\n" for number in range(MOST_LINES + 5)), encoding="utf-8")
    keep_typed(path, "last")
    kept = read_typed(path)
    assert (len(kept), kept[0], kept[-1]) == (MOST_LINES, "6", "last")


def test_a_link_in_place_of_the_file_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "other").write_text("mine\n", encoding="utf-8")
    (tmp_path / ".typed").symlink_to(tmp_path / "other")
    with pytest.raises(UnreadableError):
        keep_typed(str(tmp_path / ".typed"), "x")
    assert (tmp_path / "other").read_text(encoding="utf-8") == "mine\n"
