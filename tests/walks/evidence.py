"""Writes what the gates of the `phase` machine look at, as an agent or a person would: text into files, nothing else.

`PhaseFolder` knows the folder of one task; `PhaseGates` opens and closes gates by name. Each text it writes is new, so
that proof is always fresh; an empty text takes the proof away again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

LABELS = (
    "Phase",
    "Status",
    "Objective",
    "Done gate",
    "Not doing",
    "Reality constraints",
    "Validation plan",
    "User facing",
    "Current result",
    "Next step",
    "Blockers",
    "Evidence location",
    "Evidence link",
    "Candidate done",
    "Validator status",
    "Repair applied",
    "Revalidation status",
    "Last updated",
)
QUESTIONS = (
    "objective matched",
    "no fake backend or placeholder shown as real",
    "no half-working feature visible",
    "docs and artifacts consistent",
    "change minimal and sensible",
    "proof can be inspected from files",
)
ARTIFACT = "artifacts/result.txt"
FRAME = {
    "Objective": "add the numbers right",
    "Done gate": "the sum of 2 and 3 is 5",
    "Not doing": "any other arithmetic",
    "Reality constraints": "standard library only",
}


class PhaseFolder:
    """The files of one task; every method writes one piece of evidence, and "" or False takes it away."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.turn = 0

    def _new(self, text: str) -> str:
        """The same words never twice: what was written on an earlier visit does not count again."""
        self.turn += 1
        return f"{text} (note {self.turn})" if text else ""

    def field(self, label: str, value: str) -> None:
        """The whole value of a label of STATE.md, up to the next label."""
        file = self.path / "STATE.md"
        text = file.read_text(encoding="utf-8")
        ends = "|".join(re.escape(name) for name in LABELS)
        pattern = rf"^{re.escape(label)}:.*?(?=^(?:{ends}):|^#|\Z)"
        line = f"{label}: {value}\n" if value else f"{label}:\n"
        text, count = re.subn(pattern, lambda _: line, text, count=1, flags=re.MULTILINE | re.DOTALL)
        file.write_text(text if count else text + line, encoding="utf-8")

    def without(self, label: str) -> None:
        """Take a label out of STATE.md altogether."""
        file = self.path / "STATE.md"
        lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
        file.write_text("".join(line for line in lines if not line.startswith(f"{label}:")), encoding="utf-8")

    def section(self, name: str, body: str) -> None:
        """The whole body of a section of EVIDENCE.md."""
        file = self.path / "EVIDENCE.md"
        text = file.read_text(encoding="utf-8")
        pattern = rf"^## {re.escape(name)}\n.*?(?=^## |\Z)"
        made = f"## {name}\n\n{body}\n\n"
        text, count = re.subn(pattern, lambda _: made, text, count=1, flags=re.MULTILINE | re.DOTALL)
        file.write_text(text if count else f"{text}\n{made}", encoding="utf-8")

    def frame(self, *, filled: bool = True) -> None:
        for label, value in FRAME.items():
            self.field(label, value if filled else "")

    def plan(self, commands: Sequence[str], manual: Sequence[str] = ()) -> None:
        lines = [*(f"- cmd: {command}" for command in commands), *(f"- {words}" for words in manual)]
        self.field("Validation plan", "".join(f"\n{line}" for line in lines))

    def features(self, user_facing: str = "no", items: Sequence[str] = ()) -> None:
        self.field("User facing", user_facing)
        self.section("Visible features", "\n".join(f"- {item}" for item in items))

    def candidate(self, value: str = "yes") -> None:
        self.field("Candidate done", value)

    def evidence(self, text: str = "the sum is 5", name: str = ARTIFACT) -> None:
        """An artifact, and the field that names it."""
        if text:
            file = self.path / name
            file.parent.mkdir(exist_ok=True)
            file.write_text(self._new(text) + "\n", encoding="utf-8")
        self.field("Evidence location", name if text else "")

    def link(self, target: str = ARTIFACT) -> None:
        self.field("Evidence link", f"[proof]({target})" if target else "")

    def manual(self, text: str = "the page shows 5") -> None:
        self.section("Manual evidence", self._new(text))

    def failed_checks(self, text: str = "adding negative numbers fails") -> None:
        self.section("Failed checks", self._new(text))

    def repairs(self, text: str = "negative numbers are added right") -> None:
        self.section("Repairs", self._new(text))

    def review(self, verdict: str = "PASS") -> None:
        self.section("Review", f"Verdict: {verdict}\n\n{self._new('looked at everything')}" if verdict else "")

    def answers(self, *, is_answered: bool = True) -> None:
        lines = [self._new(f"- {question}: yes, by reviewer, {ARTIFACT}") for question in QUESTIONS]
        self.section("Gate answers", "\n".join(lines) if is_answered else "")

    def blockers(self, text: str = "the key is missing") -> None:
        self.field("Blockers", self._new(text))

    def next_step(self, text: str = "A) wait for the key, B) work without it") -> None:
        self.field("Next step", text)


