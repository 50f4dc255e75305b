"""Tests of the argument parser against the command table."""

from __future__ import annotations

from importlib import import_module

import pytest

from detent.errors import UsageError
from detent.faces.cli.arguments import find_command, parse_arguments
from detent.faces.cli.table import COMMANDS, GROUPS


def test_options_may_stand_anywhere_and_end_at_two_dashes() -> None:
    arguments = parse_arguments(["move", "--reason", "why not", "verify", "--as=agent", "--", "--odd"])
    assert (arguments.text("TO"), arguments.text("TASK")) == ("verify", "--odd")
    assert (arguments.text("--reason"), arguments.text("--as"), arguments.has("--yes")) == ("why not", "agent", False)


def test_a_repeated_option_is_kept_only_where_it_may_be() -> None:
    assert parse_arguments(["new", "x", "--check", "a", "--check=b"]).texts("--check") == ("a", "b")
    with pytest.raises(UsageError, match="given twice"):
        parse_arguments(["new", "x", "--id", "a", "--id", "b"])


@pytest.mark.parametrize("words", [["new", "--id", ""], ["new", "--dir="], ["new", "--check", "  "]], ids=" ".join)
def test_an_empty_value_is_what_an_unset_variable_looks_like(words: list[str]) -> None:
    with pytest.raises(UsageError, match="empty value"):
        parse_arguments(words)


@pytest.mark.parametrize("value", ["²", "٣", "-1", "1.0", "1e3", "nan", "9" * 5000])
def test_what_is_no_plain_number_is_told(value: str) -> None:
    arguments = parse_arguments(["history", "--last", value])
    with pytest.raises(UsageError, match="--last needs a number, not"):
        arguments.number("--last", "detent history --last 20")


def test_a_number_may_be_left_out_and_has_a_least() -> None:
    assert parse_arguments(["history", "--last", "007"]).number("--last", "x") == 7
    assert parse_arguments(["history"]).number("--last", "x") is None
    with pytest.raises(UsageError, match="--jobs needs a number from 1, not '0'"):
        parse_arguments(["watch", "--jobs", "0"]).number("--jobs", "x", "a number from 1", least=1)


def test_help_is_answered_before_anything_is_missing() -> None:
    assert parse_arguments(["adopt", "--help"]).has("--help")
    assert parse_arguments(["adopt", "-h"]).has("--help")


def test_two_words_are_looked_up_before_one() -> None:
    command, rest = find_command(["machine", "check", "phase"])
    assert (command.name, rest) == ("machine check", ["phase"])
    with pytest.raises(UsageError, match="one more word"):
        find_command(["machine"])


def test_every_row_of_the_table_leads_to_a_function() -> None:
    assert COMMANDS
    for command in COMMANDS:
        module, _, function = command.run.partition(":")
        room = "detent.faces" if "." in module else "detent.faces.cli.commands"
        assert callable(getattr(import_module(f"{room}.{module}"), function)), command.name
        assert command.group in GROUPS, command.name
