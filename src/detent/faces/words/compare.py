"""Says in sentences how a machine and a document differ."""

from __future__ import annotations

from detent.verify.compare import compared_parts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from detent.verify.compare import Comparison
    from detent.verify.relation import Relation, Row


def comparison_lines(comparison: Comparison, document: Relation) -> list[str]:
    """The result, each difference, and what was compared at all."""
    found, faults = difference_lines(comparison), comparison.problems
    if not set(document.states) - set(comparison.missing_states):
        theirs, ours = ", ".join(document.states) or "none", ", ".join(comparison.extra_states)
        found = [f"no state in common: the document has {theirs}; the machine has {ours}"]
    summary = (
        "different" + (f" in {len(found)} points" if len(found) > 1 else "")
        if found
        else "equal, once the document is repaired"
        if faults
        else "equal"
    )
    return [
        f"{summary}; {document.source}: {len(document.states)} states, {len(document.rows)} moves",
        *(f"  - the document, {fault}" for fault in faults),
        *(f"  - {line}" for line in found),
        f"  compared: {', '.join(_part(name, document.rows) for name in compared_parts(document))}",
        *(f"  note: {note}" for note in document.notes),
    ]


def _part(name: str, rows: Sequence[Row]) -> str:
    """A part that was compared; of what only some moves have, with the number of the document's moves that have it."""
    counts = {
        "names": sum(row.name is not None for row in rows),
        "actors": sum(row.by is not None for row in rows),
        "gates": sum(row.needs is not None for row in rows),
    }
    return f"{name} of {counts[name]} move{'s' * (counts[name] != 1)}" if name in counts else name


def difference_lines(comparison: Comparison) -> list[str]:
    lines = [f"only the document has the state {name}" for name in comparison.missing_states]
    lines += [f"only the machine has the state {name}" for name in comparison.extra_states]
    lines += [f"only the document has the move {_move(*edge)}" for edge in comparison.missing_edges]
    lines += [f"only the machine has the move {_move(*edge)}" for edge in comparison.extra_edges]
    for source, target, theirs, ours in comparison.renamed:
        lines.append(f"{_move(source, target)} is called {theirs!r} in the document and {ours!r} in the machine")
    if comparison.initial:
        lines.append(f"the document starts in {comparison.initial[0]}, the machine in {comparison.initial[1]}")
    lines += [f"{name} is an end in the document, not in the machine" for name in comparison.missing_terminal]
    lines += [f"{name} is an end in the machine, not in the document" for name in comparison.extra_terminal]
    for *move, wanted, found in comparison.actors:
        lines.append(f"{_move(*move)} is made by {_or(wanted)} in the document, by {_or(found)} in the machine")
    for *move, wanted, found in comparison.gates:
        lines.append(f"{_move(*move)} needs {_and(wanted)} in the document, {_and(found)} in the machine")
    return lines


def _move(source: str, target: str, name: str = "") -> str:
    return f"{source} -> {target} ({name})" if name else f"{source} -> {target}"


def _or(words: Sequence[str]) -> str:
    return " or ".join(words) or "no one"


def _and(words: Sequence[str]) -> str:
    return ", ".join(words) or "no gate"
