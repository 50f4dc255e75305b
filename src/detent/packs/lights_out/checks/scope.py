"""Checks about what a project starts from: its preferences, the material it was given, and the scope made of both."""

from __future__ import annotations

import re

from detent.gates.answers import answer_problem
from detent.gates.checks import filled
from detent.gates.seen import Finding
from detent.machines.reading import IN_TREE
from detent.packs.lights_out.checks.acceptance import EXAMPLE, SECTION, TIER, TIERS, criteria_in, read_criteria, tier_of
from detent.packs.lights_out.checks.documents import Page, cut, entries, labelled, says_something, written_text
from detent.packs.lights_out.words import documents as page_words
from detent.packs.lights_out.words import plans as say
from detent.store.disk.digest import hash_text
from detent.store.text.locked_sections import section_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from detent.core.machine import Gate
    from detent.gates.seen import Seen
    from detent.packs.lights_out.checks.acceptance import Criterion
    from detent.words.message import Message

SMALL, SMALLEST, VERSION = "Small enough", "Smallest Useful Version", "Version"
COST, DATA, STACK, STATEFUL, CONFLICTS = "Estimated Cost", "Data Model", "Stack", "Stateful", "Conflicts"
_SCOPE = {
    "Problem": "who has which problem, and what it costs them",
    SMALLEST: f"what the first version does, and a line: {SMALL}: yes, by NAME, see docs/input/brief.md",
    STACK: f"what preferences.md says, and a line: {CONFLICTS}: none",
    "Deployment Target": "GitHub Pages",
    DATA: f"what is kept and where, and a line: {STATEFUL}: no",
    COST: "$0 per month, static hosting",
    TIER: f"one of {', '.join(TIERS)}",
    "Clarifications Needed": "None.",
    "Deferred": "None.",
}
_PREFERENCES = {
    "Stack": "Python 3.12, standard library",
    "Deploy Target": "GitHub Pages",
    "Conventions": "conventional commits, ruff",
    "Security Baseline": "no secrets in the source, dependencies are audited",
    "Quality Bar": "- shed: it works for one person (and an item each for house and skyscraper)",
}
_AMOUNT = r"\d[\d.,]*"
_MONEY = re.compile(
    rf"[$\u20ac\u00a3\u00a5]\s?{_AMOUNT}|(?<![\w.,]){_AMOUNT}\s?(?:[$\u20ac\u00a3\u00a5]|(?:USD|EUR|GBP|CHF|JPY|"
    rf"dollars?|euros?)\b)|\b(?:USD|EUR|GBP|CHF|JPY)\s?{_AMOUNT}",
    re.IGNORECASE,
)
_MONTHLY = re.compile(r"\bmonth(?:ly|s)?\b|/\s?mo\b|\bper mo\b", re.IGNORECASE)
_TIER_START = re.compile(rf"[*_`]*(?P<tier>{'|'.join(TIERS)})\b[*_`]*[ \t]*[:\u2013\u2014-]*[*_`]*", re.IGNORECASE)
_VERSION = re.compile(rf"(?m)^[*_ ]*{VERSION}[*_]*:[*_ ]*v?(\d{{1,6}})\b")
_DISTILLED = "distilled-"


def scope_doc(gate: Gate, seen: Seen) -> Finding:
    """A scope has its ten sections, criteria with ids and thresholds, a monthly cost and one quality tier.

    A recorded yes says that the smallest useful version is small enough; `ignore` is a file that must be there.
    `before` is where delivered versions are filed, `{n}` for the number: this is the next one, and says so, and an id
    of theirs means the same criterion here.
    """
    page = Page(seen, gate.params["file"], {**_SCOPE, SECTION: EXAMPLE})
    bodies = page.bodies(_SCOPE)
    found = read_criteria(page)
    if before := gate.params.get("before", ""):
        _look_at_version(page, found, _delivered(seen, before))
    if body := bodies[SMALLEST]:
        lines = written_text(body).splitlines()
        if problem := answer_problem(SMALL, lines, seen, gate.params["file"]):
            page.wrong(say.small_unanswered(SMALL, SMALLEST, problem), _under(SMALLEST))
    for section, label in ((STACK, CONFLICTS), (DATA, STATEFUL)):
        said = labelled(written_text(bodies[section]), (label,)).get(label, "")
        if bodies[section] and not (said if label == CONFLICTS else is_yes(said) is not None):
            page.wrong(say.label_unanswered(label, section), _under(section))
    if bodies[COST] and (no_cost := _cost_problem(written_text(bodies[COST]))):
        page.wrong(no_cost, _under(COST))
    if bodies[TIER] and not tier_of(page.text):
        page.wrong(say.not_one_tier(TIER, TIERS), _under(TIER))
    ignore = gate.params.get("ignore", "")
    if ignore and seen.files.text(ignore) is None:
        name = ignore.removeprefix(IN_TREE)
        page.wrong(say.no_ignore_file(name))
    return page.finding()


def _delivered(seen: Seen, name: str) -> list[str]:
    """The scopes of all delivered versions, oldest first."""
    last = seen.snapshot.visits.get(seen.snapshot.state, 1)
    texts = (seen.files.text(name.replace("{n}", str(number))) for number in range(1, last + 1))
    return [text for text in texts if text is not None]


