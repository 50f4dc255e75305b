"""Checks about what reading roles report: findings of a review, drift of documents, and the words of a block."""

from __future__ import annotations

import re

from detent.core.record import Record
from detent.gates.seen import Finding
from detent.gates.verdict import read_verdict
from detent.packs.lights_out.checks.documents import (
    Page,
    all_labelled,
    entries,
    is_none,
    labelled,
    outside,
    says_something,
    topics,
    written_text,
)
from detent.packs.lights_out.words import documents as page_words
from detent.packs.lights_out.words import reports as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from detent.core.machine import Gate
    from detent.gates.seen import Seen
    from detent.packs.lights_out.checks.documents import Entry
    from detent.words.message import Message

NONE_OPEN, SOME_OPEN = "none open", "some open"
FINDINGS, AXES, EXPLICIT = "Findings", "Axes", "Explicit Checks"
REVIEW_AXES = ("correctness", "readability", "architecture", "security", "performance")
EXPLICIT_CHECKS = ("scope reduction", "placeholder behavior", "AC traceability", "dead code", "dependencies")
OPEN, FIXED, DOCUMENTED = "open", ("fixed", "resolved"), "documented"
OTHER_SEVERITIES = ("Optional", "Nit")
CLEAN, REPAIRED, BLOCKED = OUTCOMES = ("CLEAN", "REPAIRED", "BLOCKED")
OUTCOME, DRIFT, REPORT = "Outcome", "Drift", "Report"
DRIFT_AXES = (
    "directory structure",
    "interfaces",
    "acceptance criteria",
    "external integrations",
    "stack/deploy config",
    "log accuracy",
    "readiness/traceability",
)
COSMETIC, STRUCTURAL, VIOLATING = CLASSES = ("cosmetic", "structural", "spec-violating")
OFFERS = ("accept", "revert", "split")
BLOCKED_LINE = "BLOCKED: WHAT IS WRONG. Options: [FIRST, SECOND]. Recommendation: WHICH AND WHY."
_OF_FINDING, _OF_DRIFT = ("severity", "axis", "status"), ("class", "fix")
_FINDING = "- WHAT IS WRONG; severity: Required; axis: correctness; status: open"
_DRIFTED = "- WHAT DIFFERS; class: structural; fix: WHICH DOCUMENT NOW SAYS WHAT"
_REVIEW = {
    FINDINGS: f"None. (or: {_FINDING})",
    AXES: f"- {REVIEW_AXES[0]}: WHAT WAS LOOKED AT (and an item each for {', '.join(REVIEW_AXES[1:])})",
    EXPLICIT: f"- {EXPLICIT_CHECKS[0]}: none found (and an item each for {', '.join(EXPLICIT_CHECKS[1:])})",
}
_RECONCILED = {
    OUTCOME: f"one of {', '.join(OUTCOMES)}",
    AXES: f"- {DRIFT_AXES[0]}: clean (and an item each for {', '.join(DRIFT_AXES[1:])})",
    DRIFT: f"None. (or: {_DRIFTED})",
}
_TEMPLATE = re.compile(r"\[?(?:what'?s wrong|what is wrong|[A-Z]|first|second|which and why)\]?\.?", re.IGNORECASE)


def findings(gate: Gate, seen: Seen) -> Finding:
    """A review looked along five axes, and of the named severities no finding is open, or some are.

    A finding without a known severity, axis or status can't be judged: then neither answer is given.
    """
    page = Page(seen, gate.params["file"], _REVIEW)
    bodies = page.bodies(_REVIEW)
    topics(page, AXES, bodies[AXES], REVIEW_AXES, "WHAT WAS LOOKED AT")
    topics(page, EXPLICIT, bodies[EXPLICIT], EXPLICIT_CHECKS, "none found")
    listed = () if is_none(bodies[FINDINGS]) else entries(bodies[FINDINGS])
    if bodies[FINDINGS] and not listed and not is_none(bodies[FINDINGS]):
        page.wrong(page_words.lists_nothing(FINDINGS), page_words.under(FINDINGS, _FINDING))
    severities = gate.params["severities"]
    _look_outside(page, FINDINGS, bodies[FINDINGS], (*severities, *OTHER_SEVERITIES, OPEN))
    open_ones = [entry.head for entry in listed if _is_open(page, entry, severities)]
    if page.problems:
        return page.finding()
    found = page.finding()
    words = " and ".join(severities)
    if gate.params["value"] == SOME_OPEN:
        if open_ones:  # the list of them is the reason to fix them
            return found.replace(parts=tuple((head, False, "") for head in open_ones))
        return found.replace(ok=False, why=say.none_open(page.name, words), is_meant=False)
    if open_ones:
        why = say.some_open(page.name, words, open_ones[:5])
        return found.replace(ok=False, why=why, fix=why.next_step, is_meant=False)
    return found


