"""What else remembers a task, held against its journal: private git, native log, native document."""

from __future__ import annotations

import json
import os
import re
from collections import Counter

from detent.effects.acts import checkpoint_ref
from detent.effects.git import Git, is_object_id
from detent.errors import ToolError, UnreadableError
from detent.proof.replay_lines import Finding
from detent.proof.replay_proof import object_problem
from detent.runner.locks import kept_text, shown_item
from detent.runner.settle import find_disorder, read_document
from detent.store.atomic import as_text, read_plain
from detent.store.digest import sha256_of
from detent.store.journal import split_lines
from detent.store.log_forms import MARKDOWN, form_of, mark_of_task, pieces
from detent.store.native_log import log_line, log_lines
from detent.store.places import read_pointer
from detent.store.receipts import ReceiptStore

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from detent.runner.open import Task
    from detent.store.journal import Entry
    from detent.store.native import Native

LARGEST_BYTES = 64_000_000
_WORD = re.compile(rb"[\w-]+")
_MOST_SHOWN = 100  # characters of what somebody wrote
_MOST_HEADINGS = 5  # of those that a log lacks


def check_effects(
    task: Task, acted: Sequence[tuple[int, str, Mapping[str, Any]]], entries: Sequence[Entry]
) -> Iterator[Finding]:
    """Every promise has its acted line, and each commit lies under the ref that its step key names."""
    moves = {entry["seq"]: entry for entry in entries if entry["kind"] == "moved"}
    for key in task.memory.unsettled:
        number = int(key.partition(":")[0])
        is_overdue = any(seq > number for seq in moves)
        yield Finding(number, "effect", f"{key.partition(':')[2]} was promised and not done", not is_overdue)
    # A commit that a step made before the move lies under that step's name, and holds what the step says it left.
    made = [(line, step, result) for line, step, result in acted if "commit" in result]
    commits = [(line, step, str(result["commit"]), str(result.get("made_by", step))) for line, step, result in made]
    if not commits:
        return
    try:
        refs, trees = _refs_and_trees(task.places.private_git(), [commit for _, _, commit, _ in commits])
    except (ToolError, UnreadableError, OSError) as error:
        yield Finding(commits[0][0], "effect", f"the private git can't be read: {error}")
        return
    for line, step, commit, made_by in commits:
        ref = checkpoint_ref(f"{task.id}/{made_by}")
        move = moves.get(int(step.partition(":")[0]))
        if move and made_by != step:
            move = move.get("prepared", {}).get(made_by.partition(":")[2])
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
    """The native log tells every journal line once and as it is; others may write between them."""
    path = native.log_path()
    if not path:
        return
    name = os.path.basename(path)
    try:
        data = read_plain(path, LARGEST_BYTES)
    except UnreadableError as error:
        yield Finding(len(entries), "log", f"{name}: {error.what}")
        return
    yield from _check_is_text(path, data or b"")
    raws = split_lines(data or b"")[0]
    own = _check_events if "events" in native.machine.store else _check_numbered
    if form_of(native.machine) == MARKDOWN:
        own = _check_markdown
    told: set[int] = set()
    yield from own(native, name, raws, entries, told)
    lacking = [number for number in range(1, len(entries) + 1) if number not in told]
    if lacking:
        # A crash may have come between journal and log; then the line was never marked as told.
        is_warning = len(entries) == 1 or 0 < native.logged_seq() < lacking[0]
        headings = _lacking_headings(native, entries, lacking) if form_of(native.machine) == MARKDOWN else ""
        told_as = f"{name} does not tell {len(lacking)} line(s), first {lacking[0]}{headings}"
        yield Finding(lacking[0], "log", told_as, is_warning)


def _check_is_text(path: str, data: bytes) -> Iterator[Finding]:
    """Others may write into a log what they like, so what nobody can read is only named."""
    try:
        as_text(data, path)
    except UnreadableError as error:
        what = f"{os.path.basename(path)} can't be read as text: {error.what}"
        yield Finding(0, "log", what, is_warning=True)


def _lacking_headings(native: Native, entries: Sequence[Entry], lacking: Sequence[int]) -> str:
    """What the headings of these lines would say, for whoever looks for them."""
    lines = [line for number in lacking for line in log_lines(native.machine, entries[number - 1])]
    words = [str(line.get("type") or line.get("kind")) for line in lines]
    more = f" and {len(words) - _MOST_HEADINGS} more" if len(words) > _MOST_HEADINGS else ""
    return f": {'; '.join(words[:_MOST_HEADINGS])}{more}"


def _check_events(
    native: Native, name: str, raws: Sequence[bytes], entries: Sequence[Entry], told: set[int]
) -> Iterator[Finding]:
    """Events have no number: each must stand there as often as the journal tells it; the rest is somebody else's."""
    found = Counter(json.dumps(parsed_line(raw), sort_keys=True) for raw in raws)
    for entry in entries:
        lines = Counter(json.dumps(line, sort_keys=True) for line in log_lines(native.machine, entry))
        if lines <= found:
            told.add(entry["seq"])
        found -= lines
    if strange := found.total():
        yield Finding(0, "log", f"{strange} line(s) of {name} are not ours", is_warning=True)


