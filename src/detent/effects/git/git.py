"""The engine's own git: runs it so that nothing of a repository's or user's configuration runs, and finds repositories.

`find_repository` reads files and starts no process in the usual cases, because every command begins with it.
"""

from __future__ import annotations

import os
from functools import cache

from detent.core.record import Record
from detent.effects.host.programs import find_outside
from detent.errors import ToolError, UnreadableError, UsageError
from detent.store.disk.atomic import forget, make_folders, read_plain, storage_error, sync_folder, write_atomic
from detent.store.disk.folders import shown_path
from detent.store.disk.git_folder import common_dir_of, git_dir_of, looks_like_git_dir, read_small

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from detent.effects.host.process import Finished

TIMEOUT_S = 600.0
OUTPUT_LIMIT_BYTES = 512 * 1024 * 1024
_PACKED_REFS_BYTES = 256 * 1024 * 1024
_HEX = frozenset("0123456789abcdef")

# What a configuration could make git run (hooks, fsmonitor, filters), leave out or write otherwise than it is on disk.
_SETTINGS = (
    "safe.directory=*",
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.untrackedCache=false",
    "core.attributesFile=/dev/null",
    "core.excludesFile=/dev/null",
    "core.autocrlf=false",
    "core.safecrlf=false",
    "core.fileMode=true",
    "core.symlinks=true",
    "core.splitIndex=false",
    "core.sparseCheckout=false",
    "core.protectHFS=false",
    "core.protectNTFS=false",
    "core.quotePath=false",
    "diff.ignoreSubmodules=all",
    "submodule.recurse=false",
    "core.fsync=all",  # what a journal line names must survive a power cut as the line does
    "gc.auto=0",
    "maintenance.auto=false",
)
_ENVIRONMENT = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_SYSTEM": "/dev/null",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}
# These hold no lock, so nothing is lost when they outlive an engine that was killed: they start in half the time.
_READS = frozenset(
    (
        "cat-file",
        "diff-index",
        "diff-tree",
        "for-each-ref",
        "ls-files",
        "ls-tree",
        "merge-base",
        "rev-list",
        "rev-parse",
    )
)
_ELSEWHERE = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY", "GIT_NAMESPACE")
# Bytes are stored and written exactly as they are. A working-tree-encoding can only be unset by "!", git dies on "-".
_EXACT_BYTES = "* -text -eol -ident -filter !working-tree-encoding\n"


class Repository(Record):
    """Where a repository is and what its HEAD names; `top` of a bare repository is the git folder itself."""

    top: str
    common_dir: str
    git_dir: str
    head: str | None  # None: no commit yet
    branch: str | None  # None: detached
    is_bare: bool


class Git(Record):
    """Git for one git folder, with a work tree and an index file of its own where the command needs them."""

    git_dir: str
    work_tree: str | None = None
    index: str | None = None
    more: tuple[str, ...] = ()  # settings for this use, stronger than ours

    def run(self, *arguments: str, input_bytes: bytes = b"", ok: Sequence[int] = (0,)) -> bytes:
        """Standard output of a git command; any exit code outside `ok` is a ToolError."""
        finished = self.finish(*arguments, input_bytes=input_bytes)
        if finished.exit not in ok:
            raise self.failure(arguments[0], finished)
        return finished.stdout

    def finish(self, *arguments: str, input_bytes: bytes = b"") -> Finished:
        """Run a git command to its end, however it ends; only a cut run is an error here."""
        from detent.effects.host import process

        argv = [find_git(), "--no-pager", *(part for setting in (*_SETTINGS, *self.more) for part in ("-c", setting))]
        argv.append(f"--git-dir={self.git_dir}")
        if self.work_tree is not None:
            argv.append(f"--work-tree={self.work_tree}")
        environment = clean_environment(os.environ) | _ENVIRONMENT
        if self.index is not None:
            environment["GIT_INDEX_FILE"] = self.index
        finished = process.run(
            [*argv, *arguments],
            cwd=self.work_tree or self.git_dir,
            env=environment,
            timeout_s=TIMEOUT_S,
            input_bytes=input_bytes,
            output_limit_bytes=OUTPUT_LIMIT_BYTES,
            dies_with_us=arguments[0] not in _READS,
        )
        if finished.timed_out or finished.truncated:
            from detent.words.effects import git as say

            command = arguments[0]
            why = say.took_too_long(command, TIMEOUT_S) if finished.timed_out else say.wrote_too_much(command)
            raise ToolError(why, where=self.work_tree or self.git_dir)
        return finished

    def failure(self, command: str, finished: Finished) -> ToolError:
        """The error for a command that ended badly, in git's own words."""
        lines = finished.stderr.decode(errors="replace").strip().splitlines() or [f"exit {finished.exit}"]
        from detent.words.effects import git as say

        return ToolError(
            say.command_failed(command, shown_path(lines[0]), self.work_tree or self.git_dir),
            where=self.work_tree or self.git_dir,
        )


