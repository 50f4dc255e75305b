"""Checks about a specification: can it be worked from, has an agent promised that it is done, does it hold.

A criterion with a command is judged by the engine's own receipt of it on this tree, and fails if the report fails it.
Any other is judged by a report with one line for each (`- C2: PASS, seen in app.log`): what is not named has failed.
"""

from __future__ import annotations

import re

from detent.core.machine import ENTRY
from detent.core.record import Record
from detent.gates.commands import run_on
from detent.gates.plan import receipt_key
from detent.gates.seen import Finding
from detent.gates.verdict import verdicts_on
from detent.packs.ralf import words as say
from detent.packs.ralf.spec import Spec, read_spec
from detent.store.disk.digest import hash_text
from detent.store.journal.memory import NO_REPORT
from detent.store.journal.observed import REPORT, Command
from detent.words import proof

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from detent.core.machine import Gate
    from detent.gates.commands import Run
    from detent.gates.seen import Said, Seen
    from detent.packs.ralf.spec import Criterion

PASS, FAIL = "PASS", "FAIL"
ALL_PASS, SOME_FAIL = "all pass", "some fail"
UNJUDGED = "unjudged"
LAST_LINES = 50  # of what a run said, in which its promise counts
_VISITS = re.compile(r"\{(\w+)\}")
_MOST_SHOWN = 80


class Result(Record):
    """How one criterion, or one command of the project, stands on this tree."""

    label: str
    stands: str  # pass | fail | unjudged (no verdict) | unknown (a command that was not run here, or could not be)
    why: str = ""


def spec(gate: Gate, seen: Seen) -> Finding:
    """A specification has one promise and criteria that can be read."""
    file, read = _spec(gate, seen)
    text = seen.files.text(file)
    evidence = {f"text:{file}": hash_text(text or "")}
    if text is None:
        return Finding(ok=False, why=say.no_spec(file), evidence=evidence)
    if read.problems:
        return Finding(ok=False, why=say.spec_problems(file, read.problems), evidence=evidence)
    return Finding(ok=True, evidence=evidence)


def promise_seen(gate: Gate, seen: Seen) -> Finding:
    """The last run of this visit printed the promise near its end, in words of its own."""
    file, read = _spec(gate, seen)
    if not read.promise:
        return Finding(ok=False, why=say.no_promise(file))
    said = seen.around.said() if seen.around is not None else None
    # In a sentence, never on a line of its own: an agent that repeats its prompt must not seem to promise.
    fix = say.promise_in_time(file, read.tag)
    if said is None:
        return Finding(ok=False, why=say.no_run_ended(), fix=fix)
    if not _is_promised(said, read.tag):
        return Finding(ok=False, why=say.not_promised(LAST_LINES, read.tag), fix=fix)
    return Finding(ok=True, proof=hash_text(said.text), by_engine=True)


def _is_promised(said: Said, tag: str) -> bool:
    """Whether the tag stands alone on a line that is no echo: what comes before an echo comes before it in the prompt.

    A run that repeats a prompt with the tag on a line of its own has promised nothing.
    """
    prompted = _with_line_before(said.prompt, tag)
    lines = "\n".join(said.text.rstrip().splitlines()[-LAST_LINES:])
    # An echo may begin anywhere: the end of a prompt's line, or nothing at all, is an echo of it too.
    return any(not any(line.endswith(before) for line in prompted) for before in _with_line_before(lines, tag))


def _with_line_before(text: str, tag: str) -> list[str]:
    """For each line that is nothing but the tag, the filled line before it."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return [lines[at - 1] if at else "" for at, line in enumerate(lines) if line == tag]


def criteria(gate: Gate, seen: Seen) -> Finding:
    """Every criterion holds on this tree, or (`value = "some fail"`) at least one is known not to."""
    file, read = _spec(gate, seen)
    if read.problems:
        return Finding(ok=False, why=say.spec_problems(file, read.problems))
    found = results(gate, seen)
    has_looked = seen.snapshot.exit != ENTRY  # the judge of criteria without a command had a turn
    is_open = {result.label for result in found if result.stands == UNJUDGED and not has_looked}
    parts = tuple(
        (result.label, None if result.label in is_open else result.stands == "pass", result.why) for result in found
    )
    evidence = _report(gate, seen)[1]
    if unknown := [result for result in found if result.stands == "unknown"]:
        reasons = {
            why: [result.label for result in unknown if result.why == why] for why in (result.why for result in unknown)
        }
        why = say.unknown_criteria(list(reasons.items()))
        return Finding(ok=False, why=why, pending=True, evidence=evidence, parts=parts)
    failed = [result for result in found if result.stands == "fail" or (has_looked and result.stands == UNJUDGED)]
    proof = hash_text(repr(parts))
    if gate.params["value"] == SOME_FAIL:
        return Finding(
            ok=bool(failed),
            why="" if failed else say.none_fails(),
            evidence=evidence,
            proof=proof,
            by_engine=True,
            parts=parts,
        )
    open_ones = [(result.label, result.why) for result in found if result.stands != "pass"]
    unmet = say.open_criteria(open_ones) if open_ones else ""
    return Finding(ok=not open_ones, why=unmet, evidence=evidence, proof=proof, by_engine=True, parts=parts)


def results(gate: Gate, seen: Seen) -> tuple[Result, ...]:
    """The project's own commands first, then each criterion in the order of the specification."""
    of_commands = [Result(command.name, *_of_command(gate, seen, command.line)) for command in seen.commands]
    report, _, why = _report(gate, seen)
    found = []
    for criterion in _spec(gate, seen)[1].criteria:
        if criterion.command:
            stands = _of_command(gate, seen, criterion.command)
            judged = _of_report(gate, report, criterion) if report and not why else (UNJUDGED, "")
            # A green command does not overrule a judge that says FAIL; a PASS of theirs does not make it green.
            found.append(Result(criterion.label, *(judged if stands[0] == "pass" and judged[0] == "fail" else stands)))
        else:
            found.append(Result(criterion.label, *(why or _of_report(gate, report, criterion))))
    return (*of_commands, *found)


