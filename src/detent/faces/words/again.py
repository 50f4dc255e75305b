"""The words for a refused command that is to be given again."""

from __future__ import annotations

from shlex import quote

from detent.machines.lines import PLACE
from detent.runner.step.in_place import NO_GIT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from detent.core.values import Refuse
    from detent.runner.step.step import Outcome


def command_again(outcome: Outcome, refusal: Refuse) -> str:
    """The command that makes the refused move once its proof is there: with all that was said, and what must be."""
    task, repeated = outcome.task, dict(outcome.options)
    if outcome.signal.verb.endswith(PLACE):  # what was said is part of the move
        line = outcome.signal.verb.replace(PLACE, outcome.signal.reason)
        return f"detent say {quote(line)} {task.id}"
    for gap in refusal.missing:
        gate = task.machine.gates.get(gap.gate)
        if gap.gate == "confirm":
            repeated["yes"] = ""
        elif gap.fix.endswith(f"add --{NO_GIT}"):
            repeated[NO_GIT] = ""
        elif gate is not None and gate.check == "person_says":
            repeated[gate.params["word"]] = ""
    # Only its own command takes what a commit is given.
    verb = f"move {refusal.edge.target if refusal.edge else ''}"
    if {"message", "sha"} & repeated.keys():
        verb = "commit"
    elif refusal.edge is not None and not repeated and outcome.signal.verb in refusal.edge.verbs:
        verb = outcome.signal.verb  # the person's own command, such as `approve`
    options = [
        f"--{name} {quote(value)}" if name in ("message", "sha") else f"--{name}" for name, value in repeated.items()
    ]
    return " ".join(["detent", verb, task.id, *options])
