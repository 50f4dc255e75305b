"""What comes with a command besides the move it asks for: options for its steps, and a yes where it asks first."""

from __future__ import annotations

import sys

from detent.faces.words.screen import question_words
from detent.runner.step.step import YES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from detent.faces.cli.arguments import Arguments
    from detent.runner.task.open import Task

_STEP_OPTIONS = ("--skip-assess", "--no-branch", "--no-git", "--message", "--sha")


def step_options(arguments: Arguments, task: Task, want: str = "", verb: str = "") -> dict[str, str]:
    """By the option's name without dashes. At a terminal a move that asks first is asked about here."""
    options = {flag.removeprefix("--"): arguments.text(flag) for flag in _STEP_OPTIONS if arguments.has(flag)}
    if arguments.has("--yes"):
        return {**options, YES: "yes"}
    for edge in task.machine.states[task.memory.snapshot.state].edges:
        is_meant = want in (edge.name, edge.target) if want else verb in edge.verbs
        if is_meant and edge.confirm and sys.stdin.isatty() and not arguments.has("--json"):
            sys.stderr.write(question_words(edge.confirm))
            sys.stderr.flush()
            if sys.stdin.readline().strip().lower() in ("y", "yes"):
                return {**options, YES: "yes"}
            break
    return options
