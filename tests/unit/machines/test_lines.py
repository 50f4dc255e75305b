"""Typed lines as text: which words they begin with, options and quotes, and what a machine's file may say of them."""

from __future__ import annotations

import re

import pytest

from detent.errors import UsageError
from detent.machines.lines import Extra, Line, after_words, fill, longest_match, read_extra, read_line
from detent.words.machines import lines as say


@pytest.mark.parametrize(
    ("typed", "line"),
    [
        (" /plan  now ", Line("/plan  now", is_command=True)),
        ("//plan", Line("/plan", is_command=False)),
        ("///plan", Line("//plan", is_command=False)),
        ("// a", Line("/ a", is_command=False)),
        ("build me a/b", Line("build me a/b", is_command=False)),
        ("  ", Line("", is_command=False)),
        ("/", Line("/", is_command=True)),
    ],
)
def test_a_slash_makes_a_command_and_two_make_text(typed: str, line: Line) -> None:
    assert read_line(typed) == line


@pytest.mark.parametrize(
    ("line", "words", "rest"),
    [
        ("/review plan", "/review plan", ""),
        ("/Review   PLAN  it is thin", "/review plan", "it is thin"),
        ("/review planning", "/review plan", None),
        ("/review", "/review plan", None),
        ("/reviewplan", "/review", None),
        ("/test a  b", "/test", "a  b"),
    ],
)
def test_words_are_whole_words_in_any_case(line: str, words: str, rest: str | None) -> None:
    assert after_words(line, words) == rest


def test_the_longest_words_win() -> None:
    assert longest_match("/review plan why", ("/review", "/review plan", "/plan")) == ("/review plan", "why")
    assert longest_match("/review text", ("/review", "/review plan")) == ("/review", "text")
    assert longest_match("/revue", ("/review",)) is None


@pytest.mark.parametrize(
    ("pattern", "line", "text"),
    [
        ("build me {text}", "Build  me a parser", "a parser"),
        ("build me {text}", "build me", None),
        ("build me {text}", "please build me a parser", None),
        ("continue", "Continue", ""),
        ("continue", "continue please", None),
        ("/distill {text}", "/distill notes/a b", "notes/a b"),
    ],
)
def test_pattern_is_met_whole_and_its_place_is_never_empty(pattern: str, line: str, text: str | None) -> None:
    assert fill(pattern, line) == text


@pytest.mark.parametrize(
    ("rest", "extra"),
    [
        ("", Extra()),
        ("it doesn't work", Extra("it doesn't work")),
        ('"the plan is thin"', Extra("the plan is thin")),
        ('--override "I accept the risk"', Extra(override="I accept the risk")),
        ("--override “I accept”", Extra(override="I accept")),
        ("--override I accept the risk", Extra(override="I accept the risk")),
        ('--override "it\'s late" and more', Extra("and more", "it's late")),
        ("--override 'it's late' now", Extra("now", "it's late")),
        ("--override 'a' --yes", Extra(override="a", is_yes=True)),
        ("--yes --reason 'b'", Extra("b", is_yes=True)),
        ("--yes c", Extra("c", is_yes=True)),
        ('say "x" to it', Extra('say "x" to it')),
        ('"a" and "b"', Extra('"a" and "b"')),
    ],
)
def test_options_come_first_and_quotes_around_text_are_left_out(rest: str, extra: Extra) -> None:
    assert read_extra(rest) == extra


@pytest.mark.parametrize("rest", ["--override", '--override ""', "--override   ", "--override '  '"])
def test_an_override_needs_its_reason(rest: str) -> None:
    with pytest.raises(UsageError, match=say.flag_needs_reason("--override")):
        read_extra(rest)


def test_an_unknown_option_is_an_error_and_never_text() -> None:
    with pytest.raises(UsageError, match=re.escape(say.no_such_flag("--overide", ("--override", "--reason", "--yes")))):
        read_extra('--overide "x"')
