"""What deploying may make in the work tree although nothing has judged it: the narrow exception preferences may name.

`outputs` names the file whose "## Deploy Outputs" lists such paths. What counts was in no judged tree, `design` does
not draw it, it is no test, and no command runs anything in it.
"""

from __future__ import annotations

import re

from detent.gates.judged import lies_at
from detent.packs.lights_out.checks.design import planned_paths
from detent.packs.lights_out.deploy_plan import read_outputs, read_plan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from detent.core.machine import Gate
    from detent.gates.seen import Seen

# Programs that pass files on and run none of them.
_COPIERS = frozenset(("cp", "mv", "rsync", "scp", "sftp", "tar", "zip", "ls", "test", "[", "du", "rm", "mkdir"))
_COMMAND_END = re.compile(r"[;&|()\n]+")
_WORDS = re.compile(r"[\s\"'`<>=]+")
_TESTS = frozenset(("test", "tests", "spec", "specs", "__tests__", "testing"))
_TEST_NAME = re.compile(r"(?:test_.*|conftest\.py|.*_test\.\w+|.*\.(?:test|spec)\.\w+)", re.IGNORECASE)


def excused_outputs(gate: Gate, seen: Seen, added: set[str]) -> set[str]:
    """The added files that are outputs of deploying and nothing else."""
    preferences = seen.files.text(gate.params["outputs"]) or ""
    files = seen.tree_files()
    if files is None:
        return set()
    plan, _ = read_plan(preferences)
    lines = [command.line for command in seen.commands] + [line for _, line in (plan.commands if plan else ())]
    found: set[str] = set()
    for place in read_outputs(preferences):
        inside = {path for path in files if lies_at(path, place)}
        # A place that held a file when the work was judged is part of the work.
        if inside <= added and not any(_runs(line, place) for line in lines):
            found |= {path for path in inside if _is_output(path, _drawn(gate, seen))}
    return found


def _drawn(gate: Gate, seen: Seen) -> Sequence[str]:
    return planned_paths(seen.files.text(gate.params["design"]) or "") if "design" in gate.params else ()


def _is_output(path: str, drawn: Sequence[str]) -> bool:
    """Whether a file in a named place is neither source, as the design draws it, nor a test."""
    parts = path.split("/")
    is_test = bool(_TESTS.intersection(part.lower() for part in parts[:-1])) or bool(_TEST_NAME.fullmatch(parts[-1]))
    return not is_test and not any(lies_at(path, place) or path.endswith(f"/{place}") for place in drawn)


def _runs(line: str, place: str) -> bool:
    """Whether a command line may run something in a place: it names it other than for a program that only copies."""
    bare = place.rstrip("/")
    for part in _COMMAND_END.split(line):
        words = [word.removeprefix("./") for word in _WORDS.split(part) if word]
        if any(word.rstrip("/") == bare or word.startswith(f"{bare}/") for word in words) and words[0] not in _COPIERS:
            return True
    return False
