"""Reads JSON reviews, decisions and signals, in the same way from every writer; an ambiguous one says nothing.

A review says `ok` and `blocked` at its top, or under `aggregate`, or by a word under `decision`; `reviewers` are each a
review of their own. A no counts before a yes: `ok` with a blocking issue is blocked.
"""

from __future__ import annotations

from detent.core.record import Record
from detent.gates.json_artifacts import read_artifact, shown
from detent.gates.seen import Finding
from detent.packs.global_ import words as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from detent.core.machine import Gate
    from detent.gates.json_artifacts import Artifact
    from detent.gates.seen import Seen

OK, NEEDS_CHANGES, BLOCKED, PLAN = "ok", "needs_changes", "blocked", "plan"
_YES = ("ok", "approved", "approve", "accepted", "accept", "pass", "passed")
_NO = ("needs_changes", "changes_requested", "request_changes", "rejected", "reject", "fail", "failed")
_PLAN_FLAWED = "plan_flawed"
_ALL_WELL = ("ok", "none", "done", "complete", "completed", "finished", "success", "succeeded")
_BLOCKING = ("blocking", "blocker", "critical", "high", "must_fix", "severe", "fatal")
_NOT_BLOCKING = ("major", "medium", "moderate", "minor", "low", "trivial", "nit", "info", "note", "style", "suggestion")
_LONGEST_REASON = 300  # characters
_MOST_ISSUES = 8
DECISIONS: Mapping[str, tuple[str, ...]] = {
    "accepted": ("accepted", "accept", "approved", "approve"),
    "needs_changes": ("needs_changes", "changes_requested", "requires_changes", "requires_further_changes"),
    "unclear": ("unclear", "needs_review"),
    "upstream": ("upstream", "upstream_problem"),
    "revert": ("revert", "revert_requested", "regression"),
}


class Read(Record):
    """What a review comes to: a word, and where it says so."""

    word: str
    pointer: str = ""
    why: str = ""


def _word(value: object) -> str:
    return "_".join(value.lower().replace("-", " ").split()) if isinstance(value, str) else ""


