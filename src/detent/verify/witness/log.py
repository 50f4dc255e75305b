"""Checks the native log against the journal line by line."""

from __future__ import annotations

import json
import os
import re
from collections import Counter

from detent.core.record import Record
from detent.errors import UnreadableError
from detent.store.disk.atomic import as_text, read_plain
from detent.store.disk.digest import sha256_of
from detent.store.journal.chain import split_lines
from detent.store.journal.head import Head
from detent.store.journal.log_forms import MARKDOWN, form_of, mark_of_task, pieces
from detent.store.journal.native_log import log_line, log_lines
from detent.verify.replay.lines import Finding
from detent.words.verify import witness as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from typing import Any

    from detent.store.journal.line import Line
    from detent.store.journal.native import Native

LARGEST_BYTES = 64_000_000
_WORD = re.compile(rb"[\w-]+")
_HEADING = re.compile(rb"\s*#+ \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ ")  # as the engine writes them
_OTHER_MARK = b"<!-- detent:"  # a heading about another task, whose own audit answers for it
_MOST_SHOWN = 100  # characters of a foreign line
_MOST_FOREIGN = 20  # lines that are named one by one


def check_log(native: Native, entries: Sequence[Line]) -> Iterator[Finding]:
    """The native log tells every journal line once and as it is; any other line is named by its number.

    Lines that were there before the task are vouched for by the hash in the first journal line.
    """
    path = native.log_path()
    if not path:
        return
    name = os.path.basename(path)
    try:
        data = read_plain(path, LARGEST_BYTES)
    except UnreadableError as error:
        yield Finding(len(entries), "log", say.unreadable(name, error.what))
        return
    yield from _check_is_text(path, data or b"")
    raws = split_lines(data or b"")[0]
    known, problem = _found_before(native, data or b"", entries[0])
    if problem:
        yield problem
    check_form = _check_events if native.machine.store.events else _check_numbered
    if form_of(native.machine) == MARKDOWN:
        check_form = _check_markdown
    logged: set[int] = set()
    yield from check_form(native, _Lines(name, raws, known), entries, logged)
    lacking = [number for number in range(1, len(entries) + 1) if number not in logged]
    if lacking:
        # A crash may have come between journal and log; then the line was never marked as logged.
        is_warning = len(entries) == 1 or 0 < native.logged_seq() < lacking[0]
        headings = _lacking_headings(native, entries, lacking) if form_of(native.machine) == MARKDOWN else None
        yield Finding(lacking[0], "log", say.lines_not_told(name, lacking, headings), is_warning)


class _Lines(Record):
    """The lines of a native log; the first `known` of them were there before the task."""

    name: str
    raws: Sequence[bytes]
    known: int


def _found_before(native: Native, data: bytes, first: Line) -> tuple[int, Finding | None]:
    """How many lines were there before the task and are vouched for, and what is wrong with them."""
    found = first.log_found if isinstance(first, Head) else None
    if not found:  # an older journal does not say
        return 0, None
    begun = data[: found["size"]]
    if len(begun) == found["size"] and sha256_of(begun) == found["sha256"]:
        return begun.count(b"\n") + (not begun.endswith(b"\n")), None
    name = os.path.basename(native.log_path())
    # A repaired log starts again; changed lines are foreign, and fail by their number.
    what = say.log_before_gone(name)
    return 0, Finding(1, "log", what, is_warning=True)


def _foreign(name: str, numbers: Sequence[int], raws: Sequence[bytes]) -> Iterator[Finding]:
    """One finding for each line that is not the engine's, up to a bound."""
    for number in numbers[:_MOST_FOREIGN]:
        shown = raws[number - 1].decode("utf-8", "replace").strip()[:_MOST_SHOWN]
        yield Finding(0, "log", say.foreign_line(number, name, shown))
    more = len(numbers) - _MOST_FOREIGN
    if more > 0:
        yield Finding(0, "log", say.more_foreign_lines(more, name))


def _check_is_text(path: str, data: bytes) -> Iterator[Finding]:
    """Others may write anything into a log, so an unreadable line is only named."""
    try:
        as_text(data, path)
    except UnreadableError as error:
        what = say.log_no_text(os.path.basename(path), error.what)
        yield Finding(0, "log", what, is_warning=True)


def _lacking_headings(native: Native, entries: Sequence[Line], lacking: Sequence[int]) -> list[str]:
    """The expected headings of these lines."""
    lines = [line for number in lacking for line in log_lines(native.machine, entries[number - 1])]
    return [str(line.get("type") or line.get("kind")) for line in lines]


