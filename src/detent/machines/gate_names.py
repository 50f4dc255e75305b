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
            for one in (*_texts(gate.params.get(key)), *_table(gate.params.get(key))):
                if one not in names[what]:
                    yield f"gate {gate.name}: unknown {what} {one!r}"
        yield from _values(gate, known, registers, fields)
    yield from _nested(gates)
    yield from _listed(gates, kinds)


def _texts(given: object) -> tuple[str, ...]:
    """The names in a parameter; one of another kind was told as that, and names nothing."""
    found = given if isinstance(given, list) else [given]
    return tuple(one for one in found if isinstance(one, str))


def _nested(gates: Mapping[str, Gate]) -> Iterator[str]:
    """A gate that is made of itself, or of more layers than are looked through, would never open."""
    inner = {name: _texts(gate.params.get("of")) for name, gate in gates.items() if gate.check in MADE_OF_GATES}
    for name in inner:
        layer = {name}
        for _ in range(DEEPEST_GATES):
            layer = {part for one in layer for part in inner[one] if part in inner}
            if name in layer:
                yield f"gate {name}: it is made of itself"
                break
        else:
            if layer:
                yield f"gate {name}: gates are nested too deeply; at most {DEEPEST_GATES} may stand in one another"


def _values(
    gate: Gate, kinds: Mapping[str, str], registers: Mapping[str, Register], fields: Mapping[str, tuple[str, ...]]
) -> Iterator[str]:
    """A gate asks for a value that what it looks at can have; where nothing is listed, it may be any."""
    asked: list[tuple[str, object, tuple[str, ...]]] = []
    value = gate.params.get("value")
    for key, kind in kinds.items():
        given = gate.params.get(key)
        if kind == REGISTERS or (kind == REGISTER and "value" in kinds):
            wanted = _table(given) if kind == REGISTERS else {str(given): value}
            asked += [(name, one, registers[name].values) for name, one in wanted.items() if name in registers]
        elif kind == FIELD and "value" in kinds:
            asked.append((str(given), value, fields.get(str(given), ())))
        elif kind == WORDS:
            asked.append(("its verdict", value, _texts(gate.params.get(key, [*VERDICTS]))))
    for name, one, known in asked:
        if known and one not in known:
            yield f"gate {gate.name}: {name} can't be {one!r}; its values are {', '.join(known)}"


def _table(given: object) -> dict[str, object]:
    return given if isinstance(given, dict) else {}


def _listed(gates: Mapping[str, Gate], kinds: Mapping[str, Mapping[str, str]]) -> Iterator[str]:
    """A gate that lists all that others ask for must know the very values that those ask for in the same file."""
    for gate in gates.values():
        for key, kind in kinds.get(gate.check, {}).items():
            if not kind.startswith(ALL_OF):
                continue
            others = [one for one in gates.values() if one.check == kind.removeprefix(ALL_OF)]
            beside = [one for one in others if one.params.get("file") == gate.params.get("file")]
            asked = {value for one in beside for value in _texts(one.params.get("values"))}
            known = _texts(gate.params.get(key))
            for name in sorted(asked.symmetric_difference(known)) if beside else ():
                yield f"gate {gate.name}: the signal {name!r} is " + (
                    "asked for by no other gate" if name in known else "asked for by another gate, and not known here"
                )
