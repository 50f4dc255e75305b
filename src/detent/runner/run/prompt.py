"""Words one agent run: the state's own prompt, and a contract made from the machine and the gates as they stand.

It names everything the run is judged by: state, what it may and must not do, the exact files to write, the allowed
moves and what each still needs (`contract.py`), the last refusal, how the last run ended, and what a person said.
"""

from __future__ import annotations

from detent.core.decide import decide, spent
from detent.core.values import Advance, Fact, Signal
from detent.gates.commands import shown_command, standing_runs
from detent.gates.registry import declared
from detent.machines.filing import OUT, TREE_SOURCES
from detent.machines.packs import load
from detent.machines.placeholders import BASE, FIRST, OF, RUN, fill
from detent.runner.run.contract import contract
from detent.runner.run.left_behind import left_words
from detent.runner.step.locks import closed_items, items_of_others, shown_item
from detent.runner.step.look import look
from detent.runner.step.registry import prompting, talking
from detent.runner.tell.failures import standing_failures
from detent.store.journal.events import Moved

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from detent.core.machine import State
    from detent.gates.seen import Seen
    from detent.runner.task.open import Task
    from detent.store.journal.native import Document

_LONGEST_QUOTE = 4000  # of words that the engine did not write
_LONGEST_TALK = 16_000  # of a conversation; the newest turns are kept


