"""The words about agent runs: what happened while a task was driven, and why it rests."""

from __future__ import annotations

from detent.core.values import Advance, Crash, Refuse
from detent.faces.words.history import claim_words
from detent.faces.words.loop import advice_words
from detent.faces.words.screen import copy_words, flat, one_line, outcome_words, refusal_words, way_on_words
from detent.page.runs import EXITS
from detent.runner.run.left_behind import left_words
from detent.store.journal.memory import TALKED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from detent.runner.drive.drive import Happened, Rest
    from detent.runner.task.open import Task
    from detent.runner.tell.inbox import Letter


def happened_words(happened: Happened) -> str:
    if happened.progress is None:
        return _happened_words(happened)
    from detent.faces.words.landing import progress_words  # most of what happens is no proof

    return f"  {progress_words(happened.progress)}"


def _happened_words(happened: Happened) -> str:
    task, outcome = happened.task, happened.outcome
    if happened.line is not None:
        return f"  {claim_words(happened.line)}"
    if happened.kind == "setting_up":
        return f"  setting up: {one_line(happened.said['command'])}"
    if happened.kind == "set_up":
        return f"  set up {happened.said['for']}: {copy_words(happened.said['made_bytes'], happened.said['why'])}"
    if happened.kind == "noted":
        return "\n".join(f"  note: {one_line(note)}" for note in happened.said["notes"])
    if outcome is None:
        run = task.memory.run
        who = run.agent + (f" ({run.model})" if run.model else "")
        verb = "starts" if happened.kind == "started" else "is still under way:"
        talk = ", in a talk with a person" if run.talk else ""
        return f"agent run #{run.run} {verb} {who} as {run.role} in {run.state}{talk}"
    if isinstance(outcome.decision, Refuse):
        return _indented(refusal_words(outcome))
    if isinstance(outcome.decision, Advance):
        # A note about a gate is only for a reader able to act on it; the journal has it in any case.
        lines = outcome_words(outcome).partition("\n  next:")[0].splitlines()
        lines = [line for line in lines if not line.startswith("  note: ")]
        return _indented("\n".join([*lines, *_errors(task, outcome.signal.exit)]))
    return _indented(_unmoved(task, outcome.decision))


def _unmoved(task: Task, decision: object) -> str:
    visit, state = task.memory.visit, task.memory.snapshot.state
    head = f"agent run #{visit.run} {exit_words(visit.exit)}"
    if visit.how == TALKED:  # a person ended it, whatever its program says
        head = f"the talk (agent run #{visit.run}) is over"
    put_back = [one_line(f"put back: {note}") for note in visit.restored]
    put_back += [one_line(f"note: {left}")] if (left := left_words(task.memory.last_run)) else []
    if isinstance(decision, Crash):
        return "\n".join([f"{head}; the task stays in {state}", *put_back, *_errors(task, decision.exit)])
    why = visit.why
    if wanted := _target_of(task, visit.claim):
        refused = f"refused: {state} -> {wanted}"
        # The head says it already, in these words or in others.
        why = one_line(why.removeprefix(refused).removeprefix("refused:").lstrip(": ").removeprefix("is "))
        lines = [one_line(refused), *([f"  why:  {why}"] if why else [])]
        return "\n".join([f"{head}; the task stays in {state}", *put_back, *lines])
    if not why and task.machine.states[state].driver == "person":  # a person called it in and continues
        return "\n".join([f"{head}; it is your turn", *put_back])
    return "\n".join([f"{head} and opened no move" + (f": {one_line(why)}" if why else ""), *put_back])


def _errors(task: Task, exit_name: str) -> list[str]:
    """Where a program says why it failed; one that was ended from outside has nothing to say."""
    number = task.memory.last_run.run
    return [f"  look: detent logs --errors --run {number} {task.id}"] if exit_name == "failed" else []


