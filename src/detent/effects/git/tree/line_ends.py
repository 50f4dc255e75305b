"""Line ends as the user's git converts them (`core.autocrlf`, `text` and `eol` of .gitattributes), and nothing else.

Trees of the engine hold the bytes of the disk. Where a checkout has other line ends than its commits, whole files seem
to differ; here is what git itself would call changed. No configured filter runs.
"""

from __future__ import annotations

import os

from detent.effects.git.git import Git, check_object_id, write_git_dir
from detent.effects.git.merge import person_git
from detent.effects.git.tree.compare import joined, joined_names
from detent.effects.git.tree.tree_id import changed_files
from detent.store.disk.atomic import make_folders, read_plain, write_atomic

TYPE_CHECKING = False
if TYPE_CHECKING:
    from detent.effects.git.git import Repository

_NO_PROGRAMS = b"* -ident -filter !working-tree-encoding\n"


def converting(repository: Repository, scratch: str) -> tuple[str, ...]:
    """Let the git folder `scratch` convert line ends as the user's git does; the settings this needs."""
    attributes = read_plain(os.path.join(repository.common_dir, "info/attributes")) or b""
    write_atomic(os.path.join(scratch, "info/attributes"), attributes + b"\n" + _NO_PROGRAMS, durable=False)
    answer = person_git(repository.top, "config", "-z", "--get-regexp", r"^core\.(autocrlf|eol)$")
    found = answer.stdout.decode("utf-8", "replace").split("\0")[:-1]
    return tuple(setting.replace("\n", "=", 1) for setting in found)


def as_committed(repository: Repository, private_git: str, baseline: str, tree: str, scratch: str) -> str:
    """The tree with the line ends it would be committed with, in the git folder `scratch`."""
    names = [name for status, name in changed_files(private_git, baseline, tree) if status in "AM"]
    objects = (os.path.join(private_git, "objects"), os.path.join(repository.common_dir, "objects"))
    write_git_dir(scratch, alternates=objects, is_sha256=len(tree) == 64, is_bare=True, durable=False)
    work = os.path.join(scratch, "work")
    make_folders(work)
    raw = Git(scratch, work, os.path.join(scratch, "raw-index"))
    raw.run("read-tree", check_object_id(tree))
    raw.run("checkout-index", "--force", "-z", "--stdin", input_bytes=joined_names(names))
    # An index of the baseline: git leaves a file alone that it knows with CRLF.
    git = Git(scratch, work, os.path.join(scratch, "index"), converting(repository, scratch))
    git.run("read-tree", check_object_id(baseline))
    files = [name for name in names if not os.path.isdir(os.path.join(work, name))]  # submodules have no line ends
    git.run("update-index", "--add", "--replace", "-z", "--stdin", input_bytes=joined_names(files))
    wanted = frozenset(map(os.fsencode, files))
    entries = [line for line in git.run("ls-files", "-s", "-z").split(b"\0") if line.partition(b"\t")[2] in wanted]
    raw.run("update-index", "-z", "--index-info", input_bytes=joined(entries))
    return raw.run("write-tree").decode().strip()
