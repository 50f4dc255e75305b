"""What the result of set-up depends on, as one key: its commands, the files it goes by, its tools, and the platform."""

from __future__ import annotations

import os

from detent.core.record import Record
from detent.effects.git.bring import brought_marks
from detent.effects.git.git import Git
from detent.effects.host.programs import find_on
from detent.store.disk.digest import sha256_of
from detent.store.disk.patterns import protects

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from detent.effects.workspace.checkout import Workspace

# Package managers run what these say, or are steered by them, wherever they lie in the tree.
MANIFESTS = (
    *("package.json", "pyproject.toml", "setup.py", "setup.cfg", "binding.gyp", "build.rs"),
    *(".npmrc", ".yarnrc.yml", ".pnpmfile.cjs"),
)
_INTERPRETERS = ("node", "python3", "ruby", "php")  # a package manager's own file does not show another version of them


class Key(Record):
    """A key, the files it rests on with their objects, and whether the tree has a file of `[workspace] key`."""

    text: str
    files: Mapping[str, str]
    has_lock: bool

    def changed_since(self, other: Key) -> tuple[str, ...]:
        """The files in which two keys differ."""
        names = {*self.files, *other.files}
        return tuple(sorted(name for name in names if self.files.get(name) != other.files.get(name)))


def key_of(git_dir: str, tree: str, workspace: Workspace, work_tree: str, search_path: str) -> Key:
    """The key of a tree: the same key, the same result."""
    from json import dumps

    words = [word for line in workspace.setup for word in _words(line)]
    named = {os.path.normpath(word) for word in words}
    files: dict[str, str] = {}
    has_lock = False
    for line in Git(git_dir).run("ls-tree", "-r", "-z", "--full-tree", tree).split(b"\0")[:-1]:
        entry, _, name = line.partition(b"\t")
        path = os.fsdecode(name)
        is_key = protects(path, workspace.key)
        has_lock = has_lock or is_key
        # Key files may lie in a submodule, which the tree knows only by its commit.
        if is_key or path in named or os.path.basename(path) in MANIFESTS or entry.startswith(b"160000"):
            files[path] = entry.decode()
    brought = (*workspace.copy, *workspace.carry)
    parts = [
        *(list(workspace.setup), list(workspace.key), sorted(files.items()), list(brought)),
        *(brought_marks(work_tree, brought), _tools(words, search_path), _platform()),
    ]
    return Key(sha256_of(dumps(parts).encode()), files, has_lock)


def _words(line: str) -> list[str]:
    from shlex import split

    try:
        return split(line)
    except ValueError:
        return []


def _tools(words: Sequence[str], search_path: str) -> list[list[object]]:
    """The programs that set-up may start, by the very file: another version is another file."""
    found = {find_on(search_path, name) for name in (*words, *_INTERPRETERS) if name and "/" not in name} - {""}
    marks: list[list[object]] = []
    for path in sorted(found):
        real = os.path.realpath(path)
        seen = os.stat(real)
        marks.append([real, seen.st_size, seen.st_mtime_ns])
    return marks


def _platform() -> list[str]:
    host = os.uname()
    names = os.confstr_names
    libc = os.confstr("CS_GNU_LIBC_VERSION") if "CS_GNU_LIBC_VERSION" in names else ""
    return [host.sysname, host.machine, libc or ""]
