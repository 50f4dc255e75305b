"""Asks for a move, whichever command wants one, and shows what came of it: the one step, or a claim of a living run."""

from __future__ import annotations

import os

from detent.core.values import Advance, Refuse, Signal, Wait
from detent.errors import RefusedError, UsageError
from detent.faces.cli.caller import enclosing_run, is_held, is_inside_run, person_name, refuse_inside_run
from detent.faces.cli.output import move_json, progress_teller, show
from detent.faces.cli.step_options import step_options
from detent.faces.words.screen import outcome_words
from detent.runner.step.step import Outcome, step, tidy
from detent.runner.task.open import Task, open_task

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from detent.faces.cli.arguments import Arguments
    from detent.runner.step.proving.progress import Progress

_DROP_WAIT_S = 30.0


def ask(arguments: Arguments, task: Task, want: str, verb: str = "") -> int:
    """Ask for a move by its target, its name or its verb: of a living run it is a claim, else it is made or refused."""
    if (rights := arguments.text("--as")) not in ("", "agent"):
        raise UsageError(f"--as knows only agent, not {rights!r}", next_step="detent move TO --as agent")
    who = "agent" if rights or is_held() else "person"
    if is_inside_run():
        return _claim(arguments, task, want, verb)
    progress = progress_teller(arguments)
    task, _ = _attended(task, progress)
    if not want and not verb:
        role = task.machine.states[task.memory.snapshot.state].role
        name = person_name() if who == "person" else role
        first_open = Signal(who, name=name, reason=arguments.text("--reason"))
        options, shown = step_options(arguments, task), arguments.text("--tree")
        return show_outcome(
            arguments, step(task, None, otherwise=first_open, options=options, shown=shown, progress=progress)
        )
    if want == task.memory.snapshot.state:
        return _already_there(arguments, task, want)
    state = task.machine.states[task.memory.snapshot.state]
    signal = Signal(
        who,
        want,
        name=person_name() if who == "person" else state.role,
        reason=arguments.text("--reason"),
        override=arguments.text("--override"),
        verb=verb,
    )
    options, shown = step_options(arguments, task, want), arguments.text("--tree")
    return show_outcome(arguments, step(task, signal, options=options, shown=shown, progress=progress))


def _attended(task: Task, progress: Callable[[Progress], None]) -> tuple[Task, Outcome | None]:
    """The task with every run that has ended written down and decided."""
    if not (task.memory.run or task.memory.ended):
        return task, None
    from detent.runner.run.ending import attend

    return attend(task, progress)


def open_to_change(arguments: Arguments) -> Task:
    """The task a person wants to change."""
    return _attended(open_task(arguments.text("TASK"), arguments.text("--repo")), progress_teller(arguments))[0]


def _claim(arguments: Arguments, task: Task, want: str, verb: str) -> int:
    """Inside an agent run: answered at once, and nothing moves before the run has ended."""
    from detent.errors import StorageError
    from detent.runner.run.claims import claim

    try:
        outcome = claim(task, enclosing_run(task), want, arguments.text("--reason"), verb)
    except StorageError:  # an agent's own sandbox may keep us from the journal
        return ask_by_drop(arguments, {"verb": verb} if verb else {"move": want})
    return show_outcome(arguments, outcome)


def ask_by_drop(arguments: Arguments, request: dict[str, str]) -> int:
    """Where the journal is out of reach, the process that drives the task answers through the drop folder."""
    from detent.faces.words.run import reply_words

    reply = drop_reply(request)
    show(arguments, reply, reply_words(reply))
    # Nothing claimed and nothing refused: what was asked for is so already.
    return 0 if reply.get("claimed") or ("refusal" in reply and reply["refusal"] is None) else 1


def drop_reply(request: dict[str, str]) -> Mapping[str, Any]:
    from detent.runner.run.drops import ask_by_drop as put_down

    reply = put_down(os.environ.get("DETENT_DROP", ""), request, _DROP_WAIT_S)
    if reply is None:
        raise RefusedError(
            "nobody answers: the engine is not running now",
            next_step="write what you want into the state line of the task's file and end your turn; it is judged then",
        )
    return reply


def _already_there(arguments: Arguments, task: Task, state: str) -> int:
    task, notes = tidy(task)
    outcome = Outcome(Wait("it is there already"), task, {}, Signal("person", state), state, notes)
    show(arguments, move_json(outcome), outcome_words(outcome))
    return 0


def show_outcome(arguments: Arguments, outcome: Outcome) -> int:
    outcome = _with_route(outcome)
    show(arguments, move_json(outcome), outcome_words(outcome))
    return 1 if isinstance(outcome.decision, Refuse) else 0


def _with_route(outcome: Outcome) -> Outcome:
    """The moves to a state that is further away than one."""
    refused, want, machine = outcome.decision, outcome.signal.want, outcome.task.machine
    if not isinstance(refused, Refuse) or refused.edge or refused.hint or want not in machine.states:
        return outcome
    from detent.core.explore import route as shortest  # only after such a refusal
    from detent.faces.words.said import route_words

    edges = shortest(machine, outcome.before, want)
    is_forbidden = any((pair.source, pair.target) == (outcome.before, want) for pair in machine.forbidden)
    if not edges or len(edges) < 2 or (is_forbidden and not outcome.signal.override):
        return outcome
    first = {name: register.start for name, register in machine.registers.items()}
    if any(all(any(first[name] not in way.when[name] for name in way.when) for way in edge.ways) for edge in edges):
        return outcome  # it leads through an interruption and back, which is open only to where it began
    words = route_words(outcome.task, edges, is_override=bool(outcome.signal.override))
    return outcome.replace(decision=refused.replace(hint=words))


def take_route(arguments: Arguments, task: Task, goal: str) -> int:
    """Make open moves towards a state until one is refused; at most once per state, so it ends."""
    from detent.core.explore import route as shortest

    refuse_inside_run("taking a route")
    outcome: Outcome | None = None
    for _ in task.machine.states:
        edges = shortest(task.machine, task.memory.snapshot.state, goal)
        if not edges:
            break
        outcome = step(task, Signal("person", edges[0].name, name=person_name()))
        task = outcome.task
        if not isinstance(outcome.decision, Advance):
            break
        if len(edges) > 1 and not arguments.has("--json"):
            show(arguments, move_json(outcome), outcome_words(outcome))
    if outcome is None:
        state = task.memory.snapshot.state
        raise UsageError(f"no way leads from {state} to {goal}", next_step=f"detent next {task.id}")
    return show_outcome(arguments, outcome)
