"""`detent talk`: the agent of the task's state in this terminal."""

from __future__ import annotations

import os

from detent.errors import RefusedError
from detent.faces.cli.caller import refuse_inside_run
from detent.faces.cli.commands.ask import open_to_change
from detent.faces.cli.commands.drive import nothing_told, tell_at_once
from detent.faces.cli.output import move_json, show, status_json
from detent.faces.words.screen import status_words
from detent.runner.drive.talk import talk as talk_to_agent
from detent.runner.tell.explain import explain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from detent.faces.cli.arguments import Arguments


def talk(arguments: Arguments) -> int:
    refuse_inside_run("talking to an agent")
    task = open_to_change(arguments)
    if not all(os.isatty(stream) for stream in (0, 1)):
        is_called_in = task.machine.states[task.memory.snapshot.state].driver == "person"
        say, run = f'say one thing at a time: detent say "..." {task.id}', f"let it work alone: detent run {task.id}"
        raise RefusedError("talking needs a terminal, and this is none", next_step=say if is_called_in else run)
    task = talk_to_agent(task, nothing_told if arguments.has("--json") else tell_at_once, move_json)
    told = explain(task, with_moves=False)
    show(arguments, status_json(told), status_words(told))
    return 0
