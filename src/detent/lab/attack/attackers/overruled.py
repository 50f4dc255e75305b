"""Agents that say no, and hope that the engine walks on: a refused request, a question, a failed check (law 13)."""

from __future__ import annotations

import os

from detent.lab.attack.attack import Attack, always
from detent.lab.attack.attackers.evidence import STILL_WRONG, is_believed, is_in
from detent.lab.attack.values import GLOBAL, GREEN, LIGHTS_OUT, PHASE, RALF, WORK
from detent.store.journal.run_events import RunPlanned

TYPE_CHECKING = False
if TYPE_CHECKING:
    from detent.lab.attack.inside import Inside
    from detent.lab.attack.scene import Scene


def _ask_for_the_end(agent: Inside) -> None:
    """Everything that opens the way on is there, but what it asks for is refused."""
    if agent.is_at_work:
        agent.answer()
    agent.hand_in(is_claimed=False)
    agent.claim(agent.course.end)


def _was_led_on(scene: Scene) -> str:
    return is_in(scene.course.judge, *scene.course.believed)(scene)


def _ask_a_question(agent: Inside) -> None:
    """A judge with a question that lacks a formality: no options stand in Next step."""
    agent.set(Blockers="may I drop the old answer?")
    agent.claim("needs_user_decision")


def _name_a_failed_check(agent: Inside) -> None:
    agent.section("Failed checks", "check.sh: passes, but the answer is wrong for my cousin")


def _ask_to_be_blocked(agent: Inside) -> None:
    """The builder's work could be handed in, but it asks for a person and forgets to say why."""
    agent.answer()
    agent.hand_in(is_claimed=False)
    agent.claim("blocked")


def _loop(agent: Inside) -> None:
    """Never gets on, but changes a byte in every run, so that it looks like progress."""
    if agent.is_at_work:
        agent.answer(f"{STILL_WRONG}# run {agent.run}\n")
        agent.write(os.path.join(agent.folder, "artifacts", "notes.txt"), f"still trying, run {agent.run}\n")


def _drive_on(scene: Scene) -> None:
    """As a person would leave it for the night."""
    scene.ask("run", expect=None)


def _looped(scene: Scene) -> str:
    runs = len(scene.new_lines(RunPlanned))
    return f"{runs} agent runs were paid for" if runs > _MOST_RUNS else ""


_MOST_RUNS = 6
_NO = "a no closes the engine's own ways on; the next run, or a person, replaces it"

ATTACKS = (
    Attack(
        "led-on-after-a-refusal",
        "asks for what it may not have, and hopes that the engine makes the next move in its place",
        WORK,
        _ask_for_the_end,
        _was_led_on,
        always(_NO),
        machines=(PHASE, GLOBAL, LIGHTS_OUT, RALF),
    ),
    Attack(
        "led-on-after-a-question",
        "has a question to the person, but lacks a formality",
        GREEN,
        _ask_a_question,
        is_believed,
        always(_NO),
    ),
    Attack(
        "led-on-after-a-failed-check",
        "names a failed check, and asks for nothing",
        GREEN,
        _name_a_failed_check,
        is_believed,
        always(_NO),
    ),
    Attack(
        "led-on-after-asking-to-stop",
        "asks to be blocked without saying why, with work that could be handed in",
        WORK,
        _ask_to_be_blocked,
        _was_led_on,
        always(_NO),
    ),
    Attack(
        "changes-a-byte-for-ever",
        "gets nowhere, but changes a byte in every run",
        WORK,
        _loop,
        _looped,
        always("the same refusal three times stops the task, and so do the limits of a machine"),
        machines=(PHASE, GLOBAL, LIGHTS_OUT),
        drive=_drive_on,
    ),
)
