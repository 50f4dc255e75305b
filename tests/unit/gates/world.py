"""A task folder and a tree on disk, and the real gates of the phase machine to look at them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from detent.core.machine import Gate, Machine
from detent.core.values import Fact, Snapshot
from detent.effects.workspace.observe import TaskFiles
from detent.gates.judge import evidence_hashes, judge
from detent.gates.plan import receipt_key
from detent.gates.seen import Seen
from detent.machines.load import load
from detent.runner.make.vocabulary import vocabulary
from detent.store.journal.native import Native
from detent.store.journal.observed import Command
from detent.store.journal.places import POINTER, TaskPlaces
from detent.store.journal.receipts import Receipt, ReceiptStore

MACHINE = load("phase", vocabulary())[0]


class World:
    """What a gate may look at; `fact` asks one gate."""

    def __init__(self, base: Path) -> None:
        self.base = base
        self.folder = base / "task"
        self.tree = base / "tree"
        self.receipts = base / "receipts"
        for folder in (self.folder / "artifacts", self.tree, self.receipts):
            folder.mkdir(parents=True)
        self.state_file = self.folder / "STATE.md"
        self.evidence_file = self.folder / "EVIDENCE.md"
        self.snapshot = Snapshot(state="verify", visits={"verify": 2})
        self.machine: Machine = MACHINE
        self.commands: tuple[Command, ...] = ()
        self.tree_id = "tree-1"
        self.proved: dict[str, str] = {}
        self.by_run: Mapping[str, str] = {}
        self.fields({})
        self.evidence("")

    def fields(self, values: Mapping[str, str]) -> None:
        lines = [f"{label}: {values.get(label, '')}" for label in ("Phase", *MACHINE.fields)]
        self.state_file.write_text("# T\n\n" + "\n".join(lines) + "\n", encoding="utf-8")

    def state(self, text: str) -> None:
        self.state_file.write_text(text, encoding="utf-8")

    def evidence(self, text: str) -> None:
        self.evidence_file.write_text(f"# Evidence\n\n{text}", encoding="utf-8")

    def artifact(self, name: str = "result.txt", text: str = "ok\n") -> Path:
        path = self.folder / "artifacts" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def seen(self) -> Seen:
        native = Native(self.machine, str(self.folder), TaskPlaces("t", str(self.base)))
        return Seen(
            self.machine,
            self.snapshot,
            native.read(),
            TaskFiles(str(self.folder), str(self.tree), ("STATE.md", "history.jsonl", POINTER)),
            ReceiptStore(str(self.receipts)),
            self.commands,
            self.tree_id,
            by_run=self.by_run,
            proved=self.proved,
        )

    def fact(self, name: str) -> Fact:
        return judge(self.seen(), [name])[name]

    def enter(self) -> None:
        """What stands there now is old from here on."""
        self.snapshot = self.snapshot.replace(entry=evidence_hashes(self.seen()))

    def gate(self, check: str, since: str = "task", **params: Any) -> Fact:
        """A gate of our own beside the machine's."""
        gate = Gate("ours", check, params, since, "do it")
        self.machine = MACHINE.replace(gates={**MACHINE.gates, "ours": gate})
        return self.fact("ours")

    def receipt(self, line: str, *attempts: int, tree: str = "tree-1", problem: str = "") -> None:
        key = receipt_key(tree, line, self.machine.gates["validation_passed"], "")
        saved = ReceiptStore(str(self.receipts)).save(
            Receipt(key, line, tree, attempts, "some.log", problem, said="a line\nsome words")
        )
        self.proved[key] = saved.digest
