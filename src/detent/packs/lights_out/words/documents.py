"""What is wrong with any document: its sections, lists, commands and outputs."""

from __future__ import annotations

from detent.words.message import message

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


@message
def no_file(file: str) -> str:
    return f"there is no {file}"


@message
def write_file(file: str, sections: Mapping[str, str]) -> str:
    """`sections`: each that is asked for, with an example."""
    named = " \u00b7 ".join(f'"## {name}": {example}' for name, example in sections.items())
    return f"write {file}{f' with {named}' if named else ''}"


@message
def too_long(most: int) -> tuple[str, str]:
    return f"it is larger than {most} characters", "say it shorter"


@message
def empty() -> str:
    return "it is empty"


@message
def under(section: str, example: str) -> str:
    return f'under "## {section}": {example}'


@message
def no_section(section: str) -> str:
    return f'it has no section "## {section}"'


@message
def section_repeated(section: str, count: int) -> tuple[str, str]:
    return f'it has "## {section}" {count} times, so that none of them counts', f'keep one "## {section}"'


@message
def section_blank(section: str) -> str:
    return f'it has nothing under "## {section}"'


@message
def problems(file: str, found: Sequence[str], more: int) -> str:
    """`more`: how many problems are left out."""
    shown = "; ".join(found) + (f" and {more} more" if more > 0 else "")
    return shown if found[0] == f"there is no {file}" else f"{file}: {shown}"


@message
def topic_missing(section: str, topic: str, example: str) -> tuple[str, str]:
    return f'"## {section}" says nothing to "{topic}"', f'under "## {section}": - {topic}: {example}'


@message
def topic_twice(section: str, topic: str, example: str) -> tuple[str, str]:
    return f'"## {section}" says twice to "{topic}"', f'under "## {section}": - {topic}: {example}'


@message
def no_command(where: str) -> str:
    return f"{where} names no exact command"


@message
def no_output(where: str) -> str:
    return f"{where} has no code block with the exact output"


@message
def lists_nothing(section: str) -> str:
    return f'"## {section}" neither lists anything nor says none'


@message
def asks_elsewhere(section: str) -> str:
    return f'"## {section}" asks something outside of its list'


@message
def leaves_out(section: str, names: Iterable[str]) -> str:
    return f'"## {section}" leaves out {", ".join(names)}'


@message
def heading(section: str) -> str:
    return f'"## {section}"'


@message
def entry_of(name: str, section: str) -> str:
    return f'{name} under "## {section}"'


@message
def no_tier(scope: str) -> tuple[str, str]:
    return f"{scope} settles on no quality tier", "settle the tier in the scope first"


@message
def no_criteria(scope: str) -> tuple[str, str]:
    return f"{scope} names no AC-* it could be held against", "correct the scope first"
