"""Replays honest changes: neighbouring versions of published packages, each taken to the last move of a real task.

    python -m tools.replay_honest [PACKAGE ...] [--json FILE] [--markdown FILE]

The older version is the commit that a task of kind `feature` begins from, the newer one its work. Nothing in it is a
cheat, so a refusal is a mistake of Detent. A pair whose tests are not green on both sides here says nothing: it is left
out, with the reason. Everything lies in `.bench/replay/`; source archives that are there are not fetched again.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import tomllib
import venv
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from detent.gates.proof import COMMAND
from detent.store.text.assessment import ASKS, FAILED, LEFT_OUT, UNAVAILABLE, Assessment, from_json
from detent.store.text.proof_words import REFUSED
from tests.conftest import Detent
from tests.e2e.phase_task import FRAME, PhaseTask, environment_in

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = Path(__file__).with_name("replay_honest.toml")
INSTALL_TIMEOUT_S, SUITE_TIMEOUT_S = 300, 60
NOT_ALONE = ("PKG-INFO", "*.egg-info", "__pycache__")  # what packing added to the source
LEFT = "left out"


class Left(Exception):
    """Why a pair says nothing, in one line."""


@dataclass(frozen=True, slots=True)
class Package:
    """Where the code and the tests of a package lie, and the versions that are compared with their neighbours."""

    name: str
    versions: tuple[str, ...]
    tests: str
    source: str


@dataclass(frozen=True, slots=True)
class Replayed:
    """What became of one pair; `word` is `left out` where it says nothing, and `why` has the reason."""

    package: str
    old: str
    new: str
    word: str
    why: tuple[str, ...] = ()
    reach: str = ""
    tests: int = 0
    targets: int = 0
    runs: int = 0
    seconds: float = 0.0


def packages(names: Sequence[str] = ()) -> tuple[Package, ...]:
    """The packages of `replay_honest.toml`, or those of these names."""
    known = tomllib.loads(PACKAGES.read_text(encoding="utf-8"))
    return tuple(
        Package(name, tuple(table["versions"]), table["tests"], table.get("source", "."))
        for name, table in known["packages"].items()
        if not names or name in names
    )


def needs() -> tuple[str, ...]:
    return tuple(tomllib.loads(PACKAGES.read_text(encoding="utf-8"))["needs"])


class Ground:
    """The folder of all replays: source archives, one environment with what the suites need, and one pair at a time."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        (folder.parent / ".gitignore").write_text("*\n", encoding="utf-8")
        self.python = folder / "environment" / "bin" / "python"
        self.archives = folder / "sdists"

    def prepare(self) -> None:
        """Make the environment, if what it is made of changed."""
        stamp, wanted = self.folder / "environment" / "made-of", "\n".join(needs())
        if stamp.exists() and stamp.read_text(encoding="utf-8") == wanted:
            return
        venv.create(self.folder / "environment", clear=True, with_pip=True)
        self._pip("install", "--quiet", *needs())
        stamp.write_text(wanted, encoding="utf-8")

    def _pip(self, *words: str) -> None:
        subprocess.run(
            [self.python, "-m", "pip", *words], check=True, capture_output=True, text=True, timeout=INSTALL_TIMEOUT_S
        )

    def source(self, package: Package, version: str, into: Path) -> None:
        """Lay the files of one version into a folder, without what packing added."""
        archive = self._archive(package, version)
        apart = self.folder / "unpacked"
        shutil.rmtree(apart, ignore_errors=True)
        with tarfile.open(archive) as packed:
            packed.extractall(apart, filter="data")
        (top,) = apart.iterdir()
        for unwanted in (found for pattern in NOT_ALONE for found in top.rglob(pattern)):
            shutil.rmtree(unwanted) if unwanted.is_dir() else unwanted.unlink()
        shutil.copytree(top, into, dirs_exist_ok=True, symlinks=True)
        shutil.rmtree(apart)

    def _archive(self, package: Package, version: str) -> Path:
        self.archives.mkdir(exist_ok=True)
        if (found := self._fetched(package, version)) is not None:
            return found
        try:
            self._pip(
                *("download", "--quiet", "--no-deps", "--no-binary", package.name, "--dest", str(self.archives)),
                f"{package.name}=={version}",
            )
        except subprocess.CalledProcessError as error:
            raise Left(f"no source of {version}: {last_line(error.stderr)}") from error
        if (found := self._fetched(package, version)) is None:
            raise Left(f"no source archive of {version}")
        return found

    def _fetched(self, package: Package, version: str) -> Path | None:
        """An archive of this version, whichever way its name is written."""
        wanted = f"{package.name}-{version}.tar.gz".lower().replace("_", "-")
        found = (path for path in self.archives.glob("*.tar.gz") if path.name.lower().replace("_", "-") == wanted)
        return next(found, None)


def command(ground: Ground, package: Package) -> str:
    return f"{ground.python} -m pytest -q -p no:cacheprovider -o pythonpath={package.source} {package.tests}"


def replay(ground: Ground, package: Package, old: str, new: str) -> Replayed:
    """Take one pair to the last move; a pair that says nothing tells why."""
    since = time.monotonic()
    # Not below this repository: pytest looks for settings further up, and would find those of Detent.
    with tempfile.TemporaryDirectory(prefix="detent-replay-") as top:
        try:
            return _Pair(ground, package, Path(top)).replayed(old, new, since)
        except Left as left:
            return Replayed(package.name, old, new, LEFT, (str(left),))


