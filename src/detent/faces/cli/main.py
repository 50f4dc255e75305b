"""Where every command begins and ends: parses, runs, words errors, and chooses the exit code."""

from __future__ import annotations

import gc
import os
import sys

from detent.errors import DetentError, Ended, UsageError
from detent.faces.cli.arguments import Arguments, parse_arguments
from detent.faces.words.screen import error_words, printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TextIO

# Exit codes, the same for every command; `detent --help` lists them.
DONE, REFUSED, USAGE, BUG, NEEDS_PERSON, UNREADABLE, STOPPED, INTERRUPTED = 0, 1, 2, 3, 4, 5, 6, 130


def main(words: Sequence[str] | None = None) -> int:
    """The `detent` command."""
    gc.disable()  # a command lives for milliseconds: looking for cycles costs more than they do
    _open_streams()
    _end_on_signals()
    given = list(sys.argv[1:] if words is None else words)
    code = DONE
    try:
        code = _answer(given)
        sys.stdout.flush()
    except BrokenPipeError:
        _drop(sys.stdout)  # the reader went away; nothing that was decided depends on it
    except KeyboardInterrupt:
        return INTERRUPTED
    except Ended as ended:
        return 128 + ended.number
    except OSError as error:
        _drop(sys.stdout)
        _complain(f"storage: the answer can't be written: {error.strerror}\n  next:  detent history\n")
        return UNREADABLE
    return code


def _complain(text: str) -> None:
    """Say what is wrong; where nobody can be told, the exit code still says it."""
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except OSError:
        _drop(sys.stderr)


def _drop(stream: TextIO) -> None:
    """What is still to be written, also by Python itself at its end, would fail once more."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _end_on_signals() -> None:
    import signal

    def end(number: int, _frame: object) -> None:
        process = sys.modules.get("detent.effects.host.process")  # only who runs programs has loaded it
        if process is None or not process.hold_signal(number):
            raise KeyboardInterrupt if number == signal.SIGINT else Ended(number)

    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        if signal.getsignal(number) != signal.SIG_IGN:  # who starts us deaf, as nohup does, means it
            signal.signal(number, end)


def _answer(given: list[str]) -> int:
    try:
        return _run([_as_text(word) for word in given])
    except DetentError as error:
        report(error, as_json=_wants_json(given))
        return error.code
    except BrokenPipeError:
        raise
    except Exception as error:  # noqa: BLE001  # the one place where a bug is turned into words and exit code 3
        return report_unforeseen(error, as_json=_wants_json(given))


def _wants_json(given: list[str]) -> bool:
    """Also where the words could not be parsed; behind two dashes nothing is an option."""
    return "--json" in (given[: given.index("--")] if "--" in given else given)


def _open_streams() -> None:
    """A closed stream or one that can't show a letter must not keep a command from doing what it was asked."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115  # it lives as long as we do
    sys.stdin.reconfigure(errors="surrogateescape")  # type: ignore[union-attr]  # as with arguments
    # What no person watches is written when all is known, also where PYTHONUNBUFFERED is set: then a reader that went
    # away, or a full disk, does not hide what the command came to.
    is_seen = sys.stdout.isatty()
    sys.stdout.reconfigure(errors="backslashreplace", line_buffering=is_seen, write_through=is_seen)  # type: ignore[union-attr]
    sys.stderr.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]


def _as_text(word: str) -> str:
    """An argument as UTF-8, whatever the locale says it is; journals and task files hold nothing else."""
    try:
        return os.fsencode(word).decode("utf-8")
    except UnicodeError:
        shown = ascii(word)
        raise UsageError(f"{shown} is not UTF-8 text", next_step="write the argument in UTF-8") from None


def _run(given: list[str]) -> int:
    if not given or given == ["--json"]:
        from detent.faces.cli.commands.look import overview

        return overview(as_json=bool(given))
    if given[0] in ("--help", "-h", "help"):
        from detent.faces.cli.help import help_on

        _print(help_on(given[1:]))
        return DONE
    if given[0] in ("--version", "version"):
        from detent import __version__

        _print(f"detent {__version__}")
        return DONE
    if given[1:] in (["--help"], ["-h"]):
        from detent.faces.cli.help import group_help

        if told := group_help(given[0]):
            _print(told)
            return DONE
    arguments = parse_arguments(given)
    if arguments.has("--help"):
        from detent.faces.cli.help import command_help

        _print(command_help(arguments.command))
        return DONE
    return _handler(arguments)(arguments)


def _handler(arguments: Arguments) -> Callable[[Arguments], int]:
    module, _, function = arguments.command.run.partition(":")
    # Not by `importlib`, which loads what nothing else here needs.
    found: Callable[[Arguments], int] = getattr(
        __import__(f"detent.faces.cli.commands.{module}", fromlist=(function,)), function
    )
    return found


def _print(text: str) -> None:
    sys.stdout.write(text + "\n")


def report(error: DetentError, *, as_json: bool) -> None:
    if not as_json:
        _complain(printable(error_words(error)) + "\n")
        return
    from detent.faces.cli.output import print_json

    told = {"kind": error.kind, "what": error.what, "where": error.where, "next": error.next_step}
    print_json({"error": {**told, "problems": list(getattr(error, "problems", ()))}})


def report_unforeseen(error: Exception, *, as_json: bool) -> int:
    """What no command reckoned with: a host that refuses is told as that, anything else is a bug of ours."""
    from detent.store.disk.atomic import is_refused_by_host, storage_error

    if isinstance(error, OSError) and is_refused_by_host(error):
        told = storage_error(error, str(error.filename or ""), "this host refuses what is needed")
        report(told, as_json=as_json)
        return told.code
    bug = DetentError(f"{type(error).__name__}: {error}", where=write_bug(error), next_step="please report that file")
    bug.kind = "bug"
    report(bug, as_json=as_json)
    return bug.code


def write_bug(error: Exception) -> str:
    """A traceback is for us, not for the person: it goes to a file whose path is told."""
    import tempfile
    import traceback

    text = "".join(traceback.format_exception(error))
    report = f"detent {' '.join(sys.argv[1:])}\n{text}".encode("utf-8", "backslashreplace")
    with tempfile.NamedTemporaryFile(prefix="detent-bug-", suffix=".log", delete=False) as file:
        file.write(report)
    return file.name


def task_phase_init() -> int:
    """`task-phase-init`: make the files of a phase task in a folder, in the words of the document it comes from."""
    from detent.faces.cli.commands.phase_words import INIT_HELP, help_of, init_words

    told = help_of(sys.argv[1:], INIT_HELP)
    return main(init_words(sys.argv[1:])) if told is None else told


def task_phase_run() -> int:
    """`task-phase-run`: exactly one bounded agent run of a phase task."""
    from detent.faces.cli.commands.phase_words import RUN_HELP, help_of, run_words

    told = help_of(sys.argv[1:], RUN_HELP)
    return main(run_words(sys.argv[1:])) if told is None else told
