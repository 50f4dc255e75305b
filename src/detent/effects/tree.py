"""The tree id: one git tree over every file of a work tree that counts, computed where no agent can steer it.

A private git folder per task holds the objects, a stat cache (an index file) and the ignore rules of the baseline. The
work tree's own `.git`, its current `.gitignore` files and all attributes are never asked. A file counts if the baseline
tracks it or the baseline's rules do not ignore it. One computation:

1. make or mend the private folder; take the ignore rules of the baseline;
2. copy the cached index to a name of our own, so that two computations never meet;
3. compare it with the disk; where nothing differs, the tree noted beside that very index is the answer;
4. put the differences into it, write the tree, rename our index over the cached one and note the tree beside it.

If git fails in 2 to 4, the caches are thrown away, damaged objects removed, and 1 to 4 are tried once more.
"""

from __future__ import annotations

import os
import stat

from detent.core.record import Record
from detent.effects.git import Git, check_object_id, is_object_id, read_repository, write_git_dir, write_if_different
from detent.effects.ignore_rules import combined_ignore_rules, escape_path
from detent.errors import StorageError, ToolError, UnreadableError, UsageError
from detent.store.aftermath import boot_id
from detent.store.atomic import read_cache, write_cache
from detent.store.digest import sha1_of, sha256_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from detent.effects.git import Repository
    from detent.effects.process import Finished
    from detent.effects.tree_at_once import Entries

_LEFTOVER_S = 3600.0  # temporary files older than this belong to a process that died
_MAX_ROUNDS = 3
_GITLINK = b"160000"
# The objects, not the index: it is a cache, and its sum is proven before it is used. In git's list a name that is
# wanted is stronger than the same name unwanted, so that "all,-index" would be all.
_UNSYNCED_INDEX = ("core.fsync=committed",)


class _Task(Record):
    """What one computation is about; all paths inside the tree are bytes relative to its top."""

    private_dir: str
    work_tree: str
    objects: tuple[str, ...]
    baseline: str | None
    left_out: tuple[str, ...]


class _Rules(Record):
    """What the baseline says: a file with its ignore rules, and its submodules."""

    exclude_file: str
    submodules: dict[bytes, bytes]


class _Listing(Record):
    """What git sees: entries of the index (mode and object by path), those that differ on disk, new paths."""

    cached: dict[bytes, tuple[bytes, bytes]]
    different: tuple[bytes, ...]
    new: tuple[bytes, ...]


class _Changes(Record):
    """What must go into the index; `again` when the removals let git see files it passed over before."""

    removed: tuple[bytes, ...]
    added: tuple[bytes, ...]
    submodules: tuple[tuple[bytes, bytes], ...]
    again: bool


_NO_CHANGES = _Changes((), (), (), False)


class Taken(Record):
    """A tree that was computed: its id, the files it is made of, and the tree it was made from, if that is known.

    The first one is made from the baseline, whose commit then stands there. All paths in which these two trees differ
    are among the `changed`.
    """

    id: str
    files: tuple[str, ...]
    before: str = ""
    changed: tuple[str, ...] = ()


def tree_id(
    private_dir: str,
    work_tree: str,
    repository: Repository | None,
    baseline: str | None,
    left_out: Sequence[str] = (),
) -> str:
    """The id of the tree of all files that count, with its objects kept in the private folder."""
    return take_tree(private_dir, work_tree, repository, baseline, left_out).id


def take_tree(
    private_dir: str,
    work_tree: str,
    repository: Repository | None,
    baseline: str | None,
    left_out: Sequence[str] = (),
    *,
    looks_untouched: bool = False,
    at_once: bool = False,
) -> Taken:
    """The same with its files. What `looks_untouched` is compared all the same, but git's times are not brought up.

    With `at_once` they are not brought up either where little has changed: the answer comes sooner, and the next one
    compares with the same index again.
    """
    if baseline is not None:
        check_object_id(baseline)
    task = _Task(
        private_dir=os.path.abspath(private_dir),
        work_tree=os.path.realpath(work_tree),
        objects=(os.path.join(repository.common_dir, "objects"),) if repository is not None else (),
        baseline=baseline,
        left_out=tuple(sorted(_checked_left_out(path) for path in left_out)),
    )
    try:
        _make_private_dir(task)
        try:
            taken = _compute_at_once(task) if at_once else None
            return taken or _compute(task, looks_untouched=looks_untouched)
        except ToolError:
            repair(task.private_dir)
            return _compute(task, looks_untouched=False)
    except OSError as problem:
        raise StorageError(f"the tree id cannot be kept: {problem}", where=task.private_dir) from problem


