"""The documents of an example project on disk, the checks that judge them, and ways to spoil one thing at a time."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from detent.core.machine import Gate
from detent.core.values import Fact, Snapshot
from detent.effects.workspace.observe import TaskFiles
from detent.gates.judge import evidence_hashes, judge
from detent.gates.seen import Seen
from detent.packs.lights_out.checks.design import planned_paths, without_top
from detent.store.journal.native import Native
from detent.store.journal.observed import TreeFile
from detent.store.journal.places import TaskPlaces
from detent.store.journal.receipts import ReceiptStore
from tests.unit.gates.world import MACHINE

EXAMPLES = Path(__file__).resolve().parents[4] / "examples" / "lights-out"
TIERS = ("shed", "house", "skyscraper")
# What each tier's reconciliation came to.
OUTCOMES = {"shed": "CLEAN", "house": "REPAIRED", "skyscraper": "BLOCKED"}
GATES: Mapping[str, Mapping[str, Any]] = {
    "preferences_doc": {"file": "tree:preferences.md"},
    "inputs_distilled": {"folder": "tree:docs/input/"},
    "inputs_used": {"file": "scope.md", "folder": "tree:docs/input/"},
    "scope_doc": {"file": "scope.md", "ignore": "tree:.gitignore"},
    "design_doc": {"file": "design.md", "scope": "scope.md"},
    "structure_ok": {"design": "design.md", "besides": ["scaffolding/", "docs/"]},
    "readiness_doc": {"file": "readiness.md", "scope": "scope.md", "design": "design.md"},
    "ac_tests": {"scope": "scope.md", "readiness": "readiness.md"},
    "findings": {"file": "review.md", "severities": ["Critical", "Required"], "value": "none open"},
    "drift": {"file": "reconcile.md", "value": "CLEAN"},
    "blocked_doc": {"file": "blocked.md"},
    "verification_doc": {"file": "verification.md", "scope": "scope.md", "readiness": "readiness.md"},
    "delivery_doc": {"readme": "tree:README.md", "delivery": "tree:DELIVERY.md", "scope": "scope.md"},
    "proposal_doc": {"file": "proposal.md"},
    "architecture": {"file": "proposal.md", "value": "none"},
}
# Which file of the project each check reads first.
DOCUMENTS = {
    **{name: f"scaffolding/{params['file']}" for name, params in GATES.items() if "file" in params},
    "preferences_doc": "preferences.md",
    "delivery_doc": "DELIVERY.md",
}
del DOCUMENTS["inputs_used"], DOCUMENTS["architecture"]


class Project:
    """An example project; its `scaffolding/` is the task folder, itself the tree."""

    def __init__(self, base: Path, tier: str) -> None:
        self.base, self.tier = base, tier
        self.tree = base / "project"
        self.folder = self.tree / "scaffolding"
        shutil.copytree(EXAMPLES / tier, self.tree)
        (self.folder / MACHINE.store.file).write_text("# T\n\nPhase: x\n", encoding="utf-8")
        (base / "receipts").mkdir()
        self.snapshot = Snapshot(state="verify", visits={"verify": 2})
        self.has_looked = True
        self._make_planned()

    def _make_planned(self) -> None:
        """Only the shed has code; of the others a file stands for what would be built, and names its criteria."""
        if self.tier == "shed":
            return
        planned = planned_paths(self.read("scaffolding/design.md"))
        for path in without_top(planned, ()):
            if not path.endswith("/"):
                ids = [line for line in self.read("scaffolding/readiness.md").splitlines() if line.startswith("- AC-")]
                self.write(path, "\n".join(ids) + "\n")

    def path(self, name: str) -> Path:
        return self.tree / name

    def read(self, name: str) -> str:
        return self.path(name).read_bytes().decode("utf-8")

    def write(self, name: str, text: str) -> None:
        self.path(name).parent.mkdir(parents=True, exist_ok=True)
        self.path(name).write_bytes(text.encode("utf-8"))

    def change(self, name: str, old: str, new: str) -> None:
        """Replace the only place where something stands."""
        text = self.read(name)
        assert text.count(old) == 1, f"{name}: {old!r} stands there {text.count(old)} times"
        self.write(name, text.replace(old, new))

    def replace_section(self, name: str, section: str, body: str) -> None:
        before, found, after = self.read(name).partition(f"\n## {section}\n")
        assert found, f"{name} has no {section}"
        rest = after.partition("\n## ")
        self.write(name, f"{before}{found}\n{body}\n{rest[1]}{rest[2]}")

    def remove_section(self, name: str, section: str) -> None:
        before, found, after = self.read(name).partition(f"\n## {section}\n")
        assert found, f"{name} has no {section}"
        rest = after.partition("\n## ")
        self.write(name, f"{before}{rest[1]}{rest[2]}")

    def files(self) -> dict[str, TreeFile] | None:
        if not self.has_looked:
            return None
        paths = sorted(path for path in self.tree.rglob("*") if path.is_file())
        return {str(path.relative_to(self.tree)): TreeFile(path.stat().st_size, 1) for path in paths}

    def seen(self, gate: Gate) -> Seen:
        machine = MACHINE.replace(gates={**MACHINE.gates, gate.name: gate})
        native = Native(machine, str(self.folder), TaskPlaces("t", str(self.base)))
        return Seen(
            machine,
            self.snapshot,
            native.read(),
            TaskFiles(str(self.folder), str(self.tree)),
            ReceiptStore(str(self.base / "receipts")),
            tree="tree-1",
            tree_files=self.files,
        )

    def fact(self, check: str, since: str = "task", **params: Any) -> Fact:
        if check == "drift":
            params.setdefault("value", OUTCOMES[self.tier])
        if check == "architecture":
            params.setdefault("value", "none" if self.tier == "shed" else "changes")
        gate = Gate("ours", check, {**GATES[check], **params}, since, "do it")
        return judge(self.seen(gate), ["ours"])["ours"]

    def enter(self, check: str) -> None:
        gate = Gate("ours", check, dict(GATES[check]), "entry", "do it")
        self.snapshot = self.snapshot.replace(entry=evidence_hashes(self.seen(gate)))


Spoil = Callable[[Project], object]


def changed(name: str, old: str, new: str) -> Spoil:
    return lambda project: project.change(name, old, new)


def without(name: str, section: str) -> Spoil:
    return lambda project: project.remove_section(name, section)


def replaced(name: str, section: str, body: str) -> Spoil:
    return lambda project: project.replace_section(name, section, body)
