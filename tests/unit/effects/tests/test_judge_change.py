"""Tests of comparing the judges of two trees: test by test, what lies outside, moves, and what can't be read."""

from __future__ import annotations

from pathlib import Path

import pytest

from detent.effects.tests.judge_change import JudgeChange, compare_judges
from detent.effects.tests.judge_files import Judge, judge_of
from detent.effects.tests.laying import lay
from detent.effects.tests.recognise import recognise
from detent.effects.tests.runners import load_runners
from detent.effects.tests.tree_files import files_of
from detent.errors import RefusedError
from detent.words.effects import planting as say

RUNNERS = load_runners({})
EVERY = Judge(
    tuple(RUNNERS.by_name[name] for name in ("pytest", "jest", "go test", "cargo test")),
    frozenset(),
    frozenset(),
    through_tox=False,
)


def tree(folder: Path, **files: str) -> Path:
    folder.mkdir()
    for name, text in files.items():
        path = folder / name.replace("__", ".").replace("_s_", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def change(tmp_path: Path, name: str, old: str | None, new: str | None) -> JudgeChange:
    for folder, text in (("base", old), ("now", new)):
        (tmp_path / folder / name).parent.mkdir(parents=True, exist_ok=True)
        if text is not None:
            (tmp_path / folder / name).write_text(text, encoding="utf-8")
    return compare_judges(files_of(str(tmp_path / "base")), files_of(str(tmp_path / "now")), EVERY)


def parts(found: JudgeChange) -> list[tuple[str, str, str]]:
    return [(part.kind, part.name, part.how) for part in found.parts]


PYTHON = """
import os


def helper():
    return 1


def test_one():
    assert helper() == 1


class TestC:
    def test_two(self):
        assert 1
"""
NODE = """
const a = require('a');
function helper() { return 1; }
test('one', () => { expect(helper()).toBe(1); });
describe('C', () => { beforeEach(() => {}); it('two', () => {}); });
"""
GO = """package p

import "testing"

func helper() int { return 1 }

func TestOne(t *testing.T) {
	if helper() != 1 {
		t.Fatal()
	}
}

func TestTwo(t *testing.T) {}
"""
RUST = """
pub fn code() {}
#[cfg(test)]
mod tests {
    use super::*;
    fn helper() -> i32 { 1 }
    #[test]
    fn one() { assert_eq!(helper(), 1); }
    #[test]
    fn two() {}
}
"""
FILES = {"test_a.py": PYTHON, "a.test.js": NODE, "a.test.ts": NODE, "a_test.go": GO, "src/lib.rs": RUST}
ONE = {
    "test_a.py": "test_one",
    "a.test.js": "one",
    "a.test.ts": "one",
    "a_test.go": "TestOne",
    "src/lib.rs": "tests::one",
}


@pytest.mark.parametrize("name", list(FILES))
def test_the_same_tree_is_no_change(tmp_path: Path, name: str) -> None:
    found = change(tmp_path, name, FILES[name], FILES[name])
    assert (found.files, found.parts, found.is_untouched) == ((), (), True)


@pytest.mark.parametrize("name", list(FILES))
def test_white_space_and_comments_are_no_change(tmp_path: Path, name: str) -> None:
    comment = "# note\n" if name.endswith(".py") else "// note\n"
    assert change(tmp_path, name, FILES[name], comment + FILES[name].replace("\n", "\n\n")).files == ()


@pytest.mark.parametrize("name", list(FILES))
def test_a_weakened_test_is_named_with_its_diff(tmp_path: Path, name: str) -> None:
    weaker = (
        FILES[name]
        .replace("helper() == 1", "helper()")
        .replace("toBe(1)", "toBeTruthy()")
        .replace("helper() != 1", "helper() == 7")
        .replace("assert_eq!(helper(), 1)", "assert!(true)")
    )
    found = change(tmp_path, name, FILES[name], weaker)
    assert parts(found) == [("test", ONE[name], "changed")]
    assert found.changed_tests == {(name, ONE[name])}
    assert "\n-" in found.parts[0].diff
    assert "\n+" in found.parts[0].diff
    assert not found.is_untouched


@pytest.mark.parametrize("name", list(FILES))
def test_a_changed_helper_is_no_changed_test(tmp_path: Path, name: str) -> None:
    found = change(
        tmp_path, name, FILES[name], FILES[name].replace("return 1", "return 2").replace("i32 { 1 }", "i32 { 2 }")
    )
    assert [(kind, how) for kind, _name, how in parts(found)] == [("helper", "changed")]
    assert (found.changed_tests, found.is_untouched) == (frozenset(), False)


ADDED = {
    "test_a.py": "\n\ndef test_new():\n    assert 1\n",
    "a.test.js": "test('new', () => {});\n",
    "a.test.ts": "test('new', () => {});\n",
    "a_test.go": "\nfunc TestNew(t *testing.T) {}\n",
    "src/lib.rs": "#[cfg(test)]\nmod more { #[test] fn new() {} }\n",
}


@pytest.mark.parametrize("name", list(FILES))
def test_a_new_test_leaves_the_old_ones_untouched(tmp_path: Path, name: str) -> None:
    found = change(tmp_path, name, FILES[name], FILES[name] + ADDED[name])
    assert [(kind, how) for kind, _name, how in parts(found)] == [("test", "added")]
    assert found.is_untouched


@pytest.mark.parametrize("name", list(FILES))
def test_a_removed_file_removes_its_tests(tmp_path: Path, name: str) -> None:
    found = change(tmp_path, name, FILES[name], None)
    assert {how for _kind, _name, how in parts(found)} == {"removed"}
    assert (name, ONE[name]) in found.changed_tests
    assert [file.how for file in found.files] == ["removed"]


@pytest.mark.parametrize("name", list(FILES))
def test_a_renamed_test_has_moved(tmp_path: Path, name: str) -> None:
    old = ONE[name].rpartition("::")[2]
    new = old.replace("One", "Other").replace("one", "other")
    found = change(tmp_path, name, FILES[name], FILES[name].replace(old, new))
    assert [how for _kind, _name, how in parts(found)] == ["moved"]
    assert found.same_text == {(name, ONE[name]): (name, ONE[name].replace(old, new))}
    assert found.changed_tests == frozenset()


def test_a_test_that_goes_to_another_file_has_moved(tmp_path: Path) -> None:
    base = tree(tmp_path / "base", test_a__py="def test_one():\n    assert f() == 1\n", test_b__py="X = 1\n")
    now = tree(tmp_path / "now", test_b__py="X = 1\n\ndef test_one():\n    assert f() == 1\n")
    found = compare_judges(files_of(str(base)), files_of(str(now)), EVERY)
    assert found.same_text == {("test_a.py", "test_one"): ("test_b.py", "test_one")}
    assert found.changed_tests == frozenset()


def test_another_test_under_old_name_does_not_hide_the_move(tmp_path: Path) -> None:
    old = "def test_one():\n    assert f() == 1\n"
    new = "def test_one():\n    assert True\ndef test_first():\n    assert f() == 1\n"
    found = change(tmp_path, "test_a.py", old, new)
    assert found.same_text == {("test_a.py", "test_one"): ("test_a.py", "test_first")}
    assert ("test", "test_one", "added") in parts(found)


def test_a_test_whose_name_another_one_took_is_removed(tmp_path: Path) -> None:
    old = "def test_one():\n    assert f() == 1\ndef test_two():\n    assert g() == 2\n"
    found = change(tmp_path, "test_a.py", old, "def test_one():\n    assert g() == 2\n")
    assert parts(found) == [("test", "test_one", "removed"), ("test", "test_two", "moved")]


@pytest.mark.parametrize(
    "added",
    ["import sys\nsys.exit = None\n", "@pytest.fixture(autouse=True)\ndef f(): pass\n", "def setUpModule(): pass\n"],
)
def test_new_code_that_runs_by_itself_is_marked(tmp_path: Path, added: str) -> None:
    found = change(tmp_path, "test_a.py", PYTHON, added + PYTHON)
    assert any(part.runs_by_itself for part in found.parts)
    assert not found.is_untouched


def test_file_that_cannot_be_parsed_is_listed_with_the_reason(tmp_path: Path) -> None:
    found = change(tmp_path, "test_a.py", PYTHON, "def (")
    assert ([file.how for file in found.files], found.unread[0][0], found.is_untouched) == (
        ["changed"],
        "test_a.py",
        False,
    )
    (tmp_path / "now" / "test_a.py").write_bytes(b"\xff\xfe")
    found = compare_judges(files_of(str(tmp_path / "base")), files_of(str(tmp_path / "now")), EVERY)
    assert found.unread[0][1] == say.unparsable("test_a.py", "it is no text in UTF-8, or too large")


def test_test_file_that_became_a_link_has_lost_its_tests(tmp_path: Path) -> None:
    base, now = tree(tmp_path / "base", test_a__py=PYTHON), tree(tmp_path / "now", other__txt=PYTHON)
    (now / "test_a.py").symlink_to("other.txt")
    found = compare_judges(files_of(str(base)), files_of(str(now)), EVERY)
    assert found.files[0].how == "became a link"
    assert ("test_a.py", "test_one") in found.changed_tests


def test_code_beside_the_tests_of_rust_is_not_the_judges(tmp_path: Path) -> None:
    assert change(tmp_path, "src/lib.rs", RUST, RUST.replace("fn code() {}", "fn code() { other() }")).files == ()


def test_data_and_configuration_are_listed_by_file(tmp_path: Path) -> None:
    base = tree(tmp_path / "base", tests_s_in__txt="1", pytest__ini="[pytest]\n", a__py="1")
    now = tree(tmp_path / "now", tests_s_in__txt="2", conftest__py="", a__py="2")
    found = compare_judges(files_of(str(base)), files_of(str(now)), EVERY)
    assert [(file.path, file.role, file.how) for file in found.files] == [
        ("conftest.py", "steers", "added"),
        ("pytest.ini", "steers", "removed"),
        ("tests/in.txt", "beside", "changed"),
    ]
    assert not found.is_untouched


def test_judge_of_one_tree_is_laid_over_code_of_another(tmp_path: Path) -> None:
    package = "[project]\nversion = '1'\n[tool.pytest.ini_options]\naddopts = '-q'\n"
    base = tree(tmp_path / "base", tests_s_test_a__py="old", a__py="old", pyproject__toml=package, src_s_lib__rs=RUST)
    weak = RUST.replace("assert_eq!(helper(), 1)", "assert!(true)").replace("fn code() {}", "fn code() { new() }")
    now = tree(
        tmp_path / "now",
        tests_s_test_a__py="new",
        tests_s_test_b__py="new",
        conftest__py="new",
        a__py="new",
        pyproject__toml=package.replace("'1'", "'2'"),
        src_s_lib__rs=weak,
    )
    laid = lay(str(now), EVERY, files_of(str(base)))
    assert laid.removed == ("conftest.py", "tests/test_b.py")
    assert laid.written == ("src/lib.rs", "tests/test_a.py")
    assert (now / "a.py").read_text() == "new"
    assert "'2'" in (now / "pyproject.toml").read_text()
    code = (now / "src" / "lib.rs").read_text()
    assert ("fn code() { new() }" in code, "assert_eq!(helper(), 1)" in code, "assert!(true)" in code) == (
        True,
        True,
        False,
    )
    assert lay(str(now), EVERY, files_of(str(base))) == laid.replace(removed=(), written=())


def test_nothing_is_laid_through_a_link(tmp_path: Path) -> None:
    base, now, other = (
        tree(tmp_path / "base", tests_s_test_a__py="old"),
        tree(tmp_path / "now"),
        tree(tmp_path / "other"),
    )
    (now / "tests").symlink_to(other)
    with pytest.raises(RefusedError):
        lay(str(now), EVERY, files_of(str(base)))
    assert not list(other.iterdir())


@pytest.mark.parametrize(
    ("command", "asks"), [("pytest", False), ("tox", True), ("make test", True), ("tox -e lint && pytest", True)]
)
def test_tox_ini_steers_where_tox_may_run(tmp_path: Path, command: str, asks: bool) -> None:
    old = "[testenv:lint]\ncommands = ruff check\n"
    base, now = (
        tree(tmp_path / name, tox__ini=text, pytest__ini="")
        for name, text in (("base", old), ("now", old + "[testenv:docs]\ncommands = sphinx-build\n"))
    )
    files = files_of(str(base))
    judge = judge_of(recognise(command, str(base), RUNNERS), RUNNERS, files.marks)
    assert [file.path for file in compare_judges(files, files_of(str(now)), judge).files] == ["tox.ini"] * asks


def test_pass_in_a_class_runs_nothing(tmp_path: Path) -> None:
    added = "\n\nclass Empty:\n    pass\n"
    assert parts(change(tmp_path, "test_a.py", PYTHON, PYTHON + added)) == [("helper", "Empty", "added")]
