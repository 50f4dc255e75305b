"""The checks a gate may name: each looks at observations and says what it found. A closed list, fail closed.

Missing, empty, placeholder, ambiguous and unreadable are all "not proven", with the reason.
"""

from __future__ import annotations

import re

from detent.gates.plan import all_commands, read_plan
from detent.gates.seen import Finding, Seen
from detent.gates.verdict import read_verdict
from detent.store.digest import hash_text, sha256_of
from detent.store.markdown import is_placeholder, scan, visible_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from detent.core.machine import Gate

    Check = Callable[[Gate, Seen], Finding]

_URL = re.compile(r"https?://[^\s<>()\[\]]+\.?[^\s<>()\[\]]*")
_MARKDOWN_LINK = re.compile(r"\[[^\]\n]+\]\(\s*<?([^)\s>]+)>?\s*\)")
_PATH_WORD = re.compile(r"[\w./~+@%-]*[\w/]")


def fields_filled(gate: Gate, seen: Seen) -> Finding:
    """Each named field holds more than template text."""
    labels: list[str] = gate.params["fields"]
    file = seen.machine.store["file"]
    evidence = {f"field:{label}": hash_text(visible_text(seen.field(label))) for label in labels}
    empty = [label for label in labels if is_placeholder(seen.field(label))]
    if empty:
        return Finding(ok=False, why=f"{file} has nothing under {_quoted(empty)}", evidence=evidence)
    return Finding(ok=True, evidence=evidence)


def fields_present(gate: Gate, seen: Seen) -> Finding:
    """Each label stands in the file, filled or not, and values from a fixed list are from that list."""
    file = seen.machine.store["file"]
    missing = [label for label in gate.params["fields"] if label not in seen.document.fields]
    if missing:
        return Finding(ok=False, why=f"{file} lacks the field {_quoted(missing)}")
    for label, allowed in seen.machine.fields.items():
        value = _plain(seen.field(label))
        if allowed and value and value not in allowed:
            return Finding(ok=False, why=f'{file} says "{label}: {value[:60]}"; allowed: {", ".join(allowed)}')
    return Finding(ok=True)


def field_is(gate: Gate, seen: Seen) -> Finding:
    """A field has exactly one value."""
    label, wanted = gate.params["field"], gate.params["value"]
    value = _plain(seen.field(label))
    evidence = {f"field:{label}": hash_text(value)}
    if value == wanted.lower():
        return Finding(ok=True, evidence=evidence)
    shown = value[:60] or "nothing"
    why = f'{seen.machine.store["file"]} says "{label}: {shown}", not "{wanted}"'
    return Finding(ok=False, why=why, evidence=evidence)


def register_is(gate: Gate, seen: Seen) -> Finding:
    """A value the engine itself remembers; no file can claim it."""
    for register, excused in gate.params.get("unless", {}).items():
        if seen.snapshot.registers.get(register, "") == excused:
            return Finding(ok=True)
    register, wanted = gate.params["register"], gate.params["value"]
    value = seen.snapshot.registers.get(register, "")
    return Finding(ok=value == wanted, why="" if value == wanted else f"{register} is {value or 'empty'}, not {wanted}")


def section_filled(gate: Gate, seen: Seen) -> Finding:
    """A section has visible text of its own."""
    file, name = gate.params["file"], gate.params["section"]
    body = seen.section(file, name)
    evidence = {f"section:{file}:{name}": hash_text(visible_text(body or ""))}
    if body is None:
        return Finding(ok=False, why=f'{file} has no section "## {name}"', evidence=evidence)
    if is_placeholder(body):
        return Finding(ok=False, why=f'{file} has nothing under "## {name}"', evidence=evidence)
    return Finding(ok=True, evidence=evidence)


def verdict(gate: Gate, seen: Seen) -> Finding:
    """A section gives one clear verdict, and it is the wanted one."""
    filled = section_filled(gate, seen)
    if not filled.ok:
        return filled
    file, name, wanted = gate.params["file"], gate.params["section"], gate.params["value"]
    words = gate.params.get("words", ["PASS", "FAIL"])
    found = read_verdict(seen.section(file, name) or "", words)
    if found == wanted:
        return filled
    shown = "no clear verdict" if found is None else found
    why = f'{file} gives {shown} under "## {name}", not {wanted}'
    return Finding(ok=False, why=why, evidence=filled.evidence)


