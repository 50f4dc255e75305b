"""What is wrong with what a machine file says about a task's own files."""

from __future__ import annotations

from detent.words.message import message


@message
def archive_outside(path: str) -> str:
    return f"store archive: {path!r} must be a path inside the task folder, without '..'"


@message
def retitles_needs_title() -> str:
    return "store: retitles needs title, the field whose text the task is called by"


@message
def version_number() -> str:
    return "store version: is must be a whole number from 1"


@message
def must_hold_state(key: str) -> str:
    return f"store: {key} must hold {{state}}, or all states would share it"


@message
def tracked_needs_root() -> str:
    return "store: tracked needs root and in_place, and no folder: what is tracked belongs to one task"


@message
def outside_project(key: str) -> str:
    return f"store: {key} must be a path inside the project, without '..'"


@message
def needs_root(key: str) -> str:
    return f"store: {key} needs root, the folder it lies in"


@message
def folder_needs_id() -> str:
    return "store: folder must hold {id}, or all tasks would share it"


@message
def no_files() -> str:
    return "store: files must name the files of a new task"


@message
def files_without_own(file: str) -> str:
    return f"store: files must name {file} too: a new task has its state there"


@message
def empty_name() -> str:
    return "store: an empty text in files, folders, extra or briefing names nothing"


@message
def outside_folder(path: str) -> str:
    return f"store: {path} must be a path inside the task folder, without '..'"


@message
def draft_and_revision() -> str:
    return "store: draft names a file, and revision where it is filed, with {n} for the number"


@message
def writes_folder(role: str, path: str) -> str:
    return f"store writes {role}: {path!r} must be a folder of the tree, with / at its end"


@message
def adds_elsewhere(role: str, pattern: str) -> str:
    return f"store adds {role}: {pattern!r} must lie in a folder that writes names for this role"


@message
def harness_outside(path: str) -> str:
    return f"store harness: {path} must be a path inside the tree, without '..'"


@message
def harness_letters(key: str, name: str) -> str:
    return f"store harness {key}: {name} must be made of letters, digits and dashes"


@message
def no_log(where: str) -> str:
    return f"{where}: there is no log to write it to"
