"""What a line about a run, a deployment or a setting says otherwise than the rules."""

from __future__ import annotations

from detent.words.message import message


@message
def no_deployment(stage: str, by: str) -> str:
    return f"a deployment is not {stage!r} by {by!r}"


@message
def not_confirmed() -> str:
    return "nobody confirmed these deploy commands"


@message
def begun_too_early() -> str:
    return "it was begun while the end of another one was not known"


@message
def ended_unbegun() -> str:
    return "it ended without having begun"


@message
def takes_back_nothing() -> str:
    return "it takes back what was not deployed"


@message
def rollback_unbegun() -> str:
    return "a rollback ended without having begun"


@message
def run_was_under_way(number: int) -> str:
    return f"agent run #{number} was under way"


@message
def no_run_had_ended() -> str:
    return "no agent run had ended"


@message
def other_exit(code: int | None, signal: int | None) -> str:
    return f"the run's exit.json says code {code}, signal {signal}"


@message
def run_had_not_ended(number: int) -> str:
    return f"agent run #{number} had not ended, or was decided before"


@message
def task_was_elsewhere(said: str, state: str) -> str:
    return f"it says {said}, but the task was in {state}"


@message
def run_was_not_under_way(number: int) -> str:
    return f"agent run #{number} was not under way"


@message
def other_claim(claim: str, accepted: str) -> str:
    return f"it claims {claim!r}, but {accepted!r} was accepted"


@message
def run_had_begun(number: int) -> str:
    return f"agent run #{number} asked for something, so it had begun"


@message
def run_out_of_order(number: int, before: int) -> str:
    return f"agent run #{number} follows #{before}"


@message
def run_still_under_way(number: int) -> str:
    return f"agent run #{number} was still under way"


@message
def task_was_stopped() -> str:
    return "the task was stopped"


@message
def wrong_role(state: str, wanted: str, wanted_access: str, role: str, access: str) -> str:
    return f"{state} wants {wanted} ({wanted_access}), not {role} ({access})"


@message
def no_mode(machine: str, mode: str) -> str:
    return f"{machine} has no mode {mode!r}"


@message
def no_limit(machine: str, name: str, most: object) -> str:
    return f"{machine} has no limit {name!r}, or none of {most!r}"


@message
def would_not_hold(machine: str, rule: str) -> str:
    return f"{machine} does not hold with these limits: {rule}"


@message
def budget_bounds_nothing(part: str, bounds: object) -> str:
    return f"the budget {part} {bounds!r} bounds nothing"


@message
def pack_changed_otherwise() -> str:
    return "it changes the code of a pack as no command does"


@message
def kind_changed_otherwise() -> str:
    return "it changes the kind of the change as no command does"


@message
def writes_other_field() -> str:
    return "it writes another field than that of the task's commands"


@message
def locked_text_changed() -> str:
    return "a locked text was changed by this line"


@message
def label_lacks(label: str, line: str) -> str:
    return f"{label!r} lacks {line!r}"


@message
def refused_other(requested: str, said: str) -> str:
    return f"it was refused {requested or 'nothing'}, the line says it was refused {said or 'nothing'}"
