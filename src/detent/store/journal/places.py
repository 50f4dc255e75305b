"""Where everything lies: control plane, task homes and the pointer that ties a native folder to its task.

Paths only; nothing is created here except by `make_task_folder` and `write_pointer`.
"""

from __future__ import annotations

import os

from detent.core.record import Record
from detent.errors import UsageError
from detent.store.disk.atomic import make_folders, read_plain, write_atomic
from detent.store.disk.digest import sha256_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


POINTER = ".detent-task"
PROMPT = "prompt.md"  # in the folder of an agent run: its prompt
_ID_CHARACTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.")
LONGEST_ID = 64


class Project(Record):
    """A repository (or a plain folder) whose tasks share one control plane."""

    root: str  # top of the work tree
    control: str  # <git common dir>/detent, or <root>/.detent
    common_dir: str = ""  # empty when the folder is no git repository

    def tasks_folder(self) -> str:
        return os.path.join(self.control, "tasks")

    def lock_path(self) -> str:
        return os.path.join(self.control, "lock")

    def checkout_lock(self) -> str:
        """Held while branches and files of the user's checkout are changed; taken after a task's own lock."""
        return os.path.join(self.control, "checkout.lock")

    def watch_lock(self) -> str:
        """Held by the one supervisor of the project."""
        return os.path.join(self.control, "watch.lock")

    def bell(self) -> str:
        """A named pipe: a command that changes the request on a task rings it, so that the supervisor acts at once."""
        return os.path.join(self.control, "bell")

    def sandbox(self) -> str:
        """What was found out about this host's sandboxes; may be deleted."""
        return os.path.join(self.control, "sandbox.json")

    def machine_path(self, digest: str) -> str:
        return os.path.join(self.control, "machines", f"{digest}.json")

    def home(self) -> str:
        """Outside every checkout, so that `git clean` and build contexts never meet it; the same for all work trees."""
        mark = sha256_of(os.path.realpath(self.control).encode("utf-8", "surrogateescape"))[:8]
        folder = os.path.dirname(self.control)
        owner = os.path.dirname(folder) if os.path.basename(folder) == ".git" else folder
        return os.path.join(state_folder(), f"{os.path.basename(owner).strip('.') or 'root'}-{mark}")

    def task(self, task_id: str) -> TaskPlaces:
        return TaskPlaces(task_id, os.path.join(self.tasks_folder(), task_id))

    def task_names(self) -> list[str]:
        """Every candidate for a task, by id; its traces were not checked."""
        try:
            return [name for name in sorted(os.listdir(self.tasks_folder())) if is_task_id(name)]
        except (FileNotFoundError, NotADirectoryError):
            return []

    def has_task(self, name: str) -> bool:
        """Whether there is a journal, or a cache that remembers one: such a task is shown as damaged, not hidden."""
        places = self.task(name)
        return os.path.exists(places.journal()) or os.path.exists(places.snapshot())

    def task_ids(self) -> Iterator[str]:
        """Every task that has a journal or lost it, by id."""
        return (name for name in self.task_names() if self.has_task(name))


class TaskPlaces(Record):
    """The control folder of one task. One step asks for its paths many times, and joining them again costs more."""

    id: str
    folder: str

    def journal(self) -> str:
        return f"{self.folder}/journal.jsonl"

    def snapshot(self) -> str:
        return f"{self.folder}/snapshot.json"

    def lock(self) -> str:
        return f"{self.folder}/lock"

    def projected(self) -> str:
        return f"{self.folder}/projected.jsonl"

    def last_copy(self) -> str:
        return f"{self.folder}/native-last"

    def beside(self) -> str:
        return f"{self.folder}/beside.json"

    def receipts(self) -> str:
        return f"{self.folder}/receipts"

    def objects(self) -> str:
        return f"{self.folder}/objects"

    def aside(self) -> str:
        return f"{self.folder}/aside"

    def private_git(self) -> str:
        return f"{self.folder}/git"

    def run(self, number: int) -> str:
        """Where one agent run leaves its traces."""
        return f"{self.folder}/runs/{number}"

    def prompt(self, number: int) -> str:
        """The prompt of one agent run."""
        return f"{self.run(number)}/{PROMPT}"

    def seen_tree(self) -> str:
        return f"{self.folder}/tree.json"

    def touched(self) -> str:
        return f"{self.folder}/touched.json"

    def tree_differences(self) -> str:
        return f"{self.folder}/tree-differences.json"

    def tree_files(self) -> str:
        return f"{self.folder}/tree-files.json"

    def prepared(self) -> str:
        return f"{self.folder}/prepared"

    def laid(self, name: str = "tree") -> str:
        """What set-up laid into a folder of the task's home, for the runs that work there."""
        return f"{self.folder}/laid-{name}.json"


def state_folder() -> str:
    """Where detent keeps what is this user's: the homes of all tasks of all projects."""
    return os.path.join(_xdg_folder("XDG_STATE_HOME", ".local/state"), "detent")


def config_folder() -> str:
    """Where the user keeps settings of their own for detent."""
    return os.path.join(_xdg_folder("XDG_CONFIG_HOME", ".config"), "detent")


def _xdg_folder(variable: str, default: str) -> str:
    base = os.environ.get(variable, "")
    # The XDG rules: a relative path is to be ignored.
    return base if os.path.isabs(base) else os.path.join(os.path.expanduser("~"), default)


def project_at(root: str, common_dir: str) -> Project:
    root = os.path.abspath(root)
    if common_dir:
        return Project(root, os.path.join(os.path.abspath(common_dir), "detent"), os.path.abspath(common_dir))
    return Project(root, os.path.join(root, ".detent"))


def branch_of(machine: str, task_id: str) -> str:
    """The branch that is a task's own, by its first line: in its clone, for its checkpoints, or in the checkout."""
    return f"{machine}/{task_id}"


def lies_in(path: str, folder: str) -> bool:
    """Whether a path is this folder or below it; both as they really are, links resolved."""
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


def is_task_id(text: str) -> bool:
    if not text or len(text) > LONGEST_ID or set(text) - _ID_CHARACTERS:
        return False
    # An id is also part of a branch name, which may not have these.
    return text[0] not in "-." and ".." not in text and not text.endswith((".", ".lock"))


def check_task_id(text: str) -> str:
    if not is_task_id(text):
        from detent.words.store import journal as say

        raise UsageError(say.no_task_id(text, LONGEST_ID))
    return text


def make_task_folder(places: TaskPlaces) -> None:
    for folder in (places.receipts(), places.objects()):
        make_folders(folder)


def write_pointer(native: str, places: TaskPlaces) -> None:
    """One line that leads from a native folder to its control folder; it counts only if the journal names it back."""
    write_atomic(os.path.join(native, POINTER), os.fsencode(f"{places.folder}\n"), durable=True)


def read_pointer(folder: str) -> str | None:
    data = read_plain(os.path.join(folder, POINTER), 8192)
    return os.fsdecode(data).strip() or None if data else None
