"""Makes the disposable checkout in which commands prove a frozen tree, and runs commands in it.

It is a small git repository of its own, because many test suites call git, with the frozen tree byte for byte and its
submodules as far as the user has them; where one is not there, that is a failed set-up.
"""

from __future__ import annotations

import os

from detent.core.record import Record
from detent.effects.git.bring import Place
from detent.effects.git.git import (
    Git,
    check_object_id,
    clean_environment,
    end_where,
    read_repository,
    tree_of,
    write_git_dir,
    write_if_different,
)
from detent.effects.git.submodules import Absent, Inner, check_bytes, fill, list_index
from detent.effects.git.tree.tree_id import changed_files, repair
from detent.effects.host import process
from detent.effects.host.access import NOTHING_LAID, Laid
from detent.effects.host.process_limits import MEMORY, PROCESSES, Limits
from detent.errors import ToolError
from detent.store.disk.patterns import protects
from detent.words.effects import workspace as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from detent.effects.host.process import Finished

    # a command line, its folder and the mounts in it, sandboxed
    Wrap = Callable[[Sequence[str], str, Laid], Sequence[str]]
    Begins = Callable[[str], None]

NO_VARIABLES: Mapping[str, str] = {}
NO_FILES: Mapping[str, bytes] = {}
BUILD = "build"  # the command that makes of the project's own source what the others use
READ_ONLY_SET_UP = {"UV_NO_SYNC": "1"}  # `uv run` would bring up to date what can't be written
SHARED, PER_CHECKOUT, FROM_TREE = "shared by the tasks", "made for each checkout", "made from this tree alone"
COPIED = "copied from the shared one"


class FrozenTree(Record):
    """A tree id with the private git folder that holds its objects, and the commit that HEAD shall name."""

    private_dir: str
    tree: str
    baseline: str | None
    protected: tuple[str, ...] = ()  # patterns of files that are taken from the baseline, whatever the tree has there
    commit: str = ""  # holds the tree: HEAD names it instead, and origin/HEAD the baseline, so that the work is a diff


def tracked_at_first(frozen: FrozenTree) -> frozenset[str]:
    """Every file of the baseline; what set-up writes there is never its own, also where the work removed the file."""
    if not frozen.baseline:
        return frozenset()
    listed = Git(frozen.private_dir).run("ls-tree", "-r", "-z", "--name-only", "--full-tree", frozen.baseline)
    return frozenset(os.fsdecode(path) for path in listed.split(b"\0")[:-1])


class Workspace(Record):
    """The `[workspace]` part of the settings; all paths are relative and may be globs."""

    setup: tuple[str, ...] = ()
    key: tuple[str, ...] = ()
    copy: tuple[str, ...] = ()
    carry: tuple[str, ...] = ()
    timeout_s: float = 1800.0


class Checkout(Record):
    """A folder that is ready for commands; `missing` names what `carry` did not find."""

    folder: str
    missing: tuple[str, ...]
    setup: str  # "none", or how set-up was made: SHARED, COPIED, PER_CHECKOUT or FROM_TREE
    why: str = ""  # why it is not the shared one
    laid: Laid = NOTHING_LAID
    laid_for_build: Laid = NOTHING_LAID  # the same, but writable; what is written there is thrown away
    key: str = ""
    left_out: tuple[str, ...] = ()  # the paths that set-up created
    made_in: str = ""  # where these lie; empty: in the folder itself
    size: int = 0  # of its set-up, in bytes
    digest: str = ""  # of the manifest of a set-up that is kept
    made_now: bool = False  # its set-up is a copy of its own, and was made for this use
    tracked: frozenset[str] = frozenset()  # the files of the tree
    changed: tuple[str, ...] = ()  # tracked files that set-up changed, and that were restored


class SetupFailed(Record):
    """The checkout could not be prepared: neither a red gate nor a crash."""

    command: str
    exit: int
    log: str
    why: str


def unannounced(_command: str) -> None:
    """Announce nothing."""


def unheld(argv: Sequence[str], _cwd: str, _laid: Laid) -> Sequence[str]:
    """A command line as it is: with the user's rights."""
    return argv


