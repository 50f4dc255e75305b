"""What an evidence page names to be checked: hashes, and how well the kernel held what ran."""

from __future__ import annotations

from detent.effects.host.access import BUBBLEWRAP, LANDLOCK, LEVELS, NONE
from detent.page.values import Hash
from detent.store.disk.digest import sha256_of
from detent.store.journal.events import Moved
from detent.store.journal.run_events import RunPlanned

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from detent.runner.task.open import Task
    from detent.store.journal.line import Line

# One entry per level that exists: a page claims no more than was tested.
_SANDBOX: Mapping[str, str] = {
    BUBBLEWRAP: "Agents and commands saw the host read-only and could write to folders of their own; keys, sockets and"
    " the task's record were hidden. That this holds was tried from inside on the host.",
    LANDLOCK: "The kernel let agents and commands write to folders of their own only. Other processes and sockets"
    " stayed in sight. That this holds was tried from inside on the host.",
    NONE: "Commands ran with all the rights of the person who started them. Nothing kept them, or an agent, from"
    " changing other files: what they did elsewhere is not shown here.",
}


def weakest_level(lines: Sequence[Line]) -> str:
    """The lowest level at which anything ran: one open door is what counts."""
    found = {line.sandbox for line in lines if isinstance(line, (Moved, RunPlanned)) and line.sandbox}
    if not found or found - set(LEVELS):  # an unknown level supports no claim
        return NONE
    return max(found, key=LEVELS.index)


def hashes_of(task: Task, tree: str, level: str) -> tuple[Hash, ...]:
    """The values a reader may check, each with what it is of."""
    memory = task.memory
    return (
        Hash(
            "journal head",
            sha256_of(memory.last),
            f"sha256 of line {memory.snapshot.seq}. Each line holds the hash of the line before, so this one value"
            f" stands for all of them. Where the task lives, this replays them all: detent audit {task.id}",
        ),
        Hash("machine", memory.head.digest, "sha256 of the rules this task began with and keeps."),
        Hash("baseline", memory.began_at(), "The commit the work began from."),
        Hash("tree", tree, "The git tree the last proof was made on: the same files give the same value anywhere."),
        Hash("sandbox", level, _SANDBOX.get(level, "A level this page has no words for; see the documentation.")),
        Hash(
            "by hand",
            "how it is marked",
            "Proof that changed while no agent run lived. It counts, but nobody watched who wrote it.",
        ),
    )
