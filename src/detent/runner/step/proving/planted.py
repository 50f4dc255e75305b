"""What became of planted tests: the outcomes of a run, by the test that each was made from."""

from __future__ import annotations

from detent.core.record import Record
from detent.effects.tests.kits.values import BROKEN, CANARY, EQUALS_ANYTHING, EQUALS_OTHERS, TWIN
from detent.gates.grade import ANYTHING, OTHERS
from detent.store.text.census import RED, names_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from detent.effects.tests.planting import Planting
    from detent.runner.step.proving.counted import Counted
    from detent.store.text.census import Case

    Place = tuple[str, str]  # file and name of a test


_MOST_CASES = 100  # of all that are planted again, each of which gets about ten copies


def small_tests(cases: Iterable[Case]) -> list[Place]:
    """The tests (file, name) with the fewest cases: copies of one with many parameters take most of a run's time."""
    by_size = sorted((len(group), place) for place, group in names_of(cases).items() if place[1])
    found: list[Place] = []
    total = 0
    for size, place in by_size:
        total += size
        if found and total > _MOST_CASES and size > 1:
            break
        found.append(place)
    return sorted(found)


class Outcomes(Record):
    """`canary` is the name of the planted failure; empty where none could be planted."""

    canary: str = ""
    canary_outcome: str = ""  # empty: it was not run
    canary_file_ran: bool = False
    exit: int = 0
    broken: Mapping[Place, tuple[str, ...]] = {}
    twins: Mapping[Place, tuple[str, ...]] = {}
    cut: str = ""  # why the run came to no end of its own

    @property
    def canary_is_heard(self) -> bool:
        return self.canary_outcome in RED and self.exit != 0


def outcomes_of(planting: Planting, ran: Counted | None) -> Outcomes:
    """Match what was planted with what was reported; a copy that was not run has no outcome."""
    canaries = planting.of_kind(CANARY)
    canary = f"{canaries[0].file}::{canaries[0].sprout.name}" if canaries else ""
    if ran is None:
        return Outcomes(canary)
    cases = names_of(ran.reported.census.cases)
    files = {file for file, _name in cases}

    def ends_of(kind: str) -> dict[Place, tuple[str, ...]]:
        found: dict[Place, tuple[str, ...]] = {}
        for planted in planting.of_kind(kind):
            place = (planted.file, planted.sprout.of)
            ends = tuple(_end_of(case) for case in cases.get((planted.file, planted.sprout.name), ()))
            found[place] = (*found.get(place, ()), *ends)
        return found

    birds = [case.outcome for canary in canaries for case in cases.get((canary.file, canary.sprout.name), ())]
    return Outcomes(
        canary=canary,
        canary_outcome=birds[0] if birds else "",
        canary_file_ran=any(canary.file in files for canary in canaries),
        exit=ran.finished.exit,
        broken=ends_of(BROKEN),
        twins={place: ends for place, ends in ends_of(TWIN).items() if ends},
    )


def _end_of(case: Case) -> str:
    """How a copy ended; or what it found of a value that the changed expectation equals as well."""
    if case.outcome not in RED:
        return case.outcome
    return ANYTHING if EQUALS_ANYTHING in case.why else OTHERS if EQUALS_OTHERS in case.why else case.outcome
