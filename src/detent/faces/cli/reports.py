"""Words errors for a person or as JSON, and says which exit code each means."""

from __future__ import annotations

import os
import sys

from detent.errors import DetentError
from detent.faces.words.screen import error_words, printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TextIO

# Exit codes, the same for every command; `detent --help` lists them.
DONE, REFUSED, USAGE, BUG, NEEDS_PERSON, UNREADABLE, STOPPED, INTERRUPTED = 0, 1, 2, 3, 4, 5, 6, 130


def complain(text: str) -> None:
    """Say what is wrong; where that can't be written, the exit code still says it."""
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except OSError:
        drop(sys.stderr)


def drop(stream: TextIO) -> None:
    """What is still to be written, also by Python itself at its end, would fail once more."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def report(error: DetentError, *, as_json: bool) -> None:
    if not as_json:
        complain(printable(error_words(error)) + "\n")
        return
    from detent.faces.cli.output import print_json

    content = {"kind": error.kind, "what": error.what, "where": error.where, "next": error.next_step}
    print_json({"error": {**content, "problems": list(getattr(error, "problems", ()))}})


def report_unforeseen(error: Exception, *, as_json: bool) -> int:
    """Report an exception that no command expected: a host that refuses as that, anything else as a bug of ours."""
    from detent.store.disk.atomic import is_refused_by_host, storage_error

    if isinstance(error, OSError) and is_refused_by_host(error):
        reported = storage_error(error, str(error.filename or ""), "this host refuses what is needed")
        report(reported, as_json=as_json)
        return reported.code
    bug = DetentError(f"{type(error).__name__}: {error}", where=write_bug(error), next_step="please report that file")
    bug.kind = "bug"
    report(bug, as_json=as_json)
    return bug.code


def write_bug(error: Exception) -> str:
    """Write the traceback to a file and return its path: it is for us, not for the person."""
    import tempfile
    import traceback

    text = "".join(traceback.format_exception(error))
    report = f"detent {' '.join(sys.argv[1:])}\n{text}".encode("utf-8", "backslashreplace")
    with tempfile.NamedTemporaryFile(prefix="detent-bug-", suffix=".log", delete=False) as file:
        file.write(report)
    return file.name
