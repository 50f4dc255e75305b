"""Checks about a design: its document, and whether the tree is built as the document draws it."""

from __future__ import annotations

import re

from detent.gates.seen import Finding
from detent.packs.lights_out.checks.acceptance import HOUSE, SHED, SKYSCRAPER, tier_of
from detent.packs.lights_out.checks.documents import (
    Page,
    code_blocks,
    entries,
    is_none,
    labelled,
    outside,
    says_something,
    spans,
    written_text,
)
from detent.packs.lights_out.words import documents as page_words
from detent.packs.lights_out.words import plans as say
from detent.store.text.markdown import find_section
from detent.words.gates import together
from detent.words.proof import tree_not_scanned

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from detent.core.machine import Gate
    from detent.gates.seen import Seen
    from detent.words.message import Message

STRUCTURE, EXCEPTIONS, QUESTIONS = "Directory Structure", "Complexity Exceptions", "Open Questions"
ARCHITECTURE, INTEGRATIONS, OBSERVABILITY = "Architecture", "External Integrations", "Observability"
SCENARIOS, CONCERNS = "Key Scenarios", "Concerns"
SEVERITIES = ("critical", "high", "medium", "low")
_DESIGN = {
    ARCHITECTURE: "- NAME: what this component does (one item each; more than two need a drawing in a code block)",
    STRUCTURE: "a code block with one path on each line, folders with / at the end",
    "Interfaces": "count_words(text: str) -> int, in src/count.py",
    INTEGRATIONS: "- SERVICE: what for; failure: what happens when it does not answer",
    OBSERVABILITY: "structured lines on stdout",
    EXCEPTIONS: "None.",
    QUESTIONS: "- THE QUESTION; resolved: THE ANSWER",
}
_REVIEW = {
    SCENARIOS: "- NAME: how it runs through the components (two or three of them)",
    CONCERNS: f"- THE CONCERN; severity: {' | '.join(SEVERITIES)}",
}
# What has to be named, each as a pattern with the words for it.
_OBSERVED = {
    SHED: ((r"std\s?out|standard output", "structured lines on stdout"),),
    HOUSE: (
        (r"\bOTEL\b|OpenTelemetry", "OTEL traces"),
        (r"\bLoki\b", "Loki"),
        (r"\bGrafana\b", "Grafana"),
        (r"\balert", "alerting"),
    ),
    SKYSCRAPER: (
        (r"\bOTEL\b|OpenTelemetry", "OTEL instrumentation"),
        (r"\bPrometheus\b", "Prometheus metrics"),
        (r"\bdashboards?\b", "dashboards"),
    ),
}
_DRAWN = re.compile(r"->|<-|--|==>|[|+\u2190-\u21ff\u2500-\u257f]")
_TREE_MARKS = re.compile(r"^[\s\u2500-\u257f|`+]*(?:-{2,}\s)?\s*")
_REMARK = re.compile(r"\s+#|\s{2,}|\s+[\u2013\u2014-]\s|\t|\s+\(|\s*\u2190")  # what follows a name is said about it
_MOST_PATHS = 2000


def design_doc(gate: Gate, seen: Seen) -> Finding:
    """A design has its seven sections, failure handling for each integration and an answer to each question.

    What has to be observed depends on the scope's tier; a house or skyscraper also has scenarios and concerns.
    """
    tier = tier_of(seen.files.text(gate.params["scope"]) or "")
    wanted = {**_DESIGN, OBSERVABILITY: ", ".join(words for _, words in _OBSERVED.get(tier, ()))}
    wanted = wanted if tier == SHED else {**wanted, **_REVIEW}
    page = Page(seen, gate.params["file"], wanted)
    bodies = page.bodies(wanted)
    if not tier:
        page.wrong(page_words.no_tier(gate.params["scope"]))
    _look_at_drawing(page, bodies[ARCHITECTURE])
    if bodies[STRUCTURE] and not planned_paths(page.text):
        page.wrong(say.no_file_drawn(STRUCTURE), _under(STRUCTURE))
    if not is_none(bodies[INTEGRATIONS]):
        _each(page, INTEGRATIONS, bodies[INTEGRATIONS], ("failure",), say.no_failure_handling)
    if not is_none(bodies[QUESTIONS]):
        if "?" in outside(bodies[QUESTIONS]):
            page.wrong(page_words.asks_elsewhere(QUESTIONS), _under(QUESTIONS))
        _each(
            page,
            QUESTIONS,
            bodies[QUESTIONS],
            ("resolved", "deferred"),
            say.not_resolved,
        )
    for pattern, words in _OBSERVED.get(tier, ()) if bodies[OBSERVABILITY] else ():
        if not re.search(pattern, written_text(bodies[OBSERVABILITY]), re.IGNORECASE):
            page.wrong(say.not_observed(OBSERVABILITY, words, tier))
    _look_at_review(page, bodies.get(SCENARIOS, ""), bodies.get(CONCERNS, ""))
    return page.finding()


