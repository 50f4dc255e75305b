"""Tells whether a person or an agent run gives a command: by what a run says of itself, and by its sandbox."""

from __future__ import annotations

import os

from detent.errors import RefusedError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from detent.runner.task.open import Task

_RUN_MARK = "DETENT_ROLE"  # set in the environment of every agent run
_HELD_MARK, _UNHELD = "DETENT_SANDBOX", "none"
_RUN_NUMBER, _RUN_FOLDER = "DETENT_RUN_NUMBER", "DETENT_TASK_DIR"


def person_name() -> str:
    import pwd  # the account, not the environment: USER can be set to anything

    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return f"uid {os.getuid()}"


def refuse_inside_run(what: str) -> None:
    """What people keep is closed to a process that calls itself an agent's, and to a sandboxed one.

    A sandboxed agent can take the marks out of its environment; that it may gain no rights it can't undo. Where people
    themselves work so, as in some containers, the project says so in its settings.
    """
    if is_held():
        raise RefusedError(
            f"{what} is for a person, and this process may gain no new rights (NoNewPrivs), as an agent in a sandbox",
            next_step="do it in a terminal of your own; where people work so, commit [human] allow_no_new_privs = true",
        )
    if os.environ.get(_RUN_MARK):
        raise RefusedError(
            f"{what} is for a person, and this is an agent run",
            next_step="finish your work; a person will be asked",
        )


def is_held() -> bool:
    """Whether this process may gain no rights, in a project that does not say its people work so."""
    try:
        with open("/proc/self/status", encoding="ascii", errors="replace") as file:
            if not any(line.startswith("NoNewPrivs:") and line.split()[1] == "1" for line in file):
                return False
    except OSError:
        return False  # no Linux, or nothing to see: then this process is not sandboxed this way either
    from detent.runner.task.committed import committed_settings

    return not committed_settings().human_allow_no_new_privs


def is_run_held() -> bool:
    """Whether this is an agent run in a sandbox, from which no journal can be seen."""
    return bool(os.environ.get(_RUN_MARK)) and os.environ.get(_HELD_MARK, _UNHELD) != _UNHELD


def is_inside_run() -> bool:
    return bool(os.environ.get(_RUN_MARK))


def enclosing_run(task: Task) -> int:
    """The number of the run this process belongs to; it speaks for no other task."""
    if os.environ.get(_RUN_FOLDER, "") != task.native.folder:
        raise RefusedError(f"this agent run works on another task than {task.id}", next_step="keep to your own task")
    from detent.store.text.numbers import whole_number  # only agent runs come here

    return whole_number(os.environ.get(_RUN_NUMBER, "")) or 0
