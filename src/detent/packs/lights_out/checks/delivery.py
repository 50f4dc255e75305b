"""Checks about what is handed over, and about what is proposed next."""

from __future__ import annotations

import re

from detent.gates.checks import filled, shown
from detent.gates.seen import Finding
from detent.packs.lights_out.checks.acceptance import HOUSE, SHED, SKYSCRAPER, criteria_of, mentioned, tier_of
from detent.packs.lights_out.checks.documents import (
    Entry,
    Page,
    code_blocks,
    entries,
    labelled,
    ran,
    says_something,
    spans,
    written_text,
)
from detent.packs.lights_out.checks.scope import DATA, STATEFUL, is_yes
from detent.packs.lights_out.words import documents as page_words
from detent.packs.lights_out.words import reports as say
from detent.store.disk.digest import hash_text
from detent.store.text.markdown import sections
from detent.words.gates import together

TYPE_CHECKING = False
if TYPE_CHECKING:
    from detent.core.machine import Gate
    from detent.gates.seen import Seen

RESPONSE, VERIFIED, PERSISTENCE, ROLLBACK = "Incident Response", "Verified Criteria", "Data Persistence", "Rollback"
_SHED = {
    "Summary": "what was built, for whom, and where it runs",
    "Known Limitations": "None.",
    RESPONSE: f"{ROLLBACK}: `git revert HEAD && git push`",
}
_HOUSE = {VERIFIED: "- AC-1: how it was verified", "Support Terms": "who answers, and how soon"}
_SKYSCRAPER = {"Architecture Overview": "the parts, and how they talk", "Roadmap": "what comes next"}
DELIVERY = {SHED: _SHED, HOUSE: _SHED | _HOUSE, SKYSCRAPER: _SHED | _HOUSE | _SKYSCRAPER}
# What a README tells, and the words a heading about it has.
_README = {
    "what it is": r"\b(?:what|about|overview|introduction)\b",
    "local setup": r"\b(?:set ?up|install\w*|getting started|quick ?start|locally|development)\b",
    "deploy": r"\bdeploy\w*\b",
    "run the tests": r"\btest\w*\b",
}
_HEADINGS = {
    "what it is": "What this is",
    "local setup": "Local setup",
    "deploy": "Deploy",
    "run the tests": "Run the tests",
}
IMPACT_SECTION, IMPACT = "Architecture Impact", "Impact"
IMPACTS = {"none": "none", "minor": "changes", "major": "changes"}
CHANGES = "Prioritized Changes"
_PROPOSAL = {
    "Summary": "what the next version is for",
    CHANGES: "1. THE CHANGE, and where it was asked for",
    IMPACT_SECTION: f"{IMPACT}: none (or: minor, major), and why",
    "Risk Assessment": "what may go wrong, and what then",
    "Recommended Approach": "which of the changes first, and how",
    "Pre-existing Failures": "None.",
}


def delivery_doc(gate: Gate, seen: Seen) -> Finding:
    """README tells its four topics; the delivery has the sections of the scope's tier and a rollback command."""
    readme = Page(seen, gate.params["readme"], dict.fromkeys(_HEADINGS.values(), "what to do"))
    if not readme.problems:
        _look_at_readme(readme)
    scope = seen.files.text(gate.params["scope"]) or ""
    tier = tier_of(scope)
    wanted = DELIVERY.get(tier, DELIVERY[SKYSCRAPER])
    page = Page(seen, gate.params["delivery"], wanted)
    bodies = page.bodies(wanted)
    if not tier:
        page.wrong(page_words.no_tier(gate.params["scope"]))
    if bodies[RESPONSE] and not _rollback(bodies[RESPONSE]):
        page.wrong(say.no_rollback_line(RESPONSE, ROLLBACK), page_words.under(RESPONSE, _SHED[RESPONSE]))
    if verified := bodies.get(VERIFIED, ""):
        left = [
            criterion.id
            for criterion in criteria_of(seen, gate.params["scope"])
            if criterion.id not in mentioned(verified)
        ]
        if left:
            page.wrong(page_words.leaves_out(VERIFIED, left), page_words.under(VERIFIED, _HOUSE[VERIFIED]))
    data = written_text(seen.section(gate.params["scope"], DATA) or "")
    if is_yes(labelled(data, (STATEFUL,)).get(STATEFUL, "")) and page.text:
        example = "Command: `./restart.sh && ./list.sh`, and its output in a code block"
        if body := page.body(PERSISTENCE, example):
            entry = Entry(written_text(body), code_blocks(body))
            ran(page, page_words.heading(PERSISTENCE), entry, page_words.under(PERSISTENCE, example))
    return _together(readme.finding(), page.finding())


