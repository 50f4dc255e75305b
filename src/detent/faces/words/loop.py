"""The words about loops and menus: what a person may choose, how far a loop has come, why it is stuck."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from detent.packs.ralf.diagnose import Diagnosis
    from detent.runner.task.loop import Loop
    from detent.runner.task.open import Task
    from detent.runner.tell.menu import Choice

_VIEWS = {"diagnosis": "diagnose"}
_NARROWEST = 13  # the words of a menu stand below each other
LOOK_ONLY = "look at it, nothing moves"
_MOST_SAID = 20  # lines of a run's last words


def menu_words(task: Task, choices: Sequence[Choice], loop: Loop | None) -> str:
    state = task.machine.states[task.memory.snapshot.state]
    lines = [f"{task.id} is in {state.name}" + (f": {state.title}" if state.title else "")]
    lines += [f"  {label}: {value}" for label, value in loop_rows(loop)]
    if not choices:
        lines.append(f"  nothing is yours to choose here; its moves: detent next {task.id}")
    words = [view_word(choice.word) for choice in choices]
    width = max([_NARROWEST, *(len(word) + 1 for word in words)])  # a move without a word goes by its long name
    for choice, word in zip(choices, words, strict=True):
        key = f"[{choice.key}]" if choice.key else "   "
        leads = f"-> {choice.to}" if choice.to else f"({LOOK_ONLY})"
        closed = f"  closed: {choice.why}" if not choice.is_open else f"  asks: {choice.asks}" if choice.asks else ""
        lines.append(f"  {key} {word:<{width}}{leads}{closed}")
    if not choices:
        lines.append(f"  nothing here is yours to choose; what leads on: detent next {task.id}")
    return "\n".join(lines)


def view_word(view: str) -> str:
    """What looking at something is called in a menu."""
    return _VIEWS.get(view, view)


def reply_said_words(role: str, exit_class: str, text: str) -> str:
    """What an agent answered in a conversation; without words, how its run ended."""
    return f"{role}: {text}" if text.strip() else f"{role} said nothing (its run {exit_class})"


def ask_choice_words() -> str:
    return "choose (Enter: nothing): "


def advice_words(verb: str) -> str:
    """What a machine advises a person to do; the person still does it, or not."""
    return f"Recommend {verb.capitalize()} (its proof is there; you decide)"


def loop_rows(loop: Loop | None) -> list[tuple[str, str]]:
    """How far a loop has come, as rows for status and menus; nothing before its first run."""
    if loop is None or not (loop.used or loop.agent):
        return []
    rows = [(loop.limit, f"{loop.used} of {loop.most}")]
    rows += [("model", loop.agent)] if loop.agent else []
    if loop.criteria:
        unjudged = sum(ok is None for _, ok, _ in loop.criteria)
        more = f", {unjudged} not judged" if unjudged else ""
        rows.append(("criteria", f"{passing(loop.criteria)} of {len(loop.criteria)} passing{more}, as last verified"))
    return rows


def passing(parts: Sequence[tuple[str, bool | None, str]]) -> int:
    return sum(ok is True for _, ok, _ in parts)


def part_words(parts: Sequence[tuple[str, bool | None, str]]) -> list[str]:
    """Each part of an answer on a line of its own."""
    marks = {True: "ok    ", False: "failed", None: "open  "}
    shown = ((f"{marks[ok]}  {label}", f": {why}" if why and not ok else "") for label, ok, why in parts)
    return [f"  {' '.join(f'{label}{why}'.splitlines())}" for label, why in shown]


def diagnosis_words(task: Task, found: Diagnosis) -> str:
    lines = [f"{task.id}: why it is in {task.memory.snapshot.state}"]
    lines.append(f"  spec:       {found.spec or 'none'}")
    lines.append(f"  {found.loop.limit + 's:':<12}{found.loop.used} of {found.loop.most}, {found.total} in all")
    if found.why:
        lines.append(f"  ended by:   {found.why}")
    lines.append(
        "criteria, as last verified:" if found.loop.criteria else "criteria: never verified, no run made the promise"
    )
    lines += part_words(found.loop.criteria)
    if found.closest_run:
        lines.append(
            f"nearest to success: agent run #{found.closest_run}, {found.closest_passed} criteria passed; it said:"
        )
        lines += [f"  | {line}" for line in found.closest_said.splitlines()[-_MOST_SAID:]]
    if found.has_stat:
        lines.append("changed since the baseline:" if found.stat.strip() else "nothing differs from the baseline")
    else:
        lines.append(f"no checkpoint was made here; what differs from the baseline: detent diff {task.id}")
    lines += [f"  {line}" for line in found.stat.rstrip().splitlines()]
    return "\n".join([*lines, f"next: detent choose {task.id}"])
