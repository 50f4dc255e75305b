"""Commands of people about what waits for them: inbox, approve, reject, cancel, and words such as these."""

from __future__ import annotations

from detent.core.values import Refuse, Signal
from detent.errors import UsageError
from detent.faces.cli.act import open_to_change, person_name, refuse_inside_run, show_outcome
from detent.faces.cli.given import given_with
from detent.faces.cli.output import show
from detent.faces.words_run import inbox_words
from detent.runner.inbox import inbox as waiting_tasks
from detent.runner.layout import choose_active
from detent.runner.open import find_project, open_task
from detent.runner.step import Outcome, step

TYPE_CHECKING = False
if TYPE_CHECKING:
    from detent.faces.cli.arguments import Arguments


def inbox(arguments: Arguments) -> int:
    """All that waits for a person, why, since when, and the one command; exit 0 also when something does."""
    letters = waiting_tasks(find_project(arguments.text("--repo")))
    rows = [
        {
            "id": one.id,
            "state": one.state,
            "why": one.why,
            "since": one.since,
            "title": one.title,
            "run": one.command,
            "advice": one.advice,
        }
        for one in letters
    ]
    show(arguments, {"waiting": rows}, inbox_words(letters))
    return 0


def approve(arguments: Arguments) -> int:
    return _by_verb(arguments, "approve")


def reject(arguments: Arguments) -> int:
    reason = arguments.text("--reason")
    if not reason:
        raise UsageError("reject needs a reason: the next agent run is told", next_step='detent reject --reason "why"')
    return _by_verb(arguments, "reject")


def cancel(arguments: Arguments) -> int:
    """Ends a living run first: who cancels a task does not want it to work on."""
    refuse_inside_run("cancelling")
    from detent.faces.cli.drive import LONGEST_STOP_S
    from detent.runner.mandate import let_drive, stop_and_wait

    task = open_task(arguments.text("TASK"), arguments.text("--repo"))
    if task.memory.run:
        stop_and_wait(let_drive(task, person_name(), on=False), LONGEST_STOP_S)
    return _by_verb(arguments, "cancel")


def _by_verb(arguments: Arguments, verb: str) -> int:
    """Take the one open move with this verb; where there are several, they are listed."""
    refuse_inside_run(verb)
    task = open_to_change(arguments)
    edges = [edge for edge in task.machine.states[task.memory.snapshot.state].edges if verb in edge.verbs]
    asked = Signal("person", name=person_name(), reason=arguments.text("--reason"), verb=verb)
    if not edges:
        state = task.memory.snapshot.state
        hint = f"its moves: detent next {task.id}"
        refused = Refuse(f"nothing in {state} waits for {verb}", hint=hint)
        return show_outcome(arguments, Outcome(refused, task, {}, asked, state))
    wanted = arguments.text("--edge")
    if len(edges) > 1 and not wanted:
        names = ", ".join(f"{edge.name} (to {edge.target})" for edge in edges)
        raise UsageError(f"{verb} may mean {names}", next_step=f"detent {verb} --edge NAME {task.id}")
    want = wanted or edges[0].name
    return show_outcome(arguments, step(task, asked.replace(want=want), given=given_with(arguments, task, want)))


def use(arguments: Arguments) -> int:
    """Choose the task that is meant when none is named, where its machine keeps a file for that."""
    refuse_inside_run("choosing a task")
    task = open_task(arguments.text("TASK"), arguments.text("--repo"))
    path = choose_active(task)
    if not path:
        raise UsageError(f"{task.machine.name} keeps no such choice", next_step="name the task in each command")
    show(arguments, {"id": task.id, "file": path}, f"chosen: {task.id}")
    return 0
