"""Kinds of steps of machines whose main file has a YAML head or is JSON, for the laboratory of the phase machine."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from tests.crash.lab import Kind, Lab
from tests.crash.world import FOLDER, TASK, Files

MACHINES = Path(__file__).parents[1] / "data/machines"
HEAD, THREAD = f"{FOLDER}/TASK.md", f"{FOLDER}/thread.json"
NAMES = (
    "new ticket",
    "move and lock a section and files",
    "move of a head",
    "locked section and files restored",
    "new thread",
    "move of JSON",
)


def _new(lab: Lab, machine: Path) -> Kind:
    folder = str(lab.world.top / FOLDER)
    words = ("new", str(machine), "Fix: it", "--in-place", "--id", TASK, "--dir", folder)
    return lab.kind(f"new {machine.stem}", words, lab.kinds["new"].before)


def codec_kinds(lab: Lab) -> Mapping[str, Kind]:
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
