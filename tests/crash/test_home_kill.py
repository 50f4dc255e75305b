"""Kills `new`, `land`, `restore` and `gc` of a task with a clone at the system calls by which they change something.

What such a command changes lies in the user's repository, its control plane and the task's home, so here the whole
folder is put back for each point. The same command is then given again: it must end as it does undisturbed, with
nothing lost and nothing done twice. By default at some of the points; DETENT_CRASH=full kills at every one.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import SAMPLE_FILES, Completed, Detent, MakeRepo, let_out
from tests.crash.deaths import kill_at
from tests.crash.points import FULL
from tests.crash.trace import Call, record
from tests.e2e.clone_task import CloneTask, contents

# Their number is the same each time, unlike that of looks and waits; at a vfork a git that was started goes on alone.
NAMES = ("fsync", "fdatasync", "rename", "vfork", "mkdir", "unlink", "unlinkat", "rmdir", "ftruncate")
POINTS = 5
NEW = ("new", "count", "--id", "t", "--check", "grep -q 'left + right' app.py")


class Place:
    """A folder with a repository and every home; `keep` remembers how it stands, `put_back` brings that back."""

    def __init__(self, detent: Detent, repo: MakeRepo, folder: Path) -> None:
        self.live, self.kept = folder / "live", folder / "kept"
        self.git = repo.git
        self.repo = repo("live-repo", SAMPLE_FILES)
        let_out(self.repo)
        self.live.mkdir()
        self.repo = self.repo.rename(self.live / "repo")
        (self.live / "state").mkdir()
        self.detent = Detent(detent.directory, {**detent.environment, "XDG_STATE_HOME": str(self.live / "state")})

    def keep(self) -> None:
        shutil.copytree(self.live, self.kept, symlinks=True)

    def put_back(self) -> None:
        shutil.rmtree(self.live)
        shutil.copytree(self.kept, self.live, symlinks=True)

    def __call__(self, *words: str) -> Completed:
        return self.detent(*words, cwd=self.repo)

    def kill_at(self, call: Call, words: tuple[str, ...]) -> None:
        """Begin anew, and be killed at one call; a helper that was just started may outlive it."""
        has_orphans = call.name == "vfork"
        argv, environment = self.argv(words), self.detent.environment
        kill_at(call, argv, self.put_back, cwd=self.repo, env=environment, with_orphans=has_orphans)

    def argv(self, words: tuple[str, ...]) -> list[str]:
        return [sys.executable, "-m", "detent", *words]

    @property
    def home(self) -> Path:
        (project,) = (self.live / "state/detent").iterdir()
        return project / "t"

    def journal(self) -> list[dict[str, Any]]:
        path = self.repo / ".git/detent/tasks/t/journal.jsonl"
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]

    def summary(self) -> Mapping[str, Any]:
        """All that must be the same whether or not something died; commits by their trees, for they hold times."""
        homes = list((self.live / "state").glob("detent/*"))
        names = "%(refname) %(objecttype) %(tree)"
        refs = self.git(self.repo, "for-each-ref", f"--format={names}").splitlines()
        tree = homes[0] / "t/tree" if homes else Path()
        audit = self("audit", "t", "--json")
        is_cloned = (tree / ".git").is_dir()
        return {
            "kinds": [entry["kind"] for entry in self.journal()],
            "refs": refs,
            "commits": self.git(self.repo, "log", "--format=%T %s %an", "main").splitlines(),
            "status": self.git(self.repo, "status", "--porcelain"),
            "files": contents(self.repo),
            "homes": sorted(os.listdir(homes[0])) if homes else [],
            "home": sorted(os.listdir(homes[0] / "t")) if homes and (homes[0] / "t").is_dir() else [],
            "clone": contents(tree) if is_cloned else {},
            "clone says": self.git(tree, "status", "--porcelain", "--branch") if is_cloned else "",
            "fsck": [self.git(place, "fsck", "--no-dangling") for place in (self.repo, *([tree] if is_cloned else []))],
            "audit": [finding for finding in audit.json()["findings"] if not finding.get("warning")],
        }


def differences(found: Mapping[str, Any], due: Mapping[str, Any]) -> list[str]:
    return [f"{name}: {found[name]!r:.500} should be {due[name]!r:.500}" for name in due if found[name] != due[name]]


def points(place: Place, words: tuple[str, ...], log: Path) -> list[Call]:
    env = place.detent.environment
    ended, calls = record(place.argv(words), cwd=place.repo, env=env, log=log, names=NAMES)
    assert ended.code == 0, ended
    # Before the first of these nothing was touched: what the interpreter does for itself is no point.
    chosen = [call for call in calls if call.is_done and (call.name == "vfork" or str(place.live) in call.arguments)]
    chosen += [call for call in calls if call.is_done and call.name in ("fsync", "fdatasync") and call not in chosen]
    chosen.sort(key=calls.index)
    assert len(chosen) > POINTS, f"only {len(chosen)} points were found; is the trace whole?"
    return chosen if FULL else chosen[:: len(chosen) // POINTS]


def kill_everywhere(
    place: Place,
    words: tuple[str, ...],
    tmp_path: Path,
    lost: Callable[[Place], list[str]],
    settle: tuple[str, ...] = (),
) -> None:
    """Kill a command at its points; each time the same command, given again, must bring the same end.

    `settle` is a command besides, where the same one is refused because the move was made before the death.
    """
    place.keep()
    chosen = points(place, words, tmp_path / "points.strace")
    due = place.summary()
    wrong: list[str] = lost(place)
    for call in chosen:
        place.kill_at(call, words)
        again = place(*words)
        if settle:
            place(*settle)
        if again.code in (3, 5) or "bug:" in again.out + again.err:
            wrong.append(f"{call}: the repetition ended with {again}")
        wrong += [f"{call}: {problem}" for problem in (*differences(place.summary(), due), *lost(place))]
    sys.stdout.write(f"\nkills: {words[0]}: {len(chosen)} points\n")
    assert not wrong, "\n".join(wrong[:12])


def nothing(_place: Place) -> list[str]:
    return []


@pytest.mark.usefixtures("strace")
def test_a_killed_new_is_made_by_the_next_one(detent: Detent, repo: MakeRepo, tmp_path: Path) -> None:
    place = Place(detent, repo, tmp_path)
    assert place("list").code == 0
    kill_everywhere(place, NEW, tmp_path, nothing)


def finished(place: Place, repo: MakeRepo) -> CloneTask:
    task = CloneTask(place.detent, repo, place.repo)
    (task.tree / "made.txt").write_text("by the task\n", encoding="utf-8")
    task.to("done")
    return task


@pytest.mark.usefixtures("strace")
@pytest.mark.parametrize("words", [("land", "t"), ("land", "--squash", "t")], ids=["merge", "squash"])
def test_a_killed_land_lands_once(detent: Detent, repo: MakeRepo, tmp_path: Path, words: tuple[str, ...]) -> None:
    place = Place(detent, repo, tmp_path)
    finished(place, repo)

    def unlanded(place: Place) -> list[str]:
        lines = [entry for entry in place.journal() if entry["kind"] == "landed"]
        head = place.git(place.repo, "rev-parse", "main")
        is_there = (place.repo / "made.txt").is_file()
        return [] if [line["commit"] for line in lines] == [head] and is_there else [f"landed {lines}, main is {head}"]

    kill_everywhere(place, words, tmp_path, unlanded)


@pytest.mark.usefixtures("strace")
def test_a_killed_restore_keeps_what_stood_there(detent: Detent, repo: MakeRepo, tmp_path: Path) -> None:
    place = Place(detent, repo, tmp_path)
    task = finished(place, repo)
    for number in range(3):
        (task.tree / f"later-{number}.txt").write_text("not in a checkpoint\n", encoding="utf-8")
    (task.tree / "app.py").write_text("spoilt\n", encoding="utf-8")

    def lost(place: Place) -> list[str]:
        """The line names a commit that holds all that stood there."""
        (line,) = [entry for entry in place.journal() if entry["kind"] == "restored_tree"]
        private = place.repo / ".git/detent/tasks/t/git"
        names = place.git(private, "ls-tree", "--name-only", line["kept"]).splitlines()
        damaged = place.git(private, "cat-file", "blob", f"{line['kept']}:app.py")
        is_whole = {f"later-{number}.txt" for number in range(3)} <= set(names) and damaged == "spoilt"
        return [] if is_whole else [f"kept are only {names}, app.py is {damaged!r}"]

    kill_everywhere(place, ("restore", "t"), tmp_path, lost)


@pytest.mark.usefixtures("strace")
def test_a_killed_gc_is_finished_by_the_next_one(detent: Detent, repo: MakeRepo, tmp_path: Path) -> None:
    place = Place(detent, repo, tmp_path)
    task = finished(place, repo)
    assert place("land", "t").code == 0
    (task.tree / "later.txt").write_text("not in a checkpoint\n", encoding="utf-8")

    def lost(place: Place) -> list[str]:
        kept = [commit for entry in place.journal() if entry["kind"] == "collected" for commit in entry["kept"]]
        private = place.repo / ".git/detent/tasks/t/git"
        names = [name for commit in kept for name in place.git(private, "ls-tree", "--name-only", commit).splitlines()]
        return [] if {"later.txt", "STATE.md"} <= set(names) else [f"kept are only {names}"]

    kill_everywhere(place, ("gc",), tmp_path, lost)


@pytest.mark.usefixtures("strace")
def test_killed_gc_keeps_unlanded_work_under_a_ref(detent: Detent, repo: MakeRepo, tmp_path: Path) -> None:
    place = Place(detent, repo, tmp_path)
    task = finished(place, repo)
    (task.tree / "later.txt").write_text("not in a checkpoint\n", encoding="utf-8")

    def lost(place: Place) -> list[str]:
        """The line names a ref of the person's repository that holds all of the work, and it is one."""
        lines = [entry["snapshot"] for entry in place.journal() if entry["kind"] == "collected"]
        kept = place.git(place.repo, "for-each-ref", "--format=%(refname)", "refs/detent/collected").splitlines()
        names = [name for ref in kept for name in place.git(place.repo, "ls-tree", "--name-only", ref).splitlines()]
        is_whole = lines[-1:] == kept and {"made.txt", "later.txt"} <= set(names)
        return [] if is_whole else [f"the journal names {lines}, kept are {kept} with {names}"]

    kill_everywhere(place, ("gc", "--yes"), tmp_path, lost)


