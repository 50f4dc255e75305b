"""Tests of guessing how a repository is tested and made ready, file by file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from detent.runner.make.guess import SAFE_PATH, guess_carry, guess_commands, guess_setup

DEFAULT_SCRIPT = 'echo "Error: no test specified" && exit 1'


def put(root: Path, files: Mapping[str, str]) -> str:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    return str(root)


def everything(_needs: str) -> bool:
    return True


def commands(root: Path, files: Mapping[str, str]) -> list[tuple[str, str]]:
    return [(command.name, command.command) for command in guess_commands(put(root, files), everything)]


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({}, []),
        ({"Makefile": "test: build\n\tgo\nlint:\n\tgo\ncheck : x\nx:=1\n.PHONY: build\n"}, ["lint", "check", "test"]),
        ({"Makefile": "test := 1\nlint ::= 2\n"}, []),
        ({"GNUmakefile": "build:\n", "Makefile": "test:\n"}, ["build"]),
    ],
)
def test_targets_of_a_makefile(tmp_path: Path, files: Mapping[str, str], expected: list[str]) -> None:
    assert commands(tmp_path, files) == [(name, f"make {name}") for name in expected]


@pytest.mark.parametrize(
    ("lock", "expected"),
    [
        ("package-lock.json", "npm run --silent test"),
        ("pnpm-lock.yaml", "pnpm run test"),
        ("yarn.lock", "yarn run test"),
        ("bun.lockb", "bun run test"),
        ("README.md", "npm run --silent test"),
    ],
)
def test_scripts_of_a_package_are_run_by_its_own_manager(tmp_path: Path, lock: str, expected: str) -> None:
    package = json.dumps({"scripts": {"test": "vitest", "start": "x", "lint": " "}})
    assert commands(tmp_path, {"package.json": package, lock: ""}) == [("test", expected)]


@pytest.mark.parametrize("text", ["", "{", "[]", '{"scripts": 1}', '{"scripts": {"test": 1}}'])
def test_a_package_without_scripts_says_nothing(tmp_path: Path, text: str) -> None:
    assert commands(tmp_path, {"package.json": text}) == []


def test_the_script_npm_puts_there_is_no_test(tmp_path: Path) -> None:
    assert commands(tmp_path, {"package.json": json.dumps({"scripts": {"test": DEFAULT_SCRIPT}})}) == []


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"pytest.ini": ""}, "python3 -P -m pytest -q"),
        ({"pyproject.toml": "[tool.pytest.ini_options]"}, "python3 -P -m pytest -q"),
        ({"pyproject.toml": "dev = ['pytest']", "uv.lock": ""}, "uv run pytest -q"),
        ({"conftest.py": "", "poetry.lock": ""}, "poetry run pytest -q"),
        ({"requirements.txt": "pytest\n"}, ".venv/bin/python -P -m pytest -q"),
        ({"test_a.py": "import pytest\n"}, "python3 -P -m pytest -q"),
        ({"tests/test_a.py": "def test_a():\n    pass\n"}, "python3 -P -m pytest -q"),
        ({"tox.ini": ""}, "tox"),
        ({"noxfile.py": ""}, "nox"),
        ({"test_a.py": "import unittest"}, "python3 -P -m unittest -q"),
        ({"tests/test_a.py": "import unittest"}, "python3 -P -m unittest discover -q -s tests"),
        (
            {"tests/test_a.py": "import unittest", "tests/__init__.py": ""},
            "python3 -P -m unittest discover -q -s tests -t .",
        ),
        ({"Cargo.toml": ""}, "cargo test --quiet"),
        ({"go.mod": ""}, "go test ./..."),
        ({"pom.xml": ""}, "mvn --quiet test"),
    ],
)
def test_languages(tmp_path: Path, files: Mapping[str, str], expected: str) -> None:
    assert ("test", expected) in commands(tmp_path, files)


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"pyproject.toml": "[tool.ruff.lint]"}, "python3 -m ruff check ."),
        ({"ruff.toml": "", "requirements.txt": ""}, ".venv/bin/python -m ruff check ."),
        ({".flake8": ""}, "python3 -m flake8"),
        ({"go.mod": ""}, "go vet ./..."),
    ],
)
def test_linters(tmp_path: Path, files: Mapping[str, str], expected: str) -> None:
    assert ("lint", expected) in commands(tmp_path, files)


def test_a_python_file_without_tests_is_no_test(tmp_path: Path) -> None:
    assert commands(tmp_path, {"test_data.py": "ROWS = []", "app.py": "import unittest"}) == []


def test_the_projects_own_word_comes_first(tmp_path: Path) -> None:
    files = {"Makefile": "test:\n", "pytest.ini": "", "package.json": json.dumps({"scripts": {"test": "jest"}})}
    assert [line for _, line in commands(tmp_path, files)] == [
        "make test",
        "npm run --silent test",
        "python3 -P -m pytest -q",
    ]


FLAT = {"app.py": "", "tests/test_app.py": "import app"}


@pytest.mark.parametrize(
    ("files", "is_safe"),
    [
        ({"src/app/__init__.py": "", "tests/test_app.py": "from app import core"}, True),
        (FLAT, False),
        ({**FLAT, "conftest.py": ""}, True),
        ({**FLAT, "conftest.py": "", "__init__.py": ""}, False),
        ({**FLAT, "tests/__init__.py": ""}, True),
        ({"app.py": "", "test_app.py": "import app"}, True),
        ({**FLAT, "pytest.ini": "[pytest]\npythonpath = .\n"}, True),
        ({**FLAT, "pyproject.toml": '[tool.pytest.ini_options]\npythonpath = [\n  "src", "."]\n'}, True),
        ({**FLAT, "pyproject.toml": '[tool.pytest.ini_options]\npythonpath = ["src"]\n'}, False),
        ({**FLAT, "conftest.py": "", "pytest.ini": "[pytest]\naddopts = --import-mode=importlib\n"}, False),
        ({"conftest.py": "", "pytest.ini": "[pytest]\naddopts = -p ours\n", "ours.py": ""}, False),
        ({"tests/test_a.py": "from tests.help import x", "tests/help.py": ""}, False),
        ({"tests/test_a.py": "def test():\n    from tools.make import x\n", "tools/make.py": ""}, False),
    ],
)
def test_runner_is_started_without_the_folder_where_tests_allow_it(
    tmp_path: Path, files: Mapping[str, str], *, is_safe: bool
) -> None:
    guessed = commands(tmp_path, {"pytest.ini": "[pytest]\n", **files})
    assert guessed == [("test", f"python3 {'-P ' if is_safe else ''}-m pytest -q")]
    root = str(tmp_path)
    old = guess_commands(root, lambda needs: needs != SAFE_PATH)
    assert [command.command for command in old] == ["python3 -m pytest -q"]


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    root = put(tmp_path, {"pytest.ini": "", "Makefile": "lint:\n"})
    found = guess_commands(root, lambda needs: needs == "make")
    assert [(guess.name, guess.seen, guess.lacks) for guess in found] == [
        ("lint", "Makefile", ""),
        ("test", "pytest.ini", "python3 -m pytest"),
    ]


@pytest.mark.parametrize(
    ("files", "setup", "key"),
    [
        (["package-lock.json"], ["npm ci"], ["package-lock.json"]),
        (["package-lock.json", "yarn.lock"], ["npm ci"], ["package-lock.json"]),
        (["uv.lock", "requirements.txt"], ["uv sync --frozen"], ["uv.lock"]),
        (
            ["requirements.txt", "requirements-dev.txt"],
            [
                "python3 -m venv .venv",
                ".venv/bin/python -m pip install --quiet -r requirements.txt -r requirements-dev.txt",
            ],
            ["requirements.txt", "requirements-dev.txt"],
        ),
        (["yarn.lock", "poetry.lock"], ["yarn install --frozen-lockfile", "poetry install --no-interaction"], None),
        (["Cargo.lock", "go.sum"], [], []),
    ],
)
def test_set_up_follows_the_lock_files(
    tmp_path: Path, files: list[str], setup: list[str], key: list[str] | None
) -> None:
    found = guess_setup(put(tmp_path, dict.fromkeys(files, "")), everything)
    assert [command for setup_guess in found for command in setup_guess.commands] == setup
    assert [name for setup_guess in found for name in setup_guess.key] == (files if key is None else key)
    assert all(setup_guess.lacks for setup_guess in guess_setup(str(tmp_path), lambda _: False))


def test_packages_without_a_lock_file_are_carried(tmp_path: Path) -> None:
    assert guess_carry(str(tmp_path)) == ()
    (tmp_path / "node_modules").mkdir()
    assert guess_carry(str(tmp_path)) == ("node_modules",)
    assert guess_carry(put(tmp_path, {"package-lock.json": ""})) == ()


def test_a_file_that_cant_be_read_says_nothing(tmp_path: Path) -> None:
    (tmp_path / "package.json").symlink_to("/etc/passwd")
    (tmp_path / "pyproject.toml").write_bytes(b"\xff\xfe[tool.ruff]")
    assert commands(tmp_path, {}) == [("lint", "python3 -m ruff check .")]
