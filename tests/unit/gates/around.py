"""What a test says lies around a task; a task folder with a specification."""

from __future__ import annotations

from pathlib import Path

from detent.core.machine import Gate
from detent.core.values import Fact
from detent.gates.plan import receipt_key
from detent.gates.seen import AgentSeen, CheckoutSeen, Said, Seen, Sibling
from detent.packs.ralf.criteria import ALL_PASS
from detent.store.journal.receipts import Receipt, ReceiptStore
from tests.unit.gates.world import World

SPEC = """Promise: <promise>DONE</promise>

## Criteria
- the tests pass; cmd: make test
- the page is readable
"""
PARAMS = {"file": "spec/v{Finalized}.md", "report": "report.md", "section": "Verification"}


class Around:
    """What a test says there is to see around a task."""

    def __init__(
        self,
        said: Said | None = None,
        agents: tuple[AgentSeen, ...] = (),
        siblings: tuple[Sibling, ...] = (),
        checkout: CheckoutSeen | None = None,
    ) -> None:
        self._said, self._agents, self._siblings, self._checkout = said, agents, siblings, checkout

    def said(self) -> Said | None:
        return self._said

    def agents(self, role: str) -> tuple[AgentSeen, ...]:
        return self._agents if role == "implementer" else ()

    def has_program(self, name: str) -> bool:
        return name == "git"

    def has_set_up(self) -> bool:
        return False

    def siblings(self) -> tuple[Sibling, ...]:
        return self._siblings

    def checkout(self) -> CheckoutSeen | None:
        return self._checkout


class SpecWorld(World):
    """The same world with a specification in its second version, and what lies around the task."""

    def __init__(self, base: Path) -> None:
        super().__init__(base)
        self.around: Around | None = Around()
        self.words: tuple[str, ...] = ()
        self.captured: dict[str, str] = {}
        self.snapshot = self.snapshot.replace(visits={"verify": 1, "Finalized": 2}, exit="finished")
        (self.folder / "spec").mkdir()
        self.write("spec/v2.md", SPEC)

    def write(self, name: str, text: str) -> None:
        (self.folder / name).write_text(text, encoding="utf-8")

    def report(self, *lines: str) -> None:
        self.write("report.md", "# R\n\n## Verification\n\n" + "\n".join(lines) + "\n")

    def ran(self, line: str, *attempts: int, problem: str = "", gate: Gate | None = None) -> None:
        key = receipt_key("tree-1", line, gate or Gate("ours", "criteria", PARAMS), "")
        saved = ReceiptStore(str(self.receipts)).save(
            Receipt(key, line, "tree-1", attempts, "some.log", problem, said="a line\nsome words")
        )
        self.proved[key] = saved.digest

    def seen(self) -> Seen:
        return super().seen().replace(around=self.around, words=self.words, captured=self.captured)

    def criteria(self, value: str = ALL_PASS) -> Fact:
        return self.gate("criteria", since="entry", value=value, **PARAMS)
