"""Kills each kind of step at the system calls by which it changes files, and looks at what is left.

By default at all calls between a line of the journal and its cache, and at a few of the others;
DETENT_CRASH=full kills at every one.
"""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import zlib

import pytest

from tests.crash.deaths import DyingGit
from tests.crash.lab import KINDS, SETTLE, Kind, Lab
from tests.crash.points import FULL, find_points
from tests.crash.trace import Ended
from tests.crash.world import CONTROL, JOURNAL, LOG, ending, git_object, read_journal, whole_lines


@pytest.mark.usefixtures("strace")
@pytest.mark.parametrize("name", KINDS)
def test_a_killed_step_loses_nothing_and_does_nothing_twice(lab: Lab, name: str) -> None:
    kind = lab.kinds[name]
    points = find_points(lab, kind).sample(every=40)
    assert len(points) > 10, f"only {len(points)} points were found; is the trace whole?"
    wrong = []
    for call in points:
        ended = lab.kill(kind, call)
        found = lab.problems(kind, is_acknowledged=bool(ended.out))
        wrong += [f"{call}: {problem}" for problem in found]
    lab.count("kills", kind.name, len(points))
    assert not wrong, "\n".join(wrong[:20])


def run_with_dying_git(lab: Lab, kind: Kind, when: int, how: str) -> tuple[Ended, int]:
    """Run a step whose `when`-th git is killed before or after it did its work; also says how often git was called."""
    git = DyingGit(lab.folder / "dying", lab.environment["PATH"], how)
    environment = {**lab.environment, **git.variables(when)}
    lab.world.put(kind.before)
    done = subprocess.run(
        lab.argv(kind.words), cwd=lab.cwd, env=environment, capture_output=True, text=True, check=False
    )
    return Ended(done.returncode, done.stdout, done.stderr), git.calls()


@pytest.mark.parametrize("how", ["before", "after"])
@pytest.mark.parametrize("name", ["move and checkpoint", "move and prove"])
def test_killed_git_loses_nothing(lab: Lab, name: str, how: str) -> None:
    kind = lab.kinds[name]
    ended, calls = run_with_dying_git(lab, kind, 0, how)
    assert ended.code == kind.code, ended
    assert calls > 5
    wrong = []
    tried = range(1, calls + 1, 1 if FULL else 5)
    for when in tried:
        ended, _ = run_with_dying_git(lab, kind, when, how)
        said = ended.out + ended.err
        if ended.code not in (kind.code, 5) or "bug:" in said or "Traceback" in said:
            wrong.append(f"git call {when} killed {how}: ended with {ended}")
        found = lab.problems(kind, is_acknowledged=ended.code == kind.code)
        wrong += [f"git call {when} killed {how}: {problem}" for problem in found]
    lab.count("killed git", f"{kind.name}, {how}", len(tried))
    assert not wrong, "\n".join(wrong[:20])


def test_a_checkpoint_from_before_the_kill_is_not_repeated(lab: Lab) -> None:
    """The engine died between a checkpoint's ref and its line; the commit is old, so that a second one would differ."""
    kind = lab.kinds["move and checkpoint"]
    files = dict(kind.after)
    lines = whole_lines(files[JOURNAL] or b"")
    acted = json.loads(lines[-1])
    assert acted["kind"] == "acted"
    for name in (JOURNAL, LOG):
        files[name] = b"".join(line + b"\n" for line in whole_lines(files[name] or b"")[:-1])
    for name in ("snapshot.json", "projected.jsonl", "native-last"):  # caches that know of the line
        del files[f"{CONTROL}/{name}"]
    text = git_object(files, acted["result"]["commit"])
    old = re.sub(rb"(?m)^(author|committer) (.*) \d+ ", rb"\1 \2 1000000000 ", text)
    assert old != text
    whole = b"commit %d\0%s" % (len(old), old)
    commit = hashlib.sha1(whole).hexdigest()
    files.setdefault(f"{CONTROL}/git/objects/{commit[:2]}", None)
    files[f"{CONTROL}/git/objects/{commit[:2]}/{commit[2:]}"] = zlib.compress(whole)
    (ref,) = [name for name in files if name.startswith(f"{CONTROL}/git/refs/detent/") and files[name] is not None]
    files[ref] = f"{commit}\n".encode()
    lab.world.put(files)
    lab.run(SETTLE)
    left = lab.world.read()
    assert left[ref] == files[ref], "the checkpoint was made a second time"
    assert read_journal(left)[-1]["result"]["commit"] == commit
    assert ending(left, lab.committed).differences(kind.end) == []