def _together(*found: Finding) -> Finding:
    evidence = {key: value for finding in found for key, value in finding.evidence.items()}
    why, fix = (
        together(finding.why for finding in found if finding.why),
        together(finding.fix for finding in found if finding.fix),
    )
    return Finding(ok=all(finding.ok for finding in found), why=why, fix=fix, evidence=evidence)


def _look_at_readme(page: Page) -> None:
    found = sections(page.text)
    bodies = [(section.title, page.text[section.body_start : section.end]) for section in found]
    # What stands under the title, before the next heading, says what it is.
    opening = page.text[found[0].body_start if found else None : found[1].start if len(found) > 1 else None]
    for topic, words in _README.items():
        is_there = topic == "what it is" and filled(opening)
        if not is_there and not any(re.search(words, title, re.IGNORECASE) and filled(body) for title, body in bodies):
            page.wrong(say.topic_untold(topic, page.name, _HEADINGS[topic]))


def _rollback(body: str) -> str:
    """The command that takes a delivery back, from a code span behind the label or a code block."""
    said = labelled(written_text(body), (ROLLBACK,)).get(ROLLBACK, "")
    found = (
        *spans(said),
        *(code_blocks(body) if re.search(rf"{ROLLBACK}\W*:", written_text(body), re.IGNORECASE) else ()),
    )
    return next((text for text in found if says_something(text)), "")


def proposal_doc(gate: Gate, seen: Seen) -> Finding:
    """A proposal has its sections, at least one change, and says how far the architecture is touched."""
    page = Page(seen, gate.params["file"], _PROPOSAL)
    bodies = page.bodies(_PROPOSAL)
    if bodies[CHANGES] and not any(says_something(entry.text) for entry in entries(bodies[CHANGES])):
        page.wrong(say.no_change_listed(CHANGES), page_words.under(CHANGES, _PROPOSAL[CHANGES]))
    if bodies[IMPACT_SECTION] and not _impact(bodies[IMPACT_SECTION]):
        why = say.no_impact(IMPACT_SECTION, IMPACT, IMPACTS)
        page.wrong(why, page_words.under(IMPACT_SECTION, _PROPOSAL[IMPACT_SECTION]))
    return page.finding()


def architecture(gate: Gate, seen: Seen) -> Finding:
    """A proposal says that the architecture stays (`none`) or that it changes (`changes`, be it minor or major)."""
    file, wanted = gate.params["file"], gate.params["value"]
    body = seen.section(file, IMPACT_SECTION) or ""
    evidence = {f"section:{file}:{IMPACT_SECTION}": hash_text(shown(body))}
    said = _impact(body)
    why = "" if said == wanted else say.other_impact(file, said, IMPACT_SECTION, wanted)
    example = "none" if wanted == IMPACTS["none"] else "minor"
    fix = page_words.under(IMPACT_SECTION, f"{IMPACT}: {example}")
    return Finding(ok=said == wanted, why=why, fix=fix, evidence=evidence, is_meant=said in ("", wanted))


def _impact(body: str) -> str:
    said = labelled(written_text(body), (IMPACT,)).get(IMPACT, "")
    words = [word.lower() for word in re.findall(r"[A-Za-z]+", said)]
    # A line that still holds the choice has made none.
    chosen = {word for word in words if word in IMPACTS}
    return IMPACTS[words[0]] if len(chosen) == 1 and words[0] in chosen else ""
