"""Tests of reading reports: what counts, what is refused with which reason, and reports of a project's own."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path
from typing import Any

import pytest

from detent.effects.tests.reports import junit_files, read_junit, read_reports, remove_junit
from detent.store.text.census import OUTCOMES, Call, Case, CaseId
from detent.words.effects import runners as say
from detent.words.store import census as census_words

HEAD: dict[str, Any] = {"detent": 1, "runner": "pytest"}
END: dict[str, Any] = {"end": 0}


def case(**changes: str) -> dict[str, Any]:
    return {"file": "/w/a.py", "name": "t", "parameters": "", "outcome": "passed", "stage": "", "why": "", **changes}


def write(folder: Path, *lines: Any, name: str = "pytest-1-a.jsonl", torn: str = "") -> None:
    text = "".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines)
    (folder / name).write_text(text + torn, encoding="utf-8")


def test_reports_of_all_processes_are_one_census(tmp_path: Path) -> None:
    write(tmp_path, HEAD, case(), END)
    write(tmp_path, HEAD, case(name="u"), {"end": None}, name="go-2-b.jsonl")
    (tmp_path / "notes.txt").write_text("no report")
    read = read_reports(str(tmp_path), "/w")
    assert read.is_believable
    assert [case.id for case in read.census.cases] == [CaseId("a.py", "t"), CaseId("a.py", "u")]


def test_no_report_is_not_believable(tmp_path: Path) -> None:
    assert not read_reports(str(tmp_path), "/w").is_believable
    assert read_reports(str(tmp_path / "gone"), "/w").problems == (say.reports_unreadable(os.strerror(errno.ENOENT)),)


@pytest.mark.parametrize("after", [(), (END, case(name="late"))])
def test_a_report_without_its_end_is_not_whole(tmp_path: Path, after: tuple[Any, ...]) -> None:
    write(tmp_path, HEAD, case(), *after)
    read = read_reports(str(tmp_path), "/w")
    assert read.census.calls == (Call("pytest", has_ended=False),)
    assert (read.problems, read.is_believable) == ((), False)


def test_a_torn_last_line_is_a_missing_end(tmp_path: Path) -> None:
    write(tmp_path, HEAD, case(), torn='{"end"')
    read = read_reports(str(tmp_path), "/w")
    assert ([case.outcome for case in read.census.cases], read.is_believable) == (["passed"], False)


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ((case(),), say.no_beginning()),
        (({"detent": 2, "runner": "x"},), say.no_beginning()),
        ((HEAD, "no json"), say.line_no_json(2)),
        ((HEAD, "[" * 100_000), say.long_line(2, 64 << 10)),
        ((HEAD, "[" * 50_000), say.line_no_json(2)),
        ((HEAD, "[1]"), say.line_no_table(2)),
        ((HEAD, {"end": "0"}), say.no_exit_code()),
        ((HEAD, case(outcome="green")), census_words.no_outcome("green", OUTCOMES)),
        ((HEAD, case(outcome="failed")), census_words.no_stage("", "failed")),
        ((HEAD, {**case(), "extra": ""}), say.line_no_test(("file", "name", "parameters", "outcome", "stage", "why"))),
        ((HEAD, {**case(), "name": 1}), say.line_no_test(("file", "name", "parameters", "outcome", "stage", "why"))),
        ((HEAD, case(file="", name="")), census_words.no_file_or_name()),
        ((), say.no_beginning()),
    ],
)
def test_a_report_of_another_form_counts_for_nothing(tmp_path: Path, lines: tuple[Any, ...], said: str) -> None:
    write(tmp_path, *lines)
    write(tmp_path, HEAD, case(), END, name="whole.jsonl")
    read = read_reports(str(tmp_path), "/w")
    assert read.problems[0] == say.wrong_report("pytest-1-a.jsonl", said)
    assert len(read.census.cases) == 1
    assert not read.is_believable


def test_more_tests_than_are_read_are_refused(tmp_path: Path) -> None:
    for name in ("a.jsonl", "b.jsonl"):
        write(tmp_path, HEAD, case(name="one"), case(name=name), END, name=name)
    read = read_reports(str(tmp_path), "/w", most_cases=3)
    assert (len(read.census.cases), read.problems) == (2, (say.wrong_report("b.jsonl", say.too_many_tests(3)),))
    assert read_reports(str(tmp_path), "/w", most_cases=4).is_believable


def test_a_link_or_a_pipe_is_no_report(tmp_path: Path) -> None:
    write(tmp_path, HEAD, case(), END, name="real.txt")
    os.symlink(tmp_path / "real.txt", tmp_path / "link.jsonl")
    os.mkfifo(tmp_path / "pipe.jsonl")
    assert len(read_reports(str(tmp_path), "/w").problems) == 2


def test_files_are_named_from_the_top_of_the_checkout(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    where = tmp_path / "reports"
    where.mkdir()
    files = (f"{tmp_path}/real/a.py", f"file://{tmp_path}/link/b.js", f"{tmp_path}/link/x/../c.py", "/elsewhere/d.py")
    write(where, HEAD, *(case(file=file) for file in files), END)
    read = read_reports(str(where), str(tmp_path / "link"))
    assert [case.id.file for case in read.census.cases] == ["/elsewhere/d.py", "a.py", "b.js", "c.py"]


def test_addresses_in_parameters_do_not_make_another_test(tmp_path: Path) -> None:
    write(tmp_path, HEAD, case(parameters="<function f at 0x7f12ab34cd56>"), END)
    assert read_reports(str(tmp_path), "/w").census.cases[0].id.parameters == "<function f at 0x>"


XML = """<testsuites><testsuite name="s">
<testcase classname="pkg.A" name="one" file="/w/pkg/a.py"/>
<testcase classname="pkg.A" name="two"><failure message="no&#10;more">text</failure></testcase>
<testcase classname="pkg.A" name="three"><skipped/></testcase>
<testcase classname="pkg.A" name="four"><error>lost
</error></testcase>
</testsuite></testsuites>"""


def test_a_junit_report_of_the_project_is_a_census(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "TEST-a.xml").write_text(XML)
    read = read_junit(str(tmp_path), ("out/TEST-*.xml",), "maven")
    assert read.is_believable
    assert read.census.calls == (Call("maven", has_ended=True),)
    assert read.census.cases == (
        Case(CaseId("/w/pkg/a.py", "pkg.A.one"), "passed"),
        Case(CaseId("pkg/A", "four"), "error", "test", "lost"),
        Case(CaseId("pkg/A", "three"), "skipped"),
        Case(CaseId("pkg/A", "two"), "failed", "test", "no"),
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("<testsuite", say.no_xml("unclosed token: line 1, column 0")),
        ("<html/>", say.no_junit()),
        ('<!DOCTYPE x [<!ENTITY a "b">]><testsuite/>', say.has_document_type()),
        ("<testsuite><testcase/></testsuite>", census_words.no_file_or_name()),
    ],
)
def test_xml_that_is_no_report_counts_for_nothing(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "report.xml").write_text(text)
    read = read_junit(str(tmp_path), ("report.xml",), "ours")
    assert read.problems[0] == say.wrong_report("report.xml", said)
    assert not read.is_believable


def test_a_declared_report_that_was_not_written_is_named(tmp_path: Path) -> None:
    assert read_junit(str(tmp_path), ("report.xml",), "ours").problems[0] == say.no_file(("report.xml",))


def test_reports_of_an_earlier_run_are_removed(tmp_path: Path) -> None:
    (tmp_path / "old.xml").write_text(XML)
    assert junit_files(str(tmp_path), ("*.xml",)) == ("old.xml",)
    remove_junit(str(tmp_path), ("*.xml",))
    assert junit_files(str(tmp_path), ("*.xml",)) == ()


@pytest.mark.parametrize("pattern", ["out/*.xml", "**/*.xml", "../away/*.xml", "{away}/*.xml"])
def test_report_outside_of_the_checkout_is_neither_removed_nor_read(tmp_path: Path, pattern: str) -> None:
    away, checkout = tmp_path / "away", tmp_path / "checkout"
    away.mkdir()
    checkout.mkdir()
    (away / "precious.xml").write_text(XML)
    (checkout / "out").symlink_to(away)
    patterns = (pattern.format(away=away),)
    remove_junit(str(checkout), patterns)
    assert (away / "precious.xml").is_file()
    assert not read_junit(str(checkout), patterns, "ours").is_believable
