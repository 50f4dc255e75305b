"""JSON artifacts as gates see them: read strictly, every variant the decisions allow, and closed by anything else."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from detent.core.values import Fact, Snapshot
from detent.effects.workspace.observe import TaskFiles
from detent.gates.judge import evidence_hashes, judge
from detent.gates.seen import Seen
from detent.machines.load import load
from detent.packs.global_ import words as global_words
from detent.runner.make.vocabulary import vocabulary
from detent.store.journal.memory import Filing
from detent.store.journal.native import Document
from detent.store.journal.receipts import ReceiptStore
from detent.words import artifacts as artifacts_words
from detent.words import gates as gates_words
from detent.words import proof as proof_words
from detent.words.message import code_of
from detent.words.store import disk as disk_words
from detent.words.store import text as say

ROOT = Path(__file__).resolve().parents[3]
MACHINE = load("global", vocabulary())[0]
PLAN = {"summary": "skip empty lines", "open_questions": []}
PLANNING, FILES, PLAN_REVIEW = "planning/planning.ai.json", "plan.files.json", "review/plan-review.json"
CODE_REVIEW, REPORT, DECISION = "review/code-review.json", "code/codegen-report.json", "accept/decision.json"


class Desk:
    """A task folder; `fact` asks one gate of the machine."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.changed: tuple[str, ...] | None = ()
        self.snapshot = Snapshot(state="planning", visits={"planning": 2})
        self.filing = Filing()

    def put(self, name: str, content: object) -> Path:
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        data = (
            content
            if isinstance(content, bytes)
            else (content.encode() if isinstance(content, str) else json.dumps(content).encode())
        )
        path.write_bytes(data)
        return path

    def seen(self) -> Seen:
        files = TaskFiles(str(self.folder), "", ("state.json",))
        receipts = ReceiptStore(str(self.folder))
        document = Document("", "{}", {}, "planning")
        return Seen(
            MACHINE,
            self.snapshot,
            document,
            files,
            receipts,
            changed=lambda: self.changed,
            filing=self.filing,
            tree="t",
        )

    def fact(self, gate: str) -> Fact:
        return judge(self.seen(), [gate])[gate]

    def enter(self) -> None:
        self.snapshot = self.snapshot.replace(entry=evidence_hashes(self.seen()))


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


BROKEN: Mapping[str, tuple[bytes, str]] = {
    "empty": (b" \n", artifacts_words.json_empty("planning/planning.ai.json")),
    "a byte order mark": (
        b"\xef\xbb\xbf{}",
        artifacts_words.at("planning/planning.ai.json", "", artifacts_words.byte_order_mark()),
    ),
    "no UTF-8": (b'{"summary": "\xff"}', gates_words.unreadable("planning/planning.ai.json", disk_words.not_utf8(13))),
    "no JSON": (b'{"summary": ', "line 1: no valid JSON"),
    "two values": (b"{} {}", "no valid JSON"),
    "a key twice": (b'{"summary": "a", "summary": "b", "open_questions": []}', say.key_twice("summary")),
    "not a number": (b'{"summary": "a", "open_questions": [], "cost": NaN}', say.no_json_value("NaN")),
    "half a character": (
        rb'{"summary": "\ud800", "open_questions": []}',
        artifacts_words.at("planning/planning.ai.json", "", say.half_a_character()),
    ),
    "too deep": (b"[" * 100_000 + b"]" * 100_000, "no valid JSON"),
    "a list": (b"[]", f"{PLANNING} /: must be object"),
    "a key missing": (b'{"summary": "a"}', f"{PLANNING} /: must contain ['open_questions'] properties"),
    "a wrong type": (b'{"summary": 5, "open_questions": []}', f"{PLANNING} /summary: must be string"),
    "a question without its word": (
        b'{"summary": "a", "open_questions": [{"question": "why?"}]}',
        f"{PLANNING} /open_questions/0: must contain ['blocking'] properties",
    ),
    "a wrong type inside": (
        b'{"summary": "a", "open_questions": [{"question": "why?", "blocking": "no"}]}',
        f"{PLANNING} /open_questions/0/blocking: must be boolean",
    ),
}


