"""Fixtures that every test may use: the command line in a clean environment and small real git repositories."""

from __future__ import annotations

import atexit
import gc
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp
from typing import Any, TypedDict

import pytest
from hypothesis import HealthCheck, settings

from detent.effects.host.access import LANDLOCK, NONE
from detent.effects.host.sandbox import Probe, best_level
from detent.runner.access.level import remember_level
from detent.store.journal.places import Project, project_at
from tests.advisories import Advisories
from tests.forks import Forks
from tools.results import ResultKeeper

# The same examples on every run, so that a red test is red for everybody; `--hypothesis-profile=deep` searches for new
# ones. Deadlines are off because the time a shared host takes proves nothing.
settings.register_profile("ci", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("deep", max_examples=5000, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("ci")

# Bounds for what hangs, not for what is slow: a host may have ten times as much to do as this needs.
COMMAND_TIMEOUT_S = 240
NEEDS_PERSON, ASKS_FOR_TRUST = 4, "detent trust --show"
# Nothing waits for ever: a test that does is red, and the rest goes on. A full crash test looks at thousands of disks.
TEST_TIMEOUT_S = 4 * 3600 if "full" in (os.environ.get("DETENT_CRASH"), os.environ.get("DETENT_TLC")) else 300

# Tests wait for the disk more than for anything else, and what they show does not depend on it: the engine's syncs are
# watched by the crash tests, system call by system call. A run needs about a third of this.
MEMORY = "/dev/shm"
ENOUGH_BYTES = 4 << 30

README = "# Sample\n\nA tiny project that tests work on.\n"
APP = '''"""Adds numbers."""


def add(left, right):
    return left + right
'''
TEST_APP = """import unittest

from app import add


class AddTest(unittest.TestCase):
    def test_adds(self):
        self.assertEqual(add(2, 3), 5)


if __name__ == "__main__":
    unittest.main()
"""
SAMPLE_FILES: Mapping[str, str] = {"README.md": README, "app.py": APP, "test_app.py": TEST_APP}


def pytest_configure(config: pytest.Config) -> None:
    """The process that starts the tests keeps their results; xdist's workers report to it."""
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(ResultKeeper(config.rootpath))
    _hide_settings(config)
    _use_memory()
    gc.disable()  # what is collected stays


def _hide_settings(config: pytest.Config) -> None:
    """An empty folder instead of the settings of the user running the tests.

    It exists and is theirs: a browser makes a missing one, and git warns of one that another user made.
    """
    empty = mkdtemp(prefix="detent-no-settings-")
    config.add_cleanup(lambda: shutil.rmtree(empty, ignore_errors=True))
    os.environ["XDG_CONFIG_HOME"] = empty


def _use_memory() -> None:
    """Folders of tests lie in memory where there is much of it and programs may run there, as in few containers.

    Not where Landlock is the best sandbox: it closes `/dev`.
    """
    place = "PYTEST_DEBUG_TEMPROOT"
    if place in os.environ or not os.access(MEMORY, os.W_OK):
        return
    room = os.statvfs(MEMORY)
    is_fit = room.f_bavail * room.f_frsize >= ENOUGH_BYTES and not room.f_flag & os.ST_NOEXEC
    if is_fit and best_level(os.environ).level != LANDLOCK:
        os.environ[place] = MEMORY


def pytest_collection_finish() -> None:
    """Thousands of tests stay until the end: the garbage collector need not scan them each time."""
    gc.freeze()
    gc.enable()


@dataclass(frozen=True, slots=True)
class Completed:
    """What one call of the command line came to."""

    arguments: tuple[str, ...]
    code: int
    out: str
    err: str

    def json(self) -> Any:
        """The standard output as JSON; a failure shows everything the command said."""
        try:
            return json.loads(self.out)
        except ValueError as error:
            raise AssertionError(f"no JSON from {self}") from error


@cache
def forks() -> Forks:
    """One for all tests of this process, made when the first asks."""
    made = Forks()
    atexit.register(made.close)
    return made


class Options(TypedDict, total=False):
    """What one command of a `Detent` may be run with, besides its words."""

    cwd: Path | None
    stdin: str
    environment: Mapping[str, str] | None


class Detent:
    """Runs the command line as a person would, away from the settings and the git identity of this host.

    Every command is a process of its own; `is_cold` says that it is also an interpreter of its own.
    """

    def __init__(
        self, directory: Path, environment: Mapping[str, str], *, is_cold: bool = False, trusts: bool = True
    ) -> None:
        self.directory = directory
        self.environment = environment
        self.is_cold = is_cold
        self.trusts = trusts  # whether this person trusts, by the public command, every repository that asks for it

    def __call__(
        self,
        *arguments: str | Path,
        cwd: Path | None = None,
        stdin: str = "",
        environment: Mapping[str, str] | None = None,
    ) -> Completed:
        """Run `detent ARGUMENTS` in `cwd`; `environment` is added to the clean one."""
        words = tuple(str(argument) for argument in arguments)
        start, whole = self._start if self.is_cold else forks().run, {**self.environment, **(environment or {})}
        done = start(words, cwd or self.directory, whole, stdin, COMMAND_TIMEOUT_S)
        if self.trusts and done.returncode == NEEDS_PERSON and ASKS_FOR_TRUST in done.stdout + done.stderr:
            where = ("--repo", words[words.index("--repo") + 1]) if "--repo" in words else ()
            start(("trust", "--yes", *where), cwd or self.directory, whole, "", COMMAND_TIMEOUT_S)
            done = start(words, cwd or self.directory, whole, stdin, COMMAND_TIMEOUT_S)
        return Completed(arguments=words, code=done.returncode, out=done.stdout, err=done.stderr)

    @staticmethod
    def _start(
        words: Sequence[str], cwd: Path, environment: Mapping[str, str], stdin: str, timeout_s: float
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "detent", *words],
            cwd=cwd,
            env=environment,
            input=stdin,
            capture_output=True,
            encoding="utf-8",
            timeout=timeout_s,
            check=False,
        )


class MakeRepo:
    """Makes small git repositories with one commit; call it as often as repositories are needed."""

    def __init__(self, directory: Path, environment: Mapping[str, str]) -> None:
        self.directory = directory
        self.environment = environment

    def __call__(self, name: str = "repo", files: Mapping[str, str] = SAMPLE_FILES) -> Path:
        """A new repository `name` holding `files`, committed on branch `main`."""
        path = self.directory / name
        path.mkdir(parents=True)
        for relative, text in files.items():
            file = path / relative
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        self.git(path, "init", "--quiet", "--initial-branch=main")
        self.git(path, "add", "--all")
        self.git(path, "commit", "--quiet", "--allow-empty", "--message=Start")
        return path

    def git(self, repository: Path, *arguments: str) -> str:
        """The standard output of one git command, without its last line end."""
        done = subprocess.run(
            ["git", "-c", "maintenance.auto=false", *arguments],  # newer gits would go on in the background
            cwd=repository,
            env=self.environment,
            capture_output=True,
            encoding="utf-8",
            timeout=COMMAND_TIMEOUT_S,
            check=False,
        )
        assert done.returncode == 0, f"git {' '.join(arguments)} in {repository}: {done.stderr}"
        return done.stdout.removesuffix("\n")


@pytest.fixture(autouse=True)
def ends_in_time() -> Iterator[None]:
    """A test that hangs is ended by an alarm; those that take it away from us are on their own."""

    if signal.getitimer(signal.ITIMER_REAL)[0]:  # a watcher outside the tests has set one already
        yield
        return

    def ring(_number: int, _frame: object) -> None:
        raise TimeoutError(f"the test took more than {TEST_TIMEOUT_S} s")

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, TEST_TIMEOUT_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def hear_signals() -> None:
    """For `preexec_fn`: the test process may ignore signals, as under nohup, and children would too."""
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)


