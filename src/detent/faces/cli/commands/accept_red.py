"""`detent doctor --accept-red`: a person accepts tests that fail on the last commit; the list only shrinks later."""

from __future__ import annotations

import os
import sys

from detent.errors import RefusedError
from detent.faces.cli.caller import refuse_inside_run
from detent.faces.cli.output import progress_teller, show
from detent.faces.words.screen import printable
from detent.runner.make.accept_red import find_red, write_red
from detent.runner.task.open import find_project
from detent.store.journal.settings import FILE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from detent.faces.cli.arguments import Arguments
    from detent.runner.make.accept_red import Red

NEEDS_PERSON = 4


def accept_red(arguments: Arguments) -> int:
    """Exit 0 when the list says what is red; 1 where a test is red that no person accepted; 4 to be confirmed."""
    refuse_inside_run("accepting red tests")
    project = find_project(arguments.text("--repo"))
    found = find_red(project, progress_teller(arguments))
    path = os.path.join(project.root, FILE)
    content = {"path": path, "written": False, "red": found.wanted, "listed": found.listed, "not_accepted": found.new}
    if found.wanted == found.listed:
        show(
            arguments,
            content,
            "\n".join([f"[proof] red says so already: {_counted(found.listed)}", *_new_words(found)]),
        )
        return int(bool(found.new))
    if not (arguments.has("--yes") or _says_yes(arguments, found)):
        lines = [*_listed_words(found), "next: detent doctor --accept-red --yes"]
        show(arguments, content, "\n".join(lines))
        return NEEDS_PERSON
    write_red(path, found.wanted)
    lines = [*_listed_words(found), f"wrote:  [proof] red of {path}: {_counted(found.wanted)}", *_new_words(found)]
    lines.append(f"next:   git add {FILE} && git commit; tasks go by the commit they begin from")
    show(arguments, {**content, "written": True}, "\n".join(lines))
    return int(bool(found.new))


def _says_yes(arguments: Arguments, found: Red) -> bool:
    if arguments.has("--json") or not (sys.stdin.isatty() and sys.stdout.isatty()):
        return False
    sys.stdout.write(printable("\n".join(_listed_words(found))) + f"\nwrite this into [proof] red of {FILE}? [y/N] ")
    sys.stdout.flush()
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise RefusedError(
            "nothing was written", next_step="repair these tests, or accept them: detent doctor --accept-red"
        )
    return True


def _listed_words(found: Red) -> list[str]:
    gone = [name for name in found.listed if name not in found.wanted]
    lines = [f"red on commit {found.commit[:12]}, and may stay red:", *(f"  {name}" for name in found.wanted)]
    if gone:
        lines += ["no longer red, taken out of the list:", *(f"  {name}" for name in gone)]
    return lines if found.wanted else lines[1:]


def _new_words(found: Red) -> list[str]:
    if not found.new:
        return []
    return [
        "red, but not in the list, which only shrinks:",
        *(f"  {name}" for name in found.new),
        f"  repair them; to accept one more, write it into [proof] red of {FILE} yourself",
    ]


def _counted(names: tuple[str, ...]) -> str:
    return f"{len(names)} test{'' if len(names) == 1 else 's'}" if names else "nothing"
