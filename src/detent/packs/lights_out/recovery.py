"""The prompt of an agent that continues after a cut or a block: the context it must recover before anything else.

The last commits, the post-mortems of the log, the documents to read first and how the commands stand. All of it is for
the agent: which phase comes next was decided by files, gates and what the engine remembers.
"""

from __future__ import annotations

import os

from detent.effects.git.git import Git, find_repository
from detent.errors import UnreadableError
from detent.gates.commands import is_momentary, rests_on_commands, shown_command, standing_runs
from detent.packs.lights_out.post_mortems import find_post_mortems
from detent.store.disk.atomic import read_text
from detent.store.journal.events import Moved
from detent.words.proof import ending

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from detent.core.machine import State
    from detent.gates.seen import Seen
    from detent.runner.task.open import Task

MOST_COMMITS = 20
_MOST_POST_MORTEMS = 8
_LONGEST_PART = 1200
_LONGEST_LAST = 8000  # of the newest one, which quotes what the commands wrote


def is_recovered(task: Task) -> bool:
    """Whether the task came to its state out of a recovery, and no run has worked there since."""
    states = task.machine.store.recovers_in
    if not states or task.memory.visit:
        return False
    moves = (line for line in reversed(task.store.history()) if isinstance(line, Moved))
    last = next(moves, None)
    return last is not None and last.from_ in states


def look_again(task: Task) -> None:
    """After a recovery: run the project's commands on the files as they are, for the next agent."""
    if not is_recovered(task):
        return
    from detent.runner.step.changing import changing
    from detent.runner.step.look import current_tree, look
    from detent.runner.step.proving.prove import prove_commands

    gates = [gate.name for gate in task.machine.gates.values() if rests_on_commands(gate) and not is_momentary(gate)]
    with changing(task) as change:
        task = change.task
        seen = look(task, task.memory, change.document, current_tree(task))
    prove_commands(task, seen, gates, with_before=False)


def briefing(task: Task, _state: State, seen: Seen) -> str:
    """The part of the prompt that recovers context; empty where there is nothing to recover."""
    if not is_recovered(task):
        return ""
    lines = ["## Recover the context first", "Somebody worked here before you. Before anything else:"]
    lines += [f"- read `{name}`" for name in _documents(task)]
    lines += ["- look at the code that is there", "- see how the commands stand, and what was tried before"]
    lines += ["", f"### The last {MOST_COMMITS} commits", *_quoted(_commits(task))]
    lines += ["", "### The commands on these files", *_quoted(_commands(task, seen))]
    if post_mortems := list(_post_mortems(task)):
        lines += ["", "### Post-mortems: don't repeat what failed", *_quoted(post_mortems)]
    return "\n".join(lines)


def _quoted(lines: list[str]) -> list[str]:
    """Marked as a quotation, so that no line is read as part of the contract."""
    return [f"> {line}" for line in lines or ["none"]]


def _documents(task: Task) -> Iterator[str]:
    for name in task.machine.store.briefing:
        if os.path.isfile(path := task.native.path(name)):
            yield os.path.relpath(path, task.tree_path)


def _commits(task: Task) -> list[str]:
    repository = find_repository(task.tree_path)
    if repository is None or repository.head is None:
        return []
    log = Git(repository.common_dir).run("log", "--oneline", f"--max-count={MOST_COMMITS}", repository.head, "--")
    return log.decode("utf-8", "replace").splitlines()


def _commands(task: Task, seen: Seen) -> list[str]:
    results = {}
    for gate in task.machine.gates.values():
        for run in standing_runs(gate, seen):
            receipt = None if run.before else seen.receipt(run.key)
            name = shown_command(run.command.line)
            if receipt is not None and not receipt.is_unrun:
                results[name] = f"{name}: {receipt.result}{ending(receipt.said)}"
            elif not run.before:
                results.setdefault(name, f"{name}: not run on these files")
    return list(results.values())


def _post_mortems(task: Task) -> Iterator[str]:
    try:
        text = read_text(task.native.log_path()) if task.native.log_path() else ""
    except UnreadableError:
        return  # a log that can't be read tells nothing
    every = find_post_mortems(text or "")[-_MOST_POST_MORTEMS:]
    for number, found in enumerate(every, 1):
        yield found.title or "Post-mortem"
        longest = _LONGEST_LAST if number == len(every) else _LONGEST_PART
        for label, words in found.parts():
            yield from f"{label}: {words}"[:longest].splitlines()