def labels(gate: Gate, seen: Seen) -> Finding:
    """Every item of a list carries exactly one known label, where the work is of the kind that needs the list."""
    name, known = gate.params["section"], gate.params["labels"]
    relevant = gate.params["relevant"]
    answer = _plain(seen.field(relevant))
    bodies = {file: body for file in gate.params["files"] if (body := seen.section(file, name)) is not None}
    items = [
        (file, line.content)
        for file, body in bodies.items()
        for line in scan(body)
        if line.kind == "text" and not is_placeholder(line.content)
    ]
    evidence = {f"section:{file}:{name}": hash_text(visible_text(body)) for file, body in bodies.items()}
    if not items and answer == "no":
        return Finding(ok=True, evidence=evidence)
    if not items and answer != "yes":
        return Finding(ok=False, why=f'"{relevant}" is neither yes nor no', evidence=evidence)
    if not items:
        return Finding(ok=False, why=f'"{relevant}" is yes, but "## {name}" lists nothing', evidence=evidence)
    for file, item in items:
        found = [label for label in known if re.search(rf"(?<![\w-]){re.escape(label)}(?![\w-])", item)]
        if len(found) != 1:
            count = "no" if not found else "more than one"
            why = f'{file}: "{item[:60]}" under "## {name}" has {count} label of: {", ".join(known)}'
            return Finding(ok=False, why=why, evidence=evidence)
    return Finding(ok=True, evidence=evidence)


def path_field(gate: Gate, seen: Seen) -> Finding:
    """A field names a file or folder that exists, inside the task folder or the tree, and is not empty."""
    label = gate.params["field"]
    value = seen.field(label)
    evidence = {f"path:{label}": ""}
    if is_placeholder(value):
        return Finding(ok=False, why=f'"{label}" names no file', evidence=evidence)
    found = seen.files.path(_link_target(value))
    if found is None:
        why = (
            f'"{label}" names {value.splitlines()[0][:80]!r}, which is not there (or lies outside task folder and tree)'
        )
        return Finding(ok=False, why=why, evidence=evidence)
    evidence = {f"path:{label}": found.digest}
    if not found.size_bytes:
        return Finding(ok=False, why=f"{found.path} is empty", evidence=evidence)
    return Finding(ok=True, evidence=evidence, proof=found.digest)


def link_field(gate: Gate, seen: Seen) -> Finding:
    """A field holds something a reader can click: a full address, or a Markdown link to a file that exists."""
    label = gate.params["field"]
    value = seen.field(label)
    evidence = {f"field:{label}": hash_text(value)}
    if is_placeholder(value):
        return Finding(ok=False, why=f'"{label}" is empty', evidence=evidence)
    if _URL.search(value):
        return Finding(ok=True, evidence=evidence)
    if match := _MARKDOWN_LINK.search(value):
        found = seen.files.path(match[1])
        if found is not None and found.size_bytes:
            note = f'"{label}" is a relative link: it opens only where the task folder is shown'
            return Finding(ok=True, evidence=evidence, note=note)
        return Finding(ok=False, why=f'"{label}" links to {match[1]!r}, which is not there', evidence=evidence)
    return Finding(ok=False, why=f'"{label}" is no clickable link', evidence=evidence)


def receipt_key(tree: str, line: str, gate: Gate, workspace: str) -> str:
    """What a receipt holds for: this tree, this command, this gate as defined, this way to prepare a checkout."""
    parts = (tree, line, gate.check, repr(sorted(gate.params.items())), workspace)
    return sha256_of("\0".join(parts).encode("utf-8", "surrogatepass"))


def commands(gate: Gate, seen: Seen) -> Finding:
    """Every command of the plan and of the project exited with 0, run by the engine on exactly this tree."""
    wanted = all_commands(seen.commands, seen.field(gate.params["field"]))
    if not wanted:
        example = 'a "cmd: ..." line or a fenced block'
        return Finding(ok=False, why=f'"{gate.params["field"]}" names no command ({example})')
    unknown, red, proofs = [], [], []
    for command in wanted:
        key = receipt_key(seen.tree, command.line, gate, seen.workspace)
        receipt = seen.receipts.find(key) if seen.tree else None
        first = command.line.splitlines()[0][:80]
        if receipt is None:
            unknown.append(first)
        elif not receipt.is_green:
            result = receipt.problem or f"exit {receipt.attempts[-1]}"
            red.append(f"{first!r} failed on this tree ({result}), see {receipt.log}")
        else:
            proofs.append(key)
    if red:
        return Finding(ok=False, why="; ".join(red))
    if unknown:
        return Finding(ok=False, why=f"not run on this tree: {', '.join(unknown)}", pending=True)
    return Finding(ok=True, proof=sha256_of("".join(proofs).encode())[:32], by_engine=True)


