"""What is wrong with a JSON file that an agent or a person left as proof."""

from __future__ import annotations

from detent.words.message import message


@message
def at(file: str, pointer: str, problem: str) -> str:
    """`pointer`: the place in a JSON file; empty for the file as a whole."""
    return f"{file} {pointer}: {problem}" if pointer else f"{file}: {problem}"


@message
def json_missing(file: str) -> str:
    return f"{file} is missing"


@message
def json_empty(file: str) -> str:
    return f"{file} is empty"


@message
def byte_order_mark() -> str:
    return "it begins with a byte order mark, which JSON does not have"


@message
def json_too_deep() -> str:
    return "it is nested too deeply"


@message
def put_json(file: str) -> str:
    return f"put a plain JSON file at {file}"