@pytest.mark.requirement("S1.26")
@pytest.mark.parametrize("how", BROKEN)
def test_plan_that_cannot_be_read_proves_nothing_and_says_where(desk: Desk, how: str) -> None:
    data, why = BROKEN[how]
    desk.put(PLANNING, data)
    for gate in ("plan_written", "questions_closed"):
        fact = desk.fact(gate)
        assert not fact.ok
        assert why in fact.why
        assert fact.fix


@pytest.mark.requirement("S1.26")
def test_plan_that_is_missing_link_folder_or_huge_proves_nothing(desk: Desk, tmp_path: Path) -> None:
    assert desk.fact("plan_written").why == artifacts_words.json_missing(PLANNING)
    path = desk.put(PLANNING, PLAN)
    assert desk.fact("plan_written").ok
    path.rename(tmp_path / "other.json")
    path.symlink_to(tmp_path / "other.json")
    assert code_of(desk.fact("plan_written").why) == "gates.unreadable"
    path.unlink()
    path.mkdir()
    assert desk.fact("plan_written").why == gates_words.unreadable(
        "planning/planning.ai.json", disk_words.no_plain_file()
    )
    path.rmdir()
    path.write_bytes(b" " * 4_000_001)
    assert desk.fact("plan_written").why == gates_words.unreadable(
        "planning/planning.ai.json", disk_words.too_large(4000001, 4000000)
    )
    path.unlink()
    os.mkfifo(path)
    assert desk.fact("plan_written").why == gates_words.unreadable(
        "planning/planning.ai.json", disk_words.no_plain_file()
    )


def test_an_unreadable_plan_is_not_proven_broken(desk: Desk, tmp_path: Path) -> None:
    path = desk.put(PLANNING, PLAN)
    desk.put(FILES, ["app.py"])
    assert not desk.fact("plan_broken").ok
    path.rename(tmp_path / "other.json")
    path.symlink_to(tmp_path / "other.json")
    assert not desk.fact("plan_broken").ok
    path.unlink()
    assert desk.fact("plan_broken").ok


@pytest.mark.requirement("S1.27")
def test_a_blocking_question_is_quoted_with_its_place(desk: Desk) -> None:
    questions = [{"question": "how many?", "blocking": False}, {"question": "which?", "blocking": True}]
    desk.put(PLANNING, {**PLAN, "open_questions": questions})
    assert desk.fact("questions_closed").why == artifacts_words.at(
        PLANNING, "/open_questions/1", global_words.questions_open(['"which?"'])
    )
    desk.put(PLANNING, {**PLAN, "blocking_questions": ["which?"]})
    assert "/blocking_questions/0" in desk.fact("questions_closed").why
    desk.put(PLANNING, {**PLAN, "open_questions": questions[:1]})
    assert desk.fact("questions_closed").ok


PLANNED: Mapping[str, tuple[dict[str, object], bool, str]] = {
    "a list": ({FILES: ["app.py"]}, True, ""),
    "under files": ({FILES: {"files": ["app.py", {"path": "tests/", "action": "create"}]}}, True, ""),
    "in planning/": ({f"planning/{FILES}": ["app.py"]}, True, ""),
    "inside the plan": ({PLANNING: {**PLAN, "files": ["app.py"]}}, True, ""),
    "by step": ({PLANNING: {**PLAN, "steps": ["think", {"files": [{"path": "app.py"}]}]}}, True, ""),
    "nowhere": (
        {PLANNING: PLAN},
        False,
        global_words.no_planned_files("plan.files.json", "planning/plan.files.json", "planning/planning.ai.json"),
    ),
    "an empty list": ({FILES: []}, False, f"{FILES} /: must contain at least 1 items"),
    "an empty list in the plan beside a good one": (
        {FILES: {"files": []}, PLANNING: {**PLAN, "files": ["a"]}},
        False,
        "",
    ),
    "a path that leads out": (
        {FILES: ["../app.py"]},
        False,
        artifacts_words.at("plan.files.json", "/0", global_words.path_outside('"../app.py"')),
    ),
    "an absolute path": (
        {FILES: {"files": ["/etc/passwd"]}},
        False,
        artifacts_words.at("plan.files.json", "/files/0", global_words.path_outside('"/etc/passwd"')),
    ),
    "everything": (
        {FILES: ["**"]},
        False,
        artifacts_words.at("plan.files.json", "/0", global_words.path_names_everything('"**"')),
    ),
    "everything below everything": (
        {FILES: ["*/**"]},
        False,
        artifacts_words.at("plan.files.json", "/0", global_words.path_names_everything('"*/**"')),
    ),
    "no path": ({FILES: [{"action": "create"}]}, False, f"{FILES} /0: must contain ['path'] properties"),
    "a number": ({FILES: [5]}, False, f"{FILES} /0: must be string or object"),
    "a broken list is not passed over for the plan's": ({FILES: "[", PLANNING: {**PLAN, "files": ["a"]}}, False, FILES),
}


