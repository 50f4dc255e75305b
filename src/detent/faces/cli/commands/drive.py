"""Commands that drive tasks: run, start, stop, respawn, talk."""

from __future__ import annotations

import os
import sys

from detent.errors import RefusedError, UsageError
from detent.faces.cli.caller import person_name, refuse_inside_run
from detent.faces.cli.commands.ask import open_to_change
from detent.faces.cli.output import move_json, show, status_json
from detent.faces.cli.rests import EXIT_CODES, rest_json, tell_at_once, tell_nothing, tell_person
from detent.faces.words.run import goes_on_words, rest_words
from detent.faces.words.screen import outcome_words, status_words
from detent.runner.drive.drive import drive
from detent.runner.task.open import Task, find_project, is_over, load_all, load_task, open_task

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from detent.faces.cli.arguments import Arguments

LONGEST_STOP_S = 30.0  # for a run to end after the request to stop
_DETACHED_LOG = "detached.log"


def run(arguments: Arguments) -> int:
    refuse_inside_run("driving a task")
    try:
        tasks = _named_tasks(arguments)
    except RefusedError as error:
        return _over(arguments, error)
    if arguments.has("--no-start") and (len(tasks) > 1 or arguments.has("--jobs") or arguments.has("--detach")):
        raise UsageError("--no-start is for one task at a time", next_step="detent run --no-start TASK")
    if arguments.has("--detach"):
        return _detach(arguments, tasks)
    if len(tasks) > 1 or arguments.has("--jobs"):
        from detent.faces.cli.commands.watch import run_many

        return run_many(arguments, tasks)
    if not tasks:
        return _nothing(arguments)
    may_wait, may_start = not arguments.has("--no-wait"), not arguments.has("--no-start")
    return drive_and_show(arguments, tasks[0], once=arguments.has("--once"), may_wait=may_wait, may_start=may_start)


def _detach(arguments: Arguments, tasks: Sequence[Task]) -> int:
    """The same command again, in a session of its own."""
    from detent.effects.host.children import start_detent

    if not tasks:
        show(arguments, {"tasks": []}, "no open task here")
        return 0
    words = ["run", *(task.id for task in tasks), "--repo", tasks[0].project.root]
    words += ["--once"] if arguments.has("--once") else []
    words += ["--jobs", arguments.text("--jobs")] if arguments.has("--jobs") else []
    log = os.path.join(tasks[0].places.folder, _DETACHED_LOG)
    pid = start_detent(words, log)
    names = ", ".join(task.id for task in tasks)
    text = f"driving {names} in the background (process {pid})\n  look: detent logs -f {tasks[0].id}\n  log:  {log}"
    show(arguments, {"tasks": [task.id for task in tasks], "pid": pid, "log": log}, text)
    return 0


def respawn(arguments: Arguments) -> int:
    refuse_inside_run("asking for another agent run")
    from detent.runner.drive.mandate import let_drive

    task, may_wait, once = _task(arguments), not arguments.has("--no-wait"), arguments.has("--once")
    if task.memory.run:
        number = task.memory.run.run
        raise RefusedError(
            f"agent run #{number} still works on {task.id}",
            next_step=f"look: detent logs -f {task.id}; or end it first: detent stop {task.id}",
        )
    state = task.machine.states[task.memory.snapshot.state]
    # Elsewhere the agent is called in to assist, and the person goes on.
    leads_on = state.driver == "agent" or any("agent" in way.by for edge in state.edges for way in edge.ways)
    hands_over = leads_on and not once
    if hands_over:
        task = let_drive(task, person_name(), on=True)
    code = drive_and_show(arguments, task, once=once or not hands_over, is_requested=True, may_wait=may_wait)
    if not may_wait:
        from detent.runner.task.bell import ring

        ring(task.project)  # a watching process has a run to see to its end
    return code


def drive_and_show(
    arguments: Arguments,
    task: Task,
    *,
    once: bool,
    is_requested: bool = False,
    may_wait: bool = True,
    may_start: bool = True,
) -> int:
    tell = tell_nothing if arguments.has("--json") else tell_at_once
    since = arguments.number("--since", "detent history", "the number of a line")
    try:
        rest = drive(
            task,
            tell,
            move_json,
            once=once,
            is_requested=is_requested,
            may_wait=may_wait,
            may_start=may_start,
            since=since,
        )
    except KeyboardInterrupt:
        _break_off(arguments, task)
        raise
    if may_wait:  # else the process that waits instead tells the person
        tell_person(rest)
    content = rest_json(rest)
    show(arguments, {"tasks": [content]} if arguments.has("--all") else content, rest_words(rest))
    return EXIT_CODES[rest.why]


