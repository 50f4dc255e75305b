"""What is wrong with the settings of a project and of a user."""

from __future__ import annotations

from detent.words.message import message
from detent.words.names import count_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


@message
def problems_in(name: str, problems: Sequence[str]) -> tuple[str, str]:
    return f"{name} has {count_of(len(problems), 'problem')}: {'; '.join(problems)}", f"correct {name}"


@message
def no_toml(name: str, error: Exception) -> tuple[str, str]:
    return f"{name} is not valid TOML: {error}", f"correct {name}"


@message
def packs_in_project(table: str) -> str:
    return f"[{table}] belongs in your own config.toml: no repository says whose code runs"


@message
def sealed_in_project(table: str) -> str:
    return f"[{table}] belongs in your own config.toml: agents read this file"


@message
def sealed_project_not_whole(folder: str) -> str:
    return f"sealed: {folder} is no whole path of a project"


@message
def timeout_too_short() -> str:
    return "commands: timeout_s must be at least 1 second"


@message
def limit_no_whole_number(name: str) -> str:
    return f"commands: {name} must be a whole number from 1"


@message
def path_outside(name: str, pattern: str) -> str:
    return f"workspace: {name} has {pattern!r}, which is no path inside the repository"


@message
def base_no_address() -> str:
    return "evidence: base must be an address that starts with https://"


@message
def no_bound(table: str, name: str) -> str:
    return f"{table}: {name} must be a number above 0"


@message
def issue_without_id() -> str:
    return "issue: read must hold {id}"


@message
def protects_outside(name: str, pattern: str) -> str:
    return f"protect: {name}: {pattern!r} must lie inside the repository"


@message
def protects_nothing(name: str, pattern: str) -> str:
    return (
        f"protect: {name}: {pattern!r} would protect nothing: write it from the top without './', "
        "and dir/** for all below a folder"
    )


@message
def no_address(key: str) -> str:
    return f"audit: {key} must be an address that starts with https:// or http://"


@message
def no_advisory(advisory: str) -> str:
    return f"audit: {advisory!r} in accept is no id of a vulnerability, such as CVE-2024-1234"


@message
def pool_no_whole_number() -> str:
    return "pool: size must be a whole number from 1"


@message
def not_one_of(table: str, key: str, known: Iterable[str]) -> str:
    return f"{table}: {key} must be one of {', '.join(known)}"


@message
def quote_open(table: str, key: str) -> str:
    return f"{table}: {key} must be a command line with every quote closed"


@message
def no_command_line(table: str, key: str) -> str:
    return f"{table}: {key} must be a command line"


@message
def path_not_inside(table: str, name: str) -> str:
    return f"{table}: {name} must be a path inside the repository"


@message
def pack_folder_not_whole(folder: str) -> str:
    return f"packs: {folder!r} in folders must be a whole path, such as /home/me/packs/mine"


@message
def belongs_in_project(name: str, file: str) -> str:
    return f"{name!r} belongs in the {file} of a project"
