"""Tests of choosing an agent for a role."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from detent.effects.agents.catalog import load_catalog
from detent.effects.agents.choose import Choice, all_candidates, candidates, choose, parse_overrides
from detent.errors import ToolError, UsageError
from detent.words.effects import agents as say
from tests.messages import message_of

SETTINGS = load_catalog(
    tomllib.loads('default = "claude:sonnet"\nreviewer = "codex"\n"ralf.implementer" = ["claude:opus", "codex"]')
)
NOTHING = load_catalog({})

Install = Callable[..., str]


@pytest.fixture
def install(tmp_path: Path) -> Install:
    """A search path that holds exactly the named programs."""

    def installed(*names: str) -> str:
        for name in names:
            program = tmp_path / name
            program.write_text("#!/bin/sh\n", encoding="utf-8")
            program.chmod(0o755)
        return str(tmp_path)

    return installed


@pytest.mark.parametrize(
    ("machine", "role", "expected"),
    [
        ("ralf", "implementer", Choice("claude", "opus")),
        ("orange", "implementer", Choice("claude", "sonnet")),
        ("ralf", "reviewer", Choice("codex", "")),
        ("orange", "worker", Choice("claude", "sonnet")),
    ],
)
def test_machine_and_role_then_role_then_default(install: Install, machine: str, role: str, expected: Choice) -> None:
    assert choose(SETTINGS, machine, role, {}, 0, install("claude", "codex")) == expected


def test_several_are_tried_in_turn(install: Install) -> None:
    path = install("claude", "codex")
    tried = [choose(SETTINGS, "ralf", "implementer", {}, attempt, path) for attempt in range(3)]
    assert tried == [Choice("claude", "opus"), Choice("codex", ""), Choice("claude", "opus")]


def test_one_that_is_not_installed_is_passed_over(install: Install) -> None:
    assert candidates(SETTINGS, "ralf", "implementer", {}, install("codex")) == (Choice("codex", ""),)


def test_a_model_may_hold_colons(install: Install) -> None:
    overrides = parse_overrides(NOTHING, ["worker=pi:openai/gpt:high"])
    assert choose(NOTHING, "orange", "worker", overrides, 0, install("pi")) == Choice("pi", "openai/gpt:high")


@pytest.mark.parametrize("word", ["ralf.implementer=pi:m", "implementer=pi:m", "pi:m", "default=pi:m"])
def test_the_command_line_beats_every_setting(install: Install, word: str) -> None:
    overrides = parse_overrides(SETTINGS, [word])
    path = install("claude", "codex", "pi")
    assert candidates(SETTINGS, "ralf", "implementer", overrides, path) == (Choice("pi", "m"),)


def test_the_command_line_leaves_other_roles_alone(install: Install) -> None:
    overrides = parse_overrides(SETTINGS, ["implementer=pi"])
    assert choose(SETTINGS, "ralf", "reviewer", overrides, 0, install("codex", "pi")) == Choice("codex", "")


@pytest.mark.parametrize("word", ["worker=nobody", "nobody", "=pi", "worker="])
def test_an_unknown_agent_on_the_command_line_is_refused(word: str) -> None:
    with pytest.raises(UsageError) as refused:
        parse_overrides(NOTHING, [word])
    refusal = say.unknown_agent(word, NOTHING.agents)
    assert (refused.value.what, refused.value.next_step) == (refusal, refusal.next_step)


@pytest.mark.parametrize(
    ("installed", "expected"),
    [(("aider", "claude", "pi"), "pi"), (("aider", "claude"), "claude"), (("aider",), "aider")],
)
def test_without_settings_it_is_pi_or_first_that_is_found(
    install: Install, installed: tuple[str, ...], expected: str
) -> None:
    assert candidates(NOTHING, "orange", "worker", {}, install(*installed)) == (Choice(expected, ""),)


def test_with_nothing_installed_the_error_says_what_to_do(install: Install) -> None:
    with pytest.raises(ToolError) as failed:
        choose(NOTHING, "orange", "worker", {}, 0, install())
    refusal = message_of(failed.value.what)
    assert (refusal.code, refusal.values["install"]) == ("agents.no_agent_on_path", NOTHING.agents["pi"].install)
    assert failed.value.next_step == refusal.next_step


def test_own_program_that_is_missing_is_named_by_its_file(install: Install) -> None:
    catalog = load_catalog(tomllib.loads('mine.argv = ["my-agent", "--headless"]'))
    with pytest.raises(ToolError, match=re.escape("mine (my-agent)")) as failed:
        choose(catalog, "orange", "worker", {}, 0, install())
    assert message_of(failed.value.what).code == "agents.no_agent_on_path"


def test_a_configured_agent_that_is_missing_is_named(install: Install) -> None:
    with pytest.raises(ToolError) as failed:
        choose(SETTINGS, "orange", "reviewer", {}, 0, install("pi", "claude"))
    command = "npm install --global @openai/codex"
    refusal = say.agents_not_on_path("reviewer", "orange", ["codex"], ["codex"], [command])
    assert (failed.value.what, failed.value.next_step) == (refusal, refusal.next_step)


def test_agent_that_is_out_is_skipped_while_another_is_left(install: Install) -> None:
    path = install("claude", "codex")
    out = [choose(SETTINGS, "ralf", "implementer", {}, attempt, path, ("claude:opus",)) for attempt in range(2)]
    assert out == [Choice("codex", "")] * 2
    nobody = choose(SETTINGS, "ralf", "implementer", {}, 0, path, ("claude:opus", "codex"))
    assert nobody == Choice("claude", "opus")


def test_all_configured_agents_are_named_installed_or_not(install: Install) -> None:
    path = install("codex")
    choices = all_candidates(SETTINGS, "ralf", "implementer", {}, path)
    assert [choice.name for choice in choices] == ["claude:opus", "codex"]
    assert [choice.name for choice in all_candidates(NOTHING, "ralf", "implementer", {}, path)] == ["codex"]