def criteria_runs(gate: Gate, seen: Seen) -> tuple[Run, ...]:
    """What has to be run on the tree before the criteria can be judged; the same line is run once."""
    found = {command.line: command for command in seen.commands}
    for criterion in _spec(gate, seen)[1].criteria:
        if criterion.command:
            found.setdefault(criterion.command, Command(criterion.label, criterion.command))
    return tuple(run_on(gate, seen, command) for command in found.values())


def named_by_visits(file: str, visits: Mapping[str, int]) -> str:
    """A file by its name; `{STATE}` in it is how often that state was entered."""
    return _VISITS.sub(lambda match: str(visits.get(match[1], 0)), file)


def _spec(gate: Gate, seen: Seen) -> tuple[str, Spec]:
    file = named_by_visits(gate.params["file"], seen.snapshot.visits)
    return file, read_spec(seen.files.text(file) or "")


def _of_command(gate: Gate, seen: Seen, line: str) -> tuple[str, str]:
    receipt = seen.receipt(receipt_key(seen.tree, line, gate, seen.workspace))
    if receipt is None or receipt.is_unrun:
        return "unknown", say.not_run() if receipt is None else proof.result(receipt.problem, receipt.said)
    if receipt.is_green:
        return "pass", ""
    shown = line.partition("\n")[0][:_MOST_SHOWN]
    return "fail", proof.command_failed_here(shown, receipt.result, receipt.said)


def is_to_be_judged(gate: Gate, seen: Seen) -> bool:
    """Whether all that this gate lacks is a judgement of criteria without a command."""
    return {result.stands for result in results(gate, seen) if result.stands != "pass"} == {UNJUDGED}


def _report(gate: Gate, seen: Seen) -> tuple[str, dict[str, str], tuple[str, str] | None]:
    """What the report says, the evidence it is, and how each of its criteria stands where it does not count."""
    file, section = gate.params["report"], gate.params["section"]
    body = seen.section(file, section) or ""
    key, found = f"{REPORT}{file}:{section}", hash_text(body)
    why = _why_void(gate, seen, key, found) if found else ""
    if why and not seen.tree:
        return body, {key: found}, ("unknown", say.not_looked_at())
    return body, {key: found}, (UNJUDGED, say.report_void(file, section, why)) if why else None


def _why_void(gate: Gate, seen: Seen, key: str, found: str) -> str:
    """Why a report does not count; one that no run wrote was written by hand since, about what is there now."""
    if gate.since == "entry" and seen.snapshot.entry.get(key, "") == found:
        return say.report_unchanged(seen.snapshot.state)
    judged, role = seen.judged.get(key, NO_REPORT), gate.params.get("role", "")
    if judged.hash != found:
        return ""
    if role and judged.role not in (role, ""):
        return say.report_of_other_role(judged.role, role)
    return "" if judged.tree == seen.tree else say.report_of_other_files()


def _of_report(gate: Gate, report: str, criterion: Criterion) -> tuple[str, str]:
    found = verdicts_on(report, criterion.label, (PASS, FAIL))
    file, section = gate.params["report"], gate.params["section"]
    if not found:
        return UNJUDGED, say.not_reported(file, section)
    verdicts = {verdict for verdict, _ in found}
    if verdicts == {PASS}:
        return "pass", ""
    is_clear = verdicts == {FAIL}
    return "fail", (say.reported_failed if is_clear else say.reported_unclear)(file, section, found[0][1][:_MOST_SHOWN])
