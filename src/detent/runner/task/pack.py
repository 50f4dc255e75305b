"""Reads packs from folders elsewhere: only those the user's own settings name, each file once, nothing through a link.

A folder that an agent or another user can write in is refused: its code runs with the rights of the calling user.
"""

from __future__ import annotations

import os
import stat

from detent.effects.git.git import find_repository
from detent.errors import LostPackError, UnreadableError, UsageError
from detent.machines.brought import DONE_WITHOUT, MACHINE, MANIFEST, MARK, Pack
from detent.machines.load import SCAFFOLD, built_in_names
from detent.machines.outside import bring
from detent.machines.schemas import SCHEMAS
from detent.store.disk.atomic import reason_of
from detent.store.disk.digest import sha256_of
from detent.store.journal.places import POINTER, lies_in, state_folder
from detent.store.journal.user_settings import pack_folders, user_settings_path
from detent.words.runner import packs as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from detent.core.machine import Machine
    from detent.store.journal.memory import Memory
    from detent.store.journal.places import Project

LARGEST_FILE_BYTES = 1_000_000
MOST_FILES = 500  # in the folder, whether they are read or not
_CODE = ".py"


def pack_names() -> tuple[str, ...]:
    """The machines of the packs that the user's settings name; no file of them is read."""
    return tuple(dict.fromkeys(map(_name_of, pack_folders())))


def bring_pack(project: Project, name: str, *, is_new: bool = False) -> Pack | None:
    """Make the pack of this name known, as it is now; None where the user has none. `is_new`: a task is being made."""
    if not name or os.sep in name:
        return None
    pack = _read_pack(project, name, is_new=is_new)
    if pack is not None:
        bring(pack)
    return pack


def bring_pinned(project: Project, memory: Memory) -> None:
    """Make the pack of a task known; refused where its code is no longer what the task is pinned to."""
    head = memory.head
    try:
        pack = _read_pack(project, head.machine)
    except UnreadableError as error:
        raise LostPackError(error.what, where=error.where, next_step=error.next_step) from error
    if pack is None:
        raise LostPackError(say.not_in_settings(head.machine), where=user_settings_path())
    if pack.digest != head.pack:
        raise LostPackError(say.code_changed(pack.name, head.id), where=pack.folder)
    bring(pack)


def is_done_with(machine: Machine, memory: Memory) -> bool:
    """Whether nothing more is asked of the task's pack: it is over and lands nothing, or is given up right now."""
    state = machine.states[memory.snapshot.state]
    return (state.is_end and not state.edges and not state.lands) or machine.name in DONE_WITHOUT


def needs_pack(machine: Machine, memory: Memory, verb: str) -> bool:
    """Whether the moves of this verb, or what is left to be done of the last one, rest on code of the task's pack."""
    prefix, snapshot = f"{machine.name}{MARK}", memory.snapshot
    ways = [way for edge in machine.states[snapshot.state].edges if verb in edge.verbs for way in edge.ways]
    gates = machine.parts((*(gate for way in ways for gate in way.needs), *(name for name in snapshot.no)))
    named = [gate.check for gate in gates] + [name for way in ways for name in (*way.effects, *way.prepare)]
    left = [key.partition(":")[2] for key in memory.unsettled]
    return not ways or bool(memory.intent) or any(name.startswith(prefix) for name in (*named, *left))


def _read_pack(project: Project, name: str, *, is_new: bool = False) -> Pack | None:
    folders = [folder for folder in pack_folders() if _name_of(folder) == name]
    if not folders:
        return None
    if len(folders) > 1:
        raise UsageError(say.two_packs(name, folders), where=user_settings_path())
    if name in built_in_names():
        raise UsageError(say.name_of_shipped_machine(folders[0]), where=user_settings_path())
    folder = os.path.realpath(folders[0])
    _refuse_place(folder, project, is_new=is_new)
    try:
        files = dict(_files(folder))
    except OSError as error:
        raise UnreadableError(say.unreadable(name, reason_of(error)), where=error.filename or folder) from error
    for needed in (MACHINE, f"{MANIFEST}{_CODE}"):
        if needed not in files:
            raise UnreadableError(say.lacks_file(name, needed), where=folder)
    return Pack(name, folder, code_digest(files), files)


