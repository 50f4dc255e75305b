"""Asks gates: turns what a check found into a fact, and refuses proof that is older than the visit it is for."""

from __future__ import annotations

from detent.core.values import Fact
from detent.errors import UnreadableError
from detent.gates.checks import shown
from detent.gates.people import REASON
from detent.gates.registry import check_named, declared
from detent.gates.seen import Finding
from detent.machines.meanings import ABOUT_TREE
from detent.machines.reading import ACCEPTS, DEEPEST_GATES, IN_TREE, MADE_OF_GATES
from detent.store.disk.digest import hash_text
from detent.store.journal.memory import NO_REPORT
from detent.words import gates as say
from detent.words import proof

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from detent.core.machine import Gate
    from detent.gates.seen import Seen


def judge(seen: Seen, names: Iterable[str]) -> dict[str, Fact]:
    """The facts for these gates, and for every gate they are made of."""
    return {gate.name: _fact(gate, seen, 0) for gate in seen.machine.parts(names)}


def evidence_hashes(seen: Seen) -> dict[str, str]:
    """What all fresh-proof gates look at, as it is now; stored on entry, compared later."""
    hashes: dict[str, str] = {}
    fresh = [gate for gate in seen.machine.gates.values() if gate.since == "entry" and declared(gate.check).at]
    for gate in fresh:
        hashes.update(_find(gate, seen)[0].evidence)
    if any(declared(gate.check).names_proof for gate in fresh):
        # The file that will be named as proof is not known yet, so all candidates are recorded.
        hashes.update({f"file:{name}": digest for name, digest in seen.files.listing().items()})
        hashes.update(_documents(seen))
    return {key: value for key, value in hashes.items() if value}


def _documents(seen: Seen) -> dict[str, str]:
    """What a reader sees of the documents that every task has: a blank line more in one of them is no new proof."""
    found: dict[str, str] = {}
    for name in seen.machine.store.files:
        try:
            text = seen.files.text(name) if name.endswith(".md") and name != seen.machine.store.file else None
        except UnreadableError:
            continue
        if text:
            found[f"shown:{name}"] = hash_text(shown(text))
    return found


def _fact(gate: Gate, seen: Seen, depth: int) -> Fact:
    if gate.check in MADE_OF_GATES:
        return _combined(gate, seen, depth)
    found, is_known = _find(gate, seen)
    if found.ok and gate.since == "entry" and not found.by_engine:
        filed = seen.filing.files  # from a run of this visit, whatever was there before
        unchanged = [key for key, value in found.evidence.items() if seen.snapshot.entry.get(key, "") == value]
        stale = [key for key in unchanged if key.startswith("filed:") or not filed.get(key.split(":")[1])]
        if stale:
            return _stale(gate, seen, stale).replace(is_known=is_known)
    if found.ok and gate.params.get("about") == ABOUT_TREE:
        found = _about_tree(found, seen)
        is_known = found.is_known and not found.pending
    # Evidence that changed while no agent run lived was changed by hand; it counts, and says so.
    by_hand = found.ok and gate.since == "entry" and not found.by_engine and not _is_as_left(found, seen.by_run)
    proof = found.proof or next(iter(found.evidence.values()), "")
    fix = found.fix or gate.fix
    details = (found.note, found.parts, is_known, found.is_meant, found.once)
    return Fact(gate.name, found.ok, found.why, fix, proof, by_hand, found.pending, *details)


def _is_as_left(found: Finding, by_run: Mapping[str, str]) -> bool:
    return bool(by_run) and all(by_run.get(key, "") == value for key, value in found.evidence.items())


def _find(gate: Gate, seen: Seen) -> tuple[Finding, bool]:
    known = {} if seen.findings is None else seen.findings
    if gate.name not in known:
        known[gate.name] = _answer(gate, seen)
    return known[gate.name]


def _answer(gate: Gate, seen: Seen) -> tuple[Finding, bool]:
    try:
        found = check_named(gate.check)(gate, seen)
    except UnreadableError as error:
        why = say.unreadable(error.where, error.what)
        return Finding(ok=False, why=why, fix=error.next_step or why.next_step), False
    return found, found.is_known and not found.pending


