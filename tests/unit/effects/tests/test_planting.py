"""Tests of planting: what is written and where, what is left with which reason, and functions that raise."""

from __future__ import annotations

import ast
import os
from pathlib import Path
from random import Random

import pytest

from detent.effects.tests.kits.choose import kit_of
from detent.effects.tests.kits.values import CANARY, Unparsable, insert
from detent.effects.tests.planting import make_raise, plant, plant_canary
from detent.words.effects import planting as say
from detent.words.message import code_of

MAIN = "if __name__ == '__main__':\n    unittest.main()\n"
TEST = "def test_one():\n    assert f(1) == 2\n"


def lay(root: Path, **files: str) -> str:
    for name, text in files.items():
        path = root / name.replace("__", ".")
        path.write_text(text, encoding="utf-8")
    return str(root)


def test_the_same_chance_plants_the_same(tmp_path: Path) -> None:
    root = lay(tmp_path, a__py=TEST)
    plant(root, {("a.py", "test_one"): True}, Random(3))
    first = (tmp_path / "a.py").read_text()
    lay(tmp_path, a__py=TEST)
    plant(root, {("a.py", "test_one"): True}, Random(3))
    assert (tmp_path / "a.py").read_text() == first
    assert first.startswith(TEST)
    ast.parse(first)


def test_a_sampled_test_gets_one_twin_and_one_expectation_changed(tmp_path: Path) -> None:
    made = plant(lay(tmp_path, a__py=TEST), {("a.py", "test_one"): False}, Random(3))
    assert [len(made.of_kind(kind)) for kind in ("twin", "broken", "canary")] == [1, 2, 1]


def test_the_mode_of_a_file_is_kept(tmp_path: Path) -> None:
    root = lay(tmp_path, a__py=TEST)
    os.chmod(tmp_path / "a.py", 0o755)
    plant_canary(root, ["a.py"], Random(1))
    assert (tmp_path / "a.py").stat().st_mode & 0o777 == 0o755


@pytest.mark.parametrize(
    ("name", "text", "test", "why"),
    [
        ("a.py", "def test_a(snapshot):\n    assert snapshot == 1\n", "test_a", say.is_snapshot()),
        (
            "a.py",
            "import pytest\n@pytest.mark.xfail\ndef test_a():\n    assert 0\n",
            "test_a",
            say.is_expected_to_fail(),
        ),
        ("a.py", "def test_a():\n    if x:\n        assert f() == 1\n", "test_a", say.no_expectation()),
        ("a.py", "def test_a():\n    assert f()\n", "test_b", say.not_found()),
        ("a.rb", "it 'x' do end", "x", say.no_kit("a.rb")),
        ("a.test.js", "test(`${x}`, () => { assert.equal(1, 1) })", "`${x}`", say.not_found()),
        ("a.test.js", "test('a', () => { expect(x).toMatchSnapshot() })", "a", say.is_snapshot()),
        ("a.test.js", "test.failing('a', t => { t.is(1, 2) })", "a", say.not_found()),
        ("a.test.js", "test('a', () => { if (x) { assert.equal(1, 1) } })", "a", say.no_expectation()),
        ("a_test.go", "package p\nfunc TestA(t *testing.T) { f() }\n", "TestA", say.no_expectation()),
        (
            "a_test.go",
            "package p\nfunc TestA(t *testing.T) { if x { if y { t.Fail() } } }\n",
            "TestB",
            say.not_found(),
        ),
        ("lib.rs", "#[test] fn a() { if x { assert!(y); } }", "a", say.no_expectation()),
        ("lib.rs", "#[test] fn a() { insta::assert_snapshot!(x); }", "a", say.is_snapshot()),
    ],
)
def test_what_can_not_be_planted_says_so(tmp_path: Path, name: str, text: str, test: str, why: str) -> None:
    (tmp_path / name).write_text(text)
    left = plant(str(tmp_path), {(name, test): True}, Random(1)).left
    assert why in [refused.why for refused in left]


