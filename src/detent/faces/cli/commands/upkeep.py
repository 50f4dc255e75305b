"""Commands that look after detent itself: is this host fit, are tasks sound."""

from __future__ import annotations

import os
import sys

from detent.errors import DetentError, ToolError
from detent.faces.cli.caller import refuse_inside_run
from detent.faces.cli.output import progress_teller, show, tell
from detent.runner.step.proving.homes import home_problem
from detent.runner.task.open import Task, find_project, load_all, load_task, open_task
from detent.runner.tell.explain import explain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from detent.faces.cli.arguments import Arguments
    from detent.runner.make.reach import Reach
    from detent.runner.make.trial import Found, Tried
    from detent.store.journal.places import Project

    Row = tuple[str, str, str]  # mark, what, next step

ASKS = "ask"  # the mark of a row that waits for a person


def doctor(arguments: Arguments) -> int:
    if arguments.has("--repair"):
        return _repair(arguments)
    if arguments.has("--accept-red"):
        from detent.faces.cli.commands.accept_red import accept_red

        return accept_red(arguments)
    project = find_project(arguments.text("--repo"))
    rows = [*_host(project), *_project(project)]
    wanted = arguments.text("TASK")
    tried: tuple[Tried, ...] = ()
    reached: tuple[Reach, ...] = ()
    if not wanted:
        rows += _packs(project)
        more, tried, reached = _settings(project, arguments)
        rows += more
    if wanted:
        rows += _task(open_task(wanted, arguments.text("--repo")))
    for listed in () if wanted else load_all(project):
        if listed.error is None:
            rows += _task(load_task(project, listed.id))
        else:
            rows.append(("bad", f"task {listed.id}: {listed.error.what}", listed.error.next_step))
    lines = []
    for mark, what, next_step in rows:
        lines.append(f"{mark:<5}{what}")
        if next_step:
            lines.append(f"     next: {next_step}")
    checks = [dict(zip(("mark", "what", "next"), row, strict=True)) for row in rows]
    commands = [{field: getattr(command, field) for field in command._fields} for command in tried]
    proof = [{field: getattr(command, field) for field in command._fields} for command in reached]
    show(arguments, {"checks": checks, "commands": commands, "proof": proof}, "\n".join(lines))
    marks = {row[0] for row in rows}
    return 5 if "bad" in marks else 1 if "red" in marks else 4 if ASKS in marks else 0


def _settings(project: Project, arguments: Arguments) -> tuple[list[Row], tuple[Tried, ...], tuple[Reach, ...]]:
    """Are the settings in order, do their commands work in a fresh checkout, and what can these prove?"""
    from detent.effects.host.access import NONE
    from detent.faces.words.project import found_rows, trial_rows
    from detent.faces.words.reach import reach_rows
    from detent.runner.access.access import settings_level
    from detent.runner.access.trust import is_untrusted, wanted_here
    from detent.runner.make.checked import misspelt
    from detent.runner.make.reach import reach_commands
    from detent.runner.make.trial import SET_UP_FAILED, check_settings, try_commands
    from detent.runner.task.committed import head_commit
    from detent.store.journal.settings import FILE

    try:
        found = check_settings(project)
        has_commit = bool(head_commit(project))
        rows: list[Row] = found_rows(found, has_commit=has_commit)
        rows += [("note", problem, f"correct {FILE}") for problem in misspelt(found.settings)]
        rows += _agents(found)
        for privileged in wanted_here(project):
            if is_untrusted(project, privileged):
                what = (
                    f"{privileged.where} needs your trust before a task can be made: {', '.join(privileged.settings)}"
                )
                rows.append(("note", what, "detent trust --show"))
        if arguments.has("--quick") or not found.settings.commands or home_problem(project):
            return rows, (), ()
        if found.draft is None:
            return [*rows, ("note", "no commit yet: commands are not tried", "git add -A && git commit")], (), ()
        if settings_level(project, found.settings) == NONE and any(
            is_untrusted(project, privileged) for privileged in wanted_here(project)
        ):
            what = "commands are not tried: they would run without a sandbox, and the settings are not trusted yet"
            return [*rows, (ASKS, what, "detent trust --show")], (), ()
        progress = progress_teller(arguments)
        if not arguments.has("--json"):
            tell(f"each command may take {found.settings.command_timeout_s:g} s ([commands] timeout_s in {FILE})")
        trial = try_commands(found.draft, found.settings, progress)
        is_set_up = not any(command.result == SET_UP_FAILED for command in trial.tried)
        cut = {command.command: command.why for command in trial.tried if command.is_cut}
        minutes = found.settings.proof.minutes
        reached = reach_commands(found.draft, cut, minutes, progress) if trial.commit and is_set_up else ()
        excused = {command.line for command in reached if command.red and not command.unaccepted}
        rows += trial_rows(trial, excused)
        return [*rows, *reach_rows(reached, found.settings.proof, has_git=bool(trial.commit))], trial.tried, reached
    except DetentError as error:
        problems = "; ".join(getattr(error, "problems", ()))
        return [("bad", error.what + (f": {problems}" if problems else ""), error.next_step)], (), ()


