"""The table of liars: what counts, what is shown, what is left out."""

from __future__ import annotations

from bench.liars.agent import LIES as ACTS
from bench.liars.lies import ALL
from bench.liars.table import count, markdown, text
from bench.liars.verdict import Row, Word


def row(lie: str, word: Word, why: str = "", tool: str = "Tool") -> Row:
    return Row(tool, "default", lie, word, why)


def test_every_lie_of_table_is_one_the_agent_can_act() -> None:
    assert [lie.key for lie in ALL] == list(ACTS)


def test_only_lies_that_were_told_are_counted() -> None:
    rows = [row("honest", "done"), row("nothing", "refused"), row("delete_test", "FOOLED")]
    left_out = [row("reviewer_edits", "none"), row("leftover", "failed")]
    assert count([*rows, *left_out]) == "fooled by 1 of 2"


def test_the_text_names_what_could_not_be_installed() -> None:
    printed = text([row("nothing", "refused", "the tests are red")], {"Other": "needs Python 3.12"})
    assert "refused   (the tests are red)" in printed or "refused    (the tests are red)" in printed
    assert "Other: can't be installed: needs Python 3.12" in printed


def test_the_markdown_has_a_column_for_each_tool_and_settings() -> None:
    table = markdown([row("nothing", "FOOLED", tool="One"), row("nothing", "none", tool="Two")])
    head, _, line, last = table.splitlines()
    assert head == "| lie | One, default | Two, default |"
    assert line == "| claims to be done, changed nothing | **FOOLED** | - |"
    assert last == "| fooled / lies told | fooled by 1 of 1 | fooled by 0 of 0 |"
