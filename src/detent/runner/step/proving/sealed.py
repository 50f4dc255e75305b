"""Sealed checks: a person's hidden tests and scripts, run over the tree of a task once its own commands have proven it.

    1. the bytes are read from the control folder, by the hashes of the task's first line;
    2. a checkout of the tree, set up and built as for any proof, before anything sealed is there;
    3. the sealed files are laid in it: nothing is written through a link of the tree;
    4. the command runs without network; its output goes to the control folder;
    5. everything that the run could write is removed: checkout, set-up, caches, reports.

Tests run by the task's own commands, and count by what their runner reports, never by an exit code: each must have run
and passed. Then they run once more with planted failures, so that code that makes any test pass is found. A script
counts by its exit code. What a run found is for people; an agent learns that a sealed check failed, and no more.
"""

from __future__ import annotations

import os
import stat
from contextlib import contextmanager
from random import Random

from detent.core.record import Record
from detent.effects.git.bring import wipe
from detent.effects.git.git import tree_of
from detent.effects.host.last_lines import last_lines
from detent.effects.tests.judge_files import fits
from detent.effects.tests.kits.choose import kit_of
from detent.effects.tests.kits.values import BROKEN, CANARY, TEST, TWIN, Unparsable
from detent.effects.tests.planting import plant
from detent.effects.tests.tree_files import path_in
from detent.effects.workspace.checkout import SetupFailed, Workspace, why_cut_short
from detent.effects.workspace.prepared import prepared_checkout
from detent.errors import DetentError
from detent.runner.access.access import command_running
from detent.runner.access.command_place import place_of
from detent.runner.step.proving.counted import REPORTS, RunPlace, junit_of, run_counted, runners_of
from detent.runner.step.proving.progress import BEGINS, Progress, quiet
from detent.runner.step.proving.sides import recognised_in
from detent.runner.step.proving.wanted import built, wanted_checkout
from detent.store.disk.atomic import make_folders, read_plain, write_atomic
from detent.store.disk.digest import sha256_of
from detent.store.text.census import GREEN, RED
from detent.store.text.sealed import DATA, FAILED, PASSED, SCRIPT, TESTS, UNCLEAR, SealedFile, SealedFound, sealed_of
from detent.words import sealed as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from detent.effects.host.process import Finished
    from detent.effects.tests.kits.values import Sprout
    from detent.effects.tests.planting import Planting
    from detent.effects.tests.recognise import Recognised
    from detent.effects.tests.reports import Reported
    from detent.effects.workspace.checkout import Checkout
    from detent.runner.step.proving.progress import Tells
    from detent.runner.task.open import Task
    from detent.store.text.census import Case

LARGEST_BYTES = 5_000_000  # of one sealed file
_FOLDER = "sealed"  # in the control folder of a task: logs
_SET_UP = "sealed-setup"  # below its home: what nothing was mounted for, thrown away
_RUN_MODE, _READ_MODE = 0o755, 0o644


class Ran(Record):
    """One run with sealed files in the tree: its end, what its test runners reported, and what was planted."""

    finished: Finished
    reported: Reported
    log: str
    why: str  # why it did not come to its own end
    planting: Planting | None


class _Unlaid(Exception):
    """Why nothing could be run."""


def run_sealed(task: Task, tree: str, lines: Sequence[str], progress: Tells = quiet) -> tuple[SealedFound, ...]:
    """The result of every sealed check of a task on this tree; `lines` are the commands that may run its tests."""
    files = sealed_of(task.memory.head.sealed)
    wipe(os.path.join(task.places.folder, _FOLDER))
    work = _Work(task, tree, lines, progress)
    try:
        work.read(files)
        return tuple(work.check(file) for file in files if file.kind != DATA)
    except _Unlaid as why:
        return tuple(SealedFound(file.place, file.sha256, UNCLEAR, str(why)) for file in files if file.kind != DATA)


