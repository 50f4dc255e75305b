"""Reads the documents that an agent had to write: their sections, items, labels and code blocks.

Everything is read as a reader of the Markdown sees it. Comments, quotes and struck text are no statement, code is only
code, a section that stands there twice is none, and template filler is nothing.
"""

from __future__ import annotations

import re

from detent.core.record import Record
from detent.gates.checks import ROUND_LINE, filled, shown
from detent.gates.seen import Finding
from detent.gates.verdict import STRUCK, is_quoted
from detent.machines.reading import IN_TREE
from detent.packs.lights_out.words import documents as say
from detent.store.disk.digest import hash_text
from detent.store.text.markdown import is_placeholder, plain_title
from detent.store.text.markdown import sections as sections_of
from detent.store.text.markdown_blocks import read_blocks
from detent.words.gates import together

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from detent.gates.seen import Seen
    from detent.store.text.markdown import Section
    from detent.store.text.markdown_rows import Row
    from detent.words.message import Message

_MARKER = re.compile(r" {0,3}(?:[-*+]|\d{1,9}[.)])(?:[ \t]+|$)")
_BOX = re.compile(r"^\[[ xX]\]\s+")
_NONE = re.compile(
    r"(?:none|nothing(?: is)?|not applicable|n/a)(?: (?:found|needed|known|open|deferred|used|planned|left|so far))*"
    r"(?:[.,;:(\u2013\u2014-].*)?|no(?: [\w-]+){1,3}\.?",
    re.IGNORECASE,
)
_UNLESS = re.compile(
    r"\b(?:except|excepting|but|besides|however|apart|other than|unless|only|still|although)\b", re.IGNORECASE
)
_BAR, _RULE = re.compile(r"(?<!\\)\|"), re.compile(r":?-+:?")
_COLUMNS = ("design", "test", "proof", "result", "severity", "status")
_SPAN = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)")
_BESIDE_COMMAND = (
    "kind",
    "exit",
    "result",
    "output",
    "concurrency",
    "expected",
    "got",
)  # labels that end a command's value
_LARGEST = 500_000  # characters of a document; people are to read it
_LONGEST_VALUE = 10_000  # characters of one value that are searched for code spans
_MOST_PROBLEMS = 6  # that one sentence names
_MOST_EXAMPLES = 3
_MOST_SHOWN = 60  # characters of a quotation in a sentence about it


class Entry(Record):
    """One list item or subsection: its words line by line, and the code blocks in it."""

    text: str
    codes: tuple[str, ...] = ()

    @property
    def head(self) -> str:
        return cut(self.text.partition("\n")[0])


class Page:
    """One document while it is judged: all that is wrong with it is gathered, each with an example that would do."""

    def __init__(self, seen: Seen, file: str, examples: Mapping[str, str] | None = None) -> None:
        self.file = file
        self.name = file.removeprefix(IN_TREE)
        found = seen.files.text(file)
        self.text = found or ""
        self.is_there = found is not None
        self.problems: list[tuple[str, str]] = []
        self.is_meant = True  # False: the document clearly gives another answer than the one asked for
        self._lacking = 0  # how many of them are about a section as a whole
        if found is None:
            self.wrong(say.no_file(self.name), say.write_file(self.name, examples or {}))
        elif len(self.text) > _LARGEST:
            self.wrong(say.too_long(_LARGEST))
            self.text = ""
        self._sections: dict[str, list[Section]] = {}
        for section in sections_of(self.text):
            if section.level == 2:
                self._sections.setdefault(plain_title(section.title), []).append(section)

    def wrong(self, why: Message, example: str = "") -> None:
        self.problems.append((why, example or why.next_step))

    def body(self, name: str, example: str) -> str:
        """The text of a section; empty, and noted as wrong, when a reader would not find exactly one that is filled."""
        if not self.text:
            return ""  # that the file is missing or empty says it all
        found = self._sections.get(plain_title(name), [])
        body = self.text[found[0].body_start : found[0].end] if len(found) == 1 else ""
        if not found:
            why = say.no_section(name)
        elif len(found) > 1:
            why = say.section_repeated(name, len(found))
        elif not filled(body):
            why = say.section_blank(name)
        else:
            return body
        hint = why.next_step or say.under(name, example)
        self.problems.insert(self._lacking, (why, hint))  # named before the problems of a part
        self._lacking += 1
        return ""

    def bodies(self, examples: Mapping[str, str]) -> dict[str, str]:
        """Several sections at once, each with its example."""
        if not self.text and not self.problems:
            self.wrong(say.empty(), say.write_file(self.name, examples))
        return {name: self.body(name, example) for name, example in examples.items()}

    def finding(self) -> Finding:
        evidence = {f"text:{self.file}": hash_text(shown(self.text))}
        if not self.problems:
            return Finding(ok=True, evidence=evidence)
        reasons = list(dict.fromkeys(why for why, _ in self.problems))
        examples = list(dict.fromkeys(example for _, example in self.problems if example))
        why = say.problems(self.name, reasons[:_MOST_PROBLEMS], len(reasons) - _MOST_PROBLEMS)
        fix = together(examples[:_MOST_EXAMPLES])
        return Finding(ok=False, why=why, evidence=evidence, fix=fix, is_meant=self.is_meant)


