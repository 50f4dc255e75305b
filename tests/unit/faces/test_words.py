"""Tests of the words: a refusal has a head, a reason and a next step, and shows no inner names."""

from __future__ import annotations

from detent.errors import MachineError, UnreadableError
from detent.faces.words import error_words, list_words


def test_an_error_says_what_where_and_what_next() -> None:
    error = UnreadableError("STATE.md is empty", where="/t/STATE.md", next_step="detent doctor --repair t")
    assert error_words(error).splitlines() == [
        "unreadable: STATE.md is empty",
        "  where: /t/STATE.md",
        "  next:  detent doctor --repair t",
    ]


def test_all_problems_of_a_machine_file_are_listed() -> None:
    lines = error_words(MachineError(("first", "second"), where="m.toml")).splitlines()
    assert lines[:3] == ["machine: 2 problems in the machine file", "  - first", "  - second"]


def test_a_list_keeps_its_columns_apart() -> None:
    lines = list_words([("a", "phase", "intake", "the agent (builder)", "first"), ("longer", "phase", "done", "", "")])
    head, *rows = lines.splitlines()
    assert head.index("TITLE") == rows[0].index("first")
    assert rows[1].rstrip() == rows[1]
    assert "detent new" in list_words([])
