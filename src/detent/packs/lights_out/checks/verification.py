"""The check about a verification: each criterion with its exact command and output, and the other required parts.

This check reads the form: every criterion with a command that can be repeated. `recorded.py` compares each command
with a run of the engine's own.
"""

from __future__ import annotations

import re

from detent.gates.verdict import read_verdict
from detent.packs.lights_out.checks.acceptance import START, criteria_of, mentioned, of_each
from detent.packs.lights_out.checks.documents import (
    Entry,
    Page,
    code_blocks,
    entries,
    is_none,
    labelled,
    ran,
    topics,
    written_text,
)
from detent.packs.lights_out.checks.readiness import LINKS, TRUTH, TRUTHS, truths_of
from detent.packs.lights_out.checks.scope import is_yes
from detent.packs.lights_out.words import documents as page_words
from detent.packs.lights_out.words import verification as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from detent.core.machine import Gate
    from detent.gates.seen import Finding, Seen
    from detent.packs.lights_out.checks.acceptance import Criterion

PASS, FAIL = "PASS", "FAIL"
BROWSER = "browser check"
KINDS = ("CLI output", "HTTP response", BROWSER, "sample-data run")
VERDICT, TESTS, CRITERIA, APPLICATION = "Verdict", "Tests", "Acceptance Criteria", "Application"
LOAD, SECURITY, DEPLOY, REPRODUCTION = "Load Test", "Security Scan", "Deploy Config", "Reproduction"
SCANNED = ("secrets", "injection", "auth", "dependency sources")
LABELS = ("kind", "command", "exit", "output", "result", "concurrency")
_RAN = "Command: `make test`, and its output in a code block"
_VERIFICATION = {
    VERDICT: f"{PASS} or {FAIL}",
    TESTS: _RAN,
    TRUTHS: f"- T-1: result: {PASS}",
    APPLICATION: "Command: `python -m count sample.txt`, and its output in a code block",
    SECURITY: "Critical: none, and one item for each of: " + ", ".join(SCANNED),
    DEPLOY: "Target: GitHub Pages; matches: yes",
    LINKS: "Hold: yes, and the name of each AC-*",
}
_ONE = "### AC-1, Kind: CLI output, Command: `python -m count sample.txt`, Result: PASS, and the output in a code block"
_STEP = "- AC-1: command: `python -m count empty.txt`; expected: 0; got: a traceback"
_AT_ONCE = re.compile(r"(\d+)\s+(?:concurrent|parallel|simultaneous|users?|clients?|connections?)", re.IGNORECASE)


def verification_doc(gate: Gate, seen: Seen) -> Finding:
    """Every criterion and truth was exercised, with exact command and output, and all of it passed.

    With `value = "FAIL"` the opposite: something failed, and each failure has steps that show it again.
    """
    wanted = gate.params.get("value", PASS)
    page = Page(seen, gate.params["file"], {**_VERIFICATION, CRITERIA: _ONE})
    bodies = page.bodies(_VERIFICATION)
    criteria = criteria_of(seen, gate.params["scope"])
    if not criteria:
        page.wrong(page_words.no_criteria(gate.params["scope"]))
    said = read_verdict(bodies[VERDICT], (PASS, FAIL))
    if bodies[VERDICT] and said != wanted:
        page.wrong(say.not_ready(VERDICT, said or "", wanted))
        page.is_meant = said is None
    failed = _failed(page, criteria)
    if FAIL in (wanted, said):
        _look_at_steps(page, failed)
    if wanted == PASS:
        for id_ in failed:
            page.wrong(say.no_pass(id_, PASS, CRITERIA), _under(CRITERIA).replace("AC-1", id_))
        _look_at_rest(page, bodies, seen, gate)
        _look_at_load(page, criteria)
    for name in (TESTS, APPLICATION):
        if bodies[name]:
            ran(page, page_words.heading(name), _whole(bodies[name]), _under(name))
    found = page.finding()
    is_failure = found.ok and wanted == FAIL  # what failed is then why the gate is open
    return found.replace(parts=tuple((id_, False, say.did_not_pass()) for id_ in failed)) if is_failure else found


def _whole(body: str) -> Entry:
    return Entry(written_text(body), code_blocks(body))


def _under(section: str) -> str:
    return page_words.under(section, _VERIFICATION.get(section, _ONE))


