"""The requirements table counts real marks only and rejects marks it cannot resolve."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tools.requirements_table import TABLE, collect_claims, index_outcomes, main, read_requirements, standing, summarize
from tools.results import RESULTS, source_digest

ROWS = "id\tseed\trequirement\nS0.1\t000\tfirst\nS0.2\t000\tsecond\nS1.1\t001\tthird\n"
KNOWN = frozenset({"S0.1", "S0.2", "S1.1"})


def write_test_file(folder: Path, source: str) -> Path:
    tests = folder / "tests"
    tests.mkdir(exist_ok=True)
    (tests / "test_sample.py").write_text("import pytest\n" + source, encoding="utf-8")
    return tests


def test_the_real_table_is_complete() -> None:
    requirements = read_requirements(TABLE)
    assert len(requirements) == 407
    assert len({requirement.id for requirement in requirements}) == 407
    assert all(requirement.text for requirement in requirements)


@pytest.mark.parametrize(
    ("source", "test"),
    [
        ('@pytest.mark.requirement("S0.1")\ndef test_a(): ...\n', "tests/test_sample.py::test_a"),
        ('@pytest.mark.requirement("S0.1")\nclass TestA:\n    def test_b(self): ...\n', "tests/test_sample.py::TestA"),
        (
            'class TestA:\n    @pytest.mark.requirement("S0.1")\n    def test_b(self): ...\n',
            "tests/test_sample.py::TestA::test_b",
        ),
        (
            '@pytest.mark.parametrize("x", [pytest.param(1, marks=pytest.mark.requirement("S0.1"))])\n'
            "def test_a(x): ...\n",
            "tests/test_sample.py::test_a",
        ),
        ('pytestmark = pytest.mark.requirement("S0.1")\n', "tests/test_sample.py"),
    ],
    ids=["function", "class", "method", "parameter", "module"],
)
def test_a_mark_is_credited_to_the_test_that_carries_it(tmp_path: Path, source: str, test: str) -> None:
    claims = collect_claims(write_test_file(tmp_path, source), KNOWN)
    assert claims.tests == {"S0.1": {"shown": [test]}}
    assert claims.problems == []


@pytest.mark.parametrize("mark", ["skip", 'skip(reason="later")', "xfail"])
def test_a_test_that_never_runs_shows_nothing(tmp_path: Path, mark: str) -> None:
    source = f'@pytest.mark.{mark}\n@pytest.mark.requirement("S0.1")\ndef test_a(): ...\n'
    assert collect_claims(write_test_file(tmp_path, source), KNOWN).tests == {}


@pytest.mark.parametrize(
    ("argument", "problem"),
    [
        ('"S9.9"', "tests/test_sample.py:2: unknown requirement 'S9.9'"),
        ("ROW", "tests/test_sample.py:2: a requirement must be a literal string, not ROW"),
    ],
)
def test_a_mark_that_names_no_row_is_a_problem(tmp_path: Path, argument: str, problem: str) -> None:
    source = f"@pytest.mark.requirement({argument})\ndef test_a(): ...\n"
    claims = collect_claims(write_test_file(tmp_path, source), KNOWN)
    assert claims.tests == {}
    assert claims.problems == [problem]


def test_told_rows_are_kept_apart_from_shown_rows(tmp_path: Path) -> None:
    source = '@pytest.mark.told("S0.1")\n@pytest.mark.requirement("S0.2")\ndef test_a(): ...\n'
    claims = collect_claims(write_test_file(tmp_path, source), KNOWN)
    test = "tests/test_sample.py::test_a"
    assert claims.tests == {"S0.1": {"told": [test]}, "S0.2": {"shown": [test]}}


@pytest.mark.parametrize(
    ("tests", "outcomes", "word"),
    [
        ({}, {}, "open"),
        ({"shown": ["t.py::a"]}, {}, "not run"),
        ({"shown": ["t.py::a"]}, {"t.py::ab": "passed"}, "not run"),
        ({"shown": ["t.py::a"]}, {"t.py::a": "passed"}, "shown"),
        ({"shown": ["t.py::a"]}, {"t.py::a": "skipped"}, "skipped"),
        ({"shown": ["t.py::a", "t.py::b"]}, {"t.py::a": "passed"}, "not run"),
        ({"shown": ["t.py::a"], "told": ["t.py::b"]}, {"t.py::a": "passed"}, "not run"),
        ({"shown": ["t.py::a"]}, {"t.py::a[1]": "passed", "t.py::a[x::y]": "failed"}, "failed"),
        ({"shown": ["t.py::A"]}, {"t.py::A::b": "passed", "t.py::A::c[1]": "skipped"}, "shown"),
        ({"shown": ["t.py"]}, {"t.py::A::b": "passed"}, "shown"),
        ({"told": ["t.py::a"]}, {"t.py::a": "passed"}, "told"),
        ({"shown": ["t.py::b"], "told": ["t.py::a"]}, {"t.py::a": "passed", "t.py::b": "skipped"}, "told"),
        ({"shown": ["t.py::b"], "told": ["t.py::a"]}, {"t.py::a": "failed", "t.py::b": "passed"}, "failed"),
    ],
)
def test_a_row_counts_by_how_its_tests_ended(tests: dict[str, list[str]], outcomes: dict[str, str], word: str) -> None:
    assert standing(tests, index_outcomes(outcomes)) == word


def test_the_summary_counts_per_seed(tmp_path: Path) -> None:
    table = tmp_path / "requirements.tsv"
    table.write_text(ROWS, encoding="utf-8")
    lines = summarize(read_requirements(table), {"S0.1": "told", "S0.2": "shown", "S1.1": "failed"})
    assert list(lines) == [
        "S0: 2 rows: 1 shown, 1 told, 0 open",
        "S1: 1 rows: 0 shown, 0 told, 0 open, 1 failed",
        "all: 3 rows: 1 shown, 1 told, 0 open, 1 failed",
    ]


def write_project(folder: Path, outcome: str) -> tuple[str, ...]:
    """A project whose one test ended so on its very source; the options that name it."""
    table = folder / "requirements.tsv"
    table.write_text(ROWS, encoding="utf-8")
    tests = write_test_file(folder, '@pytest.mark.requirement("S0.2")\ndef test_a(): ...\n')
    kept = {"source": source_digest(folder), "outcomes": {"tests/test_sample.py::test_a": outcome}}
    (folder / RESULTS).write_text(json.dumps(kept), encoding="utf-8")
    return ("--requirements", str(table), "--tests", str(tests))


@pytest.mark.parametrize(
    ("option", "rows"),
    [
        ("--open", ["S0.1\topen\tfirst", "S1.1\topen\tthird"]),
        (
            "--table",
            [
                "S0.1\topen\tfirst\t",
                "S0.2\tshown\tsecond\ttests/test_sample.py::test_a",
                "S1.1\topen\tthird\t",
            ],
        ),
    ],
)
def test_rows_are_listed_on_request(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], option: str, rows: list[str]
) -> None:
    assert main([option, *write_project(tmp_path, "passed")]) == 0
    assert capsys.readouterr().out.splitlines()[: len(rows)] == rows


def test_a_row_whose_test_failed_is_not_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(write_project(tmp_path, "failed")) == 1
    assert "all: 3 rows: 0 shown, 0 told, 2 open, 1 failed" in capsys.readouterr().out


def test_results_of_another_source_count_for_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = write_project(tmp_path, "passed")
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "new.py").write_text("", encoding="utf-8")
    assert main(options) == 1
    printed = capsys.readouterr()
    assert "all: 3 rows: 0 shown, 0 told, 2 open, 1 not run" in printed.out
    assert "not run: no results for this source; next: make test" in printed.err


def test_run_runs_the_marked_tests_first(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    options = write_project(tmp_path, "failed")
    (tmp_path / "pyproject.toml").write_text(
        '[tool.pytest.ini_options]\nmarkers = ["requirement", "told"]\naddopts = ["-p", "no:cacheprovider"]\n',
        encoding="utf-8",
    )
    keeper = "from pathlib import Path\nfrom tools.results import ResultKeeper\n\n\n"
    keeper += "def pytest_configure(config):\n"
    keeper += "    if not hasattr(config, 'workerinput'):\n"
    keeper += "        config.pluginmanager.register(ResultKeeper(Path(config.rootpath)))\n"
    (tmp_path / "tests" / "conftest.py").write_text(keeper, encoding="utf-8")
    (tmp_path / "tools").symlink_to(Path(__file__).resolve().parents[3] / "tools")
    assert main(["--run", *options]) == 0
    assert "all: 3 rows: 1 shown, 0 told, 2 open" in capfd.readouterr().out


def test_an_unknown_requirement_fails_the_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tests = write_test_file(tmp_path, '@pytest.mark.requirement("S9.9")\ndef test_a(): ...\n')
    assert main(["--tests", str(tests)]) == 1
    assert "unknown requirement 'S9.9'" in capsys.readouterr().err
