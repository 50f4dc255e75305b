"""A pack that the engine has never heard of: its check, effect and prepare step work through the command line."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import MakeRepo

# As the installed command does, with one more place where packs lie.
START = """import sys
import detent.packs
detent.packs.__path__.append(sys.argv.pop(1))
from detent.faces.cli.main import main
sys.exit(main())
"""
MANIFEST = '''"""What the machine of this test brings along."""

from detent.gates.registry import TREE, Check
from detent.machines.reading import TEXT
from detent.runner.step.registry import Effect, Feature, Step

HERE = "detent.packs.toy.parts"
CHECKS = (Check("path_changed", f"{HERE}:path_changed", {"path": TEXT}, needs=(TREE,)),)
EFFECTS = (Effect("leave_note", "write LEFT.txt", f"{HERE}:leave_note"),)
STEPS = (Step("count_files", "count the files", look=f"{HERE}:look_count", act=f"{HERE}:note_count"),)
FEATURES = (Feature("lines", ("talks_in",), projects=f"{HERE}:project_lines"),)
'''
PARTS = '''"""The functions behind it."""

import os

from detent.gates.seen import Finding


def path_changed(gate, seen):
    """A file differs from the baseline."""
    changed = seen.changed()
    if changed is None:
        return Finding(ok=False, why="the work tree changed since the last scan", is_known=False)
    ok = gate.params["path"] in changed
    return Finding(ok=ok, why="" if ok else f"{gate.params['path']} is as it was", proof=seen.tree, by_engine=True)


def leave_note(task, key, promised):
    with open(task.native.path("LEFT.txt"), "w") as file:
        file.write(f"{promised.to}\\n")
    return {"left": "LEFT.txt"}, {}


def look_count(doing):
    return {"files": str(len(os.listdir(doing.task.tree_path)))}


def note_count(doing):
    return {"count_files": dict(doing.seen)}


def project_lines(task, memory):
    with open(os.path.join(task.home, "lines"), "w") as file:
        file.write(str(memory.snapshot.seq))
'''
MACHINE = """
format  = 1
name    = "toy"
title   = "change a file"
initial = "writing"

[store]
codec    = "markdown_fields"
file     = "NOTE.md"
state    = "State"
files    = ["NOTE.md"]
talks_in = ["writing"]

[role.writer]
access = "write"

[gate.changed]
check = "path_changed"
path  = "CHANGELOG.md"
fix   = "write in CHANGELOG.md what users see"

[state.writing]
role = "writer"
[state.written]
end = true

[[edge]]
from    = "writing"
to      = "written"
by      = ["agent"]
needs   = ["changed"]
prepare = ["count_files"]
effects = ["leave_note"]
"""


class Toy:
    """A project with a task of the machine, and the command line that knows the pack."""

    def __init__(self, folder: Path, path: Path, environment: dict[str, str]) -> None:
        self.packs, self.path, self.environment = folder / "packs", path, environment
        pack = self.packs / "toy"
        pack.mkdir(parents=True)
        for name, text in (("__init__", '"""A pack."""\n'), ("pack", MANIFEST), ("parts", PARTS)):
            (pack / f"{name}.py").write_text(text, encoding="utf-8")
        self.machine = folder / "toy.toml"
        self.machine.write_text(MACHINE, encoding="utf-8")

    def __call__(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", START, str(self.packs), *words],
            cwd=self.path,
            env=self.environment,
            capture_output=True,
            encoding="utf-8",
            timeout=120,
            check=False,
        )


@pytest.fixture
def toy(tmp_path: Path, repo: MakeRepo, clean_environment: dict[str, str]) -> Toy:
    made = Toy(tmp_path, repo(files={"CHANGELOG.md": "# Changes\n"}), clean_environment)
    done = made("new", str(made.machine), "a change", "--id", "t", "--dir", str(tmp_path / "task"))
    assert done.returncode == 0, done
    return made


def test_a_check_that_reads_the_tree_opens_once_it_holds(toy: Toy) -> None:
    refused = toy("move", "written", "t")
    assert (refused.returncode, "CHANGELOG.md is as it was" in refused.stdout + refused.stderr) == (1, True), refused
    (Path(toy("dir", "--tree", "t").stdout.strip()) / "CHANGELOG.md").write_text("# Changes\n\n- one\n")
    moved = toy("move", "written", "t")
    assert moved.returncode == 0, moved
    assert toy("audit", "t").returncode == 0


def test_effect_step_and_feature_are_done_with_the_move(toy: Toy, tmp_path: Path) -> None:
    tree = Path(toy("dir", "--tree", "t").stdout.strip())
    (tree / "CHANGELOG.md").write_text("# Changes\n\n- one\n")
    assert toy("move", "written", "t").returncode == 0
    lines = json.loads(toy("history", "t", "--json").stdout)["lines"]
    moved = next(line for line in lines if line["kind"] == "moved")
    assert moved["prepared"] == {"count_files": {"files": str(len(list(tree.iterdir())))}}
    assert [line["result"] for line in lines if line["kind"] == "acted"] == [{"left": "LEFT.txt"}]
    assert (tmp_path / "task" / "LEFT.txt").read_text() == "written\n"
    assert (tree.parent / "lines").read_text() == str(lines[-1]["seq"])


def test_a_machine_check_knows_what_the_pack_brings(toy: Toy) -> None:
    checked = toy("machine", "check", str(toy.machine))
    assert (checked.returncode, checked.stdout.startswith("toy: holds")) == (0, True), checked


def test_without_the_pack_the_check_is_unknown(toy: Toy, tmp_path: Path) -> None:
    toy.packs = tmp_path / "nothing"
    toy.packs.mkdir()
    checked = toy("machine", "check", str(toy.machine))
    assert (checked.returncode, "unknown check 'path_changed'" in checked.stdout + checked.stderr) == (1, True), checked


def test_a_name_that_two_packs_declare_is_no_guess(toy: Toy) -> None:
    again = toy.packs / "again"
    again.mkdir()
    for name, text in (("__init__", '"""A pack."""\n'), ("pack", MANIFEST)):
        (again / f"{name}.py").write_text(text, encoding="utf-8")
    checked = toy("machine", "check", str(toy.machine))
    assert (checked.returncode, "declared twice" in checked.stdout + checked.stderr) == (3, True), checked