def entries(body: str, start: re.Pattern[str] | None = None) -> tuple[Entry, ...]:
    """The list items of a section; with `start` only those, and those subsections, whose words begin so."""
    found = [entry for entry, is_started in _split(body, start) if is_started]
    if start is not None and "|" in body:
        found += [entry for entry in _table_rows(body) if start.match(entry.text)]
    return tuple(found)


def strays(body: str, start: re.Pattern[str]) -> tuple[str, ...]:
    """The list items and rows that neither begin with `start` nor belong to something that does."""
    rows = [entry.head for entry in _table_rows(body) if not start.match(entry.text)] if "|" in body else []
    return (*(entry.head for entry, is_started in _split(body, start) if not is_started), *rows)


def _split(body: str, start: re.Pattern[str] | None) -> Iterator[tuple[Entry, bool]]:
    """Every entry in order, and whether it is one that was asked for."""
    held: list[tuple[Row, str]] = []
    is_started = False
    level = 0  # of the heading the entry began with; 0 for a list item
    for row, words in written_rows(body):
        is_heading = row.kind == "heading" and row.depth == 0
        is_item = row.depth == 1 and row.kind != "heading" and _MARKER.match(body, row.start, row.end) is not None
        begins = is_item if start is None else (is_item or is_heading) and start.match(words) is not None
        in_subsection = bool(level)
        if is_heading:
            goes_on = in_subsection and level < _level(row)
        elif is_item:
            goes_on = in_subsection
        else:
            goes_on = in_subsection or row.depth > 0 or row.kind != "text"
        if held and (begins or not goes_on):
            yield _entry(held), is_started
            held = []
        if begins or (is_item and not held):
            held, is_started, level = [(row, words)], begins, _level(row) if is_heading else 0
        elif held:
            held.append((row, words))
    if held:
        yield _entry(held), is_started


def _table_rows(body: str) -> Iterator[Entry]:
    """The rows of tables, each with the heads of its columns as labels behind the first cell."""
    heads: list[str] = []
    before: list[str] = []
    for row, words in written_rows(body):
        cells = [cell.strip() for cell in _BAR.split(words.strip("|"))] if row.kind == "text" and "|" in words else []
        if heads and cells:
            parts = [f"{head}: {cell}" for head, cell in zip(heads[1:], cells[1:], strict=False)]
            yield Entry("; ".join((cells[0], *parts)))
        elif cells and before and all(_RULE.fullmatch(cell) for cell in cells):
            heads = [_label_of(cell) for cell in before]
        elif not cells:
            heads = []
        before = cells


def _label_of(head: str) -> str:
    """What a column is about: `Planned test` holds tests."""
    words = re.findall(r"[a-z]+", head.lower())
    return next((word for word in words if word in _COLUMNS), words[-1] if words else "")


def _entry(held: Sequence[tuple[Row, str]]) -> Entry:
    lines = [words for _, words in held if words]
    return Entry("\n".join(lines), tuple(_code_blocks(row for row, _ in held)))


def written_rows(body: str) -> Iterator[tuple[Row, str]]:
    """Each row that is the writer's own, with the words of it that a reader sees; what only tells a round is none."""
    for row in read_blocks(body).rows:
        if not is_quoted(row, body) and not (row.kind == "text" and ROUND_LINE.fullmatch(row.content)):
            words = STRUCK.sub("", row.content) if row.kind in ("text", "heading") else ""
            yield row, _BOX.sub("", words).strip()


