"""Checks about fields and sections: each reads observations and returns a fact. Fail closed.

Missing, empty, placeholder, ambiguous and unreadable are all "not proven", with the reason.
"""

from __future__ import annotations

import re
from functools import lru_cache, partial

from detent.errors import UnreadableError
from detent.gates.plan import read_plan
from detent.gates.seen import Finding, Seen
from detent.gates.verdict import read_verdict
from detent.store.disk.digest import hash_text
from detent.store.text.markdown import besides_link, is_placeholder, says_nothing, scan, visible_text
from detent.store.text.markdown_blocks import read_blocks
from detent.words import gates as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from detent.core.machine import Gate
    from detent.store.journal.observed import PathSeen

# Patterns stand as text, and are compiled by the first task that asks: every start of a command loads this module.
# A host with a dot, an address, or a name of the local network; that one needs a path, else "https://x" would do.
_URL = (
    r"https?://(?:(?:(?:[\w-]+\.)+[\w-]*[^\W\d_][\w-]*|localhost|\d{1,3}(?:\.\d{1,3}){3}|\[[\da-fA-F:]+\])(?![\w-])"
    r"|[\w-]+(?::\d+)?/[^\s<>()\[\]]*\w)"
)
MARKDOWN_LINK = r"\[[^\]\n]+\]\(\s*<?([^)\s>]+)>?\s*\)"
_MOST_FILLER_BYTES = 200  # of a file that is looked into, whether it says anything
_MOST_QUOTED = 2000  # characters of a section that is quoted to the next run
_MOST_SHOWN = 80  # characters of a quoted text
ROUND_LINE = re.compile(r"\W*round\W*\d+\W*", re.IGNORECASE)


def fields_filled(gate: Gate, seen: Seen) -> Finding:
    """Each named field holds more than template text, and none of the words that mean nothing there (`empty`).

    In fields of `none_in` such a word is an answer.
    """
    labels: list[str] = gate.params["fields"]
    file = seen.machine.store.file
    values = {label: seen.field(label) for label in labels}
    evidence = {f"field:{label}": _hash_of_field(value) for label, value in values.items()}
    may_be_none = gate.params.get("none_in", ())
    says = {label: filled if label in may_be_none else partial(_says_something, gate) for label in labels}
    empty = [label for label, value in values.items() if not says[label](value)]
    filler = [(label, visible_text(values[label]).strip()) for label in empty if filled(values[label])]
    blank = [label for label in empty if not filled(values[label])]
    why = [say.fields_blank(file, blank)] if blank else []
    why += [say.fields_say_nothing(file, filler)] if filler else []
    return Finding(ok=not empty, why=say.together(why), evidence=evidence)


def _says_something(gate: Gate, text: str) -> bool:
    """Whether a text is filled with more than the words that mean nothing to this gate."""
    nothing = gate.params.get("empty", ())
    return filled(text) and not (nothing and says_nothing(text, tuple(nothing)))


def fields_empty(gate: Gate, seen: Seen) -> Finding:
    """None of the named fields says anything: each is blank, template text, or a word that means nothing there."""
    for label in gate.params["fields"]:
        if _says_something(gate, value := seen.field(label)):
            said = cut(" ".join(visible_text(value).split()))
            return Finding(ok=False, why=say.field_says(seen.machine.store.file, label, said))
    return Finding(ok=True)


def section_empty(gate: Gate, seen: Seen) -> Finding:
    """A section says nothing, or nothing that was not there when the state was entered."""
    file, name = gate.params["file"], gate.params["section"]
    body = seen.section(file, name) or ""
    key, digest = f"section:{file}:{name}", hash_text(shown(body))
    if not _says_something(gate, body) or seen.snapshot.entry.get(key) == digest:
        return Finding(ok=True, evidence={key: digest}, by_engine=True)
    said = cut(" ".join(visible_text(body).split()))
    return Finding(ok=False, why=say.section_says(file, name, said), evidence={key: digest})


