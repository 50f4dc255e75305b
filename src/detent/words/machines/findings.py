"""What exploring a machine found: the rules it breaks, and the steps of a story that no move makes."""

from __future__ import annotations

from detent.words.message import message

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def _way(move: str, way: int) -> str:
    return f"{move} way {way}" if way else move


def _in_mode(mode: str) -> str:
    return f" in mode {mode}" if mode else ""


@message
def never_open_together(source: str, target: str, move: str, way: int, gates: tuple[str, str]) -> str:
    return f"{source} -> {target}: {_way(move, way)} needs {gates[0]} and {gates[1]}, which are never open together"


@message
def hidden_by_earlier(state: str, actor: str, move: str, way: int, earlier: str) -> str:
    return f"{state}: the {actor} never takes {_way(move, way)}: {earlier} is open before it"


@message
def way_never_taken(source: str, target: str, move: str, way: int) -> str:
    return f"{source} -> {target}: way {way} of {move} can never be taken"


@message
def engine_without_move(state: str, mode: str) -> str:
    return f"{state}: the engine must act{_in_mode(mode)}, but has no move of its own"


@message
def engine_waits(state: str, mode: str, gates: Sequence[str]) -> str:
    closed = f"{', '.join(gates)} {'is' if len(gates) == 1 else 'are'} closed"
    return f"{state}: the engine has no move{_in_mode(mode)} while {closed}, and no person is asked"


@message
def property_move_never_taken(rule: str, move: str) -> str:
    return f"property {rule}: {move} is never taken, so it says nothing"


@message
def property_before_itself(rule: str, move: str) -> str:
    return f"property {rule}: {move} would have to come before itself"


@message
def exception_unused(kind: str, name: str) -> str:
    return f"exception {kind}: {name} needs none"


@message
def engine_loop(states: Iterable[str]) -> str:
    return f"the engine alone goes round for ever: {', '.join(states)}"


@message
def limit_bounds_nothing(name: str, limit: str) -> str:
    return f"{name} counts towards {limit}, and the loop goes on without end: {limit} bounds nothing"


@message
def deaths_unbounded(state: str, limit: str) -> str:
    return f"runs that die in {state} again and again are never stopped: no move asks for {limit} there"


@message
def and_so_on() -> str:
    return "and so on, for ever"


@message
def round_sign_off(source: str, target: str, move: str, sign_off: str) -> str:
    return f"{source} -> {target}: {move} goes round the sign-off {sign_off}"


@message
def ungated_end(source: str, target: str, move: str) -> str:
    return f"{source} -> {target}: by {move} an agent ends the task, and no gate is asked"


@message
def delivers_unjudged(move: str, gate: str) -> str:
    return f"{move} delivers files that {gate} may not have judged"


@message
def delivers_unproven(move: str) -> str:
    return f"{move} delivers files that nothing has judged"


@message
def alone(source: str, target: str, move: str, gate: str, beside: str) -> str:
    return f"{source} -> {target}: {move} needs {gate}, but not both {beside} and a gate that runs commands"


@message
def one_way_alone(source: str, target: str, move: str, way: int, gate: str) -> str:
    return (
        f"{source} -> {target}: {_way(move, way)} does not need {gate}, which another way needs, "
        "and no gate of it names what an override waived"
    )


@message
def not_asked_again(rule: str, move: str, gate: str) -> str:
    return f"{rule}: {move} does not ask again for {gate}"


@message
def agent_changes_files(state: str) -> str:
    return f"in {state} its agent changes files"


@message
def edited_by_hand(state: str) -> str:
    return f"in {state} files are edited by hand"
