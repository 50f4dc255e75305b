"""What changed between two censuses: tests kept, lost, turned green, newly red; and those that show a change.

Pure: values in, values out. Which word a task gets for it is not said here.
"""

from __future__ import annotations

import re

from detent.core.record import Record
from detent.store.text.census import BODY, COLLECTION, GONE, GREEN, RED, Case, CaseId, Census

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

_NOTHING: Mapping[tuple[str, str], tuple[str, str]] = {}


# What Python says where a module has no such name; the same as a collection error of `from module import name`.
_NAME_IS_NEW = re.compile(r"(ImportError|ModuleNotFoundError): |AttributeError: module '[^']*' has no attribute ")


class Change(Record):
    """One test in both censuses; `GONE` stands for one that the second does not have."""

    id: CaseId  # in the first census
    was: str
    now: str
    why: str = ""


class Comparison(Record):
    """Each test of the first census is in exactly one of the first six groups; the last two are new ones."""

    kept: tuple[Change, ...]  # it passed and passes
    lost: tuple[Change, ...]  # it passed and does not; or it was red and is now skipped, expected to fail or gone
    turned_green: tuple[Change, ...]  # it was red and passes
    still_red: tuple[Change, ...]
    turned_red: tuple[Change, ...]  # it was neither green nor red, and is red now
    other: tuple[Change, ...]  # skipped or expected to fail before, and not red now
    added_green: tuple[CaseId, ...]
    added_red: tuple[CaseId, ...]

    @property
    def new_red(self) -> tuple[CaseId, ...]:
        """Every test that is red now and was not, by its present id where it is new."""
        changed = (change.id for change in (*self.lost, *self.turned_red) if change.now in RED)
        return (*changed, *self.added_red)


class Target(Record):
    """A test that shows a change: it passes now, and did not on the code before."""

    id: CaseId
    red_at: str  # COLLECTION: only a name was missing, wherever it was used; else the test itself did not pass


def compare(base: Census, now: Census, same_text: Mapping[tuple[str, str], tuple[str, str]] = _NOTHING) -> Comparison:
    """`same_text`: (file, name) of the first tree to the place where a test with the same text stands in the second."""
    later = now.by_id()
    broken = {case.id.file for case in now.cases if case.id.name == "" and case.outcome in RED}
    seen_files = {case.id.file for case in now.cases}
    groups: dict[str, list[Change]] = {name: [] for name in ("kept", "lost", "green", "still", "red", "other")}
    met: set[CaseId] = set()
    for case in base.cases:
        id_now = _place_now(case.id, later, same_text)
        found = later.get(id_now)
        met.add(id_now)
        if found is None and not case.id.name and case.id.file in seen_files - broken:
            groups["green"].append(Change(case.id, case.outcome, "passed"))  # the file itself is read again
            continue
        change = Change(case.id, case.outcome, found.outcome if found else GONE, found.why if found else "")
        groups[_group_of(change)].append(change)
    new = [case for case in now.cases if case.id not in met]
    return Comparison(
        kept=tuple(groups["kept"]),
        lost=tuple(groups["lost"]),
        turned_green=tuple(groups["green"]),
        still_red=tuple(groups["still"]),
        turned_red=tuple(groups["red"]),
        other=tuple(groups["other"]),
        added_green=tuple(case.id for case in new if case.outcome in GREEN),
        added_red=tuple(case.id for case in new if case.outcome in RED),
    )


def _place_now(
    case: CaseId, later: Mapping[CaseId, Case], same_text: Mapping[tuple[str, str], tuple[str, str]]
) -> CaseId:
    """Where this test is now: its text decides, then its name."""
    place = same_text.get((case.file, case.name))
    if place is not None:
        there = CaseId(*place, case.parameters)
        if there in later:
            return there
    return case


def _group_of(change: Change) -> str:
    was_green, was_red = change.was in GREEN, change.was in RED
    if change.now in GREEN:
        return "kept" if was_green else "green" if was_red else "other"
    if was_green:
        return "lost"
    if change.now in RED:
        return "still" if was_red else "red"
    return "lost" if was_red else "other"


def find_targets(
    base: Census, before: Census, now: Census, changed: Collection[tuple[str, str]] = ()
) -> tuple[Target, ...]:
    """The tests that show the change.

    `base`: the baseline as it was; `before`: the tests of now on the code of the baseline, empty where that run came to
    no end; `changed`: tests (file, name) whose text is not the baseline's, which count although they passed there.
    """
    passed = {case.id for case in base.of_outcome(GREEN)}
    earlier = before.by_id()
    unread = {case.id.file for case in before.cases if case.stage == COLLECTION}
    found = []
    for case in now.of_outcome(GREEN):
        old = earlier.get(case.id)
        if old is not None and old.outcome in GREEN:
            continue
        if case.id in passed and (case.id.file, case.id.name) not in changed:
            continue
        only_named = _lacks_a_name(old) if old is not None else case.id.file in unread
        found.append(Target(case.id, COLLECTION if only_named else BODY))
    return tuple(found)


def turned_green(base: Census, now: Census, changed: Collection[tuple[str, str]]) -> tuple[CaseId, ...]:
    """Unchanged tests that failed on the baseline and pass now."""
    red = {case.id for case in base.of_outcome(RED)}
    return tuple(
        case.id for case in now.of_outcome(GREEN) if case.id in red and (case.id.file, case.id.name) not in changed
    )


def _lacks_a_name(case: Case) -> bool:
    """Whether a test was red because a name was missing: as the file was read, or in the test itself."""
    return case.stage == COLLECTION or _NAME_IS_NEW.match(case.why) is not None


def shown_by(targets: tuple[Target, ...], hollow: Census | None) -> tuple[CaseId, ...]:
    """The targets that run the changed code.

    `hollow` is the run on the tree of now with the bodies of the changed functions replaced by a raise or panic; None
    where there was none. A test whose red was an import, collection or compile error counts only if it is red there.
    """
    red = {case.id for case in hollow.of_outcome(RED)} if hollow is not None else set()
    unread = {case.file for case in red if not case.name}
    return tuple(
        target.id for target in targets if target.red_at != COLLECTION or target.id in red or target.id.file in unread
    )
