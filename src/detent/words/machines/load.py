"""Why a machine or a pack can't be loaded."""

from __future__ import annotations

from detent.words.message import message

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


@message
def other_name(pack: str, name: object) -> tuple[str, str]:
    return (
        f"the machine of the pack {pack} calls itself {name!r}",
        f'write name = "{pack}" there, or rename the folder',
    )


@message
def no_machine(name: str, known: Iterable[str]) -> tuple[str, str]:
    return (
        f"there is no machine called {name!r}",
        f"use one of: {', '.join(known)}; or give the path of a machine file, "
        "or name the folder of its pack in your config.toml",
    )


@message
def file_unreadable(reason: str | None) -> tuple[str, str]:
    return f"machine file can't be read: {reason}", "detent machine list"


@message
def file_too_large(most_bytes: int) -> str:
    return f"machine file is larger than {most_bytes} bytes"


@message
def file_no_toml(problem: str, path: str) -> tuple[str, str]:
    return f"machine file is not valid TOML: {problem}", f"correct it, then run: detent machine check {path}"


@message
def pack_changed(pack: str) -> tuple[str, str]:
    return (
        f"the pack {pack} was changed, and this process still runs its old code",
        "end this command and start it again",
    )


@message
def pack_failed(pack: str, what: str, error: str, problem: str) -> tuple[str, str]:
    return (
        f"the pack {pack} failed in {what}: {error}: {problem}",
        f"correct the pack, then: detent machine check {pack}",
    )


@message
def pack_broken(pack: str, why: str) -> tuple[str, str]:
    return (
        f"the pack {pack} can't be used: {why}",
        f"correct it, then: detent machine check {pack}",
    )


@message
def wrong_records(sort: str, kind: str) -> str:
    return f"{sort} must list {kind} records whose names are letters, digits and _"


@message
def declared_twice(name: str, sort: str) -> str:
    return f"{name} is declared twice in {sort}"


@message
def name_declared_twice(name: str) -> str:
    return f"{name} is declared twice"


@message
def no_manifest(file: str) -> str:
    return f"it has no {file}"


@message
def only_for_shipped(sort: str) -> str:
    return f"{sort} are for packs that ship with Detent"


@message
def imports_other_pack(file: str, other: str) -> str:
    return f"{file} imports {other}, and no pack knows another"
