"""Which files of a tree belong to the judge of a command: what the baseline decides about, and not the change.

Tests, what lies beside them, what steers the runner, what the command itself is made of, and names that would be
imported in place of the runner's own. Of a file that also says other things, such as pyproject.toml, only what steers
counts (`steering.py`).
"""

from __future__ import annotations

import os
import sys
from fnmatch import fnmatchcase

from detent.core.record import Record
from detent.effects.tests.runners import PYTHON, RUST

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from detent.effects.tests.recognise import Recognised
    from detent.effects.tests.runners import Runner, Runners

TESTS, BESIDE, STEERS, SHADOWS, COMMAND = "tests", "beside", "steers", "shadows", "command"
INLINE = "inline"  # code with modules for tests in it: only these are the judge's
_MODULES = (".py", ".so", ".pyd", ".pth")
_COMPILED = ".pyc"  # runs in place of the source that people read
_SOURCE_FOLDERS = ("", "src", "lib")
_STANDARD = frozenset(sys.stdlib_module_names) - {"test", "this", "antigravity"}


class Judge(Record):
    """The judge of one command in one project."""

    runners: tuple[Runner, ...]
    command_files: frozenset[str]
    known_modules: frozenset[str]  # top names of Python that the baseline has: its own, and no shadows
    through_tox: bool
    is_direct: bool = False  # the command calls its runners itself, through nothing

    def role_of(self, path: str) -> str:
        """Why a file belongs to the judge; empty for one that does not."""
        if path in self.command_files:
            return COMMAND
        for role in (self._steers, self._tests, self._beside, self._shadows, self._inline):
            if found := role(path):
                return found
        return ""

    def _steers(self, path: str) -> str:
        return STEERS if any(fits(path, runner.steers) for runner in self.runners) else ""

    def _tests(self, path: str) -> str:
        return TESTS if any(fits(path, runner.tests) for runner in self.runners) else ""

    def _beside(self, path: str) -> str:
        folders = set(path.split("/")[:-1])
        return BESIDE if any(folders & set(runner.folders) for runner in self.runners) else ""

    def _shadows(self, path: str) -> str:
        for runner in self.runners:
            if runner.language != PYTHON:
                if any(part in runner.shadows for part in path.split("/")[:-1]):
                    return SHADOWS
            elif path.endswith(_COMPILED):
                return SHADOWS
            elif path.endswith(_MODULES):
                name = top_module(path)
                is_standard = name in _STANDARD or any(fnmatchcase(name, pattern) for pattern in runner.shadows)
                if name and is_standard and name not in self.known_modules:
                    return SHADOWS
        return ""

    def _inline(self, path: str) -> str:
        return INLINE if path.endswith(".rs") and any(runner.language == RUST for runner in self.runners) else ""


def judge_of(recognised: Recognised, runners: Runners, base_paths: Iterable[str]) -> Judge:
    """The judge of a recognised command; `base_paths` are the files of the baseline."""
    modules = frozenset(name for path in base_paths if path.endswith(_MODULES) and (name := top_module(path)))
    known = tuple(runners.by_name[name] for name in recognised.runners)
    through_tox = any("tox" in call.way for call in recognised.calls)
    is_direct = not (recognised.unreached or any(call.way for call in recognised.calls))
    return Judge(known, frozenset(recognised.files), modules, through_tox, is_direct)


def top_module(path: str) -> str:
    """The name by which Python would import this file or its package from the top, `src` or `lib`."""
    for folder in reversed(_SOURCE_FOLDERS):
        if not folder or path.startswith(folder + "/"):
            rest = path[len(folder) + 1 :] if folder else path
            first = rest.split("/")[0]
            return first if "/" in rest else first.split(".")[0]
    return ""


def fits(path: str, patterns: Sequence[str]) -> bool:
    """A pattern without a folder fits the name, wherever the file lies; any other the whole path."""
    name = os.path.basename(path)
    return any(fnmatchcase(path if "/" in pattern else name, pattern) for pattern in patterns)
