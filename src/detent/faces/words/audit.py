"""Words for audits: of one task, or of all tasks of a project with a summary."""

from __future__ import annotations

from detent.core.record import Record
from detent.runner.step.anchor import anchor_ref
from detent.verify.audit import Audit
from detent.verify.replay.lines import Finding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from detent.errors import DetentError


class Audited(Record):
    """One task with its audit, or why it could not be made."""

    id: str
    report: Audit | None
    error: DetentError | None = None

    @property
    def code(self) -> int:
        if self.report is None:
            return self.error.code if self.error else 5
        return 0 if self.report.ok else 1

    @property
    def findings(self) -> tuple[Finding, ...]:
        if self.report is not None:
            return self.report.findings
        return (Finding(0, self.error.kind, self.error.what),) if self.error else ()


def lost_task(task_id: str) -> Audited:
    """A task that git's anchor knows and whose folder is gone."""
    ref = anchor_ref(task_id)
    what = (
        f"{ref} anchors a journal, but the task's folder is gone; restore it from a backup, "
        f"or, if you removed it: git update-ref -d {ref}"
    )
    return Audited(task_id, Audit(0, ok=False, findings=(Finding(0, "anchor", what),)))


def audit_json(found: Sequence[Audited]) -> dict[str, Any]:
    rows: list[dict[str, Any]] = [
        {
            "id": audited.id,
            "ok": audited.code == 0,
            "lines": audited.report.lines if audited.report else 0,
            "findings": [
                {"line": each.line, "kind": each.kind, "what": each.what, "warning": each.is_warning}
                for each in audited.findings
            ],
        }
        for audited in found
    ]
    return {
        "ok": all(row["ok"] for row in rows),
        "lines": sum(row["lines"] for row in rows),
        "findings": [{"task": row["id"], **each} for row in rows for each in row["findings"]],
        "tasks": rows,
    }


def audit_words(found: Sequence[Audited]) -> str:
    if len(found) == 1:
        return "\n".join(_lines(found[0]))
    lines = []
    for audited in found:
        first, *rest = _lines(audited)
        lines += [f"{audited.id}: {first}", *rest]
    bad = [audited.id for audited in found if audited.code]
    verdict = f"{len(found)} tasks: all of them hold"
    if bad:
        verdict = f"{len(found)} tasks: {len(found) - len(bad)} hold, {len(bad)} NOT sound: {', '.join(bad)}"
    return "\n".join([*lines, verdict])


def _lines(audited: Audited) -> list[str]:
    if audited.report is None:
        return [f"can't be audited: {audited.findings[0].what if audited.findings else ''}"]
    count = f"{audited.report.lines} line{'' if audited.report.lines == 1 else 's'}"
    rows = [
        f"  {'note' if each.is_warning else 'BAD '} line {each.line or '-'}: {each.kind}: {each.what}"
        for each in audited.findings
    ]
    return [f"{count}, {'all of them hold' if audited.report.ok else 'NOT sound'}", *rows]
