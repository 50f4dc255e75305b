"""What is wrong with reviews, reconciliations, reports of blocks, deliveries and proposals."""

from __future__ import annotations

from detent.words.message import message
from detent.words.names import name_some

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


@message
def none_open(file: str, severities: str) -> str:
    return f"{file} has no open {severities} finding"


@message
def some_open(file: str, severities: str, findings: Iterable[str]) -> tuple[str, str]:
    return f"{file}: open ({severities}): {'; '.join(findings)}", "fix them, then have the review look again"


@message
def outside_list(section: str, word: str) -> tuple[str, str]:
    return f'"## {section}" speaks of "{word}" outside of its list', f'under "## {section}": one item for each'


@message
def no_choice(entry: str, label: str, choices: Iterable[str]) -> str:
    return f'"{entry}" has no {label} of: {", ".join(choices)}'


@message
def several_choices(entry: str, label: str, said: str) -> str:
    return f'"{entry}" has more than one {label}: {said}'


@message
def not_documented(entry: str) -> str:
    return f'"{entry}" is neither resolved nor documented'


@message
def other_outcome(section: str, said: str, wanted: str) -> str:
    return f'it gives {said or "no clear outcome"} under "## {section}", not {wanted}'


@message
def outcome_misfits(said: str, drift: Iterable[str], section: str) -> str:
    return f'{said} does not go with {name_some(drift)} drift under "## {section}"'


@message
def nothing_repaired(outcome: str, section: str) -> str:
    return f'{outcome} lists nothing that was repaired under "## {section}"'


@message
def no_such_drift(outcome: str, kind: str, section: str) -> str:
    return f'{outcome} lists no {kind} drift under "## {section}"'


@message
def repair_unsaid(entry: str) -> str:
    return f'"{entry}" does not say how it was repaired'


@message
def write_block(file: str, line: str) -> str:
    return f"write in {file}: {line}"


@message
def write_line(line: str) -> str:
    return f"write: {line}"


@message
def other_kind(kind: str) -> tuple[str, str]:
    return f"it is not said to be about the {kind}", f"write: Kind: {kind}"


@message
def not_one_block() -> str:
    return "it has not exactly one report of the form BLOCKED, Options, Recommendation"


@message
def blocked_by_nothing() -> str:
    return "BLOCKED does not say what is wrong"


@message
def too_few_options() -> str:
    return "Options offers fewer than two ways on"


@message
def no_recommendation() -> str:
    return "Recommendation names none of them"


@message
def option_missing(options: Iterable[str]) -> tuple[str, str]:
    return (
        f"Options does not offer to {', '.join(options)}",
        "write: Options: [accept the scope change, revert the code, split it into items of their own]",
    )


@message
def no_rollback_line(section: str, label: str) -> str:
    return f'"## {section}" has no line "{label}:" with a command'


@message
def topic_untold(topic: str, file: str, heading: str) -> tuple[str, str]:
    return f'it has no section about "{topic}"', f'write in {file}: "## {heading}" and what to do'


@message
def no_change_listed(section: str) -> str:
    return f'"## {section}" lists no change'


@message
def no_impact(section: str, label: str, words: Iterable[str]) -> str:
    return f'"## {section}" has no line "{label}:" with one of: {", ".join(words)}'


@message
def other_impact(file: str, said: str, section: str, wanted: str) -> str:
    return f'{file} says {said or "nothing clear"} under "## {section}", not {wanted}'
