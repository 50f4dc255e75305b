"""Acceptance criteria by their ids, and what else of a scope other documents are held against.

A criterion is a list item or a subsection that begins with its id: `- AC-1: prints the word count within 1 s`. An id
has a number in it, so that a template's AC-N is none. Two ids that differ only in case are the same id twice.
"""

from __future__ import annotations

import re

from detent.core.record import Record
from detent.gates.verdict import read_verdict
from detent.packs.lights_out.checks.documents import Entry, cut, entries, outside, says_something, strays, written_text
from detent.packs.lights_out.words import documents as page_words
from detent.packs.lights_out.words import plans as say
from detent.store.text.markdown import find_section, sections_named

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from detent.gates.seen import Seen
    from detent.packs.lights_out.checks.documents import Page

SECTION, TIER = "Acceptance Criteria", "Quality Tier"
SHED, HOUSE, SKYSCRAPER = TIERS = ("shed", "house", "skyscraper")
EXAMPLE = "- AC-1: prints the number of words of a 1 MB file within 1 s"
MOST_CRITERIA = 200
_ID = r"AC-(?=[A-Za-z0-9-]*\d)[A-Za-z0-9]+(?:-[A-Za-z0-9]+)*"
_MENTION = re.compile(rf"(?<![\w-]){_ID}(?![\w-])")
START = re.compile(rf"[*_`\[(]*(?P<id>{_ID})(?![\w-])[*_`\])]*(?:[ \t]*(?:[:.\u2013\u2014]|-(?!>))+[*_`]*)?[ \t]*")

# A number to compare a result with: behind a comparison, before a unit, or an exact answer of a program.
_COMPARED = (
    "at most|at least|under|below|over|above|within|less than|more than|fewer than|greater than|up to|exactly|maximum|"
    "maximum of|minimum|minimum of|equals?|exit code|exit status|exits with|status|HTTP"
)
_UNITS = (
    "ms|s|secs?|seconds?|min|minutes?|h|hours?|days?|weeks?|bytes?|KB|MB|GB|TB|KiB|MiB|GiB|rps|qps|fps|px|percent|users?|"
    "clients?|connections?|requests?|calls?|times?|tries|attempts?|retries|items?|entries|files?|lines?|words?|rows?|"
    "records?|characters?|pages?|errors?|results?|messages?|events?|tests?"
)
_THRESHOLD = re.compile(
    rf"(?:\b(?:{_COMPARED})|[<>=\u2264\u2265])\s*[$\u20ac\u00a3]?\d|(?<![\d.,_])\d[\d.,_]*\s?(?:[%\u2030]|(?:{_UNITS})\b)",
    re.IGNORECASE,
)
_SHOWN_BY = (
    "show|print|display|return|respond|answer|write|create|exit|list|contain|open|close|send|store|save|keep|log|refuse|"
    "reject|fail|raise|report|redirect|download|upload|render|appear|disappear|receive|delete|remove|update|produce|output|"
    "emit|accept|match|equal|include|warn|ask|block|read|export|import|load|start|stop|restart|survive|persist|remain|sort|"
    "filter|play"
)
_OBSERVABLE = re.compile(
    rf"\b(?:(?:{_SHOWN_BY})(?:s|es|d|ed|ing)?|shown|written|sent|kept|seen|visible|hidden|unchanged)\b", re.IGNORECASE
)
_UNDECIDED = re.compile(r"\b(?:TBD|FIXME|TODO:)|\?\?")
_LOAD = re.compile(
    r"\b(?:throughput|under load|load test|concurren\w*|simultaneous\w*|parallel (?:users?|requests?|clients?)|rps|qps|"
    r"requests? (?:per|a|/) ?(?:s|sec|second|minute)|requests?/s\w*)\b",
    re.IGNORECASE,
)


class Criterion(Record):
    id: str
    text: str

    @property
    def is_about_load(self) -> bool:
        return _LOAD.search(self.text) is not None


