"""Asks for something by running our own command line beside the dashboard, and waits for its answer.

Not in this process: the request may run proof commands, and a process that runs those may start nothing else meanwhile
(effects/host/process.py), while the supervisor here does. A request continues when the dashboard is closed.
"""

from __future__ import annotations

import asyncio
import os
import tempfile

from detent.core.record import Record
from detent.effects.host.children import Children
from detent.faces.words.screen import printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

LONGEST_ANSWER_BYTES = 1_000_000


class Answer(Record):
    """What a command came to."""

    code: int
    text: str
    is_cut: bool = False


async def ask(words: Sequence[str]) -> Answer:
    """Run `detent WORDS` to its end; a cancelled caller leaves it alone."""
    descriptor, log = tempfile.mkstemp(prefix="detent-tui-")
    try:
        children = Children()
        children.start("", words, log)
        (handle,) = children.handles()
        loop, has_ended = asyncio.get_running_loop(), asyncio.Event()
        loop.add_reader(handle, has_ended.set)
        try:
            await has_ended.wait()
        finally:
            loop.remove_reader(handle)
        (child,) = children.ended()
        data = os.pread(descriptor, LONGEST_ANSWER_BYTES + 1, 0)
        text = printable(data[:LONGEST_ANSWER_BYTES].decode("utf-8", "replace")).rstrip()
        return Answer(child.code, text, is_cut=len(data) > LONGEST_ANSWER_BYTES)
    finally:
        os.close(descriptor)
        os.unlink(log)  # a command that still writes to it goes on
