"""Every tested runner, run for real: each way in which a test can end is reported, and the command is not disturbed."""

from __future__ import annotations

import pytest

from tests.runners.world import Project, needs

PYTEST = """
import unittest
import pytest
def test_ok(): pass
def test_bad(): assert 1 == 2
@pytest.mark.parametrize("x", [1, "a::b"])
def test_each(x): pass
@pytest.fixture
def broken(): raise ValueError("x")
def test_setup(broken): pass
@pytest.fixture
def leaves():
    yield
    raise ValueError("y")
def test_teardown(leaves): pass
@pytest.mark.skip
def test_skip(): pass
@pytest.mark.xfail
def test_xf(): assert 0
@pytest.mark.xfail
def test_xp(): pass
class TestC:
    def test_m(self): pass
class U(unittest.TestCase):
    def test_u(self): self.assertEqual(1, 1)
"""
PYTEST_ENDS = {
    "tests/test_a.py test_ok": "passed",
    "tests/test_a.py test_bad": "failed test",
    "tests/test_a.py test_each[1]": "passed",
    "tests/test_a.py test_each[a::b]": "passed",
    "tests/test_a.py test_setup": "error setup",
    "tests/test_a.py test_teardown": "error setup",
    "tests/test_a.py test_skip": "skipped",
    "tests/test_a.py test_xf": "xfailed",
    "tests/test_a.py test_xp": "xpassed",
    "tests/test_a.py TestC.test_m": "passed",
    "tests/test_a.py U.test_u": "passed",
}
UNREAD = {"tests/test_b.py": "error collection"}


@pytest.mark.parametrize("more", ["", "-n 2 -W error"])
def test_pytest_reports_every_end(project: Project, more: str) -> None:
    project.write("tests/test_a.py", PYTEST)
    project.write("tests/test_b.py", "import nothing_like_it\n")
    ran = project.run(f"python -m pytest -q --continue-on-collection-errors {more}")
    assert ran.ends == {**PYTEST_ENDS, **UNREAD}
    assert ran.reported.is_believable
    assert (ran.exit, [call.exit for call in ran.reported.census.calls]) == (1, [1])
    [bad] = [case for case in ran.reported.census.cases if case.id.name == "test_bad"]
    assert bad.why == "assert 1 == 2"


UNITTEST = """
import unittest
class A(unittest.TestCase):
    def test_ok(self): pass
    def test_bad(self): self.assertEqual(1, 2)
    def test_err(self): raise ValueError("v")
    @unittest.skip("s")
    def test_skip(self): pass
    @unittest.expectedFailure
    def test_xf(self): self.fail()
    @unittest.expectedFailure
    def test_xp(self): pass
    def test_sub(self):
        for i in range(3):
            with self.subTest(i=i): self.assertEqual(i, 0)
    def test_runs_others(self):
        class B(unittest.TestCase):
            def test_x(self): self.fail()
        with open("/dev/null", "w") as out:
            unittest.TextTestRunner(stream=out).run(unittest.defaultTestLoader.loadTestsFromTestCase(B))
class S(unittest.TestCase):
    @classmethod
    def setUpClass(cls): raise RuntimeError("no")
    def test_never(self): pass
"""


def test_unittest_reports_every_end(project: Project) -> None:
    project.write("test_a.py", UNITTEST)
    project.write("test_b.py", "import nothing_like_it\n")
    ran = project.run("python -m unittest -q")
    assert ran.ends == {
        "test_a.py A.test_ok": "passed",
        "test_a.py A.test_bad": "failed test",
        "test_a.py A.test_err": "error test",
        "test_a.py A.test_skip": "skipped",
        "test_a.py A.test_xf": "xfailed",
        "test_a.py A.test_xp": "xpassed",
        "test_a.py A.test_sub": "failed test",
        "test_a.py A.test_runs_others": "passed",
        "test_a.py S": "error setup",
        "test_b.py": "error collection",
    }
    assert (ran.exit, ran.reported.is_believable) == (1, True)


NODE = """
const test = require('node:test'); const assert = require('assert'); const { describe, it, beforeEach } = test;
test('one', () => {});
describe('d', () => {
  it('two', () => { assert.equal(1, 2); });
  it.skip('s', () => {}); it.todo('t');
  describe('e', () => { it('deep', () => {}); });
});
describe('h', () => { beforeEach(() => { throw new Error('hook'); }); it('x', () => {}); });
test('outer', async (t) => { await t.test('inner', () => {}); await t.test('bad', () => { throw new Error('q'); }); });
"""
NODE_ENDS = {
    "a.test.js one": "passed",
    "a.test.js d > two": "failed test",
    "a.test.js d > s": "skipped",
    "a.test.js d > t": "xpassed",
    "a.test.js d > e > deep": "passed",
    "a.test.js h > x": "error setup",
    "a.test.js outer": "failed test",
    "a.test.js outer > inner": "passed",
    "a.test.js outer > bad": "failed test",
}


