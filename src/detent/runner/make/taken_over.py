"""Reads what the file of another tool says of a task besides its state.

Every label of `[store.shows]` that holds a value is taken over or refused; none is overwritten with nothing. What is
read goes into the first journal line as `found`, where store/journal/memory.py starts from it.
"""

from __future__ import annotations

import json
import os

from detent.core.record import Record
from detent.effects.git.git import Git, is_object_id
from detent.effects.git.person_checkout import branch_commit
from detent.errors import RefusedError
from detent.runner.make.adopted_files import revision_files
from detent.store.journal.places import branch_of, is_task_id
from detent.store.text.numbers import whole_number
from detent.words.runner import adopt as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from detent.core.machine import Edge, Machine
    from detent.store.journal.head import Found
    from detent.store.journal.native import Document, Native
    from detent.store.journal.places import Project

_BASELINE = ("branch", "commit_sha", "captured_at")
_FILES_SPEC = "file_spec"


class TakenOver(Record):
    """What a file of another tool says; `problems` names each field that can't be taken over."""

    id: str
    title: str
    mode: str
    visits: Mapping[str, int]
    found: Found  # for the first journal line
    problems: tuple[str, ...]


def read_taken_over(native: Native, document: Document, project: Project) -> TakenOver:
    """What the file and the folder say, by the names under which the machine shows them."""
    machine, problems = native.machine, list[str]()
    labels = {source: label for label, source in machine.store.shows.items()}
    labels.setdefault("title", machine.store.title)
    said = {source: document.value(label).strip() for source, label in labels.items() if label}
    for source in ("id", "title", "mode", "run", "branch", "commit", "created"):
        if said.get(source, "")[:1] in ("{", "[") and _json(said[source]) is not None:
            problems.append(say.no_text(labels[source]))
            said[source] = ""
    if said.get("id") and not is_task_id(said["id"]):
        problems.append(say.no_id(labels["id"], said["id"]))
    if said.get("mode") and said["mode"] not in machine.modes:
        problems.append(say.no_mode(labels["mode"], said["mode"], machine.modes))
    prepared = _baseline(said.get("baseline", ""), labels.get("baseline", ""), project, problems)
    if "branch" in labels:
        prepared |= _branch(said, labels["branch"], machine, project, problems, has_baseline=bool(prepared))
    revision = _revision(native, said.get("revision", ""), labels.get("revision", ""), document.state, problems)
    found: Found = {
        "runs": _run_number(said.get("run", "")),
        "revision": revision,
        "prepared": prepared,
        "led": said.get("why", ""),
        "shown": {name: said[name] for name in ("created", "run", "commit") if said.get(name)},
    }
    visits = dict.fromkeys(_filing_states(machine), revision) if revision else {}
    title = " ".join(said.get("title", "").split())
    return TakenOver(said.get("id", ""), title, said.get("mode", ""), visits, found, tuple(problems))


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _baseline(text: str, label: str, project: Project, problems: list[str]) -> dict[str, Mapping[str, str]]:
    """The commit to come back to, if the file names one that this repository has."""
    if not text:
        return {}
    content = _json(text)
    if not isinstance(content, dict) or not all(isinstance(content.get(name), str) for name in _BASELINE):
        problems.append(say.no_baseline(label, _BASELINE))
        return {}
    commit = content["commit_sha"]
    if not is_object_id(commit) or not project.common_dir or not _has_commit(project.common_dir, commit):
        problems.append(say.no_commit(label, commit))
        return {}
    return {"baseline": {name: content[name] for name in _BASELINE}}


def _has_commit(common_dir: str, commit: str) -> bool:
    return Git(common_dir).finish("cat-file", "-e", f"{commit}^{{commit}}").exit == 0


def _branch(
    said: Mapping[str, str], label: str, machine: Machine, project: Project, problems: list[str], *, has_baseline: bool
) -> dict[str, Mapping[str, str]]:
    """The branch of the work: as named, else the one that bears the task's name and was made at the baseline."""
    named = said.get("branch", "")
    name = named or (branch_of(machine.name, said.get("id", "")) if has_baseline else "")
    if name and project.common_dir and branch_commit(project.common_dir, name):
        return {"branch": {"name": name}}
    if named:
        problems.append(say.no_branch(label, named))
    return {}


def _filing_states(machine: Machine) -> tuple[str, ...]:
    """The states that are entered with a revision of the draft filed under the number of the visit."""
    return tuple(dict.fromkeys(edge.target for edge in machine.edges() if _files(edge)))


def _files(edge: Edge) -> bool:
    return any(_FILES_SPEC in way.effects for way in edge.ways)


def _revision(native: Native, text: str, label: str, state: str, problems: list[str]) -> int:
    """The number of the last revision in the folder; the file must name the same, or none."""
    store = native.machine.store
    if not store.revision:
        return 0
    last = max(revision_files(native), default=0)
    named = whole_number(text) if text else last
    if named is None:
        problems.append(say.no_number(label, text))
    elif named != last:
        missing = store.revision.replace("{n}", str(named))
        if last:
            problems.append(say.other_revision(label, named, missing, store.revision.replace("{n}", str(last))))
        else:
            problems.append(say.no_revision(label, named, missing))
    elif not last and state not in _before_filing(native.machine):
        first = store.revision.replace("{n}", "1")
        problems.append(say.no_finalized_spec(state, first, _start(native)))
    return last


def _start(native: Native) -> str:
    return f"{native.machine.initial} ({native.state_label})"


def _before_filing(machine: Machine) -> set[str]:
    """The states a task can be in before a revision was filed."""
    reached, waiting = {machine.initial}, [machine.initial]
    while waiting:
        here = waiting.pop()
        for edge in machine.edges():
            if edge.source == here and not _files(edge) and edge.target not in reached:
                reached.add(edge.target)
                waiting.append(edge.target)
    return reached


def _run_number(name: str) -> int:
    """The number at the end of a run's name; runs here count on from it."""
    return min(whole_number(name.rpartition("-")[2]) or 0, 999_999)


def refuse_problems(taken: TakenOver, document: Document) -> None:
    if taken.problems:
        raise RefusedError(say.problems_of_file(os.path.basename(document.path), taken.problems), where=document.path)
