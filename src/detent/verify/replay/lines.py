"""The kinds of journal lines with what each must have, and what a replay says of one that does not hold."""

from __future__ import annotations

from detent.core.record import Record
from detent.verify.replay.runs import RUN_KINDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

_HEAD = (
    *("id", "title", "machine", "digest", "dir", "root", "common_dir", "home", "in_place", "tree_path"),
    *("baseline", "commands", "notes", "land"),
    *(
        "command_timeout_s",
        "command_limits",
        "audit",
        "workspace",
        "limits",
        "options",
        "evidence_base",
        "by",
        "name",
        "sandbox",
        "after",
    ),
    *("agents", "budget", "notify", "prompts", "request", "sandbox_rules", "protect", "allow_no_new_privs"),
)
_MOVE = ("edge", "way", "from", "to", "by", "name", "reason", "verb", "exit", "answer", "facts", "waived", "override")

# Every kind of line with the fields it must have besides seq, time, kind and prev.
KINDS: Mapping[str, tuple[str, ...]] = {
    "created": _HEAD,
    "adopted": _HEAD,
    "moved": (*_MOVE, "tree", "signed", "effects", "machine", "sandbox", "after"),
    "intended": ("edge", "prepare", "given", "move"),
    "unprepared": ("step", "edge", "why"),
    "refused": ("want", "by", "name", "from", "problem", "missing"),
    "restored": ("file", "why", "kept"),
    "filed": ("tree", "files", "refused"),
    "set_up": ("how", "why", "key", "left_out", "changed"),
    "proved": ("tree", "receipts", "limits", "sandbox", "network"),
    "approved": ("by", "name", "reason", "tree", "files"),
    "deploy": (*("stage", "plan", "commands", "by", "name", "reason", "tree", "visit", "receipts", "ok", "why"),),
    "landed": ("by", "name", "how", "commit", "branch", "tree"),
    "collected": ("by", "name", "branches", "kept"),
    "restored_tree": ("by", "name", "checkpoint", "tree", "kept"),
    "acted": ("step", "result", "fields"),
    "crashed": ("by", "exit", "after"),
    "answered": ("by", "name", "answer"),
    "resumed": ("by", "name", "reason", "answer", "after"),
    "amended": ("by", "name", "reason", "fields", "was", "after"),
    "configured": ("by", "name", "reason", "mode", "limits", "budget", "agents", "commands", "fields", "locked"),
    **RUN_KINDS,
}
# Fields that lines have since format 2; a journal that was begun before need not have them.
SINCE_2: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("created", "adopted"), ("format", "log_found")),
    **dict.fromkeys(("proved", "deploy"), ("logs",)),
    "run_ended": ("files",),
    "collected": ("snapshot",),
}
FIRST = ("created", "adopted")
BY_PERSON = (
    *("approved", "answered", "resumed", "amended", "configured"),
    *("restored_tree", "landed", "collected", "driven"),
)


class Finding(Record):
    """Something that does not agree; a warning is what a crash or a clock may leave behind without anybody's fault."""

    line: int
    kind: str
    what: str
    is_warning: bool = False
