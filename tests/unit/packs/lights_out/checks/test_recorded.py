"""Recorded commands: which of them the engine runs, and when what it saw is what was recorded."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from detent.core.machine import Gate
from detent.core.values import Fact
from detent.gates.commands import Run, runs_of, standing_runs
from detent.gates.judge import judge
from detent.gates.seen import Seen
from detent.packs.lights_out.checks.recorded import compared, why_unrepeatable
from detent.packs.lights_out.words import documents as documents_words
from detent.packs.lights_out.words import verification as say
from detent.store.journal.receipts import SETUP_FAILED, Receipt, ReceiptStore
from detent.words.effects.workspace import timed_out
from tests.unit.packs.lights_out.pipeline import Project

CPU_S = 20
REPORT = "scaffolding/verification.md"
GATE = Gate("ours", "recorded_runs", {"file": "verification.md"}, "task", "record what is printed")
FIRST = "printf 'one two\\nthree\\n' > sample.txt; python3 words.py sample.txt"
SECOND = "yes 'a b c d' | head -c 1000000 > large.txt; timeout 60 python3 words.py large.txt"
PRINTS = {
    FIRST: "words=3\n",
    SECOND: "words=500000\n",
    "python3 words.py none.txt": "no such file: none.txt\n",
    "python3 -m unittest discover tests": "...\n-----\nRan 3 tests in 0.101s\n\nOK\n",
    "python3 words.py docs/input/brief.md": "words=28\n",
}


class Verified:
    """A verification, and the receipts of an engine that ran its commands."""

    def __init__(self, base: Path, tier: str = "shed") -> None:
        self.project = Project(base, tier)
        self.proved: dict[str, str] = {}

    def seen(self) -> Seen:
        return self.project.seen(GATE).replace(proved=self.proved)

    def runs(self) -> tuple[Run, ...]:
        return runs_of(GATE, self.seen())

    def run_all(self, prints: dict[str, str] | None = None, problem: str = "", exit_: int | None = None) -> Verified:
        """As the engine would: each command once, with what it prints."""
        store = ReceiptStore(str(self.project.base / "receipts"))
        for run in self.runs():
            output = {**PRINTS, **(prints or {})}.get(run.command.line, "")
            code = run.exit if exit_ is None else exit_
            made = Receipt(run.key, run.command.line, "tree-1", (code,), "a.log", problem, output=output)
            self.proved[run.key] = store.save(made).digest
        return self

    def fact(self) -> Fact:
        return judge(self.seen(), ["ours"])["ours"]


def test_every_recorded_command_is_run_with_its_exit(tmp_path: Path) -> None:
    verified = Verified(tmp_path)
    runs = verified.runs()
    assert {run.command.line: run.exit for run in runs} == {line: 2 if "none.txt" in line else 0 for line in PRINTS}
    assert all(run.is_recorded for run in runs), "the receipt keeps what is compared"
    assert standing_runs(GATE, verified.seen()) == (), "no other state is judged by them"


def test_what_was_not_run_yet_is_pending(tmp_path: Path) -> None:
    fact = Verified(tmp_path).fact()
    assert (fact.ok, fact.pending) == (False, True)


def test_the_same_exits_and_outputs_hold(tmp_path: Path) -> None:
    fact = Verified(tmp_path).run_all().fact()
    assert fact.ok, fact.why
    assert fact.note == ""


def test_a_receipt_that_is_not_vouched_for_counts_for_nothing(tmp_path: Path) -> None:
    verified = Verified(tmp_path).run_all()
    verified.proved.clear()
    assert verified.fact().pending


@pytest.mark.parametrize(
    ("prints", "problem", "exit_", "why"),
    [
        (
            {FIRST: "words=4\n"},
            "",
            None,
            say.other_output(
                "verification.md",
                [
                    (
                        "AC-1",
                        "printf 'one two\\nthree\\n' > sample.txt; python3 words.py sam...",
                        say.not_printed("words=3", "words=4"),
                    )
                ],
            ),
        ),
        ({FIRST: "words=4\n"}, "", None, say.not_printed("words=3", "words=4")),
        ({FIRST: ""}, "", None, say.not_printed("words=3", "")),
        (
            {FIRST: "words=3\nTraceback\n"},
            "",
            None,
            say.other_output(
                "verification.md",
                [
                    (
                        "AC-1",
                        "printf 'one two\\nthree\\n' > sample.txt; python3 words.py sam...",
                        say.printed_besides("Traceback", 0, "[...]"),
                    )
                ],
            ),
        ),
        ({FIRST: "sh: 1: x: not found\n"}, "", 127, say.other_exit(127, 0, "sh: 1: x: not found")),
        (
            {},
            "",
            0,
            say.other_output(
                "verification.md",
                [("AC-3", "python3 words.py none.txt", say.other_exit(0, 2, "no such file: none.txt"))],
            ),
        ),
        ({}, timed_out(5), None, timed_out(5)),
    ],
)
def test_another_exit_or_output_is_told(
    tmp_path: Path, prints: dict[str, str], problem: str, exit_: int | None, why: str
) -> None:
    fact = Verified(tmp_path).run_all(prints, problem, exit_).fact()
    assert (fact.ok, fact.pending) == (False, False)
    assert why in fact.why


def test_a_checkout_that_could_not_be_made_says_nothing(tmp_path: Path) -> None:
    fact = Verified(tmp_path).run_all(problem=f"{SETUP_FAILED}: npm ci").fact()
    assert (fact.ok, fact.is_known) == (False, False)


def test_of_a_verification_that_failed_nothing_is_run(tmp_path: Path) -> None:
    verified = Verified(tmp_path)
    verified.project.replace_section(REPORT, "Verdict", "FAIL")
    assert verified.runs() == ()
    assert verified.fact().why == say.nothing_recorded("verification.md")


@pytest.mark.parametrize("line", ["echo words=3", "printf 'a; b'; true", "cd src && echo ok", "true"])
def test_a_command_that_only_prints_text_exercises_nothing(tmp_path: Path, line: str) -> None:
    verified = Verified(tmp_path)
    verified.project.change(REPORT, f"`{FIRST}`", f"`{line}`")
    assert line not in [run.command.line for run in verified.runs()]
    fact = verified.run_all({line: "words=3\n"}).fact()
    assert fact.why == say.only_prints("verification.md", [("AC-1", line)])


def test_what_can_not_be_repeated_is_named(tmp_path: Path) -> None:
    verified = Verified(tmp_path)
    verified.project.change(REPORT, f"`{FIRST}`", "`curl -s https://words.example/count`")
    verified.project.change(REPORT, "- Kind: sample-data run", "- Kind: browser check")
    assert len(verified.runs()) == 3
    fact = verified.run_all().fact()
    assert fact.ok, fact.why
    assert fact.note == say.left_alone([("AC-1", say.asks_host("words.example")), ("AC-2", "browser check")])


@pytest.mark.parametrize(
    ("kind", "line", "why"),
    [
        ("CLI output", "make test", ""),
        ("**Browser check**", "open the page", "browser check"),
        ("HTTP response", "curl https://words.example/a", say.asks_host("words.example")),
        ("HTTP response", "curl http://localhost:8000/a", say.asks_server()),
        ("HTTP response", "make && curl http://127.0.0.1:8000/a 2>&1", say.asks_server()),
        ("HTTP response", "python3 app.py & curl --retry 5 http://[::1]:8000/a; kill $!", ""),
        ("HTTP response", "sh smoke.sh", ""),
    ],
)
def test_why_a_command_can_not_be_repeated(kind: str, line: str, why: str) -> None:
    assert why_unrepeatable(kind, line) == why


def test_of_a_load_test_only_the_exit_is_compared(tmp_path: Path) -> None:
    verified = Verified(tmp_path, "house")
    load = "Command: `sh load.sh`\nConcurrency: 50\n\n```\nRequests/sec: 512.3\n```\n"
    verified.project.replace_section(REPORT, "Load Test", load)
    outputs = {run.command.line: "other figures\n" for run in verified.runs()}
    wrong = verified.run_all(outputs).fact().why
    assert documents_words.heading("Load Test") not in wrong
    assert "AC-" in wrong
    assert '"## Load Test": `sh load.sh` exited with 1, not 0' in verified.run_all(outputs, exit_=1).fact().why


@pytest.mark.parametrize(
    ("recorded", "printed"),
    [
        ("OK\nRan 3 tests in 0.312s", "Ran 3 tests in 1.7s\n\nOK\n"),
        ("real    0m0.061s", "real 0m1.204s"),
        ("12:00:01 started", "12:31:59 started"),
        ("at 2024-01-01T10:00:00Z", "at 2026-11-18 05:00:12.5+01:00"),
        ("File /home/a/look/words.py, line 3", "File /srv/proof/words.py, line 3"),
        ("rootdir: /home/a/look", "rootdir: /srv/proof"),
        ("<Word at 0x7f3a>", "<Word at 0x55b1>"),
        ("\x1b[32mpassed\x1b[0m", "passed"),
        ("first\n[...]\nlast", "first\nsecond\nthird\nlast\n"),
        ("id [...] made", "id 8f2e made"),
        ("a [...]\na b", "a b\na c"),
        ("(no output)", "\n"),
        ("$ not the command, so it counts", "$ not the command, so it counts"),
    ],
)
def test_outputs_that_agree(recorded: str, printed: str) -> None:
    assert compared(recorded, printed) == ""


@pytest.mark.parametrize(
    ("recorded", "printed", "why"),
    [
        ("3 passed", "2 passed, 1 failed", say.not_printed("3 passed", "2 passed, 1 failed")),
        ("due 2024-01-01", "due 2024-01-02", say.not_printed("due 2024-01-01", "due 2024-01-02")),
        ("ok\nok", "ok", say.not_printed("ok", "")),
        ("ok", "ok\nwarn 1\nwarn 2", say.printed_besides("warn 1", 1, "[...]")),
        ("[...]", "anything", say.record_leaves_all_out()),
        ("[...]\n[...] [...]", "anything else", say.record_leaves_all_out()),
        ("(no output)", "a traceback", say.printed_besides("a traceback", 0, "[...]")),
        ("see lib/a.py", "see lib/b.py", say.not_printed("see lib/a.py", "see lib/b.py")),
        ("200 /api/items.json", "200 /api/other.json", say.not_printed("200 /api/items.json", "200 /api/other.json")),
    ],
)
def test_outputs_that_differ(recorded: str, printed: str, why: str) -> None:
    assert why in compared(recorded, printed)


@pytest.mark.parametrize(
    ("recorded", "printed"),
    [
        ('"[...]".join("a" * 50) + "b"', '"a" * 60_000'),
        ('"\\n".join(f"b{n}" for n in range(300_000))', '"\\n".join(f"w{n}" for n in range(9_000))'),
        ('"\\n".join(f"b{n} [...] c" for n in range(9_000))', '"\\n".join(f"w{n}" for n in range(9_000))'),
    ],
)
def test_outputs_made_to_be_compared_for_ever_are_told_apart(recorded: str, printed: str) -> None:
    """An agent writes both; a bound on processor time, many times what is needed."""
    program = f"""
import resource
resource.setrlimit(resource.RLIMIT_CPU, ({CPU_S}, {CPU_S}))
from detent.packs.lights_out.checks.recorded import compared
assert compared({recorded}, {printed})
"""
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
