"""`detent init`: scans a repository and writes its settings file, with comments and never over an existing file."""

from __future__ import annotations

import os

from detent.errors import UnreadableError
from detent.faces.cli.caller import person_name, refuse_inside_run
from detent.faces.cli.output import show
from detent.faces.words.project import change_words, next_steps, settings_text, survey_words
from detent.runner.access.trust import trust_written
from detent.runner.make.survey import Survey, survey
from detent.runner.task.open import current_folder, find_project
from detent.store.disk.atomic import read_plain, write_atomic
from detent.store.journal.settings import FILE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from detent.faces.cli.arguments import Arguments


def init(arguments: Arguments) -> int:
    seen = survey(os.path.abspath(arguments.text("--repo") or current_folder()), os.environ)
    text = settings_text(seen)
    path = os.path.join(seen.root, FILE)
    content = {"path": path, "written": False, "backup": "", "change": "", "text": text, **_survey_json(seen)}
    if arguments.has("--print"):
        show(arguments, content, text.rstrip("\n"))
        return 0
    refuse_inside_run("writing settings")
    found = _read_old(path)
    before = (found or b"").decode("utf-8", "replace")
    content["change"] = change_words(before, text)
    if found is not None and before == text:
        show(arguments, content, "\n".join([*survey_words(seen), "", f"{path} says so already", *_next_words(seen)]))
        return 0
    if found is not None and not arguments.has("--force"):
        refusal = (
            f"refused: {path} is there already; nothing was written",
            "  why:  what it would change is shown above",
            "  next: detent init --force (the old file is kept), or detent init --print",
        )
        show(arguments, content, "\n".join([*survey_words(seen), "", str(content["change"]), "", *refusal]))
        return 1
    content["backup"] = _keep_old(path, found) if found is not None else ""
    write_atomic(path, text.encode(), durable=True)
    trust_written(find_project(seen.root), text, person_name())
    content["written"] = True
    kept = [f"kept:       {content['backup']}"] if content["backup"] else []
    show(arguments, content, "\n".join([*survey_words(seen), "", f"wrote:      {path}", *kept, *_next_words(seen)]))
    return 0


def _read_old(path: str) -> bytes | None:
    try:
        return read_plain(path)
    except UnreadableError as error:
        error.next_step = f"put a plain file there, or move it away, then run the same command again: {path}"
        raise


def _next_words(seen: Survey) -> list[str]:
    return [f"{'next:' if number == 0 else '':<12}{step}" for number, step in enumerate(next_steps(seen))]


def _keep_old(path: str, content: bytes) -> str:
    """The old file under a name that is free: a second `--force` must not lose what the first one kept."""
    backup, number = f"{path}.bak", 2
    while os.path.lexists(backup):
        backup, number = f"{path}.bak-{number}", number + 1
    write_atomic(backup, content, durable=True)
    return backup


def _survey_json(seen: Survey) -> dict[str, Any]:
    return {
        "root": seen.root,
        "git": seen.has_git,
        "agents": [
            {"name": agent.name, "program": agent.program, "version": agent.version, "login": agent.has_login}
            for agent in seen.agents
        ],
        "own_agent": seen.person_agent.name if seen.person_agent is not None else None,
        "commands": [
            {"name": guess.name, "command": guess.command, "seen": guess.seen, "lacks": guess.lacks}
            for guess in seen.commands
        ],
        "setup": [
            {"commands": list(setup.commands), "key": list(setup.key), "lacks": setup.lacks} for setup in seen.setups
        ],
        "carry": list(seen.carry),
        "ignored": list(seen.ignored),
        "sandbox": {"level": seen.sandbox.level, "why": seen.sandbox.why},
        "next": next_steps(seen),
    }
