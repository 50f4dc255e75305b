"""A runner that the command reaches by another program, or with options and variables of its own, still reports."""

from __future__ import annotations

import os
import shutil
import sys

import pytest

from tests.runners.world import Project, needs

TESTS = "def test_ok(): pass\ndef test_also(): pass\n"
BOTH = {"test_a.py test_ok": "passed", "test_a.py test_also": "passed"}
NODE = "const test = require('node:test'); test('one', () => {});\n"
ONE = {"a.test.js one": "passed"}
NOX = """
import nox

@nox.session(venv_backend="none")
def t(session):
    session.run("python", "-m", "pytest", "-q")
"""
STARTS = """
import os, subprocess, sys

def test_ok():
    assert "detent" not in os.environ.get("PYTEST_ADDOPTS", "")
    subprocess.run([sys.executable, "-m", "pytest", "-q", "inner"])
"""


def python(project: Project) -> None:
    project.write("test_a.py", TESTS)


def test_through_make(project: Project) -> None:
    needs("make")
    python(project)
    project.write("Makefile", "test:\n\t@python -m pytest -q\n")
    assert project.run("make test").ends == BOTH


def test_make_that_takes_variables_away_is_not_disturbed(project: Project) -> None:
    needs("make")
    python(project)
    project.write("Makefile", "unexport PYTHONPATH\ntest:\n\t@python -m pytest -q\n")
    ran = project.run("make test")
    assert (ran.exit, ran.ends, ran.reported.is_believable) == (0, {}, False)


def test_through_scripts_of_npm(project: Project) -> None:
    needs("npm")
    project.write("package.json", '{"scripts": {"test": "npm run unit", "unit": "node --test"}}')
    project.write("a.test.js", NODE)
    assert project.run("npm test").ends == ONE


@pytest.mark.parametrize("option", ["", "pass_env = FOO\n"])
def test_through_tox(project: Project, option: str) -> None:
    needs("tox")
    python(project)
    run = f"skip_install = true\nallowlist_externals = *\ncommands = {sys.executable} -m pytest -q\n"
    project.write("tox.ini", f"[tox]\nenvlist = one\n[testenv:one]\n{option}{run}")
    ran = project.run("tox -q", VIRTUALENV_NO_DOWNLOAD="1")
    assert ran.ends == BOTH, ran.out + ran.err


def test_through_nox(project: Project) -> None:
    needs("nox")
    python(project)
    project.write("noxfile.py", NOX)
    assert project.run("nox").ends == BOTH


def test_through_uv_run(project: Project) -> None:
    needs("uv")
    python(project)
    ran = project.run("uv run --no-project --offline python -m pytest -q", VIRTUAL_ENV=sys.prefix)
    assert ran.ends == BOTH, ran.err


def test_two_calls_in_one_command_are_one_census(project: Project) -> None:
    python(project)
    project.write("test_b.py", "import unittest\nclass B(unittest.TestCase):\n    def test_b(self): pass\n")
    ran = project.run("python -m pytest -q test_a.py && python -m unittest -q test_b")
    assert (ran.ends, ran.runners) == ({**BOTH, "test_b.py B.test_b": "passed"}, ["pytest", "unittest"])


def test_own_options_of_pytest_are_kept(project: Project) -> None:
    python(project)
    command = "python -m pytest --junitxml=own.xml -p no:cacheprovider -p no:terminal"
    ran = project.run(command, PYTEST_ADDOPTS="-k test_ok")
    assert (ran.exit, ran.ends) == (0, {"test_a.py test_ok": "passed"})
    assert (project.root / "own.xml").is_file()


@pytest.mark.parametrize("options", ["--test-reporter=dot", "--test-reporter=dot --test-reporter-destination=own.txt"])
def test_an_own_reporter_of_node_is_kept(project: Project, options: str) -> None:
    needs("node")
    project.write("a.test.js", NODE)
    ran = project.run(f"node --test {options}")
    report = project.root / "own.txt"
    assert (ran.exit, ran.ends, report.read_text() if report.exists() else ran.out) == (0, ONE, ".\n")


def test_own_node_options_are_kept(project: Project) -> None:
    needs("node")
    project.write("own.cjs", "process.env.OWN = 'loaded';\n")
    project.write(
        "a.test.js", NODE.replace("() => {}", "() => { if (process.env.OWN !== 'loaded') throw new Error(); }")
    )
    assert project.run("node --test", NODE_OPTIONS=f"--require {project.root}/own.cjs").ends == ONE


def test_node_options_that_a_script_replaces_leave_no_report(project: Project) -> None:
    needs("node")
    project.write("a.test.js", NODE)
    ran = project.run("NODE_OPTIONS=--no-warnings node --test")
    assert (ran.exit, ran.reported.is_believable) == (0, False)


@pytest.mark.parametrize(
    ("runner", "options"),
    [
        ("jest", "--json --outputFile=own.json"),
        ("vitest", "run --reporter=json --outputFile=own.json"),
        ("ava", "--tap"),
    ],
)
def test_an_own_report_of_a_node_runner_is_kept(project: Project, runner: str, options: str) -> None:
    project.packages_of(runner)
    project.write("package.json", f'{{"type": "module", "scripts": {{"test": "{runner} {options}"}}}}')
    texts = {
        "jest": "test('one', () => {});",
        "vitest": "import { test } from 'vitest'; test('one', () => {});",
        "ava": "import test from 'ava'; test('one', t => { t.pass(); });",
    }
    project.write("a.test.js", texts[runner])
    ran = project.run("npm test --silent")
    assert (ran.exit, ran.ends) == (0, ONE), ran.err
    assert (project.root / "own.json").is_file() or ran.out.startswith("TAP version")


def test_a_hidden_sitecustomize_still_runs(project: Project) -> None:
    python(project)
    project.write("hidden/sitecustomize.py", "import os\nos.environ['HIDDEN'] = 'ran'\n")
    project.write("test_a.py", "import os\ndef test_ok(): assert os.environ['HIDDEN'] == 'ran'\n")
    ran = project.run("python -m pytest -q", PYTHONPATH=str(project.root / "hidden"))
    assert ran.ends == {"test_a.py test_ok": "passed"}


def test_what_a_test_starts_does_not_report(project: Project) -> None:
    project.write("inner/test_in.py", "def test_in(): assert False\n")
    project.write("test_a.py", STARTS)
    ran = project.run("python -m pytest -q test_a.py")
    assert (ran.ends, ran.runners) == ({"test_a.py test_ok": "passed"}, ["pytest"])


def test_no_wrapper_stands_for_a_program_that_is_not_there(project: Project) -> None:
    shell = shutil.which("sh")
    assert shell is not None
    ran = project.run("command -v go cargo", PATH=os.path.dirname(sys.executable))
    assert (ran.exit != 0, ran.out) == (True, "")
