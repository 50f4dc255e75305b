"""What a test command ran: each test by a stable id, how it ended, where it failed; and that as JSON.

A census says nothing of exit codes or of trees: it is what the runners reported, bounded. Reading one is fail-closed:
anything that is not exactly what `to_json` writes is an error that names it.
"""

from __future__ import annotations

from detent.core.record import Record
from detent.errors import UnreadableError
from detent.words.store import census as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

PASSED, FAILED, ERROR, SKIPPED = "passed", "failed", "error", "skipped"
XFAILED, XPASSED = "xfailed", "xpassed"  # expected to fail: it did, it did not
GONE = "gone"  # it was listed or begun, and never ended
OUTCOMES = (PASSED, XPASSED, XFAILED, SKIPPED, GONE, FAILED, ERROR)  # from the best to the worst
GREEN = frozenset({PASSED, XPASSED})
RED = frozenset({FAILED, ERROR})

COLLECTION, SETUP, BODY = "collection", "setup", "test"  # import, collection or compile; fixtures; the test itself
STAGES = ("", COLLECTION, SETUP, BODY)

MOST_CASES = 200_000
MOST_CALLS = 10_000
LONGEST_NAME = 2_000  # of a file, a name or parameters; in characters
LONGEST_WHY = 300
_SCHEMA = 1


class CaseId(Record):
    """One test: its file from the top of the tree, its name in that file, and its parameters as the runner writes them.

    Parts of a name are joined by `.` (Python), `::` (Rust), `/` (Go) or ` > ` (JavaScript). An empty name is the whole
    file, which could not be imported, collected or compiled.
    """

    file: str
    name: str
    parameters: str = ""


class Case(Record):
    """How one test ended. `stage` says where a red one failed, `why` begins what the runner said of it."""

    id: CaseId
    outcome: str
    stage: str = ""
    why: str = ""


class Call(Record):
    """One process of a runner that reported. `exit` is the code it was about to end with, where it knew."""

    runner: str
    has_ended: bool  # the report is whole: the process came to its own end
    exit: int | None = None


class Census(Record):
    """Every test of one run of a command, each once and in order, and the processes that reported them."""

    cases: tuple[Case, ...] = ()
    calls: tuple[Call, ...] = ()

    @property
    def is_whole(self) -> bool:
        """Whether something reported at all, and every report came to its end."""
        return bool(self.calls) and all(call.has_ended for call in self.calls)

    def by_id(self) -> dict[CaseId, Case]:
        return {case.id: case for case in self.cases}

    def of_outcome(self, outcomes: Iterable[str]) -> tuple[Case, ...]:
        wanted = frozenset(outcomes)
        return tuple(case for case in self.cases if case.outcome in wanted)


def census_of(cases: Iterable[Case], calls: Iterable[Call]) -> Census:
    """The census of these; a test that was run more than once counts by its worst end."""
    worst: dict[CaseId, Case] = {}
    for case in cases:
        known = worst.get(case.id)
        if known is None or _badness(case) > _badness(known):
            worst[case.id] = case
    ordered = sorted(worst.values(), key=lambda case: (case.id.file, case.id.name, case.id.parameters))
    return Census(tuple(ordered), tuple(sorted(calls, key=_order_of_call)))


def _order_of_call(call: Call) -> tuple[str, bool, bool, int]:
    return call.runner, call.has_ended, call.exit is not None, call.exit or 0


def _badness(case: Case) -> tuple[int, int, str]:
    return OUTCOMES.index(case.outcome), -STAGES.index(case.stage), case.why


def to_json(census: Census) -> dict[str, Any]:
    return {
        "schema": _SCHEMA,
        "cases": [
            [case.id.file, case.id.name, case.id.parameters, case.outcome, case.stage, case.why]
            for case in census.cases
        ],
        "calls": [[call.runner, call.has_ended, call.exit] for call in census.calls],
    }


def from_json(value: object, where: str) -> Census:
    """The census that `to_json` wrote; raises UnreadableError with the first thing that is wrong."""

    def wrong(what: str) -> UnreadableError:
        return UnreadableError(say.no_census(what), where=where)

    if not isinstance(value, dict) or set(value) != {"schema", "cases", "calls"} or value["schema"] != _SCHEMA:
        raise wrong(say.no_table())
    cases, calls = value["cases"], value["calls"]
    if not isinstance(cases, list) or not isinstance(calls, list):
        raise wrong(say.no_lists())
    if len(cases) > MOST_CASES or len(calls) > MOST_CALLS:
        raise wrong(say.too_many(MOST_CASES, MOST_CALLS))
    for number, row in enumerate(cases, 1):
        if problem := _problem_of_case(row):
            raise wrong(say.wrong_case(number, problem))
    for number, row in enumerate(calls, 1):
        if not _is_call(row):
            raise wrong(say.wrong_call(number))
    read = Census(
        tuple(Case(CaseId(*row[:3]), *row[3:]) for row in cases),
        tuple(Call(*row) for row in calls),
    )
    if read != census_of(read.cases, read.calls):
        raise wrong(say.not_in_order())
    return read


def _problem_of_case(row: object) -> str:
    if not isinstance(row, list) or len(row) != 6 or not all(isinstance(part, str) for part in row):
        return say.wrong_fields()
    return problem_of(*row)


def problem_of(file: str, name: str, parameters: str, outcome: str, stage: str, why: str) -> str:
    """Why no case can be made of these; empty if one can."""
    if max(len(file), len(name), len(parameters)) > LONGEST_NAME or len(why) > LONGEST_WHY:
        return say.too_long(LONGEST_NAME, LONGEST_WHY)
    if not file and not name:
        return say.no_file_or_name()
    if outcome not in OUTCOMES:
        return say.no_outcome(outcome, OUTCOMES)
    if stage not in STAGES or bool(stage) != (outcome in RED):
        return say.no_stage(stage, outcome)
    return ""


def _is_call(row: object) -> bool:
    return (
        isinstance(row, list)
        and len(row) == 3
        and isinstance(row[0], str)
        and len(row[0]) <= LONGEST_NAME
        and isinstance(row[1], bool)
        and (row[2] is None or (isinstance(row[2], int) and not isinstance(row[2], bool)))
    )


def names_of(cases: Iterable[Case]) -> Mapping[tuple[str, str], tuple[Case, ...]]:
    """The cases by file and name: all parameters of one test together."""
    found: dict[tuple[str, str], list[Case]] = {}
    for case in cases:
        found.setdefault((case.id.file, case.id.name), []).append(case)
    return {key: tuple(group) for key, group in found.items()}
