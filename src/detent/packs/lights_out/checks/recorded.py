"""The check `recorded_runs`: the commands a verification records do what it says when the engine runs them.

Each recorded command runs on the frozen tree like any other proof. Its exit must be the recorded one (`Exit: 2`; 0
where none is recorded) and its output the recorded one: line for line in any order, without times of day, durations,
addresses of memory and folders of absolute paths, which differ from run to run. `[...]` in a recorded output stands for
text that is left out. A browser step, an address on another host and a server that the command does not start can't be
repeated; the finding names them. A command may still print text that was prepared for it: this check can't tell.
"""

from __future__ import annotations

import re
from collections import Counter

from detent.core.record import Record
from detent.gates.commands import run_on
from detent.gates.plan import receipt_key
from detent.gates.seen import Finding
from detent.gates.verdict import read_verdict
from detent.packs.lights_out.checks.acceptance import named
from detent.packs.lights_out.checks.documents import Page, code_blocks, cut, labelled, spans, written_text
from detent.packs.lights_out.checks.verification import (
    APPLICATION,
    BROWSER,
    CRITERIA,
    FAIL,
    LABELS,
    LOAD,
    PASS,
    TESTS,
    VERDICT,
)
from detent.packs.lights_out.words import verification as say
from detent.store.disk.digest import hash_text
from detent.store.journal.observed import Command

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from detent.core.machine import Gate
    from detent.gates.commands import Run
    from detent.gates.seen import Seen
    from detent.store.journal.receipts import Receipt

LEFT_OUT = "[...]"
NO_OUTPUT = "(no output)"
_MOST_SHORTENED = 100  # lines of a recorded output with something left out
_ADDRESS = re.compile(r"\bhttps?://(\[[^\]\s]*\]|[^\s/:'\"`]+)", re.IGNORECASE)
_LOOPBACK = re.compile(r"localhost|127(?:\.\d+){3}|0\.0\.0\.0|\[::1?\]", re.IGNORECASE)
_BACKGROUND = re.compile(r"(?<![&>|<\\])&(?![&>\d])")
_ONLY_PRINTS = frozenset(("echo", "printf", "true", ":", "exit", "sleep", "cd"))
_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")
_VARIES = re.compile(
    r"0x[0-9a-fA-F]+"
    r"|\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?"
    r"|\b\d\d:\d\d:\d\d(?:[.,]\d+)?"
    r"|\b\d+m\d+(?:[.,]\d+)?s\b"
    r"|\b\d+(?:[.,]\d+)?\s?(?:ns|us|\u00b5s|\u03bcs|ms|s|secs?|seconds?|min|minutes?)\b"
)
_PATH = re.compile(r"(?<![\w:/.])/(?:[\w.@+~-]+/)*([\w.@+~-]*)")


class Recorded(Record):
    """One command that a verification says was run."""

    label: str  # AC-1, or the section
    line: str
    exit: int
    output: str
    unrepeatable: str = ""  # why the engine can't run it
    varies: bool = False  # only its exit can be compared


def recorded_in(gate: Gate, seen: Seen) -> tuple[Recorded, ...]:
    """Every command of a verification that passes; of one that fails nothing is repeated."""
    page = Page(seen, gate.params["file"])
    if read_verdict(page.body(VERDICT, ""), (PASS, FAIL)) != PASS:
        return ()
    found = [_read_item(id_, text, entry.codes) for id_, text, entry in named(page.body(CRITERIA, ""))]
    for name in (TESTS, APPLICATION, LOAD):
        if body := page.body(name, ""):
            item = _read_item(f'"## {name}"', written_text(body), code_blocks(body))
            found.append(item.replace(varies=name == LOAD))
    return tuple(item for item in found if item.line)


def _read_item(label: str, text: str, codes: tuple[str, ...]) -> Recorded:
    said = labelled(text, LABELS)
    value = said.get("command", "")
    line = next(iter(spans(value)), "") if value.startswith("`") else value.partition("\n")[0].strip()
    number = re.match(r"[*_`]*(\d{1,3})\b", said.get("exit", ""))
    output = "\n".join(row for code in codes for row in code.splitlines() if row.strip() != f"$ {line}")
    unrepeatable = why_unrepeatable(said.get("kind", ""), line)
    return Recorded(label, line, int(number[1]) if number else 0, output, unrepeatable)


def why_unrepeatable(kind: str, line: str) -> str:
    """Why a command can't be run by itself in a fresh checkout; empty when it can."""
    if kind.strip("*_`. ").lower() == BROWSER:
        return BROWSER
    hosts = _ADDRESS.findall(line)
    if far := [host for host in hosts if not _LOOPBACK.fullmatch(host)]:
        return say.asks_host(cut(far[0]))
    return say.asks_server() if hosts and not _BACKGROUND.search(line) else ""


def recorded_commands(gate: Gate, seen: Seen) -> tuple[Run, ...]:
    """What the engine runs for a gate of this kind, each with the exit it should come to."""
    found = {command.line: command for command in recorded_in(gate, seen)[::-1] if _is_run(command)}
    return tuple(
        run_on(gate, seen, Command(command.label, command.line)).replace(exit=command.exit, is_recorded=True)
        for command in tuple(found.values())[::-1]
    )


def _is_run(item: Recorded) -> bool:
    return not item.unrepeatable and not _only_prints(item.line)