def read_criteria(page: Page) -> tuple[Criterion, ...]:
    """The criteria of a scope; what is wrong with them is noted."""
    body = page.body(SECTION, EXAMPLE)
    found = criteria_in(body)
    example = page_words.under(SECTION, EXAMPLE)
    if body and not found:
        page.wrong(say.names_no_criteria(SECTION), example)
    for id_ in twice(criterion.id for criterion in found):
        page.wrong(say.id_twice(id_), example)
    for stray in strays(body, START):
        page.wrong(say.no_id(stray, SECTION), example)
    ids = {criterion.id for criterion in found}
    for line in outside(body).splitlines():
        if (match := START.match(line)) and match["id"] not in ids:
            page.wrong(say.no_item(match["id"], SECTION), example)
    for criterion in found:
        if not says_something(criterion.text) or _UNDECIDED.search(criterion.text):
            page.wrong(say.not_decided(criterion.id), example)
        elif not (re.search(r"\d", criterion.text) or _OBSERVABLE.search(criterion.text)):
            page.wrong(say.not_observable(criterion.id, cut(criterion.text)), example)
    if found and not any(_THRESHOLD.search(criterion.text) for criterion in found):
        page.wrong(say.no_threshold(SECTION), example)
    if len(found) > MOST_CRITERIA:
        page.wrong(say.too_many_criteria(MOST_CRITERIA))
    return found


def criteria_of(seen: Seen, scope: str) -> tuple[Criterion, ...]:
    """The criteria another document is held against; none where the scope can't be relied on."""
    sections = sections_named(seen.files.text(scope) or "", SECTION)
    found = criteria_in(seen.section(scope, SECTION) or "") if len(sections) == 1 else ()
    return () if twice(criterion.id for criterion in found) else found[:MOST_CRITERIA]


def criteria_in(body: str) -> tuple[Criterion, ...]:
    """The criteria a text lists, right or wrong."""
    return tuple(Criterion(id_, text) for id_, text, _ in named(body))


def named(body: str) -> list[tuple[str, str, Entry]]:
    """Whatever a section says of criteria: the id, the words behind it, and the whole."""
    found = []
    for entry in entries(body, START):
        match = START.match(entry.text)
        if match is not None:
            found.append((match["id"], entry.text[match.end() :].strip("; \n"), entry))
    return found


def twice(ids: Iterable[str]) -> tuple[str, ...]:
    """The ids that stand there more than once, whatever their case."""
    found: dict[str, list[str]] = {}
    for id_ in ids:
        found.setdefault(id_.casefold(), []).append(id_)
    return tuple(same[0] for same in found.values() if len(same) > 1)


def of_each(page: Page, section: str, criteria: Sequence[Criterion], example: str) -> dict[str, Entry]:
    """What a section says of each criterion, without the id; those missing, doubled or unknown are noted."""
    body = page.body(section, example)
    listed = named(body)
    hint = page_words.under(section, example)
    known = {criterion.id: "" for criterion in criteria}
    for id_ in twice(id_ for id_, _, _ in listed) if body else ():
        page.wrong(say.criterion_twice(id_, section), hint)
    for id_, _, _ in listed:
        if id_ not in known:
            page.wrong(say.criterion_unknown(id_, section), hint)
    found = {id_: Entry(text, entry.codes) for id_, text, entry in listed}
    for id_ in known if body else ():
        if id_ not in found:
            page.wrong(say.criterion_missing(id_, section), hint.replace("AC-1", id_))
    return {id_: entry for id_, entry in found.items() if id_ in known}


def mentioned(body: str) -> frozenset[str]:
    """The ids a text names in its own words."""
    return frozenset(_MENTION.findall(written_text(body)))


def tier_of(text: str) -> str:
    """The one quality tier a scope settles on; empty when it names none, or more than one."""
    if len(sections_named(text, TIER)) != 1:
        return ""
    section = find_section(text, TIER)
    return (read_verdict(text[section.body_start : section.end], TIERS) or "") if section else ""
