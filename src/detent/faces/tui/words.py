"""The words of the dashboard about tasks: rows and the chosen one, as plain lines with a tone each.

A tone only underlines what the words say already, so that nothing is lost on a screen without colours.
"""

from __future__ import annotations

import time
from calendar import timegm

from detent.core.machine import RUNS
from detent.core.record import Record
from detent.faces.tui.gather import KINDS, Count, counts
from detent.faces.tui.menu import is_choice, is_provable
from detent.faces.words.loop import passing
from detent.faces.words.screen import error_words, final_words, flat, one_line, printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from detent.faces.tui.gather import Detail, Row
    from detent.faces.tui.supervise import Stand
    from detent.runner.task.loop import Loop
    from detent.runner.tell.explain import Explain, Move

MARKS: Mapping[str, str] = {
    "unreadable": "!",
    "dead": "✗",
    "waits": "‖",
    "unknown": "?",
    "works": "●",
    "due": "→",
    "ready": "○",
    "done": "✓",
}
MEANINGS: Mapping[str, str] = {
    "unreadable": "can't be read",
    "dead": "its agent run is over and led to no move; Enter starts another one",
    "waits": "waits for you",
    "unknown": "an agent run that may be at work: it is not known",
    "works": "an agent works",
    "due": "is driven, and goes on by itself",
    "ready": "could go on, but nobody drives it; s starts it",
    "done": "over",
}
_COUNTED = {
    "unreadable": "unreadable",
    "dead": "dead",
    "waits": "need you",
    "unknown": "unknown",
    "works": "at work",
    "due": "due",
    "ready": "ready",
    "done": "over",
}
# Tones; the style sheet of the dashboard knows them.
HEAD, GOOD, BAD, DIM, PLAIN = "head", "good", "bad", "dim", ""
TONES: Mapping[str, str] = {
    "unreadable": BAD,
    "dead": BAD,
    "waits": HEAD,
    "unknown": BAD,
    "works": GOOD,
    "done": DIM,
}
MOST_OUTPUT_LINES = 40

COLUMNS: Mapping[str, str] = {
    "mark": "",
    "task": "TASK",
    "state": "STATE",
    "round": "ROUND",
    "crash": "CRASH",
    "turn": "TURN",
    "title": "TITLE",
}
NO_TASKS = 'no tasks here yet\n\nbegin one:  detent new "what is to be done" --check "your test command"'
LOOKING = "looking ..."
NOTHING_FOUND = "no task has these words; Esc shows all"
NO_OUTPUT = "(nothing)"


class Line(Record):
    """One line on the screen, before it is wrapped."""

    text: str
    tone: str = PLAIN
    indent: int = 0


def ratio(found: Sequence[Count]) -> str:
    """Of several limits the one that is nearest to its end."""
    if not found:
        return ""
    nearest = max(found, key=lambda count: count.used / max(count.most, 1))
    return f"{nearest.used}/{nearest.most}"


def cells(row: Row) -> dict[str, str]:
    return {
        "mark": MARKS[row.kind],
        "task": row.id,
        "state": row.state,
        "round": ratio(row.rounds),
        "crash": ratio(row.crashes),
        "turn": {"person": "you"}.get(row.turn, row.turn),
        "title": one_line(row.title or row.why),
    }


def counted_words(rows: Iterable[Row]) -> str:
    kinds = [row.kind for row in rows]
    return "  ".join(f"{MARKS[kind]} {kinds.count(kind)} {_COUNTED[kind]}" for kind in KINDS if kind in kinds)


def stand_words(stand: Stand | None) -> str:
    if stand is None:
        return ""
    match stand.where:
        case "here":
            return "driving"
        case "elsewhere":
            return f"watched by pid {stand.pid}" if stand.pid else "watched by another detent"
        case _:
            return f"not driving: {stand.why}"


def age_words(since: str, now_s: float) -> str:
    """How long ago a time of the journal is."""
    try:
        seconds = max(0, int(now_s - timegm(time.strptime(since, "%Y-%m-%dT%H:%M:%SZ"))))
    except ValueError:
        return ""
    for size, word in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds // size} {word}"
    return "just now"


def detail_lines(row: Row, detail: Detail | None, now_s: float) -> list[Line]:
    """The chosen task: what it waits for, why each move is open or not, and what its agent said last."""
    lines = [Line(f"{row.id}  {one_line(row.title)}", HEAD)]
    if detail is None or detail.id != row.id:
        return [*lines, Line("...", DIM)]
    if detail.explained is None:
        why = error_words(detail.problem) if detail.problem else row.why
        return [*lines, *(Line(printable(line), BAD) for line in why.splitlines())]
    lines += _standing(row, detail.explained, now_s)
    lines += _asked_lines(row)
    lines += _disorder_lines(detail.explained)
    lines += _moves_lines(detail.explained)
    return [*lines, *_output_lines(detail)]


def menu_head(row: Row, explained: Explain, now_s: float) -> list[Line]:
    """What stands above a menu: the task, its state and its counters."""
    return [Line(f"{row.id}  {one_line(row.title)}", HEAD), *_standing(row, explained, now_s)]


