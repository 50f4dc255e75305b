"""Starts the agent run a state wants, and knows its fate.

A run is planned in the journal before it is started (the intent) and acknowledged by its identity on disk. A command
that finds a plan without an identity makes it void under the run's own lock, so that nothing is ever run twice. While
a run lives the engine writes no native file of its task and does not judge its state line.
"""

from __future__ import annotations

import json
import os

from detent.core.machine import STOPPED
from detent.core.runs import runs_spent, stop
from detent.effects.agents.formats import TEXT
from detent.effects.host.keeper import start as keeper
from detent.effects.host.keeper.look import RunSeen
from detent.effects.host.keeper.look import look as look_at_run
from detent.errors import DetentError, RefusedError
from detent.gates.judge import evidence_hashes, judge
from detent.runner.access.access import refuse_unseen, run_held
from detent.runner.run.launch import bounds_of, spec_of
from detent.runner.run.prompt import prompt_for
from detent.runner.run.taint import hook_prints_of
from detent.runner.step.changing import changing
from detent.runner.step.in_place import refuse_beside_run, refuse_elsewhere
from detent.runner.step.locks import held_for_others
from detent.runner.step.look import current_tree, look
from detent.runner.step.promises import keep_promises
from detent.runner.task.agents import agent_for
from detent.runner.task.budget import budget_spent, failures_spent
from detent.store.disk.atomic import make_folders, write_atomic
from detent.store.disk.digest import sha256_of
from detent.store.journal.line import FILE
from detent.store.journal.places import PROMPT
from detent.store.journal.run_events import RunPlanned, RunVoid, Stopped
from detent.store.journal.shown import WHILE_RUNNING
from detent.store.text.labels import labels_from
from detent.words.core import runs_changed_nothing
from detent.words.runner import run as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from detent.effects.agents.catalog import Agent
    from detent.effects.agents.choose import Choice
    from detent.runner.run.ready import Ready
    from detent.runner.step.change import Change
    from detent.runner.task.open import Task
    from detent.store.journal.memory import Memory
    from detent.store.journal.native import Document


_LISTS = ("files", "gates")  # kinds of progress of which only more is progress
_LONGEST_LIST, _CUT = 50_000, "cut"  # characters of names in a journal line; a list that was cut tells nothing


def run_seen(task: Task) -> RunSeen | None:
    """What is known of the run that was planned and has no end yet; None when there is none. Reads only."""
    number = task.memory.run.run
    return look_at_run(task.places.run(number)) if number else None


def start_run(
    task: Task, ready: Ready, begin: Callable[[keeper.RunSpec], object] = keeper.spawn, *, is_talk: bool = False
) -> Task:
    """Plan and start one run of the current state's role in the folder that was made ready for it.

    Where another process has just started one, that is the run; where a limit is used up, the task is stopped instead.
    `is_talk`: a person talks to the agent, which the plan says, and `begin` gives it their terminal.
    """
    with changing(task, settles=False) as change:
        if change.memory.run:
            return change.task
        change.settle()
        task = change.task
        _refuse_start(task)
        machine, memory = task.machine, task.memory
        if why := runs_spent(machine, memory.snapshot) or budget_spent(memory) or failures_spent(machine, memory):
            return _stop(change, why)
        refuse_beside_run(task)
        refuse_elsewhere(task)
        agent, choice = agent_for(task, ready.state.role)
        refuse_unseen(task, agent)
        if current_tree(task) != ready.tree:
            raise RefusedError(say.tree_changed(task.id), where=task.tree_path)
        if is_talk and not agent.talk:
            raise RefusedError(say.agent_not_talked_to(agent.name, task.id))
        _plan(change, agent, choice, ready, is_talk=is_talk)
        try:
            begin(spec_of(change.task, agent))
        except DetentError:
            # Whether it began is known by its directory alone; what did not begin must never begin later.
            if keeper.void(task.places.run(change.memory.runs)):
                change.write(RunVoid(run=change.memory.runs, why=say.could_not_start()))
            raise
        return change.task


