"""The one place where a move is allowed: `decide(machine, snapshot, facts, signal)` is pure and total.

1. An unknown state or actor is refused; a stopped task waits for a person and moves for no other actor.
2. A crash is counted first, then takes the first open way held by `crash`, else it is only counted.
3. The candidates are the edges out of the state that the signal names (by edge, target or verb), in the file's order.
4. Each way of each candidate is judged: actor, mode, registers, counters, exit class, and only then its gates.
5. The first way with nothing missing is taken. A person's override waives gates, never guards and never a sign-off.
   After a run that said no the engine takes only ways marked `after_no`, and the move the run itself asked for.
6. Nothing open: the engine waits, any other actor is refused with all that the nearest way is missing.
"""

from __future__ import annotations

from detent.core.machine import (
    ACTORS,
    ASKED,
    CRASH_CLASSES,
    CRASHES,
    ENTRY,
    IDLE,
    RUNS,
    SAID,
    STOPPED,
    TAINTED,
    UNASKED,
    Edge,
    Machine,
    Way,
)
from detent.core.values import Advance, Crash, Fact, Missing, Refuse, Signal, Snapshot, Wait
from detent.words import core as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from detent.core.values import Decision
    from detent.words.message import Message

_UNASKED = Fact("", ok=False, why=say.not_asked())
# Whose ways a signal may use. A person may ask for what agent and engine may do, never for what only a crash does.
_HANDS = {who: frozenset((who,)) for who in ACTORS} | {"person": frozenset(("person", "agent", "engine"))}


def decide(machine: Machine, snapshot: Snapshot, facts: Mapping[str, Fact], signal: Signal) -> Decision:
    if snapshot.state not in machine.states or signal.who not in _HANDS:
        return Refuse(say.unknown_state_or_actor(machine.name, snapshot.state, signal.who))
    stopped = snapshot.registers.get(STOPPED, "")
    if stopped and signal.who == "agent":
        allowed = allowed_targets(machine, snapshot)
        return Refuse(say.stopped(stopped), (), allowed, hint=say.person_goes_on_first())
    if stopped and signal.who != "person":
        return Wait(say.stopped(stopped))
    if signal.who == "crash":
        return _crash(machine, snapshot, facts, signal)
    candidates = candidates_for(machine, snapshot, signal)
    if not candidates:
        return _no_such_move(machine, snapshot, signal)
    decision = _first_open(machine, snapshot, facts, signal, candidates)
    if isinstance(decision, Refuse) and signal.who == "engine":
        return Wait(decision.problem, decision.missing)
    return decision


def enter(machine: Machine, mode: str = "") -> Snapshot:
    """The snapshot of a task that has just been made."""
    return Snapshot(
        state=machine.initial,
        mode=mode or (machine.modes[0] if machine.modes else ""),
        registers={register.name: register.start for register in machine.registers.values() if register.start},
        visits={machine.initial: 1},
    )


def spent(machine: Machine, snapshot: Snapshot, limit: str) -> int:
    """How much of a limit is used up, as seen from the current state."""
    group, counted_in = machine.states[snapshot.state].group, snapshot.registers.get(f"{limit}.group", "")
    return 0 if machine.limits[limit].per_group and group != counted_in else snapshot.counters.get(limit, 0)


def candidates_for(machine: Machine, snapshot: Snapshot, signal: Signal) -> list[Edge]:
    """The edges a signal is about, in the file's order."""
    state, want = machine.states[snapshot.state], signal.want
    edges = [edge for edge in state.edges if not edge.never]
    if signal.verb:
        edges = [edge for edge in edges if signal.verb in (*edge.verbs, *edge.says)]
    else:  # Going back past all gates is only ever done on purpose: by its verb, by its name, or out of an end.
        edges = [edge for edge in edges if not edge.reopen or want == edge.name or (want and state.is_end)]
    return [edge for edge in edges if want in ("", edge.name, edge.target, target_of(snapshot, edge))]


def _first_open(
    machine: Machine, snapshot: Snapshot, facts: Mapping[str, Fact], signal: Signal, candidates: list[Edge]
) -> Advance | Refuse:
    if snapshot.no:  # what was withdrawn in the files since binds no more; a gate without a fact still does
        said = {gate: words for gate, words in snapshot.no.items() if gate not in facts or facts[gate].ok}
        snapshot = snapshot.replace(no=said)
    nearest: tuple[tuple[int, bool, int, bool], Edge, tuple[Missing, ...]] | None = None
    may_waive = machine.may_override and signal.who == "person" and signal.override.strip()
    for edge in candidates:
        waivable: tuple[Way, tuple[str, ...]] | None = None
        for way in edge.ways:
            guards = closed_guards(machine, snapshot, signal, edge, way)
            gates = _unmet_gates(machine, facts, way)
            if not guards and not gates:
                return _advance(machine, snapshot, signal, edge, way)
            if may_waive and not (guards or waivable or edge.sign_off or any(gate.pending for gate in gates)):
                waivable = (way, tuple(gate.gate for gate in gates))
            # A way that only lacks proof is nearer than one that can't be used now, or one whose gates said no.
            is_other = (way.after_no == UNASKED and not snapshot.no) or not all(fact.is_meant for fact in gates)
            is_answered = not guards and all(fact.is_known for fact in gates)
            distance = (len(guards), is_other, sum(not fact.pending for fact in gates), is_answered)
            if nearest is None or distance < nearest[0]:
                lacks = (Missing(fact.gate, fact.why, fact.fix, fact.pending) for fact in gates)
                nearest = (distance, edge, (*guards, *lacks))
        if waivable:
            return _advance(machine, snapshot, signal, edge, *waivable)
    allowed = allowed_targets(machine, snapshot)
    if nearest is None:
        return Refuse(say.no_way_out(snapshot.state, signal.who), allowed=allowed)
    return Refuse(say.move(snapshot.state, target_of(snapshot, nearest[1])), nearest[2], allowed, nearest[1])


