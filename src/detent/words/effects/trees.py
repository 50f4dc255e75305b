"""Why a work tree can't be looked at: the sentences of tree ids."""

from __future__ import annotations

from detent.words.message import message


@message
def part_unreadable(problem: str, tree: str) -> tuple[str, str]:
    return (
        f"a part of the tree cannot be read: {problem}",
        f"make it readable or remove it in {tree}, then try again",
    )


@message
def name_of_git() -> tuple[str, str]:
    return (
        "a file of the tree has a name that git keeps for itself, so it cannot be counted",
        "rename or remove it, then try again",
    )


@message
def file_of_tree_unreadable() -> tuple[str, str]:
    return (
        "a file of the tree may not be read, so it cannot be counted",
        "make it readable or remove it, then try again",
    )


@message
def too_many_changed(count: int, most: int) -> str:
    return f"{count} files changed at once, at most {most} may"


@message
def file_too_large(size_bytes: int, most_bytes: int) -> str:
    return f"a file has {size_bytes >> 20} MB, at most {most_bytes >> 20} MB are counted"


@message
def changed_too_large(most_bytes: int) -> str:
    return f"changed files have more than {most_bytes >> 20} MB together"


@message
def tree_too_much(what: str, command: str) -> tuple[str, str]:
    return f"the tree can't be looked at: {what}", f"remove it: rm -rf {command}, then try again"


@message
def repository_in_tree(name: str) -> tuple[str, str]:
    return (
        f"{name} is a git repository inside the tree, so its files cannot be counted",
        f"move {name} out of the tree, or remove {name}/.git to count its files as ordinary ones",
    )


@message
def object_damaged(name: str) -> str:
    return f"object {name[:12]} of the repository is damaged or forged"


@message
def submodule_without_commit(tree: str, path: str) -> tuple[str, str]:
    return "the submodule has no commit to stand for it", f"run: git -C {tree} submodule update --init {path}"


@message
def folder_not_touched() -> str:
    return "folder can't be touched"


@message
def path_not_left_out(path: str) -> str:
    return f"{path!r} is no path inside the tree, so it cannot be left out"


@message
def tree_id_not_kept(problem: Exception) -> str:
    return f"the tree id cannot be kept: {problem}"