@pytest.mark.parametrize(
    ("name", "text"), [("a.py", "def test_a(:\n"), ("a.py", "\0"), ("a.test.js", "test('a', () => {")]
)
def test_a_file_that_can_not_be_parsed_is_named(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    left = plant(str(tmp_path), {(name, "a"): True}, Random(1)).left
    assert "planting.unparsable" in [code_of(refused.why) for refused in left]


def test_a_file_that_can_not_be_parsed_keeps_every_byte(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_bytes(b"def test_a(:\n\xff")
    assert plant(str(tmp_path), {("a.py", "test_a"): True}, Random(1)).planted == ()
    assert (tmp_path / "a.py").read_bytes() == b"def test_a(:\n\xff"


def test_canary_lives_elsewhere_where_the_wanted_files_have_no_place(tmp_path: Path) -> None:
    root = lay(tmp_path, a__rb="", b__py=TEST)
    made = plant(root, {("a.rb", "x"): True}, Random(1), ["b.py"])
    assert [(planted.file, planted.sprout.kind) for planted in made.planted] == [("b.py", CANARY)]


def test_a_canary_stands_before_the_call_of_main(tmp_path: Path) -> None:
    plant_canary(lay(tmp_path, a__py=TEST + MAIN), ["a.py"], Random(1))
    planted = (tmp_path / "a.py").read_text()
    assert planted.index("raise AssertionError") < planted.index("__main__")


def test_a_canary_among_methods_is_a_method(tmp_path: Path) -> None:
    text = "import unittest\nclass A(unittest.TestCase):\n    def test_a(self): pass\n\nX = 1\n"
    made = plant_canary(lay(tmp_path, a__py=text), ["a.py"], Random(1))
    name = made.planted[0].sprout.name
    module = ast.parse((tmp_path / "a.py").read_text())
    [group] = [node for node in module.body if isinstance(node, ast.ClassDef)]
    methods = [node.name for node in group.body if isinstance(node, ast.FunctionDef)]
    assert [f"A.{method}" for method in methods] == ["A.test_a", name]


def test_a_canary_stands_beside_a_wanted_test(tmp_path: Path) -> None:
    text = "class TestA:\n    def test_a(self): assert f() == 1\nclass TestB:\n    def test_b(self): assert f() == 1\n"
    made = plant(lay(tmp_path, a__py=text), {("a.py", "TestA.test_a"): False}, Random(1))
    assert [canary.sprout.name.partition(".")[0] for canary in made.of_kind(CANARY)] == ["TestA"]


@pytest.mark.parametrize("path", ["../a.py", "link.py", "folder/a.py", "missing.py", "/etc/hosts.py"])
def test_nothing_outside_the_checkout_is_written(tmp_path: Path, path: str) -> None:
    root, other = tmp_path / "root", tmp_path / "other"
    root.mkdir()
    other.mkdir()
    for folder in (tmp_path, other):
        (folder / "a.py").write_text(TEST)
    (root / "link.py").symlink_to(other / "a.py")
    (root / "folder").symlink_to(other)
    reasons = [
        *(refused.why for refused in plant_canary(str(root), [path], Random(1)).left),
        *(refused.why for refused in plant(str(root), {(path, "test_one"): True}, Random(1)).left),
        *(refused.why for refused in make_raise(str(root), [path]).left),
    ]
    assert reasons == [say.outside(path)] * 3
    assert (tmp_path / "a.py").read_text() == (other / "a.py").read_text() == TEST


CODE = {
    "a.py": """
def one():
    \"\"\"Text.\"\"\"
    return 1
def two(): return 2
class C:
    @property
    def three(self):
        return 777
""",
    "a.js": """
function one() { return 1 }
const two = () => 2;
class C { three() { return 777 } }
export const four = async function () {};
""",
    "a.ts": """
export function one(a: number): number { return 1 }
export const two = (): number => 2;
class C { three = () => { return 777 } }
""",
    "a.go": "package p\n\nfunc one() int { return 1 }\n\nfunc (c *C) three() int {\n\treturn 777\n}\n",
    "lib.rs": """
pub fn one() -> i32 { 1 }
impl C { fn three(&self) -> i32 { 777 } }
#[cfg(test)] mod tests { fn helper() {} #[test] fn t() {} }
""",
}


@pytest.mark.parametrize("name", list(CODE))
def test_only_functions_that_changed_raise(tmp_path: Path, name: str) -> None:
    root, base = tmp_path / "root", tmp_path / "base"
    for folder in (root, base):
        folder.mkdir()
        (folder / name).write_text(CODE[name])
    assert make_raise(str(root), [name], str(base)).functions == ()
    assert (root / name).read_text() == CODE[name]
    (base / name).write_text(CODE[name].replace("777", "778"))
    [(_file, changed)] = make_raise(str(root), [name], str(base)).functions
    assert changed.endswith("three")
    (root / name).write_text(CODE[name])
    every = make_raise(str(root), [name]).functions
    assert {"one", changed} <= {function for _file, function in every}
    kit = kit_of(name)
    assert kit is not None
    names = [function.name for function in kit.functions((root / name).read_text())]
    assert names == [function for _file, function in every]


def test_code_outside_of_functions_is_left(tmp_path: Path) -> None:
    left = make_raise(lay(tmp_path, a__py="X = 1\n", b__md="# b"), ["a.py", "b.md"]).left
    assert [refused.why for refused in left[:2]] == [say.no_function("a.py"), say.no_kit("b.md")]


DEEP = "(" * 5000 + "1" + ")" * 5000


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.py", f"x = {DEEP}"),
        ("a.js", f"function f() {{ x = {DEEP} }}"),
        ("a.tsx", f"function f() {{ x = {DEEP} }}"),
        ("a.go", f"package p\nfunc f() {{ x := {DEEP} }}"),
        ("a.rs", f"fn f() {{ {DEEP}; }}"),
    ],
)
def test_what_is_nested_beyond_reason_is_no_crash(name: str, text: str) -> None:
    kit = kit_of(name)
    assert kit is not None
    with pytest.raises(Unparsable):
        kit.functions(text)


def test_insertions_count_bytes() -> None:
    assert insert("é|x", [(2, "A"), (3, "B")]) == "éA|Bx"
