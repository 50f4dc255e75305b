"""`detent say`: one line to a task, the same as typed in `detent repl`; runner/tell/said.py tells what it means."""

from __future__ import annotations

from detent.core.values import Advance
from detent.errors import RefusedError, UsageError
from detent.faces.cli.caller import person_name, refuse_inside_run
from detent.faces.cli.commands.ask import open_to_change, show_outcome
from detent.faces.cli.commands.choose import show_view, without_run
from detent.faces.cli.commands.drive import drive_and_show
from detent.faces.cli.output import move_json, next_json, show, status_json
from detent.faces.cli.rests import EXIT_CODES, tell_at_once, tell_nothing
from detent.faces.cli.step_options import step_options
from detent.faces.words.loop import reply_said_words
from detent.faces.words.said import no_listener_words, understood_words
from detent.faces.words.screen import next_words, outcome_words, status_words
from detent.runner.drive.drive import drive
from detent.runner.people.people import answer
from detent.runner.step.step import YES, step
from detent.runner.step.surroundings import Surroundings
from detent.runner.tell import said
from detent.runner.tell.explain import explain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from detent.core.values import Signal
    from detent.faces.cli.arguments import Arguments
    from detent.runner.task.open import Task


def say(arguments: Arguments) -> int:
    refuse_inside_run("saying something")
    text = arguments.text("WORDS").strip()
    if not text:
        raise UsageError("there is nothing to say", next_step='detent say "what you want"')
    return obey(arguments, open_to_change(arguments), text)


def obey(arguments: Arguments, task: Task, typed: str) -> int:
    """Do what a line means; the exit code is that of the command it stands for."""
    meant = said.meaning(task, typed, person_name())
    if meant.kind in (said.ASK, said.MENU):
        options = step_options(arguments, task, meant.signal.want, meant.signal.verb)
        options = {**options, YES: "yes"} if meant.is_yes else options
        return _ask(arguments, without_run(task) if meant.kind == said.MENU else task, meant.signal, options)
    if meant.kind == said.VIEW:
        return show_view(arguments, task, meant.text)
    if meant.kind == said.RUN:
        return _work(arguments, task, meant.text)
    if meant.kind == said.TEXT:
        return _answer_or_talk(arguments, task, meant.text)
    return _look(arguments, task, meant.kind)


def _look(arguments: Arguments, task: Task, kind: str) -> int:
    """What is understood here, where the task stands, or its moves."""
    if kind == said.WORDS:
        lines = said.understood(task)
        content = {"id": task.id, "state": task.memory.snapshot.state, "words": [list(line) for line in lines]}
        show(arguments, content, understood_words(task, lines))
        return 0
    explained = explain(task, with_moves=kind == said.MOVES)
    if kind == said.MOVES:
        show(arguments, next_json(explained), next_words(explained))
    else:
        show(arguments, status_json(explained), status_words(explained))
    return 0


def _ask(arguments: Arguments, task: Task, signal: Signal, options: Mapping[str, str]) -> int:
    """Ask for a move; one that led out of an end, and whose verb leads on from there, is asked for once more."""
    outcome = step(task, signal, options=options)
    task, moved = outcome.task, outcome.decision
    if isinstance(moved, Advance) and task.machine.states[moved.edge.source].is_end:
        here = task.machine.states[moved.after.state]
        edges = [edge for edge in here.edges if signal.verb in edge.verbs and edge.target != here.name]
        if edges and not any(edge.reopen for edge in edges):
            if not arguments.has("--json"):  # one answer to one line
                show(arguments, {}, outcome_words(outcome))
            outcome = step(task, signal.replace(want=""), options=options)
    return show_outcome(arguments, outcome)


def _work(arguments: Arguments, task: Task, text: str) -> int:
    """Have the state a task stands in worked on: an agent runs once, the engine looks once, a person sees the moves."""
    state = task.machine.states[task.memory.snapshot.state]
    if text:
        task = answer(task, person_name(), text).task
    if state.driver == "person" and not state.role:
        return _look(arguments, task, said.MOVES)
    code = drive_and_show(arguments, task, once=True, is_requested=bool(state.role), may_start=bool(state.role))
    return 0 if code == EXIT_CODES["person"] else code  # done; the output has named the person's turn


def _answer_or_talk(arguments: Arguments, task: Task, text: str) -> int:
    state = task.machine.states[task.memory.snapshot.state]
    if any("answer" in edge.verbs for edge in state.edges):
        return show_outcome(arguments, answer(task, person_name(), text))
    if not state.role or state.driver != "person":
        raise RefusedError(f"nobody listens in {state.name}", next_step=no_listener_words(task, text))
    return _turn(arguments, answer(task, person_name(), text).task)


def _turn(arguments: Arguments, task: Task) -> int:
    """One bounded run of the agent a person calls in; its last words are the answer."""
    before = task.memory.runs
    tell = tell_nothing if arguments.has("--json") else tell_at_once
    rest = drive(task, tell, move_json, once=True, is_requested=True)
    task = rest.task
    if task.memory.runs == before:
        show(arguments, {"id": task.id, "rest": rest.why, "why": rest.text}, rest.text)
        return EXIT_CODES[rest.why]
    words = Surroundings(task, task.memory, may_start=False).said()
    visit, text = task.memory.visit, words.text if words else ""
    content = {"id": task.id, "run": visit.run, "role": visit.role, "said": text}
    show(arguments, content, reply_said_words(str(visit.role), str(visit.exit), text))
    return 0 if visit.exit == "finished" else 1
