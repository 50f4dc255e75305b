"""Kills the engine while a person goes back: work is taken back once, artifacts are kept once, and nothing is lost.

By default at some of the system calls by which it changes files or starts something; DETENT_CRASH=full kills at each.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Detent, MakeRepo
from tests.crash.test_home_kill import Place, differences, points
from tests.e2e.undone_task import MACHINE

SETTLE = ("move", "--edge", "no-such-move", "t")  # refused by every state, after the task was brought into order
REDO = ("say", "/redo work it is thin", "t")
REVERT = ("say", "/revert it broke the import", "t")


class Back:
    """A task whose work is done and lies at `accept`, with artifacts in its folder."""

    def __init__(self, place: Place, *, is_landed: bool = False) -> None:
        self.place = place
        assert place("new", str(MACHINE), "Add things", "--id", "t").code == 0
        self.tree, self.folder = place.home / "tree", place.home / "task"
        for name in ("app.py", "new.py", "more.py"):
            (self.tree / name).write_text("worked = True\n", encoding="utf-8")
        for name in ("notes/a.md", "notes/b.md", "report.md"):
            (self.folder / name).write_text(f"{name} of round 1\n", encoding="utf-8")
        assert place("say", "/next", "t").code == 0
        if is_landed:
            assert place("say", "/approve", "t").code == 0
            assert place("land", "t").code == 0
        (self.tree / "later.txt").write_text("in no checkpoint\n", encoding="utf-8")

    def moves(self) -> list[str]:
        return [entry["edge"] for entry in self.place.journal() if entry["kind"] == "moved"]

    def standing(self) -> Mapping[str, Any]:
        """What must be the same; how often a move was intended before it was made may differ."""
        found = {name: value for name, value in self.place.summary().items() if name != "kinds"}
        names = (path for path in sorted(self.folder.rglob("*")) if path.is_file() and path.suffix == ".md")
        texts = {str(path.relative_to(self.folder)): path.read_text(encoding="utf-8") for path in names}
        return {**found, "moves": self.moves(), "artifacts": texts | {"WORK.md": ""}}


def kill_everywhere(back: Back, words: tuple[str, ...], tmp_path: Path, lost: Callable[[Back], list[str]]) -> None:
    place = back.place
    place.keep()
    tried = points(place, words, tmp_path / "points.strace")
    place(*SETTLE)
    due = back.standing()
    wrong = lost(back)
    for call in tried:
        place.kill_at(call, words)
        settled = place(*SETTLE)
        if settled.code != 1:
            wrong.append(f"{call}: settling ended with {settled}")
        if back.moves() != due["moves"] and (again := place(*words)).code != 0:
            wrong.append(f"{call}: the repetition ended with {again}")
        wrong += [f"{call}: {problem}" for problem in (*differences(back.standing(), due), *lost(back))]
    sys.stdout.write(f"\nkills: {words[1]}: {len(tried)} points\n")
    assert not wrong, "\n".join(wrong[:12])


@pytest.mark.usefixtures("strace")
def test_killed_archiving_puts_each_artifact_in_its_version_once(
    detent: Detent, repo: MakeRepo, tmp_path: Path
) -> None:
    back = Back(Place(detent, repo, tmp_path))

    def lost(back: Back) -> list[str]:
        version = back.folder / "versions/work-1"
        found = {str(path.relative_to(version)) for path in version.rglob("*") if path.is_file()}
        acted = [entry["result"] for entry in back.place.journal() if entry["kind"] == "acted"][-1]
        problems = [] if found == {"notes/a.md", "notes/b.md", "report.md"} else [f"the version has {found}"]
        if acted != {"version": "versions/work-1", "kept": "notes/, report.md"}:
            problems.append(f"the journal says {acted}")
        if not (back.folder / "notes").is_dir() or list((back.folder / "notes").iterdir()):
            problems.append("notes is not there again, empty")
        return problems

    kill_everywhere(back, REDO, tmp_path, lost)


@pytest.mark.usefixtures("strace")
@pytest.mark.parametrize("is_landed", [False, True], ids=["not landed", "landed"])
def test_killed_revert_takes_the_work_back_once(
    detent: Detent, repo: MakeRepo, tmp_path: Path, is_landed: bool
) -> None:
    back = Back(Place(detent, repo, tmp_path), is_landed=is_landed)

    def lost(back: Back) -> list[str]:
        place = back.place
        record = json.loads((back.folder / "revert/record.json").read_text(encoding="utf-8"))
        tip = place.git(place.repo, "rev-parse", "undone/t")
        problems = [] if record["commit"] == tip else [f"the branch is at {tip}, the record says {record['commit']}"]
        made = place.git(place.repo, "log", "--format=%H", "--grep=^Revert ", "undone/t").split()
        problems += [] if made == [tip] else [f"there are {made}"]
        private = place.repo / ".git/detent/tasks/t/git"
        kept = place.git(place.repo, "--git-dir", str(private), "ls-tree", "--name-only", record["kept"]).split()
        return problems + ([] if "later.txt" in kept else [f"kept are only {kept}"])

    kill_everywhere(back, REVERT, tmp_path, lost)