def changed_files(private_dir: str, tree_a: str, tree_b: str) -> tuple[tuple[str, str], ...]:
    """Status letter (A, D, M, T) and path of every file that differs between two trees, in git's order."""
    arguments = ("diff-tree", "-r", "-z", "--name-status", "--no-renames", "--ignore-submodules=none")
    output = Git(os.path.abspath(private_dir)).run(*arguments, check_object_id(tree_a), check_object_id(tree_b), "--")
    fields = [os.fsdecode(field) for field in output.split(b"\0")[:-1]]
    return tuple(zip(fields[::2], fields[1::2], strict=True))


def repair(private_dir: str) -> None:
    """Throw away what the next tree id computes again; whole objects stay.

    Damaged ones go, because git takes an object that is there for written, even if a power cut left it empty.
    """
    from contextlib import suppress
    from hashlib import new
    from zlib import decompress, error

    for entry in os.scandir(os.path.join(private_dir, "cache")):
        if not entry.name.startswith("tmp-"):
            with suppress(FileNotFoundError):
                os.unlink(entry.path)
    objects = os.path.join(private_dir, "objects")
    for folder in os.listdir(objects):
        if len(folder) != 2:
            continue
        for entry in os.scandir(os.path.join(objects, folder)):
            kind = "sha256" if len(entry.name) > 38 else "sha1"
            with suppress(FileNotFoundError), open(entry.path, "rb") as file:
                try:
                    is_whole = new(kind, decompress(file.read())).hexdigest() == folder + entry.name
                except error:
                    is_whole = False
                if not is_whole:
                    os.unlink(entry.path)


def _checked_left_out(path: str) -> str:
    normal = os.path.normpath(path)
    if os.path.isabs(normal) or normal == "." or normal.split("/")[0] == "..":
        raise UsageError(f"{path!r} is no path inside the tree, so it cannot be left out")
    return normal


def _make_private_dir(task: _Task) -> None:
    is_sha256 = task.baseline is not None and len(task.baseline) == 64
    write_git_dir(task.private_dir, alternates=task.objects, is_sha256=is_sha256, is_bare=True, durable=True)
    os.makedirs(_cache(task), exist_ok=True)


def _cache(task: _Task, name: str = "") -> str:
    return os.path.join(task.private_dir, "cache", name)


def _compute(task: _Task, *, looks_untouched: bool) -> Taken:
    rules = _baseline_rules(task)
    cached_index = _cache(task, _index_name(task))
    own_index = _cache(task, f"tmp-{os.getpid()}-{os.urandom(4).hex()}")
    git = Git(task.private_dir, task.work_tree, own_index, _UNSYNCED_INDEX)
    try:
        noted = _copy_index(cached_index, own_index)
        before, changed = noted or "", set[bytes]()
        if noted is None:
            before, changed = task.baseline or "", _start_index(git, task)
            git.run("update-index", "-q", "--refresh", ok=(0, 1))
        for number in range(_MAX_ROUNDS):
            listing = _list(git, task, rules)
            changes = _compare(task, rules, listing)
            if noted and looks_untouched and changes == _NO_CHANGES:
                return Taken(noted, _names(listing, changes), noted)
            changed |= _changed(changes)
            _apply(git, changes, refresh=number == 0 and noted is not None)
            if not changes.again:
                break
        tree = git.run("write-tree").decode().strip()
        if os.path.exists(own_index):
            _note_tree(cached_index, own_index, tree)
            os.replace(own_index, cached_index)
    finally:
        _remove_leftovers(task, own_index)
    return Taken(tree, _names(listing, changes), before, _decoded(changed))


