"""`detent choose`: the menu of the state a task stands in, by letter or word."""

from __future__ import annotations

import sys

from detent.core.values import Signal
from detent.errors import UsageError
from detent.faces.cli.caller import person_name, refuse_inside_run
from detent.faces.cli.commands.ask import open_to_change, show_outcome
from detent.faces.cli.output import show
from detent.faces.cli.step_options import step_options
from detent.faces.words.loop import ask_choice_words, diagnosis_words, menu_words
from detent.faces.words.screen import printable
from detent.packs.ralf.diagnose import diagnose
from detent.runner.step.step import step
from detent.runner.task.loop import loop_of
from detent.runner.task.open import open_task
from detent.runner.tell.menu import chosen, menu

TYPE_CHECKING = False
if TYPE_CHECKING:
    from detent.faces.cli.arguments import Arguments
    from detent.runner.task.open import Task


def choose(arguments: Arguments) -> int:
    """Take what a key or word means here; without one the menu is shown, and at a terminal asked."""
    word, task = _word_and_task(arguments)
    if word:
        return take(arguments, task, word)
    choices = menu(task)
    content = {
        "id": task.id,
        "state": task.memory.snapshot.state,
        "choices": [{name: getattr(choice, name) for name in choice._fields} for choice in choices],
    }
    show(arguments, content, menu_words(task, choices, loop_of(task)))
    if not choices or arguments.has("--json") or not (sys.stdin.isatty() and sys.stdout.isatty()):
        return 0
    sys.stderr.write(ask_choice_words())
    sys.stderr.flush()
    word = sys.stdin.readline().strip()
    return take(arguments, task, word) if word else 0


def _word_and_task(arguments: Arguments) -> tuple[str, Task]:
    """`choose TASK` without a key is understood when the word names a task and is no choice."""
    word, wanted, repo = arguments.text("KEY"), arguments.text("TASK"), arguments.text("--repo")
    if not word or wanted:
        return word, open_to_change(arguments)
    try:
        task = open_to_change(arguments)
        chosen(task, word)
    except UsageError as problem:
        try:
            return "", open_task(word, repo)
        except UsageError:
            raise problem from None
    return word, task


def take(arguments: Arguments, task: Task, word: str) -> int:
    edge, view = chosen(task, word)
    if edge is None:
        return show_view(arguments, task, view)
    refuse_inside_run("choosing")
    verb = edge.verbs[0] if edge.verbs else ""
    signal = Signal("person", edge.name, name=person_name(), reason=arguments.text("--reason"), verb=verb)
    options = step_options(arguments, task, edge.name)
    return show_outcome(arguments, step(without_run(task, verb), signal, options=options))


def without_run(task: Task, verb: str = "") -> Task:
    """The task with its run ended: a choice of where to go on ends the work that goes on."""
    if not task.memory.run:
        return task
    from detent.faces.cli.commands.drive import LONGEST_STOP_S
    from detent.runner.drive.mandate import CANCEL, let_drive, stop_and_wait

    reason = CANCEL if verb == CANCEL else ""
    return stop_and_wait(let_drive(task, person_name(), on=False, reason=reason), LONGEST_STOP_S)[0]


def show_view(arguments: Arguments, task: Task, view: str) -> int:
    found = diagnose(task)
    if found is None:
        raise UsageError(f"there is nothing to show as {view}", next_step=f"detent status {task.id}")
    content = {name: getattr(found, name) for name in found._fields if name != "loop"}
    loop = {name: getattr(found.loop, name) for name in found.loop._fields}
    show(arguments, {"id": task.id, "view": view, **content, "loop": loop}, printable(diagnosis_words(task, found)))
    return 0
