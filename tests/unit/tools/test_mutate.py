"""The mutation runner makes every kind of change it promises, tells red from green, and keeps what people wrote."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tools import mutate
from tools.mutate import ROOMS, Bench, Mutant, Report, Verdict, digest_of, main, mutants, python_files, relevant_tests

SAMPLE = '''"""A docstring is left alone."""
TYPE_CHECKING = False
if TYPE_CHECKING:
    LIMIT = 1


def judge(left: int = 1, right: int | None = None) -> bool:
    """So is this one."""
    found = []
    if left < 2 and right is not None:
        return False
    for one in [item for item in range(left) if item > 0]:
        found.append(one)
        if one in found:
            continue
        left += 1
    while left != 3:
        raise ValueError
    return (True if found else False) or left == 1
'''


def changes() -> list[tuple[int, str]]:
    return [(mutant.line, mutant.change) for mutant in mutants("src/a.py", SAMPLE)]


@pytest.mark.parametrize(
    "expected",
    [
        (7, "1 -> 2"),
        (10, "condition negated"),
        (10, "and -> or"),
        (10, "< -> <="),
        (10, "2 -> 3"),
        (10, "is not -> is"),
        (11, "statement dropped"),
        (11, "False -> True"),
        (12, "filter dropped"),
        (12, "> -> >="),
        (12, "0 -> 1"),
        (13, "statement dropped"),
        (14, "in -> not in"),
        (15, "statement dropped"),
        (16, "statement dropped"),
        (17, "!= -> =="),
        (19, "condition negated"),
        (19, "or -> and"),
        (19, "True -> False"),
        (19, "== -> !="),
    ],
)
def test_each_kind_of_change_is_made(expected: tuple[int, str]) -> None:
    assert expected in changes()


def test_what_does_not_run_is_left_alone() -> None:
    assert not {line for line, _ in changes()} & {1, 2, 3, 4, 8, 9}
    assert (7, "| -> &") not in changes()


def test_each_change_is_one_change_and_valid_code() -> None:
    made = [mutant.source for mutant in mutants("src/a.py", SAMPLE)]
    assert len(set(made)) == len(made)
    for source in made:
        compile(source, "a.py", "exec")


def test_a_change_names_its_line_as_it_was() -> None:
    mutant = next(mutant for mutant in mutants("src/a.py", SAMPLE) if mutant.change == "filter dropped")
    assert mutant.code == "for one in [item for item in range(left) if item > 0]:"
    assert "for one in [item for item in range(left)]:" in mutant.source


def test_every_file_of_the_rooms_is_found() -> None:
    files = python_files(["src/detent/core", "src/detent/gates/judge.py"])
    assert "src/detent/core/decide.py" in files
    assert files[-1] == "src/detent/gates/judge.py"


def test_tests_of_room_are_run_and_those_of_file_first() -> None:
    tests = relevant_tests("src/detent/gates/judge.py")
    assert tests[0] == "tests/unit/gates/test_judge.py"
    assert sorted(tests) == sorted(relevant_tests("src/detent/gates/plan.py"))
    assert "tests/properties/test_verdict.py" in tests
    assert not set(tests) & set(relevant_tests("src/detent/core/decide.py"))


def test_every_file_of_the_report_has_tests_to_run() -> None:
    files = python_files(ROOMS)
    assert {Path(file).parts[2] for file in files} == {"core", "gates", "packs", "store"}
    assert [file for file in files if not relevant_tests(file)] == []


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """A bench whose copy holds one small module and one test of it."""
    made = Bench(tmp_path)
    (made.folder / "src" / "sample.py").write_text("def more(one):\n    return one + 1\n", encoding="utf-8")
    folder = made.folder / "tests" / "unit" / "core"
    (folder / "test_sample.py").write_text(
        "import sample\n\ndef test_more():\n    assert sample.more(1) == 2\n", encoding="utf-8"
    )
    return made


def test_the_copy_holds_every_folder_that_tests_import(bench: Bench) -> None:
    root = Path(__file__).parents[3]
    trees = [ast.parse(file.read_text(encoding="utf-8")) for file in (root / "tests").rglob("conftest.py")]
    imports = [node.module for tree in trees for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    folders = {name for name in (module.partition(".")[0] for module in imports if module) if (root / name).is_dir()}
    assert folders >= {"tests", "tools"}
    assert [name for name in sorted(folders) if not (bench.folder / name).is_dir()] == []


TEST = ("tests/unit/core/test_sample.py",)
# Under xdist a worker has a second thread; the fork runs pytest at once and never comes back to it.
forks = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")


@forks
def test_red_green_and_endless_are_told_apart(bench: Bench) -> None:
    sample = bench.folder / "src" / "sample.py"
    assert bench.run(TEST, 60) == "survived"
    sample.write_text("def more(one):\n    return one - 1\n", encoding="utf-8")
    assert bench.run(TEST, 60) == "killed"
    (bench.folder / "tests" / "conftest.py").write_text("raise SystemExit(0)\n", encoding="utf-8")
    assert bench.run(TEST, 60) == "killed"
    (bench.folder / "tests" / "conftest.py").write_text("", encoding="utf-8")
    sample.write_text("def more(one):\n    while True:\n        pass\n", encoding="utf-8")
    assert bench.run(TEST, 2) == "timeout"
    sample.write_text("import time\n\ndef more(one):\n    time.sleep(60)\n    return one + 1\n", encoding="utf-8")
    assert bench.run(TEST, 1) == "timeout"


@forks
def test_tests_that_only_take_long_are_not_taken_for_endless(bench: Bench) -> None:
    sample = bench.folder / "src" / "sample.py"
    sample.write_text("import time\n\ndef more(one):\n    time.sleep(4)\n    return one + 1\n", encoding="utf-8")
    assert bench.run(TEST, 3) == "survived"


@forks
def test_copy_is_restored_after_a_try_and_tree_untouched(bench: Bench) -> None:
    file = "src/detent/core/record.py"
    before = (bench.folder / file).read_bytes()
    verdict = bench.judge(Mutant(file, 1, "code", "broken", "this is no Python"), 60)
    assert verdict.result == "killed"
    assert (bench.folder / file).read_bytes() == before
    assert (Path(__file__).parents[3] / file).read_bytes() == before


FILE, OTHER = "src/detent/core/a.py", "src/detent/gates/a.py"


def verdicts(file: str = FILE, code: str = "if a | b:", lower: int = 0) -> list[Verdict]:
    left = Mutant(file, 7 + lower, code, "| -> &", "")
    return [Verdict(left, "survived"), Verdict(left._replace(line=9, code="x = 1"), "killed"), Verdict(left, "timeout")]


def report(*found: list[Verdict], earlier: str = "") -> str:
    made = Report.read(earlier)
    for verdict in found:
        made.keep(verdict[0].mutant.file, "source", verdict)
    return made.text()


def test_each_room_and_each_file_is_counted_by_itself() -> None:
    gates = [Verdict(verdict.mutant, "killed") for verdict in verdicts(OTHER)]
    lines = report(gates, verdicts()).splitlines()
    assert lines[8:10] == ["| core | 3 | 1 | 1 | 1 |", "| gates | 3 | 3 | 0 | 0 |"]
    digest = digest_of("source")
    assert f"| {FILE} | {digest} | 3 | 1 | 1 | 1 |" in lines
    assert f"| {OTHER} | {digest} | 3 | 3 | 0 | 0 |" in lines


def test_the_report_lists_only_survivors() -> None:
    text = report(verdicts())
    assert "| src/detent/core/a.py:7 | `if a \\| b:` | \\| -> & |  |\n" in text
    assert "x = 1" not in text


def test_what_people_wrote_is_kept_when_lines_move() -> None:
    first = report(verdicts()).replace(" |  |", " | both are sets of one |")
    second = report(verdicts(lower=5), earlier=first)
    assert "a.py:12" in second
    assert "| both are sets of one |" in second
    assert "both are sets of one" not in report(verdicts(code="if a | c:"), earlier=first)


def test_what_is_said_of_other_files_stays_as_it_was() -> None:
    first = report(verdicts(OTHER)).replace(" |  |", " | why not |")
    both = report(verdicts(), earlier=first)
    assert set(first.splitlines()[9:]) <= set(both.splitlines()), both
    assert Report.read(both).text() == both


@forks
def test_only_files_that_changed_since_are_looked_at_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(mutate, "REPORT", tmp_path / "mutation.md")
    file = "src/detent/core/__init__.py"
    assert main([file, "--write"]) == 0
    assert file in (tmp_path / "mutation.md").read_text(encoding="utf-8")
    assert main([file, "--write", "--changed"]) == 0
    assert [line for line in capsys.readouterr().out.splitlines() if "files" in line] == [
        "0 changes in 1 files",
        "0 changes in 0 files",
    ]