def _name_of(folder: str) -> str:
    return os.path.basename(folder.rstrip(os.sep)).replace("_", "-")


def code_digest(files: Mapping[str, bytes]) -> str:
    """The hash of all that takes effect later: code and schemas. Machine and scaffold are read when a task is made."""
    lasting = sorted(path for path in files if path.endswith(_CODE) or path.startswith(SCHEMAS))
    rows = "".join(f"{sha256_of(files[path])}  {path}\n" for path in lasting)
    return sha256_of(rows.encode("utf-8", "surrogateescape"))


def _refuse_place(folder: str, project: Project, *, is_new: bool) -> None:
    """Code comes from nowhere an agent works: no repository or folder with tasks, no home of a task."""
    places = [state_folder(), project.common_dir, project.control]
    if is_new or project.common_dir or os.path.isdir(project.control):
        places.append(project.root)
    for place in (os.path.realpath(place) for place in places if place):
        if lies_in(folder, place) or lies_in(place, folder):
            raise _misplaced(folder, place)
    if (found := find_repository(folder)) and os.path.isdir(os.path.join(found.common_dir, "detent")):
        raise _misplaced(folder, found.top)
    above = folder
    while above != os.path.dirname(above):
        if any(os.path.lexists(os.path.join(above, name)) for name in (POINTER, ".detent")):
            raise _misplaced(folder, above)
        above = os.path.dirname(above)


def _misplaced(folder: str, place: str) -> UnreadableError:
    return UnreadableError(say.misplaced(place, user_settings_path()), where=folder)


def _files(top: str) -> Iterator[tuple[str, bytes]]:
    """What a pack is made of, by path. A folder is held open while it is read: nothing below is swapped."""
    count = 0
    for folder, folders, names, descriptor in os.fwalk(top, follow_symlinks=False, onerror=_raise):
        _refuse_owner(os.fstat(descriptor), folder)
        inner = os.path.relpath(folder, top)
        count += len(names)
        if count > MOST_FILES:
            raise UnreadableError(say.too_many_files(MOST_FILES), where=top)
        for name in [name for name in folders if _is_left_out(name)]:
            folders.remove(name)
        for name in folders:
            if stat.S_ISLNK(os.stat(name, dir_fd=descriptor, follow_symlinks=False).st_mode):
                raise _no_plain_file(os.path.join(folder, name))
        for name in names:
            path = name if inner == os.curdir else f"{inner}/{name}"
            if _is_part(path) and not _is_left_out(name):
                yield path, _content(name, os.path.join(folder, name), descriptor)


def _raise(error: OSError) -> None:
    raise error


def _is_left_out(name: str) -> bool:
    return name.startswith(".") or name == "__pycache__"


def _is_part(path: str) -> bool:
    is_schema = path.startswith(SCHEMAS) and path.endswith(".json")
    return path == MACHINE or path.endswith(_CODE) or path.startswith(SCAFFOLD) or is_schema


def _content(name: str, path: str, folder: int) -> bytes:
    try:
        opened = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    except OSError as error:
        if stat.S_ISLNK(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
            raise _no_plain_file(path) from None
        error.filename = path
        raise
    with os.fdopen(opened, "rb") as file:
        status = os.fstat(opened)
        if not stat.S_ISREG(status.st_mode):
            raise _no_plain_file(path)
        _refuse_owner(status, path)
        data = file.read(LARGEST_FILE_BYTES + 1)
    if len(data) > LARGEST_FILE_BYTES:
        raise UnreadableError(say.file_too_large(LARGEST_FILE_BYTES), where=path)
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        raise UnreadableError(say.not_utf8(), where=path) from None
    return data


def _no_plain_file(path: str) -> UnreadableError:
    return UnreadableError(say.no_plain_file(), where=path)


def _refuse_owner(status: os.stat_result, path: str) -> None:
    """No other user may write code that runs with this user's rights; a group of its owner alone is no other."""
    if status.st_uid not in (os.geteuid(), 0):
        what = say.of_another_user(status.st_uid)
    elif status.st_mode & stat.S_IWOTH or (status.st_mode & stat.S_IWGRP and status.st_gid != status.st_uid):
        what = say.others_may_write()
    else:
        return
    raise UnreadableError(say.others_may_change(what, path), where=path)
