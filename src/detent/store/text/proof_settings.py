"""`[proof]` of `detent.toml`: what a green test command must prove, and what a person accepts beforehand.

A task keeps the settings it began with. One that has none was made before there were words: its exit codes count alone.
"""

from __future__ import annotations

from detent.core.record import Record
from detent.store.text.proof_words import BY_OWN_TEST, CHORE, DOCS, FEATURE, FIX, KEPT, KINDS, REFACTOR, REQUIRED
from detent.words.store import proof as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from detent.machines.reading import Table

REQUIRE: Mapping[str, str] = {FIX: BY_OWN_TEST, FEATURE: BY_OWN_TEST, REFACTOR: KEPT, DOCS: KEPT, CHORE: KEPT}
ANSWERS = ("ask", "report")  # whether a person is asked about changed tests, or only shown them
MINUTES = 30  # that one full proof may take


class ProofSettings(Record):
    require: Mapping[str, str] = REQUIRE  # word by kind of change
    flaky: tuple[str, ...] = ()  # tests that a person knows to go both ways
    red: tuple[str, ...] = ()  # tests that fail on the baseline, accepted by a person
    changed_tests: str = ANSWERS[0]
    minutes: int = MINUTES
    parallel: bool = False  # whether proofs of two tasks may run at the same time

    def to_json(self) -> dict[str, Any]:
        return {
            "require": dict(self.require),
            "flaky": list(self.flaky),
            "red": list(self.red),
            "changed_tests": self.changed_tests,
            "minutes": self.minutes,
            "parallel": self.parallel,
        }


def proof_from_json(content: Mapping[str, Any]) -> ProofSettings:
    return ProofSettings(
        require=content["require"],
        flaky=tuple(content["flaky"]),
        red=tuple(content["red"]),
        changed_tests=content["changed_tests"],
        minutes=content["minutes"],
        parallel=content["parallel"],
    )


def read_proof(table: Table) -> ProofSettings:
    """`[proof]`, with a problem for each value that means nothing."""
    minutes = table.number("minutes", MINUTES)
    if minutes < 1:
        table.reader.problem(say.too_few_minutes())
    answer = table.text("changed_tests", ANSWERS[0])
    if answer not in ANSWERS:
        table.reader.problem(say.unknown_answer(ANSWERS))
    flaky, red = table.texts("flaky"), table.texts("red")
    for key, names in (("flaky", flaky), ("red", red)):
        for problem in dict.fromkeys(_problem_of(name, names) for name in names):
            if problem:
                table.reader.problem(say.wrong_test(key, problem))
    if both := sorted(set(flaky) & set(red)):
        table.reader.problem(say.flaky_and_red(both))
    found = ProofSettings(
        require=_require(table),
        flaky=flaky,
        red=red,
        changed_tests=answer,
        minutes=minutes,
        parallel=table.flag("parallel"),
    )
    table.finish()
    return found


def _problem_of(name: str, names: Sequence[str]) -> str:
    """What is wrong with the name of a test; empty if nothing is."""
    file, between, test = name.partition("::")
    if not name.strip() or name != name.strip() or not name.isprintable() or (between and not (file and test)):
        return say.no_test_name(name)
    if file.startswith("/") or ".." in file.split("/") or "\\" in file:
        return say.test_outside(name)
    return say.test_named_twice(name) if names.count(name) > 1 else ""


def _require(table: Table) -> Mapping[str, str]:
    """One word for every kind of change, or a table with a word for some kinds."""
    required = table.content.get("require")
    if isinstance(required, str):
        wanted = dict.fromkeys(KINDS, table.text("require", ""))
    else:
        kinds = table.table("require")
        wanted = {kind: kinds.text(kind, word) for kind, word in REQUIRE.items()}
        kinds.finish()
    for word in dict.fromkeys(wanted.values()):
        if word not in REQUIRED:
            table.reader.problem(say.unknown_requirement(word, REQUIRED))
    return wanted
