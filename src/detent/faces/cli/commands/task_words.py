"""`task update` and `task complete`: the words of a document in which a task has a status, over the one step."""

from __future__ import annotations

import os

from detent.errors import UsageError
from detent.faces.cli.caller import enclosing_run, is_inside_run, is_run_held, person_name, refuse_inside_run
from detent.faces.cli.commands.ask import ask, ask_by_drop, drop_reply, open_to_change
from detent.faces.cli.output import show
from detent.faces.words.run import reply_words, retitled_words
from detent.runner.task.open import Task, open_task

TYPE_CHECKING = False
if TYPE_CHECKING:
    from detent.faces.cli.arguments import Arguments

COMPLETE = "complete"


def update(arguments: Arguments) -> int:
    """Write the other words first: a refused move leaves them in place, and an agent repairs them and asks again."""
    status, summary = arguments.text("--status"), arguments.text("--summary")
    if not status and not summary:
        raise UsageError("nothing to update", next_step='detent task update --status STATE, or --summary "TEXT"')
    if summary and (code := _retitle(arguments, summary)):
        return code
    if not status:
        return 0
    return ask_by_drop(arguments, {"move": status}) if is_run_held() else ask(arguments, _task(arguments), status)


def complete(arguments: Arguments) -> int:
    if is_run_held():
        return ask_by_drop(arguments, {"verb": COMPLETE})
    return ask(arguments, _task(arguments), "", COMPLETE)


def _task(arguments: Arguments) -> Task:
    return open_task(arguments.text("TASK"), arguments.text("--repo"))


def _retitle(arguments: Arguments, words: str) -> int:
    """Inside a run its own process writes the file; the engine only says whether it may, and what."""
    from detent.runner.run.retitle import retitle, retitled_text

    if is_run_held():
        reply = drop_reply({"title": words})
        if "text" not in reply:
            show(arguments, reply, reply_words(reply))
            return 1
        path = os.path.join(os.environ["DETENT_TASK_DIR"], os.path.basename(str(reply["file"])))
        return _write(arguments, path, str(reply["text"]), words)
    if is_inside_run():
        task = _task(arguments)
        return _write(arguments, task.native.path(), retitled_text(task, enclosing_run(task), words), words)
    refuse_inside_run("giving a task other words")
    task = retitle(open_to_change(arguments), person_name(), words, arguments.text("--reason"))
    show(arguments, {"id": task.id, "title": task.memory.head.title}, retitled_words(task.memory.head.title))
    return 0


def _write(arguments: Arguments, path: str, text: str, words: str) -> int:
    from detent.store.disk.atomic import write_atomic

    write_atomic(path, text.encode("utf-8"), durable=False, mode=os.stat(path).st_mode & 0o777)
    show(arguments, {"title": words}, retitled_words(words))
    return 0
