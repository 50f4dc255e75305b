"""Sealed checks: tests and scripts that a person keeps where agents can't read them, and what came of each.

The first line of a task names them, the control folder holds their bytes. Both lie where no sandboxed process looks.
"""

from __future__ import annotations

from detent.core.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

TESTS, SCRIPT, DATA = KINDS = ("tests", "script", "data")
PASSED, FAILED, UNCLEAR = RESULTS = ("passed", "failed", "unclear")  # from the best to what a person must look at
MOST_FAILED = 2  # failed proofs after which a task waits for a person


class SealedFile(Record):
    """One file. `hides` is what of the person's disk the sandbox hides besides; empty where that is hidden anyway."""

    place: str  # where it is laid, from the top of the tree
    kind: str
    sha256: str
    source: str
    hides: str = ""


class SealedFound(Record):
    """What came of one check on one tree; for people alone."""

    place: str
    sha256: str
    result: str
    why: str = ""
    said: str = ""  # the last lines of its output
    log: str = ""


def sealed_of(rows: Iterable[Mapping[str, str]]) -> tuple[SealedFile, ...]:
    """The files that a first line names."""
    return tuple(SealedFile(**row) for row in rows)


def worst(found: Iterable[SealedFound]) -> str:
    """The result of all together; empty where none ran."""
    return max((check.result for check in found), key=RESULTS.index, default="")
