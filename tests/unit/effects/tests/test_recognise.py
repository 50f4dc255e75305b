"""Tests of recognising runners: by the words of a command, and through what it calls in turn."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from detent.effects.tests.recognise import Recognised, recognise
from detent.effects.tests.runners import load_runners
from detent.words.effects import runners as say

RUNNERS = load_runners({})


def runners_of(command: str, root: Path) -> tuple[str, ...]:
    return recognise(command, str(root), RUNNERS).runners


def lay(root: Path, **files: str) -> Path:
    for name, text in files.items():
        path = root / name.replace("__", ".").replace("_s_", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


@pytest.mark.parametrize(
    ("command", "runner"),
    [
        ("pytest -q", "pytest"),
        (".venv/bin/pytest tests", "pytest"),
        ("python -P -m pytest -x", "pytest"),
        ("python3.12 -W error -m pytest", "pytest"),
        ("FOO=1 BAR='a b' python -mpytest", "pytest"),
        ("uv run pytest", "pytest"),
        ("uv run --with x --python 3.12 python -m pytest", "pytest"),
        ("uv run -m pytest", "pytest"),
        ("poetry run pytest -q", "pytest"),
        ("coverage run -m pytest && coverage report", "pytest"),
        ("python -m coverage run --source src -m unittest", "unittest"),
        ("timeout 10m python -m unittest discover -s tests", "unittest"),
        ("python manage.py test app", "unittest"),
        ("node --test", "node:test"),
        ("node --import tsx --test test/*.ts", "node:test"),
        ("npx jest --ci", "jest"),
        ("./node_modules/.bin/jest", "jest"),
        ("pnpm exec vitest run", "vitest"),
        ("cross-env NODE_ENV=test ava", "ava"),
        ("go test ./...", "go test"),
        ("CGO_ENABLED=0 go test -race ./...", "go test"),
        ("cargo test --workspace", "cargo test"),
        ("cargo +nightly t -q", "cargo test"),
        ("cargo nextest run", "nextest"),
        ("bash -ec 'cd web && npx mocha'", "mocha"),
        ("./mvnw -B verify", "maven"),
    ],
)
def test_a_runner_is_recognised_by_the_words(command: str, runner: str, tmp_path: Path) -> None:
    assert runners_of(command, tmp_path) == (runner,)


@pytest.mark.parametrize(
    "command",
    [
        "ruff check .",
        "go vet ./...",
        "cargo build",
        "cargo run --example test",
        "node build.js",
        "npm ci",
        "mypy",
        "echo pytest",
        "",
    ],
)
def test_what_is_no_runner_is_not_taken_for_one(command: str, tmp_path: Path) -> None:
    assert runners_of(command, tmp_path) == ()


def test_two_calls_in_one_command_are_two(tmp_path: Path) -> None:
    found = recognise("pytest tests/unit && pytest tests/e2e; go test ./...", str(tmp_path), RUNNERS)
    assert [call.runner for call in found.calls] == ["pytest", "pytest", "go test"]


def test_words_of_a_command_are_taken_as_they_are(tmp_path: Path) -> None:
    assert recognise(("pytest", "-k", "a && b"), str(tmp_path), RUNNERS).runners == ("pytest",)


MAKEFILE = """
PYTHON ?= python3
TESTS := tests
.PHONY: test
all: lint
test: lint unit
\t@echo done
unit:
\t@$(PYTHON) -m pytest \\
\t  $(TESTS)
lint: ; ruff check .
web:
\t$(MAKE) -C web check
"""


def test_a_target_of_make_is_followed(tmp_path: Path) -> None:
    lay(tmp_path, Makefile=MAKEFILE, web_s_makefile="check:\n\tnpx vitest run\n")
    found = recognise("make -j4 test", str(tmp_path), RUNNERS)
    assert [(call.runner, call.way, call.words[:4]) for call in found.calls] == [
        ("pytest", ("make",), ("python", "-m", "pytest", "tests"))
    ]
    assert found.files == ("Makefile",)
    web = recognise("make web", str(tmp_path), RUNNERS)
    assert ([(call.runner, call.folder) for call in web.calls], web.files) == (
        [("vitest", "web")],
        ("Makefile", "web/makefile"),
    )
    assert runners_of("make lint", tmp_path) == ()
    assert runners_of("make", tmp_path) == ()


def test_scripts_of_package_json_are_followed(tmp_path: Path) -> None:
    scripts = {"pretest": "tsc", "test": "npm run unit", "unit": "NODE_OPTIONS=--no-warnings jest", "e2e": "vitest"}
    lay(tmp_path, package__json=json.dumps({"scripts": scripts}))
    found = recognise("npm test -- --ci", str(tmp_path), RUNNERS)
    assert [(call.runner, call.way) for call in found.calls] == [("jest", ("npm test", "npm unit"))]
    assert found.files == ("package.json",)
    assert runners_of("yarn e2e", tmp_path) == ("vitest",)
    assert runners_of("pnpm run e2e", tmp_path) == ("vitest",)
    assert runners_of("npm run lint", tmp_path) == ()


@pytest.mark.parametrize(
    "files",
    [
        {"tox__ini": "[testenv]\ncommands =\n    pytest {posargs:tests}\n[testenv:lint]\ncommands = ruff check\n"},
        {"tox__ini": "[testenv]\ncommands = {envpython} -m pytest\n"},
        {"setup__cfg": "[tox:tox]\n[testenv]\ncommands = pytest\n"},
        {"pyproject__toml": '[tool.tox]\nlegacy_tox_ini = """\n[testenv]\ncommands = pytest\n"""'},
        {"pyproject__toml": '[tool.tox.env_run_base]\ncommands = [["pytest", "tests"]]'},
        {"tox__toml": '[env.unit]\ncommands = [["python", "-m", "pytest"]]'},
    ],
)
def test_commands_of_tox_are_followed(files: dict[str, str], tmp_path: Path) -> None:
    found = recognise("tox -e py", str(lay(tmp_path, **files)), RUNNERS)
    assert ([call.runner for call in found.calls], len(found.files)) == (["pytest"], 1)


def test_sessions_of_nox_are_followed(tmp_path: Path) -> None:
    lay(
        tmp_path,
        noxfile__py="import nox\n@nox.session\ndef t(session):\n    session.run('pytest', '-q', external=True)\n",
    )
    found = recognise("python -m nox -s t", str(tmp_path), RUNNERS)
    assert (found.runners, found.files) == (("pytest",), ("noxfile.py",))


@pytest.mark.parametrize("command", ["hatch run test", "poe test", "pdm run test"])
def test_names_of_pyproject_are_followed(command: str, tmp_path: Path) -> None:
    tables = {
        "hatch": "[tool.hatch.envs.default.scripts]\ntest = 'pytest {args}'",
        "poe": "[tool.poe.tasks.test]\ncmd = 'pytest'",
        "pdm": "[tool.pdm.scripts]\ntest = ['pytest']",
    }
    lay(tmp_path, pyproject__toml=tables[command.split(maxsplit=1)[0]])
    assert runners_of(command, tmp_path) == ("pytest",)


def test_a_shell_script_of_the_tree_is_followed(tmp_path: Path) -> None:
    lay(tmp_path, scripts_s_check="#!/usr/bin/env bash\nset -e\nif true; then\n  cd sub && cargo test\nfi\n")
    found = recognise("./scripts/check", str(tmp_path), RUNNERS)
    assert [(call.runner, call.folder, call.way) for call in found.calls] == [("cargo test", "sub", ("scripts/check",))]
    assert found.files == ("scripts/check",)


def test_a_script_that_starts_a_runner_itself_is_recognised(tmp_path: Path) -> None:
    lay(
        tmp_path,
        run__py="import unittest\nunittest.main(module='tests')\n",
        t__js="const test = require('node:test')\n",
    )
    assert runners_of("python run.py", tmp_path) == ("unittest",)
    assert runners_of("node t.js", tmp_path) == ("node:test",)


def test_configuration_names_the_runner_where_no_word_does(tmp_path: Path) -> None:
    found = recognise("just test", str(lay(tmp_path, pytest__ini="[pytest]\n")), RUNNERS)
    assert [(call.runner, call.way) for call in found.calls] == [("pytest", ("guessed by pytest.ini",))]


def test_files_that_a_command_names_are_its_own(tmp_path: Path) -> None:
    lay(tmp_path, ci__ini="", tests_s_list__txt="")
    assert recognise("pytest -c ci.ini --list=tests/list.txt ../x", str(tmp_path), RUNNERS).files == (
        "ci.ini",
        "tests/list.txt",
    )


def test_python_that_ignores_its_environment_is_named(tmp_path: Path) -> None:
    assert recognise("python -I -m pytest", str(tmp_path), RUNNERS).unreached == (
        say.ignores_environment("python -m pytest"),
    )
    assert recognise("python -P -m pytest", str(tmp_path), RUNNERS).unreached == ()


def test_a_runner_without_a_report_says_which_line_to_add(tmp_path: Path) -> None:
    assert "mocha-junit-reporter" in said_of(recognise("mocha", str(tmp_path), RUNNERS))
    declared = load_runners({"mocha": {"junit": ["report.xml"]}})
    assert recognise("mocha", str(tmp_path), declared).unreached == ()


def said_of(found: Recognised) -> str:
    return " ".join(found.unreached)


def test_scripts_that_call_each_other_come_to_an_end(tmp_path: Path) -> None:
    lay(tmp_path, package__json=json.dumps({"scripts": {"test": "npm run test && npm test"}}))
    found = recognise("npm test", str(tmp_path), RUNNERS)
    assert (found.calls, found.unreached) == ((), (say.too_many_steps(),))


def test_unreadable_files_are_passed_over(tmp_path: Path) -> None:
    lay(tmp_path, package__json="{", tox__ini="[", noxfile__py="def", pyproject__toml="=")
    for command in ("npm test", "tox", "nox", "poe test", "make test", "bash missing.sh"):
        assert recognise(command, str(tmp_path), RUNNERS).calls == ()