def test_doc_tests_of_unittest_have_the_file_they_stand_in(project: Project) -> None:
    project.write("code_of.py", 'def one():\n    """\n    >>> one()\n    1\n    """\n    return 1\n')
    text = "import doctest\nimport code_of\ndef load_tests(loader, tests, ignore):\n"
    project.write("test_a.py", text + "    tests.addTests(doctest.DocTestSuite(code_of))\n    return tests\n")
    assert project.run("python -m unittest -q").ends == {"code_of.py code_of.one": "passed"}


def test_node_reports_every_end(project: Project) -> None:
    needs("node")
    project.write("a.test.js", NODE)
    project.write("b.test.js", "require('./nothing');\n")
    ran = project.run("node --test")
    assert ran.ends == {**NODE_ENDS, "b.test.js": "error collection"}
    assert (ran.exit, ran.reported.is_believable) == (1, True)


def test_one_file_of_node_reports_without_the_runner(project: Project) -> None:
    needs("node")
    project.write("a.test.js", NODE)
    ran = project.run("node a.test.js")
    assert (ran.ends, ran.exit) == (NODE_ENDS, 1)


JEST = """
test('one', () => {});
describe('d', () => {
  test('two', () => { expect(1).toBe(2); });
  test.skip('s', () => {});
  test.each([1, 2])('e %i', () => {});
});
"""


def test_jest_reports_every_end(project: Project) -> None:
    project.packages_of("jest")
    project.write("package.json", '{"scripts": {"test": "jest"}}')
    project.write("a.test.js", JEST)
    project.write("b.test.js", "require('./nothing');\n")
    ran = project.run("npm test")
    assert ran.ends == {
        "a.test.js one": "passed",
        "a.test.js d > two": "failed test",
        "a.test.js d > s": "skipped",
        "a.test.js d > e 1": "passed",
        "a.test.js d > e 2": "passed",
        "b.test.js": "error collection",
    }
    assert (ran.exit, ran.reported.is_believable) == (1, True)


VITEST = """
import { test, expect, describe } from 'vitest';
test('one', () => {});
describe('d', () => { test('two', () => { expect(1).toBe(2); }); test.skip('s', () => {}); });
"""


def test_vitest_reports_beside_the_reporters_of_its_configuration(project: Project) -> None:
    project.packages_of("vitest")
    project.write("package.json", '{"type": "module", "scripts": {"test": "vitest run"}}')
    project.write(
        "vitest.config.mjs",
        "export default { test: { reporters: ['default', ['junit', { outputFile: 'own.xml' }]] } };\n",
    )
    project.write("a.test.js", VITEST)
    project.write("b.test.js", "import './nothing';\n")
    ran = project.run("npm test")
    assert ran.ends == {
        "a.test.js one": "passed",
        "a.test.js d > two": "failed test",
        "a.test.js d > s": "skipped",
        "b.test.js": "error collection",
    }
    assert (ran.exit, ran.reported.is_believable) == (1, True)
    assert (project.root / "own.xml").is_file()


AVA = """
import test from 'ava';
test('one', t => { t.is(1, 1); });
test('two', t => { t.is(1, 2); });
test.skip('s', t => { t.pass(); });
test.failing('f', t => { t.fail(); });
"""


def test_ava_reports_every_end(project: Project) -> None:
    project.packages_of("ava")
    project.write("package.json", '{"type": "module", "scripts": {"test": "ava"}}')
    project.write("test.js", AVA)
    project.write("other.test.js", "import './nothing.js';\n")
    ran = project.run("npm test")
    assert ran.ends == {
        "test.js one": "passed",
        "test.js two": "failed test",
        "test.js s": "skipped",
        "test.js f": "xfailed",
        "other.test.js": "error collection",
    }
    assert (ran.exit, ran.reported.is_believable) == (1, True)


GO = """package demo

import "testing"

func TestAdd(t *testing.T) {
	if Add(1, 2) != 3 {
		t.Fatal("x")
	}
}
func TestBad(t *testing.T)  { t.Run("case 1", func(t *testing.T) { t.Fatal("no good") }) }
func TestSkip(t *testing.T) { t.Skip("later") }
"""


def go_project(project: Project) -> None:
    needs("go")
    project.write("go.mod", "module example.com/demo\n\ngo 1.19\n")
    project.write("a.go", "package demo\n\nfunc Add(a, b int) int { return a + b }\n")
    project.write("a_test.go", GO)


def test_go_reports_every_end(project: Project) -> None:
    go_project(project)
    project.write("sub/b.go", "package sub\n")
    project.write("sub/b_test.go", 'package sub\n\nimport "testing"\n\nfunc TestX(t *testing.T) { Nothing() }\n')
    ran = project.run("go test ./...")
    assert ran.ends == {
        "a_test.go TestAdd": "passed",
        "a_test.go TestBad": "failed test",
        "a_test.go TestBad[case_1]": "failed test",
        "a_test.go TestSkip": "skipped",
        "sub/b_test.go": "error collection",
    }
    assert ran.reported.is_believable
    assert ran.exit == 1 or "build failed" in ran.out  # older go ends with 2 then
    assert ("no good" in ran.out, '"Action"' in ran.out) == (True, False)