def _compute_at_once(task: _Task) -> Taken | None:
    """One git, which only compares; None where the tree of the index is not known, or too much has changed.

    That tree counts only if it was noted since the computer started: a power cut may have taken objects of it, and it
    is git that would find out.
    """
    cached_index = _cache(task, _index_name(task))
    content = _read_index(cached_index)
    noted, boot = _noted_tree(cached_index, content[0]) if content else ("", "")
    if not noted or not boot or boot != boot_id():
        return None
    rules = _baseline_rules(task)
    listing = _list(Git(task.private_dir, task.work_tree, cached_index), task, rules)
    changes = _compare(task, rules, listing)
    if changes.again:
        return None
    changed, removed = _changed(changes), {*changes.removed}
    entries = {path: entry for path, entry in listing.cached.items() if path not in removed}
    entries.update((path, (_GITLINK, commit)) for path, commit in changes.submodules)
    tree = noted if changes == _NO_CHANGES else _written(task, entries, changes.added, changed)
    return Taken(tree, _names(listing, changes), noted, _decoded(changed)) if tree else None


def _written(task: _Task, entries: Entries, added: Sequence[bytes], changed: set[bytes]) -> str:
    from detent.effects.tree_at_once import write_few

    return write_few(
        task.private_dir, task.work_tree, entries, added, changed, is_sha256=len(task.baseline or "") == 64
    )


def _changed(changes: _Changes) -> set[bytes]:
    return {*changes.removed, *changes.added, *(path for path, _commit in changes.submodules)}


def _decoded(paths: Iterable[bytes]) -> tuple[str, ...]:
    return tuple(os.fsdecode(path) for path in sorted(paths))


def _names(listing: _Listing, changes: _Changes) -> tuple[str, ...]:
    paths = {*listing.cached, *changes.added, *(path for path, _commit in changes.submodules)} - {*changes.removed}
    return _decoded(paths)


def _note(cached_index: str) -> str:
    folder, name = os.path.split(cached_index)
    return os.path.join(folder, f"tree-of-{name}")


def _note_tree(cached_index: str, index: str, tree: str) -> None:
    """Say beside an index which tree it is, and in which boot; what was torn or made for other bytes is no note."""
    with open(index, "rb") as file:
        note = f"{sha256_of(file.read())} {tree} {boot_id()}"
    write_cache(_note(cached_index), note.encode())


def _noted_tree(cached_index: str, content: bytes) -> tuple[str, str]:
    """Tree and boot, each empty if it is not known."""
    note = (read_cache(_note(cached_index), 1024) or b"").decode("ascii", "replace")
    mark, tree, boot = (*note.split(" "), "", "", "")[:3]
    return (tree, boot) if mark == sha256_of(content) and is_object_id(tree) else ("", "")


def _index_name(task: _Task) -> str:
    identity = "\0".join((task.work_tree, task.baseline or "", *task.left_out))
    return f"index-{sha256_of(os.fsencode(identity))[:20]}"


def _read_index(source: str) -> tuple[bytes, os.stat_result] | None:
    """The stat cache with its times; None when there is none or it is torn."""
    try:
        with open(source, "rb") as file:
            content = file.read()
            times = os.fstat(file.fileno())
    except FileNotFoundError:
        return None
    # Git does not check this sum when it reads, so a torn file could pass as a shorter index.
    is_whole = sha1_of(content[:-20]) == content[-20:].hex() or sha256_of(content[:-32]) == content[-32:].hex()
    return (content, times) if is_whole else None


def _copy_index(source: str, target: str) -> str | None:
    """Copy the stat cache; the tree it is known to be, empty if that is not known. None: nothing worth copying."""
    found = _read_index(source)
    if found is None:
        return None
    content, times = found
    with open(target, "wb") as file:
        file.write(content)
    # Git distrusts entries not older than the index file: a younger copy would make it trust a file changed in the
    # very moment in which the index was written.
    os.utime(target, ns=(times.st_atime_ns, times.st_mtime_ns))
    return _noted_tree(source, content)[0]


def _start_index(git: Git, task: _Task) -> set[bytes]:
    """Begin with what the baseline tracks, without what is left out; these paths are returned."""
    if task.baseline is None:
        return set()
    git.run("read-tree", task.baseline)
    tracked = git.run("--literal-pathspecs", "ls-files", "-z", "--", *task.left_out) if task.left_out else b""
    if tracked:
        git.run("update-index", "-z", "--force-remove", "--stdin", input_bytes=tracked)
    return set(tracked.split(b"\0")[:-1])


