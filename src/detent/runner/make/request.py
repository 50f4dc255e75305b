"""The words a task is made from when they are more than one line: a file, standard input, or an issue of a tracker.

They are kept whole beside the task and by their hash. Somebody else may have written them: they are material for the
agent, and nothing here acts on them.
"""

from __future__ import annotations

import os

from detent.core.record import Record
from detent.errors import ToolError, UnreadableError, UsageError
from detent.store.disk.atomic import LARGEST_TEXT_BYTES, read_plain
from detent.store.journal.places import make_task_folder
from detent.store.journal.tasks import TaskStore

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from detent.store.journal.places import Project, TaskPlaces
    from detent.store.journal.settings import Settings

FILE = "REQUEST.md"
STANDARD_INPUT = "-"
ISSUE_TIMEOUT_S = 120.0
_CORRECT = "or name a program that prints it under [issue] read in detent.toml"


class Request(Record):
    """A request for a task."""

    title: str
    text: str
    source: str  # in words: where it was read
    url: str = ""


def find_request(project: Project, settings: Settings, path: str, issue: str) -> Request | None:
    """What `--from` or `--issue` name; None when neither is given."""
    if path and issue:
        raise UsageError("--from and --issue both say what is to be done", next_step="give one of them")
    if path:
        return read_request(path)
    return read_issue(settings.issue_read, issue, project.root) if issue else None


def read_request(path: str) -> Request:
    """The text of a file, or of standard input for "-"; its first line that says something is the title."""
    if path == STANDARD_INPUT:
        import sys

        source, data = "standard input", sys.stdin.buffer.read(LARGEST_TEXT_BYTES + 1)
        if len(data) > LARGEST_TEXT_BYTES:
            raise UsageError(
                f"standard input has more than {LARGEST_TEXT_BYTES} bytes", next_step="give a shorter text"
            )
    else:
        source = os.path.abspath(path)
        try:
            found = read_plain(path)
        except UnreadableError as error:  # a link or a pipe of the shell can still be piped
            error.next_step = f"detent new --from - < {path}"
            raise
        if found is None:
            raise UsageError(f"there is no file {path}", next_step="detent new --from FILE, or - for standard input")
        data = found
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UnreadableError("the text is not UTF-8", where=source, next_step="write it in UTF-8") from None
    title = first_words(text)
    if not title or "\0" in text:
        what = "the text is binary" if "\0" in text else "the text says nothing"
        raise UsageError(what, where=source, next_step="its first line is the title, all of it is what is to be done")
    return Request(title, text, source)


def keep_request(places: TaskPlaces, request: Request) -> dict[str, str]:
    """Keep the text by its hash, which an edit of the file does not reach; what the journal says of it."""
    make_task_folder(places)
    digest = TaskStore(places).keep(request.text.encode())
    return {"file": FILE, "sha256": digest, "from": request.source, "url": request.url}


def first_words(text: str) -> str:
    """The first line that says something, without the marks of a heading."""
    for line in text.splitlines():
        marks = len(line.strip()) - len(line.strip().lstrip("#"))
        words = line.strip().strip("#").strip() if 0 < marks <= 6 else line.strip()
        if words:
            return words
    return ""


def read_issue(command: str, issue: str, folder: str) -> Request:
    """Ask the project's tracker; its words are arguments of one program, and no shell sees them."""
    from shlex import split

    from detent.effects.git.git import clean_environment
    from detent.effects.host import process

    if issue.startswith("-") or not issue.isprintable():
        raise UsageError(f"{issue!r} can't be an issue", next_step="detent new --issue 12")
    argv = [word.replace("{id}", issue) for word in split(command)]
    try:
        finished = process.run(argv, cwd=folder, env=clean_environment(os.environ), timeout_s=ISSUE_TIMEOUT_S)
    except ToolError as error:
        error.next_step = f"install {argv[0]}, {_CORRECT}"
        raise
    if finished.timed_out or finished.exit != 0:
        ended = f"took longer than {ISSUE_TIMEOUT_S:.0f} s" if finished.timed_out else f"exit {finished.exit}"
        said = finished.stderr.decode("utf-8", "replace").strip().splitlines()
        raise ToolError(
            f"issue {issue} can't be read: {argv[0]}: {ended}" + (f": {said[0]}" if said else ""),
            where=" ".join(argv),
            next_step=f"run that command yourself to see what it needs, {_CORRECT}",
        )
    return _from_json(finished.stdout, issue, argv)


def _from_json(data: bytes, issue: str, argv: list[str]) -> Request:
    from json import loads

    try:
        found = loads(data)
    except (ValueError, RecursionError):
        found = None
    title = found.get("title") if isinstance(found, dict) else None
    if not isinstance(found, dict) or not isinstance(title, str) or not title.strip():
        what = "no JSON" if found is None else "no JSON object with a title"
        raise ToolError(
            f"issue {issue} can't be read: {argv[0]} printed {what}",
            where=" ".join(argv),
            next_step=f"have it print JSON with title, body, comments and url, {_CORRECT}",
        )
    title, url = " ".join(title.split()), _text(found, "url")
    parts = [f"# {title}", url, _text(found, "body")]
    comments = found.get("comments")
    for comment in comments if isinstance(comments, list) else ():
        if isinstance(comment, dict) and (said := _text(comment, "body")):
            author = comment.get("author")
            name = _text(author, "login") if isinstance(author, dict) else _text(comment, "author")
            parts += [f"## Comment by {' '.join(name.split()) or 'somebody'}", said]
    text = "\n\n".join(part for part in parts if part) + "\n"
    return Request(title, text.encode("utf-8", "replace").decode(), f"issue {issue}", url)


def _text(table: Mapping[str, object], key: str) -> str:
    value = table.get(key)
    return value.strip() if isinstance(value, str) else ""
