"""A disk that refuses: full, read-only, broken, out of descriptors, or that takes less than it was given.

By default some pairs of call and error; DETENT_CRASH=full tries every error at every call.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.crash.codec_kinds import NAMES as CODECS
from tests.crash.lab import KINDS, Kind, Lab
from tests.crash.points import FULL, find_points
from tests.crash.trace import Call, Ended, disturb, record
from tests.crash.world import CONTROL, FOLDER, TASK

UNREADABLE = 5
ERRORS = {
    "write": ("ENOSPC", "EIO"),
    "fdatasync": ("EIO",),
    "fsync": ("EIO",),
    "rename": ("EXDEV", "EROFS"),
    "openat": ("EMFILE", "EROFS", "ENOSPC"),
    "mkdir": ("ENOSPC", "EROFS"),
    "ftruncate": ("EIO",),
}
# Each write takes at most five bytes: allowed by POSIX, and what an interrupted write on a slow disk really does.
SHORT_WRITES = """
import os, sys
write = os.write
os.write = lambda descriptor, data: write(descriptor, bytes(data)[:5])
from detent.faces.cli.main import main
sys.exit(main())
"""
LIMITED = """
import os, resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), resource.RLIM_INFINITY))
os.execv(sys.argv[2], sys.argv[2:])
"""


def told_problems(kind: Kind, ended: Ended) -> list[str]:
    """A command that failed says so: exit code 5, what and where, no traceback. One that says it worked, worked."""
    said = ended.out + ended.err
    if "Traceback" in said or "bug:" in said or ended.code not in (kind.code, UNREADABLE):
        return [f"ended with {ended}"]
    if ended.code == UNREADABLE and not (ended.err.strip() and "where:" in ended.err):
        return [f"does not say what and where: {ended}"]
    return []


def disturbances(calls: Sequence[Call]) -> list[tuple[Call, str]]:
    # The output is not the disk: what a full terminal does is another test's business.
    pairs = [
        (call, error)
        for call in calls
        for error in ERRORS.get(call.name, ())
        if not call.arguments.startswith(("1<", "2<"))
    ]
    return pairs if FULL else pairs[:: max(1, min(12, len(pairs) // 4))]


def problems_of_errors(lab: Lab, kind: Kind, pairs: Sequence[tuple[Call, str]]) -> list[str]:
    wrong = []
    for call, error in pairs:
        lab.world.put(kind.before)
        ended = lab.disturb(kind, call, f"error={error}")
        found = told_problems(kind, ended)
        found += lab.problems(kind, is_acknowledged=ended.code == kind.code)
        wrong += [f"{error} at {call}: {problem}" for problem in found]
    return wrong


@pytest.mark.usefixtures("strace")
@pytest.mark.parametrize("name", [*KINDS, *CODECS])
def test_error_of_the_disk_is_told_and_the_repetition_works(lab: Lab, kind: Kind) -> None:
    pairs = disturbances(find_points(lab, kind).calls)
    assert len(pairs) > 3
    wrong = problems_of_errors(lab, kind, pairs)
    lab.count("errors", kind.name, len(pairs))
    assert not wrong, "\n".join(wrong[:20])


@pytest.mark.usefixtures("strace")
@pytest.mark.parametrize("name", ["move and prove"])
def test_an_unsynced_log_is_reported_and_stays_in_the_proof(lab: Lab, kind: Kind) -> None:
    synced = [call for call in find_points(lab, kind).calls if call.name == "fsync" and ".log>" in call.arguments]
    assert synced
    assert problems_of_errors(lab, kind, [(call, "EIO") for call in synced]) == []


@pytest.mark.parametrize("name", [*KINDS, *CODECS])
def test_disk_that_takes_five_bytes_at_time_makes_no_difference(lab: Lab, kind: Kind) -> None:
    lab.world.put(kind.before)
    argv = [*lab.argv(())[:-1], SHORT_WRITES, *kind.words]
    done = subprocess.run(argv, cwd=lab.cwd, env=lab.environment, capture_output=True, text=True, check=False)
    assert done.returncode == kind.code, done
    assert lab.problems(kind, is_acknowledged=True) == []


def in_namespace(lab: Lab, script: str, *words: str) -> Ended:
    """Run a shell script where mounting is allowed and seen by no other process, or skip with the reason.

    `$as_myself` before a command restores our own user: only root may mount, but a journal names its person.
    """
    myself = f"unshare -U --map-user={os.getuid()} --map-group={os.getgid()}"
    tried = subprocess.run(["unshare", "-Urm", *myself.split(), "true"], capture_output=True, text=True, check=False)
    if tried.returncode != 0:
        pytest.skip(f"no mount namespace here: {tried.stderr.strip()[:200]}")
    done = subprocess.run(
        ["unshare", "-Urm", "sh", "-euc", script, "sh", *words],
        cwd=lab.cwd,
        env={**lab.environment, "as_myself": myself},
        capture_output=True,
        text=True,
        check=False,
    )
    return Ended(done.returncode, done.stdout, done.stderr)


# Steps that need a new file in that place; a line that still fits into the journal's last block needs no room.
@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("move", FOLDER),
        ("answer", FOLDER),
        ("move and lock", CONTROL),
        ("move and lock", FOLDER),
        ("locked field restored", CONTROL),
        ("locked field restored", FOLDER),
    ],
)
def test_a_really_full_disk_is_told_and_nothing_is_lost(lab: Lab, name: str, place: str) -> None:
    """The folder becomes a small file system of its own that has room for its files and a few bytes more."""
    kind = lab.kinds[name]
    script = """
        place=$1; aside=$2; disk=$3; shift 3
        mount -t tmpfs -o size=1m none "$disk"; cp -a "$place" "$disk/place"; mount --bind "$disk/place" "$place"
        dd if=/dev/zero of="$disk/filler" bs=4096 2>/dev/null || true
        code=0; $as_myself "$@" || code=$?
        cp -a "$disk/place" "$aside"
        exit $code
    """
    lab.world.put(kind.before)
    aside = lab.folder / "aside"
    shutil.rmtree(aside, ignore_errors=True)
    disk = lab.folder / "disk"
    disk.mkdir(exist_ok=True)
    ended = in_namespace(lab, script, str(lab.world.top / place), str(aside), str(disk), *lab.argv(kind.words))
    assert ended.code == UNREADABLE, ended
    assert "the disk is full" in ended.err
    assert told_problems(kind, ended) == []
    subprocess.run(["sh", "-euc", 'rm -rf "$1"; mv "$2" "$1"', "sh", lab.world.top / place, aside], check=True)
    assert lab.problems(kind, is_acknowledged=False) == []


@pytest.mark.parametrize("place", [CONTROL, FOLDER])
def test_a_read_only_folder_is_told_and_readers_still_work(lab: Lab, place: str) -> None:
    kind = lab.kinds["move"]
    script = 'place=$1; shift; mount --bind "$place" "$place"; mount -o remount,bind,ro "$place"; $as_myself "$@"'
    lab.world.put(kind.before)
    folder = str(lab.world.top / place)
    ended = in_namespace(lab, script, folder, *lab.argv(kind.words))
    assert ended.code == UNREADABLE, ended
    assert "read-only" in ended.err
    read = in_namespace(lab, script, folder, *lab.argv(("status", "--json", TASK)))
    assert read.code == 0, read
    assert json.loads(read.out)["id"] == TASK
    assert lab.problems(kind, is_acknowledged=False) == []


def test_next_step_repairs_a_journal_torn_by_a_size_limit(lab: Lab) -> None:
    """A real short write of the kernel: the line's beginning reaches the journal, the rest is refused."""
    kind = lab.kinds["move"]
    lab.world.put(kind.before)
    journal = lab.world.top / CONTROL / "journal.jsonl"
    size = journal.stat().st_size
    argv = [sys.executable, "-c", LIMITED, str(size + 40), *lab.argv(kind.words)]
    done = subprocess.run(argv, cwd=lab.cwd, env=lab.environment, capture_output=True, text=True, check=False)
    ended = Ended(done.returncode, done.stdout, done.stderr)
    assert ended.code == UNREADABLE, ended
    assert told_problems(kind, ended) == []
    assert lab.problems(kind, is_acknowledged=False) == []


