"""Reads a specification: the promise an agent makes when it is done, and the criteria it is then held to.

Both are read as a reader of the Markdown sees them: text in code, comments or quotes is no promise.

- one line `Promise: <promise>TEXT</promise>`, or the tag alone on a line
- under `## Criteria` (or another of `HEADINGS`) one list item for each criterion: `- what must hold`; a command that
  proves it stands on the item (`- the tests pass; cmd: make test`), on an indented `cmd:` line below it, or in an
  indented fence
- a criterion is called C1, C2, ... by its place, or as it says itself: `- AC-7: what must hold`
"""

from __future__ import annotations

import re

from detent.core.record import Record
from detent.gates.plan import read_plan
from detent.gates.verdict import is_quoted
from detent.packs.ralf import words as say
from detent.store.text.markdown import find_section, is_placeholder, scan

HEADINGS = ("Criteria", "Acceptance Criteria", "Completion Criteria", "Success Criteria")
LOOSE = "Requirements"  # counts where no heading speaks of criteria: beside one it explains them
PROMISE_LINE = "Promise: <promise>TEXT</promise>"
_PROMISE = re.compile(r"\W*?(?:promise\W*?:\W*?)?<promise>(?P<text>[^<>]*)</promise>\W*", re.IGNORECASE)
_ITEM = re.compile(r" {0,3}(?:[-*+]|\d{1,9}[.)])(?:[ \t]+|$)(?:\[[ xX]\][ \t]+)?")
_LABEL = re.compile(r"(?:\*\*|__|`)?(?P<label>[A-Z]{1,5}-?\d{1,4})(?:\*\*|__|`)?:(?:\*\*|__)?[ \t]+")
_COMMAND = re.compile(r"(?:^|[\s;,(\u2013\u2014-])cmd[ \t]*:[ \t]*(?P<line>\S.*)$", re.IGNORECASE)
_NO_COMMAND = re.compile(r"(?:^|[\s;,(\u2013\u2014-])cmd[ \t]*:[ \t`)]*$", re.IGNORECASE | re.MULTILINE)
_LONGEST_PROMISE = 80
MOST_CRITERIA = 100
_MOST_SHOWN = 60  # characters of a quotation in a sentence about it


class Criterion(Record):
    """One thing that must hold; without a command an agent or a person has to judge it."""

    label: str
    text: str
    command: str = ""


class Spec(Record):
    promise: str  # the text between the tags
    criteria: tuple[Criterion, ...]
    problems: tuple[str, ...] = ()  # why it can't be worked from, each in a few words

    @property
    def tag(self) -> str:
        """What an agent prints on a line of its own."""
        return f"<promise>{self.promise}</promise>"


def read_spec(text: str) -> Spec:
    promise, problems = _promise(text)
    named = [name for name in HEADINGS if find_section(text, name)] or [LOOSE]
    section = find_section(text, named[0])
    if section is None:
        return Spec(promise, (), (*problems, say.no_section(*HEADINGS[:2])))
    if len(named) > 1:  # else those under one of them would bind no one
        return Spec(promise, (), (*problems, say.criteria_twice(named)))
    body = text[section.body_start : section.end]
    criteria: list[Criterion] = []
    for number, item in enumerate(_items(body)[:MOST_CRITERIA], 1):
        criterion, problem = _criterion(number, item)
        criteria.append(criterion)
        problems += (problem,) if problem else ()
    labels = [criterion.label for criterion in criteria]
    problems += tuple(say.label_twice(label) for label in dict.fromkeys(labels) if labels.count(label) > 1)
    if not criteria:
        problems += (say.no_criterion(named[0]),)
    if len(_items(body)) > MOST_CRITERIA:
        problems += (say.too_many_criteria(MOST_CRITERIA),)
    return Spec(promise, tuple(criteria), problems)


def _promise(text: str) -> tuple[str, tuple[str, ...]]:
    lines = [line.content for line in scan(text) if line.kind == "text" and not is_quoted(line, text)]
    found = dict.fromkeys(match["text"].strip() for line in lines if (match := _PROMISE.fullmatch(line)))
    if not found:
        return "", (say.no_promise_line(PROMISE_LINE),)
    if len(found) > 1:
        return "", (say.several_promises(),)
    (promise,) = found
    if is_placeholder(promise) or promise == "TEXT" or len(promise) > _LONGEST_PROMISE:
        return "", (say.no_real_promise(promise[:_MOST_SHOWN]),)
    return promise, ()


def _items(body: str) -> list[str]:
    """The text of every list item that is not part of another one."""
    starts = [
        line.start
        for line in scan(body)
        if line.depth == 1 and line.kind in ("text", "code", "blank") and _ITEM.match(body, line.start, line.end)
    ]
    ends = [line.start for line in scan(body) if line.depth == 0 and line.kind != "blank"]
    found = []
    for start, following in zip(starts, (*starts[1:], len(body)), strict=False):
        end = min([following, *(end for end in ends if end > start)])
        found.append(body[start:end])
    return found


def _criterion(number: int, item: str) -> tuple[Criterion, str]:
    first, _, rest = item.partition("\n")
    words = _ITEM.sub("", first, count=1).strip()
    label = f"C{number}"
    if match := _LABEL.match(words):
        label, words = match["label"], words[match.end() :]
    commands: list[str] = []
    if match := _COMMAND.search(words):
        line = match["line"].rstrip()
        if match[0].startswith("("):
            line = line.removesuffix(")")
        words = words[: match.start()].rstrip(" \t;,\u2013\u2014-")
        commands += read_plan(f"cmd: {line}")[0]
    # Behind the marker everything is indented; read on its own it would be code.
    lines, more = read_plan(_dedented(rest))
    commands += lines
    text = " ".join([words, *more]).strip()
    shown = text or (commands[0].partition("\n")[0] if commands else "")
    problem: str = ""
    if is_placeholder(text) and not commands:
        problem = say.criterion_says_nothing(label)
    elif not commands and _NO_COMMAND.search(item):  # else an agent would judge what a command was to prove
        problem = say.criterion_without_command(label)
    elif len(commands) > 1:
        problem = say.criterion_with_commands(label, len(commands))
    return Criterion(label, shown, commands[0] if commands else ""), problem


def _dedented(text: str) -> str:
    lines = [line.expandtabs(4) for line in text.splitlines()]
    indents = [len(line) - len(line.lstrip()) for line in lines if line.strip()]
    cut = min(indents, default=0)
    return "\n".join(line[cut:] for line in lines)
