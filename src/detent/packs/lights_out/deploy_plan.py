"""The deploy commands of a project, as its preferences name them: one labelled list item each.

    ## Deploy Commands
    - Pre-flight: `ssh -o BatchMode=yes host true`
    - Deploy: `./deploy.sh`
    - Check: `curl -fsS https://example.org/`
    - Rollback: `./deploy.sh --previous`
    - Persistence: `./check-data.sh`

The last one is for what keeps data. A plan with a part missing, double or empty is none.
"""

from __future__ import annotations

import json
import re

from detent.core.record import Record
from detent.packs.lights_out.words import deploying as say
from detent.store.disk.digest import sha256_of
from detent.store.text.markdown import find_section, is_placeholder, scan

SECTION = "Deploy Commands"
PRE_FLIGHT, DEPLOY, CHECK, ROLLBACK, PERSISTENCE = "Pre-flight", "Deploy", "Check", "Rollback", "Persistence"
NEEDED = (PRE_FLIGHT, DEPLOY, CHECK, ROLLBACK)
RUN_IN_TURN = (PRE_FLIGHT, DEPLOY, CHECK, PERSISTENCE)  # a rollback is only ever asked for, by a person
EXAMPLE = f'"## {SECTION}" with "- {PRE_FLIGHT}: `command`", and the same for {DEPLOY}, {CHECK} and {ROLLBACK}'
OUTPUTS = "Deploy Outputs"
_OUTPUT = re.compile(r"(?:[-*+]|\d+[.)])\s+`(?P<path>[^`]+)`.*")
_ITEM = re.compile(r"(?:[-*+]|\d+[.)])\s+\**(?P<label>[A-Za-z][A-Za-z -]*?)\**\s*:\**\s*(?P<line>.+?)\s*$")


class Plan(Record):
    commands: tuple[tuple[str, str], ...]  # label and command line, in the order in which they are run

    @property
    def digest(self) -> str:
        """What a person's word about these very commands is bound to."""
        return sha256_of(json.dumps(self.commands).encode())

    def pairs(self) -> list[list[str]]:
        """The commands as a journal line names them."""
        return [list(pair) for pair in self.commands]

    def line(self, label: str) -> str:
        return dict(self.commands).get(label, "")


def read_plan(text: str) -> tuple[Plan | None, str]:
    """The plan a text names, or why it names none."""
    section = find_section(text, SECTION)
    if section is None:
        return None, say.no_section(SECTION)
    labels = {label.casefold(): label for label in (*RUN_IN_TURN, ROLLBACK)}
    found: dict[str, str] = {}
    body = text[section.body_start : section.end]
    for row in scan(body):
        match = _ITEM.fullmatch(body[row.start : row.end].strip()) if row.kind == "text" and row.depth == 1 else None
        label = labels.get(_section_name(match["label"])) if match else None
        if match is None or label is None:
            continue
        if label in found:
            return None, say.named_twice(SECTION, label)
        found[label] = _command(match["line"])
    if missing := [label for label in NEEDED if is_placeholder(found.get(label, ""))]:
        return None, say.command_missing(SECTION, missing)
    ordered = (*RUN_IN_TURN, ROLLBACK)
    return Plan(tuple((label, found[label]) for label in ordered if found.get(label))), ""


def read_outputs(text: str) -> tuple[str, ...]:
    """The paths under "## Deploy Outputs", one list item each: `dist/` for a folder, `site.tar` for a file."""
    section = find_section(text, OUTPUTS)
    body = text[section.body_start : section.end] if section else ""
    found: list[str] = []
    for row in scan(body):
        match = _OUTPUT.fullmatch(body[row.start : row.end].strip()) if row.kind == "text" and row.depth == 1 else None
        path = match["path"].removeprefix("./") if match else ""
        if path and not path.startswith("/") and {"", ".", ".."}.isdisjoint(path.rstrip("/").split("/")):
            found.append(path)
    return tuple(dict.fromkeys(found))


def _section_name(label: str) -> str:
    name = label.strip().casefold().replace(" ", "-")
    return "pre-flight" if name == "preflight" else name


def _command(line: str) -> str:
    """The command itself: what stands between backticks, else the line."""
    match = re.fullmatch(r"(`+)\s?(.+?)\s?\1", line)
    return match[2] if match else line
