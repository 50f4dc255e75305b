"""How well a page says that what ran was held: never better than the worst of it."""

from __future__ import annotations

import pytest

from detent.runner.tell.evidence_hashes import weakest_level
from tests.lines import made


@pytest.mark.parametrize(
    ("lines", "level"),
    [
        ([], "none"),
        ([("created", "none"), ("run_planned", "bubblewrap"), ("moved", "bubblewrap")], "bubblewrap"),
        ([("run_planned", "landlock"), ("moved", "bubblewrap")], "landlock"),
        ([("run_planned", "none"), ("run_planned", "bubblewrap")], "none"),
        ([("run_planned", "bubblewrap"), ("moved", "something new")], "none"),
    ],
)
def test_the_weakest_level_counts(lines: list[tuple[str, str]], level: str) -> None:
    assert weakest_level([made(kind, sandbox=held) for kind, held in lines]) == level