@pytest.mark.usefixtures("strace")
@pytest.mark.parametrize(("error", "words"), [("EMFILE", "too many files are open"), ("EIO", "input/output error")])
def test_host_that_refuses_a_look_is_no_bug(lab: Lab, tmp_path: Path, error: str, words: str) -> None:
    kind = lab.kinds["move"]
    lab.world.put(kind.before)
    argv = lab.argv(("doctor", "--quick"))
    _, calls = record(argv, cwd=lab.cwd, env=lab.environment, log=tmp_path / "looks.strace", names=("openat",))
    look = next(call for call in calls if '/.git/HEAD"' in call.arguments)
    ended = disturb(argv, cwd=lab.cwd, env=lab.environment, name="openat", how=f"error={error}", number=look.number)
    assert ended.code == UNREADABLE, ended
    assert ended.err.startswith("storage: ")
    assert words in ended.err
    assert "next:" in ended.err


def test_output_that_can_not_be_written_is_no_success(lab: Lab) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    kind = lab.kinds["move"]
    lab.world.put(kind.before)
    full = os.open("/dev/full", os.O_WRONLY)
    done = subprocess.run(
        lab.argv(kind.words),
        cwd=lab.cwd,
        env=lab.environment,
        stdout=full,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(full)
    assert done.returncode == UNREADABLE, done
    assert "Exception ignored" not in done.stderr
    assert lab.problems(kind, is_acknowledged=False) == []
