"""The small repositories that reward hacks are tried on, one for each test runner."""

from __future__ import annotations

import os

from detent.effects.host.programs import find_on
from detent.lab.attack.ground import search_path
from detent.lab.attack.hacks import ava, cargo, expecting, go, javascript, python
from detent.lab.attack.values import AVA, CARGO_TEST, GO_TEST, JEST, NODE_TEST, PYTEST, UNITTEST, VITEST, Variant

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


_MODULES = "/node_modules/"


def _ground(files: Mapping[str, str], needs: str) -> Variant:
    """No settings: `detent init` finds the command."""
    return Variant(files=files, is_all=True, needs=needs, is_workable=False)


def _node_ground(files: Mapping[str, str], runner: str) -> Variant:
    """The runner's packages are there as `npm install` would leave them, which `init` carries along."""
    program = os.path.realpath(find_on(search_path(), runner) or runner)
    top, found, _rest = program.partition(_MODULES)
    links = {_MODULES.strip("/"): top + _MODULES.rstrip("/")} if found else {}
    return _ground(files, runner).replace(links=links)


GROUNDS: dict[str, Variant] = {
    PYTEST: _ground(python.FILES, "pytest"),
    UNITTEST: _ground(python.UNIT_FILES, ""),
    NODE_TEST: _ground(javascript.FILES, "node"),
    JEST: _node_ground(expecting.JEST_FILES, "jest"),
    VITEST: _node_ground(expecting.VITEST_FILES, "vitest"),
    AVA: _node_ground(ava.FILES, "ava"),
    GO_TEST: _ground(go.GO_FILES, "go"),
    CARGO_TEST: _ground(cargo.FILES, "cargo"),
}
