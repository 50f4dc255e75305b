"""Commands of people about what waits for them: inbox, approve, reject, cancel, and words such as these."""

from __future__ import annotations

from detent.core.decide import allowed_targets
from detent.core.values import Refuse, Signal, Wait
from detent.errors import UsageError
from detent.faces.cli.caller import person_name, refuse_inside_run
from detent.faces.cli.commands.ask import open_to_change, show_outcome
from detent.faces.cli.output import move_json, progress_teller, proof_json, settings_json, show
from detent.faces.cli.step_options import step_options
from detent.faces.words.done import accepted_words, approved_words, confirmed_words
from detent.faces.words.run import inbox_words
from detent.faces.words.screen import outcome_words
from detent.gates.people import is_word
from detent.runner.step.step import Outcome, step
from detent.runner.task.in_project import choose_active
from detent.runner.task.open import find_project, locate_task, open_task, open_to_give_up
from detent.runner.tell.explain import deploy_word, may_ask, runs_outside
from detent.runner.tell.inbox import inbox as waiting_tasks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from detent.faces.cli.arguments import Arguments
    from detent.packs.lights_out.deploy import Confirmed
    from detent.runner.task.open import Task


def inbox(arguments: Arguments) -> int:
    """All that waits for a person, why, since when, and the one command; exit 0 also when something does."""
    letters = waiting_tasks(find_project(arguments.text("--repo")))
    rows = [
        {
            "id": letter.id,
            "state": letter.state,
            "why": letter.why,
            "since": letter.since,
            "title": letter.title,
            "run": letter.command,
            "advice": letter.advice,
            "proof": proof_json(letter.proof),
        }
        for letter in letters
    ]
    show(arguments, {"waiting": rows}, inbox_words(letters))
    return 0


def approve(arguments: Arguments) -> int:
    """Approve the protected files that were touched, where a move waits for that; then take the move it opens."""
    refuse_inside_run("approve")
    task = open_to_change(arguments)
    state = task.machine.states[task.memory.snapshot.state]
    if arguments.has("--unseen"):
        return _confirmed_unseen(arguments, task)
    if arguments.has("--sealed"):
        return _accepted_sealed(arguments, task)
    if arguments.has("--tests") or arguments.has("--proof"):
        return _accepted(arguments, task)
    if deploy_word(task) and _confirmed(arguments, task):
        return 0
    if not may_ask(task.memory.head, task.machine, state):
        return _by_verb(arguments, "approve")
    from detent.runner.people.people import approve_files

    task, approved = approve_files(task, person_name(), arguments.text("--reason"), arguments.text("--tree"))
    if not approved or any("approve" in edge.verbs for edge in state.edges):
        if approved and not arguments.has("--json"):
            show(arguments, {}, approved_words(approved))
        return _by_verb(arguments, "approve")
    outcome = _opened(arguments, task, arguments.text("--reason"))
    content = {"tree": approved.tree, "files": approved.files}
    show(
        arguments,
        {**move_json(outcome), "approved": content},
        f"{approved_words(approved)}\n{outcome_words(outcome)}",
    )
    return 0


def _accepted(arguments: Arguments, task: Task) -> int:
    """Take a person's word about what the tests prove, then the move that it opens."""
    from detent.runner.people.accept import accept_proof

    word, reason = arguments.text("--proof"), arguments.text("--reason")
    if word and not reason.strip():
        raise UsageError("accepting a weaker proof needs a reason", next_step=f'add --reason "why" to --proof {word}')
    task, found = accept_proof(task, person_name(), reason, word, arguments.text("--tree"))
    if any("approve" in edge.verbs for edge in task.machine.states[task.memory.snapshot.state].edges):
        if not arguments.has("--json"):
            show(arguments, {}, accepted_words(found))
        return _by_verb(arguments, "approve")
    outcome = _opened(arguments, task, reason)
    content = {"word": found.word, "seen": found.seen}
    show(arguments, {**move_json(outcome), "accepted": content}, f"{accepted_words(found)}\n{outcome_words(outcome)}")
    return 0


