"""Agents that a project described for itself, beside the specialists of the harness: prompts point to them.

A run writes them beside the task's documents (`project_agents`), because files in the folder of the harness steer the
person's editor and are protected; a person may put one there too. An agent file is as a rule another agent's text: a
prompt names it and quotes its description on one line, and only in states that write code, never to a role that judges
the work.
"""

from __future__ import annotations

import os
import re

from detent.errors import UnreadableError
from detent.store.disk.atomic import read_text
from detent.words.names import on_one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from detent.core.machine import State
    from detent.gates.seen import Seen
    from detent.runner.task.open import Task

_LARGEST_BYTES = 100_000
_MOST = 20
_LONGEST = 160  # characters of a description
_DESCRIPTION = re.compile(r"^description:[ \t]*(['\"]?)(.+?)\1[ \t]*$", re.MULTILINE)


def project_agents(task: Task, state: State, _seen: Seen) -> str:
    """The part of a prompt that names them; empty where the state has no use for them, or there are none."""
    harness = task.machine.store.harness
    if state.name not in harness.project_agents_in:
        return ""
    known = tuple(harness.specialists)
    places = (harness.agents, harness.project_agents)
    found = [path for place in places for path in _files(task, place, known)]
    if not found:
        return ""
    # A name is another agent's text too: it must not begin a line of the prompt.
    shown = [f"- `{on_one_line(path)}`: {_description(os.path.join(task.tree_path, path))}" for path in found[:_MOST]]
    more = [f"- and {len(found) - _MOST} more in the same folder"] if len(found) > _MOST else []
    advice = "Read the file of each role that your work touches, and keep to it. It adds to this prompt."
    return "\n".join(("## Agents of this project", advice, *shown, *more))


def _files(task: Task, pattern: str, known: tuple[str, ...]) -> Iterator[str]:
    """The path of each agent file that the harness did not write."""
    folder, _, shape = pattern.rpartition("/")
    before, _, after = shape.partition("{name}")
    top = os.path.join(task.tree_path, folder)
    if os.path.realpath(top) != os.path.join(os.path.realpath(task.tree_path), folder) or not os.path.isdir(top):
        return
    for file in sorted(os.listdir(top)):
        name = file.removeprefix(before).removesuffix(after)
        if file == f"{before}{name}{after}" and name not in known:
            yield f"{folder}/{file}"


def _description(path: str) -> str:
    """The description in the head of an agent file, on one line."""
    try:
        text = read_text(path, _LARGEST_BYTES) or ""
    except UnreadableError:
        return "(it can't be read)"
    head = text.partition("\n---")[0] if text.startswith("---") else ""
    match = _DESCRIPTION.search(head)
    return " ".join(match[2].split())[:_LONGEST] if match else "(its head has no description)"