@pytest.mark.usefixtures("strace")
def test_killed_sign_off_is_made_once_with_its_reason(detent: Detent, repo: MakeRepo, tmp_path: Path) -> None:
    place = Place(detent, repo, tmp_path)
    assert place("new", "orange", "count", "--id", "t").code == 0
    file = place.home / "task" / "TASK.md"
    for section, state in (("", "working"), ("Handoff\nDONE: it works", "agent-review"), ("Review\nPASS", "reviewing")):
        with file.open("a", encoding="utf-8") as text:
            text.write(f"\n## {section}\n" if section else "")
        moved = place("move", state, "t")
        assert moved.code == 0, moved
    with (place.home / "tree/app.py").open("a", encoding="utf-8") as code:
        code.write("# later\n")

    def unsigned(place: Place) -> list[str]:
        signed = [entry for entry in place.journal() if entry["kind"] == "moved" and entry.get("signed")]
        found = [(entry["reason"], len(entry["signed"]["accepted"])) for entry in signed]
        return [] if found == [("one comment", 1)] else [f"signed is {found}"]

    settle = ("move", "--edge", "no-such-move", "t")  # refused, after the task was brought into order
    kill_everywhere(place, ("approve", "--reason", "one comment", "t"), tmp_path, unsigned, settle)


