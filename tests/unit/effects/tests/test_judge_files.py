"""Tests of which files judge a command, and of the part of a shared file that steers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from detent.effects.tests.judge_files import Judge, judge_of, top_module
from detent.effects.tests.recognise import recognise
from detent.effects.tests.runners import load_runners
from detent.effects.tests.steering import steers_alike

RUNNERS = load_runners({})


def judge(command: str, root: Path, *base: str) -> Judge:
    return judge_of(recognise(command, str(root), RUNNERS), RUNNERS, base)


@pytest.mark.parametrize(
    ("command", "path", "role"),
    [
        ("pytest", "pkg/test_a.py", "tests"),
        ("pytest", "pkg/a_test.py", "tests"),
        ("pytest", "tests/helpers.py", "beside"),
        ("pytest", "pkg/tests/data/x.json", "beside"),
        ("pytest", "conftest.py", "steers"),
        ("pytest", "sub/pytest.ini", "steers"),
        ("pytest", "x.pth", "steers"),
        ("pytest", "pytest.py", "shadows"),
        ("pytest", "src/_pytest/config.py", "shadows"),
        ("pytest", "json.py", "shadows"),
        ("pytest", "pkg/__pycache__/a.cpython-311.pyc", "shadows"),
        ("pytest", "pytest_extra/__init__.py", "shadows"),
        ("pytest", "email/notes.md", ""),
        ("pytest", "pkg/json.py", ""),
        ("pytest", "pkg/a.py", ""),
        ("pytest", "README.md", ""),
        ("node --test", "lib/a.test.mjs", "tests"),
        ("node --test", "test/fixtures/x.txt", "beside"),
        ("node --test", "node_modules/x/index.js", "shadows"),
        ("jest", "babel.config.js", "steers"),
        ("jest", "src/__mocks__/fs.js", "beside"),
        ("jest", "src/__snapshots__/a.test.js.snap", "steers"),
        ("vitest", "vite.config.ts", "steers"),
        ("go test ./...", "pkg/a_test.go", "tests"),
        ("go test ./...", "pkg/testdata/in.txt", "beside"),
        ("go test ./...", "vendor/x/y.go", "shadows"),
        ("go test ./...", "pkg/a.go", ""),
        ("cargo test", "tests/it.rs", "tests"),
        ("cargo test", "crates/a/tests/common/mod.rs", "tests"),
        ("cargo test", "build.rs", "steers"),
        ("cargo test", ".cargo/config.toml", "shadows"),
        ("cargo test", "src/lib.rs", "inline"),
        ("ruff check", "tests/test_a.py", ""),
    ],
)
def test_a_file_of_the_judge_says_why(command: str, path: str, role: str, tmp_path: Path) -> None:
    assert judge(command, tmp_path).role_of(path) == role


def test_modules_of_the_project_itself_shadow_nothing(tmp_path: Path) -> None:
    assert judge("pytest", tmp_path, "email/__init__.py", "src/pluggy/a.py").role_of("email/new.py") == ""
    assert judge("pytest", tmp_path, "src/pluggy/a.py").role_of("src/pluggy/new.py") == ""


def test_files_that_the_command_is_made_of_judge(tmp_path: Path) -> None:
    (tmp_path / "Makefile").write_text("test:\n\tpytest -c ci.ini\n")
    (tmp_path / "ci.ini").write_text("")
    made = judge("make test", tmp_path)
    assert [made.role_of(path) for path in ("Makefile", "ci.ini")] == ["command", "command"]


@pytest.mark.parametrize(
    ("path", "name"),
    [("a.py", "a"), ("a/b.py", "a"), ("src/a/b.py", "a"), ("src/a.py", "a"), ("lib/a.so", "a"), ("x/src/a.py", "x")],
)
def test_the_top_name_of_a_module(path: str, name: str) -> None:
    assert top_module(path) == name


PYPROJECT = "[project]\nname = 'x'\nversion = '1'\n"
PACKAGE = {"name": "x", "version": "1.0.0", "scripts": {"test": "jest"}, "devDependencies": {"jest": "^30.0.0"}}
CARGO = "[package]\nname = 'x'\nversion = '0.1.0'\n"


@pytest.mark.parametrize(
    ("path", "old", "new", "alike"),
    [
        ("pyproject.toml", PYPROJECT, PYPROJECT.replace("'1'", "'2'"), True),
        ("pyproject.toml", PYPROJECT, PYPROJECT + "[tool.ruff]\nline-length = 1\n", True),
        ("pyproject.toml", None, PYPROJECT, True),
        ("pyproject.toml", PYPROJECT, PYPROJECT + "[tool.pytest.ini_options]\naddopts = '-k x'\n", False),
        ("pyproject.toml", PYPROJECT, PYPROJECT + "[project.entry-points.pytest11]\nx = 'x'\n", False),
        ("pyproject.toml", PYPROJECT, "[", False),
        ("package.json", PACKAGE, {**PACKAGE, "version": "1.0.1"}, True),
        ("package.json", PACKAGE, {**PACKAGE, "devDependencies": {"jest": "~30.1"}, "dependencies": {"a": "1"}}, True),
        ("package.json", PACKAGE, {**PACKAGE, "devDependencies": {"jest": "file:./fake"}}, False),
        ("package.json", PACKAGE, {**PACKAGE, "scripts": {"test": "true"}}, False),
        ("package.json", PACKAGE, {**PACKAGE, "jest": {"bail": 1}}, False),
        ("package.json", PACKAGE, {**PACKAGE, "overrides": {"jest": "1"}}, False),
        ("Cargo.toml", CARGO, CARGO.replace("0.1.0", "0.2.0") + "[dependencies]\na = '1'\n", True),
        ("Cargo.toml", CARGO, CARGO + "[[test]]\nname = 'a'\nharness = false\n", False),
        ("Cargo.toml", CARGO, CARGO + "[dependencies]\na = { path = 'fake' }\n", False),
        ("setup.cfg", "[metadata]\nversion = 1\n", "[metadata]\nversion = 2\n", True),
        ("setup.cfg", "[metadata]\n", "[tool:pytest]\naddopts = -k x\n", False),
        ("go.mod", "module a\nrequire x v1.0.0\n", "module a\nrequire (\n\tx v1.1.0\n\ty v1.0.0\n)\n", True),
        ("go.mod", "module a\n", "module a\nreplace x => ./fake\n", False),
        ("tox.ini", "[testenv:docs]\nx = 1\n", "[testenv:docs]\nx = 2\n", False),
        ("tox.ini", "[flake8]\nx = 1\n", "[flake8]\nx = 2\n", True),
        ("conftest.py", None, "", False),
    ],
)
def test_only_what_steers_counts(path: str, old: object, new: object, *, alike: bool) -> None:
    texts = [text if text is None or isinstance(text, str) else json.dumps(text) for text in (old, new)]
    assert steers_alike(path, *texts) is alike


@pytest.mark.parametrize(
    ("path", "old", "new", "alike"),
    [
        ("tox.ini", "[tox]\nenv_list = a\n[testenv]\nx = 1\n", "[testenv:docs]\nx = 2\n", True),
        ("setup.cfg", "[tox:tox]\nx = 1\n[tox:testenv:a]\nx = 1\n", "[tox:tox]\nx = 2\n", True),
        ("tox.ini", "[testenv]\nx = 1\n", "[testenv]\nx = 2\n[pytest]\naddopts = -k x\n", False),
        ("tox.ini", "[testenv]\nx = 1\n", "[coverage:run]\nbranch = true\n", False),
    ],
)
def test_what_only_tox_reads_does_not_steer_command_without_tox(path: str, old: str, new: str, *, alike: bool) -> None:
    assert steers_alike(path, old, new, without_tox=True) is alike


def test_all_of_tox_ini_counts_where_command_goes_through_it() -> None:
    assert not steers_alike("tox.ini", "[flake8]\nx = 1\n", "[flake8]\nx = 2\n", through_tox=True)
