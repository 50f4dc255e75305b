"""The report of a task that is blocked: `BLOCKED: what is wrong. Options: [A, B, C]. Recommendation: X.`"""

from __future__ import annotations

import re

from detent.core.record import Record
from detent.store.markdown import visible_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_FORM = re.compile(
    r"BLOCKED:\s*(?P<wrong>.+?)\s*Options:\s*\[(?P<options>[^\]]+)\]\.?\s*Recommendation:\s*(?P<advice>.+?)\s*$",
    re.DOTALL,
)
_LONGEST_PART = 600
_DRESS = "*_` \n\t"


class Report(Record):
    wrong: str
    options: tuple[str, ...]
    advice: str

    def line(self) -> str:
        """The report as people are shown it, on one line."""
        return f"BLOCKED: {self.wrong}. Options: [{', '.join(self.options)}]. Recommendation: {self.advice}."


def make_report(wrong: str, options: Sequence[str], advice: str) -> Report:
    return Report(_part(wrong), tuple(map(_part, options)), _part(advice))


def read_report(text: str) -> Report | None:
    """The report somebody wrote, in whatever dress; None when a part of it is missing."""
    plain = re.sub(r"\*\*|__|`", "", visible_text(text))
    found = _FORM.search(plain)
    if found is None:
        return None
    options = [one for part in found["options"].split(",") if (one := _part(part))]
    wrong, advice = _part(found["wrong"]), _part(found["advice"].partition("\n\n")[0])
    return Report(wrong, tuple(options), advice) if wrong and options and advice else None


def _part(text: str) -> str:
    """One part on one line, without the full stop that the form puts behind it."""
    words = " ".join(text.split()).strip(_DRESS).rstrip(".")
    return words if len(words) <= _LONGEST_PART else f"{words[:_LONGEST_PART].rstrip()} ..."
