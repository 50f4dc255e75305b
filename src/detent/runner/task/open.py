"""Finds the project and the task a command is about, and opens them without writing anything."""

from __future__ import annotations

import json
import os
from functools import cache

from detent.core.machine import IDLE
from detent.core.record import Record
from detent.effects.git.git import find_repository
from detent.errors import MachineError, UnreadableError, UsageError
from detent.machines.parse import parse
from detent.store.disk.atomic import read_plain
from detent.store.disk.digest import sha256_of
from detent.store.journal.memory import Memory
from detent.store.journal.native import Native
from detent.store.journal.places import POINTER, Project, TaskPlaces, is_task_id, project_at, read_pointer
from detent.store.journal.tasks import TaskStore

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from detent.core.machine import Machine, State

INSIDE_RUN_TASK, INSIDE_RUN_FOLDER = "DETENT_TASK", "DETENT_TASK_DIR"  # set in the environment of every agent run
_LARGEST_MACHINE_BYTES = 4_000_000


class Task(Record):
    """An opened task; `memory` is what the journal said when it was opened."""

    project: Project
    places: TaskPlaces
    store: TaskStore
    memory: Memory
    machine: Machine
    native: Native

    @property
    def id(self) -> str:
        return self.places.id

    @property
    def tree_path(self) -> str:
        return str(self.memory.head["tree_path"])

    @property
    def home(self) -> str:
        """What belongs to this task alone, outside every checkout."""
        return os.path.join(self.project.home(), self.id)

    def now(self) -> Task:
        """The task as its journal has it now."""
        return self.at(self.store.load())

    def at(self, memory: Memory) -> Task:
        """The task at another line of its journal, with the limits that hold there."""
        is_same = memory.head["limits"] == self.memory.head["limits"]
        machine = self.machine if is_same else machine_at(self.project, memory)
        return self.replace(memory=memory, machine=machine)

    def run_folders(self) -> dict[str, str]:
        """The folders an agent run is given besides tree and task folder, by the variable that names them."""
        return {f"DETENT_{name.upper()}": os.path.join(self.home, name) for name in ("out", "drop", "bin", "tmp")}

    @property
    def root(self) -> str:
        """The user's checkout, which a task that works in place has for its tree."""
        return str(self.memory.head["root"])


def current_folder() -> str:
    try:
        return os.getcwd()
    except OSError:
        raise UsageError(
            "the current folder is not there any more", next_step="cd to a folder that exists, then try again"
        ) from None


class Listed(Record):
    """One row of a list: what the journal says, or why it can't be read."""

    id: str
    memory: Memory | None = None
    machine: Machine | None = None
    error: UnreadableError | None = None


def find_project(path: str = "") -> Project:
    """The project a folder belongs to: its task's, its git repository's, else the nearest one above, else itself."""
    start = os.path.abspath(path or current_folder())
    if not path and (pointed := _pointed_at(start)):
        return pointed.project
    if not os.path.isdir(start):
        raise UsageError(f"there is no folder {start}", next_step="give an existing folder with --repo PATH")
    repository = find_repository(start)
    if repository is not None:
        return project_at(repository.top, repository.common_dir)
    folder = start
    while not os.path.isdir(os.path.join(folder, ".detent", "tasks")):
        parent = os.path.dirname(folder)
        if parent == folder:
            return project_at(start, "")
        folder = parent
    return project_at(folder, "")


def open_task(wanted: str = "", repo: str = "") -> Task:
    """The task that is meant: by id, unique beginning or folder; else this folder's, the only open one, the only one.

    Inside an agent run it is the run's own task, wherever the agent stands: its tree is a repository of its own.
    """
    inside = os.environ.get(INSIDE_RUN_FOLDER, "")
    if inside and not repo and wanted in ("", os.environ.get(INSIDE_RUN_TASK, "")):
        return _pointed_task(inside)
    if wanted and os.path.isdir(wanted) and (pointed := _pointed_at(wanted)):
        return pointed
    if not wanted and not repo and (pointed := _pointed_at(current_folder())):
        return pointed
    project = find_project(repo)
    if wanted:
        return load_task(project, _full_id(project, wanted))
    found = list(load_all(project))
    open_ones = [listed for listed in found if listed.error is None and not is_over(listed)]
    if len(open_ones) == 1:
        return load_task(project, open_ones[0].id)
    if not open_ones:
        for listed in found:
            if listed.error is not None:
                raise listed.error  # one that can't be read may well be the one that is meant
        return load_task(project, _only_one(project, found))
    if active := _active_among(open_ones):
        return load_task(project, active)
    names = ", ".join(listed.id for listed in open_ones[:8])
    raise UsageError(f"which task? open are: {names}", next_step="put the task's id at the end of the command")


