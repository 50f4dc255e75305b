"""Types of journal lines: what is read is written again, byte for byte, and each kind is one type."""

from __future__ import annotations

import json
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from detent.store.disk.atomic import as_json
from detent.store.journal.events import KINDS, Moved, Restored, from_line
from detent.store.journal.line import required, to_line
from detent.store.journal.run_events import ABOUT_RUNS, Claimed, RunVoid
from detent.view import with_fields

JOURNALS = Path(__file__).parents[3] / "data" / "journals"
# Kinds that the recorded tasks have no line of: what they do goes well, and nothing of it is changed later.
ADDED: dict[str, dict[str, object]] = {
    "adopted": {},
    "refused": {"want": "done", "by": "agent", "name": "a", "from": "work", "problem": "no", "missing": []},
    "restored": {"file": "STATE.md", "why": "it was changed", "kept": ""},
    "landed": {"by": "person", "name": "a", "how": "merge", "commit": "c", "branch": "main", "tree": "t"},
    "collected": {"by": "person", "name": "a", "branches": [], "kept": []},
    "restored_tree": {"by": "person", "name": "a", "checkpoint": 3, "tree": "t", "kept": "c"},
    "crashed": {"by": "crash", "exit": "failed", "why": ""},
    "answered": {"by": "person", "name": "a", "answer": "yes"},
    "resumed": {"by": "person", "name": "a", "reason": "r", "answer": "r"},
    "amended": {"by": "person", "name": "a", "reason": "r", "fields": ["Plan"], "was": {}},
    "run_void": {"run": 1, "why": "it could not start"},
    "unmoved": {"run": 1, "exit": "finished", "progress": False, "why": "", "closed": ""},
    "driven": {"on": True, "by": "person", "name": "a", "reason": ""},
    "stopped": {"by": "engine", "why": "runs"},
    "retitled": {"run": 1, "by": "agent", "name": "a", "title": "t"},
    "approved": {"by": "person", "name": "a", "reason": "r", "tree": "t", "files": {}},
    "unprepared": {"step": "3:baseline", "edge": "go", "why": "no"},
    "configured": {},
    "filed": {"tree": "t", "files": {}, "refused": []},
    "set_up": {"how": "shared", "why": "", "key": "k", "left_out": [], "changed": []},
}


def recorded() -> Iterator[bytes]:
    """Every line of the recorded journals, of both formats and all machines."""
    archives = sorted(JOURNALS.rglob("*.tar.gz"))
    assert len(archives) == 10
    for archive in archives:
        with tarfile.open(archive) as packed:
            for member in packed.getmembers():
                if member.name.endswith("/journal.jsonl") and (file := packed.extractfile(member)):
                    yield from file.read().splitlines()


def test_every_recorded_line_is_written_again_as_it_was() -> None:
    seen = set()
    for raw in recorded():
        line = from_line(json.loads(raw))
        seen.add(line.kind)
        assert as_json(to_line(line)) == raw
    assert seen | ADDED.keys() == KINDS.keys()


def test_recorded_lines_have_exactly_the_fields_of_their_type() -> None:
    added = {"seq", "time", "kind", "format", "us", "after", "native", "prev"}
    for raw in recorded():
        said = json.loads(raw)
        kind = KINDS[said["kind"]]
        names = {name.removesuffix("_") for name in kind._fields}
        assert set(required(kind)) <= said.keys() <= names | added, said["kind"]
        assert kind.is_state == ("after" in said)


@pytest.mark.parametrize("kind", [kind for kind, said in ADDED.items() if said])
def test_line_that_no_recorded_task_has_is_written_again_too(kind: str) -> None:
    said = {"seq": 9, "time": "2026-01-02T03:04:05Z", "kind": kind, **ADDED[kind], "prev": "0"}
    assert set(required(KINDS[kind])) <= said.keys()
    assert as_json(to_line(from_line(dict(said)))) == as_json(said)


def test_a_line_says_what_it_is_given_in_that_order() -> None:
    line = Restored(why="it was changed", file="STATE.md", kept="")
    assert list(to_line(line).items()) == [("why", "it was changed"), ("file", "STATE.md"), ("kept", "")]
    assert (line.kind, line.file) == ("restored", "STATE.md")
    assert line == Restored(why="it was changed", file="STATE.md", kept="")
    assert line != RunVoid(run=1, why="it was changed")


def test_default_field_is_left_out_and_read_back() -> None:
    line = Claimed(
        run=1, want="go", by="agent", name="a", reason="", from_="work", accepted=True, to="over", problem=None
    )
    assert list(to_line(line)) == ["run", "want", "by", "name", "reason", "from", "accepted", "to"]
    assert (line.from_, line.problem, line.to) == ("work", None, "over")
    assert to_line(with_fields(line, to="", problem="no")) == {**to_line(line), "to": "", "problem": "no"}
    assert line.to == "over"


def test_missing_field_is_an_error_only_on_access() -> None:
    line = from_line({"seq": 2, "kind": "moved", "from": "work"})
    assert isinstance(line, Moved)
    assert (line.from_, line.fields, line.led) == ("work", {}, "")
    with pytest.raises(KeyError, match="tree"):
        assert line.tree


def test_line_with_missing_or_unknown_fields_cannot_be_made() -> None:
    with pytest.raises(TypeError, match="a run_void line needs why"):
        RunVoid(run=1)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="a run_void line has no field because"):
        RunVoid(run=1, why="", because="")  # type: ignore[call-arg]
    with pytest.raises(AttributeError, match="immutable"):
        RunVoid(run=1, why="").why = "other"  # type: ignore[misc]


def test_key_of_a_line_does_not_hide_its_type() -> None:
    line = from_line({"seq": 2, "kind": "run_void", "run": 1, "why": "", "is_state": True})
    assert type(line).is_state is False


def test_every_type_has_one_kind_and_every_kind_one_type() -> None:
    assert all(kind.kind == name for name, kind in KINDS.items())
    assert len(set(KINDS.values())) == len(KINDS)
    assert set(ABOUT_RUNS) <= set(KINDS.values())


def test_an_unknown_kind_is_no_line() -> None:
    with pytest.raises(KeyError):
        from_line({"seq": 2, "kind": "from_the_future"})
