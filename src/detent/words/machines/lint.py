"""What can be said against a machine without running it: the sentences of `core/lint.py`."""

from __future__ import annotations

from detent.words.message import message


@message
def state_unreached(state: str) -> str:
    return f"state {state}: no move leads there"


@message
def end_has_move(state: str, move: str) -> str:
    return f"state {state}: an end has the move {move}; write it as [[reopen]]"


@message
def no_way_out(state: str) -> str:
    return f"state {state}: no move leads out, and it is not marked as an end"


@message
def reopening_leads_ahead(state: str, move: str) -> str:
    return f"state {state}: the re-opening {move} leads to no earlier state"


@message
def no_end() -> str:
    return "no state is an end, and in none the work may rest"


@message
def move_name_twice(state: str, move: str) -> str:
    return f"state {state}: two moves are called {move}"


@message
def move_named_like_state(state: str, move: str) -> str:
    return f"state {state}: the move {move} is called like another state"


@message
def forbidden_move_exists(source: str, target: str) -> str:
    return f"forbidden {source} -> {target}: the machine has this move"


@message
def engine_needs_gate(source: str, target: str) -> str:
    return f"{source} -> {target}: the engine needs a gate or a spent limit to leave an agent's state"


@message
def after_no_misplaced(source: str, target: str) -> str:
    return (
        f"{source} -> {target}: after_no marks a way that needs a no or a spent limit, asks a person or takes any exit"
    )


@message
def negated_gate_at_entry(source: str, target: str, gate: str) -> str:
    return f"{source} -> {target}: the negated gate {gate} would fire before any run"


@message
def goes_round_sign_off(source: str, target: str, move: str) -> str:
    return f"{source} -> {target}: {move} goes round a sign-off"


@message
def accepts_without_sign_off(source: str, target: str) -> str:
    return f"{source} -> {target}: only a sign-off may accept what does not hold"


@message
def reopening_not_by_person(state: str, move: str) -> str:
    return f"{state}: re-opening {move} is for a person alone"


@message
def gate_unused(gate: str) -> str:
    return f"gate {gate}: no move needs it"


@message
def limit_unused(limit: str) -> str:
    return f"limit {limit}: counted, but no move asks for it"