def _list(git: Git, task: _Task, rules: _Rules) -> _Listing:
    options = ["-z", "-t", "-s", "-c", "-d", "-m", "-o", f"--exclude-from={rules.exclude_file}"]
    for left_out in task.left_out:
        options += ("-x", "/" + os.fsdecode(escape_path(os.fsencode(left_out))))
    finished = git.finish("ls-files", *options)
    if finished.exit != 0:
        raise git.failure("ls-files", finished)
    if finished.stderr:  # git goes on without a folder it may not read; a file could hide there
        message = finished.stderr.decode(errors="replace").splitlines()[0]
        raise UnreadableError(
            f"a part of the tree cannot be read: {message}",
            where=task.work_tree,
            next_step="make it readable or remove it, then try again",
        )
    cached: dict[bytes, tuple[bytes, bytes]] = {}
    different: dict[bytes, None] = {}
    new = []
    for line in finished.stdout.split(b"\0")[:-1]:
        if line.startswith(b"? "):
            new.append(line[2:])
            continue
        entry, _tab, path = line[2:].partition(b"\t")
        if line.startswith(b"H"):
            cached[path] = (entry[:6], entry.split(b" ")[1])
        else:
            different[path] = None
    return _Listing(cached, tuple(different), tuple(new))


def _compare(task: _Task, rules: _Rules, listing: _Listing) -> _Changes:
    top = os.fsencode(task.work_tree)
    removed, filled = _beyond_folders(top, (*listing.cached, *listing.new))
    added: list[bytes] = []
    submodules = [(path, _submodule_commit(task, rules, path)) for path in filled]
    again = False
    for path in (*listing.different, *listing.new):
        kind = _kind(os.path.join(top, path))
        if path.endswith(b"/"):
            submodules.append((path[:-1], _submodule_commit(task, rules, path[:-1])))
        elif kind in (stat.S_IFREG, stat.S_IFLNK):
            added.append(path)
        elif path in listing.cached and (listing.cached[path][0] != _GITLINK or kind != stat.S_IFDIR):
            removed.append(path)
    for path, (mode, commit) in listing.cached.items():
        if mode != _GITLINK or _kind(os.path.join(top, path)) != stat.S_IFDIR:
            continue
        if not os.path.lexists(os.path.join(top, path, b".git")) and os.listdir(os.path.join(top, path)):
            removed.append(path)  # a submodule turned into ordinary files, which git lists once the link is gone
            again = True
        elif (now := _submodule_commit(task, rules, path)) != commit:
            submodules.append((path, now))
    gone = set(removed)
    return _Changes(tuple(gone), tuple(path for path in added if path not in gone), tuple(submodules), again)


def _beyond_folders(top: bytes, paths: Iterable[bytes]) -> tuple[list[bytes], list[bytes]]:
    """The paths that lie behind a link, a file or a repository inside the tree, and those repositories."""
    real = {b"": True}
    filled = []

    def is_real(folder: bytes) -> bool:
        if folder not in real:
            full = os.path.join(top, folder)
            real[folder] = is_real(folder.rpartition(b"/")[0]) and _kind(full) == stat.S_IFDIR
            if real[folder] and os.path.lexists(os.path.join(full, b".git")):
                real[folder] = False
                filled.append(folder)
        return real[folder]

    return [path for path in paths if not is_real(path.rstrip(b"/").rpartition(b"/")[0])], filled


