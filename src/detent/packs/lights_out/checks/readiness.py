"""Checks about the hand-over from design to build: is every criterion planned to be tested, and is it in the tests."""

from __future__ import annotations

import re

from detent.gates.seen import Finding
from detent.gates.verdict import read_verdict
from detent.machines.reading import IN_TREE, is_inner_path
from detent.packs.lights_out.checks.acceptance import criteria_of, mentioned, named, of_each
from detent.packs.lights_out.checks.design import EXCEPTIONS
from detent.packs.lights_out.checks.documents import Page, cut, entries, is_none, labelled, outside, spans
from detent.packs.lights_out.words import documents as page_words
from detent.packs.lights_out.words import verification as say
from detent.store.text.markdown import find_section, sections
from detent.words.gates import together

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from detent.core.machine import Gate
    from detent.gates.seen import Seen
    from detent.packs.lights_out.checks.documents import Entry

VERDICT, TRUTHS, LINKS, COVERAGE = "Verdict", "Truths", "Key Links", "Acceptance Criteria Coverage"
CLARIFICATIONS, ORDER = "Clarifications Needed", "Build Order"
READY, NOT_READY = "READY", "NOT READY"
TRUTH = re.compile(r"[*_`\[(]*(?P<id>T-\d{1,4})(?![\w-])[*_`\])]*(?:[ \t]*(?:[:.\u2013\u2014]|-(?!>))+[*_`]*)?[ \t]*")
_READINESS = {
    VERDICT: f"{READY} or {NOT_READY}",
    TRUTHS: "- T-1: WHAT IS KNOWN TO BE SO",
    "Scope Reduction Risks": "None.",
    CLARIFICATIONS: "- THE QUESTION; resolved: THE ANSWER (or: changes pass/fail: no, REASON)",
    ORDER: "1. AC-1, because all else rests on it",
    EXCEPTIONS: "None.",
}
_LINK = "- AC-1: design: `src/count.py`; test: tests/test_count.py; proof: run `python -m count sample.txt`"
_COVERED = "- AC-1: test: tests/test_count.py; proof: run `python -m count sample.txt`"
_DOUBT = re.compile(
    r"\?|\b(?:unclear|unknown|unsure|undecided|to be (?:clarified|decided|confirmed)|TBD|probably|perhaps|maybe|"
    r"presumably|assum\w+|needs? clarif\w+)\b",
    re.IGNORECASE,
)
_PATH = re.compile(r"[\w./@+-]*\w\.\w+|[\w.@+-]+/[\w./@+-]*\w")
_MOST_PATHS, _LONGEST_TEST = 20, 2000  # of one planned test: paths, and characters they are looked for in


def readiness_doc(gate: Gate, seen: Seen) -> Finding:
    """The hand-over says READY, keeps truths and open questions apart, and plans test and proof for each criterion."""
    page = Page(seen, gate.params["file"], {**_READINESS, LINKS: _LINK, COVERAGE: _COVERED})
    bodies = page.bodies(_READINESS)
    criteria = criteria_of(seen, gate.params["scope"])
    if not criteria:
        page.wrong(page_words.no_criteria(gate.params["scope"]))
    _look_at_verdict(page, bodies[VERDICT])
    _look_at_truths(page, bodies[TRUTHS], bodies[CLARIFICATIONS])
    _look_at_questions(page, bodies[CLARIFICATIONS])
    design = seen.files.text(gate.params["design"]) or ""
    for id_, entry in of_each(page, LINKS, criteria, _LINK).items():
        found = _lacking(page, LINKS, id_, entry, ("design", "test", "proof"), _LINK)
        if "design" in found and not _is_in_design(found["design"], design):
            page.wrong(say.other_design(id_, LINKS, gate.params["design"]))
    for id_, entry in of_each(page, COVERAGE, criteria, _COVERED).items():
        found = _lacking(page, COVERAGE, id_, entry, ("test", "proof"), _COVERED)
        if "test" in found and not _PATH.search(found["test"][:_LONGEST_TEST]):
            page.wrong(say.test_names_no_file(id_, COVERAGE), page_words.under(COVERAGE, _COVERED))
    left = (
        [criterion.id for criterion in criteria if criterion.id not in mentioned(bodies[ORDER])]
        if bodies[ORDER]
        else []
    )
    if left:
        page.wrong(page_words.leaves_out(ORDER, left), page_words.under(ORDER, _READINESS[ORDER]))
    return page.finding()