@pytest.mark.requirement("S1.28")
@pytest.mark.parametrize("how", PLANNED)
def test_the_files_of_a_plan(desk: Desk, how: str) -> None:
    files, ok, why = PLANNED[how]
    for name, content in files.items():
        desk.put(name, content)
    fact = desk.fact("files_planned")
    assert fact.ok == ok, fact.why
    assert why in fact.why


@pytest.mark.requirement("S1.35")
def test_work_is_held_against_the_files_of_the_plan(desk: Desk) -> None:
    desk.put(FILES, ["app.py", "tests/", "docs/*.md"])
    for inside in ((), ("app.py",), ("tests/a/b.py", "docs/x.md")):
        desk.changed = inside
        assert desk.fact("in_scope").ok
        assert not desk.fact("out_of_scope").ok
    for outside in ("other.py", "docs/a/x.md", "tests", "xapp.py", "app.py/x"):
        desk.changed = ("app.py", outside)
        assert desk.fact("in_scope").why == global_words.not_planned(FILES, [outside])
        assert desk.fact("out_of_scope").note == global_words.not_planned(FILES, [outside])
    desk.changed = None
    assert not desk.fact("in_scope").ok
    assert not desk.fact("out_of_scope").ok, "what nobody looked at is no mismatch"


def reviewers(*verdicts: Mapping[str, Any]) -> dict[str, Any]:
    return {"reviewers": list(verdicts)}


OK, NEEDS, BLOCKED = "plan_ok", "plan_needs_changes", "plan_blocked"
REVIEWS: Mapping[str, tuple[dict[str, Any], str]] = {
    "flat": ({"ok": True, "blocked": False}, OK),
    "ok alone": ({"ok": True}, ""),
    "blocked alone": ({"blocked": False}, ""),
    "aggregate": ({"aggregate": {"ok": True, "blocked": False}}, OK),
    "aggregate decision": ({"aggregate": {"decision": "approved"}}, OK),
    "decision": ({"decision": "approve"}, OK),
    "aggregate no": ({"aggregate": {"ok": False, "blocked": False}}, NEEDS),
    "the top says yes, the aggregate no": ({"ok": True, "blocked": False, "aggregate": {"ok": False}}, NEEDS),
    "ok and blocked": ({"ok": True, "blocked": True}, BLOCKED),
    "not ok": ({"ok": False, "blocked": False}, NEEDS),
    "not ok, not said whether blocked": ({"ok": False}, NEEDS),
    "not ok with a minor issue": ({"ok": False, "blocked": False, "issues": [{"severity": "minor"}]}, NEEDS),
    "needs_changes": ({"ok": True, "blocked": False, "needs_changes": True}, NEEDS),
    "signal needs_changes": ({"signal": "needs_changes"}, NEEDS),
    "signal blocked": ({"signal": "BLOCKED"}, BLOCKED),
    "a blocking issue": ({"ok": True, "blocked": False, "issues": [{"severity": "Blocking"}]}, BLOCKED),
    "a blocking reviewer": (
        {"ok": True, "blocked": False, **reviewers({"ok": False, "severity": "blocking"})},
        BLOCKED,
    ),
    "one of several": (
        {"ok": True, "blocked": False, **reviewers({"ok": True}, {"ok": False, "severity": "blocking"})},
        BLOCKED,
    ),
    "a reviewer's blocking issue": (
        {"ok": True, "blocked": False, **reviewers({"ok": True, "issues": [{"severity": "blocking"}]})},
        BLOCKED,
    ),
    "a reviewer against it, outvoted": ({"ok": True, "blocked": False, **reviewers({"ok": False})}, OK),
    "a structural flaw": ({"ok": True, "blocked": False, "structural_flaws": ["no tests"]}, NEEDS),
    "a structural flaw, flat": ({"ok": True, "blocked": False, "structural_flaw": True}, NEEDS),
    "nothing": ({}, ""),
    "ok as a word": ({"ok": "true", "blocked": False}, ""),
    "ok as a number": ({"ok": 1, "blocked": 0}, ""),
    "an issue without severity": ({"ok": True, "blocked": False, "issues": [{"message": "bad"}]}, ""),
    "words nobody knows": ({"decision": "lgtm"}, ""),
}


