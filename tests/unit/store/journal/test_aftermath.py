"""Tests of what counts after the computer stopped: the native file, or the text its journal line carries."""

from __future__ import annotations

import calendar
import os
import re
import time
from pathlib import Path
from typing import Any

import pytest

from detent.core.values import Snapshot
from detent.errors import UnreadableError
from detent.machines.load import load
from detent.runner.make.vocabulary import vocabulary
from detent.store.disk.boot import boot_id
from detent.store.disk.digest import sha256_of
from detent.store.journal.aftermath import LARGEST_CARRIED_CHARACTERS, carried, text_after_stop
from detent.store.journal.fold import compose
from detent.store.journal.line import carrying
from detent.store.journal.native import Native
from detent.store.journal.places import TaskPlaces, make_task_folder
from detent.store.journal.tasks import TaskStore
from detent.words.store import journal as say
from tests.lines import made

MACHINE = load("phase", vocabulary())[0]
FIRST = "# A task\n\nPhase: intake\nObjective: o\n\nwords of a person\n"
SECOND = FIRST.replace("intake", "shape")
THIRD = SECOND.replace("shape", "implement") + "\nmore words\n"
EARLY, LATE = -5, 5  # seconds from the last line


class World:
    """A task whose journal led from FIRST to SECOND to THIRD, with the file as a disk may show it afterwards."""

    def __init__(self, base: Path) -> None:
        self.folder = base / "task"
        self.folder.mkdir()
        self.file = self.folder / "STATE.md"
        places = TaskPlaces("t", str(base / "control"))
        make_task_folder(places)
        self.marks = Path(places.projected())
        self.store = TaskStore(places)
        self.native = Native(MACHINE, str(self.folder), places)
        self.memory = self.store.commit(None, made("created", id="t"), Snapshot(state="intake"))
        self.line("shape", carried(FIRST, SECOND))
        self.line("implement", carried(SECOND, THIRD))

    def line(self, state: str, native: dict[str, str]) -> None:
        line = compose(self.memory, made("moved", to=state), Snapshot(state=state))
        self.memory = self.store.append(self.memory, carrying(line, native))

    def show(self, data: bytes, seconds: int = EARLY) -> Any:
        """What counts when the file holds these bytes, written so long after the last line; None: the file itself."""
        self.file.write_bytes(data)
        line_s = calendar.timegm(time.strptime(self.memory.native.time, "%Y-%m-%dT%H:%M:%SZ"))
        os.utime(self.file, (line_s + seconds, line_s + seconds))
        self.native.look_again()
        return text_after_stop(self.native, self.store, self.memory)


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


@pytest.mark.parametrize("seconds", [EARLY, LATE])
def test_file_that_is_what_the_last_line_says_counts_itself(world: World, seconds: int) -> None:
    assert world.show(THIRD.encode(), seconds) is None


@pytest.mark.parametrize("seconds", [EARLY, LATE])
@pytest.mark.parametrize(
    "data",
    [
        b"",
        bytes(len(THIRD)),
        THIRD.encode()[:30],
        SECOND.encode()[:30],
        bytes(20) + THIRD.encode()[20:],
        THIRD.encode()[:20] + bytes(20),
    ],
    ids=["empty", "zeros", "half", "half of the line before", "zeros first", "zeros last"],
)
def test_a_torn_file_is_replaced_whenever_it_was_written(world: World, data: bytes, seconds: int) -> None:
    document = world.show(data, seconds)
    assert (document.text, document.state, document.is_stale, document.found) == (THIRD, "implement", True, b"")


@pytest.mark.parametrize("text", [FIRST, SECOND], ids=["before the first line", "between the lines"])
def test_older_text_that_journal_knows_is_replaced_without_a_word(world: World, text: str) -> None:
    document = world.show(text.encode())
    assert (document.text, document.is_stale, document.found) == (THIRD, True, b"")


def test_an_unknown_older_text_is_replaced_and_returned(world: World) -> None:
    older = SECOND.replace("words", "half-finished words").encode()
    document = world.show(older)
    assert (document.text, document.is_stale, document.found) == (THIRD, True, older)


@pytest.mark.parametrize("text", [SECOND, THIRD.replace("implement", "done")], ids=["old copy", "request"])
def test_what_was_written_after_the_line_counts(world: World, text: str) -> None:
    assert world.show(text.encode(), LATE) is None


def test_within_the_second_of_the_line_nothing_is_later(world: World) -> None:
    assert world.show(b"Phase: done\n", 0).text == THIRD
    assert world.show(b"Phase: done\n", 1) is None


def test_as_long_as_the_computer_runs_the_file_counts(world: World) -> None:
    world.marks.write_text(f'{{"seq": 3, "boot": "{boot_id()}"}}\n', encoding="utf-8")
    assert world.show(SECOND.encode()) is None
    world.marks.write_text('{"seq": 3, "boot": "another"}\n', encoding="utf-8")
    assert world.show(SECOND.encode()).text == THIRD


def test_a_file_that_was_synced_counts(world: World) -> None:
    world.line("verify", {})
    assert not world.memory.native
    world.file.write_bytes(SECOND.encode())
    assert text_after_stop(world.native, world.store, world.memory) is None


def test_a_missing_file_raises_and_a_linked_folder_is_refused(world: World) -> None:
    world.native.look_again()
    assert text_after_stop(world.native, world.store, world.memory) is None
    real = world.folder.with_name("real")
    world.folder.rename(real)
    world.folder.symlink_to(real)
    with pytest.raises(UnreadableError, match=re.escape(say.task_folder_is_link())):
        text_after_stop(world.native, world.store, world.memory)


def test_a_line_carries_a_text_up_to_a_size() -> None:
    assert carried("a", "b") == {"was": sha256_of(b"a"), "text": "b"}
    assert carried("", "x" * LARGEST_CARRIED_CHARACTERS)
    assert carried("", "x" * (LARGEST_CARRIED_CHARACTERS + 1)) == {}
