"""Commands that ask for something: make a task, move it, prove it, answer it."""

from __future__ import annotations

import os

from detent.core.values import Advance, Refuse, Signal, Wait
from detent.errors import RefusedError, UsageError
from detent.faces.cli.given import given_with
from detent.faces.cli.output import move_json, show, status_json
from detent.faces.words import outcome_words, status_words
from detent.runner.explain import explain
from detent.runner.open import Task, open_task
from detent.runner.step import Outcome, step, tidy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from detent.faces.cli.arguments import Arguments

_RUN_MARK = "DETENT_ROLE"  # set in the environment of every agent run
_HELD_MARK, _UNHELD = "DETENT_SANDBOX", "none"
_RUN_NUMBER, _RUN_FOLDER = "DETENT_RUN_NUMBER", "DETENT_TASK_DIR"
_DROP_WAIT_S = 30.0


def person_name() -> str:
    import pwd  # the account, not the environment: USER can be set to anything

    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return f"uid {os.getuid()}"


def refuse_inside_run(what: str) -> None:
    """What people hold is not for a process that says of itself it is an agent's, nor for one a sandbox holds.

    A sandboxed agent can take the marks out of its environment; that it may gain no rights it can't undo. Where people
    themselves work so, as in some containers, the project says so in its settings.
    """
    if _is_held():
        raise RefusedError(
            f"{what} is for a person, and this process may gain no new rights (NoNewPrivs), as an agent in a sandbox",
            next_step="do it in a terminal of your own; where people work so, commit [human] allow_no_new_privs = true",
        )
    if os.environ.get(_RUN_MARK):
        raise RefusedError(
            f"{what} is for a person, and this is an agent run",
            next_step="finish your work; a person will be asked",
        )


def _is_held() -> bool:
    """Whether this process may gain no rights, in a project that does not say its people work so."""
    try:
        with open("/proc/self/status", encoding="ascii", errors="replace") as file:
            if not any(line.startswith("NoNewPrivs:") and line.split()[1] == "1" for line in file):
                return False
    except OSError:
        return False  # no Linux, or nothing to see: then nothing holds us this way either
    from detent.runner.trial import committed_settings

    return not committed_settings().human_allow_no_new_privs


def new(arguments: Arguments) -> int:
    from detent.runner.begin import Wish
    from detent.runner.create import create

    refuse_inside_run("making a task")
    machine, text = _machine_and_text(arguments.text("MACHINE"), arguments.text("TEXT"))
    wish = Wish(
        machine=machine,
        title=text,
        task_id=arguments.text("--id"),
        repo=arguments.text("--repo"),
        folder=arguments.text("--dir"),
        checks=arguments.texts("--check"),
        mode=arguments.text("--mode"),
        by=person_name(),
        extras=("TASKS",) if arguments.has("--with-tasks") else (),
        agents=arguments.texts("--agent"),
        usd=arguments.text("--budget"),
        source=arguments.text("--from"),
        issue=arguments.text("--issue"),
        in_place=arguments.has("--in-place"),
        include_dirty=arguments.has("--include-dirty"),
    )
    if wish.in_place and wish.include_dirty:
        raise UsageError("--in-place works on all that is there already", next_step="leave out --include-dirty")
    task = create(wish)
    if arguments.has("--start"):
        from detent.runner.mandate import let_drive

        task = let_drive(task, person_name(), on=True)
    return _show_status(arguments, task)


def _show_status(arguments: Arguments, task: Task) -> int:
    told = explain(task, with_moves=False)
    notes = task.memory.head["notes"]
    lines = [*(f"note: {note}" for note in notes), status_words(told)]
    show(arguments, {**status_json(told), "notes": list(notes)}, "\n".join(lines))
    return 0


def _machine_and_text(first: str, second: str) -> tuple[str, str]:
    """`new "text"` is as good as `new phase "text"`: one word that is no machine is the text."""
    from detent.machines.load import built_in_names

    if first and not second and first not in built_in_names() and not first.endswith(".toml"):
        if " " not in first and not first.isalnum():
            return first, ""
        return "", first
    return first, second


def adopt(arguments: Arguments) -> int:
    from detent.runner.adopt import adopt as take_over
    from detent.runner.begin import Wish

    refuse_inside_run("adopting a task")
    wish = Wish(
        machine=arguments.text("MACHINE"),
        task_id=arguments.text("--id"),
        repo=arguments.text("--repo"),
        folder=arguments.text("DIR"),
        by=person_name(),
    )
    return _show_status(arguments, take_over(wish))


def move(arguments: Arguments) -> int:
    if is_run_held():
        return ask_by_drop(arguments, {"move": arguments.text("--edge") or arguments.text("TO")})
    to, task = _target_and_task(arguments)
    return ask(arguments, task, arguments.text("--edge") or to)