def _accepted_sealed(arguments: Arguments, task: Task) -> int:
    """Take a person's word that the tree is good although sealed checks did not pass, then the move that it opens."""
    from detent.runner.people.accept import accept_sealed

    reason = arguments.text("--reason")
    if not reason.strip():
        raise UsageError(
            "accepting what sealed checks found needs a reason", next_step='add --reason "why" to --sealed'
        )
    task, found = accept_sealed(task, person_name(), reason, arguments.text("--tree"))
    content = {"sealed": found.sealed_result}
    words = "accepted: this tree and no other, although its sealed checks did not pass"
    if any("approve" in edge.verbs for edge in task.machine.states[task.memory.snapshot.state].edges):
        if not arguments.has("--json"):
            show(arguments, {}, words)
        return _by_verb(arguments, "approve")
    outcome = _opened(arguments, task, reason)
    show(arguments, {**move_json(outcome), "accepted": content}, f"{words}\n{outcome_words(outcome)}")
    return 0


def _confirmed(arguments: Arguments, task: Task) -> bool:
    """Record a person's approval of the deploy commands, if the task waits for it; no command runs here."""
    from detent.packs.lights_out.deploy import confirm

    task, word = confirm(task, person_name(), arguments.text("--reason"), arguments.text("--tree"))
    if word is not None:
        _show_confirmed(arguments, task, word)
    return word is not None


def _confirmed_unseen(arguments: Arguments, task: Task) -> int:
    """Record a person's approval of deploy commands before there is anything to deploy."""
    from detent.packs.lights_out.deploy import confirm_unseen

    task, word = confirm_unseen(task, person_name(), arguments.text("--reason"))
    _show_confirmed(arguments, task, word, is_unseen=True)
    return 0


def _show_confirmed(arguments: Arguments, task: Task, word: Confirmed, *, is_unseen: bool = False) -> None:
    content = {"id": task.id, "confirmed": [list(pair) for pair in word.plan.commands]}
    about = {"tree": word.tree, "unseen": is_unseen, "differs": list(word.differs)}
    is_driven = task.machine.states[task.memory.snapshot.state].driver != "person"
    command = f"detent {'run' if is_driven else 'next'} {task.id}"
    show(arguments, {**content, **about}, confirmed_words(word, command, is_unseen=is_unseen))


def _opened(arguments: Arguments, task: Task, reason: str) -> Outcome:
    """Make the one move that waited for the approval, if nothing else is missing; the approval stands either way."""
    state = task.machine.states[task.memory.snapshot.state]
    waited = [
        edge for edge in state.edges if any(is_word(task.machine, gate) for way in edge.ways for gate in way.needs)
    ]
    signal = Signal("person", waited[0].name, name=person_name(), reason=reason)
    if len(waited) > 1:
        return Outcome(Wait("several moves are nearer now"), task, {}, signal, state.name)
    outcome = step(task, signal, progress=progress_teller(arguments))
    if not isinstance(outcome.decision, Refuse):
        return outcome
    lacking = "; ".join(gap.why for gap in outcome.decision.missing)
    return outcome.replace(decision=Wait(f"{outcome.decision.problem} still lacks: {lacking}"))


def reject(arguments: Arguments) -> int:
    reason = arguments.text("--reason")
    if not reason:
        raise UsageError("reject needs a reason: the next agent run is told", next_step='detent reject --reason "why"')
    return _by_verb(arguments, "reject")


def commit(arguments: Arguments) -> int:
    """The move whose verb it is; its step makes the commit, or records the one that is named."""
    if arguments.has("--sha") and arguments.has("--message"):
        raise UsageError("--sha records a commit that has its message", next_step="leave one of the two out")
    return _by_verb(arguments, "commit")


def cancel(arguments: Arguments) -> int:
    """Ends a living run first: work on a cancelled task is not wanted."""
    refuse_inside_run("cancelling")
    from detent.faces.cli.commands.drive import LONGEST_STOP_S
    from detent.runner.drive.mandate import CANCEL, let_drive, stop_and_wait

    task = open_to_give_up(arguments.text("TASK"), arguments.text("--repo"), "cancel")
    if task.memory.run:
        stop_and_wait(let_drive(task, person_name(), on=False, reason=CANCEL), LONGEST_STOP_S)
    return _by_verb(arguments, "cancel")


