"""Kills steps of machines whose main file has a YAML head or is JSON, and looks at what is left.

The same laboratory as for the phase machine: killed at any call and repeated, a step must come to the same end, with
locked sections and files put back once and every event told once.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.crash.codec_kinds import HEAD, NAMES
from tests.crash.lab import Kind, Lab
from tests.crash.points import find_points
from tests.crash.world import FOLDER


@pytest.mark.usefixtures("strace")
@pytest.mark.parametrize("name", NAMES)
def test_a_killed_step_comes_to_the_same_end(lab: Lab, codec_kinds: Mapping[str, Kind], name: str) -> None:
    kind = codec_kinds[name]
    points = find_points(lab, kind).sample(every=48)
    assert len(points) > 10, f"only {len(points)} points were found; is the trace whole?"
    wrong = []
    for call in points:
        ended = lab.kill(kind, call)
        wrong += [f"{call}: {problem}" for problem in lab.problems(kind, is_acknowledged=bool(ended.out))]
    lab.count("kills", kind.name, len(points))
    assert not wrong, "\n".join(wrong[:20])


def test_what_was_locked_is_back_after_the_undisturbed_step(codec_kinds: Mapping[str, Kind]) -> None:
    """Else the test above would compare nothing with nothing."""
    after = codec_kinds["locked section and files restored"].after
    assert b"## Context\n\nwhy\n\n## Handoff" in (after[HEAD] or b"")
    assert b'summary: "Fix: it"\n' in (after[HEAD] or b"")
    assert after[f"{FOLDER}/plan/a.json"] == b"[1]"
    assert after[f"{FOLDER}/NOTES.md"] == b"## Rules\n\nnone\n"
    assert not {f"{FOLDER}/plan/b.json", f"{FOLDER}/scope.json"} & after.keys()


@pytest.mark.usefixtures("strace")
def test_a_synced_document_goes_through_its_own_temporary(lab: Lab, codec_kinds: Mapping[str, Kind]) -> None:
    kind = codec_kinds["move of JSON"]
    lab.world.put(kind.before)
    log = lab.folder / "synced.strace"
    _, calls = lab.record(kind, log, names=("fsync", "rename"))
    names = [re.sub(r".*/", "", call.arguments.partition(",")[0]).strip('">') for call in calls]
    steps = [f"{call.name} {name}" for call, name in zip(calls, names, strict=True)]
    (temporary,) = {name for name in names if re.fullmatch(r"thread\.json\.[0-9a-f]{8}\.tmp", name)}
    at = steps.index(f"fsync {temporary}")
    assert steps[at : at + 3] == [f"fsync {temporary}", f"rename {temporary}", f"fsync {Path(FOLDER).name}"]
