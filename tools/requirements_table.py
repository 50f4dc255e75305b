"""Counts which requirements are shown to hold by a test that names them, and lists the ones still open.

A test names rows of tests/data/requirements.tsv with `@pytest.mark.requirement("S0.31", "S0.32")`. The marks are read
from the source with `ast`, so nothing runs. A test that never runs (`skip`, `xfail`) shows nothing.
"""

from __future__ import annotations

import argparse
import ast
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
TABLE = PROJECT / "tests" / "data" / "requirements.tsv"
TESTS = PROJECT / "tests"


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
    """Which tests name which requirement, and what is wrong with the marks that were read."""

    tests: dict[str, list[str]] = field(default_factory=dict)
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
    """Every requirement mark with the names of the classes and functions it belongs to, outermost first."""
    if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        if any(_mark_name(decorator) in ("skip", "xfail") for decorator in node.decorator_list):
            return
        name = (*name, node.name)
    if isinstance(node, ast.Call) and _mark_name(node) == "requirement":
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
        elif test not in (tests := claims.tests.setdefault(argument.value, [])):
            tests.append(test)


def summarize(requirements: Sequence[Requirement], tests: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """One line per seed and one for all of them."""
    for seed in dict.fromkeys(requirement.seed for requirement in requirements):
        ids = [requirement.id for requirement in requirements if requirement.seed == seed]
        yield f"{seed}: {sum(id_ in tests for id_ in ids)}/{len(ids)} shown"
    yield f"all: {len(tests)}/{len(requirements)} shown"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--open", action="store_true", help="list the requirements that no test shows")
    parser.add_argument("--table", action="store_true", help="list every requirement with its tests, tab-separated")
    parser.add_argument("--requirements", type=Path, default=TABLE, help="the acceptance table")
    parser.add_argument("--tests", type=Path, default=TESTS, help="the folder of tests to read")
    options = parser.parse_args(arguments)

    requirements = read_requirements(options.requirements)
    claims = collect_claims(options.tests, frozenset(requirement.id for requirement in requirements))
    for requirement in requirements:
        tests = claims.tests.get(requirement.id, [])
        if options.table:
            print(requirement.id, requirement.text, " ".join(tests), sep="\t")
        elif options.open and not tests:
            print(requirement.id, requirement.text, sep="\t")
    for line in summarize(requirements, claims.tests):
        print(line)
    for problem in claims.problems:
        print(problem, file=sys.stderr)
    return 1 if claims.problems else 0


if __name__ == "__main__":
    sys.exit(main())