def clean_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """An environment without what would steer git or tell a command that Detent runs it."""
    return {
        name: value
        for name, value in environment.items()
        if not name.startswith(("GIT_", "DETENT_")) or name == "GIT_SSL_CAINFO"
    }


def at_home(environment: Mapping[str, str]) -> dict[str, str]:
    """An environment in which git finds the repository of the folder it stands in; a hook's leads to the hook's own."""
    return {name: value for name, value in environment.items() if name not in _ELSEWHERE}


def is_object_id(text: str) -> bool:
    """Whether this is a full object name in hex, and so safe to hand to git as one."""
    return len(text) in (40, 64) and _HEX.issuperset(text)


def check_object_id(text: str) -> str:
    """The object name unchanged; anything else that could be read as an option or a revision is refused."""
    if not is_object_id(text):
        from detent.words.effects import git as say

        raise UsageError(say.no_object_id(text))
    return text


@cache
def tree_of(git_dir: str, commit: str) -> str:
    """The tree that a commit holds, or a tree is. It will never be another, so git is asked once."""
    return Git(git_dir).run("rev-parse", "--verify", f"{check_object_id(commit)}^{{tree}}").decode().strip()


def sync_names(git_dir: str, inner: str, what: str) -> None:
    """Sync a folder of a git folder and those above it: git syncs what it writes for us, not the folders that name it.

    One that is not there holds nothing: people pack objects and branches.
    """
    parts = inner.split("/")
    try:
        for count in range(len(parts), 0, -1):
            folder = os.path.join(git_dir, *parts[:count])
            if os.path.isdir(folder):
                sync_folder(folder)
    except OSError as error:
        from detent.words.effects import git as say

        raise storage_error(error, git_dir, say.not_made_safe(what)) from error


def write_git_dir(
    git_dir: str,
    *,
    alternates: Sequence[str],
    is_sha256: bool,
    is_bare: bool,
    durable: bool,
    more_config: str = "",
) -> None:
    """Make or repair a git folder without starting git; several processes may do so at once."""
    for name in ("objects/info", "objects/pack", "refs/heads", "info"):
        if durable:
            make_folders(os.path.join(git_dir, name))
            continue
        try:
            os.makedirs(os.path.join(git_dir, name), exist_ok=True)
        except OSError as error:
            from detent.words.effects import git as say

            raise storage_error(error, git_dir, say.folder_not_made()) from error
    config = (
        f"[core]\n\trepositoryformatversion = {int(is_sha256)}\n\tfilemode = true\n\tbare = {str(is_bare).lower()}\n"
        "\thooksPath = /dev/null\n[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n"
    )
    texts = {
        "HEAD": "ref: refs/heads/main\n",
        "config": config + ("[extensions]\n\tobjectFormat = sha256\n" if is_sha256 else "") + more_config,
        "info/attributes": _EXACT_BYTES,
        "objects/info/alternates": "".join(_quote_alternate(path) + "\n" for path in alternates),
    }
    for name, text in texts.items():
        write_if_different(os.path.join(git_dir, name), os.fsencode(text), durable=durable)


def end_where(git_dir: str, other: str, *, durable: bool) -> None:
    """Let the history of a git folder end where that of another does: a borrower of a shallow clone must know."""
    path = os.path.join(git_dir, "shallow")
    ends = read_plain(os.path.join(other, "shallow"))
    if ends is not None:
        write_if_different(path, ends, durable=durable)
    elif os.path.lexists(path):
        forget(path)  # the rest was fetched meanwhile


def write_if_different(path: str, content: bytes, *, durable: bool) -> None:
    """Put these bytes there in one step, unless they are there already."""
    try:
        with open(path, "rb") as file:
            if file.read(len(content) + 1) == content:
                return
    except FileNotFoundError:
        pass
    except OSError as error:
        from detent.words.store import disk as say

        raise storage_error(error, path, say.file_not_read()) from error
    write_atomic(path, content, durable=durable)


