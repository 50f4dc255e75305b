"""Tests of the JSON codec: what it reads, what it refuses, and that it changes its own values alone."""

from __future__ import annotations

import errno
import json
import os
import re
from pathlib import Path

import pytest

from detent.core.values import Snapshot
from detent.errors import StorageError, UnreadableError
from detent.machines.load import load
from detent.runner.make.vocabulary import vocabulary
from detent.store.disk.atomic import sweep, write_atomic
from detent.store.journal.native import Native
from detent.store.journal.places import TaskPlaces, make_task_folder
from detent.store.journal.tasks import TaskStore
from detent.store.text.codecs import CODECS
from detent.view import with_fields
from detent.words.store import disk as disk_words
from detent.words.store import journal as journal_words
from detent.words.store import text as say
from tests.lines import made
from tests.messages import message_of

MACHINE = load("tests/data/machines/thread.toml", vocabulary())[0]
CODEC = CODECS["json_document"](MACHINE)
STATES = tuple(MACHINE.states)
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


def test_label_without_a_slash_is_a_key_at_the_top() -> None:
    codec = CODECS["json_document"](MACHINE.replace(store=with_fields(MACHINE.store, state="phase", only_in={})))
    assert codec.read('{"phase": "Paused"}').state == "Paused"
    assert codec.write('{"phase": "Paused", "a/b": 1}', {"phase": "Done"}) == '{"phase": "Done", "a/b": 1}'
    assert codec.write("{}", {"/a~1b/~0": "x"}) == '{"a/b": {"~": "x"}}'


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[]", say.no_json_object()),
        ("null", say.no_json_object()),
        ('{"phase": {"type": "Done"}, "a": NaN}', say.no_json(ValueError(say.no_json_value("NaN")))),
        ('{"phase": {"type": "Done"}, "phase": {}}', say.no_json(ValueError(say.key_twice("phase")))),
        ('{"phase": {"type": "Done"}, "x": {"a": 1, "a": 1}}', say.no_json(ValueError(say.key_twice("a")))),
        ('{"phase": {"type": "Done"}, "title": "\\ud800"}', say.half_a_character()),
        ('{"phase": {"type": "Done"}, "title": "é \\ud800"}', say.half_a_character()),
        ("{}", say.names_no_state("/phase/type", "null", STATES)),
        ('{"phase": "Done"}', say.names_no_state("/phase/type", "null", STATES)),
        (
            '{"phase": {"type": "done"}}',
            say.names_no_state("/phase/type", '"done"', STATES),
        ),
        (
            '{"phase": {"type": ["Done"]}}',
            say.names_no_state("/phase/type", '["Done"]', STATES),
        ),
        ('{"phase": {"type": 5}}', say.names_no_state("/phase/type", "5", STATES)),
    ],
)
def test_document_that_cannot_be_trusted_is_error_that_says_why(text: str, words: str) -> None:
    with pytest.raises(UnreadableError) as caught:
        CODEC.read(text)
    assert caught.value.what == words


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        ("{", "text.no_json_in_line", 1),
        (TEXT + "x", "text.no_json_in_line", 24),
        ("[" * 100_000, "text.no_json", None),
    ],
)
def test_text_that_is_no_json_names_the_line(text: str, code: str, line: int | None) -> None:
    with pytest.raises(UnreadableError) as caught:
        CODEC.read(text)
    refusal = message_of(caught.value.what)
    assert (refusal.code, refusal.values.get("line")) == (code, line)


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
    with pytest.raises(UnreadableError, match=re.escape(say.json_not_written(ValueError("")))):
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
    refusal = journal_words.newer_version("thread.json", "/schema_version", version, 2)
    assert (caught.value.what, caught.value.next_step) == (refusal, refusal.next_step)
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


def test_readable_values_are_kept_and_others_written_again() -> None:
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
    with pytest.raises(StorageError) as caught:
        write_atomic(str(tmp_path / "thread.json"), b"{}", durable=True, name="thread.json")
    reason = disk_words.reason(errno.EISDIR, "")
    assert caught.value.what == disk_words.disk_refused(
        disk_words.file_not_written(), reason, disk_words.make_path_writable()
    )
    assert os.listdir(tmp_path) == ["thread.json"]
