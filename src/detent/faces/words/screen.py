"""The words on the screen: turns explain objects, refusals and errors into text; no other file words them."""

from __future__ import annotations

from detent.core.machine import STOPPED
from detent.core.values import Advance, Refuse
from detent.faces.words.loop import advice_words, loop_rows, part_words
from detent.faces.words.prepared import prepared_words
from detent.runner.task.asks import led_here
from detent.runner.task.open import waits_at_end
from detent.runner.tell.title import title_now
from detent.store.disk.invisible import invisible_codes
from detent.store.journal.memory import TALKED, Visit
from detent.words.names import name_some, on_one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from detent.core.values import Missing
    from detent.errors import DetentError
    from detent.runner.step.step import Outcome
    from detent.runner.task.open import Task
    from detent.runner.tell.explain import Explain, Move
    from detent.runner.tell.foresee import Foreseen
    from detent.store.journal.memory import Signature


def _in_json(code: int) -> str:
    if code < 0x10000:
        return f"\\u{code:04x}"
    above = code - 0x10000  # JSON has no escape for these but the two halves of UTF-16
    return f"\\u{0xD800 + (above >> 10):04x}\\u{0xDC00 + (above & 0x3FF):04x}"


# Characters that a terminal obeys instead of showing; titles, file names and fields come from outside.
_OBEYED = tuple(code for code in (*range(32), 127, *range(128, 160)) if code not in (9, 10))
_HARMLESS = {code: f"\\x{code:02x}" for code in _OBEYED}
_SHOWN = {**_HARMLESS, **{code: f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}" for code in invisible_codes()}}
_SHOWN_IN_JSON = {code: _in_json(code) for code in (*_OBEYED, *invisible_codes())}


_GUARDS = (
    "by",
    "mode",
    "after",
    "reason",
    "never",
    "run",
    "prepare",
    "confirm",
)  # what closes a move before any gate is asked


_HELD = {"none": "none (agents and commands run with your rights)"}
_LIFE: Mapping[bool | None, str] = {
    True: "works",
    False: "has ended; the next command judges it",
    None: "may be at work: it is not known",
}


DEAD_MARK = " (dead)"


def printable(text: str) -> str:
    return text.translate(_SHOWN)


def harmless(text: str) -> str:
    """Nothing a terminal obeys, and all else as it is: for what programs read too."""
    return text.translate(_HARMLESS)


def printable_json(text: str) -> str:
    """The same for JSON, which stays JSON: such signs stand in its texts alone."""
    return text.translate(_SHOWN_IN_JSON)


def flat(text: str) -> str:
    """Words of others as they stand, on a line that is ours: see `one_line`."""
    return printable(" ".join(text.splitlines()))


def one_line(text: str) -> str:
    """Words of others, on a line that is ours: a line break in them could pass for a line of the engine."""
    return printable(" ".join(text.split()))


def megabytes(size: int) -> str:
    return f"{size / 1e6:.0f} MB" if size >= 1e6 else "less than 1 MB"


def copy_words(size: int, why: str) -> str:
    """About a set-up that was made for one folder alone."""
    return f"{megabytes(size)} of its own, not shared ({flat(why)})"


def question_words(question: str) -> str:
    return f"{printable(question)} [y/N] "


def error_words(error: DetentError) -> str:
    lines = [f"{error.kind}: {error.what}"]
    lines += [f"  - {problem}" for problem in getattr(error, "problems", ())]
    if error.where:
        lines.append(f"  where: {error.where}")
    if error.next_step:
        lines.append(f"  next:  {error.next_step}")
    return "\n".join(lines)


def _why_and_next(missing: Sequence[Missing], indent: str = "  ") -> list[str]:
    lines = []
    for gap in missing:
        named = "" if gap.gate in _GUARDS else f" (gate {gap.gate})"
        lines.append(f"{indent}why:  {flat(gap.why)}{named}")
        if gap.pending:
            lines.append(f"{indent}next: run it: detent prove")
        elif gap.fix:
            lines.append(f"{indent}next: {flat(gap.fix)}")
    return lines


def refusal_words(outcome: Outcome) -> str:
    """Lower-case head, then why, then next; the same object is the JSON."""
    refusal = outcome.decision
    if not isinstance(refusal, Refuse):
        return ""
    lines = [f"refused: {flat(refusal.problem)}", *_why_and_next(refusal.missing)]
    if refusal.hint:
        lines.append(f"  hint: {refusal.hint}")
    if refusal.missing and refusal.edge is not None and all(gap.fix or gap.pending for gap in refusal.missing):
        if not refusal.edge.reopen:  # what leads out of an end is named by its own fix
            from detent.faces.words.again import command_again  # only a refusal needs this

            lines.append(f"  then: {command_again(outcome, refusal)}")
    elif not refusal.missing:
        allowed = ", ".join(refusal.allowed)
        lines.append(f"  next: {f'it may lead to: {allowed}' if allowed else 'nothing leads on from here'}")
    return "\n".join(lines)


def outcome_words(outcome: Outcome) -> str:
    lines = [f"note: {flat(note)}" for note in outcome.notes]
    decision = outcome.decision
    if outcome.claimed and isinstance(decision, Advance):
        lines.append(
            f"accepted: {outcome.before} -> {decision.after.state}: finish now; it is decided when you have ended"
        )
    elif isinstance(decision, Advance):
        lines.append(f"moved: {outcome.before} -> {decision.after.state}  ({decision.edge.name})")
        # A commit holds the tree that was approved, and names what is not part of it; the tree now may be another.
        if decision.edge.sign_off and "commit" not in decision.way.prepare:
            lines += _signed_words(outcome.task.memory.signed[decision.edge.name])
        lines += prepared_words(outcome.task, decision.way.prepare)
        if decision.waived:
            lines.append(f"  waived, and recorded: {', '.join(decision.waived)}")
        hands = [name for name in decision.way.needs if name in outcome.facts and outcome.facts[name].by_hand]
        if hands:
            lines.append(f"  proof written by hand: {', '.join(hands)}")
        lines += [
            f"  note: {flat(fact.note)}"
            for fact in outcome.facts.values()
            if fact.note and fact.gate in decision.way.needs
        ]
        lines.append(f"  next: {way_on_words(outcome.task)}")
    elif isinstance(decision, Refuse):
        lines.append(refusal_words(outcome))
    else:
        lines.append(f"stays in {outcome.task.memory.snapshot.state}: {getattr(decision, 'reason', '')}")
    return "\n".join(lines)


def way_on_words(task: Task) -> str:
    """What a person does next: have an agent run; else look at the moves; at an end, see the work and take it over."""
    memory = task.memory
    if memory.snapshot.registers.get(STOPPED):
        from detent.runner.task.asks import way_on_from_stop  # few tasks are stopped

        return way_on_from_stop(task.machine, memory, task.native, task.id)
    state = task.machine.states[memory.snapshot.state]
    if not state.is_end and state.driver != "person" and not memory.run and not memory.visit.run:
        return f"detent run {task.id}"
    if not state.is_end or waits_at_end(state):
        return f"detent next {task.id}"
    may_land = state.lands and not (memory.head.in_place or memory.landed) and memory.checkpoint.branch
    return f"detent evidence {task.id}" + (f"; then: detent land {task.id}" if may_land else "")


def _signed_words(signed: Signature) -> list[str]:
    return [
        f"  signed: tree {signed.tree[:12]}",
        *(f"          {on_one_line(name)}" for name in sorted(signed.files)),
    ]


def status_words(explained: Explain) -> str:
    task, snapshot = explained.task, explained.snapshot
    head = task.memory.head
    gone = "  (removed by detent gc)" if explained.is_removed else ""
    rows = [
        ("task", f"{task.id}  {title_now(task.machine, task.memory, task.native)}"),
        ("machine", head.machine + (f" ({snapshot.mode})" if snapshot.mode else "")),
        ("state", f"{snapshot.state}  since {task.memory.entered_time}"),
        *([("about", about)] if (about := task.machine.states[snapshot.state].title) else []),
        *([("because", led)] if (led := led_here(task.memory)) else []),
        ("waits for", explained.waiting_for or "nobody: it is over"),
        *((f"asks, {name}", words) for name, words in explained.asks),
        ("folder", head.dir + gone),
        ("tree", head.tree_path + gone),
        *([("branch", branch)] if (branch := _branch_of(task)) else []),
        (
            "sandbox",
            head.sandbox if head.sandbox != "none" else "none (agents and commands run with your rights)",
        ),
    ]
    if explained.touched is not None:
        found = (("to approve", explained.touched.ask), ("changed tests etc.", explained.touched.report))
        rows += [(label, name_some(files)) for label, files in found if files]
    if task.memory.run:
        run = task.memory.run
        stands = "talks with a person" if explained.alive and run.talk else _LIFE[explained.alive]
        rows.append(("agent run", f"#{run.run} {run.agent} as {run.role} {stands}, since {run.time}"))
    if explained.would is not None:
        last = task.memory.run or task.memory.visit
        # A talk was ended by a person, as meant: nothing died.
        label, became = ("talk", "is over") if isinstance(last, Visit) and last.how == TALKED else ("dead", "is gone")
        if problem := task.memory.ended.problem:
            became += f"; {problem}"
        rows.append((label, f"agent run #{last.run} {became}; {_would_words(task.id, explained.would)}"))
    if explained.wake:
        rows.append(("out of quota", f"until {explained.wake}; detent watch goes on then"))
    if used := task.memory.usage:
        cost = f", {used['cost_usd']:.2f} USD" if used.get("cost_usd") else ""
        rows.append(("used", f"{used['runs']:g} agent run(s), {used['seconds']:.0f} s{cost}"))
    is_bound = head.limits or head.budget.get("task")
    if is_bound or head.agents.get("overrides") or head.audit:
        from detent.faces.words.settings import settings_rows  # most tasks have none

        rows += settings_rows(task)
    shown = {**snapshot.registers, **{name: str(count) for name, count in snapshot.counters.items()}}
    shown |= dict(loop_rows(explained.loop))
    rows += [(name, value) for name, value in shown.items() if value]
    rows += [("advice", advice_words(explained.advice))] if explained.advice else []
    rows += _proof_rows(explained)
    lines = [
        f"{label and label + ':':<20} {flat(value)}" for label, value in rows
    ]  # without a label: its last one goes on
    lines += part_words(explained.failed)
    if task.memory.refusal:
        refusal = task.memory.refusal
        lines.append(f"{'last refusal:':<21}{flat(refusal.problem)}")
        lines += [f"{'':<21}{flat(gap['why'])}" for gap in refusal.missing]
    lines += _disorder_words(explained)
    return "\n".join([*lines, f"{'next:':<21}{_next_command(explained)}"])


def _proof_rows(explained: Explain) -> list[tuple[str, str]]:
    rows = _sealed_row(explained.task)
    if explained.proof is None:
        return rows
    from detent.runner.tell.proof_summary import proof_rows, sealed_rows  # most states don't ask what tests prove

    return [*rows, *proof_rows(explained.proof), *sealed_rows(explained.proof)]


def _sealed_row(task: Task) -> list[tuple[str, str]]:
    """How many sealed checks the task has, and whether they are hidden; few have any."""
    if not task.memory.head.sealed:
        return []
    from detent.words import sealed as say

    number = sum(file["kind"] != "data" for file in task.memory.head.sealed)
    return [(say.label(), say.how_many(number, task.memory.head.sandbox))]


def _next_command(explained: Explain) -> str:
    return f"detent history {explained.task.id}" if explained.is_removed else way_on_words(explained.task)


def _would_words(name: str, would: Foreseen) -> str:
    return {
        "moves": f"the next command that writes moves the task to {would.to}",
        "proves": "the next command that writes proves what it left",
        "crash": "the next command that writes counts a crash",
        "stays": "the task stays where it is",
        "respawn": f"another one starts when the task is driven: detent run {name}",
        "stopped": f"another one starts after: detent resume {name}",
        "person": f"another one needs your word: detent respawn {name}",
    }[would.kind]


def _branch_of(task: Task) -> str:
    task_branch = task.memory.prepared.get("branch", {}).get("name", "")
    return task_branch or str(task.memory.checkpoint.branch)


def _disorder_words(explained: Explain) -> list[str]:
    lines = [f"problem: {flat(problem)}" for problem in explained.problems]
    if explained.repair:
        lines.append(f"  next:  {explained.repair}")
    if explained.request:
        file = explained.task.native.file
        lines.append(f"{file} asks for {one_line(explained.request)}; have it judged with: detent move")
    return lines


def next_words(explained: Explain) -> str:
    state = explained.snapshot.state
    lines = [
        f"{explained.task.id} is in {state}, waiting for {explained.waiting_for or 'nobody'}",
        *_disorder_words(explained),
    ]
    lines += part_words(explained.failed)
    lines += [advice_words(explained.advice)] if explained.advice else []
    lines += [f"{label}: {flat(text)}" for label, text in _proof_rows(explained)]
    lines += final_words(explained)
    back = [move for move in explained.moves if move.is_reopen and "redo" in move.verbs]
    for move in explained.moves:
        if move not in back:
            lines += ["", *_move_words(explained.task, move)]
    if back:
        states = ", ".join(move.to for move in back)
        lines += [
            "",
            f"back    {states}  by person",
            f'          run:  detent say "/redo STATE why" {explained.task.id}',
        ]
    return "\n".join(lines)


def final_words(explained: Explain) -> list[str]:
    """What to do where no move is the answer: the task is over, or stopped."""
    state = explained.task.machine.states[explained.snapshot.state]
    lines = [] if explained.moves else [f"{state.name} is final: no move leads on"]
    is_over = state.is_end and not waits_at_end(state)
    if is_over or explained.snapshot.registers.get(STOPPED):
        lines.append(f"  next: {_next_command(explained)}")
    return lines


def _move_words(task: Task, move: Move) -> list[str]:
    mark = "open  " if move.is_open else "closed"
    who = " or ".join(move.by) + (" (sign-off)" if move.sign_off else "")
    lines = [f"{mark}  {move.to}  by {who}"]
    lines += _why_and_next(move.missing, "          ")
    lines += [f"          note: {flat(note)}" for note in move.notes]
    if move.is_open and move.is_reopen and {"resume", "answer"}.isdisjoint(move.verbs):
        lines.append(f'          run:  detent say "/{move.verbs[0] if move.verbs else move.name} why" {task.id}')
    elif move.is_open and move.is_reopen:
        lines.append(f'          run:  detent {move.verbs[0]} {task.id} --reason "why"')
    elif move.is_open:
        lines.append(f"          run:  detent move {move.to} {task.id}")
    return lines


def list_words(rows: Sequence[tuple[str, str, str, str, str, str]]) -> str:
    """Columns: a mark of the chosen one, where one is, id, machine, state, waits for, title."""
    if not rows:
        return 'no tasks here\n  next: detent new phase "what is to be done"'
    table = [("", "TASK", "MACHINE", "STATE", "WAITS FOR", "TITLE"), *rows]
    shown = [row if any(mark for mark, *_ in rows) else row[1:] for row in table]
    widths = [max(len(row[column]) for row in shown) for column in range(len(shown[0]) - 1)]
    return "\n".join(
        "  ".join([*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[-1]]).rstrip()
        for row in shown
    )