def _failed(page: Page, criteria: Sequence[Criterion]) -> list[str]:
    """The criteria that did not pass; the exercise of each is checked as well."""
    failed = []
    for id_, entry in of_each(page, CRITERIA, criteria, _ONE).items():
        said = labelled(entry.text, LABELS)
        where, example = page_words.entry_of(id_, CRITERIA), _under(CRITERIA).replace("AC-1", id_)
        if said.get("kind", "").strip("*_`. ").lower() not in [kind.lower() for kind in KINDS]:
            page.wrong(say.no_kind(where, KINDS), example)
        ran(page, where, entry, example)
        if read_verdict(said.get("result", ""), (PASS, FAIL)) != PASS:
            failed.append(id_)
    return failed


def _look_at_steps(page: Page, failed: Sequence[str]) -> None:
    body = page.body(REPRODUCTION, _STEP)
    example = page_words.under(REPRODUCTION, _STEP)
    steps = entries(body)
    for entry in steps:
        named = START.match(entry.text)
        said = labelled(entry.text[named.end() if named else 0 :], ("command", "expected", "got"))
        if lacks := [label for label in ("command", "expected", "got") if label not in said]:
            page.wrong(say.step_lacks(entry.head, REPRODUCTION, lacks), example)
    if body and not steps:
        page.wrong(say.no_steps(REPRODUCTION), example)
    for id_ in failed if body else ():
        if id_ not in mentioned(body):
            page.wrong(say.failure_not_shown(REPRODUCTION, id_), example.replace("AC-1", id_))


def _look_at_rest(page: Page, bodies: dict[str, str], seen: Seen, gate: Gate) -> None:
    """Truths, security, deploy config and key links."""
    results = {}
    for entry in entries(bodies[TRUTHS], TRUTH):
        if match := TRUTH.match(entry.text):
            results[match["id"]] = labelled(entry.text[match.end() :], ("result",)).get("result", "")
    truths = truths_of(seen.section(gate.params["readiness"], TRUTHS) or "")
    if not truths:
        page.wrong(say.no_truth_listed(gate.params["readiness"]))
    for id_ in truths if bodies[TRUTHS] else ():
        if read_verdict(results.get(id_, ""), (PASS, FAIL)) != PASS:
            page.wrong(say.no_pass(id_, PASS, TRUTHS), _under(TRUTHS).replace("T-1", id_))
    topics(page, SECURITY, bodies[SECURITY], SCANNED, "none found, with COMMAND")
    critical = labelled(written_text(bodies[SECURITY]), ("critical", *SCANNED)).get("critical", "")
    if bodies[SECURITY] and not (critical and is_none(critical)):
        page.wrong(say.not_said(SECURITY, "Critical: none"), _under(SECURITY))
    _look_at_target(page, bodies[DEPLOY], seen.section(gate.params["scope"], "Deployment Target") or "")
    if links := bodies[LINKS]:
        if not is_yes(labelled(written_text(links), ("hold",)).get("hold", "")):
            page.wrong(say.not_said(LINKS, "Hold: yes"), _under(LINKS))
        if left := [
            criterion.id
            for criterion in criteria_of(seen, gate.params["scope"])
            if criterion.id not in mentioned(links)
        ]:
            page.wrong(page_words.leaves_out(LINKS, left), _under(LINKS))


def _look_at_target(page: Page, body: str, wanted: str) -> None:
    said = labelled(written_text(body), ("target", "matches"))
    target, wanted_text = said.get("target", "").strip("*_`. ").casefold(), written_text(wanted).casefold()
    if body and not (len(target) > 2 and target in wanted_text):
        page.wrong(say.other_target(DEPLOY), _under(DEPLOY))
    if body and not is_yes(said.get("matches", "")):
        page.wrong(say.not_said(DEPLOY, "matches: yes"), _under(DEPLOY))


def _look_at_load(page: Page, criteria: Sequence[Criterion]) -> None:
    """A criterion about load was tried under the load it names."""
    heavy = [criterion for criterion in criteria if criterion.is_about_load]
    if not heavy:
        return
    example = "Command: `hey -c 50 URL`, Concurrency: 50, and its output in a code block"
    body = page.body(LOAD, example)
    if not body:
        return
    ran(page, page_words.heading(LOAD), _whole(body), page_words.under(LOAD, example))
    number = re.match(r"[*_`]*(\d+)", labelled(written_text(body), ("concurrency", "command")).get("concurrency", ""))
    most = max((int(found) for criterion in heavy for found in _AT_ONCE.findall(criterion.text)), default=1)
    if number is None or int(number[1]) < most:
        page.wrong(say.too_little_load(LOAD, [criterion.id for criterion in heavy], most))
