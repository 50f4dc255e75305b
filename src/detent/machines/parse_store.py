"""Checks what a machine file says about a task's own files; the store reads it as it stands."""

from __future__ import annotations

from detent.machines.names import Names
from detent.machines.reading import is_inner_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from detent.core.machine import Vocabulary
    from detent.machines.reading import Table


class StoreParser(Names):
    def __init__(self, problem: Callable[[str], None], vocabulary: Vocabulary, states: tuple[str, ...]) -> None:
        super().__init__(problem, vocabulary)
        self.codecs = vocabulary.codecs
        self.state_names = states

    def check(self, table: Table) -> None:
        self.known("store", table.text("codec"), self.codecs, "codec")
        for key in ("file", "state"):
            table.text(key)
        if not table.texts("files"):
            self.problem("store: files must name the files of a new task")
        for key in ("updated", "log", "title", "checks", "evidence", "link", "branch"):
            table.text(key, "")
        self.store_places(table)
        for key in ("rounds", "status"):
            if (label := table.text(key, "")) and "{state}" not in label:
                self.problem(f"store: {key} must hold {{state}}, or all states would share it")
        shows = table.table("shows").mapping_of_text()
        self.words("store shows", tuple(shows.values()), "shown")
        table.texts("folders")
        table.table("extra").mapping_of_text()
        for label, states in table.table("only_in").mapping_of_texts().items():
            self.known_all(f"store only_in {label}", states, self.state_names, "state")
        for state, paths in table.table("archive").mapping_of_texts().items():
            self.known("store archive", state, self.state_names, "state")
            for path in paths:
                if not is_inner_path(path.removesuffix("/")):
                    self.problem(f"store archive: {path!r} must be a path inside the task folder, without '..'")
        table.flag("fsync")
        if table.peek("version") is not None:
            version = table.table("version")
            version.text("field")
            if version.number("is", 0) < 1:
                self.problem("store version: is must be a whole number from 1")
            version.finish()
        for row in table.rows("events"):
            self.event(row, has_log=bool(table.peek("log")))
        table.finish()

    def store_places(self, table: Table) -> None:
        """Where the folders of tasks lie in the project, and the files beside them: never outside of it."""
        table.flag("in_place")
        root = table.text("root", "")
        paths = {key: table.text(key, "") for key in ("folder", "active", "runs", "conversation")}
        for key, path in {"root": root, **paths}.items():
            if path and not is_inner_path(path):
                self.problem(f"store: {key} must be a path inside the project, without '..'")
            if path and not root:
                self.problem(f"store: {key} needs root, the folder it lies in")
        if paths["folder"] and "{id}" not in paths["folder"]:
            self.problem("store: folder must hold {id}, or all tasks would share it")
        for key in ("final", "talks_in"):
            self.known_all(f"store {key}", table.texts(key), self.state_names, "state")
        draft, revision = table.text("draft", ""), table.text("revision", "")
        for path in (draft, revision, table.text("message", ""), table.text("record", "")):
            if path and not is_inner_path(path):
                self.problem(f"store: {path} must be a path inside the task folder, without '..'")
        if bool(draft) != bool(revision) or (revision and "{n}" not in revision):
            self.problem("store: draft names a file, and revision where it is filed, with {n} for the number")

    def event(self, table: Table, *, has_log: bool) -> None:
        """How the native log tells one kind of journal line; the store reads it as it stands."""
        table.where = f"store {table.where}"
        table.text("type")
        self.words(table.where, (table.text("kind"),), "kinds")
        table.table("when").mapping_of_texts()
        table.table("fields").mapping_of_text()
        if not has_log:
            self.problem(f"{table.where}: there is no log to write it to")
        table.finish()