class Running(Record):
    """How commands are run: their environment, what holds them, and how much they may use."""

    env: Mapping[str, str]
    wrap: Wrap = unheld
    limits: Limits = Limits()
    withheld: tuple[str, ...] = ()  # variables of the user's environment that are not in `env`
    begins: Begins = unannounced  # called with each command of set-up before it runs


class Setups(Record):
    """Where a project's set-ups are and how those of a baseline are made; `seat` is empty where nothing is mounted."""

    folder: str
    records: str  # in the control folder
    seat: str
    running: Running  # only with this the shared package cache is written
    no_overlays: str  # why a private view of a folder can't be mounted, so that it is copied; empty: it can


class CheckoutSpec(Record):
    """A checkout to be made: where, of what, and how it is prepared."""

    folder: str
    frozen: FrozenTree
    workspace: Workspace
    work_tree: str  # the user's, from which `copy` and `carry` are taken
    cache_dir: str  # what set-up made is kept there; belongs to this checkout alone
    log_path: str
    running: Running
    setups: Setups | None = None  # where the project shares set-ups; None: it does not
    private: str = ""  # for an agent: set-up is its own to change, and what it changes lies there
    build: str = ""  # where a build command may write into set-up: a folder for what it writes, thrown away
    task_cache: str = ""  # emptied first, so that no earlier proof left anything there
    by_content: bool = False  # a shared set-up is used only if every byte of it is what it was
    vouched: Collection[str] | None = None  # manifests of kept copies that may be used; None: all


def run_command(
    command: str,
    checkout: str,
    timeout_s: float,
    log_path: str,
    running: Running,
    laid: Laid = NOTHING_LAID,
    variables: Mapping[str, str] = NO_VARIABLES,
) -> Finished:
    """Run a shell command in a checkout; nothing it started outlives it. `variables` come on top of its environment."""
    environment = clean_environment(running.env) | {"PWD": laid.seat or checkout, **variables}
    if any(bind.kind == "shown" for bind in laid.binds):
        environment |= READ_ONLY_SET_UP
    os.makedirs(os.path.dirname(os.path.abspath(log_path)), exist_ok=True)
    return process.run(
        running.wrap(("/bin/sh", "-c", command), checkout, laid),
        cwd=checkout,
        env=environment,
        timeout_s=timeout_s,
        output=log_path,
        whole_tree=True,
        limits=running.limits,
        separate_keyring=True,
    )


def why_cut_short(finished: Finished, timeout_s: float, limits: Limits) -> str:
    """Which bound a command went beyond, in words; empty when it came to its own end."""
    if finished.timed_out:
        return say.timed_out(timeout_s)
    if finished.exceeded:
        return {
            MEMORY: say.too_much_memory(limits.memory_bytes),
            PROCESSES: say.too_many_processes(limits.processes),
        }[finished.exceeded]
    return say.too_much_output() if finished.truncated else ""


def _guarded_tree(frozen: FrozenTree) -> str:
    """The frozen tree with its protected files as the baseline has them: what judges the work is not part of it."""
    if not frozen.protected or frozen.baseline is None:
        return frozen.tree
    return overlaid_tree(frozen.private_dir, frozen.tree, frozen.baseline, frozen.protected)


def overlaid_tree(private_dir: str, onto: str, source: str, patterns: Sequence[str], but: Sequence[str] = ()) -> str:
    """A tree that is `onto`, but has the files that match as `source` has them; those it lacks are gone."""

    def is_wanted(path: str) -> bool:
        return protects(path, patterns) and not protects(path, but)

    return overlaid(private_dir, onto, source, is_wanted)