class _Pair:
    def __init__(self, ground: Ground, package: Package, top: Path) -> None:
        self.ground, self.package, self.top = ground, package, top
        self.environment = environment_in(top / "home")
        self.line = command(ground, package)

    def replayed(self, old: str, new: str, since: float) -> Replayed:
        repo = self.top / "repo"
        for version in (new, old):
            shutil.rmtree(repo, ignore_errors=True)
            self.ground.source(self.package, version, repo)
            self._check_green(version, repo)
        shutil.rmtree(repo)
        self.ground.source(self.package, old, repo)
        self._git(repo, "init", "--quiet", "--initial-branch=main")
        self._git(repo, "add", "--all", "--force")
        self._git(repo, "commit", "--quiet", f"--message=Release {old}")
        task = self._task(repo)
        self._lay(repo, new)
        task.candidate()
        answer = task.move("verify", expect=None)
        if answer.code == 0 and (answer := task.move("review", expect=None)).code == 0:
            task.review()
            answer = task.move("done", expect=None)
        proof = self._proof(task)
        if proof is None:
            return Replayed(self.package.name, old, new, REFUSED, (last_line(answer.out + answer.err),))
        (one,) = proof.commands
        telling = (FAILED,) if proof.word == REFUSED else (ASKS, LEFT_OUT, UNAVAILABLE)
        told = tuple(f"{part.name}: {part.why}" for part in one.parts if part.result in telling)
        seconds = round(time.monotonic() - since, 1)
        return Replayed(
            self.package.name, old, new, proof.word, told, proof.reach, one.ran, len(one.targets), one.runs, seconds
        )

    def _check_green(self, version: str, repo: Path) -> None:
        try:
            done = subprocess.run(
                self.line.split(),
                cwd=repo,
                env={**self.environment, "PYTHONDONTWRITEBYTECODE": "1"},
                capture_output=True,
                text=True,
                timeout=SUITE_TIMEOUT_S,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise Left(f"{version} needs more than {SUITE_TIMEOUT_S} s") from error
        if done.returncode:
            raise Left(f"{version} is not green here: {last_line(done.stdout + done.stderr)}")

    def _task(self, repo: Path) -> PhaseTask:
        task = PhaseTask(Detent(self.top, self.environment, is_cold=True), repo, self.top / "task", "replay")
        words = ("new", "the next version", "--in-place", "--id", task.id, "--kind", "feature", "--check", self.line)
        done = task(*words, "--dir", task.folder, cwd=repo)
        if done.code:
            raise Left(f"no task: {last_line(done.out + done.err)}")
        task.set(FRAME)
        task.move("shape")
        task.move("implement")
        return task

    def _lay(self, repo: Path, version: str) -> None:
        """Every file of the older version makes room for the newer one."""
        for path in repo.iterdir():
            if path.name != ".git":
                shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
        self.ground.source(self.package, version, repo)

    def _git(self, repo: Path, *words: str) -> None:
        subprocess.run(["git", *words], cwd=repo, env=self.environment, check=True, capture_output=True)

    def _proof(self, task: PhaseTask) -> Assessment | None:
        receipts = (json.loads(path.read_text()) for path in (task.control / "receipts").glob("*.json"))
        found = [from_json(json.loads(one["output"]), one["log"]) for one in receipts if one.get("command") == COMMAND]
        return found[-1] if found else None


def last_line(text: str) -> str:
    """What was said last, short."""
    return ([line.strip() for line in text.splitlines() if line.strip()] or ["it said nothing"])[-1][:200]


def markdown(found: Sequence[Replayed]) -> str:
    """The table of the documentation."""
    lines = ["| package | older → newer | tests | word | why |", "|---|---|---|---|---|"]
    for one in found:
        why = "; ".join(one.why).replace("|", "\\|")
        lines.append(f"| {one.package} | {one.old} → {one.new} | {one.tests or ''} | {one.word} | {why} |")
    return "\n".join(lines)


def summary(found: Sequence[Replayed]) -> str:
    words = Counter(one.word for one in found)
    counted = len(found) - words[LEFT]
    told = ", ".join(f"{count} {word}" for word, count in sorted(words.items()))
    return f"{counted} pairs of {len({one.package for one in found if one.word != LEFT})} packages replayed: {told}"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("package", nargs="*", help="these alone (default: all of tools/replay_honest.toml)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="keep every result here, too")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the table here")
    options = parser.parse_args(arguments)
    ground = Ground(ROOT / ".bench" / "replay")
    ground.prepare()
    found = []
    for package in packages(options.package):
        for old, new in zip(package.versions, package.versions[1:], strict=False):
            one = replay(ground, package, old, new)
            found.append(one)
            print(f"{one.package} {old} -> {new}: {one.word} ({one.seconds:.0f} s)", *one.why, sep="\n    ", flush=True)
            if options.json:
                options.json.write_text(json.dumps([asdict(each) for each in found], indent=1), encoding="utf-8")
            if options.markdown:
                options.markdown.write_text(markdown(found) + "\n", encoding="utf-8")
    print(summary(found))
    return int(any(one.word == REFUSED for one in found))


if __name__ == "__main__":
    sys.exit(main())
