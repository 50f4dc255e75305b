"""What a prompt may leave open, as in `Task: {summary}`: checked when a machine is read, filled when a run is worded.

`{NAME}` is a native field or a limit, `{LIMIT.of}` a count with its limit ("1 of 2", beyond it "3 (limit 2)"), `{base}`
the commit the work started from, `{run}` the number of this agent run, `{first:A,B}` the first of these states that no
counter closes now.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

BASE, RUN, FIRST, OF = "base", "run", "first:", ".of"
_OPEN = re.compile(r"\{([A-Za-z][\w .:,-]*)\}")


def fill(text: str, value_of: Callable[[str], str]) -> str:
    """The text with every placeholder replaced."""
    return _OPEN.sub(lambda match: value_of(match[1]), text)


def unknown(text: str, fields: Collection[str], limits: Collection[str], states: Collection[str]) -> Iterator[str]:
    """The placeholders that nothing would fill."""
    for name in dict.fromkeys(_OPEN.findall(text)):
        if name.startswith(FIRST):
            is_known = all(state in states for state in name.removeprefix(FIRST).split(","))
        else:
            is_known = name in (BASE, RUN) or name in fields or name.removesuffix(OF) in limits
        if not is_known:
            yield name