@pytest.mark.requirement("S1.29")
@pytest.mark.requirement("S1.30")
@pytest.mark.requirement("S1.31")
@pytest.mark.requirement("S1.32")
@pytest.mark.parametrize("how", REVIEWS)
def test_a_review_of_the_plan_opens_one_gate_or_none(desk: Desk, how: str) -> None:
    review, opened = REVIEWS[how]
    desk.put(PLAN_REVIEW, review)
    found = [gate for gate in (OK, NEEDS, BLOCKED) if desk.fact(gate).ok]
    assert found == ([opened] if opened else []), [desk.fact(gate).why for gate in (OK, NEEDS, BLOCKED)]
    for gate in {OK, NEEDS, BLOCKED} - set(found):
        assert PLAN_REVIEW in desk.fact(gate).why


def test_what_a_review_lacks_is_told_with_its_pointer(desk: Desk) -> None:
    desk.put(PLAN_REVIEW, {"ok": True})
    assert desk.fact(OK).why == artifacts_words.at(
        PLAN_REVIEW, "/blocked", global_words.other_answer(global_words.blocked_missing(), "", "ok")
    )
    desk.put(PLAN_REVIEW, {"ok": True, "blocked": False, "issues": [{"severity": "x"}, {"severity": "blocking"}]})
    assert desk.fact(OK).why == artifacts_words.at(
        PLAN_REVIEW,
        "/issues/1",
        global_words.other_answer(global_words.blocking_issue('{"severity": "blocking"}'), "blocked", "ok"),
    )


PASS, CODE, PLAN_ISSUE = "review_clear", "code_issues", "plan_issues"
CODE_REVIEWS: Mapping[str, tuple[dict[str, Any], str]] = {
    "no issues": ({"issues": []}, PASS),
    "ok": ({"ok": True, "issues": []}, PASS),
    "minor issues": ({"issues": [{"severity": "minor"}, {"severity": "major", "target": "plan"}]}, PASS),
    "no list of issues": ({"ok": True}, ""),
    "issues that are no list": ({"ok": True, "issues": "none"}, ""),
    "a blocking issue": ({"ok": True, "issues": [{"severity": "blocking"}]}, CODE),
    "a blocking issue of the code": ({"issues": [{"severity": "blocking", "target": "code"}]}, CODE),
    "a blocking issue of the plan": ({"issues": [{"severity": "blocking", "target": "plan"}]}, PLAN_ISSUE),
    "of both": (
        {"issues": [{"severity": "blocking", "target": "code"}, {"severity": "blocking", "target": "plan"}]},
        PLAN_ISSUE,
    ),
    "not ok": ({"ok": False, "issues": []}, CODE),
    "not ok, an issue of the plan": ({"ok": False, "issues": [{"severity": "major", "target": "plan"}]}, PLAN_ISSUE),
    "needs_changes": ({"status": "needs_changes", "issues": []}, CODE),
    "blocked": ({"blocked": True, "issues": []}, CODE),
    "plan_flawed": ({"signal": "plan_flawed", "issues": []}, PLAN_ISSUE),
    "a target nobody knows": ({"issues": [{"severity": "blocking", "target": "weather"}]}, ""),
}


