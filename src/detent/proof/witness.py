"""What else remembers a task, held against its journal: private git, native log, native document."""

from __future__ import annotations

import json
import os

from detent.effects.git import Git, is_object_id
from detent.errors import ToolError, UnreadableError
from detent.proof.replay import Finding, object_problem
from detent.runner.settle import find_disorder
from detent.store.atomic import read_plain
from detent.store.journal import split_lines
from detent.store.native import log_line
from detent.store.places import read_pointer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from detent.runner.open import Task
    from detent.store.journal import Entry
    from detent.store.native import Native

LARGEST_BYTES = 64_000_000


def check_effects(
    task: Task, acted: Sequence[tuple[int, str, Mapping[str, Any]]], entries: Sequence[Entry]
) -> Iterator[Finding]:
    """Every promise has its acted line, and each commit lies under the ref that its step key names."""
    moves = {entry["seq"]: entry for entry in entries if entry["kind"] == "moved"}
    for key in task.memory.unsettled:
        number = int(key.partition(":")[0])
        is_overdue = any(seq > number for seq in moves)
        yield Finding(number, "effect", f"{key.partition(':')[2]} was promised and not done", not is_overdue)
    commits = [(line, step, str(result["commit"])) for line, step, result in acted if "commit" in result]
    if not commits:
        return
    try:
        refs, trees = _refs_and_trees(task.places.private_git(), [commit for _, _, commit in commits])
    except (ToolError, UnreadableError, OSError) as error:
        yield Finding(commits[0][0], "effect", f"the private git can't be read: {error}")
        return
    for line, step, commit in commits:
        ref = f"refs/detent/{task.id}/{step.replace(':', '-')}"
        move = moves.get(int(step.partition(":")[0]))
        if refs.get(ref) != commit:
            yield Finding(line, "effect", f"{ref} should hold {commit[:12]}, it holds {refs.get(ref, 'nothing')[:12]}")
        elif move is None or trees.get(commit) != move["tree"]:
            yield Finding(line, "effect", f"commit {commit[:12]} is not of the tree that the move saw, or is gone")


def _refs_and_trees(private_git: str, commits: Sequence[str]) -> tuple[dict[str, str], dict[str, str]]:
    if not os.path.isdir(private_git):
        return {}, {}
    git = Git(private_git)
    listed = git.run("for-each-ref", "--format=%(refname) %(objectname)", "refs/detent/").decode().splitlines()
    wanted = [commit for commit in commits if is_object_id(commit)]
    asked = "".join(f"{commit}^{{tree}}\n" for commit in wanted).encode()
    answers = git.run("cat-file", "--batch-check=%(objectname)", input_bytes=asked).decode().splitlines()
    refs = {name: commit for name, _, commit in (line.partition(" ") for line in listed)}
    return refs, dict(zip(wanted, answers, strict=True))


def check_log(native: Native, entries: Sequence[Entry]) -> Iterator[Finding]:
    """The native log holds what the journal tells it to, each line once, in order; others may write between them."""
    path = native.log_path()
    if not path:
        return
    name = os.path.basename(path)
    try:
        data = read_plain(path, LARGEST_BYTES)
    except UnreadableError as error:
        yield Finding(len(entries), "log", f"{name}: {error.what}")
        return
    lines, _ = split_lines(data or b"")
    expected = 1
    for number, raw in enumerate(lines, 1):
        content = parsed_line(raw)
        seq = content.get("seq") if content is not None else None
        if content is None or not isinstance(seq, int):
            yield Finding(expected, "log", f"line {number} of {name} is not ours", is_warning=True)
        elif seq != expected or seq > len(entries):
            yield Finding(min(seq, expected), "log", f"line {number} of {name} tells line {seq}, not {expected}")
            expected = seq + 1
        else:
            if content != log_line(entries[seq - 1]):
                yield Finding(seq, "log", f"line {number} of {name} tells line {seq} otherwise than the journal")
            expected += 1
    if expected <= len(entries):
        # Between journal and log a crash may have fallen; the next command writes what is missing.
        is_warning = native.projected_seq() < len(entries)
        yield Finding(expected, "log", f"{name} lacks line {expected} and all after it", is_warning)


def check_native(task: Task) -> Iterator[Finding]:
    """The document against the journal, and the texts that would be put back."""
    snapshot, file = task.memory.snapshot, task.native.file
    last = snapshot.seq
    for item, digest in snapshot.locked.items():
        if problem := object_problem(task, digest):
            yield Finding(last, "object", f"{item.partition(':')[2]}: {problem}")
    try:
        pointer = read_pointer(task.native.folder)
        document = task.native.read()
        disorder = find_disorder(task, task.memory, document)
    except UnreadableError as error:
        yield Finding(last, "native", error.what)
        return
    if pointer is None or os.path.realpath(pointer) != os.path.realpath(task.places.folder):
        yield Finding(1, "native", f"{task.native.folder} does not point back to this task")
    if disorder.unfinished:
        yield Finding(last, "native", f"{file} has not reached the last line yet", is_warning=True)
    for label in disorder.owned:
        yield Finding(last, "native", f'{file}: "{label}" is not what the journal says')
    for item in disorder.locked:
        yield Finding(last, "native", f'{file}: "{item.partition(":")[2]}" is locked and was changed')
    if disorder.old_bytes:
        yield Finding(last, "native", f"{file} is an older copy: it names {document.state or 'no state'}")
    if disorder.request:
        yield Finding(last, "native", f"{file} names {disorder.request}, the journal {snapshot.state}")


def parsed_line(raw: bytes) -> dict[str, Any] | None:
    """The table a line holds, None when it holds none."""
    try:
        content = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    return content if isinstance(content, dict) else None
