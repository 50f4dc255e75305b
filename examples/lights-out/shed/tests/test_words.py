"""One test for each criterion of scaffolding/scope.md."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

PROGRAM = Path(__file__).resolve().parent.parent / "words.py"


def run(path: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, str(PROGRAM), path], capture_output=True, text=True, check=False)


class Words(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.file = Path(folder.name, "a.txt")

    def test_ac_1_prints_the_number_of_words(self) -> None:
        self.file.write_text("one two\nthree\n", encoding="utf-8")
        assert run(str(self.file)).stdout == "words=3\n"

    def test_ac_2_counts_a_large_file_in_time(self) -> None:
        self.file.write_text("word " * 200_000, encoding="utf-8")
        begin = time.monotonic()
        assert run(str(self.file)).stdout == "words=200000\n"
        assert time.monotonic() - begin < 60

    def test_ac_3_reports_a_missing_file(self) -> None:
        done = run("none.txt")
        assert (done.returncode, done.stdout) == (2, "")
        assert "none.txt" in done.stderr


if __name__ == "__main__":
    unittest.main()
