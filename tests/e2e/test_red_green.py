"""The check `red_green`: a command that passes with the change must have failed without it, with the same tests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.conftest import SAMPLE_FILES, Completed, Detent, MakeRepo, let_out

MACHINE = """
format  = 1
name    = "fix"
initial = "fixing"

[store]
codec = "markdown_fields"
file  = "FIX.md"
state = "State"
files = ["FIX.md"]

[role.builder]
access = "write"
[field.Proof]

[gate.shown]
check = "red_green"
since = "task"
field = "Proof"
MORE
fix   = "write a test that fails without the change"

[state.fixing]
role = "builder"
[state.fixed]
end = true

[[edge]]
from  = "fixing"
to    = "fixed"
by    = ["agent", "engine"]
needs = ["shown"]
"""
SETTINGS = '[protect]\nreport = ["tests/**"]\n'
BROKEN = "def double(value):\n    return value + 2\n"
MENDED = "def double(value):\n    return value + value\n"
OLD_TEST = "from app import double\nassert double(2) == 4\n"
NEW_TEST = "from app import double\nassert double(3) == 6\n"
RUN_ALL = "for test in tests/*.py; do PYTHONPATH=. python3 $test || exit 1; done"


class Fix:
    """A task of the small machine in a clone of its own."""

    def __init__(self, detent: Detent, repo: MakeRepo, base: Path, proof: str = RUN_ALL, more: str = "") -> None:
        self.detent = detent
        (base / "fix.toml").write_text(MACHINE.replace("MORE", more), encoding="utf-8")
        files = {**SAMPLE_FILES, "app.py": BROKEN, "tests/old.py": OLD_TEST, "detent.toml": SETTINGS}
        self.repo = repo(files=files)
        let_out(self.repo)
        made = detent("new", base / "fix.toml", "double", "--id", "t", "--json", cwd=self.repo)
        assert made.code == 0, made
        self.tree, self.folder = Path(made.json()["workspace"]), Path(made.json()["dir"])
        (self.folder / "FIX.md").write_text(f"State: fixing\nProof:\ncmd: {proof}\n", encoding="utf-8")

    def __call__(self, *words: str) -> Completed:
        return self.detent(*words, cwd=self.repo)

    def receipts(self) -> list[dict[str, Any]]:
        folder = self.repo / ".git" / "detent" / "tasks" / "t" / "receipts"
        return [json.loads(path.read_bytes()) for path in sorted(folder.glob("*.json"))]

    def write(self, name: str, text: str) -> None:
        (self.tree / name).write_text(text, encoding="utf-8")

    def refused(self) -> str:
        done = self("move", "fixed", "t")
        assert done.code == 1, done
        return done.out


def test_red_without_the_change_and_green_with_it(detent: Detent, repo: MakeRepo, tmp_path: Path) -> None:
    fix = Fix(detent, repo, tmp_path)
    fix.write("app.py", MENDED)
    fix.write("tests/new.py", NEW_TEST)
    done = fix("move", "fixed", "t")
    assert done.code == 0, done
    by_where = {receipt["where"]: receipt for receipt in fix.receipts()}
    assert by_where[""]["attempts"] == [0]
    without = by_where["on the first commit, with the tests of this task"]
    assert without["attempts"] == [1]
    assert "AssertionError" in Path(without["log"]).read_text(encoding="utf-8")
    assert fix("audit", "t").code == 0


def test_what_passed_before_proves_nothing(detent: Detent, repo: MakeRepo, tmp_path: Path) -> None:
    fix = Fix(detent, repo, tmp_path)
    fix.write("README.md", "changed, and no test knows\n")
    said = fix.refused()
    assert "it passes without the change too, so it proves nothing" in said
    assert "write a test that fails without the change" in said
    assert [receipt["attempts"] for receipt in fix.receipts()] == [[0], [0]]


def test_a_red_change_is_not_tried_without_it(detent: Detent, repo: MakeRepo, tmp_path: Path) -> None:
    fix = Fix(detent, repo, tmp_path)
    fix.write("tests/new.py", NEW_TEST)
    assert "failed on this tree" in fix.refused()
    (receipt,) = fix.receipts()
    assert receipt["where"] == ""


def test_a_test_outside_the_patterns_is_part_of_the_change(detent: Detent, repo: MakeRepo, tmp_path: Path) -> None:
    """What is not laid over can't be what fails without the change."""
    fix = Fix(detent, repo, tmp_path, more='tests = ["other/**"]')
    fix.write("app.py", MENDED)
    fix.write("tests/new.py", NEW_TEST)
    assert "proves nothing" in fix.refused()


def test_what_is_cut_short_without_the_change_proves_nothing(detent: Detent, repo: MakeRepo, tmp_path: Path) -> None:
    fix = Fix(detent, repo, tmp_path, proof="grep -q 'value + value' app.py || { yes; }")
    fix.write("app.py", MENDED)
    assert "did not come to its own end" in fix.refused()


def test_one_red_command_is_enough_or_the_named_one(detent: Detent, repo: MakeRepo, tmp_path: Path) -> None:
    both = f"true\ncmd: {RUN_ALL}"
    fix = Fix(detent, repo, tmp_path, proof=both)
    fix.write("app.py", MENDED)
    fix.write("tests/new.py", NEW_TEST)
    proved = fix("prove", "t", "--json")
    assert proved.code == 0, proved
    assert [row["ok"] for row in proved.json()["receipts"]] == [True] * 4
    assert fix("move", "fixed", "t").code == 0


def test_the_named_command_must_be_the_one_that_fails(detent: Detent, repo: MakeRepo, tmp_path: Path) -> None:
    fix = Fix(detent, repo, tmp_path, proof=f"true\ncmd: {RUN_ALL}", more='command = "plan 1"')
    fix.write("app.py", MENDED)
    fix.write("tests/new.py", NEW_TEST)
    assert "proves nothing: true" in fix.refused()
    proved = fix("prove", "t")
    assert proved.code == 1, proved
    assert "bad  true" in proved.out


def test_without_a_first_commit_there_is_nothing_to_compare_with(detent: Detent, tmp_path: Path) -> None:
    (tmp_path / "fix.toml").write_text(MACHINE.replace("MORE", ""), encoding="utf-8")
    folder = tmp_path / "plain"
    folder.mkdir()
    made = detent("new", tmp_path / "fix.toml", "double", "--id", "t", "--repo", folder, "--json", cwd=folder)
    assert made.code == 0, made
    (Path(made.json()["dir"]) / "FIX.md").write_text("State: fixing\nProof:\ncmd: true\n", encoding="utf-8")
    done = detent("move", "fixed", "t", cwd=folder)
    assert done.code == 1, done
    assert "no first commit" in done.out


def test_a_removed_test_is_removed_without_the_change_too(detent: Detent, repo: MakeRepo, tmp_path: Path) -> None:
    fix = Fix(detent, repo, tmp_path, proof="test ! -e tests/old.py")
    (fix.tree / "tests" / "old.py").unlink()
    assert "proves nothing" in fix.refused()
