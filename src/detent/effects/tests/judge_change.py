"""What a change did to the judge of a command: files, and in test files test by test.

    compare_judges(base, now, judge) -> JudgeChange

A test is known by its text, then by its name: the same text elsewhere has moved and did not change. What lies outside
of tests (helpers, code that runs by itself, imports) is listed beside them, and a file that can't be parsed.
"""

from __future__ import annotations

from difflib import unified_diff

from detent.core.record import Record
from detent.effects.tests.judge_files import INLINE, TESTS
from detent.effects.tests.kits.choose import kit_of
from detent.effects.tests.kits.values import CODE, HELPER, IMPORT, TEST, Unit, Unparsable
from detent.effects.tests.steering import steers_alike
from detent.effects.tests.tree_files import LINK
from detent.words.effects import planting as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from detent.effects.tests.judge_files import Judge
    from detent.effects.tests.tree_files import TreeFiles

ADDED, CHANGED, REMOVED, MOVED, LINKED = "added", "changed", "removed", "moved", "became a link"
MOST_DIFF_LINES = 400
_HOOKS = ("pytest_", "setUpModule", "tearDownModule", "load_tests", "TestMain")


class FileChange(Record):
    """One file of the judge that is not the baseline's."""

    path: str
    role: str  # of judge_files
    how: str


class PartChange(Record):
    """One part of a test file. `file` and `name` are the baseline's where the part was there."""

    file: str
    kind: str  # of kits.values
    name: str
    how: str
    diff: str
    runs_by_itself: bool = False  # code of the file, a hook, an autouse fixture: it can steer every test


class JudgeChange(Record):
    """`same_text`: place of a test in the baseline -> where the same text stands now, for those that moved."""

    files: tuple[FileChange, ...]
    parts: tuple[PartChange, ...]
    same_text: Mapping[tuple[str, str], tuple[str, str]]
    unread: tuple[tuple[str, str], ...]  # test files that can't be compared part by part, with the reason

    @property
    def tests(self) -> tuple[PartChange, ...]:
        return tuple(part for part in self.parts if part.kind == TEST)

    @property
    def changed_tests(self) -> frozenset[tuple[str, str]]:
        """Tests of the baseline, by file and name, whose text is no longer there."""
        return frozenset((part.file, part.name) for part in self.tests if part.how in (CHANGED, REMOVED))

    @property
    def is_untouched(self) -> bool:
        """Whether nothing but new tests in new or old test files was added, and imports for them."""
        old = [part for part in self.parts if part.kind != IMPORT and (part.how != ADDED or part.runs_by_itself)]
        return not old and not self.unread and all(file.role in (TESTS, INLINE) for file in self.files)


def compare_judges(base: TreeFiles, now: TreeFiles, judge: Judge) -> JudgeChange:
    files: list[FileChange] = []
    unread: list[tuple[str, str]] = []
    before: dict[str, tuple[Unit, ...]] = {}
    after: dict[str, tuple[Unit, ...]] = {}
    for path in sorted(base.marks.keys() | now.marks.keys()):
        role = judge.role_of(path)
        how = _how(base, now, path)
        if not role or not how or not _steers_differently(base, now, path, judge):
            continue
        kit = kit_of(path)
        if kit is not None:
            try:
                old, new = kit.units(_text_of_file(base, path)), kit.units(_text_of_file(now, path))
            except Unparsable as error:
                unread.append((path, say.unparsable(path, str(error))))
            else:
                is_same = [unit.text for unit in old] == [unit.text for unit in new]
                if is_same and (how == CHANGED or role == INLINE):
                    continue  # other comments, other white space, or only code outside of tests
                before[path], after[path] = old, new
        files.append(FileChange(path, role, how))
    same_text = _moved(before, after)
    return JudgeChange(tuple(files), tuple(_parts(base, now, before, after, same_text)), same_text, tuple(unread))


def _text_of_file(tree: TreeFiles, path: str) -> str:
    """The text of a file to be parsed; nothing where it is not, or is a link."""
    text = tree.text(path)
    if text is None and not tree.marks.get(path, LINK).startswith(LINK):
        raise Unparsable(say.no_text())
    return text or ""


