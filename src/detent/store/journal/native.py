"""The native folder of a task: the content of its files, and the projection of the journal into them.

1. `read` returns the document a machine calls its own, or says why it can't be read.
2. `draft` returns the document at one journal line, `write` projects document and native log up to it, exactly once.
3. `projected.jsonl` remembers which line reached the document and the log last, and every hash ever projected: bytes
   that equal an earlier projection come from a checkout or a backup, and are never a request. It also names the boot
   in which that was: in another one the file is judged by other rules (aftermath.py).
"""

from __future__ import annotations

import os

from detent.core.record import Record
from detent.errors import UnreadableError
from detent.store.disk.atomic import read_plain, read_text, write_atomic, write_cache
from detent.store.disk.boot import boot_id
from detent.store.disk.digest import sha256_of
from detent.store.disk.json_lines import LARGEST_LOG_BYTES, append_line, last_entry, size_of
from detent.store.disk.real_path import real_folder
from detent.store.journal.shown import WHILE_RUNNING, shown_values, status_values
from detent.store.text.codecs import CODECS, labels_of
from detent.store.text.labels import labels_from, state_label

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from detent.core.machine import Machine
    from detent.core.values import Snapshot
    from detent.store.journal.line import Line
    from detent.store.journal.memory import Memory
    from detent.store.journal.places import TaskPlaces
    from detent.store.text.fields import Found

    LinesBehind = Callable[[int], Sequence[Line]]  # given a line's number: those after it, oldest first

_LONGEST_STATE = 200  # characters; what is longer names no state, and must not swell the journal


class Document(Record):
    """The machine's main file as it stands."""

    path: str
    text: str
    fields: Mapping[str, Found]
    state: str  # as the file names it; "" when it names none
    is_stale: bool = (
        False  # the text is the journal's: the file itself was left older or torn when the computer stopped
    )
    found: bytes = b""  # what the file then holds, where nothing else holds it
    body_start: int = 0  # where its Markdown begins
    version: int | None = None  # of its format, where that is older than the machine's and will be updated

    def value(self, label: str) -> str:
        return self.fields[label].value if label in self.fields else ""

    def body(self) -> str:
        """The part a gate looks for sections in."""
        return self.text[self.body_start :]