@lru_cache(maxsize=16)  # fields seldom change, and are asked for in every step
def _hash_of_field(value: str) -> str:
    return hash_text(visible_text(value))


def fields_present(gate: Gate, seen: Seen) -> Finding:
    """Each label stands in the file, filled or not, and values from a fixed list are from that list."""
    file = seen.machine.store.file
    missing = [label for label in gate.params["fields"] if label not in seen.document.fields]
    if missing:
        return Finding(ok=False, why=say.fields_missing(file, missing))
    for label, allowed in seen.machine.fields.items():
        value = _plain(seen.field(label))
        if allowed and value and value not in allowed:
            return Finding(ok=False, why=say.field_not_allowed(file, label, cut(value), allowed))
    return Finding(ok=True)


def field_is(gate: Gate, seen: Seen) -> Finding:
    """A field has exactly one value."""
    label, wanted = gate.params["field"], gate.params["value"]
    value = _plain(seen.field(label))
    evidence = {f"field:{label}": hash_text(value)}
    if value == wanted.lower():
        return Finding(ok=True, evidence=evidence)
    why = say.field_differs(seen.machine.store.file, label, cut(value), wanted)
    return Finding(ok=False, why=why, evidence=evidence)


def register_is(gate: Gate, seen: Seen) -> Finding:
    """A value the engine itself remembers; no file can claim it."""
    for register, excused in gate.params.get("unless", {}).items():
        if seen.snapshot.registers.get(register, "") == excused:
            return Finding(ok=True)
    register, wanted = gate.params["register"], gate.params["value"]
    value = seen.snapshot.registers.get(register, "")
    return Finding(ok=value == wanted, why="" if value == wanted else say.register_is_not(register, value, wanted))


def section_filled(gate: Gate, seen: Seen) -> Finding:
    """A section has visible text of its own."""
    file, name = gate.params["file"], gate.params["section"]
    body = seen.section(file, name)
    evidence = {f"section:{file}:{name}": hash_text(shown(body or ""))}
    if body is None:
        return Finding(ok=False, why=say.section_missing(file, name), evidence=evidence)
    if not _says_something(gate, body):
        return Finding(ok=False, why=say.section_blank(file, name), evidence=evidence)
    said = " ".join(shown(body).split())[:_MOST_QUOTED] if gate.params.get("quoted") else ""
    return Finding(ok=True, evidence=evidence, note=said)


def verdict(gate: Gate, seen: Seen) -> Finding:
    """A section gives one clear verdict, and it is the wanted one."""
    filled = section_filled(gate, seen)
    file, name, wanted = gate.params["file"], gate.params["section"], gate.params["value"]
    words = gate.params.get("words", ["PASS", "FAIL"])
    found = read_verdict(seen.section(file, name) or "", words)
    if found == wanted:
        return Finding(ok=True, evidence=filled.evidence)  # also where a heading says it all
    if found is None and not filled.ok:
        return filled
    unclear = found is None
    why = say.no_clear_verdict(file, name, words) if unclear else say.verdict_differs(file, name, str(found), wanted)
    return Finding(ok=False, why=why, evidence=filled.evidence, is_meant=unclear)


