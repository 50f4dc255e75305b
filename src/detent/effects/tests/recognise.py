"""Which runners a command of the project calls, by its words and the files of the tree it goes through.

    recognise(command, folder, runners) -> Recognised

make, npm and other scripts, tox, nox, shell scripts and programs that start another are followed; two calls in one
command are two. Nothing is run. What can't be followed is said, with what to do about it.
"""

from __future__ import annotations

import os

from detent.core.record import Record
from detent.effects.tests.indirect import Indirect, Tree, indirect_of
from detent.effects.tests.runners import JUNIT
from detent.effects.tests.shell_words import SHELLS, Call, calls_of, join, starts_with
from detent.words.effects import runners as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from detent.effects.tests.runners import Runner, Runners

_DEEPEST = 6
_MOST_CALLS = 500
_SCRIPTS = {"python": ".py", "node": ".js", "deno": ".ts", "bun": ".js", "ruby": ".rb", "php": ".php"}


class Found(Record):
    """One call of a runner."""

    runner: str
    words: tuple[str, ...]
    folder: str  # where it runs, from the top of the tree
    way: tuple[str, ...] = ()  # what it is called through, such as ("make", "npm test")


class Recognised(Record):
    """The calls of runners in a command, the files of the tree that it is made of, and what could not be reached."""

    calls: tuple[Found, ...]
    files: tuple[str, ...]
    unreached: tuple[str, ...]

    @property
    def runners(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(call.runner for call in self.calls))


def recognise(command: str | Sequence[str], root: str, runners: Runners) -> Recognised:
    """`root` is a checkout; it is only read."""
    walk = _Walk(Tree(root), runners)
    walk.follow(calls_of(command, "", runners), ())
    if not walk.found:
        walk.guess()
    return Recognised(tuple(dict.fromkeys(walk.found)), tuple(sorted(walk.files)), tuple(dict.fromkeys(walk.unreached)))


class _Walk:
    def __init__(self, tree: Tree, runners: Runners) -> None:
        self.tree, self.runners = tree, runners
        self.found: list[Found] = []
        self.files: set[str] = set()
        self.unreached: list[str] = []
        self._left = _MOST_CALLS

    def follow(self, calls: Sequence[Call], way: tuple[str, ...]) -> None:
        for call in calls:
            self._left -= 1
            if self._left < 0 or len(way) > _DEEPEST:
                self.unreached.append(say.too_many_steps())
                return
            self._call(call, way)

    def _call(self, call: Call, way: tuple[str, ...]) -> None:
        self._name_files(call)
        runner = _runner_of(call, self.runners)
        if runner is not None:
            self._take(runner, call, way)
            return
        further = indirect_of(call, self.tree)
        for indirect in further:
            self._through(indirect, way)
        if not further:
            self._script(call, way)

    def _take(self, runner: Runner, call: Call, way: tuple[str, ...]) -> None:
        self.found.append(Found(runner.name, call.words, call.folder, way))
        if runner.reports == "python" and call.isolated:
            self.unreached.append(say.ignores_environment(" ".join(call.words[:3])))
        elif runner.reports in ("", JUNIT) and not runner.junit:
            self.unreached.append(say.no_report_of_its_own(runner.name, _key(runner.name), runner.declare))

    def _through(self, call: Indirect, way: tuple[str, ...]) -> None:
        self.files.update(call.files)
        for line in call.lines:
            self.follow(calls_of(line, call.folder, self.runners), (*way, call.way))

    def _name_files(self, call: Call) -> None:
        """Files of the tree that stand in the command: scripts, configuration, lists of tests."""
        for word in call.words:
            path = join(call.folder, word.partition("=")[2] if word.startswith("-") and "=" in word else word)
            inside = path and not path.startswith(("/", "..", "-"))
            if inside and os.path.isfile(os.path.join(self.tree.root, path)):
                self.files.add(path)

    def _script(self, call: Call, way: tuple[str, ...]) -> None:
        program = os.path.basename(call.words[0])
        by_name = program in SHELLS or program in _SCRIPTS or program in (".", "source")
        scripts = [word for word in call.words[1:] if not word.startswith("-")] if by_name else [call.words[0]]
        if not scripts or (not by_name and "/" not in scripts[0]):
            return
        path = join(call.folder, scripts[0])
        text = self.tree.read(path) if not path.startswith(("/", "..")) else None
        if text is None:
            return
        self.files.add(path)
        head = text.splitlines()[0] if text else ""
        is_shell = program in SHELLS or program in (".", "source")
        if is_shell or (head.startswith("#!") and os.path.basename(head.split("/")[-1].split(" ")[-1]) in SHELLS):
            self.follow(calls_of(text, call.folder, self.runners), (*way, path))
            return
        for runner in self.runners.by_name.values():
            if any(said in text for said in runner.scripts):
                self._take(runner, call, (*way, path))

    def guess(self) -> None:
        """Nothing names a runner: the configuration that lies at the top does."""
        for runner in self.runners.by_name.values():
            there = [name for name in runner.ambient if os.path.isfile(os.path.join(self.tree.root, name))]
            if there:
                self.found.append(Found(runner.name, (), "", (f"guessed by {there[0]}",)))


def _key(name: str) -> str:
    return name if name.replace("-", "").replace("_", "").isalnum() else f'"{name}"'


def _runner_of(call: Call, runners: Runners) -> Runner | None:
    for runner in runners.by_name.values():
        if any(starts_with(call.words, words) for words in runner.calls):
            return runner
    return None
