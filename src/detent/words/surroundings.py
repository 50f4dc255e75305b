"""Why a gate about the surroundings is closed: the sentences about the checkout, the agents and other tasks."""

from __future__ import annotations

from detent.words.message import message

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_MOST_NAMED = 5


@message
def not_looked() -> str:
    return "nobody has looked yet"


@message
def checkout_not_looked_at() -> tuple[str, str]:
    return (
        "whether the checkout is clean is looked at when the move is asked for",
        "ask for the move: it says what is not committed, if anything is",
    )


@message
def not_committed(changes: Sequence[str]) -> str:
    more = len(changes) - _MOST_NAMED
    return f"not committed: {', '.join(changes[:_MOST_NAMED])}{f' and {more} more' if more > 0 else ''}"


@message
def obstacles(found: Iterable[tuple[str, str]]) -> str:
    """`found`: what stands in the way of a baseline, each with what helps."""
    return "; ".join(f"{why}; {fix}" for why, fix in found)


@message
def no_git() -> str:
    return "without git nothing can be reset"


@message
def baseline_unknown() -> str:
    return "it is not known which commit the work begins on"


@message
def no_agent_installed(role: str, agents: Iterable[str]) -> str:
    return f"no agent is installed for {role} ({', '.join(agents) or 'no agent is named'})"


@message
def not_on_path(program: str) -> str:
    return f"{program} is not on PATH"


@message
def no_agent_named(role: str) -> str:
    return f"no agent is named for {role}"


@message
def agents_left(names: Iterable[str]) -> str:
    return f"still to be tried: {', '.join(names)}"


@message
def only_agent(name: str) -> str:
    return f"{name} is the only agent: it is tried again"


@message
def agents_out(reasons: Iterable[tuple[str, str]]) -> str:
    """`reasons`: each agent with why it is out."""
    return "; ".join(f"{name}: {why}" for name, why in reasons)


@message
def out_of_quota(until: str) -> str:
    return f"out of quota until {until}"


@message
def not_installed() -> str:
    return "not installed"


@message
def others_there(tasks: Sequence[tuple[str, str]]) -> str:
    """`tasks`: each with its state."""
    return "; ".join(f"{name} is in {state}" for name, state in tasks[:_MOST_NAMED])


@message
def file_changed(file: str, state: str) -> str:
    return f"{file} was changed since {state} was entered"


@message
def word_not_said(word: str) -> str:
    return f"nobody said --{word}"
