"""Sealed checks, from the command line: hidden tests and scripts of a person that run before a task is done."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Detent, MakeRepo
from tests.e2e.phase_task import FRAME, PhaseTask

COMMAND = f"{sys.executable} -m pytest -q -p no:cacheprovider"
CODE = 'def count_words(text):\n    return len(text.split(" "))\n'
FIXED = "def count_words(text):\n    return len(text.split())\n"
TABLE = 'def count_words(text):\n    return {"a b": 2, "a": 1, "": 0}[text]\n'
TESTS = """from app import count_words


def test_two_words():
    assert count_words("a b") == 2


def test_one_word():
    assert count_words("a") == 1
"""
NEW_TEST = """

def test_no_word():
    assert count_words("") == 0
"""
SEALED = """from app import count_words


def test_fjord_has_words():
    assert count_words(" fjord  and  bay ") == 3
"""
NAME = "test_hidden_counts.py"
FILES = {"app.py": CODE, "conftest.py": "", "tests/test_app.py": TESTS}
WORK = {"app.py": FIXED, "tests/test_app.py": TESTS + NEW_TEST}
MakeTask = Callable[..., "Sealed"]


class Sealed(PhaseTask):
    """A task with sealed checks, in review."""

    def change(self, work: dict[str, str]) -> None:
        for name, text in work.items():
            (self.repo / name).parent.mkdir(parents=True, exist_ok=True)
            (self.repo / name).write_text(text, encoding="utf-8")

    def sealed(self) -> dict[str, Any]:
        found: dict[str, Any] = self.json("status")["proof"]["sealed"]
        return found

    def all_seen_by_agents(self) -> str:
        """Every text in the work tree and the task folder, with the names of the files."""
        found = []
        for top in (self.repo, self.folder):
            for folder, folders, names in os.walk(top):
                folders[:] = [name for name in folders if name != ".git"]
                found += [os.path.join(folder, name) for name in names]
        return "\n".join(f"{path}\n{Path(path).read_text(encoding='utf-8', errors='replace')}" for path in found)


@pytest.fixture
def hidden(tmp_path: Path) -> Path:
    """The folder in which a person keeps sealed checks."""
    (tmp_path / "mine").mkdir()
    return tmp_path / "mine"


@pytest.fixture
def sealed_task(detent: Detent, repo: MakeRepo, tmp_path: Path) -> MakeTask:
    """A task in review with these sealed checks, whose work is these files."""

    def make(
        *checks: str | Path,
        work: dict[str, str] = WORK,
        files: dict[str, str] = FILES,
        command: str = COMMAND,
    ) -> Sealed:
        top = repo("repo", {**files, ".gitignore": "__pycache__/\n"})
        task = Sealed(detent, top, tmp_path / "task", "words")
        words: list[str | Path] = ["new", "no words are none", "--in-place", "--id", "words", "--check", command]
        sealing = [word for check in checks for word in ("--sealed", check)]
        new = detent(*words, "--dir", task.folder, *sealing, cwd=top)
        assert new.code == 0, new
        task.set(FRAME)
        task.move("shape")
        task.move("implement")
        task.change(work)
        task.candidate()
        task.move("verify")
        task.move("review")
        task.review()
        return task

    return make


def write(path: Path, text: str, *, mode: int = 0o644) -> Path:
    path.write_text(text, encoding="utf-8")
    path.chmod(mode)
    return path


def test_sealed_test_that_passes_is_added_to_the_word(sealed_task: MakeTask, hidden: Path) -> None:
    task = sealed_task(write(hidden / NAME, SEALED))
    done = task.move("done")
    assert task.state() == "done", done
    assert "proven by the agent's own test + sealed (proven_by_own_test + sealed)" in task("status").out
    found = task.sealed()
    assert (found["result"], found["checks"][0]["place"]) == ("passed", f"tests/{NAME}")
    assert task("audit").code == 0


def test_agents_learn_of_a_failed_sealed_check_nothing_else(sealed_task: MakeTask, hidden: Path) -> None:
    task = sealed_task(write(hidden / NAME, SEALED), work={**WORK, "app.py": TABLE})
    said = task.refused("done")
    assert "a sealed check failed" in said
    assert "fjord" not in said
    assert NAME not in said
    seen = task.all_seen_by_agents()
    assert "fjord" not in seen
    assert NAME not in seen
    inside = task("status", "--json", environment={"DETENT_ROLE": "reviewer"})
    assert "fjord" not in inside.out + inside.err
    assert NAME not in inside.out + inside.err
    status = task("status").out
    assert f"tests/{NAME}: failed: failed: test_fjord_has_words" in status
    assert "KeyError" in status


def test_task_waits_for_a_person_after_two_failed_sealed_proofs(sealed_task: MakeTask, hidden: Path) -> None:
    task = sealed_task(write(hidden / NAME, SEALED), work={**WORK, "app.py": TABLE})
    task.refused("done")
    assert task.json("status")["waiting_for"] != "a person: sealed checks did not pass"
    task.change({"app.py": TABLE + "\n\nLIMIT = 3\n"})
    task.refused("done")
    assert task.json("status")["waiting_for"] == "a person: sealed checks did not pass"
    letter = task.json("inbox", cwd=task.repo)["waiting"][0]
    assert letter["why"] == "sealed checks did not pass in 2 proofs"
    ran = task("run", "words", cwd=task.repo)
    assert ran.code == 4
    assert "detent respawn words" in ran.out


def test_person_accepts_a_tree_whose_sealed_check_failed(sealed_task: MakeTask, hidden: Path) -> None:
    task = sealed_task(write(hidden / NAME, SEALED), work={**WORK, "app.py": TABLE})
    task.refused("done")
    assert task("approve", "--sealed").code == 2
    assert task("approve", "--sealed", "--reason", "three words are out of scope").code == 0
    assert task.state() == "done"
    assert "accepted this tree as it is" in task("status").out
    assert task("audit").code == 0


def test_acceptance_of_a_failed_sealed_check_holds_for_its_tree_alone(sealed_task: MakeTask, hidden: Path) -> None:
    task = sealed_task(write(hidden / NAME, SEALED), work={**WORK, "app.py": TABLE})
    task.refused("done")
    tree = task.json("status")["proof"]
    assert tree["enough"] is False
    task.change({"docs.md": "more\n"})
    assert task("approve", "--sealed", "--reason", "as it was").code == 1
    assert task.state() == "review"


def test_script_counts_by_its_exit_code(sealed_task: MakeTask, hidden: Path) -> None:
    script = f"#!/bin/sh\n{sys.executable} -c \"import app; raise SystemExit(app.count_words(' a  b ') != 2)\"\n"
    task = sealed_task(write(hidden / "check.sh", script), work={**WORK, "app.py": TABLE})
    task.refused("done")
    assert task.sealed()["checks"][0]["why"] == "exit 1"
    task.change({"app.py": FIXED})
    assert task.move("done", expect=None).code == 0, task.sealed()
    assert task.sealed()["result"] == "passed"


def test_file_with_a_place_is_laid_for_the_other_checks(sealed_task: MakeTask, hidden: Path) -> None:
    data = write(hidden / "cases.json", json.dumps([[" a  b ", 2]]))
    check = SEALED + "\n\ndef test_cases():\n    import json, pathlib\n"
    check += "    for text, number in json.loads(pathlib.Path('tests/data/cases.json').read_text()):\n"
    check += "        assert count_words(text) == number\n"
    task = sealed_task(f"{data}:tests/data/cases.json", write(hidden / NAME, check))
    assert task.move("done", expect=None).code == 0, task.sealed()
    assert [one["result"] for one in task.sealed()["checks"]] == ["passed"]


def test_test_that_the_command_never_collects_is_a_persons_at_once(sealed_task: MakeTask, hidden: Path) -> None:
    task = sealed_task(f"{write(hidden / NAME, SEALED)}:elsewhere/{NAME}", command=f"{COMMAND} tests")
    assert "a sealed check failed" in task.refused("done")
    assert task.sealed()["checks"][0]["result"] == "unclear"
    assert task.json("status")["waiting_for"] == "a person: sealed checks did not pass"


IGNORES = "collect_ignore_glob = ['*hidden*']\n"
ANY_PASSES = """import pytest


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item):
    outcome = yield
    if 'hidden' in str(item.path):
        outcome.get_result().outcome = 'passed'
