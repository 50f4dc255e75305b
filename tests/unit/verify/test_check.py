"""The checker's front end tells everything at once and raises only for what is not there."""

from __future__ import annotations

from pathlib import Path

import pytest

from detent.errors import UnreadableError, UsageError
from detent.machines.load import built_in_names
from detent.verify.check import check_machine
from detent.words.machines import explore as say
from detent.words.machines import lint as lint_words
from detent.words.machines import parse as parse_words
from detent.words.message import code_of
from tests.messages import message_of

SMALL = """
format = 1
name = "small"
initial = "open"

[store]
codec = "markdown_fields"
file = "STATE.md"
state = "State"
files = ["STATE.md"]

[field.Answer]

[gate.filled]
check = "fields_filled"
fields = ["Answer"]

[role.worker]
access = "write"

[state.open]
role = "worker"
[state.closed]
end = true

[[edge]]
from = "open"
to = "closed"
by = ["agent"]
needs = ["filled"]
"""


def write(folder: Path, text: str) -> str:
    path = folder / "machine.toml"
    path.write_text(text)
    return str(path)


@pytest.mark.parametrize("name", built_in_names())
def test_the_machines_that_ship_are_sound(name: str) -> None:
    report = check_machine(name)
    assert (report.problems, report.violations) == ((), ())
    assert report.is_sound
    assert report.name == name
    assert report.decisions > report.snapshots > report.states


def test_a_machine_file_is_counted(tmp_path: Path) -> None:
    path = write(tmp_path, SMALL)
    report = check_machine(path)
    assert (report.name, report.where, report.states, report.edges) == ("small", path, 2, 1)
    assert report.is_sound


def test_every_mistake_of_a_file_is_told_at_once(tmp_path: Path) -> None:
    text = SMALL.replace('"fields_filled"', '"fields_fild"').replace('to = "closed"', 'to = "shut"')
    report = check_machine(write(tmp_path, text + '[[lock]]\nname = "x"\nafter = "nowhere"\n'))
    check, *others = sorted(report.problems, key=lambda problem: code_of(problem) != "parse.unknown_check")
    assert message_of(check).values["check"] == "fields_fild"
    assert parse_words.lock_holds_nothing("x") in others
    unknown = {message_of(problem).values["name"] for problem in others if code_of(problem) == "parse.unknown"}
    assert unknown == {"shut", "nowhere"}
    assert not report.is_sound
    assert report.violations == ()


def test_findings_of_linter_and_explorer_come_together(tmp_path: Path) -> None:
    more = '[state.lost]\nend = true\n[state.trap]\n[[edge]]\nfrom = "open"\nto = "trap"\nby = ["person"]\n'
    more += '[[edge]]\nfrom = "trap"\nto = "trap"\nby = ["person"]\n'
    report = check_machine(write(tmp_path, SMALL + more))
    assert report.problems == (lint_words.state_unreached("lost"),)
    assert [violation.rule for violation in report.violations] == [say.dead_end()]
    assert report.violations[0].story == (
        say.start("open"),
        say.move_made("person", "open", "trap", "open-to-trap", (), "", said_no=False),
    )
    assert not report.is_sound


def test_limits_and_options_of_a_project_are_checked_too() -> None:
    report = check_machine("phase", limits={"nonsense": 3}, options=("no-such-option",))
    assert len(report.problems) == 2
    assert check_machine("phase", options=("ask-early",)).edges == check_machine("phase").edges + 1


def test_a_file_that_is_no_toml_is_a_report(tmp_path: Path) -> None:
    path = write(tmp_path, "format = ")
    report = check_machine(path)
    assert code_of(report.problems[0]) == "load.file_no_toml"
    assert report.where == path


def test_what_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UnreadableError):
        check_machine(str(tmp_path / "none.toml"))
    with pytest.raises(UsageError):
        check_machine("nonsense")
