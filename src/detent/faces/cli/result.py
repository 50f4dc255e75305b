"""Commands about what came of a task: see it, land it, take it back, clean up after it."""

from __future__ import annotations

import sys

from detent.errors import UsageError
from detent.faces.cli.ask import open_to_change
from detent.faces.cli.caller import person_name, refuse_inside_run
from detent.faces.cli.output import show
from detent.faces.words_done import collected_words, landed_words, patch_words, restored_words, rolled_back_words
from detent.runner.open import find_project, open_task

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
    if arguments.has("--json") or not found.text:
        show(arguments, content, "nothing differs from the baseline")
    else:
        sys.stdout.write(patch_words(found.text, is_seen=sys.stdout.isatty()))
    return 0


def land(arguments: Arguments) -> int:
    from detent.runner import land as landing

    refuse_inside_run("landing work")
    kinds = [flag for flag in ("--squash", "--pr", "--print") if arguments.has(flag)]
    if "--pr" in kinds and len(kinds) > 1:
        raise UsageError(f"{' and '.join(kinds)} don't go together", next_step="detent land --help")
    task = open_to_change(arguments)
    squash = "--squash" in kinds or task.memory.head["land"]["how"] == "squash"
    if "--print" in kinds:
        lines = landing.commands_to_land(task, squash=squash)
        show(arguments, {"id": task.id, "commands": list(lines)}, "\n".join(lines))
        return 0
    if "--pr" in kinds:
        from detent.runner.land_request import ask_elsewhere

        asked = ask_elsewhere(task, person_name())
        content = {"id": task.id, "how": "pr", "branch": asked.branch, "summary": asked.summary, "said": asked.said}
        show(arguments, content, f"pushed: {asked.branch} to origin\n{asked.said}".rstrip())
        return 0
    done = landing.land(task, person_name(), squash=squash)
    lists = {"touched": done.touched, "submodules": done.submodules, "unconverted": done.unconverted}
    told = {"id": task.id, "how": done.how, "commit": done.commit, "branch": done.branch}
    show(arguments, {**told, **{name: list(paths) for name, paths in lists.items()}}, landed_words(task, done))
    return 0


def restore(arguments: Arguments) -> int:
    from detent.runner.restore import restore as bring_back

    refuse_inside_run("restoring files")
    line = arguments.number("--to", "detent history", "a line's number")
    task = open_to_change(arguments)
    done = bring_back(task, person_name(), line)
    content = {
        "id": task.id,
        "checkpoint": done.seq,
        "tree": done.tree,
        "kept": done.kept,
        **{field: list(getattr(done.files, field)) for field in done.files._fields},
    }
    show(arguments, content, restored_words(task, done))
    return 0


def rollback(arguments: Arguments) -> int:
    from detent.runner.rollback import roll_back

    refuse_inside_run("taking a deployment back")
    task = open_to_change(arguments)
    task, receipt = roll_back(task, person_name(), arguments.text("--reason"), is_over=arguments.has("--yes"))
    why = "" if receipt.is_green else receipt.problem or f"exit {receipt.attempts[-1]}, see {receipt.log}"
    told = {"id": task.id, "ok": receipt.is_green, "command": receipt.command, "log": receipt.log}
    show(arguments, told, rolled_back_words(task.id, receipt.command, why))
    return 0 if receipt.is_green else 1


def gc(arguments: Arguments) -> int:
    from detent.runner.collect import Wish, collect

    refuse_inside_run("removing what tasks left")
    task = open_task(arguments.text("TASK"), arguments.text("--repo")) if arguments.text("TASK") else None
    wish = Wish(
        person_name(),
        task=task.id if task else "",
        dry_run=arguments.has("--dry-run"),
        unlanded=arguments.has("--yes"),
        journals=arguments.has("--journals"),
    )
    found = collect(task.project if task else find_project(arguments.text("--repo")), wish)
    rows = [{field: getattr(one, field) for field in one._fields} for one in found]
    show(arguments, {"tasks": rows, "dry_run": wish.dry_run}, collected_words(found, dry_run=wish.dry_run))
    return 0
