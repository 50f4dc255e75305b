"""The requirements table counts real marks only and rejects marks it cannot resolve."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.requirements_table import TABLE, collect_claims, main, read_requirements, summarize

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
    assert claims.tests == {"S0.1": [test]}
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


def test_the_summary_counts_per_seed(tmp_path: Path) -> None:
    table = tmp_path / "requirements.tsv"
    table.write_text(ROWS, encoding="utf-8")
    lines = summarize(read_requirements(table), {"S0.2": ["a"]})
    assert list(lines) == ["S0: 1/2 shown", "S1: 0/1 shown", "all: 1/3 shown"]


@pytest.mark.parametrize(
    ("option", "rows"),
    [
        ("--open", ["S0.1\tfirst", "S1.1\tthird"]),
        ("--table", ["S0.1\tfirst\t", "S0.2\tsecond\ttests/test_sample.py::test_a", "S1.1\tthird\t"]),
    ],
)
def test_rows_are_listed_on_request(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], option: str, rows: list[str]
) -> None:
    table = tmp_path / "requirements.tsv"
    table.write_text(ROWS, encoding="utf-8")
    tests = write_test_file(tmp_path, '@pytest.mark.requirement("S0.2")\ndef test_a(): ...\n')
    assert main([option, "--requirements", str(table), "--tests", str(tests)]) == 0
    assert capsys.readouterr().out.splitlines() == [*rows, "S0: 1/2 shown", "S1: 0/1 shown", "all: 1/3 shown"]


def test_an_unknown_requirement_fails_the_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tests = write_test_file(tmp_path, '@pytest.mark.requirement("S9.9")\ndef test_a(): ...\n')
    assert main(["--tests", str(tests)]) == 1
    assert "unknown requirement 'S9.9'" in capsys.readouterr().err