def find_repository(path: str) -> Repository | None:
    """The repository that a folder belongs to, or None; nothing that its configuration names is run."""
    folder = os.path.realpath(path)
    while True:
        repository = read_repository(folder)
        if repository is not None:
            return repository
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent


def has_sparse_rules(repository: Repository) -> bool:
    """Whether a checkout has rules which files are left out of it; if they are in force, settings say."""
    return os.path.exists(os.path.join(repository.git_dir, "info/sparse-checkout"))


def read_repository(folder: str) -> Repository | None:
    """The repository whose top (or, bare, whose git folder) is exactly this folder."""
    git_dir = git_dir_of(folder)
    if git_dir:
        return _describe(folder, git_dir, is_bare=_says_bare(git_dir))
    if looks_like_git_dir(folder) and _says_bare(folder):
        return _describe(folder, folder, is_bare=True)
    return None


def _says_bare(git_dir: str) -> bool:
    return "bare=true" in read_small(os.path.join(git_dir, "config"), missing="").lower().replace(" ", "")


def _describe(top: str, git_dir: str, *, is_bare: bool) -> Repository:
    common_dir = common_dir_of(git_dir)
    head_file = os.path.join(git_dir, "HEAD")
    config = read_small(os.path.join(common_dir, "config"), missing="").lower()
    # A work tree elsewhere is named in the configuration; submodules name their own folder, which we already have.
    is_moved = "worktree" in config and git_dir == os.path.join(top, ".git")
    if is_moved or "refstorage" in config or os.path.islink(head_file):
        return _ask_git(top, git_dir, common_dir, is_bare=is_bare)
    text = read_small(head_file).strip()
    if is_object_id(text):
        return Repository(top, common_dir, git_dir, head=text, branch=None, is_bare=is_bare)
    name = text.removeprefix("ref:").strip()
    if not text.startswith("ref:") or not name.startswith("refs/heads/") or ".." in name:
        return _ask_git(top, git_dir, common_dir, is_bare=is_bare)
    commit = _read_ref(common_dir, name)
    if commit and not is_object_id(commit):
        return _ask_git(top, git_dir, common_dir, is_bare=is_bare)
    return Repository(top, common_dir, git_dir, head=commit, branch=name.removeprefix("refs/heads/"), is_bare=is_bare)


def _read_ref(common_dir: str, name: str) -> str | None:
    """The text of a branch, None when it has no commit; loose before packed, the order in which git moves them."""
    path = os.path.join(common_dir, name)
    try:
        text = read_small(path).strip()
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        pass
    else:
        if not text:
            from detent.words.effects import git as say

            raise UnreadableError(say.branch_file_empty(), where=path)
        return text
    try:
        with open(os.path.join(common_dir, "packed-refs"), "rb") as file:
            packed = file.read(_PACKED_REFS_BYTES)
    except FileNotFoundError:
        return None
    end = packed.find(b" " + os.fsencode(name) + b"\n")
    return None if end < 0 else packed[packed.rfind(b"\n", 0, end) + 1 : end].decode("ascii", "replace")


def _ask_git(top: str, git_dir: str, common_dir: str, *, is_bare: bool) -> Repository:
    """For what is rare: `rev-parse` and `symbolic-ref` read no index and so run nothing that a repository names."""
    git = Git(git_dir)
    if not is_bare:
        finished = Git(git_dir).finish("-C", top, "rev-parse", "--show-toplevel")
        if finished.exit != 0:
            raise git.failure("rev-parse", finished)
        top = os.fsdecode(finished.stdout.removesuffix(b"\n"))
    head = git.run("rev-parse", "--quiet", "--verify", "HEAD^{commit}", ok=(0, 1)).decode().strip()
    name = os.fsdecode(git.run("symbolic-ref", "--quiet", "HEAD", ok=(0, 1))).strip()
    branch = name.removeprefix("refs/heads/") if name.startswith("refs/heads/") else None
    return Repository(top, common_dir, git_dir, head=head or None, branch=branch, is_bare=is_bare)


def _quote_alternate(path: str) -> str:
    if "\n" not in path:
        return path
    return '"' + path.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def find_git() -> str:
    """The git program of the user's PATH."""
    return _git_on(os.environ.get("PATH", os.defpath))


@cache
def _git_on(path: str) -> str:
    if program := find_outside(path, "git"):
        return program
    from detent.words.effects import git as say

    raise ToolError(say.no_git())