def _only_one(project: Project, over: list[Listed]) -> str:
    """Nothing is open: who has one task means it, also when it is done (`land`, `evidence` come then)."""
    if len(over) == 1:
        return over[0].id
    if not over:
        raise UsageError("no open task here", where=project.root, next_step='detent new phase "what is to be done"')
    names = ", ".join(listed.id for listed in over[:8])
    raise UsageError(
        f"which task? none is open; over are: {names}", next_step="put the task's id at the end of the command"
    )


def locate_task(wanted: str = "", repo: str = "") -> tuple[Project, str]:
    """Project and id of a task that may be too damaged to be opened."""
    folder = wanted if wanted and os.path.isdir(wanted) else "" if wanted or repo else current_folder()
    control = read_pointer(folder) if folder else None
    if control and os.path.isfile(TaskPlaces("", control).journal()):
        plane = os.path.dirname(os.path.dirname(control))
        above = os.path.dirname(plane)
        return Project(above, plane, above if os.path.basename(plane) == "detent" else ""), os.path.basename(control)
    project = find_project(repo)
    ids = list(project.task_ids())
    if wanted or len(ids) != 1:
        return project, _full_id(project, wanted) if wanted else open_task("", repo).id
    return project, ids[0]


def _pointed_at(folder: str) -> Task | None:
    """The task whose native folder or home this is or lies in; a pointer counts only if the journal names it back."""
    folder = os.path.abspath(folder)
    while True:
        if os.path.lexists(os.path.join(folder, POINTER)):
            return _pointed_task(folder)
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent


def refuse_unseen(folder: str) -> None:
    """Where an agent run finds no journal, its sandbox hides it: that there is no task would be wrong."""
    if os.environ.get(INSIDE_RUN_FOLDER):
        raise UnreadableError(
            "an agent run can't see the journal",
            where=folder,
            next_step="ask for a move: detent move STATE; what it lacks is said",
        )


def _pointed_task(folder: str) -> Task:
    pointer = os.path.join(folder, POINTER)
    again = f"detent adopt {folder} MACHINE --repo PATH"
    try:
        control = read_pointer(folder) or ""
    except UnreadableError as error:
        error.next_step = f"remove it, then make the folder a task again: {again}"
        raise
    places = TaskPlaces(os.path.basename(control), control)
    if not any(os.path.isfile(path) for path in (places.journal(), places.snapshot())):
        refuse_unseen(folder)  # a sandbox may show the folder for the git objects in it, and no more
        raise UnreadableError(
            f"this folder points to a task that is not there: {control[:200] or 'nothing'}",
            where=pointer,
            next_step=f"if its repository was moved, name the task there: detent status ID; else: {again}",
        )
    head = TaskStore(places).load().head
    if os.path.realpath(folder) not in (os.path.realpath(head["dir"]), os.path.realpath(head["home"])):
        raise UnreadableError(
            f"this folder points to task {places.id}, whose own folder is {head['dir']}",
            where=folder,
            next_step=f"work there (or move it back there), or: detent adopt {folder} {head['machine']} --repo PATH",
        )
    project = project_at(head["root"], head["common_dir"])
    if os.path.realpath(project.task(places.id).folder) != os.path.realpath(control):
        # Anybody can write a journal somewhere; only the one in the repository it speaks of counts.
        raise UnreadableError(
            f"this folder points to a journal outside its own project {head['root']}",
            where=pointer,
            next_step=f"name the task in its repository: cd {head['root']} && detent status {places.id}",
        )
    return load_task(project, places.id)


def _full_id(project: Project, wanted: str) -> str:
    if is_task_id(wanted) and os.path.exists(project.task(wanted).journal()):
        return wanted  # an exact id need not be looked for among all others
    ids = list(project.task_ids())
    if wanted in ids:
        return wanted
    matching = [task_id for task_id in ids if task_id.startswith(wanted)]
    if len(matching) == 1:
        return matching[0]
    if matching:
        raise UsageError(f"{wanted!r} may mean {', '.join(matching[:8])}", next_step="write more of the id")
    raise UsageError(f"there is no task {wanted!r}", where=project.root, next_step="detent list")


def load_task(project: Project, task_id: str, machines: dict[str, Machine] | None = None, *, pack: str = "") -> Task:
    """Pass `machines` as a cache of parsed machines that several calls share; it grows.

    `pack` is the digest of a pack that a person wants to take instead of the one the task is pinned to.
    """
    places = project.task(task_id)
    store = TaskStore(places)
    memory = _own_memory(store)
    if pack:
        memory = memory.replace(head={**memory.head, "pack": pack})
    machine = pinned_machine(project, memory) if machines is None else _shared_machine(project, memory, machines)
    return Task(project, places, store, memory, machine, Native(machine, memory.head["dir"], places))


