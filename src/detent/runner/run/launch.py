"""What one planned run is started with: its command line, held by the kernel where possible, environment, bounds."""

from __future__ import annotations

import os

from detent.core.record import Record
from detent.effects.agents.catalog import WRITE, command_for, passed_to, talk_command_for
from detent.effects.git.bring import wipe
from detent.effects.host.access import BUBBLEWRAP, NONE
from detent.effects.host.keeper.start import RunSpec
from detent.effects.host.keeper.terminal import in_foreground
from detent.machines.parse import ENGINE_PROGRAM
from detent.runner.access.access import hold_run
from detent.runner.access.command_place import cache_variables, make_cache, run_cache
from detent.runner.access.environment import passed_environment
from detent.runner.access.level import level_of
from detent.runner.access.logins import make_ready, remember_steering
from detent.runner.step.filing import forget_reports
from detent.runner.task.budget import budget_left
from detent.store.disk.atomic import make_folders, read_plain, write_atomic
from detent.store.journal.places import PROMPT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container, Mapping

    from detent.effects.agents.catalog import Agent, Launch
    from detent.runner.task.open import Task

DEFAULT_MINUTES, DEFAULT_STALL_MINUTES = 30.0, 10.0
SHORTEST_RUN_S = 0.1  # a bound of nothing would mean none
CLAIM_GRACE_S = 10.0  # for an agent to end by itself once its claim was accepted


class Bounds(Record):
    """What one run may use; 0 is: as much as it wants."""

    timeout_s: float
    stall_s: float
    usd: float = 0.0
    tokens: float = 0.0
    turns: float = 0.0


def bounds_of(task: Task) -> Bounds:
    """What one run may use: its own bounds, and never more than is left of the task's."""
    budget = task.memory.head.budget.get("run", {})
    left = budget_left(task.memory)
    minutes_s = 60 * budget.get("minutes", DEFAULT_MINUTES)
    return Bounds(
        timeout_s=max(min(minutes_s, left.get("seconds", minutes_s)), SHORTEST_RUN_S),
        stall_s=60 * budget.get("stall_minutes", DEFAULT_STALL_MINUTES),
        usd=min((bound for bound in (budget.get("usd", 0.0), left.get("usd", 0.0)) if bound > 0), default=0.0),
        tokens=budget.get("tokens", 0.0),
        turns=budget.get("turns", 0.0),
    )


def spec_of(task: Task, agent: Agent) -> RunSpec:
    """What is run for the run that was just planned, held as well as this host can."""
    run = task.memory.run
    folder, bounds = task.places.run(run.run), bounds_of(task)
    folders = task.run_folders()
    for name, path in folders.items():
        _make_anew(path, keep=name == "DETENT_OUT")
    forget_reports(task)
    make_ready(task, agent, run.role, with_mounts=level_of(task.project).level == BUBBLEWRAP)
    remember_steering(agent, folder)
    cache = run_cache(task)
    make_cache(cache)
    held = hold_run(task, agent, (), run.cwd, separate_session=not run.talk)
    launch = _launch(task, agent, is_held=held.level != NONE, cwd=held.cwd)
    passed = (*passed_to(agent, os.environ), *task.memory.head.sandbox_rules["pass"])
    caches = cache_variables(cache) if cache.path else {}
    environment = {**environment_of(task, passed), **caches, "DETENT_TREE": held.cwd, "TMPDIR": folders["DETENT_TMP"]}
    return RunSpec(
        run_dir=folder,
        argv=(*held.argv, *launch.argv),
        env={**environment, **launch.env, "DETENT_ACCESS": run.access, "DETENT_SANDBOX": held.level},
        cwd=run.cwd,
        stdin_path=os.path.join(folder, PROMPT),
        timeout_s=bounds.timeout_s,
        stall_s=bounds.stall_s,
        claim_grace_s=CLAIM_GRACE_S,
    )


def _make_anew(path: str, *, keep: bool) -> None:
    """A folder without what an earlier run left there: its requests and programs are not those of this run."""
    if not keep or not os.path.isdir(path) or os.path.islink(path):
        wipe(path)
    make_folders(path)


def _launch(task: Task, agent: Agent, *, is_held: bool, cwd: str) -> Launch:
    run, places = task.memory.run, task.run_folders()
    out = places["DETENT_OUT"]
    folders = (task.native.folder, *(path for name, path in places.items() if name != "DETENT_BIN"))
    if run.talk:
        # The run's own folder can't be seen from inside.
        prompt = os.path.join(out, f"prompt-{run.run}.md")
        write_atomic(prompt, read_plain(task.places.prompt(run.run)) or b"", durable=False)
        launch = talk_command_for(
            agent, prompt=prompt, model=run.model, run_dir=out, cwd=cwd, folders=folders, is_held=is_held
        )
        return launch.replace(argv=in_foreground(launch.argv))
    # Reports lie in the task folder, which every role writes to; what a reading role may not change is the tree, and
    # that is compared when the run is over.
    return command_for(
        agent,
        access=WRITE,
        model=run.model,
        session=run.session,
        run_dir=out,
        cwd=cwd,
        folders=folders,
        is_held=is_held,
    )


def environment_of(task: Task, passed: Container[str]) -> dict[str, str]:
    """The environment of a run: variables of the user's, and its own names and folders; `detent` is always found."""
    run, folders = task.memory.run, task.run_folders()
    _write_shims(folders["DETENT_BIN"], task.machine.shims)
    environment = passed_environment(os.environ, passed)
    return {
        **environment,
        "PATH": os.pathsep.join((folders["DETENT_BIN"], environment["PATH"])),
        "DETENT_TASK": task.id,
        "DETENT_TASK_DIR": task.native.folder,
        "DETENT_TREE": run.cwd,
        "DETENT_OUT": folders["DETENT_OUT"],
        "DETENT_DROP": folders["DETENT_DROP"],
        "DETENT_ROLE": run.role,
        "DETENT_STATE": run.state,
        "DETENT_RUN_NUMBER": str(run.run),
    }


def _write_shims(folder: str, shims: Mapping[str, str]) -> None:
    """Our own command, and the names the machine's document calls it by."""
    import shlex
    import sys

    for name, line in {ENGINE_PROGRAM: ENGINE_PROGRAM, **shims}.items():
        words = " ".join(shlex.quote(word) for word in (sys.executable, "-P", "-m", *line.split()))
        _write_program(os.path.join(folder, name), f'#!/bin/sh\nexec {words} "$@"\n'.encode())


def _write_program(path: str, text: bytes) -> None:
    try:
        with open(path, "rb") as file:
            if file.read() == text:
                return
    except OSError:
        pass
    write_atomic(path, text, durable=False, mode=0o755)