def prompt_for(task: Task, state: State, document: Document, tree: str, minutes: float) -> str:
    """The whole prompt of a run in the current state, as the run is to find it."""
    memory = task.memory
    seen = look(task, memory, document, tree)
    added = memory.head.prompts.get(state.role, "")
    parts = [
        f"# {memory.head.title}",
        _who(task, state, minutes),
        task.machine.store.harness.protocol.strip(),
        _state_words(task, state, document),
        *(tell(task, state, seen) for tell in prompting(task)),
        _listed("You may", state.may),
        _listed("You must not", state.must_not),
        _places(task, state.role),
        contract(task, state, seen),
        _proof(task, state, seen),
        _failed(task, seen),
        _quoted("How the task came here", _came(task)),
        _quoted("The last request was refused", _refusal(task)),
        _quoted("How the last run ended", _last_run(task)),
        _quoted("What does not reach the work", left_words(memory.last_run)),
        _said(task, state),
        added.strip(),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _who(task: Task, state: State, minutes: float) -> str:
    visit = task.memory.snapshot.visits.get(state.name, 1)
    again = f" (visit {visit})" if visit > 1 else ""
    return (
        f"You are the {state.role} of task `{task.id}`. The task is in state **{state.name}**{again}. "
        f"Work only inside this state, then end your turn. You have {minutes:g} minutes.{_attempt(task, state)}\n\n"
        "What you say is a claim. Files, git and exit codes decide whether the task moves, "
        "and they are looked at only after you have ended."
    )


def _attempt(task: Task, state: State) -> str:
    """Which attempt at the gate of this phase the run is, where a machine counts failed gates phase by phase."""
    for limit in task.machine.limits.values():
        count = spent(task.machine, task.memory.snapshot, limit.name) if limit.per_group else 0
        if limit.per_group and any(limit.name in way.counts for edge in state.edges for way in edge.ways):
            return f" This is attempt {count_words(count + 1, limit.most)} at the {state.group} gate."
        if count:
            return f" The {state.group} gate failed {count_words(count, limit.most)} times."
    return ""


def _state_words(task: Task, state: State, document: Document) -> str:
    """The state's prompt, or the one for what was counted since, with its placeholders filled."""
    counters = task.memory.snapshot.counters
    text = next((words for limit, words in state.prompt_counted.items() if counters.get(limit, 0)), state.prompt)

    def value_of(name: str) -> str:
        if name == BASE:
            return str(task.memory.head.baseline)
        if name == RUN:
            return str(task.memory.runs + 1)
        if name.startswith(FIRST):
            return _first_open(task, name.removeprefix(FIRST).split(","))
        limit = task.machine.limits.get(name.removesuffix(OF))
        if limit is None:
            return document.value(name)
        return count_words(counters.get(limit.name, 0), limit.most) if name.endswith(OF) else str(counters.get(name, 0))

    return fill(text.strip(), value_of)


def _first_open(task: Task, targets: Sequence[str]) -> str:
    """The first of these states that would be reached if all its proof were there; else the last."""
    facts = {gate: Fact(gate, ok=True) for gate in task.machine.gates}
    for target in targets:
        if isinstance(decide(task.machine, task.memory.snapshot, facts, Signal("agent", target)), Advance):
            return target
    return targets[-1]


def count_words(count: int, most: int) -> str:
    """How often out of how often; a limit that was passed is named as one."""
    return f"{count} of {most}" if count <= most else f"{count} (limit {most})"


def _places(task: Task, role: str) -> str:
    file = task.native.file
    lines = [
        "## Where",
        "- the repository to work on: your current folder (`$DETENT_TREE`)",
        f"- the task folder: `{task.native.folder}` (`$DETENT_TASK_DIR`); `{file}` there holds the state of the task",
        "- what the engine writes, and what is locked, is restored when you change it",
    ]
    owned = [label for label in task.native.wanted_fields(task.memory.snapshot, "") if label != task.native.state_label]
    lines += _filed(task)
    closed = (
        *closed_items(task.machine, task.memory.snapshot),
        *items_of_others(task.machine, task.memory.snapshot, role),
    )
    locked = [shown_item("", item) for item in dict.fromkeys(closed)]
    if owned:
        lines.append(f"- written by the engine only: {', '.join(owned)}")
    if locked:
        lines.append(f"- locked now: {', '.join(locked)}")
    return "\n".join(lines)


def _filed(task: Task) -> list[str]:
    """Where reports are to be written, and what the engine makes itself of the work."""
    files = task.machine.states[task.memory.snapshot.state].files
    out = task.run_folders()["DETENT_OUT"]
    lines = [
        f"- write `{source.removeprefix(OUT)}` into `{out}` (`$DETENT_OUT`); the engine files it as `{place}`"
        for place, source in files.items()
        if source.startswith(OUT)
    ]
    made = [f"`{place}`" for place, source in files.items() if source in TREE_SOURCES]
    return [*lines, f"- made by the engine from your change when you have ended: {', '.join(made)}"] if made else lines


def _proof(task: Task, state: State, seen: Seen) -> str:
    """The commands the task is judged by, in whichever state they are asked for."""
    by_gate = {
        gate.name: [shown_command(run.command.line) for run in standing_runs(gate, seen)]
        for gate in task.machine.gates.values()
    }
    found = [line for lines in by_gate.values() for line in lines]
    deploys = _deploys(task, state, seen)
    if not found and not deploys:
        return ""
    needed = task.machine.parts(gate for edge in state.edges for way in edge.ways for gate in way.needs)
    is_later = not any(by_gate[gate.name] for gate in needed)
    lines = ["## Proof", "The engine runs these itself, in a fresh checkout of your files; each must exit with 0:"]
    lines += ["No move of this state needs them: a later one does."] if is_later and found else []
    return "\n".join([*lines, *(f"- `{line}`" for line in dict.fromkeys(found)), *deploys])


def _deploys(task: Task, state: State, seen: Seen) -> list[str]:
    """The commands that are run for real, where the way on needs them."""
    named = {gate for edge in state.edges for way in edge.ways for gate in way.needs}
    outside = [(gate, declared(gate.check).outside) for gate in task.machine.gates.values() if gate.name in named]
    found = [
        f"- {label}: `{line}`" for gate, shown in outside if shown for label, line in load(shown.lines)(gate, seen)
    ]
    head = "After a person's word the engine runs these in the checkout, with that person's rights; never run them:"
    return ["", head, *found] if found else []


def _failed(task: Task, seen: Seen) -> str:
    """The commands whose last result is red, each with the end of its output: the logs are hidden from a run."""
    lines: list[str] = []
    for name, receipt in standing_failures(task, seen):
        where = "on these files" if receipt.tree == seen.tree else "on earlier files"
        lines += ["", f"`{name}` ({receipt.result}), {where}; its last lines:"]
        lines += [f"> {line}" for line in receipt.said.splitlines() or ["(it wrote nothing)"]]
    return "\n".join(["## What failed", "Secrets are taken out of what is quoted.", *lines]) if lines else ""


def _came(task: Task) -> str:
    """What the move that led here rests on, where its gates found something worth telling."""
    last = next((line for line in reversed(task.store.history()) if isinstance(line, Moved)), None)
    found = [f"- {name}: {fact['note']}" for name, fact in last.facts.items() if fact.get("note")] if last else []
    return "\n".join([f"{last.from_} -> {last.to} ({last.edge})", *found]) if last and found else ""


def _refusal(task: Task) -> str:
    refusal = task.memory.refusal
    if not refusal:
        return ""
    lines = [str(refusal.problem), *(f"- {gap['gate']}: {gap['why']}. {gap['fix']}" for gap in refusal.missing)]
    return "\n".join(lines)


def _last_run(task: Task) -> str:
    last = task.memory.visit
    if not last:
        return ""
    words = f"agent run #{last.run} in this state ended as {last.exit}"
    if last.errors:
        words += f": {last.errors[-1]}"
    if last.restored:
        words += "\n" + "\n".join(f"- {note}" for note in last.restored)
    # A refusal is quoted by itself.
    return f"{words}\n{last.why}" if last.why and not task.memory.refusal else words


def _said(task: Task, state: State) -> str:
    """What was said so far where people and agents talk; elsewhere only a person's last word."""
    if state.name not in task.machine.store.talks_in:
        return _last_word(task)
    lines: list[str] = []
    for turn in reversed([turn for turns in talking(task) for turn in turns(task, task.store.history())]):
        said = f"{turn['role']}: {turn['text']}".strip()
        if sum(map(len, lines)) + len(said) > _LONGEST_TALK:
            lines.append("(what was said before is left out)")
            break
        lines.append(said)
    if not lines:
        return ""
    last = "Answer the person's last words in your last message."
    return "\n".join([_quoted("The conversation so far", "\n".join(reversed(lines)), _LONGEST_TALK), "", last])


def _last_word(task: Task) -> str:
    """What a person said last: an answer, or the words given with a move of theirs; a sign-off may have none."""
    question, text = task.memory.answer.asked, task.memory.answer.text
    answer = f"(asked: {question})\n{text}" if question else text
    since = int(task.memory.answer.seq)
    moves = (line for line in reversed(task.store.history()) if isinstance(line, Moved) and line.by == "person")
    last = next((move for move in moves if move.reason or move.signed), None)
    if last is None or last.seq <= since:
        return _quoted("A person said", answer)
    words = f"(with {last.edge})\n{last.reason or 'no further words'}"
    return "\n\n".join(filter(None, (_quoted("A person said before", answer), _quoted("A person said", words))))


def _listed(title: str, items: Sequence[str]) -> str:
    return "\n".join([f"## {title}", *(f"- {item}" for item in items)]) if items else ""


def _quoted(title: str, text: str, longest: int = _LONGEST_QUOTE) -> str:
    """Quoted words, marked as such, so that they are not read as part of the contract."""
    if not text:
        return ""
    shown = text if len(text) <= longest else text[:longest] + " ..."
    return "\n".join([f"## {title}", *(f"> {line}" for line in shown.splitlines())])