def _statements(data: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Every object that speaks for the whole review, with its pointer."""
    yield "", data
    for name in ("aggregate", "aggregated"):
        if isinstance(data.get(name), dict):
            yield f"/{name}", data[name]


def _issues(data: Mapping[str, Any], pointer: str = "") -> Iterator[tuple[str, Mapping[str, Any]]]:
    for number, issue in enumerate(data.get("issues") or ()):
        yield f"{pointer}/issues/{number}", issue
    for name in ("reviewers", "reviews"):
        for number, reviewer in enumerate(data.get(name) or ()):
            yield from _issues(reviewer, f"{pointer}/{name}/{number}")


def _is_blocking(issue: Mapping[str, Any]) -> bool:
    return _word(issue.get("severity")) in _BLOCKING


def _blocking(data: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Everything that blocks, with its pointer."""
    for pointer, statement in _statements(data):
        if statement.get("blocked") is True:
            yield f"{pointer}/blocked", say.is_blocked()
        for key in ("decision", "signal", "status", "verdict"):
            if _word(statement.get(key)) == BLOCKED:
                yield f"{pointer}/{key}", say.says((BLOCKED,))
    for name in ("reviewers", "reviews"):
        for number, reviewer in enumerate(data.get(name) or ()):
            if reviewer.get("blocked") is True or (reviewer.get("ok") is False and _is_blocking(reviewer)):
                yield f"/{name}/{number}", say.blocked_by(shown(reviewer.get("name", number)))
    for pointer, issue in _issues(data):
        if _is_blocking(issue):
            yield pointer, say.blocking_issue(shown(issue.get("message") or issue.get("title") or issue))


def _against(data: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Everything that says no without blocking."""
    for pointer, statement in _statements(data):
        if statement.get("ok") is False:
            yield f"{pointer}/ok", say.not_ok()
        if statement.get("needs_changes") is True:
            yield f"{pointer}/needs_changes", say.needs_changes()
        if statement.get("structural_flaws") or statement.get("structural_flaw") is True:
            name = "structural_flaws" if statement.get("structural_flaws") else "structural_flaw"
            yield f"{pointer}/{name}", say.structural_flaw(shown(statement[name]))
        for key in ("decision", "signal", "status", "verdict"):
            if (word := _word(statement.get(key))) in (*_NO, _PLAN_FLAWED):
                yield f"{pointer}/{key}", say.says((word,))


def _unclear(data: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """A verdict or a severity in words that are not known: it may well be a no, so that it never lets anything pass."""
    for pointer, statement in _statements(data):
        for key in ("decision", "verdict"):
            if statement.get(key) and _word(statement[key]) not in (*_YES, *_NO, BLOCKED, _PLAN_FLAWED):
                yield f"{pointer}/{key}", say.no_verdict(shown(statement[key]), (OK, NEEDS_CHANGES, BLOCKED))

    for pointer, issue in _issues(data):
        if _word(issue.get("severity")) not in ("", *_BLOCKING, *_NOT_BLOCKING):
            yield f"{pointer}/severity", say.no_severity(shown(issue["severity"]))


def _for(data: Mapping[str, Any]) -> tuple[bool, bool]:
    """Whether anything says ok, and whether anything says that nothing blocks; a word says both."""
    words = [_word(statement.get(key)) in _YES for _, statement in _statements(data) for key in ("decision", "verdict")]
    says_ok = any(statement.get("ok") is True for _, statement in _statements(data)) or any(words)
    says_clear = any(statement.get("blocked") is False for _, statement in _statements(data)) or any(words)
    return says_ok, says_clear


def read_plan_review(data: Mapping[str, Any]) -> Read:
    if blocking := next(_blocking(data), None):
        return Read(BLOCKED, *blocking)
    if against := next(_against(data), None):
        return Read(NEEDS_CHANGES, *against)
    if unclear := next(_unclear(data), None):
        return Read("", *unclear)
    says_ok, says_clear = _for(data)
    if not says_ok:
        return Read("", "/ok", say.ok_missing())
    if not says_clear:
        return Read("", "/blocked", say.blocked_missing())
    return Read(OK)


def read_code_review(data: Mapping[str, Any]) -> Read:
    """Blocking issues decide, and by what they are about: the plan before the code, because it comes before it."""
    blocking, against = list(_blocking(data)), list(_against(data))
    flagged = [(pointer, issue) for pointer, issue in _issues(data) if _is_blocking(issue) or against]
    if flawed := [pointer for pointer, said in against if said == say.says((_PLAN_FLAWED,))]:
        return Read(PLAN, flawed[0], say.plan_flawed())
    for pointer, issue in flagged:
        if any(_word(issue.get(key)) in ("plan", "planning") for key in ("target", "about")):
            return Read(PLAN, pointer, say.issue_of_plan(shown(issue.get("message") or issue)))
    if said := next(iter((*blocking, *against)), None):
        return Read(NEEDS_CHANGES, *said)
    if unclear := next(_unclear(data), None):
        return Read("", *unclear)
    return Read(OK)


def _finding(gate: Gate, found: Artifact, read: Read) -> Finding:
    wanted = gate.params["value"]
    if read.word == wanted:
        return Finding(ok=True, evidence=found.evidence, note=read.why and _in_full(read.why, found.data))
    return found.closed(say.other_answer(read.why or say.says((read.word,)), read.word, wanted), read.pointer)


def _in_full(why: str, data: Mapping[str, Any]) -> str:
    """Why a review says no, with every issue in the reviewer's own words, blocking ones first."""
    issues = sorted((issue for _, issue in _issues(data)), key=lambda issue: not _is_blocking(issue))
    shown_issues = [shown(issue.get("message") or issue.get("title") or issue) for issue in issues]
    new = [issue for issue in dict.fromkeys(shown_issues) if issue not in why]
    return say.in_full(why, new[:_MOST_ISSUES], len(new) - _MOST_ISSUES) if new else why


def plan_review(gate: Gate, seen: Seen) -> Finding:
    """The review of a plan comes to this `value`: ok, needs_changes or blocked.

    It is ok only with `ok` true and `blocked` false, at the top or under `aggregate`. Any reviewer with `ok` false and
    severity blocking blocks it. Anything else that says no, a structural flaw too, needs changes. A `verdict` or
    `decision` in unknown words is no answer.
    """
    found = read_artifact(seen, gate.params["file"], gate.params["schema"])
    if found.problem:
        return Finding(ok=False, why=found.problem, evidence=found.evidence)
    return _finding(gate, found, read_plan_review(found.data))


def code_review(gate: Gate, seen: Seen) -> Finding:
    """The review of code comes to this `value`: ok, needs_changes (of the code) or plan (the plan is flawed).

    It is ok when no issue is blocking and nothing says no. An issue may name its `target`: code or plan. A review that
    a run left is about the files of that run: once they have changed, it says nothing. Nor does one whose `verdict` or
    `decision` is in unknown words.
    """
    found = read_artifact(seen, gate.params["file"], gate.params["schema"])
    if found.problem:
        return Finding(ok=False, why=found.problem, evidence=found.evidence)
    if seen.tree and seen.filing.files.get(found.file) and seen.filing.tree != seen.tree:
        return found.closed(say.about_other_files())
    return _finding(gate, found, read_code_review(found.data))


def decision(gate: Gate, seen: Seen) -> Finding:
    """A recorded decision is this `value`: accepted, needs_changes, unclear, upstream or revert.

    The word stands under `verdict`, `decision` or `status`; two that differ decide nothing.
    """
    found = read_artifact(seen, gate.params["file"], gate.params["schema"])
    if found.problem:
        return Finding(ok=False, why=found.problem, evidence=found.evidence)
    words = {key: _word(found.data[key]) for key in ("verdict", "decision", "status") if found.data.get(key)}
    if found.data.get("accepted") is not None:
        words["accepted"] = "accepted" if found.data["accepted"] is True else "not accepted"
    known = {key: name for key, said in words.items() for name, same in DECISIONS.items() if said in same}
    if unknown := [key for key in words if key not in known]:
        return found.closed(say.no_decision(shown(found.data[unknown[0]]), DECISIONS), f"/{unknown[0]}")
    if len(set(known.values())) > 1:
        return found.closed(say.decides_nothing(list(dict.fromkeys(known.values()))))
    said, wanted = next(iter(known.values()), ""), gate.params["value"]
    if said == wanted:
        return Finding(ok=True, evidence=found.evidence, note=str(found.data.get("reason", ""))[:_LONGEST_REASON])
    return found.closed(say.decision_differs(said, wanted), f"/{next(iter(known), 'verdict')}")


def signal_is(gate: Gate, seen: Seen) -> Finding:
    """A report carries one of these `values` as its `signal` (or `status`), with a reason."""
    found = read_artifact(seen, gate.params["file"], gate.params["schema"])
    if found.problem:  # a missing file reports nothing: another move is meant
        is_there = seen.files.text(found.file) is not None
        return Finding(ok=False, why=found.problem, evidence=found.evidence, is_meant=is_there)
    key, said, problem = _signal(found)
    if said in gate.params["values"]:
        return Finding(ok=True, evidence=found.evidence, note=str(found.data.get("reason", ""))[:_LONGEST_REASON])
    return found.closed(problem or say.signal_differs(said, gate.params["values"]), f"/{key}")


def no_signal(gate: Gate, seen: Seen) -> Finding:
    """No report of this visit signals anything; there need not be one, but one that is there is read.

    These `values` are known signals. Any other word that does not say that all is well may be a no as well, and so may
    a reason without a signal: none of them lets the work pass.
    """
    found = read_artifact(seen, gate.params["file"], gate.params["schema"])
    # One that was there at entry may be gone: a move back puts the earlier ones away.
    is_old = all(value in ("", seen.snapshot.entry.get(key, "")) for key, value in found.evidence.items())
    if is_old and not seen.filing.files.get(found.file):
        return Finding(ok=True, by_engine=True)
    if found.problem:
        return Finding(ok=False, why=found.problem)
    key, said, problem = _signal(found)
    if not said and not problem and found.data.get("reason"):
        problem = say.reason_without_signal(gate.params["values"])
    elif said and said not in (*gate.params["values"], *_ALL_WELL):
        problem = say.no_signal(shown(found.data[key]), gate.params["values"])
    is_clear = not problem and said not in gate.params["values"]
    return Finding(ok=True, by_engine=True) if is_clear else found.closed(problem or say.signals(said), f"/{key}")


def _signal(found: Artifact) -> tuple[str, str, str]:
    """Where a report carries its signal, the signal, and why it is none."""
    words = {key: _word(found.data[key]) for key in ("signal", "status") if found.data.get(key)}
    key, said = next(iter(words.items()), ("signal", ""))
    is_clear = len(set(words.values())) < 2
    return key, said if is_clear else "", "" if is_clear else say.unclear_signal(list(words.values()))
