"""The native folder of a task: what stands in its files, and the projection of the journal into them.

1. `read` returns the document a machine calls its own, or says why it can't be read.
2. `project` brings the state line, engine-owned fields and the native log up to one journal line, exactly once.
3. `projected.jsonl` remembers which line was projected last and every hash ever projected: bytes that equal an earlier
   projection come from a checkout or a backup, and are never a request.
"""

from __future__ import annotations

import json
import os

from detent.core.record import Record
from detent.errors import UnreadableError
from detent.store.atomic import read_plain, read_text, storage_error, write_all, write_atomic
from detent.store.digest import sha256_of
from detent.store.fields import Found, append_to_section, read_fields, write_fields

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from detent.core.machine import Machine
    from detent.core.values import Snapshot
    from detent.store.journal import Entry
    from detent.store.places import TaskPlaces
    from detent.store.tasks import Memory

CODECS = ("markdown_fields",)
_LARGEST_LOG_BYTES = 64_000_000
_TAIL_BYTES = 1 << 14


class Document(Record):
    """The machine's main file as it stands."""

    path: str
    text: str
    fields: Mapping[str, Found]
    state: str  # as the file names it; "" when it names none

    def value(self, label: str) -> str:
        return self.fields[label].value if label in self.fields else ""


class Native:
    """The native folder of one task, under one machine."""

    def __init__(self, machine: Machine, folder: str, places: TaskPlaces) -> None:
        self.machine = machine
        self.folder = folder
        self.places = places
        self.file: str = machine.store["file"]
        self.state_label: str = machine.store["state"]
        # The state's label comes first: the codec puts a lost first label back at the top.
        self.labels = (self.state_label, *machine.fields)

    def path(self, name: str = "") -> str:
        return os.path.join(self.folder, name or self.file)

    def read(self) -> Document:
        path = self.path()
        text = read_text(path)
        if text is None or not text.strip("\ufeff \t\r\n"):
            what = f"{self.file} is missing" if text is None else f"{self.file} is empty"
            raise UnreadableError(what, where=path)
        if "\0" in text:
            raise UnreadableError(f"{self.file} holds binary data", where=path)
        return self.parsed(text)

    def parsed(self, text: str) -> Document:
        fields = read_fields(text, self.labels)
        state = fields[self.state_label].line_value.strip("*_` ") if self.state_label in fields else ""
        return Document(self.path(), text, fields, state)

    # --- projection ---

    def wanted_fields(self, snapshot: Snapshot, updated: str) -> dict[str, str]:
        """What the engine owns in the document at a snapshot."""
        wanted = {self.state_label: snapshot.state}
        for register in self.machine.registers.values():
            if register.field:
                wanted[register.field] = snapshot.registers.get(register.name, "")
        for limit in self.machine.limits.values():
            if limit.field:
                wanted[limit.field] = str(snapshot.counters.get(limit.name, 0))
        if label := self.machine.store.get("updated"):
            wanted[label] = updated
        return wanted

    def tampered(self, document: Document, snapshot: Snapshot, updated: str) -> tuple[str, ...]:
        """Engine-owned fields, the state line apart, that the file shows differently."""
        wanted = self.wanted_fields(snapshot, updated)
        ignored = (self.state_label, self.machine.store.get("updated"))
        return tuple(
            label
            for label, value in wanted.items()
            if label not in ignored and label in document.fields and document.fields[label].line_value != value
        )

    def project(self, document: Document, memory: Memory, restore: Mapping[str, str] | None = None) -> Document:
        """Bring the document up to the journal; `restore` gives the whole texts of locked fields that were changed.

        The same journal gives the same bytes however often this is repeated.
        """
        text = document.text
        for label, value in (restore or {}).items():
            text = replace_value(text, self.labels, label, value)
        text = write_fields(text, self.labels, self.wanted_fields(memory.snapshot, memory.moved_time))
        text = self._with_answer(text, memory)
        if text != document.text:
            mode = os.stat(document.path).st_mode & 0o777
            # Agents' and people's words lie in this file and nowhere else: it must survive a power cut.
            write_atomic(document.path, text.encode("utf-8"), durable=True, mode=mode)
        # Not synced: it only spares work when somebody spoils the file, and the file itself is safe.
        write_atomic(self.places.last_copy(), text.encode("utf-8"), durable=False)
        _append_line(self.places.projected(), {"seq": memory.snapshot.seq, "sha": sha256_of(text.encode("utf-8"))})
        return self.parsed(text)

    def _with_answer(self, text: str, memory: Memory) -> str:
        """What a person said last, written once; the line itself is how we recognise it."""
        section = self.machine.answers.get("section", "")
        if not section or not memory.answer or memory.answer["seq"] <= self.projected_seq():
            return text
        said = " ".join(str(memory.answer["text"]).split())
        line = f"- {memory.answer['time']} {memory.answer['name']}: {said}"
        return text if line in text else append_to_section(text, section, line)

    def projected_seq(self) -> int:
        """The last journal line that reached the document; 0 when that is not known."""
        last = _last_entry(self.places.projected())
        return int(last.get("seq", 0)) if last else 0

    def was_projected(self, document: Document) -> bool:
        """Whether these very bytes were written by us at some earlier time."""
        data = read_plain(self.places.projected(), _LARGEST_LOG_BYTES) or b""
        return f'"{sha256_of(document.text.encode())}"'.encode() in data

    # --- the native log: a projection of the journal, one line per event, exactly once ---

    def log_path(self) -> str:
        name = self.machine.store.get("log", "")
        return self.path(name) if name else ""

    def logged_seq(self) -> int:
        """The last journal line in the native log; a foreign last line makes us look at all of them."""
        path = self.log_path()
        last = _last_entry(path)
        if last is None or "seq" in last:
            return int(last["seq"]) if last else 0
        found = 0
        for raw in (read_plain(path, _LARGEST_LOG_BYTES) or b"").split(b"\n"):
            entry = _parsed(raw)
            found = max(found, int(entry["seq"]) if entry and "seq" in entry else 0)
        return found

    def project_log(self, entries: Sequence[Entry]) -> None:
        """Append what the log lacks; `entries` are journal lines, oldest first."""
        path = self.log_path()
        if not path:
            return
        logged = self.logged_seq()
        for entry in entries:
            if entry["seq"] > logged:
                _append_line(path, log_line(entry))


