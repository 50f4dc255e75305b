"""Installs pinned agent programs into a folder of their own for the tests: `install_agents.py FOLDER [AGENT...]`.

Nothing outside the folder is touched. An agent that can't be installed here (no npm, no wheel for this system) is named
with the reason; the exit is 0 if at least one is there.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

INSTALL_TIMEOUT_S = 900


@dataclass(frozen=True, slots=True)
class Pin:
    """Where an agent comes from: a package of npm or PyPI, the program inside it, and the version that says."""

    source: str
    package: str
    program: str
    says: str


PINS = {
    # The last release of pi that runs on Node 20.
    "pi": Pin("npm", "@mariozechner/pi-coding-agent@0.73.1", "node_modules/.bin/pi", "0.73.1"),
    "codex": Pin("pypi", "openai-codex-cli-bin==0.163.0", "codex_cli_bin/bin/codex", "0.163.0"),
    "claude": Pin("pypi", "claude-agent-sdk==0.2.182", "claude_agent_sdk/_bundled/claude", "2.1.325"),
}


def command(pin: Pin, folder: Path) -> list[str]:
    if pin.source == "npm":
        quiet = ["--no-audit", "--no-fund", "--no-update-notifier", "--loglevel=error"]
        # No package may run a program of its own while it is installed.
        return ["npm", "install", *quiet, "--ignore-scripts", "--prefix", str(folder), pin.package]
    wheel = ["--only-binary=:all:", "--no-deps", "--disable-pip-version-check", "--quiet"]
    return [sys.executable, "-m", "pip", "install", *wheel, "--upgrade", "--target", str(folder), pin.package]


def install(name: str, pin: Pin, prefix: Path) -> str:
    """Install one program and link it; the answer is empty, or says why it could not be."""
    folder, link = prefix / name, prefix / "bin" / name
    stamp = folder / ".installed"
    if stamp.exists() and stamp.read_text(encoding="utf-8") == pin.package and link.exists():
        return ""
    shutil.rmtree(folder, ignore_errors=True)
    link.unlink(missing_ok=True)
    link.parent.mkdir(parents=True, exist_ok=True)
    folder.mkdir(parents=True)
    try:
        done = subprocess.run(
            command(pin, folder), capture_output=True, encoding="utf-8", timeout=INSTALL_TIMEOUT_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    program = folder / pin.program
    if done.returncode or not program.exists():
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        return lines[-1] if lines else f"{pin.package} holds no {pin.program}"
    program.resolve().chmod(0o755)
    link.symlink_to(program.resolve())
    stamp.write_text(pin.package, encoding="utf-8")
    return ""


def main(arguments: list[str], pins: Mapping[str, Pin] = PINS, program: str = "install_agents.py") -> int:
    if not arguments or any(name not in pins for name in arguments[1:]):
        print(f"usage: {program} FOLDER [{' | '.join(pins)}]...", file=sys.stderr)
        return 2
    prefix = Path(arguments[0]).resolve()
    problems = {name: install(name, pins[name], prefix) for name in arguments[1:] or pins}
    for name, problem in problems.items():
        print(f"{name}: " + (f"not installed: {problem}" if problem else f"{pins[name].package} in {prefix / 'bin'}"))
    return 0 if not all(problems.values()) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
