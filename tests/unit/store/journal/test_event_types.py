"""A type checker knows the fields of journal lines, of what is folded from them, and of `[store]`.

A field that is renamed where it is made is an error where it is read.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SOURCE = Path(__file__).parents[4] / "src"
RIGHT = """from detent.core.machine import Machine
from detent.store.journal.events import Restored
from detent.store.journal.memory import LastRun, Memory
from detent.store.journal.run_events import RunVoid

line = RunVoid(run=1, why="it could not start")
print(line.why, line.seq, Restored(file="a", why="b", kept="").file)


def read(memory: Memory, machine: Machine) -> tuple[object, ...]:
    return memory.head.digest, memory.run.run, memory.visit.exit, memory.deploy.word.tree, machine.store.file


def wrong(memory: Memory, machine: Machine) -> None:
    LastRun(run=1)
"""
WRONG = {
    "    memory.head.digests": '"Head" has no attribute "digests"; maybe "digest"?',
    '    memory.head["digest"]': 'Value of type "Head" is not indexable',
    "    memory.run.number": '"Run" has no attribute "number"',
    '    memory.visit.get("exit")': '"Visit" has no attribute "get"',
    "    memory.deploy.word.trees": '"Word" has no attribute "trees"; maybe "tree"?',
    '    memory.signed["sign"].trees': '"Signature" has no attribute "trees"; maybe "tree"?',
    "    LastRun(number=1)": 'Unexpected keyword argument "number" for "LastRun"',
    "    machine.store.files_": '"StoreSpec" has no attribute "files_"',
    '    machine.store["file"]': 'Value of type "StoreSpec" is not indexable',
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
    errors = dict.fromkeys(range(1, RIGHT.count("\n") + len(WRONG) + 1), "")
    for row in done.stdout.splitlines():
        if row.startswith("writer.py:"):
            _, place, words = row.split(":", 2)
            errors[int(place)] += words
    for number, code in enumerate(RIGHT.splitlines(), 1):
        assert not errors[number], code
    for number, (code, words) in enumerate(WRONG.items(), RIGHT.count("\n") + 1):
        assert words in errors[number], (code, done.stdout)
