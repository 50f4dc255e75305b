"""The sentence of the error that holds all problems of a machine file."""

from __future__ import annotations

from detent.words.message import message
from detent.words.names import count_of


@message
def problems_in_machine(count: int, where: str) -> tuple[str, str]:
    return (
        f"{count_of(count, 'problem')} in the machine file",
        f"correct the file, then run: detent machine check {where or 'FILE'}",
    )
