"""Checks that look for a person's word: given about exactly this tree, or not given."""

from __future__ import annotations

from detent.gates.registry import ALSO, ONLY, declared
from detent.gates.seen import Finding, Seen
from detent.machines.reading import ACCEPTS
from detent.store.disk.digest import hash_text
from detent.store.journal.memory import UNSIGNED
from detent.words import proof as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from detent.core.machine import Gate, Machine
    from detent.core.values import Missing

_MOST_FILES = 200  # that a journal line names
BY_NAME = "by name"  # stands among what a person says on top: they named the move they want
REASON = "a reason"  # likewise: they said why


def is_word(machine: Machine, gate: str) -> bool:
    """Whether a gate waits for a person; `gate` may also be the name of a guard."""
    return gate in machine.gates and all(
        part.check == "all" or declared(part.check).word == ONLY for part in machine.parts((gate,))
    )


def waits_for_person(machine: Machine, gate: str) -> bool:
    """Whether a closed gate may still be opened by a person's word: commands are run before they are asked."""
    if gate not in machine.gates:
        return False
    check = machine.gates[gate].check
    return is_word(machine, gate) or check == ACCEPTS or declared(check).word == ALSO


def runs_outside(machine: Machine, gate: str) -> bool:
    """Whether a gate, or one it is made of, rests on commands that run outside the sandbox."""
    return gate in machine.gates and any(declared(part.check).outside for part in machine.parts((gate,)))


def may_run_outside(machine: Machine, gate: str) -> bool:
    """Whether such commands are run for this gate: none is run to find out whether it fails."""
    return gate in machine.gates and all(part.check != "not" for part in machine.parts((gate,)))


def lacks_only_word(machine: Machine, missing: Iterable[Missing], unknown: Collection[str] = ()) -> bool:
    """Whether something is missing, and all of it is a person's word.

    What runs outside the sandbox once that is given, and `unknown` gates, which a reader can't judge, are left out.
    """
    left = [gap.gate for gap in missing if gap.gate not in unknown]
    gates = [gate for gate in left if not runs_outside(machine, gate)]
    return bool(gates) and all(is_word(machine, gate) for gate in gates)


def asked_by_name(_gate: Gate, seen: Seen) -> Finding:
    """A person asked for this very move, by its name, its target or its verb; not for whatever is open."""
    is_named = BY_NAME in seen.words
    return Finding(ok=is_named, why="" if is_named else say.not_asked_by_name(), by_engine=True)


def signed_tree(gate: Gate, seen: Seen) -> Finding:
    """The tree is still the one a person signed by a named sign-off, and so are the named files of the task folder."""
    name = gate.params["edge"]
    signed = seen.signed.get(name, UNSIGNED)
    if not signed:
        return Finding(ok=False, why=say.not_signed(name))
    if not seen.tree:
        return Finding(ok=False, why=say.tree_not_scanned(), is_known=False)
    if signed.tree != seen.tree:
        return Finding(ok=False, why=say.signed_other_tree(seen.tree, signed.tree, signed.name, name))
    found = signed_files(seen)
    changed = [file for file in gate.params.get("files", ()) if signed.files.get(file, "") != found.get(file)]
    if changed:
        return Finding(ok=False, why=say.signed_other_files(changed, signed.name, name))
    return Finding(ok=True, proof=signed.tree, by_engine=True)


def tree_edited(_gate: Gate, seen: Seen) -> Finding:
    """The files are no longer those the state was entered with: there was work on them since."""
    if not seen.tree:  # for readers: the touched files are unknown until the next scan
        return Finding(ok=True, note=say.files_touched(), by_engine=True)
    is_edited = seen.entry_tree != seen.tree
    why = "" if is_edited else say.no_file_changed(seen.snapshot.state)
    return Finding(ok=is_edited, why=why, proof=seen.tree, by_engine=True)


def signed_files(seen: Seen) -> dict[str, str]:
    """What a sign-off is bound to besides the tree: the files of the task folder, by hash; of very many only one."""
    found = {**seen.files.listing(), seen.machine.store.file: hash_text(seen.document.text)}
    if len(found) <= _MOST_FILES:
        return found
    return {"*": hash_text("\0".join(f"{name} {digest}" for name, digest in sorted(found.items())))}


def protected_ok(_gate: Gate, seen: Seen) -> Finding:
    """No file was touched that a person must be asked about, or a person approved exactly this tree."""
    touched = seen.touched()
    if touched is None:
        why = say.protected_not_looked_at()
        return Finding(ok=False, why=why, fix=why.next_step, is_known=False)
    if not touched:
        return Finding(ok=True, by_engine=True)
    said = seen.approved
    if seen.tree and (said.tree, said.files) == (seen.tree, touched):
        proof = hash_text("\0".join((seen.tree, *(f"{name} {digest}" for name, digest in touched.items()))))
        note = say.approved(said.name, touched)
        return Finding(ok=True, proof=proof, note=note, by_engine=True)
    return Finding(ok=False, why=say.protected_touched(touched, said.name if said else ""))
