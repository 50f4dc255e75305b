"""Tests of a task's memory: the journal is the truth, the cache beside it only spares reading it."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from detent.core.values import Snapshot
from detent.errors import DamagedJournal, NewerJournal, UnreadableError
from detent.store.disk.atomic import read_cache, write_cache
from detent.store.disk.digest import sha256_of
from detent.store.journal.chain import FORMAT, GENESIS
from detent.store.journal.fold import memory_after
from detent.store.journal.head import head_of
from detent.store.journal.line import to_line
from detent.store.journal.memory import Memory, Promised, snapshot_to_json
from detent.store.journal.places import TaskPlaces, make_task_folder
from detent.store.journal.tasks import TaskStore
from detent.view import content_of
from detent.words.store import journal as say
from tests.lines import made
from tests.messages import message_of

FIRST = Snapshot(state="intake", counters={"runs": 1}, registers={"origin": ""}, visits={"intake": 1})


@pytest.fixture
def store(tmp_path: Path) -> TaskStore:
    places = TaskPlaces("t", str(tmp_path / "t"))
    make_task_folder(places)
    return TaskStore(places)


def begin(store: TaskStore) -> Memory:
    return store.commit(None, made("created", id="t", title="Übung"), FIRST)


def moves(store: TaskStore, memory: Memory, *states: str) -> Memory:
    for state in states:
        content = {"edge": f"to_{state}", "from": memory.snapshot.state, "to": state, "by": "agent", "tree": "abc"}
        memory = store.commit(memory, made("moved", content), memory.snapshot.replace(state=state))
    return memory


def cache_of(store: TaskStore) -> Path:
    return Path(store.places.snapshot())


def test_what_was_committed_is_what_is_loaded(store: TaskStore) -> None:
    memory = moves(store, begin(store), "shape", "implement")
    assert store.load() == memory
    assert memory.snapshot == FIRST.replace(state="implement", seq=3)
    assert (memory.due_seq, memory.head.title) == (3, "Übung")
    store.save_cache(memory)
    assert store.load() == memory
    assert [line.seq for line in store.history()] == [1, 2, 3]


def test_a_state_is_entered_by_moves_alone() -> None:
    """A run that took no move, a resumption, another mode: all change the snapshot, and none enters a state."""
    times = {number: f"2026-01-01T00:00:0{number}Z" for number in range(1, 4)}
    after = snapshot_to_json(FIRST)
    memory = memory_after(None, made("created", seq=1, time=times[1], after=after))
    assert (memory.entered_time, memory.changed_time) == (times[1], times[1])
    memory = memory_after(memory, made("crashed", seq=2, time=times[2], by="crash", after=after))
    assert (memory.entered_time, memory.changed_time) == (times[1], times[2])
    memory = memory_after(memory, made("moved", seq=3, time=times[3], by="engine", after=after))
    assert (memory.entered_time, memory.changed_time) == (times[3], times[3])


def test_loading_writes_nothing(store: TaskStore) -> None:
    memory = begin(store)
    Path(store.journal.path).write_bytes(store.journal.read() + b'{"seq":2,"ki')
    before = {path.name: path.read_bytes() for path in Path(store.places.folder).iterdir() if path.is_file()}
    assert store.load() == memory
    assert before == {path.name: path.read_bytes() for path in Path(store.places.folder).iterdir() if path.is_file()}


def test_a_cache_that_lags_behind_is_brought_up_to_date(store: TaskStore) -> None:
    memory = moves(store, begin(store), "shape")
    store.save_cache(memory)
    later = moves(store, memory, "implement", "verify")
    assert store.load() == later
    cache_of(store).unlink()
    assert store.load() == later


def test_with_cache_only_the_end_of_the_journal_is_read(store: TaskStore) -> None:
    """One transition costs the same however long the history is: what the cache stands for is not read again."""
    memory = moves(store, begin(store), "shape", "implement")
    store.save_cache(memory)
    data = store.journal.read()
    Path(store.journal.path).write_bytes(data.replace(b"intake", b"INTAKE", 1))
    assert store.load() == memory
    with pytest.raises(DamagedJournal, match=re.escape(say.damaged(2, say.chain_broken()))):
        store.history()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"\0" * 100,
        b"[1, 2]",
        b'{"schema": 1}',
        b'"text"',
        b"[" * 100_000,
        b'{"schema": 3, "seq": 9}',
        b"\xff\xfe",
    ],
)
def test_cache_that_cannot_be_read_is_made_again_from_journal(store: TaskStore, content: bytes) -> None:
    memory = moves(store, begin(store), "shape")
    cache_of(store).write_bytes(content)
    assert store.load() == memory
    write_cache(str(cache_of(store)), content)
    assert store.load() == memory


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("schema", 0),
        ("schema", None),
        ("size", "many"),
        ("size", 3),
        ("size", None),
        ("seq", "two"),
        ("seq", 0),
        ("last", 7),
        ("last", [40]),
        ("last", ["40", 1]),
        ("last", [0, 0]),
        ("snapshot", {"state": "done", "colour": "red"}),
        ("snapshot", "done"),
    ],
)
def test_a_cache_of_another_make_is_not_trusted(store: TaskStore, key: str, value: object) -> None:
    memory = moves(store, begin(store), "shape")
    store.save_cache(memory)
    content = json.loads(read_cache(str(cache_of(store))) or b"")
    write_cache(str(cache_of(store)), json.dumps({**content, "changed_time": "a lie", key: value}).encode())
    assert store.load() == memory


def test_a_cache_that_is_whole_is_believed(store: TaskStore) -> None:
    """Else nothing above would show that the spoiled ones are not."""
    store.save_cache(moves(store, begin(store), "shape"))
    content = json.loads(read_cache(str(cache_of(store))) or b"")
    content["snapshot"]["state"] = "told by the cache"
    write_cache(str(cache_of(store)), json.dumps(content).encode())
    assert store.load().snapshot.state == "told by the cache"


@pytest.mark.parametrize("place", [0, 40, -12, -2])
def test_a_torn_cache_is_made_again_from_the_journal(store: TaskStore, place: int) -> None:
    """It is overwritten in place: a crash may leave any mixture of two of them."""
    memory = moves(store, begin(store), "shape")
    store.save_cache(memory)
    data = bytearray(cache_of(store).read_bytes())
    data[place] ^= 1
    cache_of(store).write_bytes(bytes(data))
    assert store.load() == memory
    cache_of(store).write_bytes(bytes(data[:place]))
    assert store.load() == memory


def test_changed_last_line_of_the_same_length_is_an_error(store: TaskStore) -> None:
    memory = moves(store, begin(store), "shape")
    store.save_cache(memory)
    data = store.journal.read()
    Path(store.journal.path).write_bytes(data[:-40] + data[-40:].replace(data[-20:-19], b"x"))
    for reader in (store, TaskStore(store.places)):
        with pytest.raises(DamagedJournal, match=re.escape(say.cut_short(2))):
            reader.load()


def test_store_reads_the_cache_again_when_another_process_saved_one(store: TaskStore) -> None:
    """Else a journal cut back to what this process remembers would not be noticed."""
    memory = moves(store, begin(store), "shape")
    store.save_cache(memory)
    early = store.journal.read()
    other = TaskStore(store.places)
    other.save_cache(moves(other, other.load(), "implement"))
    Path(store.journal.path).write_bytes(early)
    with pytest.raises(DamagedJournal, match=re.escape(say.cut_short(3))):
        store.load()


def test_a_cache_says_only_what_there_is_to_say(store: TaskStore) -> None:
    store.save_cache(moves(store, begin(store), "shape"))
    content = json.loads(read_cache(str(cache_of(store))) or b"")
    assert not {"unsettled", "refusal", "run", "usage"} & content.keys()
    assert {"head", "size", "seq", "snapshot", "last"} <= content.keys()


def test_what_a_cache_leaves_out_comes_back_as_nothing() -> None:
    """What is empty is left out and read back as its default: a default that says something would take its place."""
    assert not any(Memory.__init__.__defaults__ or ())


def test_a_cache_that_is_a_link_is_not_followed(store: TaskStore, tmp_path: Path) -> None:
    memory = begin(store)
    store.save_cache(moves(store, memory, "shape"))
    os.rename(cache_of(store), tmp_path / "elsewhere")
    cache_of(store).symlink_to(tmp_path / "elsewhere")
    assert store.load().snapshot.state == "shape"


def test_a_journal_cut_under_its_cache_is_an_error(store: TaskStore) -> None:
    memory = moves(store, begin(store), "shape")
    early = store.journal.read()
    memory = moves(store, memory, "implement")
    store.save_cache(memory)
    Path(store.journal.path).write_bytes(early)
    with pytest.raises(DamagedJournal, match=re.escape(say.cut_short(3))) as caught:
        store.load()
    assert caught.value.next_step == say.cut_short(3).next_step


def test_journal_that_grew_again_after_a_cut_is_an_error(store: TaskStore) -> None:
    memory = moves(store, begin(store), "shape")
    early = store.journal.read()
    store.save_cache(moves(store, memory, "implement"))
    Path(store.journal.path).write_bytes(early)
    moves(store, memory, "blocked", "verify", "review")
    with pytest.raises(DamagedJournal, match=re.escape(say.cut_short(3))):
        store.load()


def test_a_damaged_line_behind_the_cache_is_named(store: TaskStore) -> None:
    memory = moves(store, begin(store), "shape")
    store.save_cache(memory)
    moves(store, memory, "implement", "verify")
    data = store.journal.read()
    Path(store.journal.path).write_bytes(data.replace(b'"to":"implement"', b'"to":"done"', 1))
    with pytest.raises(DamagedJournal, match=re.escape(say.damaged(4, say.chain_broken()))):
        store.load()


@pytest.mark.parametrize(
    ("content", "code", "reason"),
    [
        ({}, "journal.line_lacks", "'after'"),
        ({"after": "x"}, "journal.line_does_not_fit", "mapping"),
        ({"after": {}}, "journal.line_does_not_fit", "'state'"),
        ({"after": {"state": "a", "colour": "red"}}, "journal.line_does_not_fit", "'colour'"),
    ],
)
def test_a_first_line_that_describes_no_task_is_named(
    store: TaskStore, content: dict[str, Any], code: str, reason: str
) -> None:
    store.journal.append({"seq": 1, "time": "", "kind": "created", **content}, "0" * 64, 0)
    with pytest.raises(DamagedJournal) as caught:
        store.load()
    refusal = message_of(caught.value.what)
    assert (refusal.code, refusal.values["seq"]) == (code, 1)
    assert reason in str(refusal)


def test_a_task_without_a_journal_says_so(store: TaskStore) -> None:
    with pytest.raises(UnreadableError, match=re.escape(say.no_journal())):
        store.load()
    Path(store.journal.path).write_bytes(b"")
    with pytest.raises(UnreadableError, match=re.escape(say.empty())):
        store.load()
    Path(store.journal.path).write_bytes(b'{"seq":1')
    with pytest.raises(UnreadableError, match=re.escape(say.empty())):
        store.load()


def test_a_move_promises_its_effects_and_acting_settles_them(store: TaskStore) -> None:
    memory = begin(store)
    content = {"from": "intake", "to": "shape", "tree": "abc", "effects": ["checkpoint", "notify"]}
    memory = store.commit(memory, made("moved", content), memory.snapshot.replace(state="shape"))
    assert memory.unsettled == {f"2:{name}": Promised(tree="abc", to="shape") for name in ("checkpoint", "notify")}
    memory = store.commit(memory, made("acted", step="2:checkpoint"))
    assert list(memory.unsettled) == ["2:notify"]
    assert memory.due_seq == 3
    assert store.load() == memory


def test_a_refusal_is_remembered_until_the_next_move(store: TaskStore) -> None:
    memory = begin(store)
    refusal = {"want": "done", "by": "agent", "problem": "intake -> done", "missing": []}
    memory = store.commit(memory, made("refused", refusal))
    assert {**content_of(memory.refusal), "time": ""} == {**refusal, "time": ""}
    assert store.load().refusal == memory.refusal
    assert not moves(store, memory, "shape").refusal


def test_an_answer_must_reach_the_native_file(store: TaskStore) -> None:
    memory = store.commit(begin(store), made("answered", by="person", name="Ann", answer="take B"))
    assert (memory.answer.text, memory.answer.name, memory.answer.seq) == ("take B", "Ann", 2)
    assert memory.due_seq == 2
    assert store.load() == memory


def test_what_is_kept_lies_under_its_hash(store: TaskStore) -> None:
    name = store.keep(b"text")
    assert name == sha256_of(b"text") == store.keep(b"text")
    assert (Path(store.places.objects()) / name).read_bytes() == b"text"


def test_the_first_line_names_the_format_of_the_journal(store: TaskStore) -> None:
    memory = moves(store, begin(store), "shape")
    assert [to_line(line).get("format") for line in store.history()] == [FORMAT, None]
    assert memory.head.format == FORMAT == 2


def reformat(store: TaskStore, found: object) -> None:
    """Write the same journal with another format in its first line, as another version would."""
    entries, raws, previous = list(map(to_line, store.history())), [], GENESIS
    for entry in entries:
        change = {"format": found} if entry["seq"] == 1 and found is not None else {}
        kept = {key: value for key, value in entry.items() if key != "format"}
        raws.append(json.dumps({**kept, **change, "prev": previous}, separators=(",", ":")).encode())
        previous = sha256_of(raws[-1])
    Path(store.journal.path).write_bytes(b"".join(raw + b"\n" for raw in raws))


@pytest.mark.parametrize("has_cache", [True, False])
def test_a_newer_journal_is_refused_and_left_alone(store: TaskStore, has_cache: bool) -> None:
    moves(store, begin(store), "shape")
    reformat(store, FORMAT + 1)
    if has_cache:
        size = Path(store.journal.path).stat().st_size
        last = Path(store.journal.path).read_bytes().splitlines()[-1]
        head = head_of({"id": "t", "format": FORMAT + 1})
        store.save_cache(Memory(head, FIRST.replace(seq=2), size, last, 2, "2026-01-01T00:00:00Z"))
    before = {path.name: path.read_bytes() for path in Path(store.places.folder).iterdir() if path.is_file()}
    for ask in (TaskStore(store.places).load, store.history):
        with pytest.raises(NewerJournal, match=re.escape(say.newer(say.newer_format(3, FORMAT)))):
            ask()
    assert {path.name: path.read_bytes() for path in Path(store.places.folder).iterdir() if path.is_file()} == before


@pytest.mark.parametrize("found", [0, -1, "2", True, None])
def test_a_format_is_a_number_or_missing(store: TaskStore, found: object) -> None:
    moves(store, begin(store), "shape")
    reformat(store, found)
    if found is None:
        assert store.load().snapshot.state == "shape"
        return
    with pytest.raises(DamagedJournal, match=re.escape(say.damaged(1, say.format_no_number(found)))):
        store.load()
