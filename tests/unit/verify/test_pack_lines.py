"""A `configured` line about a pack, as the audit holds it against what `configure --pack` writes."""

from __future__ import annotations

import pytest

from detent.core.values import Snapshot
from detent.store.journal.events import Configured
from detent.store.journal.head import head_of
from detent.store.journal.memory import Memory
from detent.verify.replay.settings import is_pack_change
from tests.lines import made

DIGEST = "ab" * 32


@pytest.mark.parametrize(
    ("line", "pinned", "holds"),
    [
        ({"reason": "", "mode": "x"}, DIGEST, True),
        ({"reason": "mended", "pack": DIGEST, "entry": {}}, DIGEST, True),
        ({"reason": "", "pack": DIGEST, "entry": {}}, DIGEST, False),  # without a reason
        ({"reason": "mended", "pack": DIGEST}, DIGEST, False),  # old evidence would count
        ({"reason": "mended", "pack": "ab", "entry": {}}, DIGEST, False),
        ({"reason": "mended", "pack": DIGEST, "entry": {}}, "", False),  # it began without a pack
        ({"reason": "mended", "entry": {}}, DIGEST, False),
    ],
)
def test_a_line_changes_the_code_as_the_command_does(line: dict[str, object], pinned: str, holds: bool) -> None:
    memory = Memory(head_of({"digest": DIGEST, "pack": pinned}), Snapshot("writing", ""), 0, b"", 0, "")
    configured = made("configured", line)
    assert isinstance(configured, Configured)
    assert is_pack_change(configured, memory) == holds
