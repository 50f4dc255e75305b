"""Records one finished task of every machine with its repository, as test data for the versions to come.

    python tools/record_journals.py FOLDER TARGET [MACHINE ...]

The tasks are the honest ones of the attack lab: made, driven and finished by the public commands, with scripted agents.
They are made in FOLDER and packed into TARGET as MACHINE.tar.gz. Journals name absolute paths, so a test unpacks them
in the same folder again. Caches, locks and the agent's program, which names the Python of this host, are left out.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from detent.effects.host.access import NONE
from detent.lab.attack.ground import remove
from detent.lab.attack.values import FINISHED, MACHINES
from detent.lab.attack.world import World

_LEFT_OUT = (
    *("live/home/bin", "live/home/.*", "live/home/sockets", "live/tmp", "kept"),
    *("*.lock", "lock", "snapshot.json", "cache", "hooks/*.sample", "__pycache__", ".git/logs"),
)


def record(machine: str, folder: Path, target: Path) -> Path:
    """Make the task of one machine and pack it; returns the archive."""
    top = folder / machine
    remove(str(top))
    top.mkdir(parents=True)
    scene = World(str(top)).at(machine, FINISHED, NONE)
    if not scene.audit_ok():
        raise SystemExit(f"the task of {machine} does not hold; next: detent audit in {top}/live/repo")
    archive = target / f"{machine}.tar.gz"
    left_out = [f"--exclude={name}" for name in _LEFT_OUT]
    subprocess.run(["tar", "-czf", archive, "-C", folder, *left_out, machine], check=True)
    return archive


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where the tasks are made")
    parser.add_argument("target", type=Path, help="where the archives go")
    parser.add_argument("machine", nargs="*", choices=[*MACHINES, []], help="these alone (default: all)")
    options = parser.parse_args(arguments)
    options.target.mkdir(parents=True, exist_ok=True)
    for machine in options.machine or MACHINES:
        print(record(machine, options.folder, options.target))
    return 0


if __name__ == "__main__":
    sys.exit(main())
