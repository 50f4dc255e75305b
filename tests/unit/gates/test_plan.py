"""Tests of the validation plan: which of its lines are run, and which a person or agent must check."""

from __future__ import annotations

import pytest

from detent.core.machine import Gate
from detent.gates.plan import all_commands, read_plan, receipt_key
from detent.store.journal.observed import Command


@pytest.mark.parametrize(
    ("plan", "commands"),
    [
        ("cmd: make test", ["make test"]),
        ("CMD : make test", ["make test"]),
        ("- cmd: make test", ["make test"]),
        ("1. cmd: make test", ["make test"]),
        ("**cmd:** make test", ["make test"]),
        ("cmd: `make test`", ["make test"]),
        ("`cmd: make test`", ["make test"]),
        ("cmd: `w`", ["w"]),
        ("cmd: echo `date` `pwd`", ["echo `date` `pwd`"]),
        ("cmd: a\ncmd: b\ncmd: a", ["a", "b"]),
        ("> cmd: make", ["make"]),
        ("```\nmake\n```", ["make"]),
        ("```sh\nmake\nmake test\n```", ["make\nmake test"]),
        ("```\nmake\n```\n```\nmake test\n```", ["make", "make test"]),
        ("~~~\nmake\n~~~", ["make"]),
        ("```\nnever closed", ["never closed"]),
        ("```\n# build\n  make\n```", ["# build\n  make"]),
        ("```\n    make\n    make test\n```", ["make\nmake test"]),
        ("```\n    make\n\n    make test\n```", ["make\n\nmake test"]),
        ("```\ncat <<END\n\nx\nEND\n```", ["cat <<END\n\nx\nEND"]),
        ("````\nmarkdown <<END\n```\nx\n```\nEND\n````", ["markdown <<END\n```\nx\n```\nEND"]),
        ("```\nmake\n   ```", ["make"]),
        ("```\ncat <<END\n    ```\nEND\n```", ["cat <<END\n    ```\nEND"]),
        ("- ```\n  make\n  ```", ["make"]),
        ("- ```\n  make\n```\nmake test\n```", ["make", "make test"]),
        ("> ```\n> make\n> ```", ["make"]),
        ("> > ```\n> > make\n> > ```", ["make"]),
        ("```\n{ make; }\n```", ["{ make; }"]),
        ("cmd: make\n```\nmake test\n```\ncmd: lint", ["make", "make test", "lint"]),
    ],
)
def test_fenced_blocks_and_command_lines_are_run(plan: str, commands: list[str]) -> None:
    assert read_plan(plan) == (tuple(commands), ())


@pytest.mark.parametrize(
    "plan",
    [
        "",
        "cmd:",
        "cmd: ...",
        "cmd: TODO",
        "cmd: ``",
        "cmd: <command>",
        "```\n```",
        "```\n# only a comment\n```",
        "```\n#!/bin/sh\n#nothing\n```",
        "```\n...\n```",
        "TODO",
        "<!-- cmd: make -->",
        "<!--\n```\nmake\n```\n-->",
    ],
)
def test_what_holds_nothing_asks_for_nothing(plan: str) -> None:
    assert read_plan(plan) == ((), ())


@pytest.mark.parametrize(
    ("plan", "manual"),
    [
        ("look at the page", ["look at the page"]),
        ("- open it\n- click", ["open it", "click"]),
        ("make test", ["make test"]),
        ("text\n\n    make test", ["text", "make test"]),
        ("<p>look at it</p>", ["<p>look at it</p>"]),
        ("run cmd: make", ["run cmd: make"]),
    ],
)
def test_everything_else_asks_for_somebodys_eyes(plan: str, manual: list[str]) -> None:
    assert read_plan(plan) == ((), tuple(manual))


def test_a_plan_may_have_both() -> None:
    assert read_plan("cmd: make\nthen look at it") == (("make",), ("then look at it",))


def test_what_follows_a_block_is_no_part_of_it() -> None:
    assert read_plan("```\nmake\n```\n    make test") == (("make",), ("make test",))


@pytest.mark.requirement("S0.51")
def test_projects_commands_join_every_plan_and_none_is_run_twice() -> None:
    commands = (Command("test", "make test"), Command("check 1", "make lint"))
    assert all_commands(commands, "cmd: make lint\ncmd: make e2e") == (*commands, Command("plan 2", "make e2e"))
    assert all_commands(commands, "") == commands
    assert all_commands((), "") == ()


def test_wanted_answer_of_a_gate_does_not_change_its_receipt() -> None:
    gate = Gate("ours", "criteria", {"file": "spec.md", "value": "all pass"})
    key = receipt_key("tree", "make", gate, "w")
    assert receipt_key("tree", "make", gate.replace(params={"value": "some fail", "file": "spec.md"}), "w") == key
    assert receipt_key("tree", "make", gate.replace(params={"file": "value", "value": "all pass"}), "w") != key
