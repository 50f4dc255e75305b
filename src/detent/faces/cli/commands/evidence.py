"""`detent evidence`: writes the page that shows a task to somebody who runs no commands."""

from __future__ import annotations

from detent.faces.cli.output import show
from detent.runner.task.open import open_task
from detent.runner.tell.evidence import evidence_summary

TYPE_CHECKING = False
if TYPE_CHECKING:
    from detent.faces.cli.arguments import Arguments


def evidence(arguments: Arguments) -> int:
    task = open_task(arguments.text("TASK"), arguments.text("--repo"))
    written = evidence_summary(task, arguments.text("--out"))
    holds = (
        (written.moves, "move"),
        (written.refusals, "refusal"),
        (written.runs, "agent run"),
        (written.commands, "proof run"),
        (written.artifacts, "artifact"),
        (written.files_changed, "changed file"),
    )
    counted = ", ".join(f"{number} {word}{'' if number == 1 else 's'}" for number, word in holds)
    lines = [written.path, f"  holds: {counted}"]
    if not arguments.has("--out"):
        lines.append(f"  link:  {written.link}")
    content = {field: getattr(written, field) for field in written._fields}
    show(arguments, {"id": task.id, **content}, "\n".join(lines))
    return 0
