"""Where every command begins and ends: parses, runs, words errors, and chooses the exit code."""

from __future__ import annotations

import gc
import os
import sys

from detent.errors import DetentError, Ended, UsageError
from detent.faces.cli.arguments import Arguments, parse_arguments
from detent.faces.cli.reports import DONE, INTERRUPTED, UNREADABLE, complain, drop, report, report_unforeseen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def main(words: Sequence[str] | None = None) -> int:
    """The `detent` command."""
    gc.disable()  # a command lives for milliseconds: looking for cycles costs more than they do
    _open_streams()
    _end_on_signals()
    typed = list(sys.argv[1:] if words is None else words)
    code = DONE
    try:
        code = _answer(typed)
        sys.stdout.flush()
    except BrokenPipeError:
        drop(sys.stdout)  # the reader went away; nothing that was decided depends on it
    except KeyboardInterrupt:
        return INTERRUPTED
    except Ended as ended:
        return 128 + ended.number
    except OSError as error:
        drop(sys.stdout)
        complain(f"storage: the answer can't be written: {error.strerror}\n  next:  detent history\n")
        return UNREADABLE
    return code


def _end_on_signals() -> None:
    import signal

    def end(number: int, _frame: object) -> None:
        process = sys.modules.get("detent.effects.host.process")  # loaded only where programs were run
        if process is None or not process.hold_signal(number):
            raise KeyboardInterrupt if number == signal.SIGINT else Ended(number)

    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        if signal.getsignal(number) != signal.SIG_IGN:  # a caller that ignores it, as nohup does, means it
            signal.signal(number, end)


def _answer(typed: list[str]) -> int:
    try:
        return _run([_as_text(word) for word in typed])
    except DetentError as error:
        report(error, as_json=_wants_json(typed))
        return error.code
    except BrokenPipeError:
        raise
    except Exception as error:  # noqa: BLE001  # the one place where a bug is turned into words and exit code 3
        return report_unforeseen(error, as_json=_wants_json(typed))


def _wants_json(typed: list[str]) -> bool:
    """Also where the words could not be parsed; behind two dashes nothing is an option."""
    return "--json" in (typed[: typed.index("--")] if "--" in typed else typed)


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


def _run(typed: list[str]) -> int:
    if not typed or typed == ["--json"]:
        from detent.faces.cli.commands.look import overview

        return overview(as_json=bool(typed))
    if typed[0] in ("--help", "-h", "help"):
        from detent.faces.cli.help import help_on

        _print(help_on(typed[1:]))
        return DONE
    if typed[0] in ("--version", "version"):
        from detent import __version__

        _print(f"detent {__version__}")
        return DONE
    if typed[1:] in (["--help"], ["-h"]):
        from detent.faces.cli.help import group_help

        if text := group_help(typed[0]):
            _print(text)
            return DONE
    arguments = parse_arguments(typed)
    if arguments.has("--help"):
        from detent.faces.cli.help import command_help

        _print(command_help(arguments.command))
        return DONE
    return _handler(arguments)(arguments)


def _handler(arguments: Arguments) -> Callable[[Arguments], int]:
    module, _, function = arguments.command.run.partition(":")
    # Not by `importlib`, which loads what nothing else here needs.
    room = "detent.faces" if "." in module else "detent.faces.cli.commands"
    found: Callable[[Arguments], int] = getattr(__import__(f"{room}.{module}", fromlist=(function,)), function)
    return found


def _print(text: str) -> None:
    sys.stdout.write(text + "\n")


def task_phase_init() -> int:
    """`task-phase-init`: make the files of a phase task in a folder, in the words of the document it comes from."""
    from detent.faces.cli.phase_words import INIT_HELP, help_of, init_words

    code = help_of(sys.argv[1:], INIT_HELP)
    return main(init_words(sys.argv[1:])) if code is None else code


def task_phase_run() -> int:
    """`task-phase-run`: exactly one bounded agent run of a phase task."""
    from detent.faces.cli.phase_words import RUN_HELP, help_of, run_words

    code = help_of(sys.argv[1:], RUN_HELP)
    return main(run_words(sys.argv[1:])) if code is None else code
