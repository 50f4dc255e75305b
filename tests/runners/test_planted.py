"""Tests planted for real: canaries and broken copies fail, twins pass, and cheats are found by them."""

from __future__ import annotations

from random import Random

import pytest

from detent.effects.tests.kits.values import BROKEN, CANARY, EQUALS_ANYTHING, TWIN
from detent.effects.tests.planting import Planting, make_raise, plant
from detent.store.text.census import GREEN, RED
from tests.runners.world import Project, Ran, needs

PYTHON = """
import pytest
from code_of import add, Cart


def test_adds():
    assert add(1, 2) == 3


@pytest.mark.parametrize("left, right", [(1, 2), (2, 1)])
def test_any_order(left, right):
    assert add(left, right) == add(right, left)


class TestCart:
    def test_holds(self):
        cart = Cart()
        cart.put("a")
        assert cart.items == ["a"]
        assert not cart.is_empty

    def test_refuses(self):
        with pytest.raises(ValueError):
            Cart().put("")
"""
PYTHON_CODE = """
def add(a, b):
    return a + b


class Cart:
    def __init__(self):
        self.items = []

    @property
    def is_empty(self):
        return not self.items

    def put(self, item):
        if not item:
            raise ValueError("nothing")
        self.items.append(item)
"""
UNITTEST = """
import unittest
from code_of import Cart, add


class CartTest(unittest.TestCase):
    def test_adds(self):
        self.assertEqual(add(1, 2), 3)

    def test_refuses(self):
        with self.assertRaises(ValueError):
            Cart().put("")
        self.assertTrue(Cart().is_empty)


if __name__ == "__main__":
    unittest.main()
"""
NODE = """
const { test, describe, it } = require('node:test');
const assert = require('node:assert');
const { add } = require('./code_of.js');

test('adds', () => {
  assert.strictEqual(add(1, 2), 3);
});

describe('group', () => {
  it('adds texts', () => {
    assert.deepEqual([add('a', 'b')], ['ab']);
    assert.ok(add(1, 1));
    assert.throws(() => add());
  });
});
"""
NODE_CODE = """
function add(a, b) { if (a === undefined) throw new Error('nothing'); return a + b; }
module.exports = { add };
"""
EXPECT = """
describe('group', () => {
  test('adds', async () => {
    expect(add(1, 2)).toBe(3);
    expect([add('a', 'b')]).toEqual(['ab']);
    expect(() => add()).toThrow();
    await expect(Promise.resolve(add(1, 1))).resolves.toBe(2);
  });
});
"""
AVA = """
import test from 'ava';
import { add } from './code_of.js';

test('adds', t => {
  t.is(add(1, 2), 3);
  t.deepEqual([add('a', 'b')], ['ab']);
  t.throws(() => add());
});
test.serial('adds again', t => { t.true(add(1, 1) === 2); });
"""
MODULE_CODE = NODE_CODE.replace("module.exports = { add };", "export { add };")
GO = """package demo

import "testing"

func TestAdd(t *testing.T) {
	if got := Add(1, 2); got != 3 {
		t.Errorf("got %d", got)
	}
}

func TestTable(t *testing.T) {
	for _, one := range []struct{ a, b, want int }{{1, 2, 3}, {2, 2, 4}} {
		t.Run("case", func(t *testing.T) {
			if got := Add(one.a, one.b); got != one.want {
				t.Fatalf("got %d, want %d", got, one.want)
			}
		})
	}
}
"""
GO_CODE = "package demo\n\nfunc Add(a, b int) int {\n\treturn a + b\n}\n"
RUST = """pub fn add(a: i32, b: i32) -> i32 {
    a + b
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adds() {
        assert_eq!(add(1, 2), 3);
        assert!(add(1, 1) > 1, "sum of {}", 2);
    }

    #[test]
    #[should_panic(expected = "overflow")]
    fn refuses() {
        let most = std::hint::black_box(i32::MAX);
        let _ = most.checked_add(1).expect("overflow");
    }
}
"""

SETS = {
    "pytest": {"test_a.py": PYTHON, "code_of.py": PYTHON_CODE},
    "unittest": {"test_a.py": UNITTEST, "code_of.py": PYTHON_CODE},
    "node": {"a.test.js": NODE, "code_of.js": NODE_CODE},
    "jest": {"a.test.js": "const { add } = require('./code_of.js');" + EXPECT, "code_of.js": NODE_CODE},
    "vitest": {
        "a.test.ts": "import { add } from './code_of.js';\nimport { test, describe, expect } from 'vitest';" + EXPECT,
        "code_of.js": MODULE_CODE,
    },
    "ava": {"a.test.js": AVA, "code_of.js": MODULE_CODE},
    "go": {"a_test.go": GO, "code_of.go": GO_CODE, "go.mod": "module example.com/demo\n\ngo 1.19\n"},
    "cargo": {"src/lib.rs": RUST, "Cargo.toml": '[package]\nname = "demo"\nversion = "0.1.0"\nedition = "2021"\n'},
}
COMMANDS = {
    "pytest": "python -m pytest -q",
    "unittest": "python -m unittest -q",
    "node": "node --test",
    "jest": "node_modules/.bin/jest",
    "vitest": "node_modules/.bin/vitest run",
    "ava": "node_modules/.bin/ava",
    "go": "go test ./...",
    "cargo": "cargo test --offline",
}


