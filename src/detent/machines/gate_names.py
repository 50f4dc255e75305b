"""Asks whether what the gates of a machine name is there: states, roles, registers, and values that can come up at all.

A gate that asks for something misspelt would stay closed for ever, or, worse, be open because it is never found.
"""

from __future__ import annotations

from detent.machines.reading import DEEPEST_GATES, MADE_OF_GATES, REGISTER, ROLE, ROLES, STATES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from detent.core.machine import Gate, Register, Vocabulary

VERDICTS = ("PASS", "FAIL")  # where a gate names no words of its own
_NAMES = {STATES: "state", ROLES: "role", ROLE: "role", REGISTER: "register"}


def gate_problems(
    gates: Mapping[str, Gate],
    vocabulary: Vocabulary,
    names: Mapping[str, Iterable[str]],
    registers: Mapping[str, Register],
    fields: Mapping[str, tuple[str, ...]],
) -> Iterator[str]:
    """`names`: what the machine has, by `state`, `role` and `register`."""
    for gate in gates.values():
        required, optional = vocabulary.checks.get(gate.check, ({}, {}))
        named = {key: _NAMES[kind] for key, kind in {**required, **optional}.items() if kind in _NAMES}
        for key, what in named.items():
            for one in _texts(gate.params.get(key)):
                if one not in names[what]:
                    yield f"gate {gate.name}: unknown {what} {one!r}"
        yield from _values(gate, registers, fields)
    yield from _nested(gates)
    yield from _signals(gates)


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


def _values(gate: Gate, registers: Mapping[str, Register], fields: Mapping[str, tuple[str, ...]]) -> Iterator[str]:
    """A gate asks for a value that what it looks at can have; where nothing is listed, it may be any."""
    asked: list[tuple[str, object, tuple[str, ...]]] = []
    if gate.check == "register_is":
        wanted = {str(gate.params.get("register")): gate.params.get("value"), **_table(gate.params.get("unless"))}
        asked = [(name, value, registers[name].values) for name, value in wanted.items() if name in registers]
        for name in _table(gate.params.get("unless")):
            if name not in registers:
                yield f"gate {gate.name}: unknown register {name!r}"
    elif gate.check == "field_is":
        field = str(gate.params.get("field"))
        asked = [(field, gate.params.get("value"), fields.get(field, ()))]
    elif gate.check == "verdict":
        asked = [("its verdict", gate.params.get("value"), _texts(gate.params.get("words", [*VERDICTS])))]
    for name, value, known in asked:
        if known and value not in known:
            yield f"gate {gate.name}: {name} can't be {value!r}; its values are {', '.join(known)}"


def _table(given: object) -> dict[str, object]:
    return given if isinstance(given, dict) else {}


def _signals(gates: Mapping[str, Gate]) -> Iterator[str]:
    """What keeps a way open as long as nothing is signalled must know the very signals that other gates ask for."""
    asked: dict[str, set[str]] = {}
    for gate in gates.values():
        if gate.check == "signal_is":
            asked.setdefault(str(gate.params.get("file")), set()).update(_texts(gate.params.get("values")))
    for gate in gates.values():
        file, known = str(gate.params.get("file")), _texts(gate.params.get("values"))
        if gate.check != "no_signal" or file not in asked:
            continue
        for name in sorted(asked[file].symmetric_difference(known)):
            yield f"gate {gate.name}: the signal {name!r} is " + (
                "asked for by no other gate" if name in known else "asked for by another gate, and not known here"
            )