class Native:
    """The native folder of one task, under one machine."""

    def __init__(self, machine: Machine, folder: str, places: TaskPlaces) -> None:
        self.machine = machine
        self.folder = folder
        self.places = places
        self.file: str = machine.store.file
        self.state_label: str = machine.store.state
        self._path = os.path.join(folder, self.file)
        self._log_path = os.path.join(folder, machine.store.log) if machine.store.log else ""
        self.labels = labels_of(machine)
        self.codec = CODECS[machine.store.codec](machine)
        self._registers = [(register.name, register.field) for register in machine.registers.values() if register.field]
        self._limits = [limit for limit in machine.limits.values() if limit.field]
        # No edit is reported for these: a requested state is judged, and the time changes by itself.
        self._never_tampered = (self.state_label, machine.store.updated, *labels_from(machine, WHILE_RUNNING))
        self.is_synced: bool = machine.store.fsync  # whether the file itself must survive a power cut
        self.is_swept = False  # whether what a killed writer left was looked for in this process
        self._parsed: Document | None = None
        self._known: dict[str, int] | None = None
        self._boot = ""
        self._marked_size = -1  # of the marks' file when this process last added to it

    def path(self, name: str = "") -> str:
        return os.path.join(self.folder, name) if name else self._path

    def need_real_folder(self) -> None:
        """The task folder is not part of the tree: a link there would let an agent choose the proven files."""
        if real_folder(self.folder) != self.folder:
            from detent.words.store import journal as say

            raise UnreadableError(say.task_folder_is_link(), where=self.folder)

    def read(self) -> Document:
        path = self.path()
        text = read_text(path, elsewhere=self.need_real_folder)
        if text is None:
            self.need_real_folder()
        if text is None or not text.strip("\ufeff \t\r\n"):
            from detent.words.store import journal as say

            what = say.file_missing(self.file) if text is None else say.file_empty(self.file)
            raise UnreadableError(what, where=path)
        return self.parsed(text)

    def parsed(self, text: str) -> Document:
        if self._parsed is None or self._parsed.text != text:  # what was written last is usually what is read next
            self._parsed = self._parse(text)
        return self._parsed

    def _parse(self, text: str) -> Document:
        try:
            content = self.codec.read(text)
        except UnreadableError as error:
            error.what, error.where = f"{self.file}: {error.what}", self.path()
            raise
        state = content.state[:_LONGEST_STATE]
        document = Document(self.path(), text, content.fields, state, body_start=content.body_start)
        return document.replace(version=self._old_version(document)) if self.machine.store.version else document

    def _old_version(self, document: Document) -> int | None:
        """The version of a file that is older than the machine's; a newer one is not for us to read."""
        from detent.store.text.numbers import whole_number  # few machines have versions

        label, known = self.machine.store.version.field, self.machine.store.version.is_
        found = document.value(label) or "0"
        number = whole_number(found)
        if number is None or number > known:
            from detent.words.store import journal as say

            raise UnreadableError(say.newer_version(self.file, label, found, known), where=document.path)
        return number if number < known else None

    def repaired(self, damaged: str, good: str, snapshot: Snapshot, updated: str) -> str:
        """A readable text made of one that can't be read and the last good one; never of a newer format."""
        version = self.machine.store.version.field if self.machine.store.version else None
        owned = {label: value for label, value in self.wanted_fields(snapshot, updated).items() if label != version}
        text = self.codec.repair(damaged, good, owned)
        try:
            self.parsed(text)
        except UnreadableError:
            return self.codec.repair("", good, owned)
        return text

    # --- projection ---

    def wanted_fields(self, snapshot: Snapshot, updated: str, memory: Memory | None = None) -> dict[str, str]:
        """What the engine owns in the document at a snapshot; with a memory also what it shows of the journal."""
        store, wanted = self.machine.store, {self.state_label: snapshot.state}
        if memory is not None and store.shows:
            wanted |= shown_values(self.machine, memory)
        if memory is not None and store.status:
            wanted |= status_values(self.machine, memory)
        for name, label in self._registers:
            wanted[label] = snapshot.registers.get(name, "")
        for limit in self._limits:
            wanted[limit.field] = str(snapshot.counters.get(limit.name, 0) + limit.first)
        if store.rounds:
            known = {name: count for name, count in snapshot.visits.items() if name in self.machine.states}
            labels = {name: state_label(self.machine, self.machine.store.rounds, name) for name in known}
            wanted |= {label: str(known[name]) for name, label in labels.items() if label}
        if label := store.updated:
            wanted[label] = updated
        if version := store.version:
            wanted[version.field] = str(version.is_)
        kept_for = store.only_in
        if elsewhere := [
            label for label, states in kept_for.items() if snapshot.state not in states or not wanted.get(label)
        ]:
            return {label: value for label, value in wanted.items() if label not in elsewhere}
        return wanted

    def tampered(
        self, document: Document, snapshot: Snapshot, updated: str, memory: Memory | None = None
    ) -> tuple[str, ...]:
        """Engine-owned fields, the state line apart, that the file shows differently or no longer shows."""
        wanted = self.wanted_fields(snapshot, updated, memory)
        first = self._first_values() if self.codec.missing_is_default else {}
        found = document.fields
        shown = {label: found[label].line_value if label in found else first.get(label) for label in wanted}
        changed = [
            label for label, value in wanted.items() if shown[label] != value and label not in self._never_tampered
        ]
        absent = [label for label in self.machine.store.only_in if label not in wanted]
        return (*changed, *(label for label in absent if label in document.fields))

    def _first_values(self) -> dict[str, str]:
        """What the engine's fields begin with: this is what a file says that does not show them."""
        first = {label: self.machine.registers[name].start for name, label in self._registers}
        return first | {limit.field: str(limit.first) for limit in self._limits}

    def catch_up(self, memory: Memory, lines: LinesBehind) -> None:
        """Bring the log alone up to the journal; the document as it stands is not ours to vouch for."""
        self._mark(memory.snapshot.seq, self._project_log(self._log_lacks(lines)), "")

    def _mark(self, seq: int, log: tuple[int, int], sha: str) -> None:
        known, boot = {"seq": seq, "logged": log[0], "log_size": log[1]}, boot_id()
        mark = {**known, "sha": sha, "boot": boot}
        self._marked_size = append_line(self.places.projected(), mark, whole=self._marked_size)
        self._known, self._boot = known, boot

    def project(self, document: Document, memory: Memory, restore: Mapping[str, str], lines: LinesBehind) -> Document:
        """Bring document and log up to the journal, the document durably.

        The same journal gives the same bytes however often this is repeated.
        """
        return self.write(document, memory, self.draft(document, memory, restore), lines, durable=True)

    def draft(self, document: Document, memory: Memory, restore: Mapping[str, str], request: str = "") -> str:
        """The document at one journal line; `restore` gives the whole texts of locked items that were changed."""
        text = document.text
        written = memory.written.fields if memory.written.seq > self.projected_seq() else {}
        fields = {f"field:{label}": value for label, value in written.items()}
        for item, value in {**restore, **fields}.items():
            kind, _, name = item.partition(":")
            if kind == "field":
                text = self.codec.replace(text, name, value)
            elif kind == "section" and name.startswith(f"{self.file}:"):
                text = self._with_section(text, name.removeprefix(f"{self.file}:"), value)
        wanted = self.wanted_fields(memory.snapshot, memory.changed_at or memory.changed_time, memory)
        if request:  # still to be judged
            wanted[self.state_label] = request
        return self._with_answer(self.codec.write(text, wanted), memory)

    def _with_section(self, text: str, heading: str, locked: str) -> str:
        from detent.store.text.locked_sections import put_section  # few machines lock sections

        start = self.codec.read(text).body_start
        return text[:start] + put_section(text[start:], heading, locked)

    def write(self, document: Document, memory: Memory, text: str, lines: LinesBehind, *, durable: bool) -> Document:
        """Put the drafted text in the document's place; `durable` unless the journal holds this very text."""
        data, lacking = text.encode("utf-8"), self._log_lacks(lines)
        if text != document.text or document.is_stale:
            if document.version is not None:
                self._back_up(document)
            name = self.file if self.is_synced else ""
            mode = _mode_of(document.path)
            is_synced = durable or self.is_synced
            write_atomic(document.path, data, durable=is_synced, mode=mode, name=name, is_carried=not is_synced)
        if durable:  # text that the journal does not hold is kept once more, in case the file gets damaged; not synced
            write_cache(self.places.last_copy(), data)
        document = self.parsed(text)
        is_ours = document.state == memory.snapshot.state  # a request that was kept is not ours
        self._mark(memory.snapshot.seq, self._project_log(lacking), sha256_of(data) if is_ours else "")
        return document

    def _back_up(self, document: Document) -> None:
        """Keep a file of an older version beside the one that takes its place."""
        path = f"{document.path}.v{document.version}"
        if not os.path.lexists(path):
            write_atomic(path, document.text.encode("utf-8"), durable=True)

    def _with_answer(self, text: str, memory: Memory) -> str:
        """What a person said last, written once; the line itself is how we recognise it."""
        section = self.machine.answers.get("section", "")
        if not section or not memory.answer or memory.answer.seq <= self.projected_seq():
            return text
        said = f"{memory.answer.time} {memory.answer.name}: {memory.answer.text}"
        line = f"- {' '.join(said.split())}"
        return text if line in text else self.codec.add_line(text, section, line)

    def projected_seq(self) -> int:
        """The last journal line that reached the document; 0 when that is not known."""
        return self._marks()["seq"]

    def _marks(self) -> dict[str, int]:
        """How far document and log were projected, from the last whole line of our own memory; 0 is: not known."""
        if self._known is None:
            last = last_entry(self.places.projected())
            names = ("seq", "logged", "log_size")
            self._known = {name: value if type(value := last.get(name)) is int else 0 for name in names}
            self._boot = str(last.get("boot", ""))
        return self._known

    def marked_boot(self) -> str:
        """The boot in which the document was last written or read under the lock."""
        self._marks()
        return self._boot

    def look_again(self) -> None:
        """Forget the cached lines, if the file has grown since; every taker of the lock begins with this."""
        if size_of(self.places.projected()) != self._marked_size:
            self._known = None

    def was_projected(self, document: Document) -> bool:
        """Whether these very bytes were written by us at some earlier time."""
        data = read_plain(self.places.projected(), LARGEST_LOG_BYTES) or b""
        return f'"{sha256_of(document.text.encode())}"'.encode() in data

    # --- the native log: a projection of the journal, one line per event, exactly once ---

    def log_path(self) -> str:
        return self._log_path

    def logged_seq(self) -> int:
        """The last journal line that reached the native log; 0 when that is not known or the log has lost something.

        The log lies in the agent's reach, so that what it says about itself does not count: our own memory does.
        """
        return self._logged_at(size_of(self.log_path()))

    def _logged_at(self, size: int) -> int:
        marks = self._marks()
        return marks["logged"] if size >= marks["log_size"] else 0

    def _log_lacks(self, lines: LinesBehind) -> tuple[int, int, Sequence[Line]]:
        """The last line the log has, its size, and the lines it lacks: a journal that is damaged is found out here."""
        if not self._log_path:
            return 0, 0, ()
        size = size_of(self._log_path)
        logged = self._logged_at(size)
        return logged, size, lines(logged)

    def _project_log(self, lacking: tuple[int, int, Sequence[Line]]) -> tuple[int, int]:
        """Append what the log lacks; how far it goes then, and its size."""
        from detent.store.journal.log_forms import Present, append_piece, pieces  # readers write no log

        path, (logged, size, entries) = self._log_path, lacking
        # A crash may have come between a line and its mark: the text written since the last mark is read.
        start = self._marks()["log_size"] if logged else 0
        present = Present(self.machine, path, start) if start < size else None
        for line in entries:
            for piece in pieces(self.machine, self.places.id, line):
                if present is None or not present.takes(piece):
                    size = append_piece(self.machine, path, piece)
            logged = line.seq
        return logged, size


def _mode_of(path: str) -> int | None:
    try:
        return os.stat(path).st_mode & 0o777
    except OSError:
        return None  # it vanished since it was read; the write that follows puts it back