@pytest.mark.usefixtures("strace")
def test_killed_trust_is_there_whole_or_not_at_all(detent: Detent, repo: MakeRepo, tmp_path: Path) -> None:
    place = Place(detent, repo, tmp_path)
    stranger = Detent(detent.directory, place.detent.environment, trusts=False)
    (place.repo / "detent.toml").write_text("[sandbox]\npass = ['GH_TOKEN']\n", encoding="utf-8")
    place.git(place.repo, "add", "--all")
    place.git(place.repo, "commit", "--quiet", "--message=Settings")
    place.keep()
    words, log = ("trust", "--yes"), tmp_path / "points.strace"
    ended, calls = record(
        place.argv(words), cwd=place.repo, env=place.detent.environment, log=log, names=("openat", "write", *NAMES)
    )
    assert ended.code == 0, ended
    chosen = [call for call in calls if call.is_done and "/trusted" in call.arguments]
    assert {"fsync", "rename"} <= {call.name for call in chosen}, chosen
    wrong = []
    for call in chosen:
        place.kill_at(call, words)
        is_trusted = stranger("trust", "--show", "--json", cwd=place.repo).json()["trusted"]
        made = stranger("new", "x", "--id", "t", cwd=place.repo)
        wrong += [f"{call}: trusted {is_trusted}, yet {made}"] * ((made.code == 0) != is_trusted)
        again = stranger(*words, cwd=place.repo)
        wrong += [f"{call}: {again}"] * (again.code != 0 or stranger("new", "y", cwd=place.repo).code != 0)
    assert not wrong, "\n".join(wrong[:12])