def _refuse_start(task: Task) -> None:
    memory, state = task.memory, task.machine.states[task.memory.snapshot.state]
    if stopped := memory.snapshot.registers.get(STOPPED):
        raise RefusedError(say.task_stopped(stopped, task.id))
    if not state.role:
        raise RefusedError(say.no_agents_state(state.name, task.id))


def stop_idle(task: Task) -> Task:
    """Stop a task whose single pass was idle: no other run of this command could do better."""
    with changing(task) as change:
        return _stop(change, runs_changed_nothing(1))


def _stop(change: Change, why: str) -> Task:
    change.write(Stopped(by="engine", why=why), after=stop(change.memory.snapshot, why))
    keep_promises(change)
    return change.task


def _plan(change: Change, agent: Agent, choice: Choice, ready: Ready, *, is_talk: bool) -> None:
    task, memory, document = change.task, change.memory, change.document
    state, tree = ready.state, ready.tree
    number = memory.runs + 1
    folder = task.places.run(number)
    make_folders(folder)
    # An agent's error may hold what is no text; it is quoted as far as it is.
    prompt = prompt_for(task, state, document, tree, bounds_of(task).timeout_s / 60).encode("utf-8", "backslashreplace")
    write_atomic(os.path.join(folder, PROMPT), prompt, durable=False)
    # A session is gone on with only where its run died in this very visit; a new visit begins with a clear head.
    last = memory.visit
    session = last.session if last.agent == agent.name and last.exit != "finished" else ""
    held = run_held(task, agent, state.role, ready.cwd)
    line = RunPlanned(
        run=number,
        role=state.role,
        state=state.name,
        access=state.access,
        sandbox=held.level,
        network=held.network,
        agent=agent.name,
        model=choice.model,
        talk=is_talk,
        events=TEXT if is_talk else agent.events,
        session=session if agent.resume and not is_talk else "",
        tree=tree,
        cwd=ready.cwd,
        prompt=sha256_of(prompt),
        held=held_for_others(task, document, state.role),
        hooks=hook_prints_of(task),
        seen=fingerprint(task, memory, document, tree),
    )
    # Where the file names the living run, none of its processes reads it yet.
    change.write(line, reach=FILE if labels_from(task.machine, WHILE_RUNNING) else "")


def fingerprint(task: Task, memory: Memory, document: Document, tree: str) -> dict[str, str]:
    """What progress is measured by: a run that gains none of it was idle."""
    kinds = task.machine.progress.get("counts") or ("tree", "fields", "evidence")
    seen = look(task, memory, document, tree if "gates" in kinds else "")
    found = {"tree": tree}
    if "fields" in kinds:
        owned = set(task.native.wanted_fields(memory.snapshot, ""))
        found["fields"] = _hash({name: document.value(name) for name in task.native.labels if name not in owned})
    if "evidence" in kinds:
        found["evidence"] = _hash(evidence_hashes(seen))
    if "files" in kinds:
        found["files"] = _listed(name for name, digest in seen.files.listing().items() if digest)
    if "gates" in kinds:
        edges = task.machine.states[memory.snapshot.state].edges
        facts = judge(seen, [gate for edge in edges for way in edge.ways for gate in way.needs])
        found["gates"] = _listed(name for name, fact in facts.items() if fact.ok)
    return {name: found[name] for name in kinds}


def has_gained(before: Mapping[str, str], now: Mapping[str, str]) -> bool:
    """Whether anything counts as progress: other text, or a file or an open gate that was not there before."""
    for kind in now:
        was, found = before.get(kind, ""), now[kind]
        if kind not in _LISTS:
            if found != was:
                return True
        elif _CUT in (was, found):
            continue
        elif not set(found.splitlines()) <= set(was.splitlines()):
            return True
    return False


def _listed(names: Iterable[str]) -> str:
    text = "\n".join(sorted(names))
    return text if len(text) <= _LONGEST_LIST else _CUT


def _hash(content: dict[str, str]) -> str:
    return sha256_of(json.dumps(content, sort_keys=True).encode("utf-8", "surrogateescape"))


def stop_run(task: Task) -> bool:
    """Tell a living run to end; False when there is none."""
    number = task.memory.run.run
    return bool(number) and keeper.stop(task.places.run(number))
