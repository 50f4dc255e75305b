"""The words for a landing: what it will do, said before anything is run, and how far its proof has come."""

from __future__ import annotations

from detent.faces.words.screen import copy_words, flat
from detent.runner.people.land_plan import FOUND
from detent.runner.people.proof_basis import OF_TASK
from detent.runner.step.proving.progress import BEGINS, COPIED, SET_UP, WAITS
from detent.runner.tell.proof_summary import proof_rows
from detent.words.names import name_some, on_one_line
from detent.words.runner.land import tests_waived

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from detent.runner.people.land_plan import Plan
    from detent.runner.step.proving.progress import Progress

_MOST_ROWS = 20


def plan_words(plan: Plan) -> str:
    """Branch, commits, files, commands with their origin, and where protected files come from."""
    if plan.how == FOUND:
        lines = [f"{plan.branch} is part of {plan.into} already; it counts as landed once the commands pass there"]
    else:
        lines = [f"{plan.how}: {plan.branch} into {plan.into}, once the commands pass on the merged tree"]
    lines += _some("commits:", [f"{sha[:12]} {flat(subject)}" for sha, subject in plan.commits])
    lines += _some("files:", [line.strip() for line in plan.stat.splitlines()[:-1]])
    lines += [f"  {on_one_line(line.strip())}" for line in plan.stat.splitlines()[-1:]]
    lines += [f"  {caches_words(plan.caches)}"] if plan.caches else []
    names = {OF_TASK: "the task"}
    commands = [
        f"{flat(command.line)}  ({' and '.join(names.get(source, source) for source in command.sources)})"
        for command in plan.commands
    ]
    lines += _some("commands:", commands) or ["  commands: none; neither side names one"]
    if plan.summary is not None:
        lines += [f"  {label}: {flat(text)}" for label, text in proof_rows(plan.summary)]
    if plan.waived is not None:
        lines.append(f"  waived: {tests_waived(plan.waived.gates, plan.waived.name, plan.waived.reason)}")
    patterns = ", ".join(map(on_one_line, plan.protected))
    lines.append(f"  protected files: as {plan.into} has them at {plan.protected_from[:12]} ({patterns})")
    return "\n".join(lines)


def caches_words(caches: Sequence[str]) -> str:
    return f"left out, caches of tools: {name_some(caches)}"


def _some(title: str, rows: list[str]) -> list[str]:
    more = [f"    and {len(rows) - _MOST_ROWS} more"] if len(rows) > _MOST_ROWS else []
    return [f"  {title}", *(f"    {row}" for row in rows[:_MOST_ROWS]), *more] if rows else []


def progress_words(progress: Progress) -> str:
    if progress.stage == SET_UP:
        return f"making a checkout; set-up: {flat(progress.line)}" if progress.line else "making a checkout"
    if progress.stage == COPIED:
        return f"  set up: {copy_words(progress.size, progress.line)}"
    if progress.stage == WAITS:
        return f"waiting {flat(progress.line)}"
    if progress.stage == BEGINS:
        which = f"running {progress.number} of {progress.total}" if progress.total else "checking the tests"
        return f"{which}: {flat(progress.line)}"
    if not progress.total:  # what a run of the proof itself means is said when all of it is known
        return f"  took {progress.seconds:.1f} s"
    return f"  {'passed' if progress.is_ok else 'failed'} in {progress.seconds:.1f} s"
