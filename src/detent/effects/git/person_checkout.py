"""The person's own checkout: where it stands, and the few things that are done to it for a task that works in place.

A branch is made and left by its name alone where no file changes; only a return to another commit touches files. All of
it runs the person's git, because their files may need their filters, but without hooks: there is no commit yet.
Branches of the person's own are never moved.
"""

from __future__ import annotations

import os

from detent.core.record import Record
from detent.effects.git.git import Git, check_object_id, find_repository, has_sparse_rules
from detent.effects.git.merge import person_git, under_way
from detent.errors import RefusedError, ToolError, UnreadableError
from detent.store.disk.atomic import read_plain, storage_error
from detent.words.effects import git as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from detent.effects.git.git import Repository

_HEADS = "refs/heads/"
_LARGEST_PACKED_BYTES = 64_000_000
_QUIET = (
    *("-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "submodule.recurse=false"),
    *("-c", "advice.detachedHead=false", "-c", "core.logAllRefUpdates=true"),
    *("-c", "core.fsync=all"),  # by itself git does not sync a branch: a power cut could leave it without its bytes
)


class Stand(Record):
    """A checkout on a branch, with nothing under way."""

    repository: Repository
    branch: str
    commit: str


def stand_at(root: str) -> Stand | None:
    """Where the checkout stands, None without git; refused where there is no branch and commit to come back to."""
    repository = find_repository(root)
    if repository is None or repository.is_bare:
        return None
    top = repository.top
    if repository.head is None:
        raise RefusedError(say.nothing_to_come_back_to(), where=top)
    if repository.branch is None:
        raise RefusedError(say.on_no_branch(repository.head), where=top)
    if begun := under_way(repository):
        raise RefusedError(say.under_way_in_checkout(begun), where=top)
    return Stand(repository, repository.branch, repository.head)


def refuse_sparse(repository: Repository) -> None:
    """Refused where git leaves files of the commit out: in a scan of the folder alone they would look removed."""
    if not has_sparse_rules(repository):
        return
    answer = person_git(repository.top, "config", "--type=bool", "--get", "core.sparseCheckout")
    if answer.stdout.strip() == b"true":
        raise UnreadableError(say.sparse_checkout(), where=repository.top)


def quiet_git(root: str, *arguments: str) -> bytes:
    """The person's git without hooks; what it says when it fails is the error."""
    finished = person_git(root, *_QUIET, *arguments)
    if finished.exit != 0 or finished.timed_out:
        said = finished.stderr.decode("utf-8", "replace").strip() or f"exit {finished.exit}"
        raise ToolError(say.command_failed_in_checkout(arguments[0], said), where=root)
    return finished.stdout


def make_safe() -> None:
    """Git syncs little of what it writes into a person's repository: a line that says "done" must not outlive it."""
    os.sync()


def branch_commit(common_dir: str, name: str) -> str:
    """The commit a branch stands at; empty when there is no such branch."""
    found = Git(common_dir).run("for-each-ref", "--format=%(objectname)%00%(refname)", _HEADS + name).splitlines()
    rows = dict(line.split(b"\0")[::-1] for line in found)  # the pattern also names all branches below it
    return rows.get(os.fsencode(_HEADS + name), b"").decode()


def refuse_target(stand: Stand, branch: str, commit: str) -> None:
    """Refused where a branch can't be gone back to: it is gone, or another checkout has it."""
    wanted = "%(refname)%00%(worktreepath)"
    listed = Git(stand.repository.common_dir).run("for-each-ref", f"--format={wanted}", _HEADS + branch).splitlines()
    found = dict(os.fsdecode(line).split("\0") for line in listed)
    if _HEADS + branch not in found:
        raise RefusedError(say.first_branch_gone(branch, commit), where=stand.repository.top)
    elsewhere = found[_HEADS + branch]
    if elsewhere and os.path.realpath(elsewhere) != os.path.realpath(stand.repository.top):
        raise RefusedError(say.branch_checked_out(branch, elsewhere), where=stand.repository.top)


def refuse_branch_name(common_dir: str, name: str) -> None:
    """Refused where the branch, or one that keeps git from making it, is there already."""
    listed = Git(common_dir).run("for-each-ref", "--format=%(refname:lstrip=2)", _HEADS).splitlines()
    _refuse_among(common_dir, map(os.fsdecode, listed), name)


def refuse_known_branch(common_dir: str, name: str) -> None:
    """The same for readers: it reads files only and starts no git. What files don't tell is found out later."""
    top = os.path.join(common_dir, _HEADS)
    loose = [os.path.join(folder, file) for folder, _, files in os.walk(top) for file in files]
    packed = (read_plain(os.path.join(common_dir, "packed-refs"), _LARGEST_PACKED_BYTES) or b"").splitlines()
    rows = [os.fsdecode(line.partition(b" ")[2]) for line in packed if not line.startswith((b"#", b"^"))]
    names = [os.path.relpath(path, top) for path in loose if not path.endswith(".lock")]
    _refuse_among(common_dir, (*names, *(row.removeprefix(_HEADS) for row in rows if row.startswith(_HEADS))), name)


def _refuse_among(common_dir: str, names: Iterable[str], name: str) -> None:
    for other in names:
        if other == name or name.startswith(f"{other}/") or other.startswith(f"{name}/"):
            why = say.branch_is_there(other) if other == name else say.branch_in_the_way(other, name)
            raise RefusedError(why, where=common_dir)


def make_branch(stand: Stand, name: str, reason: str) -> None:
    """Make a branch where the checkout stands and check it out; no file changes, and a repetition does the rest."""
    git, head = Git(stand.repository.common_dir), check_object_id(stand.commit)
    if branch_commit(stand.repository.common_dir, name) != head:
        quiet_git(stand.repository.top, "update-ref", "-m", reason, _HEADS + name, head, "0" * len(head))
        make_safe()  # else a power cut may leave the checkout on a branch that is gone
    if stand.branch != name:
        _point_head(git, stand, name, reason)


def unmake_branch(stand: Stand, name: str, base: Stand, reason: str) -> None:
    """Remove a branch without any work again, and return the checkout to where it stood."""
    common_dir = stand.repository.common_dir
    if branch_commit(common_dir, name) != base.commit:
        return
    if stand.branch == name:
        if branch_commit(common_dir, base.branch) != base.commit:
            return  # it was moved; switching would change files
        _point_head(Git(common_dir), stand, base.branch, reason)
        make_safe()  # the branch may go once the checkout has left it for certain
    delete_branch(stand.repository.top, name, base.commit)


def _point_head(git: Git, stand: Stand, name: str, reason: str) -> None:
    """Both branches hold the same commit, so that index and files are right already."""
    if branch_commit(git.git_dir, name) != stand.commit:
        raise RefusedError(say.branch_moved(name), where=stand.repository.top)
    quiet_git(stand.repository.top, "symbolic-ref", "-m", reason, "HEAD", _HEADS + name)


def delete_branch(top: str, name: str, commit: str) -> None:
    """Delete a branch that stands at this very commit."""
    quiet_git(top, "update-ref", "-d", _HEADS + name, check_object_id(commit))


def switch(top: str, branch: str, *, force: bool = False) -> None:
    """Check out a branch as the person's git does; by force, files give way to those of the branch.

    Without force ignored files do not give way, which git by itself takes for worthless.
    """
    how = ("--force",) if force else ("--no-overwrite-ignore",)
    quiet_git(top, "checkout", "--quiet", *how, "--no-recurse-submodules", branch, "--")


def remove_files(top: str, names: Sequence[str]) -> None:
    """Remove new files that were saved before, and the folders they leave empty; links are not followed."""
    top = os.path.realpath(top)
    try:
        for name in names:
            folder, path = os.path.dirname(name), os.path.join(top, name)
            is_inside = os.path.realpath(os.path.join(top, folder)) == os.path.normpath(os.path.join(top, folder))
            if not is_inside or not os.path.lexists(path) or (os.path.isdir(path) and not os.path.islink(path)):
                continue  # behind a link, gone already, or the folder of a submodule
            os.unlink(path)
            while folder and not os.listdir(os.path.join(top, folder)):
                os.rmdir(os.path.join(top, folder))
                folder = os.path.dirname(folder)
    except OSError as error:
        raise storage_error(error, top, say.new_file_not_removed()) from error


def stand_on(stand: Stand, name: str, commit: str, reason: str) -> None:
    """Have a branch again where it stood, and the checkout on it; the files are left as they are."""
    common_dir, top = stand.repository.common_dir, stand.repository.top
    if not branch_commit(common_dir, name):
        quiet_git(top, "update-ref", "-m", reason, _HEADS + name, check_object_id(commit), "0" * len(commit))
        make_safe()  # as in `make_branch`
    if stand.branch != name:
        quiet_git(top, "symbolic-ref", "-m", reason, "HEAD", _HEADS + name)
        quiet_git(top, "read-tree", branch_commit(common_dir, name))
