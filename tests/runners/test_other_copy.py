"""Whether a command tests the code of its checkout: all of that is made to raise on the baseline, and who notices."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from detent.runner.make.begin import NewTask
from detent.runner.make.create import create
from detent.runner.step.look import current_tree
from detent.runner.step.proving.baseline import NO, UNTRIED, YES, Known
from detent.runner.step.proving.counted import runners_of
from detent.runner.step.proving.evidence import known_of
from tests.conftest import MakeRepo, trust
from tests.runners.world import PACKAGES, needs

PYTEST = f"{sys.executable} -m pytest -q -p no:cacheprovider"
UNITTEST = f"{sys.executable} -m unittest -q"
CODE = "def double(number):\n    return 2 * number\n"
TEST = "from app import double\n\n\ndef test_double():\n    assert double(2) == 4\n"
CASE = (
    "import unittest\n\nfrom app import double\n\n\n"
    "class Doubles(unittest.TestCase):\n    def test_double(self):\n        self.assertEqual(double(2), 4)\n"
)
SCRIPT = "exports.double = (number) => 2 * number;\n"
NODE_TEST = (
    "const test = require('node:test');\nconst assert = require('node:assert');\n"
    "const { double } = require('PLACE');\n\ntest('doubles', () => { assert.strictEqual(double(2), 4); });\n"
)
JEST_TEST = "const { double } = require('PLACE');\n\ntest('doubles', () => { expect(double(2)).toBe(4); });\n"
VITEST_TEST = (
    "import { expect, test } from 'vitest';\nimport { double } from 'PLACE';\n\n"
    "test('doubles', () => { expect(double(2)).toBe(4); });\n"
)
COPY = '[workspace]\nsetup = ["mkdir -p made && cp {name} made/"]\nkey = ["lock.txt"]\n'
FIRST = "import sys\n\nsys.path.insert(0, 'made')\n"


def known_in(path: Path, command: str) -> tuple[Known, list[str]]:
    """What is known of a command on the only commit of a repository, and the runs that were made to know it."""
    task = create(NewTask(title="x", repo=str(path), checks=(command,)))
    with task.held():
        current_tree(task)
    runs: list[str] = []
    return known_of(task, command, "", runners_of(task), lambda progress: runs.append(progress.line)), runs


@pytest.fixture(autouse=True)
def own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def python_project(repo: MakeRepo, *, copied: bool) -> Path:
    files = {"app.py": CODE, "tests/test_app.py": TEST, "conftest.py": FIRST if copied else "", "lock.txt": "1\n"}
    path = repo("repo", {**files, "detent.toml": COPY.format(name="app.py") if copied else ""})
    trust(path)
    return path


def test_pytest_on_the_checkout_notices_its_code(repo: MakeRepo) -> None:
    known, runs = known_in(python_project(repo, copied=False), PYTEST)
    assert (known.noticed, known.unavailable, known.why) == (YES, (), "")
    assert [run.removeprefix(PYTEST) for run in runs] == [
        " (on the first commit)",
        " (on the first commit, with its code made to raise)",
        " (on the first commit, with planted tests)",
    ]


def test_pytest_on_a_copy_made_by_set_up_tests_another(repo: MakeRepo) -> None:
    known, runs = known_in(python_project(repo, copied=True), PYTEST)
    assert known.noticed == NO
    assert known.census is not None
    assert len(runs) == 2  # nothing is planted where the best word is exit code only


def test_unittest_on_a_copy_made_by_set_up_tests_another(repo: MakeRepo) -> None:
    files = {"app.py": CODE, "test_app.py": FIRST + CASE, "lock.txt": "1\n"}
    path = repo("repo", {**files, "detent.toml": COPY.format(name="app.py")})
    trust(path)
    assert known_in(path, UNITTEST)[0].noticed == NO
    here = repo("here", {"app.py": CODE, "test_app.py": CASE})
    assert known_in(here, UNITTEST)[0].noticed == YES


def test_tests_that_import_no_code_are_accused_of_nothing(repo: MakeRepo) -> None:
    files = {"scripts/release.py": CODE, "main.c": "int main(void) { return 0; }\n", "conftest.py": ""}
    path = repo("repo", {**files, "tests/test_c.py": "import os\n\n\ndef test_it():\n    assert os.sep\n"})
    known, runs = known_in(path, PYTEST)
    assert known.noticed == UNTRIED
    assert len(runs) == 2


def test_code_without_tests_beside_code_with_tests_accuses_nothing(repo: MakeRepo) -> None:
    many = {f"pkg/m{number}.py": CODE for number in range(20)}
    files = {**many, "pkg/__init__.py": "", "pkg/tests/__init__.py": "", "conftest.py": ""}
    path = repo("repo", {**files, "pkg/tests/test_m3.py": TEST.replace("from app", "from ..m3")})
    assert known_in(path, PYTEST)[0].noticed == YES


@pytest.mark.parametrize("runner", ["node:test", "jest", "vitest"])
@pytest.mark.parametrize("copied", [False, True])
def test_script_tests_notice_the_code_they_import(repo: MakeRepo, runner: str, *, copied: bool) -> None:
    needs("node") if runner == "node:test" else needs(runner)
    test = {"node:test": NODE_TEST, "jest": JEST_TEST, "vitest": VITEST_TEST}[runner]
    place = "../made/app.js" if copied else "../app.js"
    files = {"test/app.test.js": test.replace("PLACE", place), "lock.txt": "1\n", ".gitignore": "node_modules\n"}
    code = SCRIPT if runner != "vitest" else "export const double = (number) => 2 * number;\n"
    module = ', "type": "module"' if runner == "vitest" else ""
    settings = COPY.format(name="app.js") if copied else ""
    files |= {"app.js": code, "package.json": f'{{"name": "doubles"{module}}}\n'}
    if runner != "node:test":
        settings = (settings or "[workspace]\n") + 'carry = ["node_modules"]\n'
    path = repo("repo", {**files, "detent.toml": settings})
    trust(path)
    if runner != "node:test":
        shutil.copytree(PACKAGES / runner / "node_modules", path / "node_modules", symlinks=True)
    command = {
        "node:test": "node --test test/app.test.js",
        "jest": "node node_modules/jest/bin/jest.js --ci",
        "vitest": "node node_modules/vitest/vitest.mjs run",
    }[runner]
    known, _runs = known_in(path, command)
    assert (known.noticed, known.why) == (NO if copied else YES, "")


@pytest.mark.parametrize(("program", "command"), [("go", "go test ./..."), ("cargo", "cargo test --offline -q")])
def test_compilers_take_the_code_from_beside_the_tests(repo: MakeRepo, program: str, command: str) -> None:
    needs(program)
    go = {
        "go.mod": "module example.com/app\n\ngo 1.18\n",
        "app.go": "package app\n\nfunc Double(n int) int { return 2 * n }\n",
        "app_test.go": 'package app\n\nimport "testing"\n\n'
        'func TestDouble(t *testing.T) {\n\tif Double(2) != 4 {\n\t\tt.Error("no")\n\t}\n}\n',
    }
    rust = {
        "Cargo.toml": '[package]\nname = "app"\nversion = "0.1.0"\nedition = "2021"\n',
        "src/lib.rs": "pub fn double(n: i32) -> i32 { 2 * n }\n\n"
        "#[cfg(test)]\nmod tests {\n    #[test]\n    fn doubles() { assert_eq!(super::double(2), 4); }\n}\n",
    }
    known, runs = known_in(repo("repo", go if program == "go" else rust), command)
    assert (known.noticed, known.why) == (UNTRIED, "")
    assert known.census is not None
    assert len(runs) == 2