def is_run_held() -> bool:
    """Whether this is an agent run in a sandbox, from which no journal can be seen."""
    return bool(os.environ.get(_RUN_MARK)) and os.environ.get(_HELD_MARK, _UNHELD) != _UNHELD


def is_inside_run() -> bool:
    return bool(os.environ.get(_RUN_MARK))


def ask(arguments: Arguments, task: Task, want: str, verb: str = "") -> int:
    """Ask for a move by its target, its name or its verb: of a living run it is a claim, else it is made or refused."""
    if (rights := arguments.text("--as")) not in ("", "agent"):
        raise UsageError(f"--as knows only agent, not {rights!r}", next_step="detent move TO --as agent")
    who = "agent" if rights or _is_held() else "person"
    if is_inside_run():
        return _claim(arguments, task, want, verb)
    task, _ = _attended(task)
    if not want and not verb:
        role = task.machine.states[task.memory.snapshot.state].role
        name = person_name() if who == "person" else role
        first_open = Signal(who, name=name, reason=arguments.text("--reason"))
        given, shown = given_with(arguments, task), arguments.text("--tree")
        return show_outcome(arguments, step(task, None, otherwise=first_open, given=given, shown=shown))
    if want == task.memory.snapshot.state:
        return _already_there(arguments, task, want)
    state = task.machine.states[task.memory.snapshot.state]
    signal = Signal(
        who,
        want,
        name=person_name() if who == "person" else state.role,
        reason=arguments.text("--reason"),
        override=arguments.text("--override"),
        verb=verb,
    )
    given, shown = given_with(arguments, task, want), arguments.text("--tree")
    return show_outcome(arguments, step(task, signal, given=given, shown=shown))


def _attended(task: Task) -> tuple[Task, Outcome | None]:
    """The task with every run that has ended written down and decided."""
    if not (task.memory.run or task.memory.ended):
        return task, None
    from detent.runner.ending import attend

    return attend(task)


def open_to_change(arguments: Arguments) -> Task:
    """The task a person wants to change."""
    return _attended(open_task(arguments.text("TASK"), arguments.text("--repo")))[0]


def _claim(arguments: Arguments, task: Task, want: str, verb: str) -> int:
    """Inside an agent run: answered at once, and nothing moves before the run has ended."""
    from detent.errors import StorageError
    from detent.runner.claims import claim

    try:
        outcome = claim(task, own_run(task), want, arguments.text("--reason"), verb)
    except StorageError:  # an agent's own sandbox may keep us from the journal
        return ask_by_drop(arguments, {"verb": verb} if verb else {"move": want})
    return show_outcome(arguments, outcome)


def own_run(task: Task) -> int:
    """The number of the run this process belongs to; it speaks for no other task."""
    if os.environ.get(_RUN_FOLDER, "") != task.native.folder:
        raise RefusedError(f"this agent run works on another task than {task.id}", next_step="keep to your own task")
    number = os.environ.get(_RUN_NUMBER, "")
    return int(number) if number.isdecimal() else 0


def ask_by_drop(arguments: Arguments, request: dict[str, str]) -> int:
    """Where the journal is out of reach, whoever drives the task answers through the drop folder."""
    from detent.faces.words_run import reply_words

    reply = drop_reply(request)
    show(arguments, reply, reply_words(reply))
    # Nothing claimed and nothing refused: what was asked for is so already.
    return 0 if reply.get("claimed") or ("refusal" in reply and reply["refusal"] is None) else 1


def drop_reply(request: dict[str, str]) -> Mapping[str, Any]:
    from detent.runner.drops import ask_by_drop as put_down

    reply = put_down(os.environ.get("DETENT_DROP", ""), request, _DROP_WAIT_S)
    if reply is None:
        raise RefusedError(
            "nobody answers: the engine is not running now",
            next_step="write what you want into the state line of the task's file and end your turn; it is judged then",
        )
    return reply


def _target_and_task(arguments: Arguments) -> tuple[str, Task]:
    """`move TASK` without a target is understood when the word names a task and nothing the machine knows."""
    to, wanted, repo = arguments.text("TO"), arguments.text("TASK"), arguments.text("--repo")
    if to and not wanted:
        try:
            task = open_task("", repo)
        except UsageError as problem:
            try:
                return "", open_task(to, repo)
            except UsageError:
                raise problem from None
        names = {*task.machine.states, *(edge.name for state in task.machine.states.values() for edge in state.edges)}
        if to not in names:
            try:
                return "", open_task(to, repo)
            except UsageError:
                return to, task
        return to, task
    return to, open_task(wanted, repo)


def _already_there(arguments: Arguments, task: Task, state: str) -> int:
    task, notes = tidy(task)
    outcome = Outcome(Wait("it is there already"), task, {}, Signal("person", state), state, notes)
    show(arguments, move_json(outcome), outcome_words(outcome))
    return 0


