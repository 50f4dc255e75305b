"""What all types of journal lines have in common; the types themselves are in `events.py` and `run_events.py`.

A line takes the parsed line over as it is (`detent/view.py`): what is written again is what was read. What a line must
have and lacks is an error when it is asked for; the audit names all that is missing.
"""

from __future__ import annotations

from detent.view import KEYS, Content, content_of, with_fields

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, ClassVar, TypeVar, dataclass_transform

    L = TypeVar("L", bound="Line")
else:
    from detent.view import dataclass_transform

# How far a line reaches into the task folder when it is written.
FILE = "file"  # native file and native log are projected up to it; a state that the file asks for is gone then
LOG = "log"  # the native log alone: the file may ask for a state, which is still to be judged
JOURNAL = "journal"  # nothing is touched: an agent run may live in the folder, or the folder is about to go


@dataclass_transform(frozen_default=True, eq_default=True, kw_only_default=True)
class Line(Content, is_frame=True):
    """One line of a journal. What stands here is in every line, or may be; the engine adds it when it writes."""

    seq: int  # the line's number, from 1
    time: str  # when it was written, in UTC, to the second
    format: int = 1  # in the first line: the format of the journal; none means 1
    us: str = ""  # microseconds of the time, where the line says what is remembered of the task after it
    after: Mapping[str, Any] | None = None  # what is remembered of the task after it: state, counters, locks
    native: Mapping[str, str] | None = None  # the text of the native file that the line leads to
    by: str = ""  # the actor of the line: agent, engine, person or crash; empty for none of them
    name: str = ""  # role of the agent, or name of the person
    reason: str = ""  # their words
    prev: str = ""  # SHA-256 of the line before it
    fields: Mapping[str, str] | Sequence[str] = {}  # fields of the document that say how the task rests

    kind: ClassVar[str]
    reach: ClassVar[str] = FILE  # of the task folder; some kinds reach further where their writer says so
    is_quiet: ClassVar[bool] = False  # changes nothing in the document, so that this is not behind without it
    is_state: ClassVar[bool] = False  # says what is remembered of the task after it
    is_of_person: ClassVar[bool] = False  # only a person makes such a line
    since_2: ClassVar[tuple[str, ...]] = ()  # fields that lines have since format 2 of the journal
    _added = ("native", "fields")  # what the engine may add to a line of any kind when it writes it


def telling(line: L, fields: Mapping[str, str]) -> L:
    """The line with these fields of the document, which are written with it."""
    return with_fields(line, fields=fields)


def promising(line: L, effects: Sequence[str]) -> L:
    """The line with these effects, which are done after it."""
    return with_fields(line, effects=effects)


def carrying(line: L, native: Mapping[str, str]) -> L:
    """The line with the text of the native file that it leads to."""
    return with_fields(line, native=native)


def to_line(line: Line) -> dict[str, Any]:
    """What stands in the journal, in the order of the line."""
    return content_of(line)


def required(kind: type[Line]) -> tuple[str, ...]:
    """The names of what a line of this kind must have, as they stand in the line."""
    return tuple(KEYS.get(name, name) for name in kind._fields if name not in kind._defaults)
