"""A type checker knows the fields of journal lines: whoever renames one where it is written or read is told."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SOURCE = Path(__file__).parents[4] / "src"
RIGHT = """from detent.store.journal.events import Restored
from detent.store.journal.run_events import RunVoid

line = RunVoid(run=1, why="it could not start")
print(line.why, line.seq, Restored(file="a", why="b", kept="").file)
"""
WRONG = {
    'RunVoid(run=1, because="")': 'Unexpected keyword argument "because" for "RunVoid"',
    "RunVoid(run=1)": 'Missing named argument "why" for "RunVoid"',
    'RunVoid(run="1", why="")': 'Argument "run" to "RunVoid" has incompatible type "str"; expected "int"',
    "line.because": '"RunVoid" has no attribute "because"',
    'line["why"]': 'Value of type "RunVoid" is not indexable',
    'line.why = ""': 'Property "why" defined in "RunVoid" is read-only',
}


def test_a_renamed_field_is_an_error_of_types(tmp_path: Path) -> None:
    (tmp_path / "writer.py").write_text(RIGHT + "".join(f"{code}\n" for code in WRONG), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--config-file=", "--cache-dir=cache", "writer.py"],
        cwd=tmp_path,
        env={"MYPYPATH": str(SOURCE), "PATH": ""},
        capture_output=True,
        encoding="utf-8",
        timeout=300,
        check=False,
    )
    told = dict.fromkeys(range(1, RIGHT.count("\n") + len(WRONG) + 1), "")
    for row in done.stdout.splitlines():
        if row.startswith("writer.py:"):
            _, place, words = row.split(":", 2)
            told[int(place)] += words
    for number, code in enumerate(RIGHT.splitlines(), 1):
        assert not told[number], code
    for number, (code, words) in enumerate(WRONG.items(), RIGHT.count("\n") + 1):
        assert words in told[number], (code, done.stdout)
