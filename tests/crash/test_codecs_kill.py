"""Kills steps of machines whose main file has a YAML head or is JSON, and looks at what is left.

The same laboratory as for the phase machine: killed at any call and repeated, a step must come to the same end, with
locked sections and files put back once and every event told once.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.crash.lab import Kind, Lab
from tests.crash.points import find_points
from tests.crash.world import FOLDER, TASK, Files

MACHINES = Path(__file__).parents[1] / "data/machines"
HEAD = f"{FOLDER}/TASK.md"
_KILLED = -9


def _new(lab: Lab, machine: Path) -> Kind:
    folder = str(lab.world.top / FOLDER)
    words = ("new", str(machine), "Fix: it", "--in-place", "--id", TASK, "--dir", folder)
    return lab.kind(f"new {machine.stem}", words, lab.kinds["new"].before)


@pytest.fixture(scope="module")
def kinds(lab: Lab) -> Mapping[str, Kind]:
    """One ticket from nothing to review, one thread from nothing to its first run."""
    new = _new(lab, MACHINES / "ticket.toml")
    written = _edited(new.after, "---\n\\Z", "---\n\n# It\n\n## Context\n\nwhy\n")
    plan: Files = {f"{FOLDER}/plan": None, f"{FOLDER}/plan/a.json": b"[1]", f"{FOLDER}/NOTES.md": b"## Rules\n\nnone\n"}
    locked = lab.kind("move and lock a section and files", ("move", "working", TASK), {**written, **plan})
    done = _edited(locked.after, "\\Z", "\n## Handoff\n\nDONE: all\n")
    moved = lab.kind("move of a head", ("move", "agent-review", TASK), done)
    cheated = _edited(_edited(done, "## Context\n\nwhy\n\n", ""), "Fix: it", "Fix nothing")
    cheated |= {
        f"{FOLDER}/plan/b.json": b"[2]",
        f"{FOLDER}/NOTES.md": b"## Rules\n\nmine\n",
        f"{FOLDER}/scope.json": b"{}",
    }
    del cheated[f"{FOLDER}/plan/a.json"]
    restored = lab.kind("locked section and files restored", ("move", "agent-review", TASK), cheated)
    timeless = lab.folder / "thread.toml"
    timeless.write_text(re.sub(r"(?m)^updated.*\n", "", (MACHINES / "thread.toml").read_text()))
    thread = _new(lab, timeless)
    running = lab.kind("move of JSON", ("move", "Running", TASK), thread.after)
    return {kind.name: kind for kind in (new, locked, moved, restored, thread, running)}


def _edited(files: Files, old: str, new: str) -> dict[str, bytes | None]:
    text = (files[HEAD] or b"").decode()
    changed = re.sub(old, new, text, count=1)
    assert changed != text, f"{old!r} should stand in {text!r}"
    return {**files, HEAD: changed.encode()}


NAMES = (
    "new ticket",
    "move and lock a section and files",
    "move of a head",
    "locked section and files restored",
    "new thread",
    "move of JSON",
)


@pytest.mark.usefixtures("strace")
@pytest.mark.parametrize("name", NAMES)
def test_a_killed_step_comes_to_the_same_end(lab: Lab, kinds: Mapping[str, Kind], name: str) -> None:
    kind = kinds[name]
    points = find_points(lab, kind).sample(every=15)
    assert len(points) > 10, f"only {len(points)} points were found; is the trace whole?"
    wrong = []
    for call in points:
        lab.world.put(kind.before)
        ended = lab.disturb(kind, call, "signal=KILL")
        assert ended.code == _KILLED, f"{kind.name} was not killed at {call}: {ended}"
        wrong += [f"{call}: {problem}" for problem in lab.problems(kind, is_acknowledged=bool(ended.out))]
    lab.count("kills", kind.name, len(points))
    assert not wrong, "\n".join(wrong[:20])


def test_what_was_locked_is_back_after_the_undisturbed_step(kinds: Mapping[str, Kind]) -> None:
    """Else the test above would compare nothing with nothing."""
    after = kinds["locked section and files restored"].after
    assert b"## Context\n\nwhy\n\n## Handoff" in (after[HEAD] or b"")
    assert b'summary: "Fix: it"\n' in (after[HEAD] or b"")
    assert after[f"{FOLDER}/plan/a.json"] == b"[1]"
    assert after[f"{FOLDER}/NOTES.md"] == b"## Rules\n\nnone\n"
    assert not {f"{FOLDER}/plan/b.json", f"{FOLDER}/scope.json"} & after.keys()


@pytest.mark.usefixtures("strace")
def test_a_synced_document_goes_through_its_own_temporary(lab: Lab, kinds: Mapping[str, Kind]) -> None:
    kind = kinds["move of JSON"]
    lab.world.put(kind.before)
    log = lab.folder / "synced.strace"
    _, calls = lab.record(kind, log, names=("fsync", "rename"))
    told = [re.sub(r".*/", "", call.arguments.partition(",")[0]).strip('">') for call in calls]
    steps = [f"{call.name} {name}" for call, name in zip(calls, told, strict=True)]
    (temporary,) = {name for name in told if re.fullmatch(r"thread\.json\.[0-9a-f]{8}\.tmp", name)}
    at = steps.index(f"fsync {temporary}")
    assert steps[at : at + 3] == [f"fsync {temporary}", f"rename {temporary}", f"fsync {Path(FOLDER).name}"]
