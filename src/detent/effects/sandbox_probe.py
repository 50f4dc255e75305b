"""What this host could hold an agent with: tried, not guessed from names. Nothing uses it to hold anything yet."""

from __future__ import annotations

import os
import sys

from detent.core.record import Record
from detent.errors import ToolError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

BUBBLEWRAP, LANDLOCK, NONE = "bubblewrap", "landlock", "none"
ENFORCED = NONE  # the level this version applies to agents and commands, whatever the host could do
_TRY_S = 10.0
_LANDLOCK_CREATE_RULESET = 444  # the same number on every architecture that Landlock came to later
_ASK_VERSION = 1


class Probe(Record):
    """The best level that works here, and what was seen on the way to it."""

    level: str
    why: str


def probe_sandbox(environment: Mapping[str, str]) -> Probe:
    """Try bubblewrap, then ask the kernel for Landlock."""
    if not sys.platform.startswith("linux"):
        return Probe(NONE, f"{sys.platform} has neither bubblewrap nor Landlock")
    problem = _try_bubblewrap(environment)
    if not problem:
        return Probe(BUBBLEWRAP, "bwrap made a namespace of its own")
    version = _landlock_version()
    if version > 0:
        return Probe(LANDLOCK, f"{problem}; the kernel offers Landlock version {version}")
    return Probe(NONE, f"{problem}; the kernel offers no Landlock")


def _try_bubblewrap(environment: Mapping[str, str]) -> str:
    """Why bubblewrap does not work here; empty when it does. Installed is not enough: namespaces may be forbidden."""
    from shutil import which

    from detent.effects import process

    program = which("bwrap", path=environment.get("PATH", os.defpath))
    if program is None:
        return "bwrap is not on PATH"
    argv = (program, "--ro-bind", "/", "/", "--unshare-user", "--unshare-pid", "--die-with-parent", "/bin/true")
    try:
        finished = process.run(argv, cwd=os.sep, env=environment, timeout_s=_TRY_S)
    except ToolError as error:
        return error.what
    if finished.exit == 0 and not finished.timed_out:
        return ""
    said = finished.stderr.decode("utf-8", "replace").strip().splitlines()
    return f"bwrap does not work here: {said[0][:200] if said else f'exit {finished.exit}'}"


def _landlock_version() -> int:
    import ctypes

    try:
        return int(ctypes.CDLL(None).syscall(_LANDLOCK_CREATE_RULESET, None, 0, _ASK_VERSION))
    except (OSError, AttributeError):
        return 0