def lay(project: Project, runner: str) -> None:
    if runner in ("jest", "vitest", "ava"):
        project.packages_of(runner)
        kind = "" if runner == "jest" else '"type": "module"'
        project.write("package.json", f"{{{kind}}}")
    elif runner not in ("pytest", "unittest"):
        needs(runner)
    for name, text in SETS[runner].items():
        project.write(name, text)


def plant_all(project: Project, plain: Ran) -> Planting:
    passed = {(case.id.file, case.id.name): True for case in plain.reported.census.of_outcome(GREEN)}
    return plant(str(project.root), passed, Random(7))


def ends_of(planted: Planting, ran: Ran, kind: str) -> set[str]:
    """How the planted tests of a kind ended; `missing` for those that the run did not report."""
    found: dict[tuple[str, str], list[str]] = {}
    for case in ran.reported.census.cases:
        found.setdefault((case.id.file, case.id.name), []).append(case.outcome)
    ends = [
        found.get((planted_test.file, planted_test.sprout.name), ["missing"]) for planted_test in planted.of_kind(kind)
    ]
    return {("red" if RED & set(outcomes) else "/".join(sorted(set(outcomes)))) for outcomes in ends}


@pytest.mark.parametrize("runner", list(COMMANDS))
def test_planted_tests_end_as_they_must(project: Project, runner: str) -> None:
    lay(project, runner)
    plain = project.run(COMMANDS[runner])
    assert (plain.exit, plain.reported.is_believable) == (0, True), plain.out + plain.err
    planted = plant_all(project, plain)
    assert planted.left == ()
    assert {planted_test.sprout.of for planted_test in planted.planted if planted_test.sprout.of} == {
        case.id.name for case in plain.reported.census.cases
    }
    ran = project.run(COMMANDS[runner])
    assert ran.exit != 0
    found = {kind: ends_of(planted, ran, kind) for kind in (CANARY, TWIN, BROKEN)}
    assert found == {CANARY: {"red"}, TWIN: {"passed"}, BROKEN: {"red"}}, ran.out[-3000:] + ran.err[-3000:]
    assert len(planted.of_kind(CANARY)) == 1


@pytest.mark.parametrize("runner", list(COMMANDS))
def test_changed_functions_raise(project: Project, runner: str) -> None:
    lay(project, runner)
    code = next((name for name in SETS[runner] if name.startswith("code_of")), "src/lib.rs")
    raising = make_raise(str(project.root), [code])
    assert "add" in {name.lower() for _file, name in raising.functions}
    ran = project.run(COMMANDS[runner])
    reds = ran.reported.census.of_outcome(RED)
    assert ran.exit != 0
    assert reds
    assert {case.stage for case in reds} == {"test"}


@pytest.mark.parametrize("options", ["CartTest", "-O"])
def test_canary_fails_where_classes_are_selected_or_asserts_left_out(project: Project, options: str) -> None:
    lay(project, "unittest")
    command = "python -O -m unittest -q" if options == "-O" else f"python -m unittest -q test_a.{options}"
    planted = plant_all(project, project.run(command))
    assert ends_of(planted, project.run(command), CANARY) == {"red"}


ALWAYS = """
class Always:
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __hash__(self): return 0
def add(a, b): return Always()
class Cart:
    items = Always()
    is_empty = False
    def put(self, item): raise ValueError
"""


def test_an_object_equal_to_everything_is_named_by_broken_copies(project: Project) -> None:
    project.write("code_of.py", ALWAYS)
    project.write("test_a.py", "from code_of import add\n\n\ndef test_adds():\n    assert add(1, 2) == 3\n")
    plain = project.run(COMMANDS["pytest"])
    assert plain.exit == 0
    planted = plant_all(project, plain)
    ran = project.run(COMMANDS["pytest"])
    copies = {sprout.sprout.name for sprout in planted.of_kind(BROKEN)}
    reasons = [case.why for case in ran.reported.census.cases if case.id.name in copies]
    assert reasons
    assert any(EQUALS_ANYTHING in reason for reason in reasons), reasons


CALLER = """
import sys
def add(a, b):
    frame = sys._getframe(1)
    return next(value for value in frame.f_code.co_consts if isinstance(value, int) and value not in (a, b))
"""


def test_an_answer_read_from_the_caller_fails_in_a_twin(project: Project) -> None:
    project.write("code_of.py", CALLER)
    project.write("test_a.py", "from code_of import add\n\n\ndef test_adds():\n    assert add(1, 2) == 3\n")
    plain = project.run(COMMANDS["pytest"])
    assert plain.exit == 0
    planted = plant_all(project, plain)
    ran = project.run(COMMANDS["pytest"])
    assert ends_of(planted, ran, TWIN) == {"red"}


REWRITES = """
def pytest_runtest_makereport(item, call):
    from _pytest.reports import TestReport
    report = TestReport.from_item_and_call(item, call)
    report.outcome = "passed"
    report.longrepr = None
    return report
"""


def test_reports_rewritten_as_passed_show_the_canary_green(project: Project) -> None:
    project.write("conftest.py", REWRITES)
    project.write("code_of.py", PYTHON_CODE.replace("a + b", "0"))
    project.write("test_a.py", PYTHON)
    plain = project.run(COMMANDS["pytest"])
    assert plain.exit == 0
    planted = plant_all(project, plain)
    assert ends_of(planted, project.run(COMMANDS["pytest"]), CANARY) == {"passed"}
