"""Reads the settings of the user: `detent/config.toml` in XDG_CONFIG_HOME, for what is theirs in every project.

It has the names of `detent.toml`, without those that only make sense for one project, and two of its own: `[packs]`,
whose code runs with the user's rights, and `[sealed]`, files that agents must not read. What a project's own file says
wins, key by key, with three exceptions: of two bounds the lower holds, of two sandbox rules the stricter, and the
lists `show` and `pass` are joined. Runs and commands can neither read nor change the file.

Beside it stands which settings of which repository the user trusts: one small file each, in the user's state folder. It
is named by the digest of the settings, so that other settings of the same repository are not trusted by it.
"""

from __future__ import annotations

import os

from detent.errors import UnreadableError
from detent.machines.reading import Reader, Table
from detent.store.disk.atomic import as_json, make_folders, read_plain, write_atomic
from detent.store.disk.digest import sha256_of
from detent.store.journal.places import config_folder, state_folder
from detent.store.journal.settings import FILE, OWN_TABLES, PACKS, SEALED, Settings, read_content, settings_of
from detent.words.store import settings as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from detent.store.journal.places import Project

NAME = "config.toml"
_PROJECT_TABLES = ("commands", "workspace", "machine", "evidence", "prompts", "protect", "audit", "pool")


def user_settings_path() -> str:
    return os.path.join(config_folder(), NAME)


def user_content() -> Mapping[str, Any]:
    """What stands in the user's file and a project may say too; nothing when there is none."""
    return {name: value for name, value in _whole_content().items() if name not in OWN_TABLES}


def pack_folders() -> tuple[str, ...]:
    """The folders of the user's packs, in their order."""
    return _folders(_whole_content())[0]


def _folders(content: Mapping[str, Any]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What `[packs]` names, and what is wrong with it."""
    reader = Reader()
    table = Table(content.get(PACKS, {}), PACKS, reader)
    folders = table.texts("folders")
    table.finish()
    bent = [folder for folder in folders if not os.path.isabs(folder) or os.path.normpath(folder) == os.sep]
    problems = (say.pack_folder_not_whole(folder) for folder in bent)
    return folders, (*reader.problems, *problems)


def sealed_words(root: str) -> tuple[str, ...]:
    """The sealed checks of a project, as `--sealed` takes them."""
    wanted = os.path.realpath(root)
    found = _sealed(_whole_content())[0].items()
    return tuple(word for folder, words in found if _real(folder) == wanted for word in words)


def _sealed(content: Mapping[str, Any]) -> tuple[Mapping[str, tuple[str, ...]], tuple[str, ...]]:
    """What `[sealed]` names by project, and what is wrong with it."""
    reader = Reader()
    found = Table(content.get(SEALED, {}), SEALED, reader).mapping_of_texts()
    bent = [folder for folder in found if not os.path.isabs(os.path.expanduser(folder))]
    return found, (*reader.problems, *(say.sealed_project_not_whole(folder) for folder in bent))


def _real(folder: str) -> str:
    return os.path.realpath(os.path.expanduser(folder))


def _whole_content() -> Mapping[str, Any]:
    path = user_settings_path()
    data = read_plain(path)
    if data is None:
        return {}
    content = read_content(data, path, name=path)
    foreign = [name for name in content if name in _PROJECT_TABLES]
    more = [say.belongs_in_project(name, FILE) for name in foreign]
    shared = {name: content[name] for name in content if name not in (*foreign, *OWN_TABLES)}
    settings_of(shared, path, name=path, more=[*more, *_folders(content)[1], *_sealed(content)[1]])
    return content


def effective_settings(data: bytes | None, where: str) -> Settings:
    """The settings of a project, given the bytes of its file, with those of the user under them."""
    content = read_content(data, where) if data else {}
    settings = settings_of(content, where) if content else Settings()
    user = user_content()
    return settings_of(merged(user, content), where) if user else settings


def merged(user: Mapping[str, Any], project: Mapping[str, Any]) -> dict[str, Any]:
    """Both files in one; each was found to be in order by itself."""
    result = _over(user, project)
    mine, theirs = user.get("sandbox", {}), project.get("sandbox", {})
    if mine and theirs:
        for name in ("show", "pass"):
            result["sandbox"][name] = list(dict.fromkeys((*_texts(mine, name), *_texts(theirs, name))))
        if "kernel" in (mine.get("require"), theirs.get("require")):
            result["sandbox"]["require"] = "kernel"
        networks = (mine.get("network", {}), theirs.get("network", {}))
        denied = {role: "deny" for network in networks for role, word in network.items() if word == "deny"}
        result["sandbox"]["network"] = {**networks[0], **networks[1], **denied}
    for kind in user.get("budget", {}):
        for name, bound in user["budget"][kind].items():
            result["budget"][kind][name] = min(bound, result["budget"][kind][name])
    return result


def _over(under: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    result = dict(under)
    for name, value in over.items():
        known = result.get(name)
        result[name] = _over(known, value) if isinstance(known, dict) and isinstance(value, dict) else value
    return {name: dict(value) if isinstance(value, dict) else value for name, value in result.items()}


def _texts(table: Mapping[str, Any], name: str) -> tuple[str, ...]:
    found = table.get(name, ())
    return (found,) if isinstance(found, str) else tuple(found)


def is_trusted(project: Project, digest: str) -> bool:
    try:
        return read_plain(_path(project, digest)) is not None
    except UnreadableError:  # not written by `detent trust`
        return False


def remember_trust(project: Project, digest: str, settings: Mapping[str, Any], by: str, time: str) -> None:
    path = _path(project, digest)
    make_folders(os.path.dirname(path))
    content = {"repository": _place(project), "by": by, "time": time, "settings": dict(settings)}
    write_atomic(path, as_json(content), durable=True)


def _path(project: Project, digest: str) -> str:
    mark = sha256_of(_place(project).encode("utf-8", "surrogateescape"))[:16]
    return os.path.join(state_folder(), "trusted", mark, f"{digest}.json")


def _place(project: Project) -> str:
    """The git folder that all work trees of a repository share; without git the folder itself."""
    return os.path.realpath(project.common_dir or project.root)
