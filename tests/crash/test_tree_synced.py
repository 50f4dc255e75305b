"""What taking a tree waits for: each new object is synced before it has its name, the index of git never is."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from detent.effects.git.git import find_repository
from detent.effects.git.tree.tree_id import take_tree
from tests.conftest import MakeRepo

pytestmark = pytest.mark.usefixtures("strace")

TAKE = """
import sys
from detent.effects.git.git import find_repository
from detent.effects.git.tree.tree_id import take_tree
path, private, looks_untouched = sys.argv[1:]
repository = find_repository(path)
take_tree(private, path, repository, repository.head, looks_untouched=bool(looks_untouched))
"""


@pytest.mark.parametrize("looks_untouched", ["", "looks untouched"])
def test_every_object_is_synced_and_no_index(repo: MakeRepo, tmp_path: Path, looks_untouched: str) -> None:
    path, private = repo(files={"a": "one\n", "b/c": "two\n"}), tmp_path / "private"
    repository = find_repository(str(path))
    assert repository is not None
    take_tree(str(private), str(path), repository, repository.head)
    for name in ("a", "b/c"):
        (path / name).write_text("other\n" + name, encoding="utf-8")
    before, log = set((private / "objects").rglob("*")), tmp_path / "log"
    strace = ("strace", "-f", "-y", "-e", "trace=fsync,fdatasync", "-o", str(log))
    subprocess.run(
        [*strace, sys.executable, "-c", TAKE, str(path), str(private), looks_untouched],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        check=True,
    )
    calls = log.read_text(encoding="utf-8", errors="replace")
    synced = [line for line in calls.splitlines() if "sync(" in line and str(private) in line]
    made = [path for path in (private / "objects").rglob("*") if path.is_file() and path not in before]
    assert len(made) == 4, "two files and the folders they lie in"
    assert sum("/objects/" in line for line in synced) == len(made), calls
    assert not [line for line in synced if "/cache/" in line], calls
