"""Reads what the processes of a run reported into one census: `read_reports`; `read_junit` where a project writes XML.

Fail-closed: a file that is not exactly of our form, or beyond a bound, counts for nothing and is named. One without its
last line belongs to a process that was cut off; its tests count, and its call has not ended.
"""

from __future__ import annotations

import json
import os
import re

from detent.core.record import Record
from detent.errors import UnreadableError
from detent.store.disk.atomic import read_plain
from detent.store.text.census import (
    LONGEST_NAME,
    LONGEST_WHY,
    MOST_CALLS,
    MOST_CASES,
    RED,
    Call,
    Case,
    CaseId,
    Census,
    census_of,
    problem_of,
)
from detent.words.effects import runners as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any
    from xml.etree.ElementTree import Element

LARGEST_REPORT_BYTES = 256 << 20
LONGEST_LINE_BYTES = 64 << 10
_FIELDS = ("file", "name", "parameters", "outcome", "stage", "why")
_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{6,}\b")


class Reported(Record):
    """What was read, and why anything was not."""

    census: Census
    problems: tuple[str, ...]

    @property
    def is_believable(self) -> bool:
        """Something reported, all of it could be read, and every process came to its own end."""
        return self.census.is_whole and not self.problems


class _Wrong(Exception):
    """Why one report counts for nothing."""


def read_reports(folder: str, root: str, most_cases: int = MOST_CASES) -> Reported:
    """Every report in the folder that `prepare` made; files are named from `root`, the checkout of the run."""
    cases: list[Case] = []
    calls: list[Call] = []
    problems: list[str] = []
    try:
        names = sorted(os.listdir(folder))
    except OSError as error:
        return Reported(Census(), (say.reports_unreadable(error.strerror or ""),))
    names = [name for name in names if name.endswith(".jsonl")]
    if len(names) > MOST_CALLS:
        return Reported(Census(), (say.too_many_processes(MOST_CALLS),))
    places = _Places(root)
    for name in names:
        try:
            call, read = _read_report(os.path.join(folder, name), places, most_cases - len(cases), most_cases)
        except _Wrong as wrong:
            problems.append(say.wrong_report(name[:100], str(wrong)))
            continue
        cases += read
        calls.append(call)
    return Reported(census_of(cases, calls), tuple(problems))


def _read_report(path: str, places: _Places, left: int, most: int) -> tuple[Call, list[Case]]:
    lines = _lines(_plain_file(path))
    head = next(lines, None)
    if head is None or set(head) != {"detent", "runner"} or head["detent"] != 1 or not isinstance(head["runner"], str):
        raise _Wrong(say.no_beginning())
    cases: list[Case] = []
    call = Call(head["runner"][:LONGEST_NAME], has_ended=False)
    for line in lines:
        if set(line) == {"end"}:
            code = line["end"]
            is_code = code is None or (isinstance(code, int) and not isinstance(code, bool))
            if not is_code:
                raise _Wrong(say.no_exit_code())
            call = call.replace(has_ended=True, exit=code)
            continue
        cases.append(_case(line, places))
        call = call.replace(has_ended=False, exit=None)  # what follows an end needs an end of its own
        if len(cases) > left:
            raise _Wrong(say.too_many_tests(most))
    return call, cases


def _plain_file(path: str) -> bytes:
    try:
        return read_plain(path, LARGEST_REPORT_BYTES) or b""
    except UnreadableError as error:
        raise _Wrong(error.what) from error


def _lines(content: bytes) -> Iterator[dict[str, Any]]:
    whole = content.split(b"\n")
    torn = whole.pop()  # a process that was killed while it wrote: its end is missing too
    for number, line in enumerate(whole, 1):
        if len(line) > LONGEST_LINE_BYTES:
            raise _Wrong(say.long_line(number, LONGEST_LINE_BYTES))
        try:
            value = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise _Wrong(say.line_no_json(number)) from error
        if not isinstance(value, dict):
            raise _Wrong(say.line_no_table(number))
        yield value
    if torn and not whole:
        raise _Wrong(say.torn())


def _case(line: dict[str, Any], places: _Places) -> Case:
    if set(line) != set(_FIELDS) or not all(isinstance(line[field], str) for field in _FIELDS):
        raise _Wrong(say.line_no_test(_FIELDS))
    file = places.of(line["file"])
    name, parameters = line["name"][:LONGEST_NAME], _ADDRESS.sub("0x", line["parameters"])[:LONGEST_NAME]
    if problem := problem_of(file, name, parameters, line["outcome"], line["stage"], line["why"]):
        raise _Wrong(problem)
    return Case(CaseId(file, name, parameters), line["outcome"], line["stage"], line["why"])


