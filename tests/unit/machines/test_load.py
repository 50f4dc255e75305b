"""Machine files are found by name or path; what can't be read is told with the file and the next command."""

from __future__ import annotations

import errno
import json
import os
import tomllib
from pathlib import Path

import pytest

from detent.errors import MachineError, UnreadableError, UsageError
from detent.machines.load import LARGEST_FILE_BYTES, built_in_names, canonical, load, read_document, scaffold
from detent.machines.parse import parse
from detent.runner.make.vocabulary import vocabulary
from detent.words.machines import load as load_words
from detent.words.machines import parse as say
from detent.words.message import code_of

TINY = """
format  = 1
name    = "tiny"
initial = "open"
[store]
codec = "markdown_fields"
file  = "TASK.md"
state = "Phase"
files = ["TASK.md"]
[state.open]
[state.shut]
end = true
[[edge]]
name   = "close"
from   = "open"
to     = "shut"
option = "doors"
[[edge]]
name  = "lock"
from  = "open"
to    = "shut"
under = "turns"
[limit.turns]
max = 2
"""


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    path = tmp_path / "tiny.toml"
    path.write_text(TINY, encoding="utf-8")
    return path


@pytest.mark.parametrize("name", built_in_names())
def test_every_built_in_machine_loads_by_its_name(name: str) -> None:
    machine, pinned = load(name, vocabulary())
    assert machine.name == name
    assert parse(json.loads(pinned), vocabulary()) == machine


def test_parameter_of_the_wrong_kind_names_gate_and_kind(tiny: Path) -> None:
    gate = '[gate.frame]\ncheck = "fields_filled"\nfields = '
    tiny.write_text(f"{TINY}{gate}5\n", encoding="utf-8")
    with pytest.raises(MachineError) as caught:
        load(str(tiny), vocabulary())
    assert caught.value.where == str(tiny)
    assert caught.value.problems == (say.parameter_must_be("frame", "fields", "a list of texts"),)
    tiny.write_text(f'{TINY}{gate}["Objective"]\n', encoding="utf-8")
    assert load(str(tiny), vocabulary())[0].gates["frame"].params == {"fields": ["Objective"]}


def test_machine_is_loaded_by_path_with_the_project_s_settings(tiny: Path) -> None:
    machine, pinned = load(str(tiny), vocabulary(), limits={"turns": 5}, options=["doors"])
    assert machine.limits["turns"].most == 5
    assert [edge.name for edge in machine.states["open"].edges] == ["close", "lock"]
    assert json.loads(pinned) == tomllib.loads(TINY)
    assert read_document(str(tiny)) == (tomllib.loads(TINY), str(tiny))


def test_a_file_in_the_current_folder_needs_no_slash(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tiny.parent)
    assert load("tiny.toml", vocabulary())[0].name == "tiny"


def test_the_pinned_bytes_keep_the_order_of_the_file() -> None:
    """The order of states and edges means something: a pinned machine must not sort it away."""
    assert canonical({"b": 1, "a": {"d": "ü", "c": 2}}) == '{"b":1,"a":{"d":"ü","c":2}}'.encode()


def test_the_problems_of_a_file_name_the_file(tiny: Path) -> None:
    tiny.write_text(TINY + "colour = 1\n", encoding="utf-8")
    with pytest.raises(MachineError) as caught:
        load(str(tiny), vocabulary())
    assert caught.value.where == str(tiny)
    assert caught.value.problems == (say.unknown_key("limit turns", "colour", ""),)


@pytest.mark.parametrize("name", ["", "moon", "phase_", "Phase", "lights_out"])
def test_an_unknown_name_is_told_with_the_known_ones(name: str) -> None:
    with pytest.raises(UsageError) as caught:
        load(name, vocabulary())
    assert repr(name) in caught.value.what
    assert "phase" in caught.value.next_step


@pytest.mark.parametrize(
    "content",
    [b"format = ", b'name = "\xff"', b"a = " + b"[" * 100_000, b"a = " + b"9" * 10_000],
    ids=["cut", "bytes", "nested", "huge number"],
)
def test_a_damaged_file_is_told_with_its_path(tiny: Path, content: bytes) -> None:
    tiny.write_bytes(content)
    with pytest.raises(UnreadableError) as caught:
        load(str(tiny), vocabulary())
    assert code_of(caught.value.what) == "load.file_no_toml"
    assert caught.value.where == str(tiny)


def test_file_that_is_too_large_is_refused_with_its_path(tiny: Path) -> None:
    tiny.write_bytes(b"#" * (LARGEST_FILE_BYTES + 1))
    with pytest.raises(UnreadableError) as caught:
        load(str(tiny), vocabulary())
    assert (caught.value.what, caught.value.where) == (load_words.file_too_large(LARGEST_FILE_BYTES), str(tiny))


def test_a_file_of_the_largest_size_is_read(tiny: Path) -> None:
    tiny.write_text(TINY + "#" * (LARGEST_FILE_BYTES - len(TINY)), encoding="utf-8")
    assert tiny.stat().st_size == LARGEST_FILE_BYTES
    assert load(str(tiny), vocabulary())[0].name == "tiny"


@pytest.mark.parametrize(("name", "number"), [("missing.toml", errno.ENOENT), ("folder.toml", errno.EISDIR)])
def test_file_that_cannot_be_opened_is_told_with_its_path(tmp_path: Path, name: str, number: int) -> None:
    (tmp_path / "folder.toml").mkdir()
    with pytest.raises(UnreadableError) as caught:
        load(str(tmp_path / name), vocabulary())
    refusal = load_words.file_unreadable(os.strerror(number))
    assert (caught.value.what, caught.value.where) == (refusal, str(tmp_path / name))
    assert caught.value.next_step == refusal.next_step


def test_a_scaffold_is_the_machine_s_own_text_or_nothing() -> None:
    assert scaffold("phase", "STATE.md").startswith("# {title}\n")
    assert scaffold("phase", "NOTHING.md") == ""
    assert scaffold("elsewhere", "STATE.md") == ""
