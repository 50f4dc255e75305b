"""The files a plan speaks of, and whether the work stays within them."""

from __future__ import annotations

from detent.core.record import Record
from detent.gates.json_artifacts import Artifact, read_artifact, shown
from detent.gates.seen import Finding
from detent.machines.reading import is_inner_path
from detent.packs.global_ import words as say
from detent.store.disk.patterns import matches
from detent.words.artifacts import at
from detent.words.proof import tree_not_scanned

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from detent.core.machine import Gate
    from detent.gates.seen import Seen

_FOLDER = "planning/"  # where a plan's list of files may lie instead of beside it
INSIDE, OUTSIDE = "inside", "outside"


class Planned(Record):
    """The patterns a plan names, where they were read, or why there are none."""

    patterns: tuple[str, ...] = ()
    where: str = ""
    problem: str = ""
    evidence: Mapping[str, str] = {}


def questions_closed(gate: Gate, seen: Seen) -> Finding:
    """No question of a plan blocks: `open_questions[]` has none with `blocking` true."""
    found = read_artifact(seen, gate.params["file"], gate.params["schema"])
    if found.problem:
        return Finding(ok=False, why=found.problem, evidence=found.evidence)
    blocking = {
        f"/{name}/{number}": shown(question.get("question", question) if isinstance(question, dict) else question)
        for name in ("open_questions", "blocking_questions")
        for number, question in enumerate(found.data.get(name) or ())
        if name == "blocking_questions" or question["blocking"]
    }
    if not blocking:
        return Finding(ok=True, evidence=found.evidence)
    return found.closed(say.questions_open(list(blocking.values())), next(iter(blocking)))


def planned_files(gate: Gate, seen: Seen) -> Planned:
    """What a plan allows: `file` of the task folder, else of its planning/, else the list inside the plan itself."""
    file, schema = gate.params["file"], gate.params["schema"]
    for name in (file, f"{_FOLDER}{file}"):
        if seen.files.text(name) is not None:
            return _planned(read_artifact(seen, name, schema), ("files",))
    plan = read_artifact(seen, gate.params["plan"], gate.params["plan_schema"])
    found = _planned(plan, ("files", "steps"))
    if found.problem or found.patterns:
        return found
    return found.replace(problem=say.no_planned_files(file, f"{_FOLDER}{file}", plan.file))


def _planned(found: Artifact, keys: tuple[str, ...]) -> Planned:
    if found.problem:
        return Planned((), found.file, found.problem, found.evidence)
    patterns: list[str] = []
    for pointer, path in _paths(found.data, keys):
        if problem := _path_problem(path):
            return Planned((), found.file, at(found.file, pointer, problem), found.evidence)
        patterns.append(f"{path}**" if path.endswith("/") else path)
    if not patterns and keys == ("files",):
        return Planned((), found.file, at(found.file, "/files", say.lists_no_file()), found.evidence)
    return Planned(tuple(patterns), found.file, "", found.evidence)


def _paths(data: Any, keys: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Every path of a list of files, each a text or an object with a `path`; a plan may list them by step."""
    if isinstance(data, list):
        for number, row in enumerate(data):
            yield (f"/{number}", row) if isinstance(row, str) else (f"/{number}/path", row["path"])
        return
    for pointer, path in _paths(data.get("files") or [], ()):
        yield f"/files{pointer}", path
    for number, step in enumerate(data.get("steps") or () if "steps" in keys else ()):
        for pointer, path in _paths(step.get("files") or [] if isinstance(step, dict) else [], ()):
            yield f"/steps/{number}/files{pointer}", path


def _path_problem(path: str) -> str:
    inner = path.removesuffix("/")
    if not is_inner_path(inner) or "\\" in path:
        return say.path_outside(shown(path))
    if not any(set(part) - set("*?.[]!") for part in inner.split("/")):
        return say.path_names_everything(shown(path))
    return ""


def files_planned(gate: Gate, seen: Seen) -> Finding:
    """A plan says which files it touches: a valid list of its own, or one inside the plan."""
    found = planned_files(gate, seen)
    note = "" if found.problem else say.paths_planned(len(found.patterns), found.where)
    return Finding(ok=not found.problem, why=found.problem, evidence=found.evidence, note=note)


def scope(gate: Gate, seen: Seen) -> Finding:
    """Every changed file of the tree is one the plan names (`value` inside), or some are not (outside)."""
    planned = planned_files(gate, seen)
    if planned.problem:
        return Finding(ok=False, why=planned.problem)
    changed = seen.changed()
    if changed is None:
        return Finding(ok=False, why=tree_not_scanned(), is_known=False)
    outside = [path for path in changed if not matches(path, planned.patterns)]
    if gate.params["value"] == INSIDE:
        why = say.not_planned(planned.where, outside) if outside else ""
        return Finding(ok=not outside, why=why, proof=seen.tree, by_engine=True)
    if outside:
        return Finding(ok=True, note=say.not_planned(planned.where, outside), proof=seen.tree, by_engine=True)
    why = say.all_planned(planned.where) if changed else say.nothing_changed()
    return Finding(ok=False, why=why, proof=seen.tree, by_engine=True, is_meant=False)