def _check_events(native: Native, log: _Lines, entries: Sequence[Line], logged: set[int]) -> Iterator[Finding]:
    """Events have no number: each must stand there as often as the journal tells it; the rest is foreign."""
    places: dict[str, list[int]] = {}
    for number, raw in enumerate(log.raws, 1):
        places.setdefault(json.dumps(parsed_line(raw), sort_keys=True), []).append(number)
    ours = set[int]()
    for entry in entries:
        lines = [json.dumps(line, sort_keys=True) for line in log_lines(native.machine, entry)]
        if all(len(places.get(line, ())) >= count for line, count in Counter(lines).items()):
            logged.add(entry.seq)
        # The last of equal lines is ours: one that was there before stands above.
        ours.update(places[line].pop() for line in lines if places.get(line))
    others = [number for number, raw in enumerate(log.raws, 1) if number not in ours and raw.strip()]
    yield from _others(log, others, ours, entries[0])


def _others(log: _Lines, numbers: Sequence[int], ours: Collection[int], first: Line) -> Iterator[Finding]:
    """Lines that are not ours: vouched for if they were there before, else foreign."""
    before = [number for number in numbers if number <= log.known]
    foreign = [number for number in numbers if number > log.known]
    if not isinstance(first, Head) or first.log_found is None:
        top = min(ours, default=0)
        before += [number for number in foreign if number < top]
        foreign = [number for number in foreign if number >= top]
    if before:
        unknown = say.lines_before if log.known else say.lines_not_vouched_for
        yield Finding(0, "log", unknown(len(before), log.name), is_warning=True)
    yield from _foreign(log.name, foreign, log.raws)


def _check_markdown(native: Native, log: _Lines, entries: Sequence[Line], logged: set[int]) -> Iterator[Finding]:
    """Each of our headings stands there once; people and agents may write around and below them.

    A heading in the form of ours, by its mark or by its time and a move, that no journal line backs is foreign. One
    that only names a move may be a person's note. It is named, to keep it apart from the engine's headings.
    """
    name, raws = log.name, [raw.rstrip() for raw in log.raws]  # editors may end lines in ways of their own
    found, ours = Counter(raws), set[bytes]()
    for entry in entries:
        headings = [piece.split(b"\n")[1] for piece in pieces(native.machine, native.places.id, entry)]
        ours.update(headings)
        if all(found[heading] == 1 for heading in headings):
            logged.add(entry.seq)
        elif any(found[heading] > 1 for heading in headings):
            logged.add(entry.seq)
            yield Finding(entry.seq, "log", say.told_more_than_once(name, entry.seq), is_warning=True)
    mark, moves = mark_of_task(native.places.id), {edge.name.encode() for edge in native.machine.edges()}
    for number, raw in enumerate(raws, 1):
        is_heading = raw.lstrip(b" ").startswith(b"#")
        names_move = is_heading and not moves.isdisjoint(_WORD.findall(raw))
        if raw in ours or number <= log.known or not (mark in raw or (names_move and _OTHER_MARK not in raw)):
            continue
        is_ours_in_form = mark in raw or _HEADING.match(raw) is not None
        shown = raw.decode("utf-8", "replace").strip("# ")[:_MOST_SHOWN]
        foreign_line = say.foreign_line(number, name, shown)
        yield Finding(0, "log", foreign_line, is_warning=not is_ours_in_form)


def _check_numbered(_native: Native, log: _Lines, entries: Sequence[Line], logged: set[int]) -> Iterator[Finding]:
    latest = beyond = 0
    name, others, ours = log.name, list[int](), set[int]()
    for number, raw in enumerate(log.raws, 1):
        if not raw.strip():
            continue
        content = parsed_line(raw) or {}
        seq = content.get("seq")
        if number <= log.known or type(seq) is not int or seq < 1:
            others.append(number)
            continue
        ours.add(number)
        if seq > len(entries):
            beyond = max(beyond, seq)
        elif content != log_line(entries[seq - 1]):
            yield Finding(seq, "log", say.told_otherwise(number, name, seq))
        elif seq in logged:
            yield Finding(seq, "log", say.told_again(number, name, seq))
        else:
            if seq < latest:
                yield Finding(seq, "log", say.told_too_late(number, name, seq), is_warning=True)
            logged.add(seq)
            latest = max(latest, seq)
    yield from _others(log, others, ours, entries[0])
    if beyond:
        what = say.log_knows_more(name, beyond)
        yield Finding(len(entries) + 1, "log", what)


def parsed_line(raw: bytes) -> dict[str, Any] | None:
    """The table a line holds, None when it holds none."""
    try:
        content = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    return content if isinstance(content, dict) else None
