"""Makes the measured virtual environments, all under `.bench/`: Detent from its wheel, each peer from its lock.

An environment is kept as long as what it was made from stays the same. One that can't be made is a reason in words, not
an error: the run goes on without it.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Sequence
from pathlib import Path

from bench.process import clean_environment

INSTALL_TIMEOUT_S = 300
_NEWER = 5  # how many minor versions are looked for
_PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet")


class Unavailable(Exception):
    """Why an environment could not be made, in one line."""


def make_ground(root: Path) -> Path:
    """The folder everything happens in; it hides itself from git."""
    ground = root / ".bench"
    ground.mkdir(exist_ok=True)
    (ground / ".gitignore").write_text("*\n", encoding="utf-8")
    return ground


def detent_environment(root: Path, ground: Path) -> Path:
    """Detent as a user installs it: a wheel, not editable, byte-compiled."""
    sources = sorted(path for path in (root / "src").rglob("*") if path.is_file() and path.suffix != ".pyc")
    key = _key([root / "pyproject.toml", *sources])
    folder = ground / "environments" / "detent"
    if not _is_made(folder, key):
        wheels = ground / "wheels"
        shutil.rmtree(wheels, ignore_errors=True)
        # hatchling is one of the project's own tools, so nothing has to be fetched to build it.
        _pip("wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", str(wheels), str(root))
        _create(folder)
        _install(folder, "--no-deps", "--no-index", *(str(wheel) for wheel in wheels.glob("detent-*.whl")))
        _mark_made(folder, key)
    return folder / "bin"


def peer_environment(
    root: Path, ground: Path, name: str, *, may_install: bool, needs: tuple[int, int] = (3, 11)
) -> Path:
    """A peer, pinned with hashes by its own lock file; `needs` is the least Python it runs on."""
    lock = root / "requirements" / f"bench-{name}.lock"
    key = _key([lock])
    folder = ground / "environments" / name
    if not _is_made(folder, key):
        if not may_install:
            raise Unavailable("not installed yet; a full run installs it")
        if sys.version_info[:2] >= needs:
            _create(folder)
        else:
            _create_with(_find_python(needs), folder)
        _install(folder, "--require-hashes", "-r", str(lock))
        _mark_made(folder, key)
    return folder / "bin"


def npm_environment(root: Path, ground: Path, name: str, *, may_install: bool) -> Path:
    """A peer from npm, pinned with hashes by its own lock file; no script of a package is run."""
    pins = root / "requirements" / f"bench-{name}"
    names = ("package.json", "package-lock.json")
    key = _key([pins / one for one in names])
    folder = ground / "environments" / name
    if not _is_made(folder, key):
        if not may_install:
            raise Unavailable("not installed yet; a full run installs it")
        npm = shutil.which("npm")
        if not npm:
            raise Unavailable("npm not found")
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        for one in names:
            shutil.copy(pins / one, folder)
        _run_installer((npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix", str(folder)), "npm ERR")
        _mark_made(folder, key)
    return folder / "node_modules" / ".bin"


def _key(paths: Sequence[Path]) -> str:
    digest = hashlib.sha256(sys.version.encode())
    for path in paths:
        digest.update(str(path).encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def _is_made(folder: Path, key: str) -> bool:
    stamp = folder / ".made-from"
    return stamp.is_file() and stamp.read_text(encoding="utf-8") == key


def _mark_made(folder: Path, key: str) -> None:
    (folder / ".made-from").write_text(key, encoding="utf-8")


def _create(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    # The pip of our own environment installs into it, so the measured one holds nothing but what is measured.
    venv.EnvBuilder(symlinks=True, with_pip=False).create(folder)


def _find_python(needs: tuple[int, int]) -> str:
    """A newer Python than ours on PATH that really starts."""
    for minor in range(needs[1], needs[1] + _NEWER):
        for folder in os.get_exec_path():
            program = os.path.join(folder, f"python{needs[0]}.{minor}")
            if os.access(program, os.X_OK) and not _fails((program, "-c", "import venv")):
                return program
    raise Unavailable(f"needs Python {needs[0]}.{needs[1]} or newer, and none is on PATH")


def _create_with(python: str, folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    if _fails((python, "-m", "venv", "--without-pip", str(folder))):
        raise Unavailable(f"{python} makes no virtual environment")


def _fails(argv: Sequence[str]) -> bool:
    done = subprocess.run(argv, env=clean_environment(), capture_output=True, timeout=INSTALL_TIMEOUT_S, check=False)
    return done.returncode != 0


def _install(folder: Path, *arguments: str) -> None:
    _pip("--python", str(folder / "bin" / "python"), "install", "--compile", *arguments)


def _pip(*arguments: str) -> None:
    _run_installer((*_PIP, *arguments), "ERROR")


def _run_installer(argv: Sequence[str], mark: str) -> None:
    try:
        done = subprocess.run(
            argv,
            env=clean_environment(keep_pip=True),
            capture_output=True,
            encoding="utf-8",
            timeout=INSTALL_TIMEOUT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise Unavailable(f"not installed within {INSTALL_TIMEOUT_S} s") from None
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if line.startswith(mark)] or ["the installer failed"]
        raise Unavailable(lines[-1].removeprefix(f"{mark}: "))
