"""Commands that only look: they never write, lock or start anything (except `route --take`, which moves)."""

from __future__ import annotations

import sys

from detent.errors import UsageError
from detent.faces.cli.output import next_json, print_json, show, status_json
from detent.faces.words.screen import DEAD_MARK, list_words, next_words, printable, status_words
from detent.runner.task.open import Listed, Task, find_project, is_active, is_over, load_all, open_task, refuse_unseen
from detent.runner.tell.explain import explain, is_dead, is_gone, waiting_for, waits_for_word, who_may
from detent.runner.tell.title import title_now
from detent.store.journal.line import to_line
from detent.store.journal.memory import exact
from detent.store.journal.native import Native

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from detent.faces.cli.arguments import Arguments
    from detent.store.journal.places import Project


def _task(arguments: Arguments) -> Task:
    return open_task(arguments.text("TASK"), arguments.text("--repo"))


def status(arguments: Arguments) -> int:
    explained = explain(_task(arguments), with_moves=False)
    show(arguments, status_json(explained), status_words(explained))
    return 5 if explained.repair else 0


def next_moves(arguments: Arguments) -> int:
    explained = explain(_task(arguments), with_moves=True)
    show(arguments, next_json(explained), next_words(explained))
    return 5 if explained.repair else 0


def _row(project: Project, listed: Listed) -> dict[str, Any]:
    if listed.memory is None or listed.machine is None:
        why = listed.error.what if listed.error else ""
        row = {"id": listed.id, "machine": "?", "state": "unreadable", "waiting_for": "a person", "title": why}
        return {**row, "over": False, "dead": False}
    from detent.runner.tell.inbox import word_wanted  # only lists look into tasks

    memory, head = listed.memory, listed.memory.head
    state = listed.machine.states[memory.snapshot.state]
    waits = waiting_for(memory, state)
    if word := word_wanted(project, listed):
        waits = waits_for_word(word)
    return {
        "id": listed.id,
        "machine": head.machine,
        "state": state.name,
        "waiting_for": waits,
        "title": title_now(listed.machine, memory, Native(listed.machine, head.dir, project.task(listed.id))),
        "over": is_over(listed),
        "dead": is_dead(memory, state, is_gone=is_gone(project.task(listed.id), memory)),
    }


def list_tasks(arguments: Arguments) -> int:
    """Newest first; what can't be read has no time and comes last."""
    project = find_project(arguments.text("--repo"))
    found = sorted(load_all(project), key=_made, reverse=True)
    if not found:
        refuse_unseen(project.root)
    machines, states = arguments.texts("--machine"), arguments.texts("--state")
    rows = [
        row
        for row in ({**_row(project, task), "active": is_active(task)} for task in found)
        if (not machines or row["machine"] in machines)
        and (not states or row["state"] in states)
        and not (arguments.has("--open") and row["over"])
    ]
    text = list_words([_columns(row) for row in rows])
    if found and not rows:
        which = f" of {' or '.join(machines)}" if machines else ""
        where = f"in {' or '.join(states)}" if states else "open" if arguments.has("--open") else "there"
        text = f"no task{which} is {where}\n  next: detent list"
    show(arguments, {"tasks": rows}, text)
    return 0


def _made(listed: Listed) -> tuple[str, str]:
    return (exact(listed.memory.head.time, listed.memory.head.us) if listed.memory is not None else "", listed.id)


def _columns(row: dict[str, Any]) -> tuple[str, str, str, str, str, str]:
    state = row["state"] + (DEAD_MARK if row.get("dead") else "")
    return "*" if row.get("active") else "", row["id"], row["machine"], state, row["waiting_for"], row["title"]


