"""Tests of how errors are told: in the same shape for programs, harmless for terminals."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from detent.faces.cli.reports import BUG, report_unforeseen


@pytest.mark.parametrize("as_json", [False, True])
def test_a_bug_is_told_in_words_and_as_json(
    *, as_json: bool, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert report_unforeseen(KeyError("\x1b[31m\n"), as_json=as_json) == BUG
    printed = capsys.readouterr()
    (log,) = tmp_path.iterdir()
    if as_json:
        error = json.loads(printed.out)["error"]
        assert (error["kind"], error["where"], error["next"]) == ("bug", str(log), "please report that file")
        assert (sorted(error), printed.err) == (["kind", "next", "problems", "what", "where"], "")
    else:
        assert (printed.err.splitlines()[0][:14], "\x1b" in printed.err, printed.out) == ("bug: KeyError:", False, "")
        assert f"  where: {log}\n" in printed.err
