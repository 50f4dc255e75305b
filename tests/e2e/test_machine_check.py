"""`machine check` tells what a person has to change, or to write where a finding is meant."""

from __future__ import annotations

import json
from pathlib import Path

from tests.conftest import Detent, MakeRepo
from tests.machines.small_machines import NOTE

SLIP = """
[state.side]
driver = "engine"
[[edge]]
name  = "aside"
from  = "reading"
to    = "side"
by    = ["agent"]
needs = ["written"]
[[edge]]
name  = "slip"
from  = "side"
to    = "read"
by    = ["engine"]
needs = ["written", "tested"]
[[edge]]
name  = "rewrite"
from  = "side"
to    = "writing"
by    = ["person"]
[gate.tested]
check = "commands"
since = "task"
field = "Text"
"""
WAIT = SLIP.replace('by    = ["person"]', 'by    = ["engine"]\nneeds = ["written"]')
MEANT = '[exception.sign-off]\nslip = "green tests are enough for a note"\n'


def test_machine_with_a_path_round_a_sign_off_is_refused(detent: Detent, repo: MakeRepo, tmp_path: Path) -> None:
    path, machine = repo(), tmp_path / "note.toml"
    machine.write_text(NOTE + SLIP, encoding="utf-8")
    checked = detent("machine", "check", machine, cwd=path)
    assert checked.code == 1, checked
    assert checked.out.splitlines()[1:] == [
        "  - side -> read: slip goes round the sign-off reading-to-read",
        "      1. start in writing",
        "      2. agent: writing -> reading (writing-to-reading) with written",
        "      3. agent: reading -> side (aside) with written",
        "      4. engine: side -> read (slip) with tested, written",
        '      if this is meant: [exception.sign-off] slip = "the reason"',
    ]
    (row,) = json.loads(detent("machine", "check", machine, "--json", cwd=path).out)["machines"][0]["violations"]
    assert (row["kind"], row["about"]) == ("sign-off", "slip")
    made = detent("new", machine, "a note", "--id", "n", cwd=path)
    assert made.code == 2
    assert "slip goes round the sign-off" in made.err


def test_an_exception_with_its_reason_lets_the_machine_load(detent: Detent, repo: MakeRepo, tmp_path: Path) -> None:
    path, machine = repo(), tmp_path / "note.toml"
    machine.write_text(NOTE + SLIP + MEANT, encoding="utf-8")
    assert detent("machine", "check", machine, cwd=path).out.startswith("note: holds")
    assert detent("new", machine, "a note", "--id", "n", "--dir", tmp_path / "task", cwd=path).code == 0


def test_engine_that_waits_where_no_person_is_asked_is_refused(detent: Detent, repo: MakeRepo, tmp_path: Path) -> None:
    path, machine = repo(), tmp_path / "note.toml"
    machine.write_text(NOTE + WAIT + MEANT, encoding="utf-8")
    checked = detent("machine", "check", machine, cwd=path)
    assert checked.code == 1, checked
    assert checked.out.splitlines()[1:] == [
        "  - side: the engine has no move while written, tested are closed, and no person is asked",
        "      1. start in writing",
        "      2. agent: writing -> reading (writing-to-reading) with written",
        "      3. agent: reading -> side (aside) with written",
        '      if this is meant: [exception.waits] side = "the reason"',
    ]


def test_an_exception_that_nothing_needs_is_refused(detent: Detent, repo: MakeRepo, tmp_path: Path) -> None:
    path, machine = repo(), tmp_path / "note.toml"
    machine.write_text(NOTE + MEANT.replace("slip", "writing-to-reading"), encoding="utf-8")
    checked = detent("machine", "check", machine, cwd=path)
    assert checked.code == 1
    assert "exception sign-off: writing-to-reading needs none" in checked.out


def test_a_machine_that_can_not_be_read_is_not_counted(detent: Detent, repo: MakeRepo, tmp_path: Path) -> None:
    path, machine = repo(), tmp_path / "note.toml"
    machine.write_text('name = "x\n', encoding="utf-8")
    checked = detent("machine", "check", machine, cwd=path)
    assert (checked.code, checked.out.splitlines()[0]) == (
        1,
        f"{machine}: 1 problem; not explored until the file is correct",
    )
    machine.write_text(NOTE.replace("[state.read]", "[state.red]"), encoding="utf-8")
    checked = detent("machine", "check", machine, cwd=path)
    head = checked.out.splitlines()[0]
    assert (checked.code, "; not explored" in head, "0 states" in head) == (1, True, False)


def test_next_command_after_invalid_toml_is_to_correct_the_file(detent: Detent, repo: MakeRepo, tmp_path: Path) -> None:
    path, machine = repo(), tmp_path / "note.toml"
    machine.write_text('name = "x\n', encoding="utf-8")
    for words in (("new", machine, "a note"), ("machine", "show", machine)):
        refused = detent(*words, cwd=path)
        assert refused.code == 5, refused
        assert f"next:  correct it, then run: detent machine check {machine}" in refused.err
