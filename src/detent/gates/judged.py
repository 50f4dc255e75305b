"""The check `as_judged`: what is delivered is what was judged, outside a few paths that no gate judges.

Which tree a move judged is taken from the journal. Deploy outputs are the narrow exception that preferences may name:
see `_is_output`.
"""

from __future__ import annotations

import re

from detent.gates.seen import Finding
from detent.packs.lights_out.deploy_plan import read_outputs, read_plan
from detent.store.text.names import name_some

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from detent.core.machine import Gate
    from detent.gates.seen import Seen

# Programs that pass files on and run none of them.
_COPIERS = frozenset(("cp", "mv", "rsync", "scp", "sftp", "tar", "zip", "ls", "test", "[", "du", "rm", "mkdir"))
_COMMAND_END = re.compile(r"[;&|()\n]+")
_WORDS = re.compile(r"[\s\"'`<>=]+")
_TESTS = frozenset(("test", "tests", "spec", "specs", "__tests__", "testing"))
_TEST_NAME = re.compile(r"(?:test_.*|conftest\.py|.*_test\.\w+|.*\.(?:test|spec)\.\w+)", re.IGNORECASE)


def as_judged(gate: Gate, seen: Seen) -> Finding:
    """Outside `besides` the tree is the one that the last of these moves (`edges`) judged, or a person accepted it.

    `outputs` names the file whose "## Deploy Outputs" lists paths that deploying may make: they were in no judged tree,
    `design` does not draw them, they are no tests, and no command runs anything in them.
    """
    if not seen.tree:
        return Finding(ok=False, why="the work tree changed since the last scan", is_known=False)
    names: list[str] = gate.params["edges"]
    last = judging_move(names, seen)
    if not last:
        why = f"{' or '.join(names)} was never taken in this task: nothing has judged these files"
        return _accepted(gate, seen) or Finding(ok=False, why=why)
    changed = unjudged(gate, seen, seen.trees[last]["tree"])
    if changed is None:
        why = f"whether the files are still those of {last} is not known until the move is requested"
        return Finding(ok=False, why=why, is_known=False)
    if not changed:
        return Finding(ok=True, proof=str(seen.trees[last]["tree"]), by_engine=True)
    why = f"changed since {last} judged the files: {name_some(changed)}"
    return _accepted(gate, seen) or Finding(ok=False, why=why, fix=_fix(seen, last))


def judging_move(names: Iterable[str], seen: Seen) -> str:
    """The move among these that was taken last with a tree; empty when none was."""
    known = (name for name in names if name in seen.trees)
    return max(known, key=lambda name: int(seen.trees[name]["seq"]), default="")


def unjudged(gate: Gate, seen: Seen, before: str) -> tuple[str, ...] | None:
    """The paths that differ from an earlier tree and that this gate does not except; None when that is not known."""
    found = seen.differences(before)
    if found is None:
        return None
    besides = gate.params.get("besides", ())
    left = [(status, path) for status, path in found if not any(_lies_in(path, one) for one in besides)]
    if left and "outputs" in gate.params:
        added = {path for status, path in left if status == "A"}
        allowed = _outputs(gate, seen, added)
        left = [(status, path) for status, path in left if path not in allowed]
    return tuple(path for _, path in left)


def _lies_in(path: str, place: str) -> bool:
    return path.startswith(place) if place.endswith("/") else path == place


def _fix(seen: Seen, last: str) -> str:
    """What a person may do; the tree is named so that what they say is about these files alone."""
    short = str(seen.trees[last]["tree"])[:12]
    look = f"look at it: detent diff --since {short}"
    return f'{look}; bring the files back, or accept them as a person: detent approve --reason "why"'


def _accepted(gate: Gate, seen: Seen) -> Finding | None:
    """A person was shown the difference and accepted these very files."""
    said = seen.accepted
    if not said or unjudged(gate, seen, said["tree"]) != ():
        return None
    note = f"{said['name']} accepted what differs from the files that were judged: {said['reason']}"
    return Finding(ok=True, proof=seen.tree, note=note, by_engine=True)


def _outputs(gate: Gate, seen: Seen, added: set[str]) -> set[str]:
    """The added files that are outputs of deploying and nothing else."""
    preferences = seen.files.text(gate.params["outputs"]) or ""
    files = seen.tree_files()
    if files is None:
        return set()
    plan, _ = read_plan(preferences)
    lines = [command.line for command in seen.commands] + [line for _, line in (plan.commands if plan else ())]
    found: set[str] = set()
    for place in read_outputs(preferences):
        inside = {path for path in files if _lies_in(path, place)}
        # A place that held a file when the work was judged is part of the work.
        if inside <= added and not any(_runs(line, place) for line in lines):
            found |= {path for path in inside if _is_output(path, _drawn(gate, seen))}
    return found


def _drawn(gate: Gate, seen: Seen) -> Sequence[str]:
    from detent.packs.lights_out.checks.design import planned_paths

    return planned_paths(seen.files.text(gate.params["design"]) or "") if "design" in gate.params else ()


def _is_output(path: str, drawn: Sequence[str]) -> bool:
    """Whether a file in a named place is neither source, as the design draws it, nor a test."""
    parts = path.split("/")
    is_test = bool(_TESTS.intersection(part.lower() for part in parts[:-1])) or bool(_TEST_NAME.fullmatch(parts[-1]))
    return not is_test and not any(_lies_in(path, one) or path.endswith(f"/{one}") for one in drawn)


def _runs(line: str, place: str) -> bool:
    """Whether a command line may run something in a place: it names it other than for a program that only copies."""
    bare = place.rstrip("/")
    for part in _COMMAND_END.split(line):
        words = [word.removeprefix("./") for word in _WORDS.split(part) if word]
        if any(word.rstrip("/") == bare or word.startswith(f"{bare}/") for word in words) and words[0] not in _COPIERS:
            return True
    return False