def _only_prints(line: str) -> bool:
    """Whether a command runs only programs that print their arguments."""
    from shlex import shlex  # only a verification asks

    words = shlex(line, posix=True, punctuation_chars=True)
    words.whitespace_split = True
    try:
        found = list(words)
    except ValueError:
        return False
    starts = [word for before, word in zip((";", *found), found, strict=False) if set(before) <= set(";&|()")]
    programs = [word for word in starts if not set(word) <= set(";&|()")]
    return all(program in _ONLY_PRINTS for program in programs)


def recorded_runs(gate: Gate, seen: Seen) -> Finding:
    """The engine ran each recorded command on this tree: exit and output are the recorded ones."""
    name, recorded = gate.params["file"], recorded_in(gate, seen)
    if not recorded:
        return Finding(ok=False, why=say.nothing_recorded(name))
    if empty := [item for item in recorded if not item.unrepeatable and _only_prints(item.line)]:
        return Finding(ok=False, why=say.only_prints(name, [(item.label, cut(item.line)) for item in empty]))
    keys, unknown, wrong = [], [], []
    for item in recorded:
        if item.unrepeatable:
            continue
        key = receipt_key(seen.tree, item.line, gate, seen.workspace)
        receipt = seen.receipt(key)
        keys.append(key)
        if receipt is None:
            unknown.append((item.label, cut(item.line)))
        elif receipt.is_unrun:
            return Finding(ok=False, why=say.unrun(item.label, receipt.problem, receipt.said), is_known=False)
        elif why := _difference(item, receipt):
            wrong.append((item.label, cut(item.line), why))
    if wrong:
        return Finding(ok=False, why=say.other_output(name, wrong))
    if unknown:
        return Finding(ok=False, why=say.not_repeated(unknown), pending=True)
    return Finding(ok=True, note=_note(recorded), proof=hash_text("".join(keys)), by_engine=True)


def _note(recorded: tuple[Recorded, ...]) -> str:
    left = [(item.label, item.unrepeatable) for item in recorded if item.unrepeatable]
    return say.left_alone(left) if left else ""


def _difference(item: Recorded, receipt: Receipt) -> str:
    """How a run of the engine differs from the recorded one; empty when it does not."""
    if receipt.problem:
        return receipt.problem
    printed = [row for row in receipt.output.splitlines() if row.strip()]
    if receipt.attempts[-1] != item.exit:
        return say.other_exit(receipt.attempts[-1], item.exit, cut(printed[-1].strip()) if printed else "")
    return "" if item.varies else compared(item.output, receipt.output)


def compared(recorded: str, printed: str) -> str:
    """What of a recorded output a program does not print, or prints besides; empty when they agree."""
    shown = dict(_lines(printed))  # by what is compared, as it was printed
    wanted = [] if recorded.strip() == NO_OUTPUT else list(_lines(recorded))
    is_cut = any(plain == LEFT_OUT for plain, _ in wanted)
    wanted = [row for row in wanted if row[0] != LEFT_OUT]
    if is_cut and not any(re.search(r"\w", plain.replace(LEFT_OUT, "")) for plain, _ in wanted):
        return say.record_leaves_all_out()
    shortened = [row for row in wanted if LEFT_OUT in row[0]]
    if len(shortened) > _MOST_SHORTENED:
        return say.record_leaves_out(len(shortened), _MOST_SHORTENED, LEFT_OUT)
    counts = Counter(plain for plain, _ in _lines(printed))
    lacks = []
    for plain, row in wanted:  # what leaves nothing out chooses first
        if LEFT_OUT not in plain and not _taken(plain, counts):
            lacks.append(row)
    for plain, row in shortened:
        if not _taken(next((other for other in counts if counts[other] and _is_shortened(plain, other)), ""), counts):
            lacks.append(row)
    left = [plain for plain, count in counts.items() for _ in range(count)]
    first = cut(shown[left[0]]) if left else ""
    if lacks:
        return say.not_printed(cut(lacks[0]), first)
    if left and not is_cut:
        return say.printed_besides(first, len(left) - 1, LEFT_OUT)
    return ""


def _taken(plain: str, counts: Counter[str]) -> bool:
    """Take one line of this content away from those that were printed; False when none is left."""
    if counts[plain] < 1:
        return False
    counts[plain] -= 1
    return True


def _is_shortened(short: str, whole: str) -> bool:
    """Whether a line is the other with something left out, as marked. One pass: an agent writes both."""
    first, *middle, last = short.split(LEFT_OUT)
    if len(first) + len(last) > len(whole) or not (whole.startswith(first) and whole.endswith(last)):
        return False
    at, end = len(first), len(whole) - len(last)
    for part in middle:
        found = whole.find(part, at, end)
        if found < 0:
            return False
        at = found + len(part)
    return True


def _lines(text: str) -> Iterator[tuple[str, str]]:
    """The lines that say something: as they are compared, and as they stand."""
    for row in _ESCAPES.sub("", text).splitlines():
        plain = " ".join(_PATH.sub(_file_name, _VARIES.sub("#", row)).split())
        if plain == LEFT_OUT or re.search(r"[^\W_]", plain):
            yield plain, row.strip()


def _file_name(path: re.Match[str]) -> str:
    """A file by its name, wherever it lies; a folder is another one in every checkout."""
    return path[1] if "." in path[1].strip(".") else "#"
