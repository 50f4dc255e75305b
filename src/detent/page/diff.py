"""What changed between the baseline and a tree: read from the task's private git folder, shown as HTML.

Git's own patch is taken line by line and only coloured; 24,000 lines take a fraction of a second.
"""

from __future__ import annotations

from itertools import groupby

from detent.effects.git.git import Git, check_object_id
from detent.effects.git.tree.tree_id import changed_files
from detent.errors import ToolError
from detent.page.text import count, escape, short_line
from detent.page.values import Diff, FileChange

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MOST_LINES = 30_000  # shown in all; the numbers of added and removed lines always cover everything
MOST_LINES_OF_A_FILE = 6_000
MOST_FILES = 1_000
_OPEN_UP_TO_LINES = 400  # a small diff lies open
_STATUS = {"A": "added", "D": "removed", "M": "changed", "T": "type changed"}
_CLASSES = {"+": "add", "-": "del", "@": "hunk", "\\": "quiet"}
_DIFF = (
    "diff-tree",
    "-r",
    "--no-color",
    "--no-ext-diff",
    "--no-textconv",
    "--no-renames",
    "--ignore-submodules=none",
)


def patch_text(private_git: str, baseline: str, tree: str, *, stat: bool = False) -> str:
    """The changes as git words them, without anything a configuration could add."""
    form = ("--stat=120", "--summary") if stat else ("-p",)
    arguments = (*_DIFF, *form, check_object_id(baseline), check_object_id(tree), "--")
    return Git(private_git).run(*arguments).decode("utf-8", "replace")


def read_diff(private_git: str, baseline: str, tree: str) -> Diff:
    """The changes, or a note why they can't be shown; a page without its diff is better than no page."""
    if not tree:
        return Diff(baseline, tree, note="No tree has been looked at yet.")
    if not baseline:
        return Diff(baseline, tree, note="There is no baseline to compare with: the project had no commit.")
    try:
        names = changed_files(private_git, baseline, tree)
        patch = patch_text(private_git, baseline, tree)
    except ToolError as error:
        return Diff(baseline, tree, note=f"The changes can't be shown: {error.what}.")
    return _parsed(baseline, tree, names, patch)


def _parsed(baseline: str, tree: str, names: Sequence[tuple[str, str]], patch: str) -> Diff:
    files: list[FileChange] = []
    left = MOST_LINES
    # Lines of content start with a blank, a plus or a minus: only a header can start like this.
    pieces = iter(patch.removesuffix("\n").split("\ndiff --git "))
    for letter, path in names:
        # What turns from a file into a link is one change and two pieces: the old one goes, the new one comes.
        parts = [next(pieces, "") for _ in range(2 if letter == "T" else 1)]
        lines = [line for part in parts for line in _hunks(part)]
        added = sum(line.startswith("+") for line in lines)
        removed = sum(line.startswith("-") for line in lines)
        room = max(0, min(left, MOST_LINES_OF_A_FILE)) if len(files) < MOST_FILES else 0
        shown = tuple(short_line(line) for line in lines[:room])
        left -= len(shown)
        note = _note(parts[0], len(lines), len(shown))
        files.append(FileChange(path, _STATUS.get(letter, letter), added, removed, shown, note))
    return Diff(baseline, tree, tuple(files))


def change_of(name: str, how: str, diff: str) -> FileChange:
    """One change by its difference, from the first hunk on."""
    lines = _hunks(f"\n{diff}".removesuffix("\n"))
    shown = tuple(short_line(line) for line in lines[:MOST_LINES_OF_A_FILE])
    added, removed = (sum(line.startswith(sign) for line in lines) for sign in "+-")
    note = f"{count(len(lines) - len(shown), 'more line')} not shown here." if len(lines) > len(shown) else ""
    return FileChange(name, how, added, removed, shown, note)


def _hunks(piece: str) -> list[str]:
    start = piece.find("\n@@ ")
    return piece[start + 1 :].split("\n") if start >= 0 else []


def _note(piece: str, there: int, shown: int) -> str:
    if there > shown:
        return f"{count(there - shown, 'more line')} not shown here."
    if there:
        return ""
    if "\nBinary files " in piece:
        return "Binary file: its content is not shown."
    return "Only its mode changed." if "\nold mode " in piece else "It is empty."


def diff_html(diff: Diff | None) -> str:
    if diff is None:
        return '<p class="quiet">Not gathered.</p>'
    if diff.note:
        return f'<p class="quiet">{escape(diff.note)}</p>'
    if not diff.files:
        return '<p class="quiet">The tree is the same as the baseline: nothing was changed.</p>'
    lines = sum(len(file.lines) for file in diff.files)
    head = (
        f'<p>{count(len(diff.files), "file")}, <span class="plus">+{diff.added:,}</span> '
        f'<span class="minus">&minus;{diff.removed:,}</span>, from commit <code>{escape(diff.base[:12])}</code> '
        f"to tree <code>{escape(diff.tree[:12])}</code>.</p>"
    )
    return head + "".join(_file(file, is_open=lines <= _OPEN_UP_TO_LINES) for file in diff.files)


def changes_html(files: Sequence[FileChange]) -> str:
    """Each change in a box of its own, open."""
    return "".join(_file(file, is_open=True) for file in files)


def _file(file: FileChange, *, is_open: bool) -> str:
    note = f'<p class="quiet">{escape(file.note)}</p>' if file.note else ""
    body = f'<pre class="diff">{"".join(_blocks(file.lines))}</pre>' if file.lines else ""
    return (
        f'<details class="box"{" open" if is_open else ""}><summary><code>{escape(file.path)}</code> '
        f'<span class="side">{escape(file.status)} <span class="plus">+{file.added:,}</span> '
        f'<span class="minus">&minus;{file.removed:,}</span></span></summary>{body}{note}</details>'
    )


def _blocks(lines: Sequence[str]) -> Iterator[str]:
    """Neighbours of one kind share an element: a tenth of the elements, and much faster to show."""
    for first, group in groupby(lines, key=lambda line: line[:1]):
        text = escape("\n".join(group))
        kind = _CLASSES.get(first)
        yield f'<span class="{kind}">{text}\n</span>' if kind else f"{text}\n"
