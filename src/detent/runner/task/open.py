"""Finds the project and the task a command is about, and opens them without writing anything."""

from __future__ import annotations

import json
import os
from functools import cache

from detent.core.machine import IDLE
from detent.core.record import Record
from detent.effects.git.git import find_repository
from detent.errors import LostPackError, MachineError, UnreadableError, UsageError
from detent.machines.parse import parse
from detent.store.disk.atomic import read_plain
from detent.store.disk.digest import sha256_of
from detent.store.journal.head import with_pack
from detent.store.journal.memory import Memory
from detent.store.journal.native import Native
from detent.store.journal.places import POINTER, Project, TaskPlaces, is_task_id, project_at, read_pointer
from detent.store.journal.tasks import TaskStore

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from detent.core.machine import Machine, State
    from detent.store.disk.lock import Lock

INSIDE_RUN_TASK, INSIDE_RUN_FOLDER = "DETENT_TASK", "DETENT_TASK_DIR"  # set in the environment of every agent run
_MOST_NAMED = 8  # tasks in one sentence
_LONGEST_SHOWN = 200  # characters of a path that leads nowhere
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
        return str(self.memory.head.tree_path)

    @property
    def home(self) -> str:
        """What belongs to this task alone, outside every checkout."""
        return os.path.join(self.project.home(), self.id)

    def now(self) -> Task:
        """The task as its journal has it now."""
        return self.at(self.store.load())

    def at(self, memory: Memory) -> Task:
        """The task at another line of its journal, with the limits that hold there."""
        is_same = memory.head.limits == self.memory.head.limits
        machine = self.machine if is_same else machine_at(self.project, memory)
        return self.replace(memory=memory, machine=machine)

    def held(self) -> Lock:
        """Its lock: nothing changes while it is read. Lines are written elsewhere (step/changing.py)."""
        from detent.store.disk.lock import Lock  # most that looks does without

        return Lock(self.places.lock())

    def run_folders(self) -> dict[str, str]:
        """The folders an agent run is given besides tree and task folder, by the variable that names them."""
        return {f"DETENT_{name.upper()}": os.path.join(self.home, name) for name in ("out", "drop", "bin", "tmp")}

    @property
    def root(self) -> str:
        """The user's checkout, which a task that works in place has for its tree."""
        return str(self.memory.head.root)


def current_folder() -> str:
    try:
        return os.getcwd()
    except OSError:
        from detent.words.runner import task as say

        raise UsageError(say.folder_gone()) from None


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
        from detent.words.runner import task as say

        raise UsageError(say.no_folder(start))
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
    from detent.words.runner import task as say

    raise UsageError(say.several_open([listed.id for listed in open_ones[:_MOST_NAMED]]))


def _only_one(project: Project, over: list[Listed]) -> str:
    """No task is open: a single finished one is meant (`land`, `evidence` come then)."""
    if len(over) == 1:
        return over[0].id
    if not over:
        from detent.words.runner import task as say

        raise UsageError(say.none_open(), where=project.root)
    from detent.words.runner import task as say

    raise UsageError(say.several_over([listed.id for listed in over[:_MOST_NAMED]]))


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
        from detent.words.runner import task as say

        raise UnreadableError(say.journal_unseen(), where=folder)


def _pointed_task(folder: str) -> Task:
    pointer = os.path.join(folder, POINTER)
    try:
        control = read_pointer(folder) or ""
    except UnreadableError as error:
        from detent.words.runner import task as say

        error.next_step = say.make_task_again(folder)
        raise
    places = TaskPlaces(os.path.basename(control), control)
    if not any(os.path.isfile(path) for path in (places.journal(), places.snapshot())):
        refuse_unseen(folder)  # a sandbox may show the folder for the git objects in it, and no more
        from detent.words.runner import task as say

        raise UnreadableError(
            say.points_to_no_task(control[:_LONGEST_SHOWN], folder),
            where=pointer,
        )
    head = TaskStore(places).load().head
    if os.path.realpath(folder) not in (os.path.realpath(head.dir), os.path.realpath(head.home)):
        from detent.words.runner import task as say

        raise UnreadableError(say.points_to_task_elsewhere(places.id, head.dir, folder, head.machine), where=folder)
    project = project_at(head.root, head.common_dir)
    if os.path.realpath(project.task(places.id).folder) != os.path.realpath(control):
        # Anybody can write a journal somewhere; only the one in the repository it speaks of counts.
        from detent.words.runner import task as say

        raise UnreadableError(say.points_outside_project(head.root, places.id), where=pointer)
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
        from detent.words.runner import task as say

        raise UsageError(say.may_mean(wanted, matching[:_MOST_NAMED]))
    from detent.words.runner import task as say

    raise UsageError(say.no_task(wanted), where=project.root)


def open_to_give_up(wanted: str, repo: str, verb: str = "") -> Task:
    """The task that is meant, also where its pack is lost and the moves of this verb ask nothing of it.

    Without a verb nothing is moved: all that is there of the task goes.
    """
    try:
        return open_task(wanted, repo)
    except LostPackError:
        from detent.machines.brought import DONE_WITHOUT
        from detent.runner.task.pack import needs_pack

        project = find_project(repo)
        if not wanted or os.path.isdir(wanted):
            raise
        memory = _folded_memory(TaskStore(project.task(_full_id(project, wanted))))
        if verb and needs_pack(machine_at(project, memory), memory, verb):
            raise
        DONE_WITHOUT.add(memory.head.machine)
        return open_task(wanted, repo)


