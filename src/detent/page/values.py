"""What an evidence page shows, as values: gathered by the runner, rendered by the other evidence modules.

Nothing in here is trusted. Titles, names, reasons, file names and file contents may all have been written by an agent.
"""

from __future__ import annotations

from detent.core.record import Record


class NextMove(Record):
    """One move out of the current state."""

    to: str
    is_open: bool
    by: tuple[str, ...]
    missing: tuple[str, ...] = ()


class Now(Record):
    state: str
    since: str
    waiting_for: str = ""  # empty: the task waits for nothing
    is_end: bool = False
    moves: tuple[NextMove, ...] = ()
    problems: tuple[str, ...] = ()
    advice: str = ""  # the verb a person is advised to; whether they follow it is theirs


class Gate(Record):
    """How one gate answered when a move was made."""

    name: str
    is_ok: bool
    why: str = ""
    proof: str = ""
    is_by_hand: bool = False
    is_waived: bool = False
    note: str = ""
    receipts: tuple[str, ...] = ()  # keys of the receipts that answered it


class Missing(Record):
    gate: str
    why: str
    fix: str = ""


class Event(Record):
    """One line of the journal."""

    seq: int
    time: str
    kind: str
    head: str = ""  # what happened, in words, where it was no move
    source: str = ""
    target: str = ""
    who: str = ""
    words: str = ""  # what a person said or gave as reason
    gates: tuple[Gate, ...] = ()
    missing: tuple[Missing, ...] = ()
    lines: tuple[str, ...] = ()
    hashes: tuple[tuple[str, str], ...] = ()  # what each one is of, and the value
    number: int = 0  # of a move: the first one is 1
    run: int = 0  # the agent run it is about
    undone: tuple[str, ...] = ()  # edits that were restored


class Excerpt(Record):
    """A text, or its head and tail with how many bytes were left out between them."""

    head: str
    tail: str = ""
    left_out_bytes: int = 0


class Attempt(Record):
    number: int
    exit: int
    output: Excerpt | None  # None: its output is not there any more
    is_changed: bool = False  # it is not the one that the journal vouches for, and is not shown


class Ran(Record):
    """One command the engine ran on one tree."""

    key: str
    command: str
    tree: str
    time: str
    is_green: bool
    attempts: tuple[Attempt, ...]
    problem: str = ""
    problem_output: Excerpt | None = None


class Artifact(Record):
    """One file; what it shows depends on its kind: text, image, file, or nothing at all."""

    path: str
    kind: str  # text | image | file | other
    size_bytes: int = 0
    digest: str = ""
    link: str = ""  # relative to the page
    text: Excerpt | None = None
    data: str = ""  # an image as a data address
    note: str = ""


class FileChange(Record):
    path: str
    status: str  # added | removed | changed | type changed
    added: int
    removed: int
    lines: tuple[str, ...]  # of the patch, from the first hunk on
    note: str = ""


class Diff(Record):
    base: str
    tree: str
    files: tuple[FileChange, ...] = ()
    note: str = ""

    @property
    def added(self) -> int:
        return sum(file.added for file in self.files)

    @property
    def removed(self) -> int:
        return sum(file.removed for file in self.files)


class Request(Record):
    """One move an agent run asked for."""

    target: str
    is_accepted: bool  # taken up; what became of it is known when the run has ended
    why: str = ""


class Run(Record):
    """One agent run."""

    number: int
    state: str
    role: str
    access: str
    agent: str
    model: str
    started: str
    prompt_digest: str
    sandbox: str = ""
    ended: str = ""
    exit: str = ""  # its exit class; empty while no end is known
    seconds: float = 0.0
    turns: int = 0
    tokens: int = 0
    cost_usd: float = 0.0
    denials: int = 0
    requests: tuple[Request, ...] = ()
    moved_to: str = ""
    became: str = ""  # what the engine made of its end, in words
    put_back: tuple[str, ...] = ()
    tainted: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()
    prompt: Excerpt | None = None


class Hash(Record):
    label: str
    value: str
    words: str


class ProofShown(Record):
    """What the test commands prove: rows of label and text, and what a person must look at."""

    rows: tuple[tuple[str, str], ...]
    changed: tuple[FileChange, ...] = ()


class Page(Record):
    title: str
    task: str
    machine: str
    now: Now
    states: tuple[str, ...]  # in the machine's order
    ends: tuple[str, ...]
    events: tuple[Event, ...]
    frame: tuple[tuple[str, str], ...] = ()
    is_frame_locked: bool = False
    claims: tuple[tuple[str, str], ...] = ()
    folder_link: str = ""  # from the page to the task folder, for links that agents wrote
    commands: tuple[Ran, ...] = ()
    commands_note: str = ""
    diff: Diff | None = None
    touched: tuple[tuple[str, str], ...] = ()  # protected files that changed, with what the settings say of them
    artifacts: tuple[Artifact, ...] = ()
    artifacts_note: str = ""
    task_files: tuple[Artifact, ...] = ()
    runs: tuple[Run, ...] = ()
    hashes: tuple[Hash, ...] = ()
    sandbox: str = "none"
    proof: ProofShown | None = None