class _Work:
    """The sealed checks of one task on one tree."""

    def __init__(self, task: Task, tree: str, lines: Sequence[str], progress: Tells) -> None:
        self.task, self.tree, self.lines, self.progress = task, tree, lines, progress
        self.bytes: dict[str, bytes] = {}
        self.files: Sequence[SealedFile] = ()
        self.runs = 0

    def read(self, files: Sequence[SealedFile]) -> None:
        self.files = files
        for file in files:
            content = read_plain(os.path.join(self.task.places.objects(), file.sha256), LARGEST_BYTES)
            if content is None or sha256_of(content) != file.sha256:
                raise _Unlaid(say.lost(file.place))
            self.bytes[file.place] = content

    def check(self, file: SealedFile) -> SealedFound:
        found = self._script(file) if file.kind == SCRIPT else self._tests(file)
        return found.replace(place=file.place, sha256=file.sha256)

    def _script(self, file: SealedFile) -> SealedFound:
        ran = self._run(self.tree, f"./{_quoted(file.place)}", (file,), None)
        if ran.why or ran.finished.exit != 0:
            return _found(FAILED, ran.why or say.script_exited(ran.finished.exit), ran)
        return _found(PASSED, "", ran)

    def _tests(self, file: SealedFile) -> SealedFound:
        """The first command whose runner takes the file says what came of it."""
        runners = runners_of(self.task)
        recognised = self._recognised()
        silent: SealedFound | None = None
        for line, calls in recognised.items():
            if not any(fits(file.place, runners.by_name[name].tests) for name in calls.runners):
                continue
            ran = self._run(self.tree, line, (file,), calls)
            if _cases(ran, file):
                judged = self._judged(file, ran)
                return self._tried(file, line, calls) if judged.result == PASSED else judged
            silent = silent or self._unheard(file, line, calls, ran)
        return silent or SealedFound("", "", UNCLEAR, say.no_command(file.place))

    def _judged(self, file: SealedFile, ran: Ran) -> SealedFound:
        cases = _cases(ran, file)
        red = [case.id.name or file.place for case in cases if case.outcome in RED]
        if red:
            return _found(FAILED, say.tests_failed(red), ran)
        if problem := ran.why or "; ".join(ran.reported.problems):
            return _found(FAILED, problem, ran)
        if not ran.reported.is_believable:
            return _found(FAILED, say.cut_short(), ran)
        idle = [case.id.name for case in cases if case.outcome not in GREEN]
        idle += sorted(_names_in(file, self.bytes[file.place]) - {case.id.name for case in cases})
        return _found(FAILED, say.tests_not_run(idle), ran) if idle else _found(PASSED, "", ran)

    def _unheard(self, file: SealedFile, line: str, calls: Recognised, ran: Ran) -> SealedFound:
        """No test of the file was reported: the tree keeps it from running, unless it never runs here."""
        baseline = self.task.memory.head.baseline
        if ran.reported.is_believable and not ran.why and baseline:
            before = self._run(tree_of(self.task.places.private_git(), baseline), line, (file,), calls)
            if not _cases(before, file):
                return _found(UNCLEAR, say.not_collected(file.place, line), before)
        missing = say.not_reported() if ran.reported.is_believable else say.cut_short()
        return _found(FAILED, ran.why or missing, ran)

    def _tried(self, file: SealedFile, line: str, calls: Recognised) -> SealedFound:
        """The same tests once more, with a failure and wrong expectations planted among them."""
        names = dict.fromkeys(((file.place, name) for name in sorted(_names_in(file, self.bytes[file.place]))), True)
        chance = Random(os.urandom(16))  # noqa: S311  # unknown to the work, which is all that is needed
        ran = self._run(self.tree, line, (file,), calls, lambda root: plant(root, names, chance, [file.place]))
        ends = {case.id.name: case.outcome for case in _cases(ran, file)}
        planted = (
            [planted.sprout for planted in ran.planting.planted if planted.file == file.place] if ran.planting else []
        )
        if any(ends.get(sprout.name) in GREEN for sprout in planted if sprout.kind == CANARY):
            return _found(FAILED, say.canary_passed(), ran)
        if hollow := [name for name, outcomes in _copies(planted, BROKEN, ends) if outcomes <= GREEN]:
            return _found(FAILED, say.pass_whatever(hollow), ran)
        if known := [name for name, outcomes in _copies(planted, TWIN, ends) if not outcomes & GREEN]:
            return _found(UNCLEAR, say.pass_by_name(known), ran)
        return _found(PASSED, "", ran)

    def _recognised(self) -> Mapping[str, Recognised]:
        """What each command calls in the tree as it is; nothing sealed is there yet."""
        with self._checkout(self.tree, is_bare=True) as made:
            return {line: recognised_in(line, made.folder, runners_of(self.task)) for line in self.lines}

    def _run(
        self,
        tree: str,
        line: str,
        checks: Sequence[SealedFile],
        calls: Recognised | None,
        change: Callable[[str], Planting] | None = None,
    ) -> Ran:
        head = self.task.memory.head
        self.runs += 1
        self.progress(Progress(BEGINS, say.running()))
        log = os.path.join(self.task.places.folder, _FOLDER, f"{self.runs}.log")
        junit = junit_of(calls, runners_of(self.task)) if calls is not None else None
        with self._checkout(tree) as made:
            ready = built(self.task, made, tree)
            if isinstance(ready, SetupFailed):
                raise _Unlaid(ready.why)
            data = [file for file in self.files if file.kind == DATA]
            for file in (*data, *checks):
                self._lay(made.folder, file)
            planting = change(made.folder) if change is not None else None
            place = RunPlace(ready.folder, ready.laid, log, head.command_timeout_s, is_sealed=True)
            ran = run_counted(self.task, line, place, junit, self.progress)
        why = why_cut_short(ran.finished, head.command_timeout_s, command_running(self.task).limits)
        return Ran(ran.finished, ran.reported, log, why, planting)

    @contextmanager
    def _checkout(self, tree: str, *, is_bare: bool = False) -> Iterator[Checkout]:
        """A checkout whose set-up and caches are its own, and gone afterwards; a bare one has no set-up."""
        home, set_up = self.task.home, os.path.join(self.task.home, _SET_UP)
        wanted = wanted_checkout(self.task, tree).replace(cache_dir=set_up, vouched=())
        wanted = wanted.replace(workspace=Workspace()) if is_bare else wanted
        try:
            with prepared_checkout(wanted) as made:
                if isinstance(made, SetupFailed):
                    raise _Unlaid(made.why)
                yield made
        finally:
            traces = (set_up, place_of(self.task).cache, os.path.join(home, REPORTS), wanted.build)
            for path in filter(None, traces):
                wipe(path)

    def _lay(self, root: str, file: SealedFile) -> None:
        try:
            target = path_in(root, file.place)
            make_folders(os.path.dirname(target))
            target = path_in(root, file.place)
        except DetentError as error:  # a link or a file of the tree is in the way
            raise _Unlaid(error.what) from error
        if os.path.isdir(target) and not os.path.islink(target):
            raise _Unlaid(say.folder_in_the_way(file.place))
        if os.path.lexists(target):
            os.unlink(target)
        write_atomic(target, self.bytes[file.place], durable=False, mode=_mode_of(file))