def labels(gate: Gate, seen: Seen) -> Finding:
    """Every item of a list carries exactly one known label, where the work is of the kind that needs the list."""
    name, known, relevant = gate.params["section"], gate.params["labels"], gate.params["relevant"]
    answer = _plain(seen.field(relevant))
    bodies = {file: body for file in gate.params["files"] if (body := seen.section(file, name)) is not None}
    evidence = {f"section:{file}:{name}": hash_text(shown(body)) for file, body in bodies.items()}
    items: list[tuple[str, str]] = []
    for file, body in bodies.items():
        for line in scan(body):
            if line.kind in ("code", "html") and any(letter.isalnum() for letter in line.text):
                return Finding(ok=False, why=say.no_feature_readable(file, name), evidence=evidence)
            if line.kind == "text" and not is_placeholder(line.content):
                items.append((file, line.content))
    if not items and answer == "no":
        return Finding(ok=True, evidence=evidence)
    if not items:
        state_file = seen.machine.store.file
        is_yes = answer == "yes"
        why = (
            say.yes_without_list(state_file, relevant, name) if is_yes else say.neither_yes_nor_no(state_file, relevant)
        )
        return Finding(ok=False, why=why, evidence=evidence)
    one_of = re.compile(rf"(?<![\w-])(?:{'|'.join(map(re.escape, known))})(?![\w-])")
    for file, item in items:
        found = one_of.findall(item)
        if len(found) != 1:
            why = say.not_one_label(file, name, cut(item), len(found), known)
            return Finding(ok=False, why=why, evidence=evidence)
        if is_placeholder(one_of.sub("", item)):
            return Finding(ok=False, why=say.label_without_feature(file, name, cut(item)), evidence=evidence)
    return Finding(ok=True, evidence=evidence)


def path_field(gate: Gate, seen: Seen) -> Finding:
    """A field names a file or folder that exists and is not empty.

    It lies in the task folder or the tree; fresh proof lies in the task folder and has changed since entry.
    """
    label, file = gate.params["field"], seen.machine.store.file
    target = _link_target(_first_line(seen.field(label)))
    if is_placeholder(target):
        return Finding(ok=False, why=say.field_names_no_file(file, label))
    found = seen.files.path(target)
    if found is None:
        return Finding(ok=False, why=say.named_file_missing(file, label, cut(target)))
    if not found.size_bytes:
        return Finding(ok=False, why=say.named_file_empty(file, label, found.path))
    if _says_nothing(seen, found):
        return Finding(ok=False, why=say.named_file_says_nothing(file, label, found.path))
    if gate.since == "entry":
        if not found.parts:
            return Finding(ok=False, why=say.named_file_elsewhere(file, label, found.path))
        # By bytes, not by name: an old proof that was copied or renamed is still an old proof.
        known = {digest for key, digest in seen.snapshot.entry.items() if key.startswith("file:")}
        if "cut" in known:
            return Finding(ok=False, why=say.too_many_files(file, label))
        at_entry = [seen.snapshot.entry.get(f"shown:{part}") for part in found.parts]
        is_same = all(at_entry) and at_entry == [hash_text(shown(seen.files.text(part) or "")) for part in found.parts]
        if is_same or known.issuperset(found.parts.values()):
            state = seen.snapshot.state
            visit = seen.snapshot.visits.get(state, 1)
            why = say.named_file_unchanged(file, label, found.path, state, gate.fix, visit)
            return Finding(ok=False, why=why, fix=why.next_step)
    return Finding(ok=True, proof=found.digest)


def _says_nothing(seen: Seen, found: PathSeen) -> bool:
    """Whether a small text of the task folder holds nothing but white space or filler."""
    if found.size_bytes > _MOST_FILLER_BYTES:
        return False
    try:
        texts = [seen.files.text(part) for part in found.parts]
    except UnreadableError:  # a picture, say
        return False
    return bool(texts) and all(is_placeholder(f"    {' '.join((text or '').split())}") for text in texts)


def link_field(gate: Gate, seen: Seen) -> Finding:
    """A field holds something a reader can click: a full address, or a Markdown link to a file of the task folder.

    With `when_folder` that is asked only once there is something in that folder. A file of filler is no such file.
    A link that the engine wrote of its own accord, as the journal knows, is not counted.
    """
    if (watched := gate.params.get("when_folder")) and not any(
        name.startswith(f"{watched}/") for name in seen.files.listing()
    ):
        return Finding(ok=True, once=say.once_file_under(watched))
    label, file = gate.params["field"], seen.machine.store.file
    value = seen.field(label)
    evidence = {f"field:{label}": hash_text(value)}
    if is_placeholder(value):
        return Finding(ok=False, why=say.link_empty(file, label), evidence=evidence)
    if is_placeholder(theirs := besides_link(value, seen.engine_link)):
        return Finding(ok=False, why=say.only_engine_link(file, label), evidence=evidence)
    text = _clickable_text(theirs)
    if address := re.search(_URL, text):
        why = _address_problem(file, label, address[0], text[address.end() :])
        return Finding(ok=not why, why=why, evidence=evidence)
    match = re.search(MARKDOWN_LINK, text)
    if match is None:
        return Finding(ok=False, why=say.link_not_clickable(file, label), evidence=evidence)
    why = _target_problem(seen, file, label, match[1].partition("#")[0])
    return Finding(ok=not why, why=why, evidence=evidence, note="" if why else say.link_is_relative(file, label))


