"""Translates a machine into a TLA+ module for TLC, so that another program checks what `machine check` claims.

It is written from the machine's data and the rules in the docstring of `core/decide.py`, never from the explored graph:
one action for each move, one for each way that a crash may take, one for a run that ends and opens nothing, one for a
switch of the mode. Every gate is free: open or closed whenever it is asked. Files, trees and effects are no part of it.
"""

from __future__ import annotations

import re

from detent.core.machine import ANY_EXIT, CRASH_CLASSES, CRASHES, ENTRY, EXIT_CLASSES, RUNS, Edge, Machine, State, Way
from detent.core.record import Record
from detent.verify.tla.rules import RULES, WRITTEN_BY
from detent.verify.tla.text import (
    any_of,
    beside,
    define,
    every,
    identifier,
    indent,
    lookup,
    names_in,
    quantified,
    text_of,
    words_of,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

ASKED = "_asked"  # the suffix of a move's inner action, which names the asker as well


class Translation(Record):
    """A module with the configuration that TLC reads beside it."""

    module: str  # both files are called so
    text: str
    config: str


def export_tla(machine: Machine) -> Translation:
    return _Translator(machine).run()


def action_names(machine: Machine) -> dict[tuple[str, str], str]:
    """The TLA+ name of each move that may be taken, by its source and its own name; no name is used twice."""
    edges = [edge for state in machine.states.values() for edge in state.edges if not edge.never]
    names: dict[tuple[str, str], str] = {}
    taken = set(words_of(RULES))
    for edge in edges:
        is_shared = any(other.name == edge.name and other.source != edge.source for other in edges)
        wanted = found = identifier(f"{edge.name}_from_{edge.source}" if is_shared else edge.name)
        number = 2
        while found in taken or f"{found}{ASKED}" in taken:
            found, number = f"{wanted}_{number}", number + 1
        names[edge.source, edge.name] = found
        taken |= {found, f"{found}{ASKED}"}
    return names


class _Translator:
    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.names = action_names(machine)
        self.next: list[str] = []
        self.invariants: list[str] = []

    def run(self) -> Translation:
        name = identifier("".join(part.capitalize() for part in re.split(r"[^A-Za-z0-9]+", self.machine.name)))
        head = f"---- MODULE {name} ----\n\\* {WRITTEN_BY} {self.machine.name} --format tla"
        body = [*self.data(), RULES, *self.actions(), *self.next_step(), *self.properties()]
        config = ["INIT Init", "NEXT Next", *(f"INVARIANT {invariant}" for invariant in self.invariants)]
        text = "\n".join([head, "EXTENDS Naturals", "", *body, "====", ""])
        return Translation(name, text, "\n".join([*config, ""]))

    def data(self) -> Iterator[str]:
        """The constants of the machine."""
        machine, states = self.machine, self.machine.states.values()
        limits = [limit for limit in machine.limits.values() if limit.name != RUNS]
        yield define("States", names_in(machine.states))
        yield define("InitialState", text_of(machine.initial))
        yield r"\* The engine may leave these states before an agent run has ended there."
        yield define("GoesOn", names_in(state.name for state in states if _goes_on(state)))
        yield define(
            "Group", lookup("States", {state.name: text_of(state.group) for state in states if state.group}, '""')
        )
        yield define("Modes", names_in(machine.modes or ("",)))
        yield r"\* In these states a person may switch the mode."
        open_ends = {state.name for state in states if not state.is_end or any(edge.reopen for edge in state.edges)}
        yield define("Switches", names_in(name for name in machine.states if name in open_ends))
        yield define("Limits", names_in(limit.name for limit in limits))
        yield define("Most", lookup("Limits", {limit.name: str(limit.most) for limit in limits}, "0"))
        yield define("Cap", lookup("Limits", {limit.name: str(limit.cap) for limit in limits}, "0"))
        yield define("PerGroup", names_in(limit.name for limit in limits if limit.per_group))
        yield define("ResetAlways", names_in([CRASHES, *(limit.name for limit in limits if limit.resets_always)]))
        registers = machine.registers.values()
        yield define("Registers", names_in(machine.registers))
        yield define(
            "Start",
            lookup(
                "Registers", {register.name: text_of(register.start) for register in registers if register.start}, '""'
            ),
        )
        rules = machine.properties
        yield define("Properties", names_in(rule.name for rule in rules))
        yield define("First", lookup("Properties", {rule.name: names_in(rule.first) for rule in rules}, "{}"))
        yield define("Since", lookup("Properties", {rule.name: names_in(rule.since) for rule in rules}, "{}"))

    def actions(self) -> Iterator[str]:
        for state in self.machine.states.values():
            yield f"\\* ---- {state.name}"
            for edge in state.edges:
                if not edge.never:
                    yield from self.move(state, edge)
            if state.can_crash():
                yield from self.crashes(state)
            if state.counts_run:
                counted, group = (
                    names_in(counter for counter in state.counts_run if counter != RUNS),
                    text_of(state.group),
                )
                over = f"RunOver(Counted(count, group, {counted}, {group}), Grouped(group, {counted}, {group}))"
                yield from self.action(identifier(f"Run_ends_in_{state.name}"), every([self.here(state), over]))

    def action(self, name: str, formula: str) -> Iterator[str]:
        self.next.append(name)
        yield from (define(name, formula), "")

    def here(self, state: State) -> str:
        return f"state = {text_of(state.name)} /\\ ~stopped"

    def move(self, state: State, edge: Edge) -> Iterator[str]:
        """A move for any asker: its first way with nothing missing is taken."""
        name = self.names[edge.source, edge.name]
        here = f"state = {text_of(state.name)} /\\ MayAsk(who, ended, said)"
        takes = [self.take(edge, way, "count, group, who, Left(who, ended, said)") for way in edge.ways]
        if len(edge.ways) == 1:
            body = [here, *self.request_guards(state, edge.ways[0]), *takes]
        else:
            ways = [every(self.request_guards(state, way)) for way in edge.ways]
            chosen = "\n".join(beside(f"way{number} == ", way) for number, way in enumerate(ways, 1))
            firsts = [
                " /\\ ".join([f"way{at}", *(f"~way{before}" for before in range(1, at))])
                for at, _ in enumerate(ways, 1)
            ]
            taken = any_of(every(pair) for pair in zip(firsts, takes, strict=True))
            body = [here, f"{beside('LET ', chosen)}\n{beside('IN  ', taken)}"]
        action = self.request_action(edge)
        yield define(action, every(body))
        yield from self.action(name, quantified(["who \\in Askers", *self.circumstances(state, edge)], action))

    def circumstances(self, state: State, edge: Edge) -> list[str]:
        """What else a move may depend on: how the last run ended, what it said, which gates are open."""
        ended = {ENTRY, *((EXIT_CLASSES[0],) if "agent" in edge.by() else ())}
        if state.role:
            ended |= {name for way in edge.ways if "engine" in way.by for name in way.after}
        said = ("", "asked", *(("gate", "both") if state.no else ()))
        return [f"ended \\in {names_in(sorted(ended))}", f"said \\in {names_in(said)}", _open(edge.ways)]

    def request_guards(self, state: State, way: Way) -> Iterator[str]:
        yield f"Holds(who, {names_in(way.by)})"
        yield from self.guards(way, "count, group", text_of(state.group))
        # A way marked `given` also asks whose text it is. No situation holds that, so any text may be a person's.
        if "engine" in way.by and state.role:
            yield f'who = "engine" => ended \\in {names_in(way.after)}'
        if "engine" in way.by:
            yield f'who = "engine" => MayFollowNo(ended, said, {text_of(way.after_no)})'

    def crash_guards(self, way: Way, counted: str, group: str) -> Iterator[str]:
        yield from self.guards(way, counted, group)
        if set(way.after) & set(CRASH_CLASSES):
            yield f"ended \\in {names_in(way.after)}"

    def guards(self, way: Way, counted: str, group: str) -> Iterator[str]:
        """The reasons that close a way to any asker."""
        if way.modes:
            yield f"mode \\in {names_in(way.modes)}"
        for register, values in way.when.items():
            yield f"register[{text_of(register)}] \\in {names_in(values)}"
        for limit, sign in ((way.under, "<"), (way.spent, ">=")):
            if limit:
                yield f"Spent({counted}, {text_of(limit)}, {group}) {sign} Most[{text_of(limit)}]"
        if way.needs:
            yield f"{names_in(way.needs)} \\subseteq open"

    def request_action(self, edge: Edge, who: str = "") -> str:
        return f"{self.names[edge.source, edge.name]}{ASKED}({text_of(who) if who else 'who'}, ended, said, open)"

    def take(self, edge: Edge, way: Way, before: str) -> str:
        changes = {name: edge.source if value == "{from}" else value for name, value in way.sets.items()}
        changed = ", ".join(f"![{text_of(name)}] = {text_of(value)}" for name, value in changes.items())
        register = f"[register EXCEPT {changed}]" if changed else "register"
        moved = f"{text_of(edge.name)}, {_target(edge)}"
        return f"Take({before}, {moved}, {names_in(way.resets)}, {names_in(way.counts)}, {register})"

    def crashes(self, state: State) -> Iterator[str]:
        """A crash is counted first; then it takes the first open way of any move, or the task stays."""
        pairs = [(edge, way) for edge in state.edges if not (edge.never or edge.reopen) for way in edge.ways]
        pairs = [(edge, way) for edge, way in pairs if "crash" in way.by]
        tag, group = identifier(f"Crash_in_{state.name}"), text_of(state.group)
        counts = names_in(name for name in state.counts_crash if name != RUNS)
        yield define(f"{tag}_count", f"Counted(count, group, {counts}, {group})")
        yield define(f"{tag}_group", f"Grouped(group, {counts}, {group})")
        counted = f"{tag}_count, {tag}_group"
        for number, (_, way) in enumerate(pairs, 1):
            yield define(f"{tag}_way{number}(ended, open)", every(self.crash_guards(way, counted, group)))
        ended = names_in(ANY_EXIT if state.must_open else CRASH_CLASSES)
        chosen = [f"ended \\in {ended}", "said \\in BOOLEAN", _open([way for _, way in pairs])]
        closed = [f"~{tag}_way{number}(ended, open)" for number in range(1, len(pairs) + 1)]
        for number, (edge, way) in enumerate(pairs, 1):
            name = f"{self.names[edge.source, edge.name]}_by_crash_{number}"
            take = self.take(edge, way, f'{counted}, "crash", said')
            taken = every([f"{tag}_way{number}(ended, open)", *closed[: number - 1], take])
            yield from self.action(name, every([self.here(state), quantified(chosen, taken)]))
        stays = every([*closed, f"Stay({counted}, said)"])
        yield from self.action(tag, every([self.here(state), quantified(chosen, stays)]))

    def next_step(self) -> Iterator[str]:
        switch = ["SwitchMode"] if len(self.machine.modes) > 1 else []
        yield define("Next", any_of([*self.next, *switch]))
        yield ""

    def properties(self) -> Iterator[str]:
        """What must hold: the declared properties, the sign-offs, and that no engine finishes the work after a no."""
        for number, rule in enumerate(self.machine.properties, 1):
            moves = [name for (_, edge), name in self.names.items() if edge == rule.then]
            yield f"\\* {' '.join(rule.name.split())}"
            needed = f"{text_of(rule.name)} \\in passed"
            yield from self.invariant(f"Property_{number}", every(f"ENABLED {name} => {needed}" for name in moves))
        edges = [(state, edge) for state in self.machine.states.values() for edge in state.edges if not edge.never]
        signed = [self.never(state, edge, 'who \\in {"agent", "engine"}') for state, edge in edges if edge.sign_off]
        yield from self.invariant("SignOffs", every(signed))
        marked = [self.after_no(state, edge) for state, edge in edges if self.finishes(edge)]
        yield from self.invariant("NoFinishAfterNo", every(marked))
        meant = self.machine.exceptions.get("waits", {})
        driven = [
            state for state in self.machine.states.values() if state.driver == "engine" and state.name not in meant
        ]
        yield from self.invariant("EngineCanAct", every(self.engine_acts(state) for state in driven))

    def finishes(self, edge: Edge) -> bool:
        target = self.machine.states.get(edge.target)
        is_marked = any(way.after_no and "engine" in way.by for way in edge.ways)
        return is_marked and target is not None and (target.is_rest or target.lands)

    def never(self, state: State, edge: Edge, who: str, more: str = "") -> str:
        condition = f"{more}~ENABLED {self.request_action(edge)}"
        return quantified([who, *self.circumstances(state, edge)], condition, sign="\\A")

    def engine_acts(self, state: State) -> str:
        """Where the engine must act, some gates open a move of its own, unless the task is stopped or a no stands."""
        moves = [
            quantified(self.circumstances(state, edge), f"ENABLED {self.request_action(edge, 'engine')}")
            for edge in state.edges
            if not edge.never and "engine" in edge.by()
        ]
        return f"state = {text_of(state.name)} /\\ ~stopped /\\ ~no =>\n{indent(any_of(moves), 2)}"

    def after_no(self, state: State, edge: Edge) -> str:
        """What the run asked for itself may finish the work; everything else that follows a no may not."""
        said = '(IF ended = "entry" THEN no ELSE said \\in {"asked", "gate"}) => '
        return self.never(state, edge, 'who \\in {"engine"}', said)

    def invariant(self, name: str, formula: str) -> Iterator[str]:
        if formula != "TRUE":
            self.invariants.append(name)
            yield from (define(name, formula), "")


def _goes_on(state: State) -> bool:
    """Whether the engine may leave a state before an agent run has ended there."""
    ways = [way for edge in state.edges for way in edge.ways if "engine" in way.by]
    return any(not state.role or ENTRY in way.after for way in ways)


def _open(ways: Sequence[Way]) -> str:
    """Which gates may be open: any of them; where all ways need the same ones, all or not all is what matters."""
    gates = names_in(dict.fromkeys(gate for way in ways for gate in way.needs))
    return f"open \\in {{{{}}, {gates}}}" if len({way.needs for way in ways}) == 1 else f"open \\in SUBSET {gates}"


def _target(edge: Edge) -> str:
    """Where a move leads; a re-opening reads it from a register."""
    if not edge.reopen or not edge.target.startswith("{"):
        return text_of(edge.target)
    value = f"register[{text_of(edge.target[1:-1])}]"
    cases: Iterable[str] = (f"{value} = {text_of(old)} -> {text_of(new)}" for old, new in edge.instead.items())
    return f"CASE {' [] '.join([*cases, f'OTHER -> {value}'])}" if edge.instead else value