def _how(base: TreeFiles, now: TreeFiles, path: str) -> str:
    old, new = base.marks.get(path), now.marks.get(path)
    if old == new:
        return ""
    if old is None:
        return LINKED if new is not None and new.startswith(LINK) else ADDED
    if new is None:
        return REMOVED
    return LINKED if new.startswith(LINK) else CHANGED


def _steers_differently(base: TreeFiles, now: TreeFiles, path: str, judge: Judge) -> bool:
    """Whether the part of a file that steers is another one; of most files that is all of it."""
    is_text = base.text(path) is not None or now.text(path) is not None
    without_tox = judge.is_direct and path not in judge.command_files
    texts = base.text(path), now.text(path)
    return not is_text or not steers_alike(path, *texts, through_tox=judge.through_tox, without_tox=without_tox)


def _moved(
    before: Mapping[str, tuple[Unit, ...]], after: Mapping[str, tuple[Unit, ...]]
) -> Mapping[tuple[str, str], tuple[str, str]]:
    """Tests whose text went from one place to another."""
    gone: dict[str, list[tuple[str, str]]] = {}
    come: dict[str, list[tuple[str, str]]] = {}
    for path in before:
        for into, units, others in ((gone, before[path], after[path]), (come, after[path], before[path])):
            known = {(unit.name, unit.body) for unit in others}
            for unit in units:
                if unit.kind == TEST and (unit.name, unit.body) not in known:
                    into.setdefault(unit.body, []).append((path, unit.name))
    return {old: new for body, places in gone.items() for old, new in zip(places, come.get(body, ()), strict=False)}


def _parts(
    base: TreeFiles,
    now: TreeFiles,
    before: Mapping[str, tuple[Unit, ...]],
    after: Mapping[str, tuple[Unit, ...]],
    same_text: Mapping[tuple[str, str], tuple[str, str]],
) -> Iterable[PartChange]:
    arrived = set(same_text.values())
    for path in before:
        old_lines, new_lines = ((tree.text(path) or "").splitlines() for tree in (base, now))
        kept = {unit.text for unit in before[path]} & {unit.text for unit in after[path]}
        gone = [unit for unit in before[path] if unit.text not in kept]
        come = [unit for unit in after[path] if unit.text not in kept]
        by_name = {(unit.kind, unit.name): unit for unit in come if unit.kind in (TEST, HELPER)}
        for unit in gone:
            if (path, unit.name) in same_text and unit.kind == TEST:
                file, name = same_text[path, unit.name]
                yield PartChange(path, TEST, unit.name, MOVED, f"{path} {unit.name} -> {file} {name}")
                continue
            new = by_name.pop((unit.kind, unit.name), None)
            if new is not None and unit.kind == TEST and (path, new.name) in arrived:
                new = None  # another test took its name
            how = CHANGED if new is not None else REMOVED
            yield _part(path, unit, how, _lines(old_lines, unit), _lines(new_lines, new))
        replaced = {(unit.kind, unit.name) for unit in gone if (path, unit.name) not in same_text}
        for unit in come:
            is_new = (unit.kind, unit.name) not in replaced or unit.kind in (CODE, IMPORT)
            if is_new and not (unit.kind == TEST and (path, unit.name) in arrived):
                yield _part(path, unit, ADDED, [], _lines(new_lines, unit))


def _lines(lines: list[str], unit: Unit | None) -> list[str]:
    return [] if unit is None else lines[unit.first - 1 : unit.last]


def _part(path: str, unit: Unit, how: str, old: list[str], new: list[str]) -> PartChange:
    steers = unit.kind == CODE or "autouse" in unit.text or unit.name.rpartition(".")[2].startswith(_HOOKS)
    diff = list(unified_diff(old, new, path, path, lineterm="", n=3))[:MOST_DIFF_LINES]
    return PartChange(path, unit.kind, unit.name, how, "\n".join(diff), steers)