def load_task(project: Project, task_id: str, machines: dict[str, Machine] | None = None, *, pack: str = "") -> Task:
    """Pass `machines` as a cache of parsed machines that several calls share; it grows.

    `pack` is the digest of a pack that a person wants to take instead of the one the task is pinned to.
    """
    places = project.task(task_id)
    store = TaskStore(places)
    memory = _folded_memory(store)
    if pack:
        memory = memory.replace(head=with_pack(memory.head, pack))
    machine = pinned_machine(project, memory) if machines is None else _shared_machine(project, memory, machines)
    return Task(project, places, store, memory, machine, Native(machine, memory.head.dir, places))


def _folded_memory(store: TaskStore) -> Memory:
    """What a task's journal says; a copy under another name would work on the files of the first."""
    memory, task_id = store.load(), store.places.id
    if memory.head.id != task_id:
        from detent.words.runner import task as say

        raise UnreadableError(say.journal_of_other_task(memory.head.id, task_id), where=store.places.journal())
    return memory


def pinned_machine(project: Project, memory: Memory) -> Machine:
    """The machine a task began with, and its pack made known; refused where that is not as it was.

    A task that is over for good, and lands nothing, asks nothing more of its pack: it is shown without.
    """
    if not memory.head.pack:
        return machine_at(project, memory)
    from detent.runner.task.pack import bring_pinned, is_done_with  # few tasks have one

    try:
        bring_pinned(project, memory)
    except LostPackError:
        machine = machine_at(project, memory)
        if not is_done_with(machine, memory):
            raise
        return machine
    return machine_at(project, memory)


def machine_at(project: Project, memory: Memory) -> Machine:
    """The machine a task began with; a later version of the package does not change it."""
    path = project.machine_path(memory.head.digest)
    data = read_plain(path, _LARGEST_MACHINE_BYTES)
    if data is None or sha256_of(data) != memory.head.digest:
        from detent.words.runner import task as say

        problem = say.machine_missing if data is None else say.machine_changed
        raise UnreadableError(problem(memory.head.machine), where=path)
    try:
        return machine_of(data, tuple(memory.head.limits.items()), tuple(memory.head.options))
    except MachineError as error:  # it was in order for the detent that pinned it
        from detent.words.runner import task as say

        raise UnreadableError(say.machine_not_understood(memory.head.machine, error.problems), where=path) from error
    except ValueError as error:
        from detent.words.runner import task as say

        raise UnreadableError(say.machine_damaged(), where=path) from error


@cache
def machine_of(pinned: bytes, limits: tuple[tuple[str, int], ...], options: tuple[str, ...]) -> Machine:
    """What was pinned, with a task's settings; parsed once in a process, because a pinned machine never changes."""
    return parse(json.loads(pinned), None, limits=dict(limits), options=options)


def _shared_machine(project: Project, memory: Memory, machines: dict[str, Machine]) -> Machine:
    """The same pinned machine is read and proven once; of thousands of tasks in a list nearly all share one."""
    head = memory.head
    key = f"{head.digest} {head.limits} {head.options} {head.pack}"
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
        memory = _folded_memory(TaskStore(TaskPlaces(task_id, f"{project.tasks_folder()}/{task_id}")))
        return Listed(task_id, memory, _shared_machine(project, memory, machines))
    except UnreadableError as error:
        return Listed(task_id, error=error)


def is_over(listed: Listed) -> bool:
    """At an end that waits for nothing; one that a person can still answer is open."""
    if listed.memory is None or listed.machine is None:
        return False
    state = listed.machine.states[listed.memory.snapshot.state]
    return state.is_end and not waits_at_end(state)


def needs_word(memory: Memory, state: State) -> bool:
    """Whether another run, after the one of this visit, needs a person's request, and has none."""
    # An idle run gets another try unasked; too many of them stop the task.
    has_word = memory.visit.word or state.respawn == "auto" or memory.snapshot.counters.get(IDLE)
    return state.driver == "agent" and bool(memory.visit) and not has_word


def waits_at_end(state: State) -> bool:
    """Whether an end is a question: it is left by an answer. One that a person may go back from is none."""
    return any(edge.reopen and not {"answer", "resume"}.isdisjoint(edge.verbs) for edge in state.edges)


def _active_among(found: Iterable[Listed]) -> str:
    """The one of these tasks that the file of its machine names; empty when none or more than one is named."""
    named = [listed.id for listed in found if is_active(listed)]
    return named[0] if len(named) == 1 else ""


def is_active(listed: Listed) -> bool:
    """Whether the file of its machine names this task as the chosen one."""
    if listed.machine is None or listed.memory is None or not listed.machine.store.active:
        return False
    from detent.runner.task.layout import named_in, store_root  # few machines have such a file

    store = listed.machine.store
    return named_in(os.path.join(store_root(store, str(listed.memory.head.root)), store.active)) == listed.id