def closed_guards(machine: Machine, snapshot: Snapshot, signal: Signal, edge: Edge, way: Way) -> tuple[Missing, ...]:
    """Everything that closes a way before its gates are asked."""
    closed: list[Missing] = []

    def close(gate: str, why: Message) -> None:
        closed.append(Missing(gate, why, why.next_step))

    if _HANDS[signal.who].isdisjoint(way.by):
        verb = edge.verbs[0] if edge.verbs else f"move {target_of(snapshot, edge)}"
        close("by", say.only_by(way.by, signal.who, verb if "person" in way.by else ""))
    if way.modes and snapshot.mode not in way.modes:
        close("mode", say.other_mode(way.modes, snapshot.mode))
    for register, values in way.when.items():
        value = snapshot.registers.get(register, "")
        if value not in values:
            close(register, say.register_differs(register, values, value))
    if way.under and spent(machine, snapshot, way.under) >= (most := machine.limits[way.under].most):
        close(way.under, say.limit_reached(way.under, most))
    if way.spent and (used := spent(machine, snapshot, way.spent)) < (most := machine.limits[way.spent].most):
        close(way.spent, say.limit_left(way.spent, used, most))
    is_bound = {"engine": machine.states[snapshot.state].role, "crash": set(way.after) & set(CRASH_CLASSES)}
    is_agents = RUNS in snapshot.counters or snapshot.visits.get(snapshot.state, 1) > 1  # what lies there may be
    after = [name for name in way.after if not (name == ENTRY and way.given and is_agents)]
    if is_bound.get(signal.who) and snapshot.exit not in after:
        close("after", say.acts_after("" if snapshot.exit == ENTRY else snapshot.exit, signal.who, after))
    if signal.who == "engine" and snapshot.no and not _may_follow_no(snapshot, edge, way):
        close("no", say.run_said_no(no_words(snapshot)))
    if edge.reopen and not signal.reason.strip():
        close("reason", say.reason_missing())
    return tuple(closed)


def _may_follow_no(snapshot: Snapshot, edge: Edge, way: Way) -> bool:
    """Whether the engine may take a way after a no: one that answers it, or the very move that the run asked for."""
    wanted = snapshot.no.get(ASKED)
    return wanted == target_of(snapshot, edge) or way.after_no == "yes" or (way.after_no == UNASKED and wanted is None)


def no_words(snapshot: Snapshot) -> str:
    """What the last run said against going on, on one line."""
    words = (say.asked_and_refused(text) if gate == ASKED else text for gate, text in snapshot.no.items())
    return "; ".join(words)


def _no_after(snapshot: Snapshot, signal: Signal, target: str) -> dict[str, str]:
    """A person's act answers a no, and a run that gets what it asked for has not been refused; the rest is kept."""
    if signal.who == "person" or not snapshot.no:
        return {}
    is_answered = signal.who == "agent" or snapshot.no.get(ASKED) == target
    left = {gate: words for gate, words in snapshot.no.items() if gate != ASKED or not is_answered}
    return {SAID: no_words(snapshot.replace(no=left))} if left else {}


def _unmet_gates(machine: Machine, facts: Mapping[str, Fact], way: Way) -> tuple[Fact, ...]:
    found = (facts.get(gate) or _UNASKED.replace(gate=gate, fix=machine.gates[gate].fix) for gate in way.needs)
    return tuple(fact for fact in found if not fact.ok)


def allowed_targets(machine: Machine, snapshot: Snapshot) -> tuple[str, ...]:
    """Every state the current one leads to, in the file's order, without what may never be taken or goes back."""
    state = machine.states[snapshot.state]
    edges = [edge for edge in state.edges if not edge.never and (state.is_end or not edge.reopen)]
    return tuple(filter(None, dict.fromkeys(target_of(snapshot, edge) for edge in edges)))


def target_of(snapshot: Snapshot, edge: Edge) -> str:
    """Where an edge leads; a re-opening reads its target from a register, and never goes later than the file allows."""
    if not edge.reopen or not edge.target.startswith("{"):
        return edge.target
    remembered = snapshot.registers.get(edge.target[1:-1], "")
    return edge.instead.get(remembered, remembered)


