"""Whatever is cut, spoiled or half written, a task's memory is what its journal says, or an error that names a line."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from detent.core.values import Snapshot
from detent.errors import DamagedJournal, UnreadableError
from detent.store.journal.memory import Memory
from detent.store.journal.places import TaskPlaces, make_task_folder
from detent.store.journal.tasks import TaskStore
from tests.lines import made

EXAMPLES = settings(max_examples=max(150, settings().max_examples // 10))
TEXTS = st.text(st.characters(codec=None), max_size=20)

LINES = st.one_of(
    st.tuples(st.just("moved"), st.fixed_dictionaries({"to": TEXTS, "effects": st.lists(TEXTS, max_size=2)})),
    st.tuples(st.just("refused"), st.fixed_dictionaries({"want": TEXTS, "problem": TEXTS})),
    st.tuples(st.just("answered"), st.fixed_dictionaries({"answer": TEXTS, "name": TEXTS})),
    st.tuples(st.just("acted"), st.fixed_dictionaries({"step": TEXTS})),
)


class Story:
    """A task whose memory after each line is known."""

    def __init__(self, folder: str, lines: list[tuple[str, dict[str, Any]]]) -> None:
        places = TaskPlaces("t", folder)
        make_task_folder(places)
        self.store = TaskStore(places)
        self.memories = [self.store.commit(None, made("created", id="t"), Snapshot(state="start"))]
        for kind, content in lines:
            memory = self.memories[-1]
            after = memory.snapshot.replace(state=content["to"]) if kind == "moved" else None
            full = {"tree": "", "by": "agent", "missing": [], **content}
            self.memories.append(self.store.commit(memory, made(kind, full), after))

    @property
    def journal(self) -> Path:
        return Path(self.store.journal.path)

    def load(self) -> Memory:
        return TaskStore(self.store.places).load()


@given(st.lists(LINES, max_size=6), st.data())
@EXAMPLES
def test_any_cache_and_any_torn_tail_give_the_same_memory(
    lines: list[tuple[str, dict[str, Any]]], data: st.DataObject
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        story = Story(folder, lines)
        cached = data.draw(st.none() | st.sampled_from(story.memories), "cached")
        if cached is not None:
            story.store.save_cache(cached)
        torn = data.draw(st.binary(max_size=20), "torn").replace(b"\n", b"")
        whole = story.journal.read_bytes()
        story.journal.write_bytes(whole + torn)
        assert story.load() == story.memories[-1]
        memory = story.store.commit(story.load(), made("answered", answer="x", name="y"))
        assert story.load() == memory
        assert story.journal.read_bytes().startswith(whole)


@given(st.lists(LINES, max_size=5), st.data())
@EXAMPLES
def test_a_shorter_journal_is_an_earlier_memory_or_an_error(
    lines: list[tuple[str, dict[str, Any]]], data: st.DataObject
) -> None:
    """Without a cache a cut can't be told from a task that did less; with one that is ahead, it is an error."""
    with tempfile.TemporaryDirectory() as folder:
        story = Story(folder, lines)
        whole = story.journal.read_bytes()
        cut = data.draw(st.integers(0, len(whole)), "cut")
        cached = data.draw(st.none() | st.sampled_from(story.memories), "cached")
        if cached is not None:
            story.store.save_cache(cached)
        story.journal.write_bytes(whole[:cut])
        left = whole[:cut].count(b"\n")
        if cached is not None and cached.size > cut:
            expected: Memory | type[UnreadableError] = DamagedJournal
        else:
            expected = story.memories[left - 1] if left else UnreadableError
        if isinstance(expected, Memory):
            assert story.load() == expected
        else:
            try:
                found = story.load()
            except expected:
                return
            raise AssertionError(f"no error, but {found}")


@given(st.lists(LINES, min_size=1, max_size=5), st.data())
@EXAMPLES
def test_a_changed_byte_is_never_believed(lines: list[tuple[str, dict[str, Any]]], data: st.DataObject) -> None:
    """Every line but the last is held by the hash in the one after it."""
    with tempfile.TemporaryDirectory() as folder:
        story = Story(folder, lines)
        whole = bytearray(story.journal.read_bytes())
        place = data.draw(st.integers(0, whole.rstrip(b"\n").rfind(b"\n")), "place")
        whole[place] ^= data.draw(st.integers(1, 255), "flip")
        story.journal.write_bytes(bytes(whole))
        try:
            story.load()
        except DamagedJournal as error:
            number = int(re.findall(r"line (\d+)", error.what)[0])
            assert 1 <= number <= len(lines) + 2
        else:
            raise AssertionError("a changed line was believed")