def show_outcome(arguments: Arguments, outcome: Outcome) -> int:
    outcome = _with_route(outcome)
    show(arguments, move_json(outcome), outcome_words(outcome))
    return 1 if isinstance(outcome.decision, Refuse) else 0


def _with_route(outcome: Outcome) -> Outcome:
    """Who asks for a state that is further than one move is told the way there."""
    refused, want, machine = outcome.decision, outcome.asked.want, outcome.task.machine
    if not isinstance(refused, Refuse) or refused.edge or refused.hint or want not in machine.states:
        return outcome
    from detent.core.explore import route as shortest  # only after such a refusal
    from detent.faces.words_said import route_words

    edges = shortest(machine, outcome.before, want)
    is_told = any((pair.source, pair.target) == (outcome.before, want) for pair in machine.forbidden)
    if not edges or len(edges) < 2 or (is_told and not outcome.asked.override):
        return outcome
    if any(all(any("" not in values for values in way.when.values()) for way in edge.ways) for edge in edges):
        return outcome  # it leads through an interruption and back, which is open only to where it began
    words = route_words(outcome.task, edges, is_override=bool(outcome.asked.override))
    return outcome.replace(decision=refused.replace(hint=words))


def take_route(arguments: Arguments, task: Task, goal: str) -> int:
    """Make open moves towards a state until one is refused; at most once per state, so it ends."""
    from detent.core.explore import route as shortest

    refuse_inside_run("taking a route")
    outcome: Outcome | None = None
    for _ in task.machine.states:
        edges = shortest(task.machine, task.memory.snapshot.state, goal)
        if not edges:
            break
        outcome = step(task, Signal("person", edges[0].name, name=person_name()))
        task = outcome.task
        if not isinstance(outcome.decision, Advance):
            break
        if len(edges) > 1 and not arguments.has("--json"):
            show(arguments, move_json(outcome), outcome_words(outcome))
    if outcome is None:
        state = task.memory.snapshot.state
        raise UsageError(f"no way leads from {state} to {goal}", next_step=f"detent next {task.id}")
    return show_outcome(arguments, outcome)


def prove(arguments: Arguments) -> int:
    from detent.runner.prove import not_well, prove_state

    task = open_to_change(arguments)
    tree, proven = prove_state(task, again=arguments.has("--again"))
    bad = not_well(proven)
    rows = [
        {
            "gate": one.gate,
            "command": one.receipt.command,
            "exit": one.receipt.attempts[-1] if one.receipt.attempts else None,
            "cached": one.cached,
            "log": one.receipt.log,
            "problem": one.receipt.problem,
            "where": one.receipt.where,
            "ok": one not in bad,
        }
        for one in proven
    ]
    lines = [f"tree {tree[:12] or 'not looked at'}"]
    for one in proven:
        result = "ok  " if one not in bad else "bad " if one.before else "red "
        told = one.receipt.problem or (f"exit {one.receipt.attempts[-1]}" if one.receipt.attempts else "not run")
        first = one.receipt.command.splitlines()[0]
        known = (f", {one.receipt.where}" if one.receipt.where else "") + (" (already known)" if one.cached else "")
        lines.append(f"  {result} {first}  {told}{known}\n         {one.receipt.log}")
    if not proven:
        lines.append(f"  no move out of {task.memory.snapshot.state} asks for a command")
    if any(one.cached for one in bad):
        lines.append("  next: mend the tree, or run the red ones again with: detent prove --again")
    show(arguments, {"id": task.id, "tree": tree, "receipts": rows}, "\n".join(lines))
    return 1 if bad else 0


def answer(arguments: Arguments) -> int:
    from detent.runner.people import answer as record_answer

    refuse_inside_run("answering")
    text = arguments.text("TEXT")
    if not text.strip():
        raise UsageError("an answer needs words", next_step='detent answer "what you decide"')
    task = open_to_change(arguments)
    return show_outcome(arguments, record_answer(task, person_name(), text))


def resume(arguments: Arguments) -> int:
    from detent.runner.people import resume as bring_back

    refuse_inside_run("resuming")
    task = open_to_change(arguments)
    return show_outcome(arguments, bring_back(task, person_name(), arguments.text("--reason")))


def amend(arguments: Arguments) -> int:
    from detent.runner.people import amend as accept_edits

    refuse_inside_run("changing what is locked")
    reason = arguments.text("--reason")
    if not reason.strip():
        raise UsageError("amend needs a reason", next_step='detent amend --reason "why the frame changes"')
    task, labels = accept_edits(open_to_change(arguments), person_name(), reason)
    text = f"amended: {', '.join(labels)}\n  earlier proof is old now; next: detent next {task.id}"
    show(arguments, {"id": task.id, "fields": list(labels)}, text)
    return 0