def _break_off(arguments: Arguments, task: Task) -> None:
    """Where the state has a move for it, Ctrl+C ends the run too; elsewhere the run goes on without us."""
    from detent.runner.drive.mandate import INTERRUPT, interrupt, let_drive, stop_and_wait

    task = load_task(task.project, task.id)
    if not any(INTERRUPT in edge.verbs for edge in task.machine.states[task.memory.snapshot.state].edges):
        if task.memory.run and not arguments.has("--json"):
            sys.stderr.write(goes_on_words(task) + "\n")
        return
    task, _ = stop_and_wait(let_drive(task, person_name(), on=False, reason="Ctrl+C"), LONGEST_STOP_S)
    if outcome := interrupt(task, person_name(), "Ctrl+C"):
        show(arguments, move_json(outcome), outcome_words(outcome))
        sys.stdout.flush()


def start(arguments: Arguments) -> int:
    from detent.runner.drive.mandate import let_drive

    refuse_inside_run("starting a task")
    task = let_drive(_task(arguments), person_name(), on=True)
    show(arguments, {"id": task.id, "driven": True}, f"started: {task.id}\n  next: detent watch drives it")
    return 0


def stop(arguments: Arguments) -> int:
    from detent.runner.drive.mandate import interrupt, let_drive, stop_and_wait

    refuse_inside_run("stopping a task")
    task = let_drive(_task(arguments), person_name(), on=False, reason=arguments.text("--reason"))
    number = task.memory.run.run
    task, ended = stop_and_wait(task, LONGEST_STOP_S)
    outcome = interrupt(task, person_name(), arguments.text("--reason"))
    text = f"stopped: {task.id}" + (f", agent run #{number} was ended" if number and ended else "")
    if number and not ended:
        text += f"\n  agent run #{number} has not ended yet; look again with: detent status {task.id}"
    if outcome is not None:
        text += f"\n{outcome_words(outcome)}"
    show(arguments, {"id": task.id, "driven": False, "ended": number if ended else 0}, text)
    return 0 if ended or not number else 1


def _task(arguments: Arguments) -> Task:
    return open_task(arguments.text("TASK"), arguments.text("--repo"))


def _named_tasks(arguments: Arguments) -> list[Task]:
    if machine := arguments.text("--adopt"):
        return [_adopted(arguments, machine)]
    if not arguments.has("--all"):
        names = (arguments.text("TASK"), *arguments.more)
        return [open_task(name, arguments.text("--repo")) for name in names]
    if arguments.text("TASK"):
        raise UsageError("--all means every task; name none", next_step="detent run --all")
    project = find_project(arguments.text("--repo"))
    return [load_task(project, found.id) for found in load_all(project) if found.error is None and not is_over(found)]


def _adopted(arguments: Arguments, machine: str) -> Task:
    """The task of a folder, which becomes one if it is none yet."""
    from detent.faces.cli.commands.trust import with_trust
    from detent.runner.make.adopt import adopt
    from detent.runner.make.begin import NewTask
    from detent.store.journal.places import read_pointer

    folder = arguments.text("TASK")
    if not os.path.isdir(folder):
        raise UsageError(f"there is no folder {folder!r}", next_step=f"make one: task-phase-init --task-dir {folder}")
    if read_pointer(folder):
        return open_task(folder)
    new_task = NewTask(machine=machine, folder=folder, repo=arguments.text("--repo"), by=person_name())
    return with_trust(arguments, find_project(new_task.repo), lambda: adopt(new_task))


def _over(arguments: Arguments, error: RefusedError) -> int:
    """Leave the finished folder of another tool alone; the output says whether it needs a person."""
    from detent.runner.make.adopt import AtEnd

    if not isinstance(error, AtEnd):
        raise error
    why = "person" if error.is_waiting else "done"
    content = {"id": "", "state": error.state, "rest": why, "why": error.what}
    head = "needs a person" if error.is_waiting else "done"
    show(arguments, content, f"{head}: {error.what}\n  where: {error.where}\n  next: {error.next_step}")
    return EXIT_CODES[why]


def _nothing(arguments: Arguments) -> int:
    show(arguments, {"tasks": []}, 'no open task here\n  next: detent new phase "what is to be done"')
    return 0


def talk(arguments: Arguments) -> int:
    """The agent of the task's state in this terminal."""
    from detent.runner.drive.talk import talk as talk_to_agent
    from detent.runner.tell.explain import explain

    refuse_inside_run("talking to an agent")
    task = open_to_change(arguments)
    if not all(os.isatty(stream) for stream in (0, 1)):
        is_called_in = task.machine.states[task.memory.snapshot.state].driver == "person"
        say, run = f'say one thing at a time: detent say "..." {task.id}', f"let it work alone: detent run {task.id}"
        raise RefusedError("talking needs a terminal, and this is none", next_step=say if is_called_in else run)
    task = talk_to_agent(task, tell_nothing if arguments.has("--json") else tell_at_once, move_json)
    explained = explain(task, with_moves=False)
    show(arguments, status_json(explained), status_words(explained))
    return 0
