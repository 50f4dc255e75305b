"""Writes pieces of TLA+: names, strings, sets, functions, and lists of conditions one below the other."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

# Words of the language that no module may give to something of its own.
_KEYWORDS = frozenset(
    {
        *(
            "ACTION",
            "ASSUME",
            "ASSUMPTION",
            "AXIOM",
            "BY",
            "CASE",
            "CHOOSE",
            "CONSTANT",
            "CONSTANTS",
            "COROLLARY",
            "DEF",
        ),
        *("DEFINE", "DEFS", "DOMAIN", "ELSE", "ENABLED", "EXCEPT", "EXTENDS", "HAVE", "HIDE", "IF", "IN", "INSTANCE"),
        *("LAMBDA", "LEMMA", "LET", "LOCAL", "MODULE", "NEW", "OBVIOUS", "OMITTED", "ONLY", "OTHER", "PICK", "PROOF"),
        *("PROPOSITION", "PROVE", "QED", "RECURSIVE", "STATE", "SUBSET", "SUFFICES", "TAKE", "TEMPORAL", "THEN"),
        *("THEOREM", "UNCHANGED", "UNION", "USE", "VARIABLE", "VARIABLES", "WITH", "WITNESS", "Nat", "BOOLEAN"),
        *("STRING", "TRUE", "FALSE", "Next"),
    }
)


def identifier(name: str) -> str:
    """The name as TLA+ can spell it."""
    made = re.sub(r"[^A-Za-z0-9]+", "_", name).strip("_")
    return made if re.search(r"[A-Za-z]", made) and not re.match("[WS]F_", made) else f"move_{made}"


def words_of(rules: str) -> frozenset[str]:
    """All names that a move can't have because the language or the rules use them."""
    used = re.findall(r"[A-Za-z_]\w*", re.sub(r"\\\*.*", "", rules))
    return frozenset((*_KEYWORDS, *used, *(f"way{number}" for number in range(1, 100))))


def text_of(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
    return f'"{escaped}"'


def names_in(values: Iterable[str]) -> str:
    return "{" + ", ".join(text_of(value) for value in values) + "}"


def lookup(domain: str, values: Mapping[str, str], otherwise: str) -> str:
    """A function by cases."""
    cases = "\n   [] ".join(f"x = {text_of(key)} -> {value}" for key, value in values.items())
    chosen = f"\n CASE {cases}\n   [] OTHER -> {otherwise}" if cases else f" {otherwise}"
    return f"[x \\in {domain} |->{chosen}]"


def define(name: str, formula: str) -> str:
    if "\n" not in formula:
        return f"{name} == {formula}"
    return f"{name} ==\n{indent(formula, 2)}"


def every(parts: Iterable[str]) -> str:
    return _bulleted("/\\", tuple(parts), "TRUE")


def any_of(parts: Iterable[str]) -> str:
    return _bulleted("\\/", tuple(parts), "FALSE")


def quantified(choices: Sequence[str], formula: str, sign: str = "\\E") -> str:
    return f"{sign} {', '.join(choices)} :\n{indent(formula, 2)}"


def beside(head: str, formula: str) -> str:
    """A formula behind its head, with its further lines below its first."""
    return f"{head}{indent(formula, len(head)).lstrip()}"


def indent(text: str, columns: int) -> str:
    return "\n".join(" " * columns + line for line in text.split("\n"))


def _bulleted(bullet: str, parts: Sequence[str], empty: str) -> str:
    """A list of conditions; what is below a bullet stands to its right, which is how TLA+ groups it."""
    if len(parts) < 2:
        return parts[0] if parts else empty
    return "\n".join(beside(f"{bullet} ", part) for part in parts)
