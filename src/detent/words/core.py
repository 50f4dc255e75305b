"""Why a move may not be made and why a task stops: the sentences of `decide` and `runs`."""

from __future__ import annotations

from detent.words.message import message

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


@message
def unknown_state_or_actor(machine: str, state: str, who: str) -> str:
    return f"the machine {machine} has no state {state!r} or no actor {who!r}"


@message
def stopped(why: str) -> str:
    return f"stopped: {why}"


@message
def person_goes_on_first() -> str:
    return "a person must go on first"


@message
def crashes_in_a_row(count: int) -> str:
    return f"{count} crashes in a row"


@message
def not_asked() -> str:
    return "this gate was not asked"


@message
def no_way_out(state: str, who: str) -> str:
    return f"{state} has no way out for {who}"


@message
def move(source: str, target: str) -> str:
    return f"{source} -> {target}"


@message
def only_by(actors: Iterable[str], who: str, verb: str) -> tuple[str, str]:
    """`verb`: what a person says to take the move; empty where no person may."""
    return f"only {' or '.join(actors)} may take this move, not {who}", f"a person runs: detent {verb}" if verb else ""


@message
def other_mode(modes: Iterable[str], mode: str) -> str:
    return f"it belongs to mode {' or '.join(modes)}, the task is in {mode}"


@message
def register_differs(register: str, values: Iterable[str], value: str) -> str:
    return f"{register} must be {' or '.join(name or 'nothing' for name in values)}, it is {value or 'nothing'}"


@message
def limit_reached(limit: str, most: int) -> str:
    return f"{limit} has reached its limit of {most}"


@message
def limit_left(limit: str, used: int, most: int) -> str:
    return f"{limit} is {used} of {most}; this move is for when it is spent"


@message
def acts_after(exit_class: str, who: str, after: Iterable[str]) -> str:
    """`exit_class`: of the last run of this visit; empty where none has ended."""
    ended = f"the last run {exit_class}" if exit_class else "no agent run of this visit has ended"
    return f"{ended}; the {who} acts only after: {', '.join(after)}"


@message
def asked_and_refused(wanted: str) -> str:
    return f"it asked for {wanted} and was refused"


@message
def run_said_no(words: str) -> tuple[str, str]:
    return f"the last agent run said no: {words}", "another run or a person answers"


@message
def reason_missing() -> tuple[str, str]:
    return "going back needs a reason", 'add --reason "why"'


@message
def no_crash(exit_class: str) -> str:
    return f"a run that ended as {exit_class or 'nothing'} is no crash"


@message
def no_agent_to_crash(state: str) -> str:
    return f"{state} has no agent that could crash"


@message
def is_an_end(state: str) -> str:
    return f"{state} is an end"


@message
def no_move_for_engine(state: str) -> str:
    return f"{state} has no move for the engine"


@message
def no_move_called(state: str, verb: str) -> str:
    return f"no move of {state} is called {verb}"


@message
def never_taken(source: str, target: str, why: str) -> str:
    return f"{source} -> {target} may never be taken: {why}"


@message
def option_would_allow(option: str) -> str:
    return f"the option {option!r} would allow it"


@message
def forbidden(source: str, target: str, why: str) -> str:
    return f"{source} -> {target} is forbidden: {why}"


@message
def does_not_lead_to(state: str, target: str) -> str:
    return f"{state} does not lead to {target}"


@message
def starts_elsewhere(edge: str, state: str, moves: Iterable[tuple[str, str]]) -> str:
    places = ", ".join(f"{source} -> {target}" for source, target in moves)
    return f"{edge} does not start in {state}; it leads {places}"


@message
def unknown_state_or_move(machine: str, name: str) -> str:
    return f"the machine {machine} has no state or move {name!r}"


@message
def return_unknown(edge: str) -> str:
    return f"{edge} does not know where to return to"


@message
def runs_changed_nothing(count: int) -> str:
    return f"no material progress: {count} agent run(s) changed nothing"


@message
def same_refusal(times: int, refusal: str) -> str:
    return f"the same refusal after {times} runs: {refusal}"


@message
def runs_used_up(most: int) -> str:
    return f"{most} agent runs since a person last acted"
