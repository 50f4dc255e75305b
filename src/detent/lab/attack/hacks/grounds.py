"""The small repositories that reward hacks are tried on, one for each test runner."""

from __future__ import annotations

import json

from detent.lab.attack.hacks import go, javascript, python
from detent.lab.attack.values import GO_TEST, NODE_TEST, PYTEST, UNITTEST, Variant

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


def _ground(files: Mapping[str, str], check: str, needs: str) -> Variant:
    return Variant(
        {"commands": {"test": json.dumps(check)}},
        files=files,
        check=check,
        is_all=True,
        needs=needs,
        is_workable=False,
    )


GROUNDS: dict[str, Variant] = {
    PYTEST: _ground(python.FILES, python.COMMAND, "pytest"),
    UNITTEST: _ground(python.UNIT_FILES, python.UNIT_COMMAND, ""),
    NODE_TEST: _ground(javascript.FILES, "npm test", "node"),
    GO_TEST: _ground(go.GO_FILES, "go test ./...", "go"),
}