def _target_of(task: Task, claim: str) -> str:
    """Where the move that was claimed leads; a claim names an edge or a state."""
    edges = task.machine.states[task.memory.snapshot.state].edges
    return next((edge.target for edge in edges if edge.name == claim), claim)


def exit_words(exit_name: str) -> str:
    """The same words as on the evidence page."""
    return EXITS.get(exit_name, exit_name)


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.splitlines())


def goes_on_words(task: Task) -> str:
    """The notice after Ctrl+C while an agent works."""
    head = f"interrupted: agent run #{task.memory.run.run} goes on without this command"
    return f"{head}\n  next: take it up again: detent run {task.id}; or end it: detent stop {task.id}"


def rest_words(rest: Rest) -> str:
    task = rest.task
    state, name = task.memory.snapshot.state, task.id
    used = usage_words(task)
    match rest.why:
        case "done":
            return f"done: {name} is in {state}{used}\n  next: {way_on_words(task)}"
        case "person":
            why = f": {flat(rest.text)}" if rest.text != state else ""
            said = "".join(f"\n  | {line}" for line in rest.said.splitlines())
            return f"needs a person: {name} is in {state}{why}{used}{said}\n  next: {_persons_step(rest)}"
        case "stopped":
            next_step = rest.next_step or way_on_words(task)
            return f"stopped: {name} is in {state}: {flat(rest.text)}{used}\n  next: {next_step}"
        case "quota":
            return f"out of quota: {name} is in {state}; it may go on at {rest.text}{used}\n  next: detent run {name}"
        case _:
            return f"{name} is in {state}: {flat(rest.text)}{used}\n  next: detent run {name}"


def _persons_step(rest: Rest) -> str:
    from detent.runner.tell.inbox import person_command  # asks gates, and few words need it

    return rest.next_step or person_command(rest.task)


def usage_words(task: Task) -> str:
    usage = task.memory.usage
    if not usage.get("runs"):
        return ""
    count = int(usage["runs"])
    cost = f", {usage['cost_usd']:.2f} USD" if usage.get("cost_usd") else ""
    return f" ({count} agent run{'s' if count != 1 else ''}, {usage['seconds']:.0f} s{cost})"


def inbox_words(letters: Sequence[Letter]) -> str:
    if not letters:
        return "nothing waits for you"
    lines = []
    for letter in letters:
        since = f"  since {letter.since}" if letter.since else ""
        advised = f"  ({advice_words(letter.advice)})" if letter.advice else ""
        lines += [f"{letter.id}  {flat(letter.title)}{since}", f"  why:  {flat(letter.why)}{advised}"]
        if letter.proof is not None:
            from detent.runner.tell.proof_summary import proof_rows  # few tasks wait for a word about their tests

            lines += [f"  {label}: {flat(text)}" for label, text in proof_rows(letter.proof)[:1]]
        lines.append(f"  next: {letter.command}")
    return "\n".join(lines)


def reply_words(reply: Mapping[str, Any]) -> str:
    """An answer that came through the drop folder; the same words a command says."""
    if "error" in reply:
        return f"refused: {reply['error']}" + (f"\n  next: {reply['next']}" if reply.get("next") else "")
    if reply.get("claimed"):
        return f"accepted: {reply['from']} -> {reply['leads_to']}: finish now; it is decided when you have ended"
    if "refusal" in reply and reply["refusal"] is None:
        return f"stays in {reply['to']}: it is there already"
    refusal = reply.get("refusal") or {"problem": "nothing moved", "missing": []}
    lines = [f"refused: {flat(refusal['problem'])}"]
    for gap in refusal["missing"]:
        lines.append(f"  why:  {flat(gap['why'])} (gate {gap['gate']})")
        lines += [f"  next: {gap['fix']}"] if gap["fix"] else []
    if not refusal["missing"] and refusal.get("allowed"):
        lines.append(f"  next: it may lead to: {', '.join(refusal['allowed'])}")
    return "\n".join(lines)


def retitled_words(title: str) -> str:
    return f"the task is now: {title}"
