"""What a full proof of one task's tree found: its word, why, and each part by name; and that as JSON.

Reading is fail-closed: anything that is not exactly what `to_json` writes is an error that names it.
"""

from __future__ import annotations

from detent.core.record import Record
from detent.errors import UnreadableError
from detent.store.text.proof_words import WORDS
from detent.store.text.sealed import RESULTS as SEALED_RESULTS
from detent.store.text.sealed import SealedFound, worst
from detent.words.store import proof as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

CENSUS, JUDGED, CANARY, BROKEN, TWIN, RED_GREEN, SEEN = PARTS = (
    "census",
    "kept",
    "canary",
    "broken",
    "twin",
    "red_green",
    "seen",
)
OK, FAILED, ASKS, LEFT_OUT, UNAVAILABLE = RESULTS = ("ok", "failed", "asks", "left out", "not available")

MOST_CHANGES = 500  # changed tests and files that an assessment lists
LONGEST_DIFF = 20_000  # characters of one difference
_SCHEMA = 1


class PartFound(Record):
    """One part of a proof of one command: its result, and why it is not `ok`."""

    name: str
    result: str
    why: str = ""
    next_step: str = ""
    told_by: str = ""  # the part whose reason names the same tests, where one does


class ChangedPart(Record):
    """A test, a helper or a file that judges the work, which the task changed; a person reads its difference."""

    file: str
    name: str  # of the test or function; empty for a whole file
    how: str  # changed, removed or added
    diff: str


class CommandAssessed(Record):
    """What one command proves. `reach` is the best word it could have got here."""

    line: str
    runner: str  # empty where none was recognised
    word: str
    reach: str
    parts: tuple[PartFound, ...]
    targets: tuple[str, ...] = ()  # tests that show the change
    ran: int = 0  # tests
    runs: int = 0  # of the command, for this assessment
    seconds: float = 0.0


class Assessment(Record):
    """`seen` is the digest of the changed parts; a person's word about them is bound to it.

    `sealed` is for people alone, agents are told no more than `sealed_result`.
    """

    word: str
    reach: str
    commands: tuple[CommandAssessed, ...]
    changed: tuple[ChangedPart, ...] = ()
    seen: str = ""
    sealed: tuple[SealedFound, ...] = ()

    @property
    def sealed_result(self) -> str:
        """The worst result of its sealed checks; empty where none ran."""
        return worst(self.sealed)


def to_json(found: Assessment) -> dict[str, Any]:
    return {
        "schema": _SCHEMA,
        "word": found.word,
        "reach": found.reach,
        "commands": [
            {
                "line": command.line,
                "runner": command.runner,
                "word": command.word,
                "reach": command.reach,
                "parts": [[*vars(part).values()] for part in command.parts],
                "targets": list(command.targets),
                "ran": command.ran,
                "runs": command.runs,
                "seconds": round(command.seconds, 3),
            }
            for command in found.commands
        ],
        "changed": [[part.file, part.name, part.how, part.diff] for part in found.changed],
        "seen": found.seen,
        "sealed": [[*vars(check).values()] for check in found.sealed],
    }


def from_json(value: object, where: str) -> Assessment:
    """The assessment that `to_json` wrote; raises UnreadableError otherwise."""
    try:
        return _assessment_from(value)
    except (KeyError, TypeError, ValueError) as error:
        raise UnreadableError(say.no_assessment(str(error)), where=where) from error


def _assessment_from(value: Any) -> Assessment:
    if value["schema"] != _SCHEMA:
        raise ValueError(str(value["schema"]))
    commands = tuple(
        CommandAssessed(
            line=str(command["line"]),
            runner=str(command["runner"]),
            word=_known(command["word"], WORDS),
            reach=_known(command["reach"], WORDS),
            parts=tuple(_part(*part) for part in command["parts"]),
            targets=tuple(map(str, command["targets"])),
            ran=int(command["ran"]),
            runs=int(command["runs"]),
            seconds=float(command["seconds"]),
        )
        for command in value["commands"]
    )
    changed = tuple(ChangedPart(*map(str, part)) for part in value["changed"])
    word, reach = _known(value["word"], WORDS), _known(value["reach"], WORDS)
    sealed = tuple(_sealed(*map(str, row)) for row in value.get("sealed", ()))
    return Assessment(word, reach, commands, changed, str(value["seen"]), sealed)


def _sealed(place: str, sha256: str, result: str, why: str, said: str, log: str) -> SealedFound:
    return SealedFound(place, sha256, _known(result, SEALED_RESULTS), why, said, log)


def _part(name: str, result: str, why: str, next_step: str, told_by: str) -> PartFound:
    return PartFound(
        _known(name, PARTS), _known(result, RESULTS), str(why), str(next_step), _known(told_by, ("", *PARTS))
    )


def _known(word: str, words: tuple[str, ...]) -> str:
    if word not in words:
        raise ValueError(say.none_of(word, words))
    return word
