"""The power-cut model itself: it must find the faults that everybody makes, and none in a careful writer."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.crash.disk import NAMES, Recording, cuts
from tests.crash.trace import record

pytestmark = pytest.mark.usefixtures("strace")

OLD, NEW = b"old", b"new and longer"
WRITERS = {
    "careful": "t=open(4); os.write(t, NEW); os.fsync(t); os.rename(TMP, PATH); sync(); print('done')",
    "bytes not synced": "t=open(4); os.write(t, NEW); os.rename(TMP, PATH); sync(); print('done')",
    "name not synced": "t=open(4); os.write(t, NEW); os.fsync(t); os.rename(TMP, PATH); print('done')",
    "told too early": "print('done'); t=open(4); os.write(t, NEW); os.fsync(t); os.rename(TMP, PATH); sync()",
    "in place": "t=os.open(PATH, os.O_WRONLY | os.O_TRUNC); os.write(t, NEW); os.fsync(t); print('done')",
}
PRELUDE = """
import functools, os, sys
print = functools.partial(print, flush=True)
TOP, NEW = sys.argv[1], sys.argv[2].encode()
PATH, TMP = TOP + "/folders/file", TOP + "/folders/tmp"
open = lambda mode: os.open(TMP, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
sync = lambda: os.fsync(os.open(TOP + "/folders", os.O_RDONLY))
"""


def bad_disks(tmp_path: Path, writer: str) -> int:
    """How many disks hold neither the old nor the new bytes, or the old ones although the new were acknowledged."""
    top = tmp_path / "world"
    (top / "folders").mkdir(parents=True)
    (top / "folders/file").write_bytes(OLD)
    before = {"folders": None, "folders/file": OLD}
    ended, calls = record(
        [sys.executable, "-I", "-S", "-c", PRELUDE + WRITERS[writer], str(top), NEW.decode()],
        cwd=tmp_path,
        env={},
        log=tmp_path / "log",
        names=NAMES,
        with_data=True,
    )
    assert ended.out == "done\n", ended
    recording = Recording(before, calls, str(top), calls[0].pid)
    assert recording.files() == {"folders": None, "folders/file": NEW}
    found = list(cuts(recording))
    assert len(found) > 1
    return sum(
        cut.files.get("folders/file") != NEW and (cut.is_acknowledged or cut.files.get("folders/file") != OLD)
        for cut in found
    )


@pytest.mark.parametrize("writer", [name for name in WRITERS if name != "careful"])
def test_every_common_fault_is_found(tmp_path: Path, writer: str) -> None:
    assert bad_disks(tmp_path, writer) > 0


def test_a_careful_writer_has_no_bad_disk(tmp_path: Path) -> None:
    assert bad_disks(tmp_path, "careful") == 0


def test_what_a_helper_wrote_without_a_sync_may_be_missing(tmp_path: Path) -> None:
    top = tmp_path / "world"
    (top / "folders").mkdir(parents=True)
    script = (
        "import subprocess, sys; subprocess.run(['sh', '-c', 'echo kept > \"$0\"', sys.argv[1]], check=True); print(1)"
    )
    ended, calls = record(
        [sys.executable, "-I", "-S", "-c", script, str(top / "folders/made")],
        cwd=tmp_path,
        env={"PATH": "/usr/bin:/bin"},
        log=tmp_path / "log",
        names=NAMES,
        with_data=True,
    )
    assert ended.code == 0, ended
    recording = Recording({"folders": None}, calls, str(top), calls[0].pid)
    assert recording.files() == {"folders": None, "folders/made": b"kept\n"}
    acknowledged = [cut.files for cut in cuts(recording) if cut.is_acknowledged]
    assert {"folders": None} in acknowledged
    assert {"folders": None, "folders/made": b"kept\n"} in acknowledged