def _check_markdown(
    native: Native, name: str, raws: Sequence[bytes], entries: Sequence[Entry], told: set[int]
) -> Iterator[Finding]:
    """Each of our headings stands there once; what people and agents write around and below them is theirs.

    A heading that bears our mark and that no journal line backs is forged, or one of ours that was changed. One that
    only tells of a move may be anybody's note, and is named, so that nobody takes it for the engine's.
    """
    raws = [raw.rstrip() for raw in raws]  # editors may end lines in ways of their own
    found, ours = Counter(raws), set[bytes]()
    for entry in entries:
        headings = [piece.split(b"\n")[1] for piece in pieces(native.machine, native.places.id, entry)]
        ours.update(headings)
        if all(found[heading] == 1 for heading in headings):
            told.add(entry["seq"])
        elif any(found[heading] > 1 for heading in headings):
            told.add(entry["seq"])
            yield Finding(entry["seq"], "log", f"{name} tells line {entry['seq']} more than once", is_warning=True)
    own, moves = mark_of_task(native.places.id), {edge.name.encode() for edge in native.machine.edges()}
    for number, raw in enumerate(raws, 1):
        is_heading = raw.lstrip(b" ").startswith(b"#")
        if raw not in ours and (own in raw or (is_heading and not moves.isdisjoint(_WORD.findall(raw)))):
            shown = raw.decode("utf-8", "replace").strip("# ")[:_MOST_SHOWN]
            told_as = f"line {number} of {name} is not from the engine, no journal line says so: {shown}"
            yield Finding(0, "log", told_as, is_warning=own not in raw)


def _check_numbered(
    _native: Native, name: str, raws: Sequence[bytes], entries: Sequence[Entry], told: set[int]
) -> Iterator[Finding]:
    latest = beyond = 0
    for number, raw in enumerate(raws, 1):
        content = parsed_line(raw) or {}
        seq = content.get("seq")
        if type(seq) is not int or seq < 1:
            yield Finding(0, "log", f"line {number} of {name} is not ours", is_warning=True)
        elif seq > len(entries):
            beyond = max(beyond, seq)
        elif content != log_line(entries[seq - 1]):
            yield Finding(seq, "log", f"line {number} of {name} tells line {seq} otherwise than the journal")
        elif seq in told:
            yield Finding(seq, "log", f"line {number} of {name} tells line {seq} a second time")
        else:
            if seq < latest:
                yield Finding(seq, "log", f"line {number} of {name} tells line {seq} too late", is_warning=True)
            told.add(seq)
            latest = max(latest, seq)
    if beyond:
        what = f"{name} knows line {beyond}: lines were removed from the end, or somebody else wrote it"
        yield Finding(len(entries) + 1, "log", what)


def check_receipts(task: Task) -> Iterator[Finding]:
    """Every receipt the journal vouches for is still the one that was written."""
    store = ReceiptStore(task.places.receipts())
    for key, digest in task.memory.proved.items():
        receipt = store.find(key)
        if receipt is None or receipt.digest != digest:
            what = "is gone" if receipt is None else f"of {receipt.command!r} was changed"
            yield Finding(task.memory.snapshot.seq, "receipt", f"{store.path(key)}: the receipt {what}")


def check_native(task: Task) -> Iterator[Finding]:
    """The document against the journal, and the texts that would be put back."""
    snapshot, file = task.memory.snapshot, task.native.file
    last = snapshot.seq
    for item, digest in snapshot.locked.items():
        if problem := object_problem(task, digest) or _file_problem(task, item, digest):
            yield Finding(last, "object", f"{item.partition(':')[2]}: {problem}")
    for name, digest in task.memory.filed.items():
        if problem := _filed_problem(task, name, digest):
            yield Finding(last, "native", f"{name}: {problem}")
    try:
        pointer = read_pointer(task.native.folder)
        document = read_document(task)
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
        yield Finding(last, "native", f"{shown_item(file, item)} is locked and was changed")
    if disorder.old_bytes:
        yield Finding(last, "native", f"{file} is an older copy: it names {document.state}")
    if disorder.lost:
        yield Finding(last, "native", f"{file} has lost its state line")
    if disorder.request:
        yield Finding(last, "native", f"{file} names {disorder.request}, the journal {snapshot.state}")


def _file_problem(task: Task, item: str, digest: str) -> str:
    """What is wrong with the texts of locked files, which the list that is locked names."""
    if not item.startswith("file:"):
        return ""
    listed = json.loads(kept_text(task, digest))
    return next((problem for one in listed.values() if (problem := object_problem(task, one))), "")


def _filed_problem(task: Task, name: str, digest: str) -> str:
    """What is wrong with a revision that never changes; empty when it is as it was filed."""
    if problem := object_problem(task, digest):
        return problem
    try:
        data = read_plain(task.native.path(name))
    except UnreadableError as error:
        return error.what
    if data is None:
        return "the filed revision is gone"
    return "" if sha256_of(data) == digest else "the filed revision was changed"


def parsed_line(raw: bytes) -> dict[str, Any] | None:
    """The table a line holds, None when it holds none."""
    try:
        content = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    return content if isinstance(content, dict) else None
