"""`detent say`: one line to a task: `/word` is a move or view of its menu, anything else a turn of the conversation."""

from __future__ import annotations

from detent.errors import RefusedError, UsageError
from detent.faces.cli.act import open_to_change, person_name, refuse_inside_run, show_outcome
from detent.faces.cli.choose import take
from detent.faces.cli.drive import EXIT_CODES, nothing_told, tell_at_once
from detent.faces.cli.output import move_json, show
from detent.faces.words_loop import reply_said_words
from detent.runner.drive import drive
from detent.runner.people import answer
from detent.runner.surroundings import Surroundings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from detent.faces.cli.arguments import Arguments
    from detent.runner.open import Task


def say(arguments: Arguments) -> int:
    refuse_inside_run("saying something")
    text = arguments.text("WORDS").strip()
    if not text:
        raise UsageError("there is nothing to say", next_step='detent say "what you want"')
    task = open_to_change(arguments)
    if text.startswith("/"):
        word, _, rest = text[1:].partition(" ")
        return take(arguments, task, word, rest.strip().strip("\"'"))
    state = task.machine.states[task.memory.snapshot.state]
    if any("answer" in edge.verbs for edge in state.edges):
        return show_outcome(arguments, answer(task, person_name(), text))
    if not state.role or state.driver != "person":
        raise RefusedError(
            f"nobody listens in {state.name}", next_step=f"a move is said with a slash: detent say /WORD {task.id}"
        )
    return _turn(arguments, answer(task, person_name(), text).task)


def _turn(arguments: Arguments, task: Task) -> int:
    """One bounded run of the agent a person calls in; its last words are the answer."""
    before = task.memory.runs
    tell = nothing_told if arguments.has("--json") else tell_at_once
    rest = drive(task, tell, move_json, once=True, asked=True)
    task = rest.task
    if task.memory.runs == before:
        show(arguments, {"id": task.id, "rest": rest.why, "why": rest.text}, rest.text)
        return EXIT_CODES[rest.why]
    said = Surroundings(task, task.memory, may_start=False).said()
    visit, text = task.memory.visit, said.text if said else ""
    content = {"id": task.id, "run": visit.get("run", 0), "role": visit.get("role", ""), "said": text}
    show(arguments, content, reply_said_words(str(visit.get("role", "")), str(visit.get("exit", "")), text))
    return 0 if visit.get("exit") == "finished" else 1