def written_text(body: str) -> str:
    """The writer's own words, line by line; code blocks are left out."""
    return "\n".join(words for _, words in written_rows(body) if words)


def code_blocks(body: str) -> tuple[str, ...]:
    """The code blocks of a section that hold more than filler."""
    return tuple(_code_blocks(row for row, _ in written_rows(body)))


def _code_blocks(rows: Iterable[Row]) -> Iterator[str]:
    lines: list[str] = []
    for row in rows:
        is_fence = row.kind == "code" and not row.content and bool(row.text.strip())
        if row.kind == "code" and not is_fence:
            lines.append(row.content)
        else:
            yield from _code(lines)
            lines = []
    yield from _code(lines)


def _code(lines: list[str]) -> Iterator[str]:
    block = "\n".join(lines).strip("\n")
    if says_something(block):
        yield block


def spans(text: str) -> tuple[str, ...]:
    """What stands in code spans, of a text as long as people write one."""
    return tuple(match[2].strip() for match in _SPAN.finditer(text[:_LONGEST_VALUE]))


def labelled(text: str, labels: Sequence[str]) -> dict[str, str]:
    """The values of `label: value` parts, each on a line of its own or behind `;`, `->`; two that differ are none."""
    found = {label: values[0] for label, values in all_labelled(text, labels).items() if len(values) == 1}
    return {label: value for label, value in found.items() if says_something(value)}


def all_labelled(text: str, labels: Sequence[str]) -> dict[str, list[str]]:
    """Every value that a label was given, each once, in their order."""
    names = "|".join(map(re.escape, labels))
    one_of = re.compile(
        rf"(?:^|[;\n]|->|\u2192)[ \t]*+[-*_`]*+[ \t]*+(?P<label>{names})[*_`]*+[ \t]*+:[*_`]*+[ \t]*+", re.IGNORECASE
    )
    found: dict[str, list[str]] = {}
    matches = list(one_of.finditer(text))
    ends = [match.start() for match in matches[1:]] + [len(text)]
    for match, end in zip(matches, ends, strict=False):
        label = next(name for name in labels if name.lower() == match["label"].lower())
        value = text[match.end() : end].strip(" \t\n;")
        if value not in found.setdefault(label, []):
            found[label].append(value)
    return found


def says_something(value: str) -> bool:
    """Whether words that were read already are more than filler; read again as Markdown, "8000." would be a list."""
    return not is_placeholder("\n".join(f"    {line}" for line in value.splitlines()))


def is_none(body: str) -> bool:
    """Whether a section says in one line that there is nothing of the kind."""
    lines = [words for words in written_text(body).splitlines() if says_something(words)]
    said = lines[0].strip("*_`- ") if len(lines) == 1 else ""
    return _NONE.fullmatch(said) is not None and _UNLESS.search(said) is None


def outside(body: str) -> str:
    """What a section says besides its list: nothing that belongs into an item may hide there."""
    return "\n".join(words for row, words in written_rows(body) if row.depth == 0 and words)


def cut(text: str) -> str:
    return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}..."


def _level(row: Row) -> int:
    return len(row.text.strip()) - len(row.text.strip().lstrip("#"))


def topics(page: Page, section: str, body: str, names: Sequence[str], example: str) -> None:
    """Note each name on which a section says nothing, or twice: each needs an item or subsection that begins with it.

    The name once more, and nothing else, says nothing.
    """
    for name in names if body else ():
        start = re.compile(rf"[*_`]*{re.escape(name)}[*_`]*[ \t]*(?:[:\u2013\u2014-]|$)[*_`]*[ \t]*", re.IGNORECASE)
        said = [start.sub("", entry.text) for entry in entries(body, start)]
        if len(said) != 1 or not says_something(said[0]):
            page.wrong((say.topic_twice if len(said) > 1 else say.topic_missing)(section, name, example))


def ran(page: Page, where: str, entry: Entry, example: str) -> None:
    """An exact command and its exact output stand there, or that they lack is noted."""
    if "command" not in labelled(entry.text, ("command", *_BESIDE_COMMAND)):
        page.wrong(say.no_command(where), example)
    if not entry.codes:
        page.wrong(say.no_output(where), example)
