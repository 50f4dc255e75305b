"""Tests of files that are replaced by swapping names, in processes of their own: the way changes with their number."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from detent.store.disk.exchange import MOST_RENAMES

SOURCE = Path(__file__).parents[4] / "src"
OFTEN = MOST_RENAMES + 3
linux_only = pytest.mark.skipif(sys.platform != "linux", reason="other systems rename as ever")


def run(code: str, folder: Path) -> list[str]:
    head = f"import os, sys\nfrom detent.store.disk.atomic import write_atomic\nos.chdir({str(folder)!r})\n"
    done = subprocess.run(
        [sys.executable, "-S", "-c", head + code],
        env={"PYTHONPATH": str(SOURCE)},
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=True,
    )
    return done.stdout.split()


@linux_only
def test_the_swapping_library_is_loaded_only_for_frequent_writes(tmp_path: Path) -> None:
    said = run(
        f"for number in range({OFTEN}):\n"
        "    write_atomic('file', b'text', durable=False, is_carried=True)\n"
        "    print('ctypes' in sys.modules)\n",
        tmp_path,
    )
    assert said == ["False"] * MOST_RENAMES + ["True"] * (OFTEN - MOST_RENAMES)


def test_each_new_text_replaces_the_old_without_leftovers(tmp_path: Path) -> None:
    said = run(
        f"for number in range({OFTEN}):\n"
        "    write_atomic('file', b'%d' % number, durable=False, mode=0o640, is_carried=True)\n"
        "    print(open('file').read(), oct(os.stat('file').st_mode)[-3:], *os.listdir())\n",
        tmp_path,
    )
    assert said == [word for number in range(OFTEN) for word in (str(number), "640", "file")]


def test_an_open_old_file_is_read_to_its_end(tmp_path: Path) -> None:
    said = run(
        f"for number in range({OFTEN}):\n"
        "    write_atomic('file', b'%d' % number * 9000, durable=False, is_carried=True)\n"
        "    reader = open('file') if number == 0 else reader\n"
        "    print(len(reader.read()) if number == 0 else reader.seek(0) + len(reader.read().strip('0')))\n",
        tmp_path,
    )
    assert said == ["9000"] + ["0"] * (OFTEN - 1)


def test_a_file_that_is_not_there_yet_is_put_there(tmp_path: Path) -> None:
    said = run(
        f"for number in range({OFTEN}):\n"
        "    write_atomic(f'file-{number}', b'text', durable=False, is_carried=True)\n"
        "print(*sorted(os.listdir()))\n",
        tmp_path,
    )
    assert said == [f"file-{number}" for number in range(OFTEN)]
