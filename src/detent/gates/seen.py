"""The observations that a gate is handed. Nothing here reads, writes or spawns by itself."""

from __future__ import annotations

from detent.core.record import Record
from detent.store.journal.memory import NO_FILING, NO_WORD, NOT_ACCEPTED, NOT_APPROVED, NOT_DEPLOYED
from detent.store.journal.observed import Command, PathSeen, TreeFile
from detent.store.journal.receipts import Receipt
from detent.store.text.markdown import find_section
from detent.store.text.markdown_blocks import Part

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any, Protocol

    from detent.core.machine import Machine
    from detent.core.values import Snapshot
    from detent.store.journal.native import Document
    from detent.store.text.proof_settings import ProofSettings

    class Files(Protocol):
        """Reads files for a gate; every answer is remembered, so that one step sees one truth."""

        def text(self, name: str) -> str | None:
            """A document of the task folder, or of the tree (`tree:README.md`); None when it is missing."""

        def names(self, folder: str) -> tuple[str, ...]:
            """The plain files below a folder of the tree (`tree:docs/`), by path from the tree, as they lie on disk."""

        def path(self, value: str, *, as_proof: bool = True) -> PathSeen | None:
            """The target of a path named in a document, in the task folder or the tree; None when it leads nowhere.

            The engine's own files say what the engine says: they are there, but are no proof.
            """

        def listing(self) -> Mapping[str, str]:
            """Every file of the task folder that could be proof, by path from there, with its hash."""

    class Receipts(Protocol):
        """Remembers what the engine ran."""

        def find(self, key: str) -> Receipt | None:
            """The receipt of a command under its key, if it was ever run."""

    class Around(Protocol):
        """Looks further than the task's own files, only where a gate asks; every answer is remembered."""

        def said(self) -> Said | None:
            """What the last agent run of this visit said at its end; None when there was none."""

        def agents(self, role: str) -> tuple[AgentSeen, ...]:
            """The agents that may serve a role, in turn."""

        def has_program(self, name: str) -> bool:
            """Whether a program can be found."""

        def has_set_up(self) -> bool:
            """Whether commands of the project make a checkout ready, so that they may bring programs along."""

        def siblings(self) -> tuple[Sibling, ...]:
            """The other tasks of the project that can be read."""

        def checkout(self) -> CheckoutSeen | None:
            """The user's checkout, if the task works in it; None when that was not read."""

    from detent.store.journal.memory import (
        AcceptedProof,
        Approval,
        Deployment,
        Filing,
        Report,
        SeenTree,
        Signature,
        Word,
    )


class Said(Record):
    """The last words of a run, and its prompt: a run that only repeats the prompt has said nothing."""

    text: str
    prompt: str = ""


class AgentSeen(Record):
    """One choice for a role."""

    name: str  # the agent, with its model where one is named
    is_installed: bool = True
    failed: str = ""  # how its last run of this visit failed
    until: str = ""  # it is out of quota until then


class Sibling(Record):
    id: str
    machine: str
    state: str


class CheckoutSeen(Record):
    branch: str  # empty when no branch is checked out
    task_branch: str  # the one that was made for this task; empty when there is none
    changes: tuple[str, ...] = ()  # what is not committed, without what belongs to tasks
    problem: str = ""  # why it can't be read


def nobody_looked() -> None:
    return None


def not_compared(_tree: str) -> None:
    return None


