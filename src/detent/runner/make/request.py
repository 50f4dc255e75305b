"""The words a task is made from when they are more than one line: a file, standard input, or an issue of a tracker.

They are kept whole beside the task and by their hash. They may come from anyone: they are material for the agent, and
nothing here acts on them.
"""

from __future__ import annotations

import os

from detent.core.record import Record
from detent.errors import ToolError, UnreadableError, UsageError
from detent.store.disk.atomic import LARGEST_TEXT_BYTES, read_plain
from detent.store.journal.places import make_task_folder
from detent.store.journal.tasks import TaskStore
from detent.words.runner import make as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from detent.store.journal.places import Project, TaskPlaces
    from detent.store.journal.settings import Settings

FILE = "REQUEST.md"
STANDARD_INPUT = "-"
ISSUE_TIMEOUT_S = 120.0


class Request(Record):
    """A request for a task."""

    title: str
    text: str
    source: str  # in words: where it was read
    url: str = ""


def find_request(project: Project, settings: Settings, path: str, issue: str) -> Request | None:
    """What `--from` or `--issue` name; None when neither is given."""
    if path and issue:
        raise UsageError(say.two_requests())
    if path:
        return read_request(path)
    return read_issue(settings.issue_read, issue, project.root) if issue else None


def read_request(path: str) -> Request:
    """The text of a file, or of standard input for "-"; its first line that says something is the title."""
    if path == STANDARD_INPUT:
        import sys

        source: str = say.standard_input()
        data = sys.stdin.buffer.read(LARGEST_TEXT_BYTES + 1)
        if len(data) > LARGEST_TEXT_BYTES:
            raise UsageError(say.input_too_long(LARGEST_TEXT_BYTES))
    else:
        source = os.path.abspath(path)
        try:
            found = read_plain(path)
        except UnreadableError as error:  # a link or a pipe of the shell can still be piped
            error.next_step = say.pipe_it(path)
            raise
        if found is None:
            raise UsageError(say.no_file(path))
        data = found
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UnreadableError(say.request_not_utf8(), where=source) from None
    title = first_words(text)
    if not title or "\0" in text:
        raise UsageError(say.request_binary() if "\0" in text else say.request_says_nothing(), where=source)
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
        raise UsageError(say.no_issue(issue))
    argv = [word.replace("{id}", issue) for word in split(command)]
    try:
        finished = process.run(argv, cwd=folder, env=clean_environment(os.environ), timeout_s=ISSUE_TIMEOUT_S)
    except ToolError as error:
        error.next_step = say.install_tracker(argv[0])
        raise
    if finished.timed_out or finished.exit != 0:
        said = next(iter(finished.stderr.decode("utf-8", "replace").strip().splitlines()), "")
        if finished.timed_out:
            raise ToolError(say.issue_took_too_long(issue, argv[0], ISSUE_TIMEOUT_S, said), where=" ".join(argv))
        raise ToolError(say.issue_failed(issue, argv[0], finished.exit, said), where=" ".join(argv))
    return _from_json(finished.stdout, issue, argv)


def _from_json(data: bytes, issue: str, argv: list[str]) -> Request:
    from json import loads

    try:
        found = loads(data)
    except (ValueError, RecursionError):
        found = None
    title = found.get("title") if isinstance(found, dict) else None
    if not isinstance(found, dict) or not isinstance(title, str) or not title.strip():
        problem = say.issue_no_json if found is None else say.issue_without_title
        raise ToolError(problem(issue, argv[0]), where=" ".join(argv))
    title, url = " ".join(title.split()), _text_at(found, "url")
    parts = [f"# {title}", url, _text_at(found, "body")]
    comments = found.get("comments")
    for comment in comments if isinstance(comments, list) else ():
        if isinstance(comment, dict) and (said := _text_at(comment, "body")):
            author = comment.get("author")
            name = _text_at(author, "login") if isinstance(author, dict) else _text_at(comment, "author")
            parts += [f"## Comment by {' '.join(name.split()) or 'somebody'}", said]
    text = "\n\n".join(part for part in parts if part) + "\n"
    return Request(title, text.encode("utf-8", "replace").decode(), f"issue {issue}", url)


def _text_at(table: Mapping[str, object], key: str) -> str:
    value = table.get(key)
    return value.strip() if isinstance(value, str) else ""