def force_level(project: Project, level: str) -> None:
    """Let a project believe that its host can do no more than this; only one of the tests' own."""
    os.makedirs(project.control, exist_ok=True)
    remember_level(project, Probe(level, "the tests say so"))


def trust(repository: Path) -> None:
    """Trust a repository by the public command, for tests that make tasks in this process."""
    done = forks().run(("trust", "--yes"), repository, dict(os.environ), "", COMMAND_TIMEOUT_S)
    assert done.returncode == 0, done


def let_out(repository: Path) -> None:
    """Nothing holds what this repository runs: it meets the test outside. The sandbox has tests of its own."""
    force_level(project_at(str(repository), str(repository / ".git")), NONE)


@pytest.fixture
def disk_path() -> Iterator[Path]:
    """For tests that must not lie in memory: to a sandbox `/dev` is a world of its own."""
    with TemporaryDirectory(prefix="detent-test-", ignore_cleanup_errors=True) as made:
        yield Path(made).resolve()


@pytest.fixture
def clean_environment(tmp_path: Path) -> dict[str, str]:
    return environment_in(tmp_path)


def environment_in(folder: Path) -> dict[str, str]:
    """An environment built from nothing: a home of its own, a git identity, and this Python first on the path."""
    home = folder / "home"
    home.mkdir()
    write_user_settings(home)
    return {
        "PATH": os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath))),
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "XDG_CACHE_HOME": str(home / "cache"),
        "XDG_CONFIG_HOME": str(home / "config"),
        "XDG_DATA_HOME": str(home / "data"),
        "XDG_STATE_HOME": str(home / "state"),
        "GIT_AUTHOR_EMAIL": "tester@example.invalid",
        "GIT_AUTHOR_NAME": "Tester",
        "GIT_COMMITTER_EMAIL": "tester@example.invalid",
        "GIT_COMMITTER_NAME": "Tester",
        "GIT_CONFIG_NOSYSTEM": "1",
    }


# What tests tell their scripted agents and commands by the environment.
_IDENTITY = ("GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL")  # scripts may commit
TOLD_BY_TESTS = ("SCRIPTS", "REPO", "CHECKOUT", "EXAMPLE", "COUNT", *_IDENTITY)


def write_user_settings(home: Path, more: str = "") -> None:
    """The user's own settings: their runs and commands get what the tests tell them."""
    path = home / "config" / "detent" / "config.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"[sandbox]\npass = {json.dumps(TOLD_BY_TESTS)}\n{more}", encoding="utf-8")


@pytest.fixture
def detent(tmp_path: Path, clean_environment: dict[str, str]) -> Detent:
    """The command line: `detent("status", "--json", cwd=path).json()`."""
    return Detent(tmp_path, clean_environment)


@pytest.fixture
def cold(tmp_path: Path, clean_environment: dict[str, str]) -> Detent:
    """The same with an interpreter of its own for every command, as the shell starts it."""
    return Detent(tmp_path, clean_environment, is_cold=True)


@pytest.fixture
def repo(tmp_path: Path, clean_environment: dict[str, str]) -> MakeRepo:
    """A maker of repositories: `path = repo()`, `other = repo("other")`."""
    return MakeRepo(tmp_path / "repositories", clean_environment)


@pytest.fixture
def advisories() -> Iterator[Advisories]:
    made = Advisories()
    yield made
    made.close()