@pytest.mark.requirement("S1.37")
@pytest.mark.requirement("S1.39")
@pytest.mark.parametrize("how", CODE_REVIEWS)
def test_a_review_of_the_code_opens_one_gate_or_none(desk: Desk, how: str) -> None:
    review, opened = CODE_REVIEWS[how]
    desk.put(CODE_REVIEW, review)
    assert [gate for gate in (PASS, CODE, PLAN_ISSUE) if desk.fact(gate).ok] == ([opened] if opened else [])


def test_a_review_is_about_the_files_its_run_saw(desk: Desk) -> None:
    desk.put(CODE_REVIEW, {"issues": []})
    desk.filing = Filing(tree="t", files={CODE_REVIEW: "filed"})
    assert desk.fact(PASS).ok
    desk.filing = Filing(tree="another", files={CODE_REVIEW: "filed"})
    assert desk.fact(PASS).why == artifacts_words.at(CODE_REVIEW, "", global_words.about_other_files())


DECISIONS: Mapping[str, tuple[dict[str, Any], str]] = {
    "accepted": ({"verdict": "accepted"}, "decision_accepted"),
    "decision": ({"decision": "Approved"}, "decision_accepted"),
    "a flag": ({"accepted": True}, "decision_accepted"),
    "needs_changes": ({"verdict": "needs_changes"}, "decision_changes"),
    "in other words": ({"status": "requires further changes"}, "decision_changes"),
    "unclear": ({"verdict": "needs review"}, "decision_unclear"),
    "upstream": ({"verdict": "upstream-problem"}, "decision_upstream"),
    "revert": ({"verdict": "revert"}, "decision_revert"),
    "a regression": ({"verdict": "regression"}, "decision_revert"),
    "two decisions": ({"verdict": "accepted", "decision": "revert"}, ""),
    "accepted and not": ({"verdict": "accepted", "accepted": False}, ""),
    "not accepted": ({"accepted": False}, ""),
    "nothing": ({"reason": "hm"}, ""),
    "a word nobody knows": ({"verdict": "fine"}, ""),
    "no text": ({"verdict": True}, ""),
}


@pytest.mark.requirement("S1.43")
@pytest.mark.requirement("S1.46")
@pytest.mark.parametrize("how", DECISIONS)
def test_a_decision_opens_one_gate_or_none(desk: Desk, how: str) -> None:
    decision, opened = DECISIONS[how]
    desk.put(DECISION, decision)
    gates = ("decision_accepted", "decision_changes", "decision_unclear", "decision_upstream", "decision_revert")
    assert [gate for gate in gates if desk.fact(gate).ok] == ([opened] if opened else [])


SIGNALS: Mapping[str, tuple[object, str]] = {
    "none": (None, "nothing_signalled"),
    "done": ({"status": "completed", "reason": "all done"}, "nothing_signalled"),
    "unclear": ({"signal": "plan_unclear", "reason": "step 2"}, "plan_unclear"),
    "needs_changes": ({"signal": "needs_changes", "reason": "step 2"}, "plan_unclear"),
    "incomplete": ({"signal": "plan_incomplete", "reason": "no parser"}, "plan_incomplete"),
    "blocked": ({"status": "blocked", "reason": "no parser"}, "plan_incomplete"),
    "without a reason": ({"signal": "plan_unclear"}, ""),
    "two signals": ({"signal": "plan_unclear", "status": "blocked", "reason": "both"}, ""),
    "unreadable": ("{", ""),
}