def log_line(entry: Entry) -> dict[str, object]:
    """What a journal line looks like to somebody who reads only the task folder."""
    kept = (
        "seq",
        "time",
        "kind",
        "edge",
        "from",
        "to",
        "by",
        "name",
        "reason",
        "answer",
        "problem",
        "want",
        "file",
        "why",
    )
    shown = {key: entry[key] for key in kept if entry.get(key) not in (None, "")}
    if entry["kind"] in ("created", "adopted"):
        shown["to"] = entry["after"]["state"]
    return shown


def replace_value(text: str, labels: Sequence[str], label: str, value: str) -> str:
    """Put a whole, possibly many-lined value back in the place of the one that stands there."""
    fields = read_fields(text, labels)
    if label not in fields:
        return write_fields(text, labels, {label: value.split("\n")[0]})
    start = fields[label].start
    later = [field.start for field in fields.values() if field.start > start]
    stop = _value_end(text, labels, start, min(later, default=len(text)))
    tail = text[stop:]
    gap = " " if start and text[start - 1] == ":" else ""
    newline = "\r\n" if "\r\n" in text else "\n"
    return text[:start] + gap + value.replace("\r\n", "\n").replace("\n", newline) + newline + tail


def _value_end(text: str, labels: Sequence[str], start: int, limit: int) -> int:
    """Where the value that starts here ends: before the line of the next label or heading."""
    from detent.store.markdown import scan

    for line in scan(text):
        if line.start <= start:
            continue
        if line.kind == "heading" or line.end > limit:
            return line.start
    return len(text)


def _parsed(raw: bytes) -> dict[str, object] | None:
    try:
        entry = json.loads(raw)
    except ValueError:
        return None
    return entry if isinstance(entry, dict) else None


def _last_entry(path: str) -> dict[str, int] | None:
    """The last whole line of a JSON-lines file, read from its tail; {} when it is not ours."""
    try:
        with open(path, "rb", buffering=0) as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - _TAIL_BYTES))
            lines = file.read().split(b"\n")[:-1]
    except FileNotFoundError:
        return None
    except OSError as error:
        raise storage_error(error, path, "file can't be read") from error
    if not lines:
        return None
    return _parsed(lines[-1]) or {}  # type: ignore[return-value]  # seq is a number in every line we wrote


def _append_line(path: str, content: Mapping[str, object]) -> None:
    """Append one JSON line; the beginning of this very line, torn by a crash, is completed instead of repeated."""
    raw = json.dumps(content, ensure_ascii=False).encode() + b"\n"
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644)
        try:
            size = os.fstat(descriptor).st_size
            torn = os.pread(descriptor, _TAIL_BYTES, max(0, size - _TAIL_BYTES)).rpartition(b"\n")[2]
            if torn:
                raw = raw[len(torn) :] if raw.startswith(torn) else b"\n" + raw
            write_all(descriptor, raw)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise storage_error(error, path, "file can't be written") from error