def _look_outside(page: Page, section: str, body: str, words: Sequence[str]) -> None:
    """Text in a heading, a table or between the items would be overlooked."""
    listed = re.search(rf"(?<![\w-])(?:{'|'.join(words)})(?![\w-])", outside(body), re.IGNORECASE)
    if listed and not is_none(body):
        page.wrong(say.outside_list(section, listed[0]))


def _is_open(page: Page, entry: Entry, blocking: list[str]) -> bool:
    """Whether a finding holds the work up; what is not clear about it is noted."""
    said = {name: value.strip("*_`. ") for name, value in labelled(entry.text, _OF_FINDING).items()}
    severity = next(
        (choice for choice in (*blocking, *OTHER_SEVERITIES) if choice.lower() == said.get("severity", "").lower()), ""
    )
    status, axis = said.get("status", "").lower(), said.get("axis", "").lower()
    allowed = (OPEN, *FIXED) if severity in blocking else (OPEN, *FIXED, DOCUMENTED)
    example = page_words.under(FINDINGS, _FINDING)
    for is_known, what, choices in (
        (bool(severity), "severity", (*blocking, *OTHER_SEVERITIES)),
        (axis in REVIEW_AXES, "axis", REVIEW_AXES),
        (status in allowed, "status", allowed),
    ):
        if not is_known:
            page.wrong(_unclear(entry, _OF_FINDING, what, choices), example)
    if severity not in blocking and status == OPEN:
        page.wrong(say.not_documented(entry.head), example.replace(OPEN, DOCUMENTED))
    return severity in blocking and status == OPEN


def _unclear(entry: Entry, labels: Sequence[str], label: str, choices: Sequence[str]) -> Message:
    """Why a label of an item says nothing: it was given no known word, or more than one."""
    values = all_labelled(entry.text, labels).get(label, ())
    said = ", ".join(" ".join(value.split()) for value in values)  # a value may go on behind the end of its line
    return (
        say.several_choices(entry.head, label, said) if len(values) > 1 else say.no_choice(entry.head, label, choices)
    )


def drift(gate: Gate, seen: Seen) -> Finding:
    """A reconciliation looked along seven axes, and its outcome is the wanted one and fits the drift it lists."""
    page = Page(seen, gate.params["file"], _RECONCILED)
    bodies = page.bodies(_RECONCILED)
    topics(page, AXES, bodies[AXES], DRIFT_AXES, "clean (or: not applicable, REASON)")
    wanted = gate.params["value"]
    said = read_verdict(bodies[OUTCOME], OUTCOMES)
    if bodies[OUTCOME] and said != wanted:
        page.wrong(say.other_outcome(OUTCOME, said or "", wanted))
        page.is_meant = said is None
    listed = () if is_none(bodies[DRIFT]) else entries(bodies[DRIFT])
    if bodies[DRIFT] and not listed and not is_none(bodies[DRIFT]):
        page.wrong(page_words.lists_nothing(DRIFT), page_words.under(DRIFT, _DRIFTED))
    _look_outside(page, DRIFT, bodies[DRIFT], CLASSES)
    classes = {_class_of(page, entry) for entry in listed}
    allowed = {CLEAN: {COSMETIC}, REPAIRED: {COSMETIC, STRUCTURAL}, BLOCKED: set(CLASSES)}.get(said or "", set(CLASSES))
    if classes - allowed - {""}:
        page.wrong(say.outcome_misfits(said or "", classes - allowed - {""}, DRIFT))
    if said == REPAIRED and not listed:
        page.wrong(say.nothing_repaired(REPAIRED, DRIFT), page_words.under(DRIFT, _DRIFTED))
    if said == BLOCKED and VIOLATING not in classes:
        page.wrong(say.no_such_drift(BLOCKED, VIOLATING, DRIFT), page_words.under(DRIFT, _DRIFTED))
    if said == BLOCKED == wanted:
        _look_at_block(page, page.body(REPORT, BLOCKED_LINE), OFFERS)
    found = page.finding()
    # Which drift it is, is why a person is asked.
    parts = tuple((entry.head, False, "") for entry in listed if _class_of(page, entry) == VIOLATING)
    return found.replace(parts=parts) if found.ok and wanted == BLOCKED else found


