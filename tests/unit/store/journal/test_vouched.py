"""Tests of the hashes that journal lines carry: plain files only, and bounded."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from detent.store.journal.vouched import is_as_vouched, print_of, prints_of


def test_a_print_is_size_and_hash_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "log").write_bytes(b"green\n")
    assert print_of(str(tmp_path / "log")) == {"size": 6, "sha256": hashlib.sha256(b"green\n").hexdigest()}


def test_print_of_first_bytes_does_not_change_when_file_grows(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"one\n")
    before = print_of(str(path))
    path.write_bytes(b"one\ntwo\n")
    assert print_of(str(path), 4) == before
    assert print_of(str(path)) != before


def test_links_fifos_and_folders_have_no_print(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x")
    (tmp_path / "link").symlink_to("file")
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "fifo")
    assert set(prints_of(str(tmp_path), ("file", "link", "folder", "fifo", "none"))) == {"file"}


def test_changed_bytes_are_not_as_vouched(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"red\n")
    vouched = print_of(str(path))
    assert vouched is not None
    assert is_as_vouched(str(path), vouched)
    path.write_bytes(b"ok!\n")
    assert not is_as_vouched(str(path), vouched)
    path.write_bytes(b"red\nmore\n")
    assert is_as_vouched(str(path), vouched, may_grow=True)
    assert not is_as_vouched(str(path), vouched)
