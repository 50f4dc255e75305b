"""The words for what a person had done: landed, approved, confirmed, taken back, removed, restored."""

from __future__ import annotations

from shlex import quote

from detent.faces.words.screen import flat, harmless, printable
from detent.words.assessed import in_plain_words
from detent.words.names import name_some, on_one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from detent.packs.lights_out.deploy import Confirmed
    from detent.runner.people.collect import Leftover
    from detent.runner.people.land import Landed
    from detent.runner.people.restore import Restored
    from detent.runner.task.open import Task
    from detent.store.journal.events import Approved
    from detent.store.text.assessment import Assessment


def landed_words(task: Task, done: Landed) -> str:
    if done.how == "found":
        green = len(done.proven) - len(done.red)
        proven = "" if done.is_known else f"; {green} of {len(done.proven)} command(s) pass there"
        head = f"{task.id} is part of {done.branch} already, by commit {done.commit[:12]}{proven}"
        notes = (f"{command!r} fails there: the work that repaired it was taken back" for command in done.red)
        return "\n".join([head, *(f"  note: {note}" for note in notes)])
    lines = [f"landed: {task.id} on {done.branch}, {done.how} commit {done.commit[:12]}; nothing was pushed"]
    why = "it was waived" if done.accepted else "the work that repaired it was taken back"
    lines += [f"  note: {command!r} fails there{'' if done.accepted else ' again'}: {why}" for command in done.red]
    lines += [f"  accepted: {accepted}" for accepted in done.accepted]
    if done.touched:
        lines.append(f"  it touched protected files: {name_some(done.touched)}")
    if done.submodules:  # else the next commit of everything would bring the old ones back
        paths = " ".join(map(quote, done.submodules))
        lines.append(f"  submodules moved; bring their files along: git submodule update --init {paths}")
    if done.unconverted:
        files = name_some(done.unconverted)
        lines.append(f"  committed with CRLF where .gitattributes wants LF, so git may call them changed: {files}")
        lines.append("  mend them: git add --renormalize . && git commit")
    return "\n".join([*lines, "  next: git push, when you want; detent gc removes what the task left"])


def accepted_words(found: Assessment) -> str:
    """What a person accepted of a proof, and on which changed parts."""
    parts = [f"  {part.how}: {part.file} {part.name}".rstrip() for part in found.changed]
    return "\n".join((f"accepted: {in_plain_words(found.word)} ({found.word}), on this tree and no other", *parts))


def approved_words(approved: Approved) -> str:
    lines = [f"approved: {len(approved.files)} protected file(s) of tree {approved.tree[:12]}, and of no other"]
    return "\n".join([*lines, *(f"  {on_one_line(name)}" for name in approved.files)])


def confirmed_words(word: Confirmed, command: str, *, is_unseen: bool) -> str:
    files = f"the files of {word.tree[:12]}" if word.tree else "the next files that are verified"
    lines = [f"  {label}: {flat(line)}" for label, line in word.plan.commands]
    head = f"confirmed{' unseen' if is_unseen else ''}: these commands may run on {files}, and on no others"
    if word.differs:
        lines.append(f"  accepted although not verified: {name_some(word.differs)}")
    return "\n".join([head, *lines, f"next: {command}"])


def rolled_back_words(name: str, command: str, why: str) -> str:
    head = f"could not take the deployment back: {why}" if why else "taken back: nothing counts as deployed any more"
    return f"{head}\n  ran:  {command}\n  next: detent next {name}"


def collected_words(found: Sequence[Leftover], *, dry_run: bool) -> str:
    lines = []
    for leftover in found:
        parts = [leftover.home, *(f"branch {name}" for name in leftover.branches), leftover.journal]
        parts += ["its keep ref"] if leftover.has_keep_ref else []
        parts += [f"{len(leftover.backups)} backup(s) of what was reset"] if leftover.backups else []
        parts += [f"{len(leftover.records)} record(s) of agent runs"] if leftover.records else []
        parts += leftover.native
        mark = ("would go" if dry_run else "removed") if leftover.goes else "kept"
        if there := [part for part in parts if part]:
            lines.append(f"{mark}: {leftover.id} ({leftover.why}): {', '.join(there)}")
        if leftover.snapshot:
            lines.append(
                f"  the work is kept as {leftover.snapshot}; brought back by: git branch NAME {leftover.snapshot}"
            )
        if leftover.unsaved:
            lines.append(f"removed without a snapshot: {leftover.id}: {flat(leftover.unsaved)}")
        if leftover.spared:
            lines.append(
                f"kept: {leftover.id}: {leftover.spared} backup(s) of work that was not finished; they go with --yes"
            )
    return "\n".join(lines) or "nothing to remove"


def restored_words(task: Task, done: Restored) -> str:
    if not done.kept:
        return f"the tree is as it was at line {done.seq}"
    lines = [f"restored: the tree is as it was at line {done.seq}, the state is still {task.memory.snapshot.state}"]
    lines += [f"  written: {on_one_line(path)}" for path in done.files.written]
    lines += [f"  removed: {on_one_line(path)}" for path in done.files.removed]
    lines += [f"  left as it is, a submodule: {on_one_line(path)}" for path in done.files.passed_over]
    lines.append(f"  what stood there is kept as commit {done.kept[:12]} in {task.places.private_git()}")
    return "\n".join(lines)


def patch_words(patch: str, *, is_seen: bool) -> str:
    """A patch, safe for a terminal; line ends of other systems stay, so that it can be applied.

    On screen the line ends of changed lines are marked, because they may be the whole change.
    """
    lines, shown = [], printable if is_seen else harmless  # marks of direction belong to some languages' files
    for line in patch.removesuffix("\n").split("\n"):
        has_return = line.endswith("\r") and (not is_seen or line.startswith(" "))
        lines.append(shown(line[:-1]) + "\r" if has_return else shown(line))
    return "\n".join(lines) + "\n"