def configure(arguments: Arguments) -> int:
    """Say what holds for one task from now on; saying what holds already changes nothing."""
    refuse_inside_run("configuring a task")
    from detent.faces.words.settings import configured_words
    from detent.runner.make.configure import NewSettings
    from detent.runner.make.configure import configure as set_for_task

    wanted = NewSettings(
        usd=arguments.text("--budget"),
        runs=arguments.text("--runs"),
        hours=arguments.text("--hours"),
        limits=arguments.texts("--limit"),
        mode=arguments.text("--mode"),
        agents=arguments.texts("--agent"),
        checks=arguments.texts("--check"),
        kind=arguments.text("--kind"),
    )
    if arguments.has("--pack"):
        if wanted != NewSettings():
            raise UsageError("--pack is set alone", next_step="leave out what else is to be set, and set it before")
        return _take_pack(arguments)
    if wanted == NewSettings():
        raise UsageError("configure needs something to set", next_step="detent configure --help")
    task = open_task(arguments.text("TASK"), arguments.text("--repo"))
    task, is_new = set_for_task(task, wanted, person_name(), arguments.text("--reason"))
    show(
        arguments,
        {"id": task.id, "changed": is_new, "mode": task.memory.snapshot.mode, **settings_json(task)},
        configured_words(task, is_new=is_new),
    )
    return 0


def _take_pack(arguments: Arguments) -> int:
    """The task itself is not opened: with a pack that was changed it can't be."""
    from detent.faces.words.settings import pack_words
    from detent.runner.make.take_pack import take_pack

    project, task_id = locate_task(arguments.text("TASK"), arguments.text("--repo"))
    was, now = take_pack(project, task_id, person_name(), arguments.text("--reason"))
    show(arguments, {"id": task_id, "changed": was != now, "was": was, "pack": now}, pack_words(task_id, was, now))
    return 0


def _by_verb(arguments: Arguments, verb: str) -> int:
    """Take the one open move with this verb; where there are several, they are listed."""
    refuse_inside_run(verb)
    task = open_to_change(arguments)
    edges = [edge for edge in task.machine.states[task.memory.snapshot.state].edges if verb in edge.verbs]
    signal = Signal("person", name=person_name(), reason=arguments.text("--reason"), verb=verb)
    if not edges:
        state = task.memory.snapshot.state
        hint = f"its moves: detent next {task.id}"
        if verb == "cancel":  # not every machine has a state for what was given up
            hint = f"to be rid of the task, journal and all: detent gc {task.id} --yes --journals"
        if verb == "approve" and runs_outside(task.machine):
            hint = f'to confirm the deploy commands ahead: detent approve {task.id} --unseen --reason "why"'
        allowed = allowed_targets(task.machine, task.memory.snapshot)
        refused = Refuse(f"nothing in {state} waits for {verb}", allowed=allowed, hint=hint)
        return show_outcome(arguments, Outcome(refused, task, {}, signal, state))
    wanted = arguments.text("--edge")
    if len(edges) > 1 and not wanted:
        names = ", ".join(f"{edge.name} (to {edge.target})" for edge in edges)
        raise UsageError(f"{verb} may mean {names}", next_step=f"detent {verb} --edge NAME {task.id}")
    signal = signal.replace(want=wanted or edges[0].name)
    options = step_options(arguments, task, signal.want)
    return show_outcome(
        arguments,
        step(task, signal, options=options, shown=arguments.text("--tree"), progress=progress_teller(arguments)),
    )


def use(arguments: Arguments) -> int:
    """Choose the task that is meant when none is named, where its machine keeps a file for that."""
    refuse_inside_run("choosing a task")
    task = open_task(arguments.text("TASK"), arguments.text("--repo"))
    path = choose_active(task)
    if not path:
        raise UsageError(f"{task.machine.name} keeps no such choice", next_step="name the task in each command")
    show(arguments, {"id": task.id, "file": path}, f"chosen: {task.id}")
    return 0
