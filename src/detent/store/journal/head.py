"""A task's first line: all that was settled when it was made. As `memory.head` it says what of that holds now."""

from __future__ import annotations

from detent.store.journal.line import Line
from detent.view import view_of, with_fields

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, TypedDict, TypeVar

    H = TypeVar("H", bound="Head")

    class Found(TypedDict, total=False):
        """What the files of another tool say; all but `shown` are parts of the memory."""

        runs: int
        revision: int
        prepared: Mapping[str, Mapping[str, str]]
        led: str
        filed: Mapping[str, str]
        shown: Mapping[str, str]


_OLDER: Mapping[str, object] = {
    "evidence_base": "",
    **{name: {} for name in ("audit", "request", "agents", "budget", "notify", "prompts")},
}


class Head(Line):
    """A task's first line: all that was settled when it was made."""

    is_state = True
    since_2 = ("format", "log_found")
    _older = _OLDER

    id: str  # id of the task
    title: str  # what is to be done, in one line
    machine: str  # name of the machine
    digest: str  # SHA-256 of the machine file, which is kept under machines/
    pack: str = ""  # hash of the code of the machine's pack, where that comes from the user's settings
    dir: str  # the task folder
    root: str  # the project
    common_dir: str  # git folder of the project; empty without git
    home: str  # folder outside the project for clone, set-up and scratch
    in_place: bool  # whether agents work in the user's checkout instead of a clone
    tree_path: str  # where agents work
    baseline: str  # commit the work is compared with; empty without git
    commands: Sequence[Sequence[str]]  # names and commands that prove the work
    command_timeout_s: float  # seconds that a command may take
    command_limits: Mapping[str, int]  # memory and processes that commands may use
    audit: Mapping[str, Any]  # `[audit]` of the settings
    workspace: Mapping[str, Sequence[str]]  # `[workspace]` of the settings
    tool_caches: Sequence[str] = ()  # names of folders that are caches of tools and no work
    limits: Mapping[str, int]  # limits of the machine that were set for this task
    options: Sequence[str]  # optional gates of the machine that are on
    evidence_base: str  # address below which the evidence page is published
    land: Mapping[str, str]  # how work lands
    notes: Sequence[str]  # the notes to the person when the task was made
    by: str  # always person
    name: str  # the person that made the task
    sandbox: str  # level that agents and commands are sandboxed at
    request: Mapping[str, Any]  # text the task was made from: source, hash, title; empty without one
    agents: Mapping[str, Any]  # agents of the settings, and those chosen for this task by role
    budget: Mapping[str, Mapping[str, float]]  # bounds of a run and of the task
    notify: Mapping[str, Any]  # `[notify]` of the settings
    sandbox_rules: Mapping[str, Any]  # `[sandbox]` of the settings
    protect: Mapping[str, Sequence[str]]  # `[protect]` of the settings
    allow_no_new_privs: bool  # whether the person's own commands may run without new rights
    prompts: Mapping[str, Any]  # texts of the project for prompts, by role
    proof: Mapping[str, Any] = {}  # `[proof]` and `[runners]` of the settings; absent: exit codes alone count
    change: Mapping[str, str] = {}  # kind of the change, and whether a person or the engine said it
    sealed: Sequence[Mapping[str, str]] = ()  # sealed checks: place in the tree, kind, hash, where they were read
    log_found: Mapping[str, Any] | None = None  # size and hash of a log that lay in the folder before


class Created(Head):
    """Written by `new`: the first line of a task."""

    kind = "created"


class Adopted(Head):
    """Written by `adopt`: the first line of a task that another tool began."""

    kind = "adopted"

    found: Found | None = None  # what the other tool's files say: runs, revision, steps, what is shown


def with_request(head: H, *, request: Mapping[str, Any], notes: Sequence[str]) -> H:
    """A first line with the text the task was made from, and the notes to the person."""
    return with_fields(head, request=request, notes=notes)


def with_found(head: Adopted, found: Found) -> Adopted:
    """A first line with what the other tool's files say."""
    return with_fields(head, found=found)


def with_log(head: H, log_found: Mapping[str, Any]) -> H:
    """A first line with what lay in the folder as a log before."""
    return with_fields(head, log_found=log_found)


def with_sealed(head: H, sealed: Sequence[Mapping[str, str]]) -> H:
    """A first line with the sealed checks of its task."""
    return with_fields(head, sealed=sealed) if sealed else head


def with_pack(head: H, pack: str) -> H:
    """The first line with the code of the pack that holds now."""
    return with_fields(head, pack=pack)


def with_baseline(head: H, commit: str) -> H:
    """The first line as another branch sees it, which says nothing of its own about proof."""
    return with_fields(head, baseline=commit)


def with_basis(
    head: H,
    *,
    baseline: str,
    commands: Sequence[Sequence[str]],
    protect: Mapping[str, Sequence[str]],
    workspace: Mapping[str, Sequence[str]],
    command_timeout_s: float,
    command_limits: Mapping[str, int],
    audit: Mapping[str, Any],
) -> H:
    """The first line with what another branch says that proof rests on."""
    return with_fields(
        head,
        baseline=baseline,
        commands=commands,
        protect=protect,
        workspace=workspace,
        command_timeout_s=command_timeout_s,
        command_limits=command_limits,
        audit=audit,
    )


def found_before(head: Line) -> Found:
    """What another tool's files said when the task was adopted; nothing for a task that was made here."""
    return (head.found if isinstance(head, Adopted) else None) or {}


def runs_before(head: Head) -> int:
    """How many agent runs another tool made before the task was adopted."""
    return found_before(head).get("runs", 0)


def shown_before(head: Head) -> Mapping[str, str]:
    """What the file of another tool showed when the task was adopted."""
    return found_before(head).get("shown", {})


def branch_before(head: Head) -> str:
    """The branch that the file of another tool named when the task was adopted: its maker is unknown."""
    return found_before(head).get("prepared", {}).get("branch", {}).get("name", "")


def head_of(content: dict[str, Any]) -> Head:
    """What a task began with, from what a cache keeps of it."""
    return view_of(Adopted if content.get("kind") == Adopted.kind else Created, content)
