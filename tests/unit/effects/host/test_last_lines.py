"""The end of a log, as it is quoted."""

from __future__ import annotations

from pathlib import Path

import pytest

from detent.effects.host.last_lines import last_lines, quotable
from detent.store.text.redact import MARK


def test_the_last_forty_lines_are_quoted(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("".join(f"line {number}\n" for number in range(100)), encoding="utf-8")
    assert last_lines(str(log), {}).splitlines() == [f"line {number}" for number in range(60, 100)]


def test_long_log_is_read_from_its_end_in_whole_lines(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("é" * 100_000 + "\nlast\n", encoding="utf-8")
    assert last_lines(str(log), {}).endswith("\nlast") or last_lines(str(log), {}) == "last"
    assert "�" not in last_lines(str(log), {})


def test_no_log_says_nothing(tmp_path: Path) -> None:
    assert last_lines(str(tmp_path / "gone"), {}) == ""
    assert last_lines("", {}) == ""


def test_long_lines_and_long_quotes_are_cut() -> None:
    assert quotable("x" * 1000, {}) == "x" * 300 + " ..."
    assert len(quotable("\n".join(["y" * 290] * 40), {})) < 4200


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mFAILED\x1b[0m", "FAILED"),
        ("10%\r50%\r100%", "100%"),
        ("a\r\nb\r\n", "a\nb"),
        ("a\n\n  \nb", "a\nb"),
        ("bell\x07", "bell"),
        ("\x1b]0;title\x07text", "text"),
    ],
)
def test_what_only_a_terminal_reads_is_left_out(text: str, shown: str) -> None:
    assert quotable(text, {}) == shown


def test_a_secret_is_removed_before_lines_are_cut() -> None:
    quoted = quotable("x" * 295 + "s3cr3t-value-of-mine", {"MY_TOKEN": "s3cr3t-value-of-mine"})
    assert "s3cr3t" not in quoted
    assert quoted.startswith("x" * 295 + MARK[:5])


def test_paths_of_the_checkout_become_relative() -> None:
    text = 'File "/home/a/p/proof/tests/test_a.py", line 3\nFile "/seat/b.py"\n/home/a/other'
    assert quotable(text, {}, "/home/a/p/proof", "/seat", "") == (
        'File "tests/test_a.py", line 3\nFile "b.py"\n/home/a/other'
    )
