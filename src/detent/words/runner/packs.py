"""Why a pack of the user's own can't be loaded."""

from __future__ import annotations

from detent.words.message import message

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


@message
def not_in_settings(pack: str) -> tuple[str, str]:
    return f"the pack {pack} that this task uses is not in your settings", "name its folder there: [packs] folders"


@message
def code_changed(pack: str, task_id: str) -> tuple[str, str]:
    return (
        f"the code of the pack {pack} is not what this task is pinned to",
        f'put it back as it was; or go on with it as it is: detent configure --pack --reason "why" {task_id}',
    )


@message
def two_packs(name: str, folders: Iterable[str]) -> tuple[str, str]:
    return f"two packs of your settings are called {name}: {', '.join(folders)}", "rename one of the folders"


@message
def name_of_shipped_machine(folder: str) -> tuple[str, str]:
    return (
        f"the pack {folder} has the name of a machine that ships with Detent",
        "rename the folder, and the machine in it",
    )


@message
def unreadable(pack: str, reason: str) -> tuple[str, str]:
    return f"the pack {pack} can't be read: {reason}", _correct(pack)


@message
def lacks_file(pack: str, needed: str) -> tuple[str, str]:
    return f"the pack {pack} has no {needed}", _correct(pack)


@message
def misplaced(place: str, settings: str) -> tuple[str, str]:
    return (
        f"a pack is not loaded from where agents work: {place}",
        f"move it elsewhere, and name the new folder in {settings}",
    )


@message
def too_many_files(most: int) -> tuple[str, str]:
    return f"a pack has at most {most} files", "name its own folder"


@message
def not_utf8() -> tuple[str, str]:
    return "a file of a pack is no UTF-8 text", "write it in UTF-8"


@message
def of_another_user(number: int) -> str:
    return f"it belongs to another user (number {number})"


@message
def others_may_write() -> str:
    return "others may write in it"


@message
def others_may_change(how: str, path: str) -> tuple[str, str]:
    return (
        f"a pack runs with your rights, so nobody else may change it: {how}",
        f"make it yours alone: chmod -R go-w {path}",
    )


@message
def file_too_large(most_bytes: int) -> tuple[str, str]:
    return f"a file of a pack has at most {most_bytes} bytes", "make it smaller"


@message
def no_plain_file() -> tuple[str, str]:
    return (
        "a pack is made of plain files and folders, and this is a link or something else",
        "put the file itself there",
    )


def _correct(pack: str) -> str:
    return f"correct the pack, then: detent machine check {pack}"


@message
def no_pack(machine: str, task_id: str) -> tuple[str, str]:
    return f"the machine {machine} comes from no pack of your own", f"detent status {task_id}"


@message
def unknown_pack(pack: str) -> tuple[str, str]:
    return f"the pack {pack} is not in your settings", "name its folder: [packs] folders"


@message
def reason_missing(task_id: str) -> tuple[str, str]:
    return "other code for a task needs a reason", f'detent configure --pack --reason "why" {task_id}'


@message
def does_not_fit(pack: str, problems: Iterable[str]) -> tuple[str, str]:
    return (
        f"the pack {pack} no longer fits the machine this task began with: {'; '.join(problems)}",
        "give it back what the machine names, or end the task and make a new one",
    )
