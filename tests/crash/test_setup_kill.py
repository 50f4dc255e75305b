"""Kills the engine while a shared set-up is made, recorded, laid for a proof or an agent, and removed.

Afterwards no half-made set-up is used: the same command, given again, sees every file of a whole one. What a death
left is collected, and what other tasks use stays as it is. By default at some of the points; DETENT_CRASH=full kills
at every one.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from detent.effects.host.access import BUBBLEWRAP
from detent.effects.host.sandbox import try_level
from tests.conftest import SAMPLE_FILES, Completed, Detent, MakeRepo
from tests.crash.deaths import kill_at
from tests.crash.points import FULL
from tests.crash.trace import Call, disturb, record

# Their number is the same each time, unlike that of looks and waits.
NAMES = ("fsync", "fdatasync", "rename", "vfork", "mkdir", "unlink", "unlinkat", "rmdir", "ftruncate", "utimensat")
POINTS = 8
OLD_S = 2 * 24 * 3600.0
# Hard links are broken, a single file is copied, and what makes it slow is left out.
SETUP = (
    "mkdir -p node_modules/tool .env-dir/deep; echo one > node_modules/tool/code; echo e > .env-dir/deep/e; "
    "ln node_modules/tool/code node_modules/tool/linked; ln -s code node_modules/tool/link; echo stray > stray.txt"
)
LOOK = "cat node_modules/tool/code node_modules/tool/linked node_modules/tool/link .env-dir/deep/e stray.txt"
SEEN = "one\none\none\ne\nstray\n"
TEST = f'test "$({LOOK})" = "$(printf "{SEEN}")"'.replace("\n", "\\n")
AGENT = f'{{ cat > /dev/null; {LOOK}; }} > "$DETENT_TASK_DIR/seen"; echo mine > node_modules/tool/code'


class Place:
    """A repository whose tasks share a set-up, with its homes: put back before each death."""

    def __init__(self, detent: Detent, repo: MakeRepo, folder: Path) -> None:
        self.live, self.kept = folder / "live", folder / "kept"
        settings = (
            f"[commands]\ntest = {json.dumps(TEST)}\n[workspace]\nsetup = {json.dumps([SETUP])}\nkey = ['README.md']\n"
            f"[agents]\ndefault = 'mine'\n[agents.mine]\nargv = {json.dumps(['sh', '-c', AGENT])}\n"
        )
        made = repo("live-repo", {**SAMPLE_FILES, "detent.toml": settings})
        self.live.mkdir()
        self.repo, self.state = self.live / "repo", self.live / "state"
        shutil.copytree(made, self.repo, symlinks=True)
        self.environment = {**detent.environment, "XDG_STATE_HOME": str(self.state)}
        self.detent = Detent(detent.directory, self.environment)
        self.git = repo.git

    def __call__(self, *words: str) -> Completed:
        return self.detent(*words, cwd=self.repo)

    def keep(self) -> None:
        shutil.copytree(self.live, self.kept, symlinks=True)

    def put_back(self) -> None:
        # Inodes differ afterwards: the first look at each set-up compares every byte.
        shutil.rmtree(self.live)
        shutil.copytree(self.kept, self.live, symlinks=True)

    @property
    def setups(self) -> Path:
        (found,) = self.state.glob("detent/*/.setups")
        return found

    def records(self) -> dict[str, Path]:
        """Folders of set-ups that have a record, by key."""
        texts = [path.read_text(encoding="utf-8") for path in sorted(self.setups.glob(".records/*.json"))]
        return {record["key"]: Path(record["folder"]) for record in map(json.loads, texts)}

    def age(self) -> None:
        """Let two days pass for set-ups, records and what deaths left."""
        then = time.time() - OLD_S
        for path in (*self.setups.iterdir(), *self.setups.glob(".records/*")):
            os.utime(path, (then, then), follow_symlinks=False)

    def leftovers(self) -> list[str]:
        """What lies there after a collection and belongs to no set-up."""
        whole = {path.name for path in self.records().values()}
        locks = {f"{key}.lock" for key in self.records()}
        return sorted({path.name for path in self.setups.iterdir()} - whole - locks - {".records", "overlay.json"})


def files_below(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): path.read_text(encoding="utf-8")
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.fixture
def place(detent: Detent, repo: MakeRepo, disk_path: Path) -> Place:
    if why := try_level(BUBBLEWRAP, os.environ):
        pytest.skip(f"set-ups are shared by mounts alone: {why}")
    made = Place(detent, repo, disk_path)
    new = made("new", "orange", "one", "--id", "t")
    assert new.code == 0, new
    return made


def at_points(place: Place, words: tuple[str, ...], log: Path) -> list[Call]:
    argv = [sys.executable, "-m", "detent", *words]
    ended, calls = record(argv, cwd=place.repo, env=place.environment, log=log, names=NAMES)
    assert ended.code in (0, 1, 4), ended
    about = (str(place.state), "vfork")
    chosen = [call for call in calls if call.is_done and any(word in f"{call.name} {call.arguments}" for word in about)]
    assert len(chosen) > POINTS, f"only {len(chosen)} points were found; is the trace whole?"
    return chosen if FULL else chosen[:: len(chosen) // POINTS]


def kill_everywhere(
    place: Place, words: tuple[str, ...], log: Path, before: Callable[[], None], problems: Callable[[], list[str]]
) -> None:
    place.keep()
    before()
    chosen = at_points(place, words, log)
    wrong = [f"undisturbed: {problem}" for problem in problems()]

    def anew() -> None:
        place.put_back()
        before()

    argv = [sys.executable, "-m", "detent", *words]
    for call in chosen:
        kill_at(call, argv, anew, cwd=place.repo, env=place.environment, with_orphans=call.name == "vfork")
        wrong += [f"{call}: {problem}" for problem in problems()]
    sys.stdout.write(f"\nkills: {words[0]}: {len(chosen)} points\n")
    assert not wrong, "\n".join(wrong[:12])


def collected(place: Place) -> list[str]:
    """What two days and one `gc` leave behind of deaths."""
    place.age()
    gone = place("gc")
    left = place.leftovers()
    return [f"gc ended with {gone}"] * (gone.code != 0) + [f"left for ever: {left}"] * bool(left)


@pytest.mark.usefixtures("strace")
def test_set_up_half_made_is_never_used_and_is_collected(place: Place, tmp_path: Path) -> None:
    """`doctor` makes it and lays it for a proof, which compares every file."""

    def problems() -> list[str]:
        again = place("doctor")
        found = [f"the repetition ended with {again}"] * (again.code != 0)
        whole = [files_below(folder) for folder in place.records().values()]
        found += [f"recorded is {whole}"] * ([len(place) for place in whole] != [5])
        return found + collected(place)

    kill_everywhere(place, ("doctor",), tmp_path / "strace", lambda: None, problems)


@pytest.mark.usefixtures("strace")
def test_agent_works_in_a_whole_set_up_whatever_died_before(place: Place, tmp_path: Path) -> None:
    def problems() -> list[str]:
        folder = Path(place("dir", "t").out.strip())
        for _ in range(3):
            place("run", "--once", "t")
            if (folder / "seen").is_file():
                break
        seen = (folder / "seen").read_text(encoding="utf-8") if (folder / "seen").is_file() else ""
        shared = [files_below(record) for record in place.records().values()]
        found = [f"the agent saw {seen!r}"] * (seen not in (SEEN, SEEN.replace("one", "mine")))
        found += [f"shared is {shared}"] * ([place.get("node_modules/tool/code") for place in shared] != ["one\n"])
        return found + collected(place)

    kill_everywhere(place, ("run", "--once", "t"), tmp_path / "strace", lambda: None, problems)


@pytest.mark.usefixtures("strace")
def test_killed_gc_leaves_used_set_ups_whole_and_removes_others(place: Place, tmp_path: Path) -> None:
    """One set-up is that of a task which goes on, the other was made for settings that nothing has any more."""
    assert place("run", "--once", "t").code == 4  # the agent hands nothing over
    (used,) = place.records()
    (place.repo / "README.md").write_text("other\n", encoding="utf-8")
    place.git(place.repo, "commit", "--quiet", "--all", "--message=Other")
    assert place("doctor").code == 0
    assert len(place.records()) == 2

    def problems() -> list[str]:
        again = place("gc")
        found = [f"the repetition ended with {again}"] * (again.code != 0)
        found += [f"recorded is {list(place.records())}"] * (list(place.records()) != [used])
        whole = [files_below(folder).get("node_modules/tool/code") for folder in place.records().values()]
        found += [f"the used one is {whole}"] * (whole != ["one\n"])
        return found + collected(place)

    kill_everywhere(place, ("gc",), tmp_path / "strace", place.age, problems)


ERRORS = ("ENOSPC", "EIO")


@pytest.mark.usefixtures("strace")
@pytest.mark.parametrize("error", ERRORS)
def test_a_disk_that_refuses_leaves_no_set_up_behind(place: Place, tmp_path: Path, error: str) -> None:
    """On a full disk what was made so far must not wait a day for its removal."""
    place.keep()
    words = [sys.executable, "-m", "detent", "doctor"]
    chosen = [call for call in at_points(place, ("doctor",), tmp_path / "strace") if call.name in ("mkdir", "rename")]
    wrong = []
    for call in chosen:
        place.put_back()
        how = f"error={error}"
        ended = disturb(words, cwd=place.repo, env=place.environment, name=call.name, how=how, number=call.number)
        if ended.code not in (0, 1, 4, 5) or "Traceback" in ended.err:
            wrong.append(f"{call}: {ended}")
        if list(place.state.glob("detent/*/.setups")) and (left := place.leftovers()):
            wrong += [f"{call}: left {left}"] * any(not name.endswith(".lock") for name in left)
        again = place("doctor")
        wrong += [f"{call}: the repetition ended with {again}"] * (again.code != 0)
    assert not wrong, "\n".join(wrong[:12])
