"""Plays every lie through every tool that can be installed, prints the table, and writes it for the documentation."""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from bench import host
from bench.environments import Unavailable, make_ground, peer_environment
from bench.liars import table
from bench.liars.lies import ALL
from bench.liars.stage import Stage
from bench.liars.tools import bernstein, detent, loop, orkestra, ralphy, speckit, takt
from bench.liars.tools.tool import DEFAULT, STRICT, Tool
from bench.liars.verdict import Row, judge

ROOT = Path(__file__).resolve().parent.parent.parent
TOOLS = (
    *detent.TOOL_OF.values(),
    bernstein.TOOL,
    orkestra.TOOL,
    speckit.TOOL,
    takt.TOOL,
    ralphy.TOOL,
    loop.TOOL,
)


def main(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="make bench-liars", description=__doc__)
    parser.add_argument("--tool", metavar="NAME", nargs="+", default=[], help="only these, e.g. --tool detent loop")
    parser.add_argument("--lie", metavar="KEY", nargs="+", default=[], choices=[lie.key for lie in ALL])
    parser.add_argument("--settings", choices=(DEFAULT, STRICT), help="only these")
    parser.add_argument("--json", metavar="FILE", type=Path, help="also write everything here")
    parser.add_argument("--markdown", metavar="FILE", type=Path, help="also write the table for the documentation here")
    given = parser.parse_args(words)
    ground = make_ground(ROOT)
    python = peer_environment(ROOT, ground, "work", may_install=True) / "python"
    wanted = [tool for tool in TOOLS if not given.tool or any(name in tool.name.lower() for name in given.tool)]
    lies = [lie.key for lie in ALL if not given.lie or lie.key in given.lie]
    started = time.monotonic()
    places, missing = _install(wanted, ground)
    rows: list[Row] = []
    for tool in wanted:
        if tool.name in places:
            rows += _play(tool, places[tool.name], lies, ground, python, given.settings)
    about = host.describe(ground) | {"took": f"{time.monotonic() - started:.0f} s"}
    versions = {tool.name: tool.version(places[tool.name]) for tool in wanted if tool.name in places}
    print(table.text(rows, missing))
    if given.json:
        kept = {"about": about, "versions": versions, "missing": missing, "rows": [row._asdict() for row in rows]}
        given.json.write_text(json.dumps(kept, indent=2) + "\n", encoding="utf-8")
    if given.markdown:
        given.markdown.write_text(table.markdown(rows) + "\n", encoding="utf-8")
    return 0


def _install(tools: Sequence[Tool], ground: Path) -> tuple[dict[str, Path], dict[str, str]]:
    places: dict[str, Path] = {}
    missing: dict[str, str] = {}
    for tool in tools:
        _say(f"{tool.name}: environment")
        try:
            places[tool.name] = tool.install(ROOT, ground)
        except Unavailable as why:
            missing[tool.name] = str(why)
    return places, missing


def _play(tool: Tool, place: Path, lies: Sequence[str], ground: Path, python: Path, only: str | None) -> Iterator[Row]:
    for settings, _ in tool.settings:
        if only and settings != only:
            continue
        for lie in lies:
            name = re.sub(r"[^a-z_]+", "-", f"{tool.name} {settings} {lie}".lower())
            stage = Stage(ground / "liars" / name, lie, place, python)
            row = _judged(tool, stage, settings)
            _say(f"{tool.name}, {settings}: {lie}: {row.word} {row.why} ({row.seconds:.0f} s)")
            if row.word != "failed":  # what could not be played is kept to be looked at
                shutil.rmtree(stage.folder, ignore_errors=True)
            yield row


def _judged(tool: Tool, stage: Stage, settings: str) -> Row:
    try:
        return judge(tool.name, settings, stage.lie, tool.play(stage, settings), stage.python)
    except (OSError, ValueError, LookupError, subprocess.SubprocessError) as error:
        # One game that can't be played must not cost the others; the table shows the hole.
        return Row(tool.name, settings, stage.lie, "failed", f"{type(error).__name__}: {error}")


def _say(what: str) -> None:
    print(f"liars: {what}", file=sys.stderr, flush=True)
