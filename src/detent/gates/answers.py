"""Judgements no program makes: a recorded yes, with a name and a proof that exists."""

from __future__ import annotations

import re

from detent.gates.checks import MARKDOWN_LINK, section_filled
from detent.gates.seen import Finding, Seen
from detent.gates.verdict import is_quoted
from detent.store.text.markdown import is_placeholder, scan
from detent.words import gates as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from detent.core.machine import Gate

_PATH_WORD = re.compile(r"[\w./~+@%-]*[\w/]")
_MOST_PATH_WORDS = 40  # of one answer; each is looked for on the disk
_HEDGES = frozenset(
    ("no", "not", "never", "maybe", "perhaps", "partly", "mostly", "almost", "unsure", "unknown", "unclear")
)


def answers(gate: Gate, seen: Seen) -> Finding:
    """Each question has a recorded yes with a name and a proof that exists; all that lack one are named."""
    filled = section_filled(gate, seen)
    file, name, questions = gate.params["file"], gate.params["section"], gate.params["questions"]
    if not filled.ok:
        return filled.replace(fix=say.answers_to_write(file, name, questions))
    body = seen.section(file, name) or ""
    lines = [line.content for line in scan(body) if line.kind == "text" and not is_quoted(line, body)]
    found = {question: answer_problem(question, lines, seen, file) for question in questions}
    problems = {question: problem for question, problem in found.items() if problem}
    if not problems:
        return filled
    why = say.unanswered(file, name, list(problems.items()))
    return Finding(ok=False, why=why, evidence=filled.evidence, fix=say.answers_to_write(file, name, list(problems)))


def answer_problem(question: str, lines: list[str], seen: Seen, file: str) -> str:
    answers = [plain for line in lines if (plain := line.lstrip("*_` ")).lower().startswith(question.lower())]
    if not answers:
        return say.not_answered()
    if len(answers) > 1:
        return say.answered_twice()
    said = answers[0][len(question) :].lstrip("*_`:? \t")
    words = {word.strip("*_`.?").lower() for word in re.split(r"[\s,;:()!]+", said)}
    if not re.match(r"yes\b(?!\s*[?/|])", said, re.IGNORECASE) or words & _HEDGES:
        return say.no_clear_yes()
    author = re.search(r"\bby\s+([^\s,;]+)", said, re.IGNORECASE)
    if author is None or is_placeholder(author[1]) or author[1].lower().strip("*_`<>.") in ("name", "nobody", "no-one"):
        return say.answer_without_name()
    rest = f"{said[: author.start()]} {said[author.end() :]}"
    paths = [match[1] for match in re.finditer(MARKDOWN_LINK, rest)] + [
        word for word in _PATH_WORD.findall(rest) if "/" in word or "." in word
    ]
    delivered = seen.files.path(file)
    for word in paths[:_MOST_PATH_WORDS]:
        found = seen.files.path(word)
        # The answers themselves are no proof of the answers.
        if found is not None and found.size_bytes and (delivered is None or found.digest != delivered.digest):
            return ""
    return say.answer_without_proof()
