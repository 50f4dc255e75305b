"""Puts files of a work tree back as a tree of the private git folder has them: exact bytes, links never followed."""

from __future__ import annotations

import os

from detent.core.record import Record
from detent.effects.git.git import Git, check_object_id
from detent.effects.git.tree.tree_id import changed_files
from detent.errors import StorageError
from detent.words.effects import git as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

_GITLINK = b"160000"


class PutBack(Record):
    """What was done, by path; `passed_over` are submodules, whose files are not this tree's."""

    written: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    passed_over: tuple[str, ...] = ()


def put_back(
    private_dir: str,
    work_tree: str,
    now: str,
    wanted: str,
    *,
    keep_new: bool = False,
    only: Callable[[str], bool] = lambda _path: True,
) -> PutBack:
    """Lead the work tree from the tree it is (`now`) to the `wanted` one.

    With `keep_new` nothing is removed; `only` says which paths are meant.
    """
    changes = [change for change in changed_files(private_dir, now, wanted) if only(change[1])]
    index = os.path.join(private_dir, "cache", f"tmp-back-{os.getpid()}-{os.urandom(4).hex()}")
    git = Git(os.path.abspath(private_dir), os.path.realpath(work_tree), index)
    try:
        git.run("read-tree", check_object_id(wanted))
        links = {os.fsdecode(line.partition(b"\t")[2]) for line in _entries(git) if line.startswith(_GITLINK)}
        removed = [] if keep_new else [path for status, path in changes if status == "D"]
        passed_over = tuple(path for path in removed if _is_folder(os.path.join(git.work_tree or "", path)))
        removed = [path for path in removed if path not in passed_over]
        _remove(git.work_tree or "", removed)
        written = [path for status, path in changes if status != "D" and path not in links]
        if written:
            data = b"".join(os.fsencode(path) + b"\0" for path in written)
            git.run("checkout-index", "--force", "-z", "--stdin", input_bytes=data)
        passed_over += tuple(path for _, path in changes if path in links)
    except OSError as problem:
        raise StorageError(say.not_restored(problem), where=work_tree) from problem
    finally:
        if os.path.exists(index):
            os.unlink(index)
    return PutBack(tuple(written), tuple(removed), passed_over)


def _is_folder(path: str) -> bool:
    return os.path.isdir(path) and not os.path.islink(path)


def _entries(git: Git) -> Iterable[bytes]:
    return git.run("ls-files", "-s", "-z").split(b"\0")[:-1]


def _remove(top: str, paths: Sequence[str]) -> None:
    """Unlink files and the folders that become empty; git listed them, so no link leads to them."""
    for path in paths:
        os.unlink(os.path.join(top, path))
        folder = os.path.dirname(path)
        while folder and not os.listdir(os.path.join(top, folder)):
            os.rmdir(os.path.join(top, folder))
            folder = os.path.dirname(folder)
