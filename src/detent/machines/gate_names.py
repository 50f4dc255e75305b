"""Asks whether what the gates of a machine name is there: states, roles, registers, and values that can come up at all.

A gate that asks for something misspelt would stay closed for ever, or, worse, be open because it is never found.
"""

from __future__ import annotations

from detent.machines.reading import (
    ALL_OF,
    DEEPEST_GATES,
    FIELD,
    GATE,
    MADE_OF_GATES,
    MOVES,
    REGISTER,
    REGISTERS,
    ROLE,
    ROLES,
    SIGN_OFF,
    STATES,
    WORDS,
)
from detent.words.machines import parse as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from detent.core.machine import Gate, Register, Vocabulary

VERDICTS = ("PASS", "FAIL")  # where a gate names no words of its own
_NAMES = {
    STATES: "state",
    ROLES: "role",
    ROLE: "role",
    REGISTER: "register",
    REGISTERS: "register",
    MOVES: "move",
    SIGN_OFF: "sign-off",
    GATE: "gate",
}


def gate_problems(
    gates: Mapping[str, Gate],
    vocabulary: Vocabulary,
    names: Mapping[str, Iterable[str]],
    registers: Mapping[str, Register],
    fields: Mapping[str, tuple[str, ...]],
) -> Iterator[str]:
    """`names`: what the machine has, by `state`, `role` and `register`."""
    kinds = {name: {**required, **optional} for name, (required, optional) in vocabulary.checks.items()}
    for gate in gates.values():
        known = kinds.get(gate.check, {})
        for key, what in ((key, _NAMES[kind]) for key, kind in known.items() if kind in _NAMES):
            for value in (*_texts(gate.params.get(key)), *_table(gate.params.get(key))):
                if value not in names[what]:
                    yield say.unknown(f"gate {gate.name}", what, value)
        yield from _values(gate, known, registers, fields)
    yield from _nested(gates)
    yield from _listed(gates, kinds)


def _texts(value: object) -> tuple[str, ...]:
    """The names in a parameter; a parameter of another kind is reported as such, and names nothing."""
    found = value if isinstance(value, list) else [value]
    return tuple(text for text in found if isinstance(text, str))


def _nested(gates: Mapping[str, Gate]) -> Iterator[str]:
    """A gate that is made of itself, or of more layers than are looked through, would never open."""
    inner = {name: _texts(gate.params.get("of")) for name, gate in gates.items() if gate.check in MADE_OF_GATES}
    for name in inner:
        layer = {name}
        for _ in range(DEEPEST_GATES):
            layer = {part for outer in layer for part in inner[outer] if part in inner}
            if name in layer:
                yield say.gate_of_itself(name)
                break
        else:
            if layer:
                yield say.gates_too_deep(name, DEEPEST_GATES)


def _values(
    gate: Gate, kinds: Mapping[str, str], registers: Mapping[str, Register], fields: Mapping[str, tuple[str, ...]]
) -> Iterator[str]:
    """A gate asks for a value that the field or register can have; where nothing is listed, any value."""
    choices: list[tuple[str, object, tuple[str, ...]]] = []
    value = gate.params.get("value")
    for key, kind in kinds.items():
        parameter = gate.params.get(key)
        if kind == REGISTERS or (kind == REGISTER and "value" in kinds):
            wanted = _table(parameter) if kind == REGISTERS else {str(parameter): value}
            choices += [(name, choice, registers[name].values) for name, choice in wanted.items() if name in registers]
        elif kind == FIELD and "value" in kinds:
            choices.append((str(parameter), value, fields.get(str(parameter), ())))
        elif kind == WORDS:
            words = _texts(gate.params.get(key, [*VERDICTS]))
            if words and value not in words:
                yield say.gate_verdict(gate.name, value, words)
    for name, choice, known in choices:
        if known and choice not in known:
            yield say.value_not_allowed(f"gate {gate.name}", name, choice, known)


def _table(value: object) -> dict[str, object]:
    return value if isinstance(value, dict) else {}


def _listed(gates: Mapping[str, Gate], kinds: Mapping[str, Mapping[str, str]]) -> Iterator[str]:
    """A gate that lists all that others ask for must know the very values that those ask for in the same file."""
    for gate in gates.values():
        for key, kind in kinds.get(gate.check, {}).items():
            if not kind.startswith(ALL_OF):
                continue
            others = [other for other in gates.values() if other.check == kind.removeprefix(ALL_OF)]
            beside = [other for other in others if other.params.get("file") == gate.params.get("file")]
            others_values = {value for other in beside for value in _texts(other.params.get("values"))}
            known = _texts(gate.params.get(key))
            for name in sorted(others_values.symmetric_difference(known)) if beside else ():
                yield (say.signal_not_asked if name in known else say.signal_unknown)(gate.name, name)
