"""Tests of the hashes: short and long texts are hashed in two ways, which must agree, and the slow start is put off."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path

import pytest

from detent.store.disk.digest import sha1_of, sha256_of

SOURCE = Path(__file__).parents[4] / "src"
CODE = """
import sys
from detent.store.disk.digest import sha1_of, sha256_of
hashes = {"sha1": sha1_of, "sha256": sha256_of}
print(hashes[sys.argv[1]](b"x" * int(sys.argv[2])), hashes[sys.argv[1]](b""), "hashlib" in sys.modules)
"""


def test_a_hash_is_the_one_that_everybody_else_computes() -> None:
    for data in (b"", b"x", b"line\n" * 1000, bytes(1_000_000)):
        assert sha256_of(data) == hashlib.sha256(data).hexdigest()
        assert sha1_of(data) == hashlib.sha1(data, usedforsecurity=False).hexdigest()


@pytest.mark.parametrize("kind", ["sha1", "sha256"])
@pytest.mark.parametrize("size", [1000, 1_000_000])
def test_the_fast_library_is_loaded_only_for_much(kind: str, size: int) -> None:
    """In a process of its own: here others have loaded it, and have hashed much."""
    argv = (sys.executable, "-S", "-c", CODE, kind, str(size))
    done = subprocess.run(argv, env={"PYTHONPATH": str(SOURCE)}, capture_output=True, encoding="utf-8", check=True)
    expected = [hashlib.new(kind, data, usedforsecurity=False).hexdigest() for data in (b"x" * size, b"")]
    assert done.stdout.split() == [*expected, str(size == 1_000_000)]