def overview(*, as_json: bool) -> int:
    """Bare `detent`: what needs a person, what goes on; outside a project, how to begin."""
    project = find_project()
    listed = tuple(load_all(project))
    rows = [_row(project, found) for found in listed]
    if not rows:
        refuse_unseen(project.root)
    open_rows = [row for row in rows if not row.get("over")]
    if as_json:
        print_json({"tasks": open_rows})
        return 0
    if not rows:
        sys.stdout.write(
            "no tasks here yet\n"
            "  see it work:   detent demo\n"
            "  set it up:     detent init\n"
            '  begin a task:  detent new phase "what is to be done" --check "your test command"\n'
            "  all commands:  detent --help\n"
        )
        return 0
    people = [row for row in open_rows if row["waiting_for"].startswith("a person")]
    goes_on = {task.id for task in listed if task.memory and (task.memory.run or task.memory.driven.on)}
    others = [row for row in open_rows if row not in people and row["id"] in goes_on]
    resting = [row for row in open_rows if row not in people and row["id"] not in goes_on]
    lines = ["needs you:" if people else "nothing needs you"]
    lines += [f"  {row['id']}  {_columns(row)[3]}  {row['title']}\n    detent next {row['id']}" for row in people]
    if others:
        lines.append("under way:")
        lines += [_waiting(row) for row in others]
    if resting:
        lines.append("could go on, but nobody drives it:")
        lines += [f"{_waiting(row)}\n    detent run {row['id']}" for row in resting]
    over = len(rows) - len(open_rows)
    lines.append(f"{over} task{'s' if over != 1 else ''} over; all of them: detent list")
    sys.stdout.write(printable("\n".join(lines)) + "\n")
    return 0


def _waiting(row: dict[str, Any]) -> str:
    return f"  {row['id']}  {row['state']}  waits for {row['waiting_for']}  {row['title']}"


def history(arguments: Arguments) -> int:
    from detent.faces.words.history import history_words  # the other commands read no line of a journal

    lines = _task(arguments).store.history()
    last = arguments.number("--last", "detent history --last 20")
    lines = lines[-last:] if last else lines
    show(arguments, {"lines": list(map(to_line, lines))}, history_words(lines))
    return 0


def folder(arguments: Arguments) -> int:
    task = _task(arguments)
    shown = task.tree_path if arguments.has("--tree") else task.native.folder
    show(arguments, {"id": task.id, "dir": task.native.folder, "tree": task.tree_path}, shown)
    return 0


def route(arguments: Arguments) -> int:
    """The fewest moves to a state; with --take they are made as far as their gates are open."""
    from detent.core.explore import route as shortest

    task = _task(arguments)
    machine, state = task.machine, task.memory.snapshot.state
    goal = arguments.text("--to") or (machine.ends() or ("",))[0]
    if goal not in machine.states:
        raise UsageError(f"{machine.name} has no state {goal!r}", next_step=f"its states: {', '.join(machine.states)}")
    if arguments.has("--take"):
        from detent.faces.cli.commands.ask import take_route

        return take_route(arguments, task, goal)
    edges = shortest(machine, state, goal)
    if edges is None:
        nothing = {"id": task.id, "from": state, "to": goal, "route": None}
        show(arguments, nothing, f"no way leads from {state} to {goal}")
        return 1
    explained = explain(task, with_moves=True)
    first = next((move for move in explained.moves if edges and move.name == edges[0].name), None)
    steps = [
        {
            "name": edge.name,
            "to": edge.target,
            "by": list(who_may(edge, task.memory.snapshot)),
            "gates": list(edge.ways[0].needs),
        }
        for edge in edges
    ]
    lines = [f"{state} -> {goal}: {len(edges)} move{'s' if len(edges) != 1 else ''}"]
    for edge in edges:
        needs = ", ".join(edge.ways[0].needs) or "no gate"
        lines.append(f"  {edge.target:<22}by {' or '.join(who_may(edge, task.memory.snapshot)):<18}needs {needs}")
    if first is not None and not first.is_open:
        lines += [f"first missing: {gap.why}" for gap in first.missing]
    show(arguments, {"id": task.id, "from": state, "to": goal, "route": steps}, "\n".join(lines))
    return 0
