"""Lays the judge of one tree over the code of another, in a checkout that is given: `lay(root, judge, theirs)`.

What the checkout has of the judge and the other tree has not is removed. A file of which only a part steers is laid if
that part differs. Modules for tests inside Rust code take the place of the checkout's own.
"""

from __future__ import annotations

import os

from detent.core.record import Record
from detent.effects.tests.judge_files import INLINE
from detent.effects.tests.kits.rust_kit import graft
from detent.effects.tests.kits.values import Unparsable
from detent.effects.tests.steering import is_shared, steers_alike
from detent.effects.tests.tree_files import files_of, path_in
from detent.store.disk.atomic import make_folders, storage_error, write_atomic
from detent.words.effects import planting as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from detent.effects.tests.judge_files import Judge
    from detent.effects.tests.tree_files import TreeFiles


class Laid(Record):
    """What was done, by path; `left` are files that could not be laid, with the reason."""

    written: tuple[str, ...]
    removed: tuple[str, ...]
    left: tuple[tuple[str, str], ...]


def lay(root: str, judge: Judge, theirs: TreeFiles) -> Laid:
    ours = files_of(root)
    written: list[str] = []
    removed: list[str] = []
    left: list[tuple[str, str]] = []
    for path in sorted(ours.marks.keys() - theirs.marks.keys()):
        role = judge.role_of(path)
        if role and role != INLINE and not (is_shared(path) and _is_alike(path, None, ours.text(path), judge)):
            _remove(path_in(root, path))
            removed.append(path)
    for path in sorted(theirs.marks):
        role = judge.role_of(path)
        if not role or theirs.marks[path] == ours.marks.get(path):
            continue
        content = theirs.read(path)
        if role == INLINE:
            content = _grafted(theirs.text(path), ours.text(path), left, path)
            if content is None or content == ours.read(path):
                continue
        elif is_shared(path) and _is_alike(path, theirs.text(path), ours.text(path), judge):
            continue
        if content is None:
            left.append((path, say.not_laid(path)))
            continue
        target = path_in(root, path)
        if os.path.islink(target):
            _remove(target)
        make_folders(os.path.dirname(target))
        mode = os.stat(target).st_mode & 0o777 if os.path.exists(target) else None
        write_atomic(target, content, durable=False, mode=mode)
        written.append(path)
    return Laid(tuple(written), tuple(removed), tuple(left))


def _is_alike(path: str, theirs: str | None, ours: str | None, judge: Judge) -> bool:
    return steers_alike(path, theirs, ours, through_tox=judge.through_tox)


def _grafted(theirs: str | None, ours: str | None, left: list[tuple[str, str]], path: str) -> bytes | None:
    """Our code with their modules for tests; nothing where our tree has no such file."""
    if ours is None or theirs is None:
        return None
    try:
        return graft(theirs, ours).encode()
    except Unparsable as error:
        left.append((path, say.unparsable(path, str(error))))
        return None


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except OSError as error:
        raise storage_error(error, path, say.judge_not_removed()) from error
