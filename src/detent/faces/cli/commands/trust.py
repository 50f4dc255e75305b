"""`detent trust`: shows what a repository's settings want outside the sandbox, and remembers a person's yes."""

from __future__ import annotations

import json
import sys

from detent.errors import RefusedError, UntrustedError
from detent.faces.cli.caller import person_name, refuse_inside_run
from detent.faces.cli.output import show
from detent.faces.words.screen import printable
from detent.runner.access.trust import is_untrusted, trust, wanted_here
from detent.runner.task.open import find_project

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    from detent.faces.cli.arguments import Arguments
    from detent.runner.access.trust import Privileged
    from detent.store.journal.places import Project

    Result = TypeVar("Result")

NEEDS_PERSON = 4


def trust_command(arguments: Arguments) -> int:
    project = find_project(arguments.text("--repo"))
    wanted = wanted_here(project)
    open_ones = [privileged for privileged in wanted if is_untrusted(project, privileged)]
    digest = arguments.text("--digest")
    if arguments.has("--show") or not open_ones:
        return _show(arguments, project, wanted)
    if not (arguments.has("--yes") or digest or _says_yes(arguments, open_ones)):
        _show(arguments, project, wanted)
        return NEEDS_PERSON
    refuse_inside_run("trusting a repository")
    meant = [privileged for privileged in open_ones if not digest or privileged.digest == digest]
    if not meant:
        raise RefusedError(
            f"the settings have another digest than {digest}", next_step="read them again: detent trust --show"
        )
    for privileged in meant:
        trust(project, privileged, person_name())
    return _show(arguments, project, wanted)


def with_trust(arguments: Arguments, project: Project, make: Callable[[], Result]) -> Result:
    """What `make` returns; if it needs trust and a person is at the terminal, they are asked first."""
    try:
        return make()
    except UntrustedError as error:
        wanted: Privileged = error.wanted
        if not _says_yes(arguments, [wanted]):
            raise
        trust(project, wanted, person_name())
        return make()


def _says_yes(arguments: Arguments, wanted: list[Privileged]) -> bool:
    if arguments.has("--json") or not (sys.stdin.isatty() and sys.stdout.isatty()):
        return False
    refuse_inside_run("trusting a repository")
    for privileged in wanted:
        sys.stdout.write(printable(_words(privileged)) + "\n")
    sys.stdout.write("trust these settings? [y/N] ")
    sys.stdout.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _words(privileged: Privileged) -> str:
    lines = [f"{privileged.where} would run or pass this outside the sandbox, or widen it:"]
    lines += [f"  {name} = {json.dumps(value, ensure_ascii=False)}" for name, value in privileged.settings.items()]
    return "\n".join(lines)


def _show(arguments: Arguments, project: Project, wanted: tuple[Privileged, ...]) -> int:
    rows = [
        {
            "where": privileged.where,
            "digest": privileged.digest,
            "trusted": not is_untrusted(project, privileged),
            "settings": dict(privileged.settings),
        }
        for privileged in wanted
    ]
    lines = [] if rows else ["nothing in these settings needs trust"]
    for privileged, row in zip(wanted, rows, strict=True):
        lines += [
            _words(privileged),
            f"  digest: {privileged.digest}",
            f"  {'trusted' if row['trusted'] else 'not trusted yet'}",
        ]
    is_all = all(row["trusted"] for row in rows)
    if not is_all:
        lines.append("next: detent trust --yes, or with the digest you have read: detent trust --digest DIGEST")
    show(
        arguments,
        {"root": project.root, "trusted": all(row["trusted"] for row in rows), "wanted": rows},
        "\n".join(lines),
    )
    return 0
