"""The two sides of a proof: the tree that is proven and its baseline, with what judges the one and the other."""

from __future__ import annotations

import os
from contextlib import suppress

from detent.core.record import Record
from detent.effects.git.git import Git, tree_of
from detent.effects.tests.judge_change import compare_judges
from detent.effects.tests.judge_files import INLINE, judge_of
from detent.effects.tests.kits.rust_kit import graft
from detent.effects.tests.kits.values import Unparsable
from detent.effects.tests.recognise import recognise
from detent.effects.tests.tree_files import LINK, TreeFiles
from detent.effects.workspace.checkout import overlaid

TYPE_CHECKING = False
if TYPE_CHECKING:
    from detent.effects.tests.judge_change import JudgeChange
    from detent.effects.tests.judge_files import Judge
    from detent.effects.tests.recognise import Recognised
    from detent.effects.tests.runners import Runners
    from detent.runner.task.open import Task


class Sides(Record):
    """`line` on both trees. `baseline` and `tree` are tree ids."""

    private_dir: str
    baseline: str
    tree: str
    recognised: Recognised
    judge: Judge
    change: JudgeChange

    def is_judge(self, path: str) -> bool:
        """Whether a file belongs to the judge as a whole."""
        return self.judge.role_of(path) not in ("", INLINE)

    def old_judge_tree(self) -> str:
        """The code of now with everything that judges it as the baseline has it."""
        return self._mixed(code=self.tree, judge=self.baseline)

    def old_code_tree(self) -> str:
        """The code of the baseline with everything that judges it as it is now."""
        return self._mixed(code=self.baseline, judge=self.tree)

    def _mixed(self, code: str, judge: str) -> str:
        ours, theirs = git_files(self.private_dir, code), git_files(self.private_dir, judge)
        grafted: dict[str, bytes] = {}
        for path in ours.marks.keys() & theirs.marks.keys():
            if ours.marks[path] != theirs.marks[path] and self.judge.role_of(path) == INLINE:
                with suppress(Unparsable):
                    grafted[path] = graft(theirs.text(path) or "", ours.text(path) or "").encode()
        return overlaid(self.private_dir, code, judge, self.is_judge, grafted)

    def changed_code(self) -> tuple[str, ...]:
        """Files of the work, other than what judges it, that are not the baseline's."""
        old, new = (git_files(self.private_dir, tree).marks for tree in (self.baseline, self.tree))
        return tuple(path for path, mark in new.items() if old.get(path) != mark and not self.is_judge(path))


def sides_of(task: Task, tree: str, recognised: Recognised, runners: Runners) -> Sides:
    private_dir = task.places.private_git()
    baseline = tree_of(private_dir, task.memory.head.baseline)
    base, now = git_files(private_dir, baseline), git_files(private_dir, tree)
    judge = judge_of(recognised, runners, base.marks)
    return Sides(private_dir, baseline, tree, recognised, judge, compare_judges(base, now, judge))


def recognised_in(line: str, folder: str, runners: Runners) -> Recognised:
    return recognise(line, folder, runners)


def git_files(private_dir: str, tree: str) -> TreeFiles:
    """The files of a tree as the private git has them; a submodule is no file."""
    git = Git(os.path.abspath(private_dir))
    marks: dict[str, str] = {}
    blobs: dict[str, str] = {}
    for row in git.run("ls-tree", "-r", "-z", "--full-tree", tree).split(b"\0")[:-1]:
        entry, _, name = row.partition(b"\t")
        mode, kind, blob = entry.decode().split()
        if kind != "blob":
            continue
        path = os.fsdecode(name)
        blobs[path] = blob
        marks[path] = LINK + os.fsdecode(git.run("cat-file", "blob", blob)) if mode == "120000" else f"{mode} {blob}"
    return TreeFiles(marks, lambda path: git.run("cat-file", "blob", blobs[path]))