def _about_tree(found: Finding, seen: Seen) -> Finding:
    """A verdict that a run or an earlier move left is about the files of that moment; a later one is about these."""
    for key, digest in found.evidence.items():
        judged = seen.judged.get(key, NO_REPORT)
        if judged.hash != digest or not judged.tree:
            continue
        name = _shown_place(key)
        changed = seen.differences(judged.tree) if seen.tree else None
        if changed is None:
            return found.replace(ok=False, why=proof.unknown_whether_about(name), is_known=False)
        if changed:
            visit = seen.snapshot.visits.get(seen.snapshot.state, 1) + 1
            why = proof.about_other_files(name, [path for _, path in changed], visit)
            return found.replace(ok=False, why=why, fix=why.next_step)
    return found


def _stale(gate: Gate, seen: Seen, keys: list[str]) -> Fact:
    state = seen.snapshot.state
    visit = seen.snapshot.visits.get(state, 1)
    why = say.stale([_shown_place(key) for key in keys], state)
    if all(key.startswith("filed:") for key in keys):  # the engine writes these: people and agents add no line to them
        return Fact(gate.name, ok=False, why=why, fix=gate.fix)
    fix = say.add_round(gate.fix, visit, in_json=all(key.endswith(".json") for key in keys))
    return Fact(gate.name, ok=False, why=why, fix=fix)


def _shown_place(key: str) -> str:
    """The file or section that a piece of evidence is about, as people write it."""
    return key.partition(":")[2].removeprefix(IN_TREE).replace(":", " ## ")


def _combined(gate: Gate, seen: Seen, depth: int) -> Fact:
    if depth >= DEEPEST_GATES:
        return Fact(gate.name, ok=False, why=say.gates_too_deep(), fix=gate.fix, is_known=False)
    facts = [_fact(seen.machine.gates[name], seen, depth + 1) for name in gate.params["of"]]
    if gate.check == ACCEPTS:
        return _accepted(gate, seen, facts)
    is_known = all(fact.is_known for fact in facts)
    closed = [fact for fact in facts if not fact.ok]
    # Running commands helps only where nothing else is in the way.
    pending = bool(closed) and all(fact.pending for fact in closed)
    if gate.check == "all":
        ok = bool(facts) and not closed
        # What failed comes before what was not run. Gates on one file say the same of it: each sentence once.
        reported = sorted(closed, key=lambda fact: fact.pending)
        reasons = dict.fromkeys(part for fact in reported for part in fact.why.split("; "))
        why = say.together(reasons) if facts else say.made_of_nothing()
        # One part that failed closes the whole, whatever is not known of the others.
        is_known = is_known or any(fact.is_known for fact in closed)
    else:  # An unreadable file does not prove the opposite.
        ok = bool(closed) and is_known
        why = say.holds_and_should_not(gate.params["of"])
        if not is_known:
            why = say.unknown_whether_fails([fact.why for fact in facts if not fact.is_known])
    parts = tuple((fact.gate, fact.ok, fact.why) for fact in facts)
    why = "" if ok else why
    return Fact(gate.name, ok, why, gate.fix, pending=pending, parts=parts, is_known=is_known)


def _accepted(gate: Gate, seen: Seen, facts: list[Fact]) -> Fact:
    """These gates hold, or the signing person sees those that do not and gives a reason; commands are run first."""
    closed = [fact for fact in facts if not fact.ok]
    pending = any(fact.pending for fact in closed)
    ok = bool(facts) and (not closed or (not pending and REASON in seen.words))
    why = say.together(dict.fromkeys(fact.why for fact in closed)) if facts else say.made_of_nothing()
    inner = [fact.fix for fact in closed if fact.fix]
    fix = say.together(dict.fromkeys((*inner, gate.fix or say.sign_with_reason())))
    note = say.signed_although(why) if ok and closed else ""
    parts = tuple((fact.gate, fact.ok, fact.why) for fact in facts)
    proof = seen.tree if ok else ""
    return Fact(gate.name, ok, "" if ok else why, fix, proof, pending=pending, note=note, parts=parts)