class PhaseGates:
    """Opens and closes the gates of a `phase` task by what lies in its folder and in its tree.

    The plan made here asks for a file in the tree and for a manual check; so the command's gate follows the tree. The
    gate `revalidated` is a memory of the engine: no file opens or closes it.
    """

    # The others are open: no file has to be asked about, and no command has a test runner.
    BY_ENGINE = frozenset({"revalidated", "protected_ok", "proven", "proof_accepted"})
    OPPOSITES = frozenset({"failures_none", "blockers_none"})  # open unless what they rule out was written
    COMMAND = "test -e green.txt"

    def __init__(self, folder: PhaseFolder, tree: Path) -> None:
        self.folder = folder
        self.tree = tree

    def plan_runs(self, is_open: bool) -> None:
        self.folder.plan([self.COMMAND] if is_open else [], ["somebody looks at the page"] if is_open else [])

    def fields_present(self, is_open: bool) -> None:
        self.folder.without("Current result")
        if is_open:
            self.folder.field("Current result", "it works")

    def evidence_link(self, is_open: bool) -> None:
        # One of the two gates asks for a link only where there is an artifact, so that there always is one.
        log = self.folder.path / "artifacts" / "log.txt"
        log.parent.mkdir(exist_ok=True)
        log.write_text("what was seen\n", encoding="utf-8")
        self.folder.link("artifacts/log.txt" if is_open else "")

    def validation_passed(self, is_open: bool) -> None:
        if is_open:
            (self.tree / "green.txt").write_text("green\n", encoding="utf-8")
        else:
            (self.tree / "green.txt").unlink(missing_ok=True)

    def set(self, gates: Iterable[str], opened: Iterable[str]) -> None:
        """Of these gates, open just those; a gate that shares its text with an open one is closed first."""
        wanted = set(opened)
        folder = self.folder
        writers: dict[str, Callable[[bool], None]] = {
            "frame_known": lambda is_open: folder.frame(filled=is_open),
            "frame_complete": lambda is_open: folder.frame(filled=is_open),
            "plan_runs": self.plan_runs,
            "fields_present": self.fields_present,
            "features_labelled": lambda is_open: folder.features("no" if is_open else ""),
            "candidate": lambda is_open: folder.candidate("yes" if is_open else "no"),
            "evidence_fresh": lambda is_open: folder.evidence("the sum is 5" if is_open else ""),
            "evidence_exists": lambda is_open: folder.evidence("the sum is 5" if is_open else ""),
            "evidence_link": self.evidence_link,
            "evidence_linked": self.evidence_link,
            "validation_passed": self.validation_passed,
            "manual_evidence": lambda is_open: folder.manual("the page shows 5" if is_open else ""),
            "manual_kept": lambda is_open: folder.manual("the page shows 5" if is_open else ""),
            "failures_named": lambda is_open: folder.failed_checks("a check fails" if is_open else ""),
            "repair_noted": lambda is_open: folder.repairs("the check was mended" if is_open else ""),
            "review_passed": lambda is_open: folder.review("PASS" if is_open else ""),
            "review_failed": lambda is_open: folder.review("FAIL" if is_open else ""),
            "questions_answered": lambda is_open: folder.answers(is_answered=is_open),
            "blocker_named": lambda is_open: folder.blockers("the key is missing" if is_open else ""),
            # Closed by what the two gates above write, which is their opposite.
            "failures_none": lambda is_open: folder.failed_checks("") if is_open else None,
            "blockers_none": lambda is_open: folder.blockers("") if is_open else None,
            "options_named": lambda is_open: folder.next_step("A) wait, B) go on" if is_open else ""),
        }
        for name in sorted(set(gates) - self.BY_ENGINE, key=lambda name: (name in wanted, name)):
            writers[name](name in wanted)