def test_other_commands_of_go_are_left_alone(project: Project) -> None:
    go_project(project)
    ran = project.run("go list . && go vet . && go test -run TestAdd -v .")
    assert ran.out.splitlines()[:2] == ["example.com/demo", "=== RUN   TestAdd"]
    assert (ran.exit, ran.ends) == (0, {"a_test.go TestAdd": "passed"})
    assert '"Action":"pass"' in project.run("go test -json -run TestAdd .").out


RUST = """pub fn add(a: i32, b: i32) -> i32 { a + b }
#[cfg(test)]
mod tests {
    use super::*;
    #[test] fn works() { assert_eq!(add(1, 2), 3); }
    #[test] fn bad() { assert_eq!(add(1, 2), 4); }
    #[test] #[ignore = "slow one"] fn ign() {}
    #[test] #[should_panic] fn sp() { panic!() }
}
"""


def cargo_project(project: Project) -> None:
    needs("cargo")
    project.write("Cargo.toml", '[package]\nname = "demo"\nversion = "0.1.0"\nedition = "2021"\n')
    project.write("src/lib.rs", RUST)
    project.write("src/main.rs", 'fn main() { println!("ran"); }\n')
    project.write("tests/it.rs", "#[test]\nfn outside() { assert_eq!(demo::add(1, 1), 2); }\n")


def test_cargo_reports_every_end(project: Project) -> None:
    cargo_project(project)
    ran = project.run("cargo test --offline --no-fail-fast -q")
    assert ran.ends == {
        "src/lib.rs tests::works": "passed",
        "src/lib.rs tests::bad": "failed test",
        "src/lib.rs tests::ign": "skipped",
        "src/lib.rs tests::sp": "passed",
        "tests/it.rs outside": "passed",
    }
    assert (ran.exit, ran.reported.is_believable) == (101, True)


def test_cargo_test_file_named_like_its_crate_is_reported_as_itself(project: Project) -> None:
    cargo_project(project)
    project.write("tests/demo.rs", "#[test]\nfn works() { assert_eq!(demo::add(1, 1), 2); }\n")
    ran = project.run("cargo test --offline --no-fail-fast -q")
    assert ran.ends["tests/demo.rs works"] == "passed"
    assert ran.ends["src/lib.rs tests::works"] == "passed"


def test_cargo_reports_what_did_not_compile(project: Project) -> None:
    cargo_project(project)
    project.write("tests/it.rs", "#[test]\nfn outside() { nothing(); }\n")
    ran = project.run("cargo test --offline")
    assert ran.ends == {"src/lib.rs": "error collection", "tests/it.rs": "error collection"}


def test_cargo_run_and_a_runner_of_the_project_are_kept(project: Project) -> None:
    cargo_project(project)
    ran = project.run("cargo run --offline -q")
    assert (ran.out, ran.runners) == ("ran\n", [])
    project.write("runner.sh", '#!/bin/sh\necho own runner\nexec "$@"\n')
    (project.root / "runner.sh").chmod(0o755)
    project.write(
        ".cargo/config.toml",
        "".join(
            f'[target.{target}]\nrunner = "{project.root}/runner.sh"\n'
            for target in ("x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu", "aarch64-apple-darwin")
        ),
    )
    ran = project.run("cargo test --offline --test it")
    assert "own runner" in ran.out
    assert ran.ends == {"tests/it.rs outside": "passed"}


LEAVES = {
    "python": """
import os, unittest
class A(unittest.TestCase):
    def test_a(self): pass
    def test_b(self): os._exit(0)
""",
    "node": "const test = require('node:test');\ntest('a', () => {});\ntest('b', () => { process.exit(0); });\n",
    "cargo": "#[test]\nfn a() { std::process::exit(0); }\n",
    "go": """package demo

import (
	"os"
	"testing"
)

func TestMain(m *testing.M) { os.Exit(0) }
func TestA(t *testing.T)    {}
""",
}


@pytest.mark.parametrize("runner", ["pytest", "unittest"])
def test_a_python_that_leaves_early_has_no_end(project: Project, runner: str) -> None:
    project.write("test_a.py", LEAVES["python"])
    ran = project.run(f"python -m {runner} -q test_a.py")
    assert (ran.exit, ran.reported.is_believable) == (0, False)


def test_a_node_that_leaves_early_has_no_end(project: Project) -> None:
    needs("node")
    project.write("a.test.js", LEAVES["node"])
    ran = project.run("node a.test.js")
    assert (ran.exit, ran.reported.is_believable) == (0, False)


def test_a_binary_of_cargo_that_leaves_early_has_no_end(project: Project) -> None:
    cargo_project(project)
    project.write("tests/it.rs", LEAVES["cargo"])
    ran = project.run("cargo test --offline --test it")
    assert (ran.exit, ran.ends, ran.reported.is_believable) == (0, {"tests/it.rs a": "gone"}, False)


def test_a_main_of_go_that_leaves_early_runs_no_test(project: Project) -> None:
    go_project(project)
    project.write("a_test.go", LEAVES["go"])
    ran = project.run("go test .")
    assert (ran.exit, ran.ends) == (0, {})  # the comparison with the baseline finds every test gone
