"""What can go wrong with a machine, and the story that leads there: the sentences of `core/explore.py`."""

from __future__ import annotations

from detent.words.message import message

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


@message
def too_many_snapshots(most: int) -> str:
    return f"more than {most} snapshots"


@message
def limits_counted(limits: Iterable[tuple[str, int]]) -> str:
    """`limits`: each with the number it is counted up to."""
    return "it counts: " + ", ".join(f"{name} up to {cap}" for name, cap in limits)


@message
def move_never_taken(move: str) -> str:
    return f"the move {move} can never be taken"


@message
def gate_closed(move: str) -> str:
    return f"{move} was taken with a gate closed"


@message
def never_was_taken(move: str) -> str:
    return f"{move} may never be taken and was"


@message
def sign_off_taken(who: str, move: str, waived: Iterable[str]) -> str:
    gates = ", ".join(waived)
    return f"{who} took the sign-off {move}{f' with {gates} waived' if gates else ''}"


@message
def property_broken(rule: str, then: str, first: Iterable[str]) -> str:
    return f"{rule}: {then} without {' or '.join(first)}"


@message
def engine_overruled_no(move: str) -> str:
    return f"the engine took {move} after a run that said no"


@message
def finished_after_no(move: str) -> str:
    return f"{move} finishes the work after a run that said no"


@message
def dead_end() -> str:
    return "no end can be reached any more"


@message
def last_move(who: str, source: str, target: str, move: str) -> str:
    return f"{who}: {source} -> {target} ({move})"


@message
def start(state: str) -> str:
    return f"start in {state}"


@message
def mode_switched(mode: str, state: str) -> str:
    return f"person: switches the mode to {mode} in {state}"


@message
def run_ended(state: str, exit_class: str) -> str:
    return f"in {state} a run ends as {exit_class}"


@message
def move_made(
    who: str, source: str, target: str, move: str, open_gates: Iterable[str], exit_class: str, *, said_no: bool
) -> str:
    """`exit_class`: how the last run of the visit ended; empty where none did."""
    run = f"after a run that ended as {exit_class}{' and said no' if said_no else ''}, " if exit_class else ""
    gates = ", ".join(open_gates)
    return f"{run}{who}: {source} -> {target} ({move}){f' with {gates}' if gates else ''}"