def overlaid(
    private_dir: str, onto: str, source: str, is_wanted: Callable[[str], bool], written: Mapping[str, bytes] = NO_FILES
) -> str:
    """A tree that is `onto`, but has the wanted files as `source` has them; those it lacks are gone.

    `written`: files with other content than either tree has.
    """
    index = os.path.join(private_dir, f"overlaid-index-{os.getpid()}")
    git = Git(os.path.abspath(private_dir), None, index)
    base, other = tree_of(git.git_dir, onto), tree_of(git.git_dir, source)
    changes = [path for _, path in changed_files(private_dir, base, other)]
    names = [os.fsencode(path) for path in changes if is_wanted(path)]
    if not (names or written):
        return base
    try:
        git.run("read-tree", base)
        # Mode 0 takes a name out; those the source has come back as it has them.
        lines = [b"0 " + b"0" * len(base) + b"\t" + name for name in names]
        for line in git.run("ls-tree", "-r", "-z", other).split(b"\0")[:-1]:
            entry, _, name = line.partition(b"\t")
            if name in names:
                mode, _kind, sha = entry.split(b" ")
                lines.append(mode + b" " + sha + b"\t" + name)
        for path, content in written.items():
            blob = git.run("hash-object", "-w", "--stdin", "--no-filters", input_bytes=content).strip()
            lines.append(b"100644 " + blob + b"\t" + os.fsencode(path))
        git.run("update-index", "-z", "--index-info", input_bytes=b"\0".join(lines) + b"\0")
        return git.run("write-tree").decode().strip()
    finally:
        if os.path.exists(index):
            os.unlink(index)


def make_checkout(folder: str, frozen: FrozenTree, work_tree: str, over: str = "") -> Place | SetupFailed:
    """A folder with the frozen tree and a small git repository, and nothing prepared yet.

    `over` is a tree whose files may lie in the folder: they are replaced by those of the frozen tree.
    """
    frozen = frozen.replace(tree=_guarded_tree(frozen))
    git_dir = os.path.join(folder, ".git")
    objects = os.path.join(os.path.abspath(frozen.private_dir), "objects")
    write_git_dir(git_dir, alternates=(objects,), is_sha256=len(frozen.tree) == 64, is_bare=False, durable=False)
    end_where(git_dir, frozen.private_dir, durable=False)
    if frozen.baseline is not None:
        base = check_object_id(frozen.baseline)
        _name(git_dir, "heads/main", check_object_id(frozen.commit) if frozen.commit else base)
        if frozen.commit:
            _name(git_dir, "remotes/origin/main", base)
            _name(git_dir, "remotes/origin/HEAD", "ref: refs/remotes/origin/main")
    git = Git(git_dir, folder)
    try:
        if over:
            git.run("read-tree", check_object_id(over))
        git.run("read-tree", "--reset", "-u", check_object_id(frozen.tree))
    except ToolError as problem:
        repair(frozen.private_dir)
        raise ToolError(say.frozen_tree_unreadable(problem.what), where=frozen.private_dir) from problem
    check_bytes(git, frozen.tree)
    listing, place = list_index(git), Place(folder, git, frozen.tree, os.path.realpath(work_tree), frozenset())
    if not listing.submodules:
        return place.replace(tracked=frozenset(listing.files))
    found = list(fill(git, listing, read_repository(work_tree)))
    for absent in [submodule for submodule in found if isinstance(submodule, Absent)][:1]:
        return _not_there(absent)
    inner = [submodule for submodule in found if isinstance(submodule, Inner)]
    names = (os.path.join(submodule.path, name) for submodule in inner for name in submodule.files)
    return place.replace(tracked=frozenset((*listing.files, *names)))


def _name(git_dir: str, ref: str, content: str) -> None:
    path = os.path.join(git_dir, "refs", ref)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    write_if_different(path, f"{content}\n".encode(), durable=False)


def _not_there(absent: Absent) -> SetupFailed:
    path = absent.path
    why = say.submodule_missing(path, absent.commit)
    return SetupFailed(command=f"submodule {absent.path}", exit=1, log="", why=why)


def run_setup(
    folder: str, workspace: Workspace, log_path: str, running: Running, laid: Laid = NOTHING_LAID
) -> SetupFailed | None:
    """Run every command of set-up in a folder, up to the first that fails."""
    for command in workspace.setup:
        running.begins(command)
        finished = run_command(command, folder, workspace.timeout_s, log_path, running, laid)
        why = why_cut_short(finished, workspace.timeout_s, running.limits)
        if why or finished.exit != 0:
            return SetupFailed(command, finished.exit, log_path, why or f"exit {finished.exit}")
    return None
