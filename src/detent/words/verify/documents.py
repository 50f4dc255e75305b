"""Why a document is no relation that a machine could be compared with."""

from __future__ import annotations

from detent.words.message import message

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_INSTALL = "pip install 'detent[compare]' (from a clone: pip install '.[compare]')"
_HOW_TO = "see docs/how-to/compare-a-document.md"


@message
def no_statement(number: int, line: str) -> tuple[str, str]:
    return f"line {number} is no statement of a state diagram: {line[:80]}", "correct the diagram"


@message
def fence_open(start: int, last: int) -> str:
    return f"the diagram of line {start} has no closing fence; it was read up to line {last}"


@message
def no_file() -> tuple[str, str]:
    return "there is no such file", "detent machine compare MACHINE FILE"


@message
def too_many_moves(most: int) -> tuple[str, str]:
    return f"the document has more than {most} moves", _HOW_TO


@message
def no_json(problem: Exception) -> tuple[str, str]:
    return f"this relation file is not valid JSON: {problem}", "correct the file"


@message
def about_other_states(source: str) -> str:
    return f"{source} is about other states and was not compared"


@message
def table_about_other_states(line: int) -> str:
    return f"the table of line {line} is about other states and was not compared"


@message
def no_relation(machine: str) -> tuple[str, str]:
    return (
        "this is no relation: it has no TLA+ module, no state diagram, no transition table and no map of "
        f"states that names a state of {machine}"
    ), _HOW_TO


@message
def no_two_states(number: int) -> str:
    return f"line {number} names no two states"


@message
def no_actor(name: str, actors: Iterable[str]) -> str:
    return f"{name!r} is no actor ({', '.join(actors)}), so the actor was not compared"


@message
def written_for_tlc() -> tuple[str, str]:
    return (
        "this module was written for TLC: its actions are situations, and no relation of states",
        "compare what `detent machine export MACHINE` or its `--format mermaid` prints",
    )


@message
def no_tla(row: int, column: int) -> tuple[str, str]:
    return (
        f"this is no valid TLA+: the parser stops in line {row + 1}, column {column + 1}",
        "correct the module; TLC names the fault",
    )


@message
def no_parser() -> tuple[str, str]:
    return "reading TLA+ needs a parser that is not installed", _INSTALL


@message
def comment_ends_early(line: int, column: int, word: str) -> str:
    return (
        f'line {line}, column {column}: "*)" inside the word "{word}" ends the comment too early; '
        f'write "{word[:-1]} )", with one space before the bracket'
    )


@message
def no_state_variable() -> str:
    return "no action of it gives a variable the name of a state, or there is no Next"


@message
def too_many_alternatives() -> str:
    return "its actions stand for too many alternatives"


@message
def no_module(problem: str) -> tuple[str, str]:
    return f"this module is no relation that can be read: {problem}", _HOW_TO


@message
def actions_not_plain(actions: Sequence[str]) -> str:
    return f"these actions do not say plainly where they start and lead: {', '.join(actions[:10])}"


@message
def no_relation_file(problem: str) -> tuple[str, str]:
    return f"this is no relation: {problem}", _HOW_TO


@message
def no_table() -> str:
    return "it is not a table"


@message
def key_missing(key: str) -> str:
    return f"{key!r} is missing or of another kind"


@message
def state_no_text() -> str:
    return "a state is not a text"


@message
def lacks_from_or_to(number: int) -> str:
    return f"transition {number} lacks 'from' or 'to'"


@message
def name_no_text(number: int) -> str:
    return f"transition {number} has a name that is no text"


@message
def no_texts(number: int, key: str) -> str:
    return f"transition {number}: {key!r} is no list of texts"


@message
def unknown_actor(number: int, name: str, actors: Iterable[str]) -> str:
    return f"transition {number}: {name!r} is none of {', '.join(actors)}"


@message
def nested_too_deeply() -> str:
    return "it is nested too deeply, or defined by itself"