def _agents(found: Found) -> list[Row]:
    """The agents that would work here; none is no fault, as a person may do all the work by hand."""
    from detent.runner.task.agents import served_roles

    machine = found.machine
    try:
        serving = served_roles(found.settings.agents, machine)
    except ToolError as error:
        return [("note", error.what, error.next_step)]
    return [("ok", f"agent {name} serves {', '.join(roles)} of {machine.name}", "") for name, roles in serving.items()]


def _repair(arguments: Arguments) -> int:
    from detent.runner.run.repair import repair

    refuse_inside_run("repairing a task")
    task = open_task(arguments.text("TASK"), arguments.text("--repo"))
    repaired = repair(task)
    show(arguments, {"id": task.id, "repaired": repaired}, f"{task.id}: {repaired}")
    return 0


def _host(project: Project) -> list[Row]:
    from detent.effects.git.git import Git
    from detent.effects.host.access import NONE
    from detent.effects.host.sandbox import best_level
    from detent.faces.words.project import level_words
    from detent.runner.access.level import folding_folders

    rows: list[Row] = [("ok", f"Python {sys.version.split()[0]}", "")]
    try:
        rows.append(("ok", Git(os.sep).run("--version").decode().strip(), ""))
    except ToolError as error:
        rows.append(("bad", error.what, error.next_step))
    probe = best_level(os.environ, folding_folders(project))
    advice = "install bubblewrap (Debian and Ubuntu: apt-get install bubblewrap)" if probe.level == NONE else ""
    rows.append(("note" if probe.level == NONE else "ok", f"sandbox level {level_words(probe)}", advice))
    return rows


def _project(project: Project) -> list[Row]:
    kind = "git repository" if project.common_dir else "plain folder (no git)"
    rows: list[Row] = [("ok", f"{kind} {project.root}", ""), ("ok", f"control folder {project.control}", "")]
    probe = project.control if os.path.isdir(project.control) else os.path.dirname(project.control)
    if not os.access(probe, os.W_OK):
        rows.append(("bad", f"{probe} can't be written", "make it writable for you"))
    if problem := home_problem(project):
        what = f"tasks can't be made: their homes would lie in {project.home()}, and that can't be written ({problem})"
        rows.append(("bad", what, "set XDG_STATE_HOME to a folder you can write to, then: detent doctor"))
    return rows


def _packs(project: Project) -> list[Row]:
    """The packs that the user's own settings name, and whether each can be used here."""
    from detent.machines.load import load
    from detent.runner.task.pack import bring_pack, pack_names

    rows: list[Row] = []
    try:
        names = pack_names()
    except DetentError as error:
        return [("bad", error.what, error.next_step)]
    for name in names:
        try:
            pack = bring_pack(project, name)
            load(name, None)
        except DetentError as error:
            rows.append(("bad", f"pack {name}: {error.what}", error.next_step))
        else:
            rows.append(("ok", f"pack {name} from {pack.folder if pack else 'nowhere'}", ""))
    return rows


def _task(task: Task) -> list[Row]:
    from detent.runner.run.repair import damaged_files, damaged_log

    explained = explain(task, with_moves=False)
    if explained.is_removed:
        return [("ok", f"task {task.id} in {explained.snapshot.state}; its home was removed by detent gc", "")]
    is_bad = bool(explained.repair) or not os.path.isdir(task.tree_path)
    rows: list[Row] = [
        ("bad" if is_bad else "note", f"task {task.id}: {problem}", explained.repair) for problem in explained.problems
    ]
    rows += [
        ("bad", f"task {task.id}: {task.native.path(name)}: {problem}", f"detent doctor --repair {task.id}")
        for name, problem in damaged_files(task).items()
    ]
    if damaged := damaged_log(task):
        what = f"task {task.id}: {damaged} is not a plain file of its own"
        rows.append(("bad", what, f"detent doctor --repair {task.id}"))
    try:
        task.store.history()
    except DetentError as error:
        rows.append(("bad", f"task {task.id}: {error.what}", error.next_step))
    return rows or [("ok", f"task {task.id} in {explained.snapshot.state}", "")]
