"""The drop folder: requests as files, for agents whose own sandbox lets them write nothing else.

A request is `NAME.json` with `{"move": "STATE"}` or `{"verb": "VERB"}`; the reply is `NAME.reply.json`, the same object
that `detent move --json` prints. To `{"title": "WORDS"}` the reply is `{"file": NAME, "text": TEXT}`, for the run to
write. What can't be read gets a reply that says so. A request is answered once: its reply is what shows it.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress

from detent.errors import DetentError, StorageError, UnreadableError
from detent.runner.run.claims import claim
from detent.store.disk.atomic import as_json, read_plain, write_atomic
from detent.words.runner import run as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from detent.runner.step.step import Outcome
    from detent.runner.task.open import Task

REQUEST, REPLY = ".json", ".reply.json"
_LARGEST_REQUEST_BYTES = 64_000
_MOST_REQUESTS = 100  # read in one go; a flood is left for the next scan
_MOST_NAMES = 10_000  # in the folder; with more nothing is answered


def drop_folder(task: Task) -> str:
    return task.run_folders()["DETENT_DROP"]


def answer_drops(task: Task, words: Callable[[Outcome], Mapping[str, Any]], folder: str = "") -> tuple[Outcome, ...]:
    """Answer every request of the living run that has no reply yet; `words` makes the reply of an outcome.

    A caller that scans often passes the `folder`.
    """
    folder = folder or drop_folder(task)
    names = _names(folder)
    open_ones = [name for name in names if name.endswith(REQUEST) and not name.endswith(REPLY)]
    answered = {name.removesuffix(REPLY) for name in names if name.endswith(REPLY)}
    outcomes: list[Outcome] = []
    for name in [name for name in open_ones if name.removesuffix(REQUEST) not in answered][:_MOST_REQUESTS]:
        reply, outcome = _answer(task, os.path.join(folder, name), words)
        if outcome is not None:
            outcomes.append(outcome)
        path = os.path.join(folder, name.removesuffix(REQUEST) + REPLY)
        # The folder is the agent's: one that takes no reply is its own loss, and does not stop the driving.
        with suppress(StorageError):
            write_atomic(path, as_json(reply) + b"\n", durable=False)
    return tuple(outcomes)


def _names(folder: str) -> list[str]:
    """What lies there, sorted. A folder that a run has filled is not looked through again and again: its own loss."""
    found: list[str] = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                found.append(entry.name)
                if len(found) > _MOST_NAMES:
                    return []
    except OSError:
        return []
    return sorted(found)


def _answer(
    task: Task, path: str, words: Callable[[Outcome], Mapping[str, Any]]
) -> tuple[Mapping[str, Any], Outcome | None]:
    try:
        request = json.loads(read_plain(path, _LARGEST_REQUEST_BYTES) or b"")
    except (UnreadableError, ValueError, RecursionError):
        request = None
    fields = request if isinstance(request, dict) else {}
    if isinstance(title := fields.get("title"), str):
        return _retitled(task, title), None
    want, verb = fields.get("move", ""), fields.get("verb", "")
    if not ({"move", "verb"} & fields.keys() and isinstance(want, str) and isinstance(verb, str)):
        return {"error": say.no_request()}, None
    try:
        outcome = claim(task, task.memory.run.run, want, verb=verb)
    except DetentError as error:
        return {"error": error.what, "next": error.next_step}, None
    return words(outcome), outcome


def _retitled(task: Task, title: str) -> Mapping[str, Any]:
    from detent.runner.run.retitle import retitled_text  # few runs ask for it

    try:
        return {"file": task.native.file, "text": retitled_text(task, task.memory.run.run, title)}
    except DetentError as error:
        return {"error": error.what, "next": error.next_step}


def ask_by_drop(folder: str, request: Mapping[str, str], wait_s: float) -> Mapping[str, Any] | None:
    """Put a request down and wait for its reply; None when there is no answer in time. Called from inside a run."""
    import time

    if not os.path.isdir(folder):
        return None
    name = f"move-{os.getpid()}-{os.urandom(4).hex()}"
    path = os.path.join(folder, name)
    write_atomic(path + REQUEST, json.dumps(request).encode(), durable=False)
    until = time.monotonic() + wait_s
    while time.monotonic() < until:
        if data := read_plain(path + REPLY):
            reply: Mapping[str, Any] = json.loads(data)
            return reply
        time.sleep(0.05)
    return None