def _mode_of(file: SealedFile) -> int:
    return stat.S_IMODE(_RUN_MODE if file.kind == SCRIPT else _READ_MODE)


def _copies(planted: Sequence[Sprout], kind: str, ends: Mapping[str, str]) -> list[tuple[str, set[str]]]:
    """The outcomes of a test's planted copies of one kind, by its name; without those that did not run."""
    found: dict[str, set[str]] = {}
    for sprout in planted:
        if sprout.kind == kind and sprout.name in ends:
            found.setdefault(sprout.of, set()).add(ends[sprout.name])
    return list(found.items())


def _cases(ran: Ran, file: SealedFile) -> list[Case]:
    return [case for case in ran.reported.census.cases if case.id.file == file.place]


def _names_in(file: SealedFile, content: bytes) -> set[str]:
    """The tests that stand in a file; none where its language is not read."""
    kit = kit_of(file.place)
    try:
        units = kit.units(content.decode()) if kit is not None and file.kind == TESTS else ()
    except (Unparsable, UnicodeDecodeError):
        return set()
    return {unit.name for unit in units if unit.kind == TEST}


def _found(result: str, why: str, ran: Ran) -> SealedFound:
    said = "" if result == PASSED else last_lines(ran.log, os.environ)
    return SealedFound("", "", result, why, said, ran.log)


def _quoted(path: str) -> str:
    from shlex import quote

    return quote(path)