def _look_at_verdict(page: Page, body: str) -> None:
    if not body:
        return
    # One word each: else the word READY would stand in both answers.
    said = read_verdict(re.sub(r"\bnot[\s_-]+ready\b", "UNREADY", body, flags=re.IGNORECASE), (READY, "UNREADY"))
    if said != READY:
        verdict = "" if said is None else NOT_READY
        page.wrong(say.not_ready(VERDICT, verdict, READY), page_words.under(VERDICT, READY))


def _look_at_truths(page: Page, truths: str, questions: str) -> None:
    example = page_words.under(TRUTHS, _READINESS[TRUTHS])
    found = truths_of(truths)
    if truths and not found:
        page.wrong(say.no_truths(TRUTHS), example)
    questions_ = {_without_marks(entry.text.partition(";")[0]) for entry in entries(questions)}
    for id_, text in found.items():
        if _DOUBT.search(text):
            page.wrong(say.truth_is_question(id_, TRUTHS, cut(text), CLARIFICATIONS))
        elif _without_marks(text) in questions_:
            page.wrong(say.truth_twice(id_, TRUTHS, CLARIFICATIONS))


def _look_at_questions(page: Page, body: str) -> None:
    if not body or is_none(body):
        return
    example = page_words.under(CLARIFICATIONS, _READINESS[CLARIFICATIONS])
    found = entries(body)
    if not found:
        page.wrong(page_words.lists_nothing(CLARIFICATIONS), example)
    if "?" in outside(body):
        page.wrong(page_words.asks_elsewhere(CLARIFICATIONS), example)
    for entry in found:
        said = labelled(entry.text, ("resolved", "changes pass/fail"))
        if not said.get("resolved") and not re.match(r"no\b", said.get("changes pass/fail", ""), re.IGNORECASE):
            page.wrong(say.question_open(entry.head), example)


def _without_marks(text: str) -> str:
    return " ".join(text.strip("*_` .?").casefold().split())


def truths_of(body: str) -> Mapping[str, str]:
    """The truths of a hand-over by their ids; of two with one id the last."""
    found = {}
    for entry in entries(body, TRUTH):
        if match := TRUTH.match(entry.text):
            found[match["id"]] = entry.text[match.end() :].strip()
    return found


def _lacking(page: Page, section: str, id_: str, entry: Entry, labels: Sequence[str], example: str) -> dict[str, str]:
    found = labelled(entry.text, labels)
    lacks = [label for label in labels if label not in found]
    if lacks:
        page.wrong(say.entry_lacks(id_, section, lacks), page_words.under(section, example.replace("AC-1", id_)))
    return found


def _is_in_design(value: str, design: str) -> bool:
    if names := spans(value):
        return any(name in design for name in names)
    return any(
        section.title.casefold() in value.casefold()
        for section in sections(design)
        if section.level > 1 and section.title
    )


def planned_tests(readiness: str) -> dict[str, tuple[str, ...]]:
    """The files in which each criterion is planned to be tested."""
    section = find_section(readiness, COVERAGE)
    body = readiness[section.body_start : section.end] if section else ""
    found: dict[str, tuple[str, ...]] = {}
    for id_, text, _ in named(body):
        test = labelled(text, ("test", "proof")).get("test", "")
        found[id_] = tuple(dict.fromkeys(_PATH.findall(test[:_LONGEST_TEST])))[:_MOST_PATHS]
    return found


def ac_tests(gate: Gate, seen: Seen) -> Finding:
    """Every criterion is named, by its id, in a file of the tree in which the hand-over plans its test."""
    scope, readiness = gate.params["scope"], gate.params["readiness"]
    criteria = criteria_of(seen, scope)
    if not criteria:
        return Finding(ok=False, why=say.criteria_untestable(scope))
    planned = planned_tests(seen.files.text(readiness) or "")
    problems, first = [], ""
    for criterion in criteria:
        files = planned.get(criterion.id, ())
        texts = [seen.files.text(IN_TREE + path) or "" for path in files if is_inner_path(path)]
        if not any(_names(text, criterion.id) for text in texts):
            is_planned = bool(files)
            why = (
                say.criterion_not_named(criterion.id, files)
                if is_planned
                else say.no_test_planned(readiness, criterion.id)
            )
            problems.append(why)
            first = first or say.name_the_test(criterion.id)
    return Finding(ok=not problems, why=together(problems[:6]), fix=first)


def _names(text: str, id_: str) -> bool:
    """Whether a test says which criterion it is for, as a word or inside a name that can hold no hyphen."""
    words = r"[-_ ]?".join(map(re.escape, id_.split("-")))
    begin = "(?:(?<![A-Za-z0-9-])|(?<=[a-z])(?=A[Cc]))"  # a name may also begin a word by its capital
    return re.search(rf"{begin}(?i:{words})(?![A-Za-z0-9]|-\w)", text) is not None
