"""`detent evidence`: writes the page that shows a task to somebody who runs no commands."""

from __future__ import annotations

from detent.faces.cli.output import show
from detent.runner.evidence import evidence_summary
from detent.runner.open import open_task

TYPE_CHECKING = False
if TYPE_CHECKING:
    from detent.faces.cli.arguments import Arguments


def evidence(arguments: Arguments) -> int:
    task = open_task(arguments.text("TASK"), arguments.text("--repo"))
    written = evidence_summary(task, arguments.text("--out"))
    holds = (
        (written.moves, "moves"),
        (written.refusals, "refusals"),
        (written.commands, "proof runs"),
        (written.artifacts, "artifacts"),
        (written.files_changed, "changed files"),
    )
    lines = [written.path, f"  holds: {', '.join(f'{number} {words}' for number, words in holds)}"]
    if not arguments.has("--out"):
        lines.append(f"  link:  {written.link}")
    content = {field: getattr(written, field) for field in written._fields}
    show(arguments, {"id": task.id, **content}, "\n".join(lines))
    return 0