def _look_at_drawing(page: Page, body: str) -> None:
    components = [entry for entry in entries(body) if says_something(entry.text)]
    if body and not components:
        page.wrong(say.no_component(ARCHITECTURE), _under(ARCHITECTURE))
    is_drawn = any(block.count("\n") and _DRAWN.search(block) for block in code_blocks(body))
    if len(components) > 2 and not is_drawn:
        page.wrong(say.no_drawing(ARCHITECTURE, len(components)))


def _each(page: Page, section: str, body: str, labels: tuple[str, ...], lacks: Callable[[str, str], Message]) -> None:
    """Every item says one of these."""
    found = entries(body)
    if body and not found:
        page.wrong(page_words.lists_nothing(section), _under(section))
    for entry in found:
        if not labelled(entry.text, labels):
            page.wrong(lacks(entry.head, section), _under(section))


def _look_at_review(page: Page, scenarios: str, concerns: str) -> None:
    traced = [entry for entry in entries(scenarios) if says_something(entry.text)]
    if scenarios and len(traced) < 2:
        page.wrong(say.too_few_scenarios(SCENARIOS, len(traced)), _under(SCENARIOS))
    if concerns and not is_none(concerns):
        found = entries(concerns)
        for entry in found:
            severity = labelled(entry.text, ("severity",)).get("severity", "")
            if severity.strip("*_`. ").lower() not in SEVERITIES:
                page.wrong(say.no_severity(entry.head, CONCERNS), _under(CONCERNS))
        if not found:
            page.wrong(page_words.lists_nothing(CONCERNS), _under(CONCERNS))


def _under(section: str) -> str:
    return page_words.under(section, (_DESIGN | _REVIEW)[section])


def planned_paths(text: str) -> tuple[str, ...]:
    """The paths a design draws, folders with `/` at their end; a top line that only names the project is left out."""
    section = find_section(text, STRUCTURE)
    body = text[section.body_start : section.end] if section else ""
    found: list[str] = []
    for block in code_blocks(body):
        found += _paths(block.splitlines())
    return tuple(dict.fromkeys(found))[:_MOST_PATHS]


def _paths(lines: list[str]) -> list[str]:
    above: list[tuple[int, str]] = []  # the folders a line lies in: the column of each, and its path
    found: list[str] = []
    for line in lines:
        drawn = _TREE_MARKS.sub("", line)
        column = len(line) - len(drawn)
        name = _REMARK.split(drawn.strip())[0].strip("`* ")
        if not name.strip("./") or name.startswith("#") or not says_something(name):
            continue
        while above and above[-1][0] >= column:
            above.pop()
        path = (above[-1][1] if above else "") + name.removeprefix("./")
        found.append(path)
        if path.endswith("/"):
            above.append((column, path))
    return found


def exempt_paths(text: str) -> tuple[str, ...]:
    """The paths a design lists as complexity exceptions: each in a code span that begins an item."""
    section = find_section(text, EXCEPTIONS)
    body = text[section.body_start : section.end] if section else ""
    return tuple(span for entry in entries(body) for span in spans(entry.text)[:1] if entry.text.startswith("`"))


def structure_ok(gate: Gate, seen: Seen) -> Finding:
    """Every path a design draws is in the tree, and no top-level folder that it does not draw; `besides` are let be."""
    name = gate.params["design"]
    planned = planned_paths(seen.files.text(name) or "")
    if not planned:
        return Finding(ok=False, why=say.no_file_listed(name, STRUCTURE), fix=_under(STRUCTURE))
    files = seen.tree_files()
    if files is None:
        return Finding(ok=False, why=tree_not_scanned(), is_known=False)
    planned = without_top(planned, files)
    there = {*files, *(path[: at + 1] for path in files for at, letter in enumerate(path) if letter == "/")}
    missing = [path for path in planned if path not in there]
    folders = {path.partition("/")[0] for path in files if "/" in path and not path.startswith(".")}
    drawn = {path.partition("/")[0] for path in planned}
    besides = {path.strip("/") for path in gate.params.get("besides", ())}
    extra = sorted(folders - drawn - besides)
    problems = [say.not_in_tree(missing, name)] if missing else []
    problems += [say.not_in_design([f"{folder}/" for folder in extra], name)] if extra else []
    fix = say.make_same(STRUCTURE, name)
    return Finding(ok=not problems, why=together(problems), fix=fix, proof=seen.tree, by_engine=True)


def without_top(planned: tuple[str, ...], files: Collection[str]) -> tuple[str, ...]:
    """Drawn trees often begin with the project's own folder, which is not in the tree because it is the tree."""
    top = planned[0]
    is_top = top.endswith("/") and all(path.startswith(top) for path in planned) and len(planned) > 1
    if not is_top or any(path.startswith(top) for path in files):
        return planned
    return tuple(path.removeprefix(top) for path in planned[1:])
