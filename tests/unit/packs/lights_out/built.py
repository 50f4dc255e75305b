"""A project that was built, as the checks about what was built see it."""

from __future__ import annotations

from typing import Any

from detent.core.machine import Gate
from detent.core.values import Fact
from detent.gates.judge import judge
from detent.store.journal.observed import TreeFile
from tests.unit.packs.lights_out.pipeline import Project

DESIGN, READINESS = "scaffolding/design.md", "scaffolding/readiness.md"
GATES: dict[str, dict[str, Any]] = {
    "lockfile": {},
    "no_placeholders": {"readiness": "readiness.md"},
    "brake": {
        "design": "design.md",
        "approaches": "approaches.md",
        "besides": ["scaffolding/", "docs/", "README.md", "DELIVERY.md", "preferences.md"],
    },
}


class Built(Project):
    """The delivered shed; files are as long as they are."""

    def files(self) -> dict[str, TreeFile] | None:
        found = super().files()
        if found is None:
            return None
        return {
            path: TreeFile(file.size_bytes, self.path(path).read_bytes().count(b"\n")) for path, file in found.items()
        }

    before: tuple[str, ...] = ()  # what the build found there and left alone

    def fact_of(self, check: str, since: str = "task") -> Fact:
        seen = self.seen(Gate("ours", check, GATES[check], since, "do it"))
        changed = tuple(path for path in self.files() or () if path not in self.before)
        return judge(seen.replace(changed=lambda: changed), ["ours"])["ours"]
