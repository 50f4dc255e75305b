"""Tests of `detent.toml`: everything that is wrong is told at once, and nothing unknown is let through."""

from __future__ import annotations

import pytest

from detent.errors import UnreadableError, UsageError
from detent.store.settings import COMMAND_TIMEOUT_S, Settings, parse_settings

WHOLE = b"""
default_machine = "phase"
[commands]
test = "make test"
lint = "make lint"
timeout_s = 60
[workspace]
setup = ["make setup"]
key = ["poetry.lock"]
copy = [".env"]
carry = ["node_modules"]
[machine.phase]
limits = { runs = 5 }
options = ["ask-early"]
[agents.builder]
model = "any"
"""


def problems(text: str) -> list[str]:
    with pytest.raises(UsageError) as caught:
        parse_settings(text.encode(), "detent.toml of abc")
    assert caught.value.where == "detent.toml of abc"
    head, _, rest = caught.value.what.partition(": ")
    found = rest.split("; ")
    assert head == f"detent.toml has {len(found)} problem(s)"
    return found


def test_a_whole_file_is_read() -> None:
    settings = parse_settings(WHOLE, "here")
    assert settings == Settings(
        default_machine="phase",
        commands={"test": "make test", "lint": "make lint"},
        command_timeout_s=60,
        setup=("make setup",),
        key=("poetry.lock",),
        copy=(".env",),
        carry=("node_modules",),
        limits={"phase": {"runs": 5}},
        options={"phase": ("ask-early",)},
    )
    assert settings.workspace() == {
        "setup": ["make setup"],
        "key": ["poetry.lock"],
        "copy": [".env"],
        "carry": ["node_modules"],
    }


def test_what_is_missing_has_a_default() -> None:
    assert parse_settings(b"", "here") == Settings()
    assert Settings().command_timeout_s == COMMAND_TIMEOUT_S


def test_a_byte_order_mark_is_no_problem() -> None:
    assert parse_settings(b"\xef\xbb\xbf" + WHOLE, "here") == parse_settings(WHOLE, "here")


def test_all_problems_are_told_at_once() -> None:
    text = """
    default_machine = 3
    colour = "red"
    [commands]
    test = ""
    lint = 5
    timeout_s = 0
    [workspace]
    setup = "make"
    colour = 1
    [machine.phase]
    limits = { runs = "many", crashes = true }
    options = [1]
    extra = 1
    """
    assert sorted(problems(text)) == sorted(
        [
            "default_machine must be the name of a machine",
            "unknown key 'colour'",
            "commands.test must be a command line",
            "commands.lint must be a command line",
            "commands.timeout_s must be a whole number of seconds",
            "workspace.setup must be a list of texts",
            "unknown key workspace.colour",
            "machine.phase.limits.runs must be a whole number",
            "machine.phase.limits.crashes must be a whole number",
            "machine.phase.options must be a list of texts",
            "unknown key machine.phase.extra",
        ]
    )


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("commands = 1", "commands must be a table"),
        ("workspace = []", "workspace must be a table"),
        ("machine = 'x'", "machine must be a table"),
        ("[machine]\nphase = 1", "machine.phase must be a table"),
        ("[machine.phase]\nlimits = 1", "machine.phase.limits must be a table"),
        ("[commands]\ntimeout_s = true", "commands.timeout_s must be a whole number of seconds"),
        ("[commands]\ntimeout_s = 1.5", "commands.timeout_s must be a whole number of seconds"),
        ("[commands]\ntimeout_s = -1", "commands.timeout_s must be a whole number of seconds"),
        ("[commands]\ntest = '  '", "commands.test must be a command line"),
        ("[commands]\ntest = ['make']", "commands.test must be a command line"),
        ("[workspace]\ncopy = ['a', 1]", "workspace.copy must be a list of texts"),
        ("Commands = {}", "unknown key 'Commands'"),
    ],
)
def test_a_wrong_type_is_named(text: str, problem: str) -> None:
    assert problems(text) == [problem]


@pytest.mark.parametrize("data", [b"x", b"[commands", b"\xff", b"a = 1\na = 2", b"a = " + b"[" * 20_000])
def test_what_is_no_toml_is_unreadable(data: bytes) -> None:
    with pytest.raises(UnreadableError, match="not valid TOML") as caught:
        parse_settings(data, "here")
    assert caught.value.next_step == "correct detent.toml"
