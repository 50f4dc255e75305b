"""Checks the engine's own commits in the person's repository against the journal: each is there and names its task."""

from __future__ import annotations

from detent.effects.git.git import Git, is_object_id
from detent.effects.git.person_commit import TRAILER
from detent.errors import ToolError
from detent.verify.replay.lines import Finding
from detent.words.verify import witness as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from detent.runner.task.open import Task

# What a line calls a commit on the branch, and the ending of its step's name.
_COMMITS = {"sha": "", "wip": "", "broken": "/broken", "restored": "/restored", "logged": ""}


def check_commits(task: Task, acted: Sequence[tuple[int, str, Mapping[str, Any]]]) -> Iterator[Finding]:
    """A commit that is gone may have been taken away by its owner; one that says otherwise was made by another."""
    recorded = [
        (line, str(result[name]), f"{task.id}/{step}{ending}")
        for line, step, result in acted
        for name, ending in _COMMITS.items()
        if is_object_id(str(result.get(name, "")))
    ]
    if not recorded or not task.project.common_dir:
        return
    try:
        steps = _steps(task.project.common_dir, [commit for _, commit, _ in recorded])
    except ToolError as error:
        yield Finding(recorded[0][0], "effect", say.repository_unreadable(error.what), is_warning=True)
        return
    for line, commit, key in recorded:
        if commit not in steps:
            yield Finding(line, "effect", say.commit_gone(commit), is_warning=True)
        elif key not in steps[commit]:
            yield Finding(line, "effect", say.commit_of_other(commit, key))


def _steps(common_dir: str, commits: Sequence[str]) -> dict[str, list[str]]:
    """The steps that commits name, of those that are there."""
    git = Git(common_dir)
    queries = "".join(f"{commit}\n" for commit in commits).encode()
    rows = git.run("cat-file", "--batch-check=%(objectname) %(objecttype)", input_bytes=queries).decode().splitlines()
    there = [row.split()[0] for row in rows if row.endswith(" commit")]
    if not there:
        return {}
    form = f"--format=%H%x00%(trailers:key={TRAILER},valueonly,separator=%x20)"
    listed = git.run("log", "--no-walk", form, *there, "--").decode("utf-8", "replace").splitlines()
    return {row[0]: row[1].split() for line in listed if len(row := line.split("\0")) == 2}