def _look_at_version(page: Page, found: Sequence[Criterion], delivered: Sequence[str]) -> None:
    known = {
        criterion.id: criterion.text for text in delivered for criterion in criteria_in(section_text(text, SECTION))
    }
    highest = max((int(number) for id_ in known for number in re.findall(r"\d+", id_)[-1:]), default=0)
    for criterion in found:
        if criterion.id in known and criterion.text.split() != known[criterion.id].split():
            page.wrong(say.other_criterion(criterion.id, cut(known[criterion.id]), highest + 1))
    line, said = f"{VERSION}: {len(delivered) + 1}", _VERSION.search(written_text(page.text))
    if delivered and (said is None or int(said[1]) != len(delivered) + 1):
        page.wrong(say.version_missing(line))


def is_yes(value: str) -> bool | None:
    """Whether a label is answered with yes or no; None where it is neither."""
    match = re.match(r"[*_`]*(yes|no)\b(?!\s*[?/|])", value, re.IGNORECASE)
    return None if match is None else match[1].lower() == "yes"


def _cost_problem(text: str) -> Message | None:
    amounts = _MONEY.findall(text)
    if not amounts:
        return say.no_figure(COST)
    is_free = all(not re.search("[1-9]", amount) for amount in amounts)
    return None if is_free or _MONTHLY.search(text) else say.no_monthly_figure(COST)


def _under(section: str) -> str:
    return page_words.under(section, _SCOPE[section])


def preferences_doc(gate: Gate, seen: Seen) -> Finding:
    """Preferences name stack, deploy target, conventions and security baseline, and what each quality tier means."""
    page = Page(seen, gate.params["file"], _PREFERENCES)
    body = page.bodies(_PREFERENCES)["Quality Bar"]
    reasons = {}
    for entry in entries(body, _TIER_START):
        match = _TIER_START.match(entry.text)
        if match is not None:
            reasons[match["tier"].lower()] = entry.text[match.end() :]
    for tier in TIERS if body else ():
        if not says_something(reasons.get(tier, "")):
            page.wrong(say.tier_unexplained(tier))
    return page.finding()


def inputs_used(gate: Gate, seen: Seen) -> Finding:
    """Every file of a folder of the tree is named in a document: the given files were read."""
    page = Page(seen, gate.params["file"])
    found = _files_in(seen, gate.params["folder"])
    if found is None:
        return page.finding().replace(ok=False, why=say.folder_not_read(_folder(gate)), is_known=False)
    text = written_text(page.text)
    unused = _unnamed(found, text)
    if unused and not page.problems:
        page.wrong(say.input_unused(unused, page.name))
    return page.finding()


def inputs_distilled(gate: Gate, seen: Seen) -> Finding:
    """A folder of the tree holds distilled-*.md, each with a heading and text, which name every other file there."""
    folder = gate.params["folder"]
    # The content on entry must be known although git is not asked for the tree then: it is read from the disk.
    made = [path for path in seen.files.names(folder) if _is_distilled(path)]
    texts = {path: seen.files.text(IN_TREE + path) or "" for path in made}
    whole = "".join(f"{path}\0{hash_text(text)}\0" for path, text in sorted(texts.items()))
    evidence = {f"text:{folder}{_DISTILLED}*.md": hash_text(whole) if texts else ""}
    found = _files_in(seen, folder)
    if found is None:
        return Finding(ok=False, why=say.folder_not_read(_folder(gate)), evidence=evidence, is_known=False)
    name = folder.removeprefix(IN_TREE).rstrip("/")
    raw = [path for path in found if not _is_distilled(path)]
    problem, fix = _distilled_problem(name, raw, {path: text for path, text in texts.items() if path in found})
    return Finding(ok=not problem, why=problem, fix=fix, evidence=evidence)


def _is_distilled(path: str) -> bool:
    return path.rpartition("/")[2].startswith(_DISTILLED) and path.endswith(".md")


def _distilled_problem(folder: str, raw: list[str], texts: Mapping[str, str]) -> tuple[str, str]:
    example = say.write_distilled(folder, _DISTILLED)
    if not raw:
        nothing = say.nothing_to_distill(folder)
        return nothing, nothing.next_step
    if not texts:
        return say.nothing_distilled(folder, _DISTILLED), example
    empty = [path for path, text in texts.items() if not filled(text) or not re.search(r"(?m)^#{1,6} \S", text)]
    if empty:
        return say.distilled_empty(empty), example
    whole = "\n".join(map(written_text, texts.values()))
    unread = _unnamed(raw, whole)
    return (say.not_distilled(_DISTILLED, unread), example) if unread else ("", "")


def _unnamed(paths: list[str], text: str) -> list[str]:
    """The files whose name does not stand in a text as a word of its own."""
    names = ((path, re.escape(path.rpartition("/")[2])) for path in paths)
    return [path for path, name in names if not re.search(rf"(?<![\w.-]){name}(?![\w-])", text)]


def _files_in(seen: Seen, folder: str) -> list[str] | None:
    """The visible files of a folder of the tree; None without a scan."""
    files = seen.tree_files()
    top = folder.removeprefix(IN_TREE).rstrip("/") + "/"
    if files is None:
        return None
    return [path for path in files if path.startswith(top) and not path.rpartition("/")[2].startswith(".")]


def _folder(gate: Gate) -> str:
    return str(gate.params["folder"]).removeprefix(IN_TREE)