@pytest.mark.requirement("S1.36")
@pytest.mark.requirement("S1.59")
@pytest.mark.parametrize("how", SIGNALS)
def test_a_signal_of_the_coder_opens_one_gate_or_none(desk: Desk, how: str) -> None:
    report, opened = SIGNALS[how]
    if report is not None:
        desk.put(REPORT, report)
    gates = ("nothing_signalled", "plan_unclear", "plan_incomplete")
    assert [gate for gate in gates if desk.fact(gate).ok] == ([opened] if opened else [])


def test_a_signal_of_an_earlier_visit_is_none(desk: Desk) -> None:
    desk.put(REPORT, {"signal": "plan_unclear", "reason": "step 2"})
    desk.enter()
    assert desk.fact("nothing_signalled").ok
    assert not desk.fact("plan_unclear").ok
    desk.filing = Filing(files={REPORT: "filed again by a run of this visit"})
    assert not desk.fact("nothing_signalled").ok
    assert desk.fact("plan_unclear").ok


def test_a_signal_that_was_put_away_since_is_none(desk: Desk) -> None:
    path = desk.put(REPORT, {"signal": "plan_unclear", "reason": "step 2"})
    desk.enter()
    path.unlink()
    assert desk.fact("nothing_signalled").ok
    desk.put(REPORT, "no JSON")
    assert not desk.fact("nothing_signalled").ok


@pytest.mark.parametrize(
    ("gate", "name", "content"),
    [
        ("plan_written", PLANNING, PLAN),
        ("plan_ok", PLAN_REVIEW, {"blocked": False, "ok": True}),
        ("review_clear", CODE_REVIEW, {"issues": []}),
        ("decision_accepted", DECISION, {"verdict": "accepted"}),
    ],
)
def test_artifact_of_earlier_visit_is_old_until_it_carries_round(
    desk: Desk, gate: str, name: str, content: dict[str, Any]
) -> None:
    desk.put(name, content)
    desk.enter()
    assert code_of(desk.fact(gate).why) == "gates.stale"
    assert desk.fact(gate).fix.endswith('add a line: "round": 2')
    desk.put(name, json.dumps(content, indent=4))
    assert not desk.fact(gate).ok, "white space is no evidence"
    desk.put(name, {key: content[key] for key in sorted(content, reverse=True)})
    assert not desk.fact(gate).ok, "nor is another order"
    desk.put(name, {**content, "round": 2})
    assert desk.fact(gate).ok


def test_library_is_loaded_only_for_a_file_that_is_there(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from tests.unit.gates.test_json_gates import Desk, PLANNING, PLAN;"
        f"desk = Desk(Path({str(tmp_path)!r})); desk.fact('plan_written'); print('fastjsonschema' in sys.modules);"
        "desk.put(PLANNING, PLAN); desk.fact('plan_written'); print('fastjsonschema' in sys.modules)"
    )
    loaded = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, encoding="utf-8", cwd=ROOT)
    assert loaded.stdout.split() == ["False", "True"]


def test_only_a_changed_file_renews_a_plan(desk: Desk) -> None:
    desk.put(PLANNING, PLAN)
    desk.put("plan.files.json", ["app.py"])
    desk.enter()
    desk.filing = Filing(tree="t", files={PLANNING: "filed", "plan.files.json": "filed"})
    assert desk.fact("plan_written").ok, "a run of this visit has written it"
    assert desk.fact("plan_renewed").why == proof_words.not_renewed([PLANNING, FILES], "planning")
    desk.put("plan.files.json", ["app.py", "test_app.py"])
    assert desk.fact("plan_renewed").ok
    desk.put("plan.files.json", ["app.py"])
    desk.put(PLANNING, {**PLAN, "round": 2})
    assert desk.fact("plan_renewed").ok


def test_every_blocking_question_is_told(desk: Desk) -> None:
    questions = [{"question": f"which {name}?", "blocking": name != "colour"} for name in ("unit", "colour", "size")]
    desk.put(PLANNING, {**PLAN, "open_questions": questions})
    why = desk.fact("questions_closed").why
    assert why == artifacts_words.at(
        PLANNING, "/open_questions/0", global_words.questions_open(['"which unit?"', '"which size?"'])
    )
