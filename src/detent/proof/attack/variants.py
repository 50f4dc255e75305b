"""What scenes add to the settings that `detent init` wrote, and to the throw-away repository."""

from __future__ import annotations

from detent.proof.attack.scene import ASKED_FILE, CHECK_FILE
from detent.proof.attack.values import MOST_MEMORY_MB, MOST_PROCESSES, Variant

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

LIMITED, PROTECTED, QUIET, HERE = "limited", "protected", "quiet", "here"
_WRITERS = ("builder", "coder", "main", "worker", "implementer")  # the roles that write code, of all machines
_SHORT_RUN = "{ minutes = 2, stall_minutes = 0.03 }"

VARIANTS: dict[str, Variant] = {
    "": Variant(),
    LIMITED: Variant({"commands": {"memory_mb": str(MOST_MEMORY_MB), "processes": str(MOST_PROCESSES)}}),
    PROTECTED: Variant({"protect": {"deny": f'["detent.toml", "{CHECK_FILE}"]', "ask": f'["{ASKED_FILE}"]'}}),
    QUIET: Variant({"budget": {"run": _SHORT_RUN}, "sandbox.network": dict.fromkeys(_WRITERS, '"deny"')}),
    HERE: Variant(new=("--in-place",)),
}


def with_settings(text: str, wanted: Mapping[str, Mapping[str, str]]) -> str:
    """The settings file with these values: each in its section, in place of what `init` wrote there."""
    for section, values in wanted.items():
        lines = [f"{name} = {value}" for name, value in values.items()]
        head, mark, rest = text.partition(f"\n[{section}]")
        if not mark:
            text = "\n".join((text, f"[{section}]", *lines, ""))
            continue
        title, _, rest = rest.partition("\n")
        body, more, after = rest.partition("\n[")
        kept = [line for line in body.split("\n") if line.partition("=")[0].strip() not in values]
        text = "\n".join((head + mark + title, *lines, *kept)) + more + after
    return text
