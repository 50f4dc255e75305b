"""Makes a command report what it runs, by its environment alone: `prepare` a folder, run, `read_reports` of it.

The folder gets copies of the plugins and wrappers in `plugins/` (`kit/`, which a command only reads) and a place for
reports (`reports/`, which it writes). The user's own value of each variable is kept and ours added. Nothing else is
written, and nothing is started.
"""

from __future__ import annotations

import os
import re
import shlex
import sys

from detent.core.record import Record
from detent.effects.host.programs import find_on
from detent.effects.tests.indirect import Tree

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

_PLUGINS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "plugins")
_WRAPPED = ("go", "cargo")
_PASSED_BY_TOX = "DETENT_*,PYTHONPATH,PYTEST_ADDOPTS,NODE_OPTIONS,GOFLAGS"


class ReportPlace(Record):
    """Where a run reports: its command sees `kit` (to read), `reports` (to write) and these variables."""

    folder: str
    variables: Mapping[str, str]

    @property
    def kit(self) -> str:
        return os.path.join(self.folder, "kit")

    @property
    def reports(self) -> str:
        return os.path.join(self.folder, "reports")


def prepare(folder: str, environment: Mapping[str, str], root: str) -> ReportPlace:
    """Fill an empty folder for one run; `environment` is what the command would get, `root` its checkout.

    The variables are the same for every run in a folder at the same place, whatever is planted. The folder may not be
    used for a second run.
    """
    place = ReportPlace(folder, {})
    kit, bin_folder = place.kit, os.path.join(place.kit, "bin")
    _copy_plugins(kit)
    os.makedirs(bin_folder)
    os.makedirs(place.reports)
    for tool in _WRAPPED:
        if find_on(environment.get("PATH", ""), tool):
            _write_stub(os.path.join(bin_folder, tool), kit, tool)
    _write_stub(os.path.join(bin_folder, "cargo-binary"), kit, "cargo-binary")
    preload = os.path.join(kit, "node", "preload.cjs").replace("\\", "\\\\").replace('"', '\\"')
    return place.replace(
        variables={
            "DETENT_REPORTS": place.reports,
            "DETENT_WRAPPERS": bin_folder,
            "PATH": _joined(bin_folder, environment.get("PATH", ""), os.pathsep),
            "PYTHONPATH": _joined(os.path.join(kit, "python"), environment.get("PYTHONPATH", ""), os.pathsep),
            "NODE_OPTIONS": _joined(environment.get("NODE_OPTIONS", ""), f'--require "{preload}"', " "),
            "TOX_OVERRIDE": _joined(environment.get("TOX_OVERRIDE", ""), _tox_override(Tree(root)), ";"),
        }
    )


def _copy_plugins(kit: str) -> None:
    """Plain reads and writes, so that a full disk or a power cut is met as everywhere else."""
    for folder, folders, names in os.walk(_PLUGINS):
        folders[:] = [name for name in folders if name != "__pycache__"]
        there = os.path.normpath(os.path.join(kit, os.path.relpath(folder, _PLUGINS)))
        os.makedirs(there, exist_ok=True)
        for name in names:
            with open(os.path.join(folder, name), "rb") as source, open(os.path.join(there, name), "wb") as copy:
                copy.write(source.read())


def _joined(first: str, second: str, between: str) -> str:
    return between.join(part for part in (first, second) if part)


def _write_stub(path: str, kit: str, tool: str) -> None:
    """A program that runs our wrapper with the Python that runs Detent, alone from what the project could put in."""
    words = [sys.executable, "-I", "-S", os.path.join(kit, "wrap.py"), tool]
    with open(path, "w", encoding="utf-8") as file:
        file.write(f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n')
    os.chmod(path, 0o755)  # noqa: S103  # any user that runs the tests may run this program


def _tox_override(tree: Tree) -> str:
    """Every environment passes our variables on; one with a list of its own would not see the common one."""
    names = ["testenv", "env_run_base"]
    for file in ("tox.ini", "setup.cfg"):
        text = tree.read(file) or ""
        section = ""
        for line in text.splitlines():
            if found := re.match(r"\[(?:tox:)?(testenv:[^\]\s;=]+)\]", line):
                section = found[1]
            elif line.startswith("["):
                section = ""
            elif section and re.match(r"pass_?env\s*=", line):
                names.append(section)
    for file in ("tox.toml", "pyproject.toml"):
        names += re.findall(r"^\[(?:tool\.tox\.)?(env\.[\w.-]+)\]", tree.read(file) or "", re.MULTILINE)
    return ";".join(f"{name}.pass_env+={_PASSED_BY_TOX}" for name in dict.fromkeys(names))