def _target_problem(seen: Seen, file: str, label: str, target: str) -> str:
    """Why a link into the task folder leads no reader to proof; empty where nothing speaks against it."""
    if target.startswith("/") or ".." in target.split("/"):
        return say.link_leaves_folder(file, label, cut(target))
    # The reader's click starts where the document lies, not in the tree.
    folder = seen.document.path.rpartition("/")[0]
    found = seen.files.path(f"{folder}/{target}", as_proof=False) if target else None
    if found is None or not found.size_bytes:
        return say.link_target_missing(file, label, cut(target))
    # A page the engine made of the proof may be linked to; the document and its log only say that there is one.
    for name in (file, seen.machine.store.log):
        delivered = seen.files.path(f"{folder}/{name}", as_proof=False) if name else None
        if delivered is not None and delivered.digest == found.digest:
            return say.link_target_is_document(file, label, name)
    return say.link_target_says_nothing(file, label, cut(target)) if _says_nothing(seen, found) else ""


def _address_problem(file: str, label: str, host: str, rest: str) -> str:
    """Why a full address leads no reader to the proof; empty where nothing speaks against it."""
    name = host.partition("://")[2].rpartition("@")[2].lower()
    if re.match(r"(?:[\w.-]+\.)?(?:localhost|localdomain|invalid|test)\b|127\.|0\.0\.0\.0|\[::", name):
        return say.address_is_local(file, label, name.partition("/")[0])
    has_path = re.match(r"(?::\d+)?/[^\s<>()\[\]]*\w", rest) or "/" in name
    return "" if has_path else say.address_without_path(file, label, name)


def manual_evidence(gate: Gate, seen: Seen) -> Finding:
    """Where the plan asks for more than commands, the document records the manual results."""
    if not read_plan(seen.field(gate.params["field"]))[1]:
        return Finding(ok=True, by_engine=True)
    return section_filled(gate, seen)


def shown(text: str) -> str:
    """The visible text of a section, headings included: the evidence that distinguishes one round from another."""
    return "\n".join([row.text for row in read_blocks(text).rows if row.kind in ("text", "heading", "code")])


@lru_cache(maxsize=16)  # asked about the same few fields and sections in every step
def filled(text: str) -> bool:
    """Whether a reader would find something there besides the line that tells one round from another."""
    rows = read_blocks(text).rows
    kept = [text[row.start : row.end] for row in rows if row.kind != "text" or not ROUND_LINE.fullmatch(row.content)]
    return not is_placeholder("".join(kept))


def _first_line(value: str) -> str:
    """The first line of a value that a reader sees as text."""
    return next((line.content for line in scan(value) if line.content), "")


def _plain(value: str) -> str:
    """A one-word value as people write it: emphasis and case do not matter, further lines do not belong to it."""
    return _first_line(value).strip("*_`. \t").lower()


def _clickable_text(value: str) -> str:
    return re.sub(r"`+[^`]*`+", " ", "\n".join(line.content for line in scan(value)))


def _link_target(line: str) -> str:
    match = re.search(MARKDOWN_LINK, line)
    return match[1] if match else line.strip("`*_<> \t")


def cut(text: str) -> str:
    return text[:_MOST_SHOWN]