class _Places:
    """Paths as the runner saw them, named from the top of the checkout."""

    def __init__(self, root: str) -> None:
        self._tops = tuple(dict.fromkeys((os.path.abspath(root), os.path.realpath(root))))
        self._known: dict[str, str] = {}

    def of(self, path: str) -> str:
        if path not in self._known:
            plain = path.removeprefix("file://")
            self._known[path] = self._name(os.path.normpath(plain) if plain else "")[:LONGEST_NAME]
        return self._known[path]

    def _name(self, path: str) -> str:
        for top in self._tops:
            if path.startswith(top + os.sep):
                return path[len(top) + 1 :].replace(os.sep, "/")
        return path


# ---- a report of the project's own -----------------------------------------------------------------------------------


def junit_files(root: str, patterns: Sequence[str]) -> tuple[str, ...]:
    """The files in a checkout that these patterns mean. What lies there before a run is to be removed first."""
    from glob import glob

    found = (path for pattern in patterns for path in glob(pattern, root_dir=root, recursive=True))
    return tuple(sorted(path for path in dict.fromkeys(found) if _is_file_inside(root, path)))


def _is_file_inside(root: str, path: str) -> bool:
    """Whether no folder on the way is a link, nor leads out: the work could have the engine remove files elsewhere."""
    top, full = os.path.realpath(root), os.path.join(root, path)
    folder = os.path.realpath(os.path.dirname(full))
    is_inside = folder == top or folder.startswith(top + os.sep)
    return is_inside and folder == os.path.normpath(os.path.join(top, os.path.dirname(path))) and os.path.isfile(full)


def remove_junit(root: str, patterns: Sequence[str]) -> None:
    """Take away the project's own reports of an earlier run from a checkout that may be written to."""
    for path in junit_files(root, patterns):
        os.unlink(os.path.join(root, path))


def read_junit(root: str, patterns: Sequence[str], runner: str) -> Reported:
    """The census in the JUnit XML files that a command left in its checkout."""
    cases: list[Case] = []
    calls: list[Call] = []
    problems: list[str] = []
    places = _Places(root)
    files = junit_files(root, patterns)
    if len(files) > MOST_CALLS:
        return Reported(Census(), (say.too_many_files(MOST_CALLS, patterns),))
    for path in files:
        try:
            read = _read_xml(_plain_file(os.path.join(root, path)), places)
            if len(cases) + len(read) > MOST_CASES:
                problems.append(say.wrong_report(path[:200], say.too_many_tests(MOST_CASES)))
                break
        except _Wrong as wrong:
            problems.append(say.wrong_report(path[:200], str(wrong)))
            continue
        cases += read
        calls.append(Call(runner, has_ended=True))
    if not calls and not problems:
        problems.append(say.no_file(patterns))
    return Reported(census_of(cases, calls), tuple(problems))


def _read_xml(content: bytes, places: _Places) -> list[Case]:
    from xml.etree import ElementTree as ET

    # Without a document type there are no entities, and nothing outside the file.
    if re.search(rb"<!\s*(DOCTYPE|ENTITY)", content, re.IGNORECASE) or content[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise _Wrong(say.has_document_type())
    try:
        root = ET.fromstring(content)  # noqa: S314  # the danger is in document types, refused above
    except (ET.ParseError, LookupError, ValueError) as error:
        raise _Wrong(say.no_xml(str(error))) from error
    if root.tag not in ("testsuites", "testsuite"):
        raise _Wrong(say.no_junit())
    return [_xml_case(element, places) for element in root.iter("testcase")]


def _xml_case(element: Element, places: _Places) -> Case:
    ends = {child.tag: child for child in element}
    outcome = next((word for tag, word in _XML_ENDS if tag in ends), "passed")
    end = next((ends[tag] for tag, word in _XML_ENDS if tag in ends), None)
    group, name = element.get("classname", ""), element.get("name", "")
    file = places.of(element.get("file", "")) or group.replace(".", "/")
    said = (end.get("message") or end.text or "").strip() if end is not None and outcome in RED else ""
    why = (said.splitlines() or [""])[0][:LONGEST_WHY]
    full = f"{group}.{name}" if element.get("file") and group else name
    stage = "test" if outcome in RED else ""
    if problem := problem_of(file, full[:LONGEST_NAME], "", outcome, stage, why):
        raise _Wrong(problem)
    return Case(CaseId(file, full[:LONGEST_NAME]), outcome, stage, why)


_XML_ENDS = (("error", "error"), ("failure", "failed"), ("skipped", "skipped"))
