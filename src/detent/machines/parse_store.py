"""Checks what a machine file says about a task's own files; the store reads it as it stands."""

from __future__ import annotations

from detent.core.record import Record
from detent.machines.names import Names
from detent.machines.reading import is_inner_path
from detent.words.machines import parse_store as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from detent.core.machine import Vocabulary
    from detent.machines.reading import Table


class Known(Record):
    """What else of the machine this part of its file may name."""

    states: tuple[str, ...]
    roles: tuple[str, ...]
    limits: tuple[str, ...]
    locks: tuple[str, ...]


class StoreParser(Names):
    def __init__(self, problem: Callable[[str], None], vocabulary: Vocabulary, known: Known) -> None:
        super().__init__(problem, vocabulary)
        self.codecs = vocabulary.codecs
        self.state_names, self.role_names = known.states, known.roles
        self.limit_names, self.lock_names = known.limits, known.locks

    def check(self, table: Table) -> None:
        self.known("store", table.text("codec"), self.codecs, "codec")
        table.text("state")
        for key in ("updated", "title", "checks", "link", "branch", "report_field"):
            table.text(key, "")
        self.known_all("store reads", tuple(table.table("reads").mapping_of_text()), self.state_names, "state")
        self.known_all("store options", tuple(table.table("options").mapping_of_texts()), self.state_names, "state")
        self.known("store log_form", table.text("log_form", "json_lines"), ("json_lines", "markdown"), "form of a log")
        self.store_places(table)
        self.store_files(table)
        writes = self.writes(table.table("writes"))
        self.adds(table.table("adds"), writes)
        self.resolves(table.table("resolves"))
        self.shown_labels(table)
        for state, paths in table.table("archive").mapping_of_texts().items():
            self.known("store archive", state, self.state_names, "state")
            for path in paths:
                if not is_inner_path(path.removesuffix("/")):
                    self.problem(say.archive_outside(path))
        table.flag("fsync")
        if table.flag("retitles") and not table.text("title", ""):
            self.problem(say.retitles_needs_title())
        if table.peek("version") is not None:
            version = table.table("version")
            version.text("field")
            if version.number("is", 0) < 1:
                self.problem(say.version_number())
            version.finish()
        adopted = table.table("adopted")
        for state in adopted.content:
            self.known_all("store adopted", (state,), self.state_names, "state")
            adopted.table(state).mapping_of_text()
        if table.peek("tells") is not None:
            self.tells(table.table("tells"))
        if table.peek("harness") is not None:
            self.harness(table.table("harness"))
        for row in table.rows("events"):
            self.event(row, has_log=bool(table.peek("log")))
        table.finish()

    def shown_labels(self, table: Table) -> None:
        """Where the native file tells of the journal."""
        for key in ("rounds", "status"):
            if (label := table.text(key, "")) and "{state}" not in label:
                self.problem(say.must_hold_state(key))
        shows = table.table("shows").mapping_of_text()
        self.words("store shows", tuple(shows.values()), "shown")
        for label, states in table.table("only_in").mapping_of_texts().items():
            self.known_all(f"store only_in {label}", states, self.state_names, "state")

    def tells(self, table: Table) -> None:
        """The words by which the native file says how a task rests: at an end, stopped, or waiting for an answer."""
        table.text("field")
        table.text("first", "")
        for rest in [name for name in table.content if name not in ("field", "first")]:
            self.known("store tells", rest, (*self.state_names, "stopped", "waiting", "goes_on"), "way to rest")
            table.table(rest).mapping_of_text()
        table.finish()

    def store_places(self, table: Table) -> None:
        """Where the folders of tasks lie in the project, and the files beside them: never outside of it."""
        in_place, tracked = table.flag("in_place"), table.flag("tracked")
        root = table.text("root", "")
        if tracked and not (root and in_place and table.peek("folder") is None):
            self.problem(say.tracked_needs_root())
        paths = {key: table.text(key, "") for key in ("folder", "active", "runs", "conversation")}
        for key, path in {"root": root, **paths}.items():
            if path and not is_inner_path(path):
                self.problem(say.outside_project(key))
            if path and not root:
                self.problem(say.needs_root(key))
        if paths["folder"] and "{id}" not in paths["folder"]:
            self.problem(say.folder_needs_id())
        for key in ("final", "talks_in", "recovers_in"):
            self.known_all(f"store {key}", table.texts(key), self.state_names, "state")

    def store_files(self, table: Table) -> None:
        """Files of the task folder that have a meaning."""
        draft, revision = table.text("draft", ""), table.text("revision", "")
        file, files = table.text("file"), table.texts("files")
        if not files:
            self.problem(say.no_files())
        elif file and file not in files:
            self.problem(say.files_without_own(file))
        named = [table.text(key, "") for key in ("log", "evidence", "report", "post_mortem")]
        named += [table.text("message", ""), table.text("record", "")]
        folders = [path.removesuffix("/") for path in table.texts("folders")]
        lists = (*folders, *table.table("extra").mapping_of_text().values(), *table.texts("briefing"))
        if "" in (*files, *lists):
            self.problem(say.empty_name())
        for path in dict.fromkeys((file, draft, revision, *named, *files, *lists)):
            if path and not is_inner_path(path):
                self.problem(say.outside_folder(path))
        if bool(draft) != bool(revision) or (revision and "{n}" not in revision):
            self.problem(say.draft_and_revision())

    def writes(self, table: Table) -> Mapping[str, tuple[str, ...]]:
        """The folders of the tree that a role may write to."""
        found = table.mapping_of_texts()
        for role, folders in found.items():
            self.known_all("store writes", (role,), self.role_names, "role")
            for path in folders:
                if not path.endswith("/") or not is_inner_path(path.removesuffix("/")):
                    self.problem(say.writes_folder(role, path))
        return found

    def adds(self, table: Table, writes: Mapping[str, tuple[str, ...]]) -> None:
        """The files a role may add or change in the folders it writes to, by pattern."""
        for role, patterns in table.mapping_of_texts().items():
            self.known_all("store adds", (role,), self.role_names, "role")
            for pattern in patterns:
                if not any(pattern.startswith(folder) for folder in writes.get(role, ())):
                    self.problem(say.adds_elsewhere(role, pattern))

    def resolves(self, table: Table) -> None:
        """The role that carries out a person's decision about a block of a state."""
        for state in table.content:
            row, where = table.table(state), f"store resolves {state}"
            self.known(where, state, self.state_names, "state")
            self.known(where, row.text("role"), self.role_names, "role")
            self.known(where, row.text("limit"), self.limit_names, "limit")
            self.known_all(where, row.texts("opens"), self.lock_names, "lock")
            row.text("prompt")
            row.texts("may")
            row.texts("must_not")
            row.finish()

    def harness(self, table: Table) -> None:
        """The files by which an editor's own agent follows the machine, and the states they are about."""
        paths = [table.text("instructions"), table.text("prompts"), table.text("agents")]
        if states := table.texts("project_agents_in"):
            self.known_all("store harness project_agents_in", states, self.state_names, "state")
            paths.append(table.text("project_agents"))
        for path in (*paths, *table.texts("scaffold")):
            if not is_inner_path(path.replace("{name}", "name")):
                self.problem(say.harness_outside(path))
        table.text("protocol")
        for key in ("commands", "specialists"):
            for name, state in table.table(key).mapping_of_text().items():
                if not name.replace("-", "").isalnum():
                    self.problem(say.harness_letters(key, name))
                self.known_all(f"store harness {key}", (state,), self.state_names, "state")
        table.finish()

    def event(self, table: Table, *, has_log: bool) -> None:
        """How the native log tells one kind of journal line; the store reads it as it stands."""
        table.where = f"store {table.where}"
        table.text("type")
        self.words(table.where, (table.text("kind"),), "kinds")
        table.table("when").mapping_of_texts()
        table.table("fields").mapping_of_text()
        if not has_log:
            self.problem(say.no_log(table.where))
        table.finish()
