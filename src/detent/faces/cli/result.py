"""Commands about what came of a task: see it, take it back."""

from __future__ import annotations

from detent.errors import UsageError
from detent.faces.cli.act import person_name, refuse_inside_run
from detent.faces.cli.output import show
from detent.faces.words import restored_words
from detent.runner.open import open_task

TYPE_CHECKING = False
if TYPE_CHECKING:
    from detent.faces.cli.arguments import Arguments


def diff(arguments: Arguments) -> int:
    from detent.runner.changes import changes

    task = open_task(arguments.text("TASK"), arguments.text("--repo"))
    found = changes(task, stat=arguments.has("--stat"))
    content = {
        "id": task.id,
        "baseline": found.baseline,
        "tree": found.tree,
        "files": [{"status": status, "path": path} for status, path in found.files],
        "text": found.text,
    }
    show(arguments, content, found.text.removesuffix("\n") or "nothing differs from the baseline")
    return 0


def restore(arguments: Arguments) -> int:
    from detent.runner.restore import restore as bring_back

    refuse_inside_run("restoring files")
    wanted = arguments.text("--to")
    if wanted and not wanted.isdigit():
        raise UsageError(f"--to needs a line's number, not {wanted!r}", next_step="detent history")
    task = open_task(arguments.text("TASK"), arguments.text("--repo"))
    done = bring_back(task, person_name(), int(wanted) if wanted else None)
    content = {
        "id": task.id,
        "checkpoint": done.seq,
        "tree": done.tree,
        "kept": done.kept,
        **{field: list(getattr(done.files, field)) for field in done.files._fields},
    }
    show(arguments, content, restored_words(task, done))
    return 0
