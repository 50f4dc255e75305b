"""Breaks the code on purpose, one small change at a time, and sees whether a test turns red.

Each change is made in a throw-away copy of the tree, and only the fast tests of the changed room are run. A change that
no test notices is a *survivor*: either a test is missing or the change makes no difference. `--write` keeps them in
docs/mutation.md, where people say in the last column why one may stay; that column outlives the next `--write`.

Why not a library: mutmut 3.8 does not run under pytest 9; cosmic-ray 8.7 drops no statements, starts an interpreter for
each change and would need an hour. Here a warm process forks for each change.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import os
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import NamedTuple

import hypothesis  # noqa: F401  # loaded once, so that no fork has to
import pytest

ROOT = Path(__file__).resolve().parents[1]
REPORT = ROOT / "docs" / "mutation.md"
MEMORY_BYTES = 2_000_000_000
ROOMS = [  # those of the report
    "src/detent/core",
    "src/detent/gates",
    "src/detent/packs/lights_out/checks",
    *(f"src/detent/packs/{name}.py" for name in ("global_/planned", "global_/reviews", "ralf/criteria", "ralf/spec")),
    "src/detent/store/journal",
]
# The tests that can notice a change in a room; the others are too slow to be run a thousand times.
GATES = ("tests/unit/gates/test_*.py", "tests/properties/test_verdict.py")
TESTS = {
    "core": (
        "tests/unit/core/test_*.py",
        "tests/unit/machines/test_shapes.py",
        "tests/properties/test_decide.py",
    ),
    "gates": (*GATES, "tests/unit/packs/*/test_*.py", "tests/unit/packs/lights_out/checks/test_*.py"),
    "packs/global_": ("tests/unit/packs/global_/test_*.py", *GATES),
    "packs/lights_out": ("tests/unit/packs/lights_out/checks/test_*.py", "tests/unit/packs/lights_out/test_do*.py"),
    "packs/ralf": ("tests/unit/packs/ralf/test_*.py", *GATES),
    "machines": ("tests/unit/machines/test_*.py", "tests/unit/core/test_*.py"),
    "store/journal": ("tests/unit/store/journal/test_*.py", "tests/unit/verify/test_audit*.py"),
}
PYTEST = ("-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-W", "ignore::pytest.PytestAssertRewriteWarning")
PAIRS: tuple[tuple[type[ast.AST], str, type[ast.AST], str], ...] = (
    (ast.And, "and", ast.Or, "or"),
    (ast.Eq, "==", ast.NotEq, "!="),
    (ast.Lt, "<", ast.LtE, "<="),
    (ast.Gt, ">", ast.GtE, ">="),
    (ast.In, "in", ast.NotIn, "not in"),
    (ast.Is, "is", ast.IsNot, "is not"),
    (ast.Add, "+", ast.Sub, "-"),
    (ast.BitOr, "|", ast.BitAnd, "&"),
)
SWAPS = {one: (other, f"{word} -> {swapped}") for one, word, other, swapped in PAIRS}
SWAPS |= {other: (one, f"{swapped} -> {word}") for one, word, other, swapped in PAIRS}
Change = tuple[int, str, ast.AST, str, object]  # line, words, and what is put into which field of which node


class Mutant(NamedTuple):
    file: str  # relative to the root
    line: int
    code: str  # the line as it was
    change: str
    source: str  # the whole file after the change


class Verdict(NamedTuple):
    mutant: Mutant
    result: str  # killed | timeout | survived


def mutants(file: str, text: str) -> Iterator[Mutant]:
    """Every change of a file that is known here, in the order of its lines."""
    lines, tree = text.splitlines(), ast.parse(text)
    for line, words, node, field, value in sorted(changes(tree), key=lambda change: change[0]):
        before = getattr(node, field)
        setattr(node, field, value)
        yield Mutant(file, line, lines[line - 1].strip(), words, ast.unparse(ast.fix_missing_locations(tree)))
        setattr(node, field, before)


def changes(tree: ast.Module) -> Iterator[Change]:
    for node in live_nodes(tree):
        match node:
            case ast.BoolOp() | ast.BinOp() if type(node.op) in SWAPS:
                other, words = SWAPS[type(node.op)]
                yield node.lineno, words, node, "op", other()
            case ast.Compare(ops=ops):
                for number, op in enumerate(ops):
                    other, words = SWAPS[type(op)]
                    yield node.lineno, words, node, "ops", [*ops[:number], other(), *ops[number + 1 :]]
            case ast.Constant(value=bool() as value):
                yield node.lineno, f"{value} -> {not value}", node, "value", not value
            case ast.Constant(value=int() as value):
                yield node.lineno, f"{value} -> {value + 1}", node, "value", value + 1
            case ast.If(test=test) | ast.IfExp(test=test) | ast.While(test=test):
                yield test.lineno, "condition negated", node, "test", ast.UnaryOp(ast.Not(), test)
            case ast.comprehension(ifs=ifs):
                for number, condition in enumerate(ifs):
                    yield condition.lineno, "filter dropped", node, "ifs", [*ifs[:number], *ifs[number + 1 :]]
            case _:
                pass
        yield from dropped_statements(node)


def dropped_statements(node: ast.AST) -> Iterator[Change]:
    """Guards that return, raise or go on early, and statements made only for what they do."""
    for field in ("body", "orelse"):
        found = getattr(node, field, None)
        block = found if isinstance(found, list) else []  # a lambda has a body too
        for number, one in enumerate(block):
            is_act = isinstance(one, ast.Expr) and not isinstance(one.value, ast.Constant)
            is_leap = isinstance(node, ast.If) and isinstance(one, ast.Return | ast.Raise | ast.Continue | ast.Break)
            if is_act or is_leap or isinstance(one, ast.AugAssign):
                yield one.lineno, "statement dropped", node, field, [*block[:number], ast.Pass(), *block[number + 1 :]]


def live_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """Every node that runs: no annotations, and nothing that only a type checker reads."""
    yield node
    for field, value in ast.iter_fields(node):
        for child in value if isinstance(value, list) else [value]:
            match child:
                case ast.If(test=ast.Name(id="TYPE_CHECKING")) | ast.Assign(targets=[ast.Name(id="TYPE_CHECKING")]):
                    continue
                case ast.AST() if field not in ("annotation", "returns"):
                    yield from live_nodes(child)
                case _:
                    continue


class Bench:
    """A copy of the tree in which changes are tried; every try is a fork of this warm process."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        shutil.copy2(ROOT / "pyproject.toml", folder)
        for name in ("src", "tests", "tools"):
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", ".*"))
        shutil.copytree(ROOT / "examples", folder / "examples", ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copytree(ROOT / "docs", folder / "docs")

    def run(self, tests: Sequence[str], timeout_s: int) -> str:
        """The result of the tests on the copy as it is now."""
        child = os.fork()
        if child == 0:
            try:
                self._run_and_leave(tests, timeout_s)
            finally:
                os._exit(1)  # whatever a change breaks in pytest itself, the fork never goes on as a second parent
        _, status = os.waitpid(child, 0)
        if os.WIFSIGNALED(status) and os.WTERMSIG(status) in (signal.SIGALRM, signal.SIGPROF):
            return "timeout"
        return "survived" if status == 0 else "killed"

    def _run_and_leave(self, tests: Sequence[str], timeout_s: int) -> None:
        for number in (signal.SIGALRM, signal.SIGPROF):
            signal.signal(number, signal.SIG_DFL)  # our parent may have caught it
        # Processor time: on a busy host tests that only take long would pass for endless ones. The clock is for those
        # that wait for what never comes.
        signal.setitimer(signal.ITIMER_PROF, timeout_s)
        signal.alarm(5 * timeout_s)
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
        os.chdir(self.folder)
        sys.dont_write_bytecode = True  # a change within the same second and size would not be seen
        sys.path.insert(0, str(self.folder / "src"))
        for name in [name for name in sys.modules if name.partition(".")[0] in ("detent", "tests")]:
            del sys.modules[name]  # what was loaded before the fork is not the copy
        os.dup2(os.dup2(os.open(os.devnull, os.O_WRONLY), 1), 2)
        os._exit(int(pytest.main([*PYTEST, *(test for test in tests if Path(test).exists())])))

    def judge(self, mutant: Mutant, timeout_s: int) -> Verdict:
        path = self.folder / mutant.file
        before = path.read_bytes()
        path.write_text(mutant.source, encoding="utf-8")
        tests = relevant_tests(mutant.file)
        named = [test for test in tests if bears_name(test, mutant.file)]
        try:
            # Most changes are noticed by the tests that bear the file's name: the others need not even be collected.
            result = self.run(named, timeout_s) if named else "survived"
            return Verdict(mutant, self.run(tests, timeout_s) if result == "survived" else result)
        finally:
            path.write_bytes(before)


_benches: list[Bench] = []  # the one of this worker


def _judge(mutant: Mutant, timeout_s: int, folder: str) -> Verdict:
    if not _benches:
        _benches.append(Bench(Path(tempfile.mkdtemp(dir=folder))))
    return _benches[0].judge(mutant, timeout_s)


def room_of(file: str) -> str:
    """The folder of `TESTS` that the file lies in."""
    return next(room for room in TESTS if file.startswith(f"src/detent/{room}/"))


def relevant_tests(file: str) -> list[str]:
    """The tests of the file's room, those that bear the file's name first: they turn red the soonest."""
    found = [str(path.relative_to(ROOT)) for tests in TESTS[room_of(file)] for path in sorted(ROOT.glob(tests))]
    return sorted(found, key=lambda test: not bears_name(test, file))


def bears_name(test: str, file: str) -> bool:
    return Path(file).stem in Path(test).stem


def timeouts(files: Sequence[str], bench: Bench) -> dict[str, int]:
    """How long the tests of each room may take; on the unchanged tree they must be green."""
    times: dict[str, int] = {}
    for room, file in {room_of(file): file for file in files}.items():
        tests, start = relevant_tests(file), time.monotonic()
        if bench.run(tests, 600) != "survived":
            raise SystemExit(f"mutate: red without any change: {' '.join(tests)}; next: make test")
        times[room] = int(3 * (time.monotonic() - start)) + 10
    return times


class Looked(NamedTuple):
    """How the changes of one file ended, as a row of the report."""

    source: str  # the beginning of its hash: of other source the row says nothing
    changes: int
    killed: int
    timeout: int
    survived: int


class Report(NamedTuple):
    files: dict[str, Looked]
    survivors: dict[str, list[tuple[str, ...]]]  # by file: line, code, change, and what people say of it

    @classmethod
    def read(cls, text: str) -> Report:
        made = cls({}, {})
        for row in (line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| src/")):
            file, _, line = row[0].partition(":")
            if line:
                made.survivors.setdefault(file, []).append((line, *row[1:3], row[3] if len(row) > 3 else ""))
            else:
                made.files[file] = Looked(row[1], *map(int, row[2:]))
        return made

    def keep(self, file: str, source: str, verdicts: Sequence[Verdict]) -> None:
        """Put what was found of one file in the place of what stood there; what people wrote about a change stays."""
        known = {row[1:3]: row[3] for row in self.survivors.pop(file, ())}
        ends = Counter(one.result for one in verdicts)
        self.files[file] = Looked(digest_of(source), ends.total(), ends["killed"], ends["timeout"], ends["survived"])
        for mutant in (verdict.mutant for verdict in verdicts if verdict.result == "survived"):
            said = (f"`{mutant.code}`".replace("|", "\\|"), mutant.change.replace("|", "\\|"))
            self.survivors.setdefault(file, []).append((str(mutant.line), *said, known.get(said, "")))

    def without(self, gone: Sequence[str]) -> None:
        for file in gone:
            self.files.pop(file, None)
            self.survivors.pop(file, None)

    def text(self) -> str:
        words = (
            "Written by `make mutate ARGS=--write`, file by file; people write only the last column of the last table,",
            "and it is kept. A row says nothing about a file whose source has another hash today;",
            "`make mutate ARGS='--changed --write'` looks at those again.",
        )
        looked = [f"| {file} | {' | '.join(map(str, row))} |" for file, row in sorted(self.files.items())]
        rows = [f"| {file}:{' | '.join(row)} |" for file, found in sorted(self.survivors.items()) for row in found]
        tables = (
            *self.summary(),
            "",
            "| file | source | changes | turned a test red | never ended | survived |",
            "|---|---|---|---|---|---|",
            *looked,
            "",
            "| where | code | change | why it may stay |",
            "|---|---|---|---|",
            *rows,
        )
        return "\n".join(("# Changes that no test notices", "", *words, "", *tables, ""))

    def summary(self) -> list[str]:
        """How the changes of each room ended, as a table."""
        lines = ["| room | changes | turned a test red | never ended | survived |", "|---|---|---|---|---|"]
        for room in sorted({room_of(file) for file in self.files}):
            columns = zip(*(row[1:] for file, row in self.files.items() if room_of(file) == room), strict=True)
            lines.append(f"| {room} | {' | '.join(str(sum(column)) for column in columns)} |")
        return lines


def digest_of(source: str) -> str:
    return hashlib.sha256(source.encode()).hexdigest()[:12]


def python_files(paths: Sequence[str]) -> list[str]:
    patterns = [path if path.endswith(".py") else f"{path}/**/*.py" for path in paths]
    found = {file for pattern in patterns for file in ROOT.glob(pattern)}
    return sorted(str(file.relative_to(ROOT)) for file in found)


def kept_report() -> Report:
    return Report.read(REPORT.read_text(encoding="utf-8") if REPORT.exists() else "")


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description="Break the code on purpose and see whether a test turns red.")
    parser.add_argument("paths", nargs="*", default=ROOMS, help="files or folders")
    parser.add_argument("--jobs", type=int, default=2, help="how many changes are tried at the same time")
    parser.add_argument("--changed", action="store_true", help="only files whose source is not that of the report")
    parser.add_argument("--write", action="store_true", help="keep what was found of each file in docs/mutation.md")
    chosen = parser.parse_args(arguments)
    kept, found = kept_report(), Report({}, {})
    sources = {file: (ROOT / file).read_text(encoding="utf-8") for file in python_files(chosen.paths)}
    if chosen.changed:
        same = [file for file in sources if file in kept.files and kept.files[file].source == digest_of(sources[file])]
        sources = {file: source for file, source in sources.items() if file not in same}
    todo = {file: list(mutants(file, source)) for file, source in sources.items()}
    print(f"{sum(map(len, todo.values()))} changes in {len(todo)} files", flush=True)
    with tempfile.TemporaryDirectory(prefix="detent-mutate-") as folder, ProcessPoolExecutor(chosen.jobs) as pool:
        limits = timeouts([file for file, made in todo.items() if made], Bench(Path(tempfile.mkdtemp(dir=folder))))
        for file, made in todo.items():
            limit_s = limits.get(room_of(file), 0)
            verdicts = list(pool.map(_judge, made, [limit_s] * len(made), [folder] * len(made)))
            for one in (verdict.mutant for verdict in verdicts if verdict.result == "survived"):
                print(f"{one.file}:{one.line}: {one.change}: {one.code}", flush=True)
            found.keep(file, sources[file], verdicts)
            if chosen.write:  # at once: a run that is broken off has not been for nothing
                kept = kept_report()
                kept.keep(file, sources[file], verdicts)
                kept.without([one for one in kept.files if not (ROOT / one).exists()])
                REPORT.write_text(kept.text(), encoding="utf-8")
    print(*found.summary(), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
