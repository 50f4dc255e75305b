"""Counts the requirements that tests show, that are only told, and that are open.

A test names rows of tests/data/requirements.tsv with `@pytest.mark.requirement("S0.31", "S0.32")` if it shows that the
product behaves so, and with `@pytest.mark.told("S0.43")` if it shows only that a prompt or a document says so. Marks
are read from the source with `ast`. A row counts only if its tests passed on this very source: `make test` leaves the
results (tools/results.py).
"""

from __future__ import annotations

import argparse
import ast
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tools.results import FAILED, PASSED, SKIPPED, read_outcomes, source_digest

PROJECT = Path(__file__).resolve().parent.parent
TABLE = PROJECT / "tests" / "data" / "requirements.tsv"
TESTS = PROJECT / "tests"

SHOWN, TOLD, OPEN, NOT_RUN = "shown", "told", "open", "not run"
MARKS = {"requirement": SHOWN, "told": TOLD}
STANDINGS = (SHOWN, TOLD, OPEN, SKIPPED, FAILED, NOT_RUN)


@dataclass(frozen=True, slots=True)
class Requirement:
    """One row of the acceptance table."""

    id: str
    text: str

    @property
    def seed(self) -> str:
        return self.id.partition(".")[0]


@dataclass(slots=True)
class Claims:
    """Which tests name which requirement, by what they claim of it, and which marks can't be read."""

    tests: dict[str, dict[str, list[str]]] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)


def read_requirements(table: Path) -> tuple[Requirement, ...]:
    """The rows of the table in its order."""
    _heading, *lines = table.read_text(encoding="utf-8").splitlines()
    rows = [line.split("\t") for line in lines if line]
    return tuple(Requirement(id=row[0], text=row[2]) for row in rows)


def collect_claims(tests: Path, known: frozenset[str]) -> Claims:
    """Read the marks of every test file below `tests`."""
    claims = Claims()
    for path in sorted(tests.rglob("*.py")):
        place = path.relative_to(tests.parent).as_posix()
        tree = ast.parse(path.read_text(encoding="utf-8"), filename=str(path))
        for name, call in _find_marks(tree, ()):
            _add_claim(claims, known, "::".join((place, *name)), f"{place}:{call.lineno}", call)
    return claims


def _find_marks(node: ast.AST, name: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], ast.Call]]:
    """Every mark of a requirement with the names of the classes and functions it belongs to, outermost first."""
    if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        if any(_mark_name(decorator) in ("skip", "xfail") for decorator in node.decorator_list):
            return
        name = (*name, node.name)
    if isinstance(node, ast.Call) and _mark_name(node) in MARKS:
        yield name, node
    for child in ast.iter_child_nodes(node):
        yield from _find_marks(child, name)


def _mark_name(node: ast.expr) -> str:
    """`NAME` when the node is `pytest.mark.NAME` or a call of it, otherwise empty."""
    target = node.func if isinstance(node, ast.Call) else node
    match target:
        case ast.Attribute(value=ast.Attribute(value=ast.Name(id="pytest"), attr="mark"), attr=name):
            return name
        case _:
            return ""


def _add_claim(claims: Claims, known: frozenset[str], test: str, where: str, call: ast.Call) -> None:
    for argument in call.args:
        if not (isinstance(argument, ast.Constant) and isinstance(argument.value, str)):
            claims.problems.append(f"{where}: a requirement must be a literal string, not {ast.unparse(argument)}")
        elif argument.value not in known:
            claims.problems.append(f"{where}: unknown requirement {argument.value!r}")
        else:
            tests = claims.tests.setdefault(argument.value, {}).setdefault(MARKS[_mark_name(call)], [])
            if test not in tests:
                tests.append(test)


def index_outcomes(outcomes: Mapping[str, str]) -> dict[str, str]:
    """How each test ended over all its cases, each class and file over all its tests: one failure fails the whole."""
    ended: dict[str, set[str]] = {}
    for case, outcome in outcomes.items():
        name, inner = case.partition("[")[0], "::"
        while inner:
            ended.setdefault(name, set()).add(outcome)
            name, inner, _last = name.rpartition("::")
    return {name: next(word for word in (FAILED, PASSED, SKIPPED) if word in words) for name, words in ended.items()}


def standing(tests: Mapping[str, Sequence[str]], ended: Mapping[str, str]) -> str:
    """What the tests that name a row have shown: the most they show, once all of them ran and none failed."""
    results = {claim: {ended.get(test, NOT_RUN) for test in tests.get(claim, ())} for claim in (SHOWN, TOLD)}
    every = results[SHOWN] | results[TOLD]
    if not every:
        return OPEN
    for word in (FAILED, NOT_RUN):
        if word in every:
            return word
    return next((claim for claim, words in results.items() if PASSED in words), SKIPPED)


def summarize(requirements: Sequence[Requirement], standings: Mapping[str, str]) -> Iterator[str]:
    """One line per seed and one for all of them."""
    for seed in dict.fromkeys(requirement.seed for requirement in requirements):
        yield _count(seed, [requirement.id for requirement in requirements if requirement.seed == seed], standings)
    yield _count("all", [requirement.id for requirement in requirements], standings)


def _count(name: str, ids: Sequence[str], standings: Mapping[str, str]) -> str:
    counts = Counter(standings[id_] for id_ in ids)
    parts = (f"{counts[word]} {word}" for word in STANDINGS if counts[word] or word in (SHOWN, TOLD, OPEN))
    return f"{name}: {len(ids)} rows: {', '.join(parts)}"


def _run_marked_tests(tests: Path) -> None:
    marked = " or ".join(MARKS)
    command = (sys.executable, "-m", "pytest", "-q", "-n", "4", "--dist", "worksteal", "-m", marked, str(tests))
    subprocess.run(command, cwd=tests.parent, check=False)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--open", action="store_true", help="list the requirements that are neither shown nor told")
    parser.add_argument("--told", action="store_true", help="list the requirements that are only told")
    parser.add_argument("--table", action="store_true", help="list every requirement with its tests, tab-separated")
    parser.add_argument("--run", action="store_true", help="run the tests that name a requirement first")
    parser.add_argument("--requirements", type=Path, default=TABLE, help="the acceptance table")
    parser.add_argument("--tests", type=Path, default=TESTS, help="the folder of tests to read")
    options = parser.parse_args(arguments)

    requirements = read_requirements(options.requirements)
    claims = collect_claims(options.tests, frozenset(requirement.id for requirement in requirements))
    if options.run:
        _run_marked_tests(options.tests)
    project = options.tests.parent
    outcomes = read_outcomes(project, source_digest(project))
    ended = index_outcomes(outcomes)
    standings = {row.id: standing(claims.tests.get(row.id, {}), ended) for row in requirements}
    for row in requirements:
        word = standings[row.id]
        if options.table:
            tests = [test for named in claims.tests.get(row.id, {}).values() for test in named]
            print(row.id, word, row.text, " ".join(tests), sep="\t")
        elif (options.told and word == TOLD) or (options.open and word not in (SHOWN, TOLD)):
            print(row.id, word, row.text, sep="\t")
    for line in summarize(requirements, standings):
        print(line)
    for problem in claims.problems:
        print(problem, file=sys.stderr)
    if not outcomes:
        print("not run: no results for this source; next: make test, or make requirements ARGS=--run", file=sys.stderr)
    return 1 if claims.problems or {FAILED, NOT_RUN} & set(standings.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
