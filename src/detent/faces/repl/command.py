"""`detent repl`: lines typed to one task; from a pipe or file, a script that ends at the first line that fails."""

from __future__ import annotations

import os
import sys

from detent.errors import DetentError, UsageError
from detent.faces.cli.arguments import Arguments, parse_arguments
from detent.faces.cli.caller import refuse_inside_run
from detent.faces.cli.commands.ask import open_to_change
from detent.faces.cli.commands.say import say
from detent.faces.cli.reports import INTERRUPTED, report, report_unforeseen
from detent.faces.words.said import (
    INTERRUPTED_WORDS,
    LEAVE_WORDS,
    PLAIN_WORDS,
    greeting_words,
    prompt_words,
    script_ended_words,
)
from detent.faces.words.screen import printable
from detent.machines.lines import LEAVING

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from detent.runner.task.open import Task

    Read = Callable[[str, Task], str]


def repl(arguments: Arguments) -> int:
    refuse_inside_run("talking to a task")
    import gc

    gc.enable()  # this command lives for hours
    task = open_to_change(arguments)
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return _script(arguments, task)
    return _talk(arguments, task, _reader(task))


def _reader(task: Task) -> Read:
    """How lines are read at a terminal: with completion and history where the library for it is there."""
    if os.environ.get("TERM", "dumb") in ("", "dumb"):
        return _read_line
    try:
        from detent.faces.repl.terminal import Terminal
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("prompt_toolkit", "wcwidth"):
            raise
        sys.stderr.write(f"note: {PLAIN_WORDS}\n")
        return _read_line
    from detent.faces.repl.typed import typed_path

    return Terminal(typed_path(task.project)).read


def _read_line(prompt: str, _task: Task) -> str:
    """Ctrl+C is heard from the prompt on: one that comes just before a read begins would wait for the next line."""
    import select
    import signal

    heard, hearing = os.pipe()
    os.set_blocking(hearing, False)
    before = signal.set_wakeup_fd(hearing, warn_on_full_buffer=False)
    try:
        sys.stdout.write(prompt)
        sys.stdout.flush()
        select.select((sys.stdin, heard), (), ())  # a terminal shows a line when it is whole
    finally:
        signal.set_wakeup_fd(before)
        os.close(heard)
        os.close(hearing)
    # Not by `input`: a second Ctrl+C at the wrong moment meets it with the first one half raised, a SystemError.
    if not (line := sys.stdin.readline()):
        raise EOFError
    return line


def _talk(arguments: Arguments, task: Task, read: Read) -> int:
    """Until the person leaves: Ctrl+C gives up a line or what it began, Ctrl+D leaves."""
    sys.stdout.write(printable(greeting_words(task)) + "\n")
    while True:
        try:
            line = read(prompt_words(task), task).strip()
        except EOFError:
            sys.stdout.write("\n")
            return 0
        except KeyboardInterrupt:
            sys.stdout.write(f"{LEAVE_WORDS}\n")
            continue
        if line.casefold() in LEAVING:
            return 0
        if line:
            try:
                obey(arguments, task.id, line)
            except KeyboardInterrupt:
                sys.stdout.write(f"{INTERRUPTED_WORDS}\n")
        task = _again(arguments, task)


def _again(arguments: Arguments, task: Task) -> Task:
    """The task as it is now; the next line that needs an unreadable task reports the error."""
    try:
        return open_to_change(_of(arguments, task.id, ""))
    except DetentError:
        return task


def _script(arguments: Arguments, task: Task) -> int:
    """Every line in turn; one that fails ends it, because those after it were meant for another situation."""
    code = 0
    for number, typed in enumerate(sys.stdin.buffer, 1):
        line = typed.decode("utf-8", "surrogateescape").strip()
        if line.casefold() in LEAVING:
            break
        if not line:
            continue
        try:
            code = obey(arguments, task.id, line)
        except KeyboardInterrupt:
            return INTERRUPTED
        sys.stdout.flush()
        if code:
            sys.stderr.write(printable(script_ended_words(number, line)) + "\n")
            break
    return code


def obey(arguments: Arguments, task_id: str, line: str) -> int:
    """What `detent say` does with a line, errors put into words as at the command line."""
    try:
        return say(_of(arguments, task_id, line))
    except DetentError as error:
        report(error, as_json=arguments.has("--json"))
        return error.code
    except BrokenPipeError:
        raise
    except Exception as error:  # noqa: BLE001  # a bug in one line is reported, and must not end the session
        return report_unforeseen(error, as_json=arguments.has("--json"))


def _of(arguments: Arguments, task_id: str, line: str) -> Arguments:
    if any("\ud800" <= sign <= "\udfff" for sign in line):  # what stands for bytes that are no text
        raise UsageError("the line is not UTF-8 text", next_step="write it in UTF-8")
    said = parse_arguments(["say", "--", line, task_id])
    return said.replace(options={name: value for name, value in arguments.options.items() if name != "--help"})