def _class_of(page: Page, entry: Entry) -> str:
    said = labelled(entry.text, _OF_DRIFT)
    found = said.get("class", "").strip("*_`. ").lower()
    example = page_words.under(DRIFT, _DRIFTED)
    if found not in CLASSES:
        page.wrong(_unclear(entry, _OF_DRIFT, "class", CLASSES), example)
        return ""
    if found != VIOLATING and "fix" not in said:
        page.wrong(say.repair_unsaid(entry.head), example)
    return found


class Block(Record):
    """A block as it is shown to a person."""

    what: str
    options: tuple[str, ...]
    pick: str


def blocked_doc(gate: Gate, seen: Seen) -> Finding:
    """A block is reported as `BLOCKED: what. Options: [one, another]. Recommendation: which.`, once and in real words.

    With `kind` a line `Kind: ...` must say that it is of this kind.
    """
    page = Page(seen, gate.params["file"])
    if page.problems:
        page.problems = [(why, say.write_block(page.name, BLOCKED_LINE)) for why, _ in page.problems]
        page.is_meant = page.is_there  # a missing file reports nothing: another move is meant
    else:
        _look_at_block(page, page.text, ())
        kind = gate.params.get("kind", "")
        if kind and not re.search(rf"(?mi)^[-*_ ]*Kind[*_]*:[*_` ]*{re.escape(kind)}\b", written_text(page.text)):
            page.wrong(say.other_kind(kind))
    return page.finding()


def _look_at_block(page: Page, text: str, offers: tuple[str, ...]) -> None:
    block = read_block(text)
    if block is None:
        page.wrong(say.not_one_block(), say.write_line(BLOCKED_LINE))
        return
    if not block.what:
        page.wrong(say.blocked_by_nothing(), say.write_line(BLOCKED_LINE))
    if len(block.options) < 2:
        page.wrong(say.too_few_options(), say.write_line(BLOCKED_LINE))
    if not block.pick:
        page.wrong(say.no_recommendation(), say.write_line(BLOCKED_LINE))
    lacks = [offer for offer in offers if not any(offer in option.lower() for option in block.options)]
    if lacks:
        page.wrong(say.option_missing(lacks))


def read_block(text: str) -> Block | None:
    """The one report of a block in a text; None when there is none, or more than one."""
    words = written_text(text)
    if any(words.count(label) != 1 for label in ("BLOCKED:", "Options:", "Recommendation:")):
        return None
    what, _, rest = words.partition("BLOCKED:")[2].partition("Options:")
    offered, _, pick = rest.partition("Recommendation:")
    inside, _, _ = offered.rpartition("]") if offered.lstrip(" \t\n*_").startswith("[") else (offered, "", "")
    options = [_filled(option) for option in re.split(r"[,;\n]", inside or offered)]
    return Block(
        _filled(what),
        tuple(dict.fromkeys(option for option in options if option)),
        _filled(pick.strip().partition("\n")[0]),
    )


def _filled(words: str) -> str:
    """The text in place of the template's words; empty when it is those words."""
    plain = words.strip(" \t\n*_`.[]-")
    return plain if says_something(plain) and not _TEMPLATE.fullmatch(plain) else ""