def _no_such_move(machine: Machine, snapshot: Snapshot, signal: Signal) -> Refuse | Wait:
    state, allowed = machine.states[snapshot.state], allowed_targets(machine, snapshot)
    if signal.who == "engine" and not signal.want:
        return Wait(say.is_an_end(state.name) if state.is_end else say.no_move_for_engine(state.name))
    if signal.verb or not signal.want:
        problem = say.no_move_called(state.name, signal.verb) if signal.verb else say.is_an_end(state.name)
        return Refuse(problem, allowed=allowed)
    for edge in state.edges:
        if edge.never and signal.want in (edge.name, edge.target):
            return Refuse(say.never_taken(edge.source, edge.target, edge.never), allowed=allowed)
    off = [edge for edge in machine.switched_off if edge.source == state.name]
    options = [edge.option for edge in off if signal.want in (edge.name, edge.target)]
    hint = say.option_would_allow(options[0]) if options else ""
    for pair in machine.forbidden:
        if pair.source == state.name and pair.target == signal.want:
            return Refuse(say.forbidden(state.name, signal.want, pair.why), allowed=allowed, hint=hint)
    if signal.want in machine.states:
        return Refuse(say.does_not_lead_to(state.name, signal.want), allowed=allowed, hint=hint)
    if away := [edge for source in machine.states.values() for edge in source.edges if edge.name == signal.want]:
        moves = [(edge.source, edge.target) for edge in away]
        return Refuse(say.starts_elsewhere(signal.want, state.name, moves), allowed=allowed, hint=hint)
    return Refuse(say.unknown_state_or_move(machine.name, signal.want), allowed=allowed, hint=hint)


def _advance(
    machine: Machine, snapshot: Snapshot, signal: Signal, edge: Edge, way: Way, waived: tuple[str, ...] = ()
) -> Advance | Refuse:
    target = target_of(snapshot, edge)
    if target not in machine.states:
        return Refuse(say.return_unknown(edge.name), edge=edge)
    counters, registers = dict(snapshot.counters), dict(snapshot.registers)
    here, there = (machine.states[name].group for name in (snapshot.state, target))
    for name, limit in machine.limits.items():
        # What one group counted is not taken back by a move of others; one that leaves the groups takes back anything.
        is_same_group = not (limit.per_group and here and there) or registers.get(f"{name}.group") == here
        if limit.resets_always or (name in way.resets and is_same_group):
            counters.pop(name, None)
            registers.pop(f"{name}.group", None)
    for name in (CRASHES, IDLE, *((RUNS,) if signal.who == "person" else ())):
        counters.pop(name, None)
    if signal.who == "person":
        registers.pop(STOPPED, None)
    for name in way.counts:
        count(machine, snapshot, counters, registers, name)
    registers |= {name: snapshot.state if value == "{from}" else value for name, value in way.sets.items()}
    registers = {name: value for name, value in registers.items() if value}
    visits = {**snapshot.visits, target: snapshot.visits.get(target, 0) + 1}
    no = _no_after(snapshot, signal, target)
    after = snapshot.replace(state=target, counters=counters, registers=registers, exit=ENTRY, visits=visits, no=no)
    return Advance(edge, way, after, waived)


def count(machine: Machine, snapshot: Snapshot, counters: dict[str, int], registers: dict[str, str], name: str) -> None:
    """Count once more towards a limit, never beyond its cap."""
    limit = machine.limits[name]
    used = counters.get(name, 0)
    if limit.per_group:
        group = machine.states[snapshot.state].group
        used = used if registers.get(f"{name}.group", "") == group else 0
        registers[f"{name}.group"] = group
    counters[name] = min(used + 1, limit.cap)


def _crash(machine: Machine, snapshot: Snapshot, facts: Mapping[str, Fact], signal: Signal) -> Decision:
    state = machine.states[snapshot.state]
    if not state.is_crash(signal.exit):
        return Wait(say.no_crash(signal.exit))
    if not state.can_crash():
        return Wait(say.no_agent_to_crash(state.name))
    counters, registers = dict(snapshot.counters), dict(snapshot.registers)
    for name in state.counts_crash:
        count(machine, snapshot, counters, registers, name)
    # From a run that changed what it may not no move of the engine follows, also after it was counted.
    ended = TAINTED if snapshot.exit == TAINTED else signal.exit
    counted = snapshot.replace(counters=counters, registers=registers, exit=ended)
    taken = _first_open(machine, counted, facts, signal, candidates_for(machine, counted, signal))
    # Any move takes back what counts towards the limit every machine has: only a crash that took none can spend it.
    if isinstance(taken, Refuse) and counters.get(CRASHES, 0) >= machine.limits[CRASHES].most:
        counted = counted.replace(registers={**registers, STOPPED: say.crashes_in_a_row(counters[CRASHES])})
    return taken if isinstance(taken, Advance) else Crash(counted, signal.exit)