class Seen(Record):
    machine: Machine
    snapshot: Snapshot
    document: Document
    files: Files
    receipts: Receipts
    commands: tuple[Command, ...] = ()  # the project's and the task's own; they join every plan
    tree: str = ""  # id of the tree as it is now; empty when that is not known
    workspace: str = ""  # digest of how a checkout is prepared, part of a receipt's key
    by_run: Mapping[str, str] = {}  # evidence as the last agent run of this visit left it
    proved: Mapping[str, str] = {}  # receipts the journal vouches for: key -> hash of the receipt
    around: Around | None = None
    words: tuple[str, ...] = ()  # extra words of the asking person, as `--skip-assess`
    obstacles: tuple[tuple[str, str], ...] = ()  # why baseline or branch could not be made: reason and remedy
    captured: Mapping[str, str] = {}  # branch and commit the work began on, once they were taken down
    findings: dict[str, tuple[Finding, bool]] | None = None  # by gate, so that none is asked twice about one view
    touched: Callable[[], Mapping[str, str] | None] = nobody_looked  # what a person must be asked about, with hashes
    approved: Approval = NOT_APPROVED  # what a person approved last: tree, files, name
    baseline: str = ""  # the commit the work began from; empty where there was none
    signed: Mapping[str, Signature] = {}  # the same for each sign-off, by the name of its edge
    deploy: Deployment = NOT_DEPLOYED  # what is known of deployments: the confirmed plan, the last one and its end
    since_gate: Callable[[], Sequence[tuple[str, str]] | None] = nobody_looked  # status and path, without task files
    tree_files: Callable[[], Mapping[str, TreeFile] | None] = nobody_looked  # every file of the tree, by its path
    today: str = ""  # what is known of dependencies changes with the day
    audit: Mapping[str, Any] = {}  # where vulnerabilities are asked for, and which a person accepted
    entry_tree: str = ""  # the tree that the move which led here saw; empty where it saw none
    trees: Mapping[str, SeenTree] = {}  # by edge: the tree that its last move saw, and the line that says so
    accepted: Word = NO_WORD  # what a person accepted although it differs from what was judged: tree, name, reason
    # What differs between an earlier tree and this one, without the task's own files; None when that is not known.
    differences: Callable[[str], Sequence[tuple[str, str]] | None] = not_compared
    filing: Filing = NO_FILING  # what the engine filed in this visit: tree, files by place with hashes, refused
    engine_link: str = ""  # the link to proof that the engine wrote of its own accord: no evidence
    judged: Mapping[str, Report] = {}  # reports by their evidence key: hash, the tree it is about, whose it is
    proof: ProofSettings | None = None  # `[proof]` of the settings; None for a task that was made without
    kind: str = ""  # of the change
    accepted_proof: AcceptedProof = NOT_ACCEPTED  # what a person accepted last of an assessment
    sealed: int = 0  # how many sealed checks the task has
    accepted_sealed: AcceptedProof = NOT_ACCEPTED  # what a person accepted last of those that did not pass
    changed: Callable[[], tuple[str, ...] | None] = nobody_looked  # paths that differ from the baseline

    def field(self, label: str) -> str:
        return self.document.value(label)

    def receipt(self, key: str) -> Receipt | None:
        """A receipt that is still the one the journal vouches for; any other was never written by the engine."""
        receipt = self.receipts.find(key) if self.tree else None
        return receipt if receipt is not None and self.proved.get(key) == receipt.digest else None

    def section(self, file: str, name: str) -> str | None:
        """The body of a section, None when file or section is missing."""
        text = self.document.body() if file == self.machine.store.file else self.files.text(file)
        if text is None:
            return None
        section = find_section(text, name)
        return None if section is None else Part(text, section.body_start, section.end)


class Finding(Record):
    """The result of a check: `evidence` names the texts and files it read, by key and hash, enough or not."""

    ok: bool
    why: str = ""
    evidence: Mapping[str, str] = {}
    pending: bool = False
    note: str = ""
    proof: str = ""
    fix: str = ""  # where the gate's own is not what helps
    by_engine: bool = False  # the engine made this evidence itself: fresh by its receipt
    is_known: bool = True  # else it is unknown until a person has spoken
    parts: tuple[tuple[str, bool | None, str], ...] = ()  # where the answer is made of several: label, result, reason
    is_meant: bool = True  # False: what was read clearly gives another answer than the one asked for
    once: str = ""  # nothing is asked until this happens, e.g. "once there is a file under artifacts/"
