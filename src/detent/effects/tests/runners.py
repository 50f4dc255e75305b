"""The test runners that are known: those of `runners.toml`, and what a project declares of its own.

Nothing is started or looked for here.
"""

from __future__ import annotations

import os
from functools import cache

from detent.core.record import Record
from detent.errors import UsageError
from detent.machines.reading import Reader, Table
from detent.words.effects import runners as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

PYTHON, JAVASCRIPT, GO, RUST = "python", "javascript", "go", "rust"
LANGUAGES = ("", PYTHON, JAVASCRIPT, GO, RUST)
JUNIT = "junit"  # the command writes it itself, and the project says where
REPORTS = ("", "python", "node", "go", "cargo", JUNIT)
_DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "runners.toml")


class Runner(Record):
    """One test runner; the words of each field are in `runners.toml`."""

    name: str
    calls: tuple[str, ...]
    scripts: tuple[str, ...] = ()
    language: str = ""
    reports: str = ""
    tested: bool = False
    tests: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    steers: tuple[str, ...] = ()
    shadows: tuple[str, ...] = ()
    file: tuple[str, ...] = ()
    test: tuple[str, ...] = ()
    ambient: tuple[str, ...] = ()
    declare: str = ""
    junit: tuple[str, ...] = ()  # patterns of the XML files that this project's command writes


class Runners(Record):
    """All runners by name, and the words that only start another command."""

    by_name: Mapping[str, Runner]
    wrappers: tuple[str, ...]
    takes_value: frozenset[str]


def load_runners(user: Mapping[str, object], where: str = "detent.toml") -> Runners:
    """The built-in runners with the tables of a project laid over them; all its problems at once.

    A table with the name of a built-in runner changes only the keys it names. `junit` is the project's alone.
    """
    tables = dict(_built_in())
    starters = Table(tables.pop("starters"), "starters", Reader())
    reader = Reader()
    for name, value in user.items():
        built_in = tables.get(name, {})
        tables[name] = {**built_in, **value} if isinstance(built_in, dict) and isinstance(value, dict) else value
    by_name = {name: _read_runner(name, Table(table, f"runners.{name}", reader)) for name, table in tables.items()}
    if reader.problems:
        raise UsageError(say.problems_in_runners(reader.problems, where, _built_in_names()), where=where)
    return Runners(by_name, starters.texts("wrappers"), frozenset(starters.texts("takes_value")))


@cache
def _built_in() -> Mapping[str, object]:
    import tomllib  # slow to import, and only needed where tests are run

    with open(_DATA, "rb") as file:
        return tomllib.load(file)


def _built_in_names() -> tuple[str, ...]:
    return tuple(name for name in _built_in() if name != "starters")


def _read_runner(name: str, table: Table) -> Runner:
    runner = Runner(
        name=name,
        calls=table.texts("calls"),
        scripts=table.texts("scripts"),
        language=table.text("language", ""),
        reports=table.text("reports", ""),
        tested=table.flag("tested"),
        tests=table.texts("tests"),
        folders=table.texts("folders"),
        steers=table.texts("steers"),
        shadows=table.texts("shadows"),
        file=table.texts("file"),
        test=table.texts("test"),
        ambient=table.texts("ambient"),
        declare=table.text("declare", ""),
        junit=table.texts("junit"),
    )
    table.finish()

    def problem(text: str) -> None:
        table.reader.problem(say.wrong_in(table.where, text))

    if not runner.calls or not all(call.split() for call in runner.calls):
        problem(say.no_calls())
    if runner.language not in LANGUAGES:
        problem(say.not_one_of("language", LANGUAGES[1:]))
    if runner.reports not in REPORTS:
        problem(say.not_one_of("reports", REPORTS[1:]))
    for path in runner.junit:
        if path.startswith("/") or ".." in path.split("/"):
            problem(say.report_outside(path))
    return runner


def selection(runner: Runner, file: str, name: str = "") -> tuple[str, ...] | None:
    """The words that, added to a call of the runner, run one file of tests, or one test of it; None if none do."""
    words = runner.test if name else runner.file
    stem, extension = os.path.splitext(file)
    known = {
        "file": file,
        "folder": os.path.dirname(file) or ".",
        "module": stem.replace("/", "."),
        "target": os.path.basename(stem),
        "name": _name_for(runner, words, stem, name),
        "title": name.rsplit(" > ", maxsplit=1)[-1],
    }
    if not words or (runner.language == RUST and not name and not _is_integration(file)) or not extension:
        return None
    filled = []
    for word in words:
        for key, value in known.items():
            word = word.replace("{" + key + "}", value)  # noqa: PLW2901  # filled step by step
        filled.append(word)
    return tuple(filled)


def _name_for(runner: Runner, words: tuple[str, ...], stem: str, name: str) -> str:
    """The name as the runner takes it: pytest wants `::` between classes, cargo the modules a file stands for."""
    if runner.language == PYTHON and "::" in "".join(words):
        return name.replace(".", "::")
    if runner.language == RUST and "/" in stem:
        modules = stem.rpartition("src/")[2].split("/") if "src/" in stem else []
        named = [part for part in modules if part not in ("lib", "main", "mod", "bin")]
        return "::".join((*named, name))
    return name


def _is_integration(file: str) -> bool:
    return os.path.basename(os.path.dirname(file)) == "tests"