def manual_evidence(gate: Gate, seen: Seen) -> Finding:
    """Where the plan asks for more than commands, somebody wrote down what was seen."""
    if not read_plan(seen.field(gate.params["field"]))[1]:
        return Finding(ok=True, by_engine=True)
    return section_filled(gate, seen)


def answers(gate: Gate, seen: Seen) -> Finding:
    """Each question has a recorded yes with somebody's name and a proof that exists."""
    filled = section_filled(gate, seen)
    if not filled.ok:
        return filled
    body = seen.section(gate.params["file"], gate.params["section"]) or ""
    lines = [line.content for line in scan(body) if line.kind == "text"]
    for question in gate.params["questions"]:
        problem = _answer_problem(question, lines, seen)
        if problem:
            return Finding(ok=False, why=f"{gate.params['file']}: {question!r} {problem}", evidence=filled.evidence)
    return filled


def _answer_problem(question: str, lines: list[str], seen: Seen) -> str:
    given = [line for line in lines if line.strip("*_` ").lower().startswith(question.lower())]
    if not given:
        return "is not answered"
    if len(given) > 1:
        return "is answered twice"
    said = given[0].strip("*_` ")[len(question) :].lstrip("*_`:? \t")
    if not re.match(r"\**yes\b", said, re.IGNORECASE) or re.search(r"\bno\b", said, re.IGNORECASE):
        return "is not answered with a clear yes"
    author = re.search(r"\bby\s+([^\s,;]+)", said)
    if author is None or is_placeholder(author[1]):
        return "does not say who looked (by NAME)"
    rest = said[author.end() :]
    paths = [_link_target(word) for word in (*(m[0] for m in _MARKDOWN_LINK.finditer(rest)), *_PATH_WORD.findall(rest))]
    if not any((found := seen.files.path(word)) is not None and found.size_bytes for word in paths):
        return "names no proof that exists"
    return ""


def _plain(value: str) -> str:
    """A one-word value as people write it: emphasis and case do not matter, further lines do not belong to it."""
    first = value.strip().splitlines()[0] if value.strip() else ""
    return first.strip("*_`. \t").lower()


def _link_target(value: str) -> str:
    match = _MARKDOWN_LINK.search(value)
    first = value.strip().splitlines()[0] if value.strip() else ""
    return match[1] if match else first.strip("`*_<> \t")


def _quoted(labels: list[str]) -> str:
    return ", ".join(f'"{label}:"' for label in labels)


CHECKS: Mapping[str, tuple[Check, tuple[str, ...], tuple[str, ...]]] = {
    # name: (function, required parameters, optional parameters)
    "fields_filled": (fields_filled, ("fields",), ()),
    "fields_present": (fields_present, ("fields",), ()),
    "field_is": (field_is, ("field", "value"), ()),
    "register_is": (register_is, ("register", "value"), ("unless",)),
    "section_filled": (section_filled, ("file", "section"), ()),
    "verdict": (verdict, ("file", "section", "value"), ("words",)),
    "labels": (labels, ("files", "section", "labels", "relevant"), ()),
    "path_field": (path_field, ("field",), ()),
    "link_field": (link_field, ("field",), ()),
    "commands": (commands, ("field",), ()),
    "manual_evidence": (manual_evidence, ("field", "file", "section"), ()),
    "answers": (answers, ("file", "section", "questions"), ()),
}


def parameters() -> dict[str, tuple[tuple[str, ...], tuple[str, ...]]]:
    """What each check must and may be given, for the machine parser; `not` and `all` combine other gates."""
    plain: dict[str, Any] = {name: (required, optional) for name, (_, required, optional) in CHECKS.items()}
    return {**plain, "not": (("of",), ()), "all": (("of",), ())}
