"""Tests of the JSON codec: what it reads, what it refuses, and that it changes its own values alone."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from detent.core.values import Snapshot
from detent.errors import UnreadableError
from detent.machines.load import load
from detent.runner.make.vocabulary import vocabulary
from detent.store.disk.atomic import sweep, write_atomic
from detent.store.journal.native import Native
from detent.store.journal.places import TaskPlaces, make_task_folder
from detent.store.journal.tasks import TaskStore
from detent.store.text.codecs import CODECS
from detent.view import with_fields
from tests.lines import made

MACHINE = load("tests/data/machines/thread.toml", vocabulary())[0]
CODEC = CODECS["json_document"](MACHINE)
TEXT = """{
    "schema_version": 2,
    "id": "abc",
    "phase": {
        "type": "Running",
        "data": {
            "iteration": 3
        }
    },
    "cost": 1.5,
    "big": 123456789012345678901234567890,
    "tags": [
        "a",
        "b"
    ],
    "baseline": {
        "branch": "main",
        "phase": {
            "type": "x"
        }
    },
    "title": "café"
}
"""
DATA = """,
        "data": {
            "iteration": 3
        }"""


def native(folder: Path) -> Native:
    return Native(MACHINE, str(folder), TaskPlaces("t", str(folder / "control")))


# --- reading ---


def test_values_are_found_by_their_pointers() -> None:
    content = CODEC.read(TEXT)
    assert content.state == "Running"
    assert content.body_start == len(TEXT), "there is no Markdown in it"
    values = {label: field.value for label, field in content.fields.items()}
    assert values == {"/phase/type": "Running", "/title": "café", "/phase/data/iteration": "3", "/schema_version": "2"}


def test_a_label_without_a_slash_is_a_key_at_the_top() -> None:
    codec = CODECS["json_document"](MACHINE.replace(store=with_fields(MACHINE.store, state="phase", only_in={})))
    assert codec.read('{"phase": "Paused"}').state == "Paused"
    assert codec.write('{"phase": "Paused", "a/b": 1}', {"phase": "Done"}) == '{"phase": "Done", "a/b": 1}'
    assert codec.write("{}", {"/a~1b/~0": "x"}) == '{"a/b": {"~": "x"}}'


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "line 1: no valid JSON"),
        (TEXT + "x", "line 24: no valid JSON"),
        ("[]", "no JSON object"),
        ("null", "no JSON object"),
        ("[" * 100_000, "no valid JSON"),
        ('{"phase": {"type": "Done"}, "a": NaN}', "NaN is no JSON value"),
        ('{"phase": {"type": "Done"}, "phase": {}}', "the key 'phase' stands there twice"),
        ('{"phase": {"type": "Done"}, "x": {"a": 1, "a": 1}}', "the key 'a' stands there twice"),
        ('{"phase": {"type": "Done"}, "title": "\\ud800"}', "half a character"),
        ('{"phase": {"type": "Done"}, "title": "é \\ud800"}', "half a character"),
        ("{}", "/phase/type is null, which names no state; one of: Drafting"),
        ('{"phase": "Done"}', "names no state"),
        ('{"phase": {"type": "done"}}', '/phase/type is "done", which names no state'),
        ('{"phase": {"type": ["Done"]}}', "names no state"),
        ('{"phase": {"type": 5}}', "names no state"),
    ],
)
def test_a_document_that_can_not_be_trusted_is_an_error_that_says_why(text: str, words: str) -> None:
    with pytest.raises(UnreadableError, match=words):
        CODEC.read(text)


# --- writing ---


def test_only_the_values_of_known_keys_change() -> None:
    values = {
        "/phase/type": "Running",
        "/phase/data/iteration": "4",
        "/current_run_id": "run-1",
        "/schema_version": "2",
    }
    written = CODEC.write(TEXT, values)
    assert written == TEXT.replace('"iteration": 3', '"iteration": 4').replace(
        '"café"\n', '"café",\n    "current_run_id": "run-1"\n'
    )
    assert CODEC.write(written, values) == written


def test_data_stands_there_only_in_states_that_have_some() -> None:
    paused = TEXT.replace('"Running"' + DATA, '"Paused"')
    assert CODEC.write(TEXT, {"/phase/type": "Paused"}) == paused
    assert CODEC.write(paused, {"/phase/type": "Running", "/phase/data/iteration": "3"}) == TEXT


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", '{\n  "title": "x"\n}\n'),
        ("\ufeff", '\ufeff{\n  "title": "x"\n}\n'),
        ("{}", '{"title": "x"}'),
        ("{\n}\n", '{\n  "title": "x"\n}\n'),
        ('{"a": 1}', '{"a": 1, "title": "x"}'),
        ('{ "a":1 }\r\n', '{"a": 1, "title": "x"}\r\n'),
        ('{\n"a": 1\n}', '{\n"a": 1,\n"title": "x"\n}'),
        ('{\r\n\t"a": [1]\r\n}', '{\r\n\t"a": [\r\n\t\t1\r\n\t],\r\n\t"title": "x"\r\n}'),
        ('{"title": null, "b": {}}', '{"title": "x", "b": {}}'),
        ('\ufeff {"title" : {"b": [{}]} }', '\ufeff {"title": "x"}'),
        ('{"title":"x",\n "a":[]}', '{"title":"x",\n "a":[]}'),
    ],
)
def test_a_changed_document_keeps_mark_indentation_and_line_ends(before: str, after: str) -> None:
    assert CODEC.replace(before, "/title", "x") == after


def test_a_number_that_json_can_not_hold_is_an_error() -> None:
    with pytest.raises(UnreadableError, match="can't be written"):
        CODEC.replace('{"theirs": 1e999}', "/title", "x")


def test_a_deep_document_is_written_or_refused() -> None:
    refused = []
    for depth in (600, 1500, 100_000):  # some Pythons read deeper than they write
        try:
            CODEC.replace(f'{{\n  "theirs": {"[" * depth}{"]" * depth}\n}}', "/title", "x")
        except UnreadableError as error:
            refused.append(error.what)
    assert refused  # and nothing else was raised


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('{"phase": {"data": {"iteration": 1}, "type": "Running"}}', '{"phase": {"type": "Done"}}'),
        ('{"phase": {"type": "Running", "data": {}, "x": 1}}', '{"phase": {"type": "Done", "x": 1}}'),
        ('{"phase": {"type": "Running", "data": null}}', '{"phase": {"type": "Done"}}'),
        ('{"phase": 5}', '{"phase": {"type": "Done"}}'),
    ],
)
def test_a_value_of_another_state_is_removed(before: str, after: str) -> None:
    assert CODEC.write(before, {"/phase/type": "Done"}) == after


@pytest.mark.parametrize("value", ["", "x", 'say "x"\n', "5", "true", "\u2028", "[not json", '["a", 1]', '{"a": {}}'])
def test_a_text_reads_back(value: str) -> None:
    assert CODEC.read(CODEC.replace(TEXT, "/title", value)).fields["/title"].value == value


# --- what the engine owns ---


def test_a_misplaced_or_non_numeric_counter_is_a_change(tmp_path: Path) -> None:
    running = Snapshot(state="Running", counters={"iteration": 3})
    assert native(tmp_path).tampered(native(tmp_path).parsed(TEXT), running, "") == ()
    for wrong in ('"3"', "3.0", "true", "null", "4"):
        document = native(tmp_path).parsed(TEXT.replace('"iteration": 3', f'"iteration": {wrong}'))
        assert native(tmp_path).tampered(document, running, "") == ("/phase/data/iteration",)
    paused = native(tmp_path).parsed(TEXT.replace('"Running"', '"Paused"'))
    assert native(tmp_path).tampered(paused, running.replace(state="Paused"), "") == ("/phase/data/iteration",)


@pytest.mark.parametrize("version", ["3", '"x"', "-1", "[]"])
def test_a_newer_format_is_refused_and_never_written_down(tmp_path: Path, version: str) -> None:
    newer = TEXT.replace('"schema_version": 2', f'"schema_version": {version}')
    with pytest.raises(UnreadableError) as caught:
        native(tmp_path).parsed(newer)
    assert "knows 2" in caught.value.what
    assert "newer detent" in caught.value.next_step
    repaired = native(tmp_path).repaired(newer, TEXT, Snapshot(state="Running", counters={"iteration": 3}), "now")
    assert json.loads(repaired) == {**json.loads(TEXT), "current_run_id": None, "updated_at": "now"}


@pytest.mark.parametrize(("line", "old"), [('    "schema_version": 1,\n', "1"), ("", "0")])
def test_an_older_format_is_brought_up_and_kept_beside(tmp_path: Path, line: str, old: str) -> None:
    older = TEXT.replace('    "schema_version": 2,\n', line)
    (tmp_path / "thread.json").write_text(older)
    places = TaskPlaces("t", str(tmp_path / "control"))
    make_task_folder(places)
    memory = TaskStore(places).commit(None, made("adopted"), Snapshot(state="Running", counters={"iteration": 3}))
    task = Native(MACHINE, str(tmp_path), places)
    for _ in range(2):
        task.project(task.read(), memory, {}, lambda _logged: [])
    assert (tmp_path / f"thread.json.v{old}").read_text() == older
    assert json.loads((tmp_path / "thread.json").read_text())["schema_version"] == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["control", "thread.json", f"thread.json.v{old}"]


# --- repair ---


def test_what_can_be_read_is_kept_and_what_can_not_is_written_again() -> None:
    owned = {"/phase/type": "Running", "/phase/data/iteration": "3"}
    lost = TEXT.replace('"Running"', '"Runing"').replace('"abc"', '"theirs"')
    assert CODEC.repair(lost, TEXT, owned) == TEXT.replace('"abc"', '"theirs"')
    for damaged in ("", "\ufeff\n", TEXT[:-3], "[]", TEXT.replace('"id"', '"cost"')):
        assert CODEC.repair(damaged, TEXT, owned) == TEXT


# --- the way to the disk ---


def test_a_named_temporary_is_swept_and_nothing_else(tmp_path: Path) -> None:
    kept = ["thread.json", "thread.json.tmp", "thread.json.0123456x.tmp", "other.json.01234567.tmp", "thread.json.v1"]
    for name in (*kept, "thread.json.01234567.tmp", ".detent-tmp-1-00"):
        (tmp_path / name).touch()
    sweep(str(tmp_path), "thread.json")
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(kept)


def test_a_failed_write_leaves_no_temporary(tmp_path: Path) -> None:
    (tmp_path / "thread.json").mkdir()
    (tmp_path / "thread.json/x").touch()
    with pytest.raises(Exception, match="can't be written"):
        write_atomic(str(tmp_path / "thread.json"), b"{}", durable=True, name="thread.json")
    assert os.listdir(tmp_path) == ["thread.json"]