def _own_memory(store: TaskStore) -> Memory:
    """What a task's journal says; a copy under another name would work on the files of the first."""
    memory, task_id = store.load(), store.places.id
    if memory.head["id"] != task_id:
        raise UnreadableError(
            f"this is the journal of task {memory.head['id']}, not of {task_id}",
            where=store.places.journal(),
            next_step="if it is a copy, remove its folder; if the folder was renamed, give it back its name",
        )
    return memory


def pinned_machine(project: Project, memory: Memory) -> Machine:
    """The machine a task began with, and its pack made known; refused where that is not as it was."""
    if memory.head.get("pack"):
        from detent.runner.task.pack import bring_pinned  # few tasks have one

        bring_pinned(project, memory)
    return machine_at(project, memory)


def machine_at(project: Project, memory: Memory) -> Machine:
    """The machine a task began with; a later version of the package does not change it."""
    path = project.machine_path(memory.head["digest"])
    data = read_plain(path, _LARGEST_MACHINE_BYTES)
    if data is None or sha256_of(data) != memory.head["digest"]:
        state = "is missing" if data is None else "was changed"
        raise UnreadableError(
            f"the machine {memory.head['machine']!r} this task began with {state}",
            where=path,
            next_step="put the file back from a backup",
        )
    try:
        return machine_of(data, tuple(memory.head["limits"].items()), tuple(memory.head["options"]))
    except MachineError as error:  # it was in order for the detent that pinned it
        raise UnreadableError(
            f"this version of detent can't read the machine {memory.head['machine']!r} this task began with: "
            + "; ".join(error.problems),
            where=path,
            next_step="use the version that made the task, or a newer one",
        ) from error
    except ValueError as error:
        raise UnreadableError("pinned machine is damaged", where=path, next_step="put it back from a backup") from error


@cache
def machine_of(pinned: bytes, limits: tuple[tuple[str, int], ...], options: tuple[str, ...]) -> Machine:
    """What was pinned, with a task's settings; parsed once in a process, because nobody can change a machine."""
    return parse(json.loads(pinned), None, limits=dict(limits), options=options)


def _shared_machine(project: Project, memory: Memory, machines: dict[str, Machine]) -> Machine:
    """The same pinned machine is read and proven once; of thousands of tasks in a list nearly all share one."""
    head = memory.head
    key = f"{head['digest']} {head['limits']} {head['options']} {head.get('pack', '')}"
    if key not in machines:
        machines[key] = pinned_machine(project, memory)
    return machines[key]


def load_all(project: Project) -> Iterator[Listed]:
    """Every task, as little of it as a list needs; one that can't be read carries its error, and is never hidden."""
    machines: dict[str, Machine] = {}
    for task_id in project.task_names():
        listed = load_listed(project, task_id, machines)
        if listed.error is None or project.has_task(task_id):  # asked only now: nearly every folder holds a sound task
            yield listed


def load_listed(project: Project, task_id: str, machines: dict[str, Machine]) -> Listed:
    """One of them; `machines` holds those that were parsed before, and grows."""
    try:
        memory = _own_memory(TaskStore(TaskPlaces(task_id, f"{project.tasks_folder()}/{task_id}")))
        return Listed(task_id, memory, _shared_machine(project, memory, machines))
    except UnreadableError as error:
        return Listed(task_id, error=error)


def is_over(listed: Listed) -> bool:
    """At an end that waits for nobody; one that a person can still answer is open."""
    if listed.memory is None or listed.machine is None:
        return False
    state = listed.machine.states[listed.memory.snapshot.state]
    return state.is_end and not waits_at_end(state)


def needs_word(memory: Memory, state: State) -> bool:
    """Whether another run, after the one of this visit, starts only when a person says so, and nobody did."""
    # An idle run gets another try unasked; too many of them stop the task.
    has_word = memory.visit.get("word") or state.respawn == "auto" or memory.snapshot.counters.get(IDLE)
    return state.driver == "agent" and bool(memory.visit) and not has_word


def waits_at_end(state: State) -> bool:
    """Whether an end is a question: it is left by an answer. One that a person may go back from is none."""
    return any(edge.reopen and not {"answer", "resume"}.isdisjoint(edge.verbs) for edge in state.edges)


def _active_among(found: Iterable[Listed]) -> str:
    """The one of these tasks that the file of its machine names; empty when none or more than one is named."""
    named = [listed.id for listed in found if is_active(listed)]
    return named[0] if len(named) == 1 else ""


def is_active(listed: Listed) -> bool:
    """Whether the file of its machine names this task as the one that is looked at."""
    if listed.machine is None or listed.memory is None or not listed.machine.store.get("active"):
        return False
    from detent.runner.task.layout import named_in, store_root  # few machines have such a file

    store = listed.machine.store
    return named_in(os.path.join(store_root(store, str(listed.memory.head["root"])), store["active"])) == listed.id