def _kind(path: bytes) -> int:
    try:
        return stat.S_IFMT(os.lstat(path).st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return 0


def _submodule_commit(task: _Task, rules: _Rules, path: bytes) -> bytes:
    """What a submodule of the baseline stands at: its HEAD, or the baseline's commit while it is not filled."""
    top = os.fsencode(task.work_tree)
    if path not in rules.submodules:
        raise _nested_repository(top, path)
    folder = os.fsdecode(os.path.join(top, path))
    if not os.path.lexists(os.path.join(folder, ".git")):
        return rules.submodules[path]
    repository = read_repository(folder)
    if repository is None or repository.head is None:
        raise UnreadableError(
            "the submodule has no commit to stand for it",
            where=folder,
            next_step=f"run: git -C {task.work_tree} submodule update --init {os.fsdecode(path)}",
        )
    return repository.head.encode()


def _nested_repository(top: bytes, path: bytes) -> UnreadableError:
    name = os.fsdecode(path)
    return UnreadableError(
        f"{name} is a git repository inside the tree, so its files cannot be counted",
        where=os.fsdecode(os.path.join(top, path)),
        next_step=f"move {name} out of the tree, or remove {name}/.git to count its files as ordinary ones",
    )


def _apply(git: Git, changes: _Changes, *, refresh: bool) -> None:
    """Put the differences into the index; with `refresh` files that were only touched cost nothing the next time."""
    if changes.removed:
        git.run("update-index", "-z", "--force-remove", "--stdin", input_bytes=_joined(changes.removed))
    if refresh and not changes.added:
        git.run("update-index", "-q", "--refresh", ok=(0, 1))
    if changes.added:
        bring_up = ("-q", "--refresh") if refresh else ()
        arguments = ("update-index", *bring_up, "-z", "--add", "--remove", "--stdin")
        finished = git.finish(*arguments, input_bytes=_joined(changes.added))
        if finished.exit != 0 or finished.stderr:  # "Ignoring path .GIT/x" ends with 0, and the file would be hidden
            raise _not_added(git, finished, changes.added)
    if changes.submodules:
        lines = (_GITLINK + b" " + commit + b"\t" + path for path, commit in changes.submodules)
        git.run("update-index", "-z", "--add", "--index-info", input_bytes=_joined(lines))


def _not_added(git: Git, finished: Finished, paths: Sequence[bytes]) -> ToolError | UnreadableError:
    top = os.fsencode(git.work_tree or "")
    for path in paths:
        full = os.path.join(top, path)
        is_git_name = b".git" in path.lower().split(b"/")
        if is_git_name or (_kind(full) == stat.S_IFREG and not os.access(full, os.R_OK)):
            why = "has a name that git keeps for itself" if is_git_name else "may not be read"
            return UnreadableError(
                f"a file of the tree {why}, so it cannot be counted",
                where=os.fsdecode(full),
                next_step=f"{'rename' if is_git_name else 'make it readable'} or remove it, then try again",
            )
    return git.failure("update-index", finished)


def _joined(parts: Iterable[bytes]) -> bytes:
    return b"".join(part + b"\0" for part in parts)


def _remove_leftovers(task: _Task, own_index: str) -> None:
    from contextlib import suppress
    from time import time

    oldest = time() - _LEFTOVER_S
    for entry in os.scandir(_cache(task)):
        is_ours = entry.path.startswith(own_index)
        with suppress(FileNotFoundError):
            if is_ours or (entry.name.startswith("tmp-") and entry.stat(follow_symlinks=False).st_mtime < oldest):
                os.unlink(entry.path)


def _verified_blob(git: Git, name: str) -> bytes:
    """A blob whose bytes really have that name; git itself does not look."""
    data = git.run("cat-file", "blob", name)
    if git.run("hash-object", "-t", "blob", "--no-filters", "--stdin", input_bytes=data).decode().strip() != name:
        raise ToolError(f"object {name[:12]} of the repository is damaged or forged", where=git.git_dir)
    return data


def _baseline_rules(task: _Task) -> _Rules:
    if task.baseline is None:
        return _Rules(os.devnull, {})
    exclude_file = _cache(task, f"exclude-{task.baseline}")
    submodules_file = _cache(task, f"submodules-{task.baseline}")
    if not (os.path.exists(exclude_file) and os.path.exists(submodules_file)):
        git = Git(task.private_dir)
        submodules = []
        ignore_files: dict[bytes, bytes] = {}
        for line in git.run("ls-tree", "-r", "-z", "--full-tree", task.baseline).split(b"\0")[:-1]:
            entry, _tab, path = line.partition(b"\t")
            mode, _kind_name, name = entry.split(b" ")
            if mode == _GITLINK:
                submodules.append(name + b" " + path)
            elif os.path.basename(path) == b".gitignore" and mode.startswith(b"100"):
                ignore_files[os.path.dirname(path)] = _verified_blob(git, name.decode())
        write_if_different(submodules_file, _joined(submodules), durable=True)
        write_if_different(exclude_file, combined_ignore_rules(ignore_files), durable=True)
    with open(submodules_file, "rb") as file:
        pairs = (line.partition(b" ") for line in file.read().split(b"\0")[:-1])
        return _Rules(exclude_file, {path: commit for commit, _space, path in pairs})