def _standing(row: Row, explained: Explain, now_s: float) -> list[Line]:
    memory = explained.task.memory
    since = f" for {age}" if (age := age_words(row.since, now_s)) not in ("", "just now") else ""
    mode = f" ({explained.snapshot.mode})" if explained.snapshot.mode else ""
    waits = (
        f", waits for {explained.waiting_for}" if explained.waiting_for and not row.why else ""
    )  # else it is asked below
    stands = Line(f"{MARKS[row.kind]} {row.state}{since}, {row.machine}{mode}{waits}", TONES.get(row.kind, ""))
    rounds, crashes = counts(explained.task.machine, explained.snapshot)
    runs = Count(RUNS, explained.snapshot.counters.get(RUNS, 0), explained.task.machine.limits[RUNS].most)
    parts = [f"{count.name} {count.used}/{count.most}" for count in (*rounds, *crashes, runs)]
    if used := memory.usage:
        cost = f", {used['cost_usd']:.2f} USD" if used.get("cost_usd") else ""
        parts.append(f"used {used['seconds']:.0f} s{cost}")
    last = memory.run or memory.visit
    if agent := last.agent:
        parts.append(agent + (f" {last.model}" if last.model else ""))
    parts += _loop_parts(explained.loop, with_agent=not agent)
    parts.append(f"sandbox {memory.head.sandbox}")
    return [stands, Line(printable("  ".join(parts)), DIM)]


def _loop_parts(loop: Loop | None, *, with_agent: bool) -> list[str]:
    """The rest of a loop of agent runs besides its count: the agent of the last run, and the verified claims."""
    if loop is None:
        return []
    parts = [loop.agent] if with_agent and loop.agent else []
    if loop.criteria:
        parts.append(f"criteria {passing(loop.criteria)}/{len(loop.criteria)}")
    return parts


def _asked_lines(row: Row) -> list[Line]:
    why = row.why or (MEANINGS["dead"] if row.kind == "dead" else "")
    lines = [Line(f"needs you: {one_line(why)}", BAD)] if why else []
    return lines + ([Line(f"next: {one_line(row.command)}", PLAIN, 2)] if row.command else [])


def _disorder_lines(explained: Explain) -> list[Line]:
    lines = [Line(f"problem: {flat(problem)}", BAD) for problem in explained.problems]
    if explained.repair:
        lines.append(Line(f"next: {flat(explained.repair)}", PLAIN, 2))
    if explained.request:
        lines.append(
            Line(f"{explained.task.native.file} asks for {one_line(explained.request)}; judged with: detent move")
        )
    if refusal := explained.task.memory.refusal:
        lines.append(Line(f"last refusal: {flat(refusal.problem)}"))
        lines += [Line(flat(gap["why"]), DIM, 2) for gap in refusal.missing]
    return lines


def _moves_lines(explained: Explain) -> list[Line]:
    run = explained.task.memory.run
    if run and not explained.is_dead:
        names = ", ".join(move.to for move in explained.moves if is_choice(move))
        return [Line(f"agent run #{run.run} is at work; judged when it has ended: {names}")]
    if not explained.moves:
        return [Line(line.lstrip(), DIM, len(line) - len(line.lstrip())) for line in final_words(explained)]
    ordered = sorted(filter(is_choice, explained.moves), key=lambda move: not move.is_open)
    return [line for move in ordered for line in _move_lines(move)]


def _move_lines(move: Move) -> list[Line]:
    who = " or ".join(move.by) + (" (sign-off)" if move.sign_off else "")
    lines = [Line(f"{openness(move)}  {move.to}  by {who}", GOOD if move.is_open else PLAIN)]
    if move.passed:
        lines.append(Line(f"✓ {', '.join(move.passed)}", DIM, 2))
    return lines + missing_lines(move)


def openness(move: Move) -> str:
    return "open  " if move.is_open else "unproven" if is_provable(move) else "closed"


def missing_lines(move: Move) -> list[Line]:
    """What is missing, each with what to do about it."""
    lines = []
    for gap in move.missing:
        lines.append(Line(f"✗ {gap.gate}: {flat(gap.why)}", PLAIN, 2))
        fix = "p runs it (detent prove)" if gap.pending else gap.fix
        lines += [Line(f"next: {flat(fix)}", DIM, 4)] if fix else []
    return lines + [Line(f"note: {flat(note)}", DIM, 2) for note in move.notes]


def _output_lines(detail: Detail) -> list[Line]:
    if not detail.run:
        return []
    said = (detail.usage.last_text or detail.complaints).rstrip()
    head = "said last" if detail.usage.last_text or not said else "complained"
    found = [Line(printable(line.expandtabs()), PLAIN, 2) for line in said.splitlines()[-MOST_OUTPUT_LINES:]]
    return [Line(f"agent run #{detail.run} {head}:", HEAD), *(found or [Line(NO_OUTPUT, DIM, 2)])]


def searched(row: Row) -> str:
    """Where the filter looks for its words."""
    return " ".join((row.id, row.title, row.state, row.machine, row.turn, MEANINGS[row.kind])).lower()
