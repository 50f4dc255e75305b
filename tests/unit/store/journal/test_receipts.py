"""Tests of receipts: every attempt is kept, the last one counts, and a damaged receipt proves nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from detent.store.disk.digest import sha256_of
from detent.store.journal.receipts import Receipt, ReceiptStore

KEY = "ab" * 32
GREEN: dict[str, Any] = {"key": KEY, "command": "make", "tree": "t", "attempts": [1, 0], "log": "l", "problem": ""}


@pytest.fixture
def store(tmp_path: Path) -> ReceiptStore:
    return ReceiptStore(str(tmp_path))


def test_every_attempt_is_kept_and_the_last_one_counts(store: ReceiptStore) -> None:
    receipt = Receipt(KEY, "make test", "tree", (1,), "log", time="now")
    saved = store.save(receipt)
    assert store.find(KEY) == saved == receipt.replace(digest=saved.digest)
    assert saved.digest == sha256_of(Path(store.path(KEY)).read_bytes())
    assert not receipt.is_green
    for attempts, is_green in (((1, 0), True), ((1, 0, -9), False), ((1, 0, -9, 0), True)):
        store.save(receipt.replace(attempts=attempts))
        found = store.find(KEY)
        assert found is not None
        assert (found.attempts, found.is_green) == (attempts, is_green)


def test_a_run_that_was_not_finished_is_not_green() -> None:
    assert not Receipt(KEY, "make", "t", (0,), "l", problem="timed out after 5 s").is_green
    assert not Receipt(KEY, "make", "t", (), "l").is_green


def test_logs_of_different_attempts_and_keys_are_different_files(store: ReceiptStore) -> None:
    paths = {store.log_path(key, attempt) for key in (KEY, "cd" * 32) for attempt in (1, 2)}
    assert len(paths) == 4


def test_a_command_that_is_no_text_survives(store: ReceiptStore) -> None:
    store.save(Receipt(KEY, "cat \udcff", "t", (0,), "l"))
    found = store.find(KEY)
    assert found is not None
    assert found.command == "cat \udcff"


def test_content_that_the_damaged_ones_are_made_from_is_green(store: ReceiptStore) -> None:
    Path(store.path(KEY)).write_text(json.dumps(GREEN), encoding="utf-8")
    found = store.find(KEY)
    assert found is not None
    assert found.is_green


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"null",
        b"[]",
        b"\0\0\0",
        b"[" * 100_000,
        json.dumps({**GREEN, "key": "cd" * 32}).encode(),
        json.dumps({**GREEN, "attempts": "0"}).encode(),
        json.dumps({**GREEN, "attempts": [False]}).encode(),
        json.dumps({**GREEN, "attempts": [0.4]}).encode(),
        json.dumps({**GREEN, "attempts": ["0"]}).encode(),
        json.dumps({**GREEN, "attempts": {"0": 1}}).encode(),
        json.dumps({**GREEN, "attempts": None}).encode(),
        json.dumps({**GREEN, "problem": None}).encode(),
        json.dumps({**GREEN, "colour": "red"}).encode(),
        json.dumps({key: value for key, value in GREEN.items() if key != "tree"}).encode(),
        json.dumps(GREEN).encode()[:-1],
        json.dumps({**GREEN, "digest": "a lie"}).encode(),
    ],
)
def test_a_damaged_receipt_proves_nothing(store: ReceiptStore, content: bytes) -> None:
    Path(store.path(KEY)).write_bytes(content)
    assert store.find(KEY) is None


def test_a_receipt_that_is_a_link_proves_nothing(store: ReceiptStore, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text(json.dumps(GREEN), encoding="utf-8")
    Path(store.path(KEY)).symlink_to(tmp_path / "elsewhere")
    assert store.find(KEY) is None


def test_a_receipt_that_was_never_made_is_none(store: ReceiptStore) -> None:
    assert store.find(KEY) is None
