"""Tests of the reason of a move that rests on a failure."""

from __future__ import annotations

from typing import Any

import pytest

from detent.store.journal.native_log import because
from tests.lines import made

OK: dict[str, Any] = {"ok": True}
RED: dict[str, Any] = {"ok": False, "why": "'make test' failed (exit 1)"}
FAILED = {"ok": True, "parts": [["build_ok", False, RED["why"]]]}


@pytest.mark.parametrize(
    ("facts", "reason"),
    [
        ({}, ""),
        ({"build_ok": OK}, ""),
        ({"all": {"ok": True, "parts": [["a", True, ""]]}, "a": OK}, ""),
        ({"build_failed": FAILED, "build_ok": RED}, "build_ok: 'make test' failed (exit 1)"),
        (
            {
                "build_failed": FAILED,
                "build_ok": {"ok": False, "parts": [["a", True, ""], ["b", False, "?"], ["c", False, "it is\nred"]]},
                "a": OK,
                "b": {"ok": False, "why": "?", "unknown": True},
                "c": {"ok": False, "why": "it is\nred"},
            },
            "c: it is red",
        ),
        ({"some_fail": {"ok": True, "parts": [["one", True, ""], ["two", False, "exit 1"]]}}, "some_fail: two: exit 1"),
        ({"some_open": {"ok": True, "parts": [["It lies", False, ""]]}}, "some_open: It lies"),
        ({"loop": {"ok": True, "parts": [["loop", False, "round"]]}}, "loop: round"),
    ],
)
def test_the_first_check_that_failed_is_named(facts: dict[str, Any], reason: str) -> None:
    assert because(made("moved", facts=facts)) == reason


def test_what_a_person_waived_is_no_reason() -> None:
    facts = {"build_failed": FAILED, "build_ok": RED}
    assert because(made("moved", facts=facts, waived=["other"])) == ""


def test_a_reason_is_short() -> None:
    facts = {"failed": {"ok": True, "parts": [["it", False, "long " * 1000]]}}
    assert len(because(made("moved", facts=facts))) < 310
    assert because(made("run_ended")) == ""