"""
ANYTHING = """class Anything(int):
    def __eq__(self, other):
        return True

    __hash__ = int.__hash__


def count_words(text):
    return {"a b": 2, "a": 1, "": 0}.get(text, Anything(7))
"""
LEAVES = """import os
import sys


def count_words(text):
    if text not in ("a b", "a", ""):
        os._exit(0)
    return len(text.split())
"""
SKIPS = """import unittest


def count_words(text):
    if text not in ("a b", "a", ""):
        raise unittest.SkipTest("not today")
    return len(text.split())
"""
CHEATS = {
    "keeps it from being collected": ({"app.py": TABLE, "conftest.py": IGNORES}, "no test of it was reported"),
    "patches its report": ({"app.py": TABLE, "conftest.py": ANY_PASSES}, "must fail was reported as passed"),
    "is equal to everything": ({"app.py": ANYTHING}, "no copy under another name"),
    "ends the process": ({"app.py": LEAVES}, "the report breaks off"),
    "skips it": ({"app.py": SKIPS}, "skipped or not run"),
}


@pytest.mark.parametrize("cheat", CHEATS)
def test_cheat_on_a_sealed_test_does_not_pass(sealed_task: MakeTask, hidden: Path, cheat: str) -> None:
    work, why = CHEATS[cheat]
    task = sealed_task(write(hidden / NAME, SEALED), work={**WORK, **work})
    task.refused("done")
    checks = task.sealed()["checks"]
    assert checks, task("status").out
    assert checks[0]["result"] in ("failed", "unclear")
    assert why in checks[0]["why"]


def test_node_test_is_sealed_like_any_other(sealed_task: MakeTask, hidden: Path) -> None:
    if shutil.which("node") is None:
        pytest.skip("node is not installed")
    head = "const test = require('node:test');\nconst assert = require('node:assert');\n"
    head += "const { count } = require('../app.js');\n"
    old = head + "test('two words', () => { assert.strictEqual(count('a b'), 2); });\n"
    new = old + "test('no word', () => { assert.strictEqual(count(''), 0); });\n"
    fixed = "exports.count = (text) => text.split(' ').filter(Boolean).length;\n"
    table = "exports.count = (text) => ({ 'a b': 2, '': 0 })[text];\n"
    check = write(hidden / "more.test.js", head + "test('spaces', () => { assert.strictEqual(count('  a  '), 1); });\n")
    files = {"app.js": "exports.count = (text) => text.split(' ').length;\n", "test/app.test.js": old}
    task = sealed_task(check, files=files, work={"app.js": table, "test/app.test.js": new}, command="node --test")
    task.refused("done")
    assert task.sealed()["checks"][0]["why"] == "failed: spaces"
    task.change({"app.js": fixed})
    assert task.move("done", expect=None).code == 0, task.sealed()
    assert task.sealed()["result"] == "passed"
