"""Tests of the catalog: what ships, what a project may add, and the command line of one run."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path

import pytest

from detent.effects.agents.catalog import (
    Agent,
    Catalog,
    Launch,
    command_for,
    find_program,
    has_login,
    load_catalog,
    talk_command_for,
)
from detent.errors import UsageError
from detent.words.effects import agents as say
from detent.words.machines import parse as parse_words
from tests.messages import message_of


def launch(agent: Agent, *, access: str = "write", model: str = "", session: str = "") -> Launch:
    return command_for(agent, access=access, model=model, session=session, run_dir="/out", cwd="/tree")


def built_in(name: str) -> Agent:
    return load_catalog({}).agents[name]


def problem_of(user: str) -> str:
    with pytest.raises(UsageError) as refused:
        load_catalog(tomllib.loads(user))
    return refused.value.what


def test_pi_is_the_first_of_all_known_agents() -> None:
    assert list(load_catalog({}).agents) == ["pi", "codex", "claude", "gemini", "opencode", "copilot", "qwen", "aider"]


@pytest.mark.parametrize(
    ("name", "access", "words"),
    [
        ("pi", "write", "pi -p --mode json --model m --session s"),
        ("pi", "read", "pi -p --mode json --tools read,grep,find,ls --model m --session s"),
        (
            "codex",
            "write",
            "codex exec --json --skip-git-repo-check -c allow_login_shell=false -s workspace-write -m m resume s -",
        ),
        (
            "codex",
            "read",
            "codex exec --json --skip-git-repo-check -c allow_login_shell=false -s read-only -m m resume s -",
        ),
        (
            "claude",
            "read",
            "claude -p --output-format stream-json --verbose --permission-mode dontAsk --tools Read,Grep,Glob"
            " --model m --resume s",
        ),
        ("gemini", "read", "gemini -o stream-json --skip-trust --approval-mode plan -m m --resume s"),
        (
            "copilot",
            "read",
            "copilot --output-format json --allow-all-tools --deny-tool write --deny-tool shell --model m --resume s",
        ),
    ],
)
def test_the_command_line_of_a_run(name: str, access: str, words: str) -> None:
    assert launch(built_in(name), access=access, model="m", session="s").argv == tuple(words.split())


def test_a_held_run_brings_no_sandbox_of_its_own() -> None:
    free, held = (
        command_for(
            built_in("codex"),
            access="write",
            model="m",
            session="",
            run_dir="/out",
            cwd="/tree",
            folders=("/task",),
            is_held=is_held,
        ).argv
        for is_held in (False, True)
    )
    assert free[6:] == ("-s", "workspace-write", "-m", "m", "--add-dir", "/task", "-")
    assert held[6:] == ("-s", "danger-full-access", "-m", "m", "--add-dir", "/task", "-")


@pytest.mark.parametrize("name", list(load_catalog({}).agents))
def test_everybody_can_be_talked_to(name: str) -> None:
    made = talk_command_for(
        built_in(name), prompt="/out/p.md", model="m", run_dir="/out", cwd="/tree", folders=("/task",), is_held=False
    )
    assert "/out/p.md" in made.argv[-1]
    assert "m" in made.argv
    assert "{" not in "".join(made.argv)


def test_without_model_and_session_their_words_are_left_out() -> None:
    assert launch(built_in("codex")).argv == (
        *("codex", "exec", "--json", "--skip-git-repo-check", "-c", "allow_login_shell=false"),
        *("-s", "workspace-write", "-"),
    )


@pytest.mark.parametrize("name", list(load_catalog({}).agents))
@pytest.mark.parametrize("access", ["read", "write"])
def test_command_line_names_the_folder_and_keeps_no_placeholder(name: str, access: str) -> None:
    made = launch(built_in(name), access=access, model="m", session="s")
    assert made.env["PWD"] == "/tree"
    assert made.env["DETENT_ACCESS"] == access
    assert "{" not in "".join(made.argv)


@pytest.mark.parametrize("name", list(load_catalog({}).agents))
def test_reading_and_writing_are_started_differently(name: str) -> None:
    read, write = (launch(built_in(name), access=access) for access in ("read", "write"))
    assert read.replace(env={**read.env, "DETENT_ACCESS": "write"}) != write


def test_reading_adds_its_own_environment() -> None:
    opencode = built_in("opencode")
    assert '"edit":"deny"' in launch(opencode, access="read").env["OPENCODE_CONFIG_CONTENT"]
    assert "OPENCODE_CONFIG_CONTENT" not in launch(opencode, access="write").env


def test_a_program_of_ones_own_needs_only_argv() -> None:
    catalog = load_catalog(tomllib.loads('[mine]\nargv = ["my-agent", "--headless"]'))
    made = launch(catalog.agents["mine"], access="read", model="big", session="s")
    assert made.argv == ("my-agent", "--headless")
    assert catalog.agents["mine"].events == "text"
    expected = {
        "PWD": "/tree",
        "DETENT_ACCESS": "read",
        "DETENT_MODEL": "big",
        "DETENT_SESSION": "s",
        "DETENT_OUT": "/out",
    }
    assert made.env == expected


def test_placeholders_are_filled_once_and_everywhere() -> None:
    user = '[mine]\nargv = ["a", "--log={out}/log"]\nmodel = ["-m{model}"]\nenv = { HERE = "{cwd}" }'
    made = launch(load_catalog(tomllib.loads(user)).agents["mine"], model="{out}")
    assert made.argv == ("a", "--log=/out/log", "-m{out}")
    assert made.env["HERE"] == "/tree"


def test_table_of_a_built_in_agent_changes_only_named_keys() -> None:
    changed = load_catalog({"pi": {"env": {"X": "1"}}}).agents["pi"]
    assert changed == built_in("pi").replace(env={"X": "1"})


def test_roles_are_texts_or_lists() -> None:
    user = 'default = "claude:sonnet"\nreviewer = "codex"\n"ralf.implementer" = ["claude:opus", "codex"]'
    assert load_catalog(tomllib.loads(user)).roles == {
        "default": ("claude:sonnet",),
        "reviewer": ("codex",),
        "ralf.implementer": ("claude:opus", "codex"),
    }


def test_all_problems_are_told_at_once() -> None:
    what = problem_of(
        """
        default = "nobody:big"
        reviewer = []
        worker = 3
        ralf.implementer = "codex"
        [mine]
        argv = ["./agent.sh", "{modle}"]
        colour = "red"
        events = "morse"
        model = ["-m"]
        [bare]
        argv = []
        """
    )
    known = ("model", "session", "out", "cwd", "folder", "prompt")
    problems = message_of(what).values["problems"]
    assert isinstance(problems, Sequence)
    assert sorted(problems) == sorted(
        (
            say.no_agent_in_setting("default", "nobody"),
            say.role_no_agents("reviewer"),
            say.role_no_agents("worker"),
            say.no_argv("agents.ralf", "ralf"),
            say.wrong_in("agents.mine", say.program_in_folder("./agent.sh")),
            say.wrong_in("agents.mine", say.unknown_placeholder("modle", known)),
            parse_words.unknown_key("agents.mine", "colour", ""),
            say.wrong_in("agents.mine", say.not_an_event_format(("pi", "codex", "claude", "text"))),
            say.wrong_in("agents.mine", say.lacks_placeholder("model", "{model}")),
            say.wrong_in("agents.bare", say.no_program()),
        )
    )


def test_a_program_is_found_on_the_given_path_only(tmp_path: Path) -> None:
    program = tmp_path / "pi"
    program.write_text("#!/bin/sh\n", encoding="utf-8")
    program.chmod(0o755)
    assert find_program(built_in("pi"), str(tmp_path)) == str(program)
    assert find_program(built_in("pi"), str(tmp_path / "elsewhere")) == ""


def test_login_is_looked_for_in_the_home_and_the_environment(tmp_path: Path) -> None:
    codex = built_in("codex")
    assert not has_login(codex, {"HOME": str(tmp_path)})
    assert has_login(codex, {"HOME": str(tmp_path), "OPENAI_API_KEY": "x"})
    (tmp_path / ".codex").mkdir()
    # It must not be opened: even an unreadable folder counts as found.
    (tmp_path / ".codex" / "auth.json").mkdir(mode=0o000)
    assert has_login(codex, {"HOME": str(tmp_path)})


def test_the_import_stays_light() -> None:
    code = (
        "import sys, detent.effects.agents.catalog, detent.effects.agents.choose, detent.effects.agents.events\n"
        "print(sorted({'tomllib', 'subprocess', 'typing', 'dataclasses', 'shutil', 'datetime'} & set(sys.modules)))"
    )
    source = Path(sys.modules[Catalog.__module__].__file__ or "").parents[3]
    done = subprocess.run(
        [sys.executable, "-S", "-c", code], env={"PYTHONPATH": str(source)}, capture_output=True, timeout=60, check=True
    )
    assert done.stdout.strip() == b"[]"
