"""The kept results say how each test ended, and on which source."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import pytest

from tools.results import RESULTS, ResultKeeper, read_outcomes, source_digest

Outcome = Literal["passed", "failed", "skipped"]
When = Literal["setup", "call", "teardown"]


def report(test: str, outcome: Outcome, when: When = "call") -> pytest.TestReport:
    return pytest.TestReport(test, ("", None, ""), {}, outcome, None, when)


def keep(project: Path, *reports: pytest.TestReport) -> dict[str, str]:
    keeper = ResultKeeper(project)
    for result in reports:
        keeper.pytest_runtest_logreport(result)
    keeper.pytest_sessionfinish()
    return read_outcomes(project, source_digest(project))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.py").write_text("a = 1\n", encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("reports", "outcome"),
    [
        ([report("t", "passed", "setup"), report("t", "passed"), report("t", "passed", "teardown")], "passed"),
        ([report("t", "failed", "setup")], "failed"),
        ([report("t", "passed"), report("t", "failed", "teardown")], "failed"),
        ([report("t", "failed"), report("t", "passed", "teardown")], "failed"),
        ([report("t", "skipped", "setup"), report("t", "passed", "teardown")], "skipped"),
        ([report("t", "passed", "setup"), report("t", "skipped")], "skipped"),
    ],
)
def test_a_test_ends_as_its_worst_part(project: Path, reports: list[pytest.TestReport], outcome: str) -> None:
    assert keep(project, *reports) == {"t": outcome}


def test_runs_on_one_source_add_up(project: Path) -> None:
    keep(project, report("a", "passed"), report("b", "failed"))
    assert keep(project, report("b", "passed")) == {"a": "passed", "b": "passed"}


def test_results_of_another_source_are_dropped(project: Path) -> None:
    keep(project, report("a", "passed"))
    (project / "src" / "a.py").write_text("a = 2\n", encoding="utf-8")
    assert keep(project, report("b", "passed")) == {"b": "passed"}


def test_an_edit_during_the_run_is_not_vouched_for(project: Path) -> None:
    keeper = ResultKeeper(project)
    keeper.pytest_runtest_logreport(report("a", "passed"))
    (project / "src" / "a.py").write_text("a = 2\n", encoding="utf-8")
    keeper.pytest_sessionfinish()
    assert read_outcomes(project, source_digest(project)) == {}


def test_bytecode_is_no_source(project: Path) -> None:
    before = source_digest(project)
    (project / "src" / "__pycache__").mkdir()
    (project / "src" / "__pycache__" / "a.pyc").write_bytes(b"x")
    assert source_digest(project) == before


@pytest.mark.parametrize("text", ["", "[]", '{"source": 1}', '{"source": "x", "outcomes": []}'])
def test_a_damaged_result_file_counts_as_none(project: Path, text: str) -> None:
    (project / RESULTS).write_text(text, encoding="utf-8")
    assert read_outcomes(project, "x") == {}
