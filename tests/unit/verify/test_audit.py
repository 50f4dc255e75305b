"""Every way to tamper with a task is found, and the first bad line is named; an untouched task has no finding."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from detent.runner.make.adopt import adopt
from detent.runner.make.begin import NewTask
from detent.runner.make.create import create
from detent.store.disk.atomic import read_cache, write_cache
from detent.store.journal.events import KINDS
from detent.store.journal.run_events import ABOUT_RUNS
from detent.store.journal.tasks import TaskStore
from detent.verify.audit import Audit, audit
from detent.words import core as core_words
from detent.words import gates as gates_words
from detent.words import proof as proof_words
from detent.words.message import code_of
from detent.words.runner import task as task_words
from detent.words.store import journal as journal_words
from detent.words.verify import audit as audit_words
from detent.words.verify import lines as lines_words
from detent.words.verify import replay as say
from detent.words.verify import witness as witness_words
from tests.lines import made
from tests.messages import message_of
from tests.unit.verify.conftest import Story

Change = Callable[[dict[str, Any]], None]
REMOVED = ("audit.lines_removed", "witness.log_knows_more")
NO_RUN = core_words.acts_after("", "engine", ["finished"])
NOT_UNDERSTOOD = say.not_understood("TypeError", TypeError(""))


def only(found: Audit, line: int, kind: str, words: str, *, is_warning: bool = False) -> None:
    """There is such a finding, and nothing before its line."""
    first = found.findings[0]
    assert (first.line, first.kind, first.is_warning) == (line, kind, is_warning), found.findings
    assert words in first.what
    assert found.ok is all(finding.is_warning for finding in found.findings)


def all_files(folder: Path) -> dict[str, tuple[int, int, bytes]]:
    paths = [path for path in sorted(folder.rglob("*")) if path.is_file() and not path.is_symlink()]
    return {str(path): (path.stat().st_mtime_ns, path.stat().st_ino, path.read_bytes()) for path in paths}


def test_an_untouched_task_is_sound(story: Story) -> None:
    found = audit(story.task())
    assert found == Audit(len(story.raws()), ok=True)


def test_every_kind_of_line_is_in_task_that_is_audited(story: Story) -> None:
    """Here, or where it is made: in a test file that names the kind and asks for an audit too."""
    here = {entry["kind"] for entry in story.entries()}
    folder = Path(__file__).parent
    files = [folder / "test_audit_runs.py", *sorted((folder.parents[1] / "e2e").glob("test_*.py"))]
    texts = [text for text in (file.read_text(encoding="utf-8") for file in files) if re.search('audit["(]', text)]
    elsewhere = {kind for kind in KINDS if any(f'"{kind}"' in text for text in texts)}
    assert KINDS.keys() - here - elsewhere - {kind.kind for kind in ABOUT_RUNS} == set()


def test_an_audit_writes_nothing(story: Story) -> None:
    (story.native / "STATE.md").write_text("Phase: intake\n")
    before = all_files(story.base)
    story.audit()
    assert all_files(story.base) == before


# --- the chain ---


@pytest.mark.parametrize("number", [1, 4, 11])
def test_an_edited_line_is_named(story: Story, number: int) -> None:
    raws = story.raws()
    raws[number - 1] = raws[number - 1].replace(b'"name":"', b'"name":"x', 1)
    assert raws != story.raws()
    story.write_raws(raws)
    only(story.audit(), number, "chain", audit_words.line_changed(number))


def test_an_edited_last_line_is_named_by_the_cache(story: Story) -> None:
    raws = story.raws()
    edited = raws[-1].replace(b'"page":""', b'"page":"elsewhere.html"', 1)
    assert edited != raws[-1]
    story.write_raws([*raws[:-1], edited])
    only(story.audit(), len(raws), "cache", "last")


def test_a_line_whose_link_was_edited_is_named_itself(story: Story) -> None:
    raws = story.raws()
    entry = json.loads(raws[4])
    raws[4] = raws[4].replace(entry["prev"].encode(), b"f" * 64)
    story.write_raws(raws)
    only(story.audit(), 5, "chain", journal_words.damaged(5, journal_words.chain_broken()))


def test_a_removed_line_is_named(story: Story) -> None:
    raws = story.raws()
    del raws[5]
    story.write_raws(raws)
    only(story.audit(), 6, "chain", journal_words.damaged(6, journal_words.not_that_line(6)))


def test_reordered_lines_are_named(story: Story) -> None:
    raws = story.raws()
    raws[2], raws[3] = raws[3], raws[2]
    story.write_raws(raws)
    only(story.audit(), 3, "chain", journal_words.damaged(3, journal_words.not_that_line(3)))


@pytest.mark.parametrize("garbage", [b"not json", b"[1]", b"\xff\xfe", b"[" * 200_000])
def test_a_line_that_is_no_line_is_named(story: Story, garbage: bytes) -> None:
    raws = story.raws()
    raws[3] = garbage
    story.write_raws(raws)
    only(story.audit(), 4, "chain", "")


@pytest.mark.parametrize("witness", ["snapshot.json", "projected.jsonl", "history.jsonl"])
def test_lines_cut_from_end_are_found_by_each_witness_alone(story: Story, witness: str) -> None:
    whole = len(story.raws())
    story.write_raws(story.raws()[:-3])
    places = {name: story.control / name for name in ("snapshot.json", "projected.jsonl")}
    places["history.jsonl"] = story.native / "history.jsonl"
    for name, path in places.items():
        if name != witness:
            path.unlink()
    found = story.audit()
    removed = [(finding.line, finding.what) for finding in found.findings if code_of(finding.what) in REMOVED]
    by_witness = {
        "snapshot.json": audit_words.lines_removed(audit_words.the_cache(), whole),
        "projected.jsonl": audit_words.lines_removed(audit_words.the_projection_memory(), whole),
        "history.jsonl": witness_words.log_knows_more("history.jsonl", whole),
    }
    assert removed == [(whole - 2, by_witness[witness])]
    assert not found.ok


def test_a_torn_last_line_is_only_a_warning(story: Story) -> None:
    with story.journal.open("ab") as file:
        file.write(b'{"seq":99,"ti')
    found = story.audit()
    only(found, len(story.raws()), "chain", "torn", is_warning=True)
    assert found.ok


def test_a_missing_or_empty_journal_is_reported(story: Story) -> None:
    story.journal.write_bytes(b"")
    only(story.audit(), 1, "chain", "empty")
    story.journal.unlink()
    only(story.audit(), 1, "chain", journal_words.no_journal())


def test_a_damaged_journal_is_still_replayed_up_to_the_damage(story: Story) -> None:
    line = story.line_of("moved", edge="shape_to_implement")
    story.forge(line, lambda entry: entry.update(way=7))
    raws = story.raws()
    story.write_raws([*raws[:-2], b"rubbish", raws[-1]])
    found = story.audit()
    assert [(finding.line, finding.kind) for finding in found.findings] == [
        (line, "decision"),
        (len(raws) - 1, "chain"),
    ]


# --- forgeries with a recomputed chain ---


def drop_fact(entry: dict[str, Any]) -> None:
    entry["facts"].pop("fields_present")


def close_fact(entry: dict[str, Any]) -> None:
    entry["facts"]["fields_present"] = {"ok": False, "why": "it lacked one"}


@pytest.mark.parametrize(
    ("edge", "change", "words"),
    [
        ("shape_to_implement", drop_fact, say.move_not_allowed("shape", "implement", "fields_present: not recorded")),
        ("shape_to_implement", close_fact, say.move_not_allowed("shape", "implement", "fields_present: it lacked one")),
        (
            "shape_to_implement",
            lambda entry: entry.update(edge="shape_to_done", to="done"),
            say.move_not_allowed("shape", "done", core_words.unknown_state_or_move("phase", "shape_to_done")),
        ),
        ("shape_to_implement", lambda entry: entry.update(way=2), say.field_differs("way", 2, 0)),
        (
            "shape_to_implement",
            lambda entry: entry.update(effects=["checkpoint"]),
            say.field_differs("effects", ["checkpoint"], []),
        ),
        (
            "shape_to_implement",
            lambda entry: entry.update(waived=["frame_complete"]),
            say.field_differs("waived", ["frame_complete"], []),
        ),
        ("shape_to_implement", lambda entry: entry.update(machine="0" * 64), "machine is"),
        (
            "shape_to_implement",
            lambda entry: entry["after"].update(state="verify"),
            say.after_differs("state", "verify", "implement"),
        ),
        (
            "shape_to_implement",
            lambda entry: entry["after"].update(counters={"runs": 3}),
            say.after_differs("counters", {"runs": 3}, {}),
        ),
        (
            "shape_to_implement",
            lambda entry: entry["after"].update(visits={}),
            say.after_differs("visits", {}, {"intake": 1, "shape": 1, "implement": 1}),
        ),
        (
            "verify_to_repair",
            lambda entry: entry["after"]["registers"].pop("Repair applied"),
            say.after_differs(
                "registers",
                {"Validator status": "fail", "Revalidation status": "pending"},
                {"Validator status": "fail", "Repair applied": "yes", "Revalidation status": "pending"},
            ),
        ),
        (
            "verify_to_repair",
            lambda entry: entry["after"].update(exit="finished"),
            say.after_differs("exit", "finished", "entry"),
        ),
        ("verify_to_repair", lambda entry: entry["after"].update(mode="fast"), say.after_differs("mode", "fast", "")),
        (
            "implement_to_blocked",
            lambda entry: entry.update(by="engine"),
            say.move_not_allowed(
                "implement",
                "blocked",
                f"by: {core_words.only_by(('agent',), 'engine', '')}; after: {NO_RUN}",
            ),
        ),
        (
            "implement_to_blocked",
            lambda entry: entry.update(by="ghost"),
            say.move_not_allowed(
                "implement", "blocked", core_words.unknown_state_or_actor("phase", "implement", "ghost")
            ),
        ),
        (
            "reopen",
            lambda entry: entry.update(reason=" "),
            say.move_not_allowed("blocked", "implement", f"reason: {core_words.reason_missing()}"),
        ),
        (
            "reopen",
            lambda entry: entry.update(by="agent"),
            say.move_not_allowed("blocked", "implement", f"by: {core_words.only_by(('person',), 'agent', '')}"),
        ),
        ("repair_to_verify", lambda entry: entry["after"]["locked"].update({"field:Objective": "0" * 64}), "Objective"),
    ],
)
def test_a_forged_move_is_decided_otherwise(story: Story, edge: str, change: Change, words: str) -> None:
    line = story.line_of("moved", edge=edge)
    story.forge(line, change)
    only(story.audit(), line, "decision", words)


def test_a_move_from_another_state_is_found(story: Story) -> None:
    line = story.line_of("moved", edge="repair_to_verify")
    story.forge(line, lambda entry: entry.update({"from": "review"}))
    only(story.audit(), line, "decision", say.starts_elsewhere("review", "repair"))


@pytest.mark.parametrize("kind", ["moved", "acted"])
def test_a_carried_text_that_names_another_state_is_found(story: Story, kind: str) -> None:
    line = story.line_of(kind)
    state = story.entries()[line - 1]["native"]["text"].partition("Phase: ")[2].split()[0]
    text = f"# Forged\n\nPhase: not-{state}\n"
    story.forge(line, lambda entry: entry["native"].update(text=text))
    only(story.audit(), line, "native", say.carried_names_other(f"not-{state}", state))


def test_a_task_created_elsewhere_than_its_machine_says_is_found(story: Story) -> None:
    story.forge(1, lambda entry: entry["after"].update(state="implement"))
    only(story.audit(), 1, "decision", say.after_differs("state", "implement", "intake"))


def test_the_journal_of_another_task_is_found(story: Story) -> None:
    story.forge(1, lambda entry: entry.update(id="other"))
    only(story.audit(), 1, "head", say.journal_of_other_task("other", "story"))


@pytest.mark.parametrize(
    ("kind", "change", "words"),
    [
        ("amended", lambda entry: entry["after"].update(state="done"), say.after_differs("state", "done", "implement")),
        ("amended", lambda entry: entry.update(fields=[]), say.locked_text_changed_by_line("Done gate")),
        ("amended", lambda entry: entry.update(by="agent"), say.only_by_person("amended", "agent")),
        ("answered", lambda entry: entry.update(by="agent"), say.only_by_person("answered", "agent")),
        ("refused", lambda entry: entry.update({"from": "done"}), say.starts_elsewhere("done", "intake")),
        ("restored", lambda entry: entry.update(after={}), say.changes_nothing("restored")),
    ],
)
def test_a_forged_line_of_another_kind_is_found(story: Story, kind: str, change: Change, words: str) -> None:
    line = story.line_of(kind)
    story.forge(line, change)
    only(story.audit(), line, "decision", words)


@pytest.mark.parametrize("field", ["registers", "counters", "visits"])
def test_a_resumed_line_may_only_clear_the_stop(story: Story, field: str) -> None:
    memory = story.task().memory
    content = {"by": "person", "name": "ann", "reason": "go", "answer": "go"}
    store = TaskStore(story.project.task(story.task_id))
    memory = store.commit(memory, made("resumed", content), memory.snapshot)
    assert not [finding for finding in story.audit().findings if finding.kind == "decision"]
    store.commit(memory, made("resumed", content), memory.snapshot.replace(**{field: {"x": 1}}))
    found = [finding for finding in story.audit().findings if finding.kind == "decision"]
    assert [finding.line for finding in found] == [len(story.raws())]
    refusal = message_of(found[0].what)
    assert (refusal.code, refusal.values["field"], refusal.values["written"]) == (
        "replay.after_differs",
        field,
        {"x": 1},
    )


@pytest.mark.parametrize(
    ("change", "kind", "words"),
    [
        (lambda entry: entry.update(kind="created"), "kind", say.cant_stand_here("created")),
        (lambda entry: entry.pop("facts"), "malformed", say.line_needs("moved", ["facts"])),
        (lambda entry: entry.pop("sandbox"), "malformed", say.line_needs("moved", ["sandbox"])),
        (lambda entry: entry.update(after=[]), "malformed", NOT_UNDERSTOOD),
        (lambda entry: entry.update(facts={"frame_complete": "yes"}), "malformed", NOT_UNDERSTOOD),
        (lambda entry: entry.update(time="yesterday"), "malformed", say.no_time("yesterday")),
    ],
)
def test_line_that_the_engine_could_not_have_written_is_found(
    story: Story, change: Change, kind: str, words: str
) -> None:
    line = story.line_of("moved", edge="shape_to_implement")
    story.forge(line, change)
    found = story.audit()
    only(found, line, kind, words)
    assert not found.ok


def test_a_time_that_runs_backwards_is_a_warning(story: Story) -> None:
    story.forge(3, lambda entry: entry.update(time="2001-01-01T00:00:00Z"))
    found = [finding for finding in story.audit().findings if finding.kind == "time"]
    assert [(finding.line, finding.is_warning) for finding in found] == [(3, True)]


# --- what lines point at ---


def test_a_changed_pinned_machine_is_found(story: Story) -> None:
    digest = story.entries()[0]["digest"]
    path = Path(story.project.machine_path(digest))
    path.write_bytes(path.read_bytes().replace(b'"verdict"', b'"section_filled"'))
    only(story.audit(), 1, "machine", audit_words.at_place(task_words.machine_changed("phase"), str(path)))
    path.unlink()
    only(story.audit(), 1, "machine", audit_words.at_place(task_words.machine_missing("phase"), str(path)))


def receipt_files(story: Story) -> list[Path]:
    return sorted((story.control / "receipts").glob("*.json"))


def spoil_receipt(path: Path, **changes: object) -> None:
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def test_a_removed_receipt_is_found(story: Story) -> None:
    for path in receipt_files(story):
        path.unlink()
    line = story.entries()[story.line_of("moved", edge="verify_to_review") - 1]["seq"]
    only(
        story.audit(),
        line,
        "proof",
        say.gate_not_shown("validation_passed", proof_words.not_run(["python3 -m unittest"])),
    )


@pytest.mark.parametrize("changes", [{"attempts": [1]}, {"attempts": []}, {"problem": "timed out"}])
def test_a_receipt_that_is_not_green_is_found(story: Story, changes: dict[str, object]) -> None:
    if changes == {"attempts": []}:
        changes = {"attempts": [], "problem": "set-up failed"}
    for path in receipt_files(story):
        spoil_receipt(path, **changes)
    only(
        story.audit(),
        story.line_of("moved", edge="verify_to_review"),
        "proof",
        say.gate_not_shown("validation_passed", proof_words.not_run(["python3 -m unittest"])),
    )
    changed = {code_of(finding.what) for finding in story.audit().findings if finding.kind == "receipt"}
    assert changed == {"witness.receipt_changed"}


def test_a_move_that_names_another_tree_or_proof_is_found(story: Story) -> None:
    line = story.line_of("moved", edge="verify_to_review")
    story.forge(line, lambda entry: entry["facts"]["validation_passed"].update(proof="0" * 32))
    only(story.audit(), line, "proof", say.other_receipts("validation_passed"))
    story.forge(line, lambda entry: entry.update(tree="0" * 40), witnesses=True)
    only(
        story.audit(),
        line,
        "proof",
        say.gate_not_shown("validation_passed", proof_words.not_run(["python3 -m unittest"])),
    )


def test_a_remembered_value_is_asked_for_again(story: Story) -> None:
    """`revalidated` can't be claimed: the register at that line says whether a repair was proven."""
    line = story.line_of("moved", edge="verify_to_review")
    story.forge(line, lambda entry: entry["after"]["registers"].update({"Revalidation status": "pending"}))
    done = story.line_of("moved", edge="review_to_done")
    found = [(finding.line, finding.what) for finding in story.audit().findings if finding.kind == "proof"]
    assert [
        number
        for number, what in found
        if what
        == say.gate_not_shown("revalidated", gates_words.register_is_not("Revalidation status", "pending", "pass"))
    ] == [done]


def objects_of(story: Story, kind: str) -> str:
    entry = story.entries()[story.line_of(kind) - 1]
    return str(entry["kept"] if kind == "restored" else entry["after"]["locked"]["field:Done gate"])


@pytest.mark.parametrize("kind", ["restored", "amended"])
@pytest.mark.parametrize("tamper", ["remove", "change"])
def test_a_kept_text_that_is_gone_or_changed_is_found(story: Story, kind: str, tamper: str) -> None:
    digest = objects_of(story, kind)
    path = story.control / "objects" / digest
    if tamper == "remove":
        path.unlink()
        problem = say.kept_missing(digest)
    else:
        path.write_text("other words")
        problem = say.kept_changed(digest)
    found = [finding for finding in story.audit().findings if finding.kind == "object"]
    assert found
    assert found[0].line >= story.line_of(kind)
    assert found[0].what == (say.item_problem("Done gate", problem) if kind == "amended" else problem)
    # What is locked now must be there now, whether or not a move ever asked for it.
    assert (found[-1].line == len(story.raws())) is (kind == "amended")


def private_git(story: Story, *words: str) -> str:
    done = subprocess.run(
        ["git", f"--git-dir={story.control / 'git'}", *words], check=True, capture_output=True, encoding="utf-8"
    )
    return done.stdout.strip()


def last_checkpoint(story: Story) -> int:
    return max(int(entry["seq"]) for entry in story.entries() if entry.get("step", "").endswith(":checkpoint"))


def test_a_missing_checkpoint_is_found(story: Story) -> None:
    line = last_checkpoint(story)
    entry = story.entries()[line - 1]
    ref = f"refs/detent/{story.task_id}/{entry['step'].replace(':', '-')}"
    private_git(story, "update-ref", "-d", ref)
    only(story.audit(), line, "effect", witness_words.ref_holds_other(ref, entry["result"]["commit"], "nothing"))


def test_a_checkpoint_of_another_tree_is_found(story: Story) -> None:
    line = last_checkpoint(story)
    entry = story.entries()[line - 1]
    ref = f"refs/detent/{story.task_id}/{entry['step'].replace(':', '-')}"
    empty = private_git(story, "hash-object", "-t", "tree", "-w", os.devnull)
    identity = ("-c", "user.name=x", "-c", "user.email=x@example.invalid")
    commit = private_git(story, *identity, "commit-tree", empty, "-m", "forged")
    private_git(story, "update-ref", ref, commit)
    story.forge(line, lambda content: content["result"].update(commit=commit))
    only(story.audit(), line, "effect", witness_words.commit_not_of_move(commit))


def test_a_lost_private_git_is_found(story: Story) -> None:
    acted = [entry for entry in story.entries() if entry["kind"] == "acted"]
    first, commit = next((entry["seq"], entry["result"]["commit"]) for entry in acted if "commit" in entry["result"])
    shutil.rmtree(story.control / "git")
    only(story.audit(), first, "effect", witness_words.ref_holds_other("", commit, "nothing"))


def test_an_effect_that_was_not_promised_is_found(story: Story) -> None:
    line = story.line_of("acted")
    story.forge(line, lambda entry: entry.update(step="1:checkpoint"))
    found = story.audit()
    assert any(finding.line == line and finding.what == say.not_promised("1:checkpoint") for finding in found.findings)
    assert not found.ok


def test_a_promise_is_a_warning_only_until_the_next_step(story: Story) -> None:
    moved = story.line_of("moved", edge="review_to_done")
    story.write_raws(story.raws()[:moved])
    for path in (story.control / "snapshot.json", story.control / "projected.jsonl", story.native / "history.jsonl"):
        path.unlink()
    found = [finding for finding in story.audit().findings if finding.kind == "effect"]
    assert [(finding.line, finding.is_warning) for finding in found] == [(moved, True), (moved, True)]

    verify = story.line_of("moved", edge="repair_to_verify")
    line = next(entry["seq"] for entry in story.entries() if entry.get("step") == f"{verify}:checkpoint")
    keys = ("seq", "time")
    answer = {"kind": "answered", "by": "person", "name": "ann", "answer": "hm"}
    raws = story.entries()
    raws[line - 1] = {**{key: raws[line - 1][key] for key in keys}, **answer}
    story.journal.write_text("".join(json.dumps(entry) + "\n" for entry in raws))
    (story.control / "snapshot.json").write_text("{}")
    story.forge(line, lambda entry: entry.update(reason="made good"))
    found = [finding for finding in story.audit().findings if finding.kind == "effect"]
    assert [(finding.line, finding.is_warning) for finding in found] == [
        (verify, False),
        (moved, True),
        (moved, True),
    ]


# --- what else remembers the task ---


def test_a_cache_that_tells_another_story_is_found(story: Story) -> None:
    path = str(story.control / "snapshot.json")
    content = json.loads(read_cache(path) or b"")
    content["snapshot"]["registers"]["Validator status"] = "fail"
    content["due_seq"] = 1
    write_cache(path, json.dumps(content).encode())
    only(story.audit(), len(story.raws()), "cache", audit_words.cache_differs(["snapshot", "due_seq"], 24))


def test_a_cache_that_lags_behind_is_sound(story: Story) -> None:
    early = TaskStore(story.project.task(story.task_id))
    early.save_cache(early._fold_all(None, story.raws()[:4]))
    assert story.audit().findings == ()


@pytest.mark.parametrize("content", ["rubbish", "[]", '{"seq": 0}', '{"seq": "x", "last": 3}'])
def test_a_broken_cache_never_stops_an_audit(story: Story, content: str) -> None:
    (story.control / "snapshot.json").write_text(content)
    assert story.audit().ok


def test_a_changed_line_of_the_native_log_is_found(story: Story) -> None:
    path = story.native / "history.jsonl"
    lines = path.read_text().splitlines(keepends=True)
    lines[5] = lines[5].replace('"by": "', '"by": "x')
    path.write_text("".join(lines))
    only(story.audit(), 6, "log", witness_words.told_otherwise(6, "history.jsonl", 6))


def test_a_removed_line_of_the_native_log_is_found(story: Story) -> None:
    path = story.native / "history.jsonl"
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[:2] + lines[3:]))
    only(story.audit(), 3, "log", witness_words.lines_not_told("history.jsonl", [3], None))
    path.write_text("".join(lines[:-1]))
    only(story.audit(), len(lines), "log", f"first {len(lines)}")
    path.unlink()
    only(
        story.audit(),
        1,
        "log",
        witness_words.lines_not_told(
            "history.jsonl",
            [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24],
            None,
        ),
    )


def test_line_of_the_native_log_that_stands_twice_is_found(story: Story) -> None:
    path = story.native / "history.jsonl"
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join([*lines, lines[1]]))
    only(story.audit(), 2, "log", witness_words.told_again(25, "history.jsonl", 2))


def test_line_of_the_native_log_told_late_is_a_warning(story: Story) -> None:
    """What a lost log looks like after the engine wrote again what it lacked."""
    path = story.native / "history.jsonl"
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join([*lines[:2], *lines[3:], lines[2]]))
    only(story.audit(), 3, "log", witness_words.told_too_late(24, "history.jsonl", 3), is_warning=True)


def test_a_log_that_a_crash_left_behind_is_a_warning(story: Story) -> None:
    log, marks = story.native / "history.jsonl", story.control / "projected.jsonl"
    last = len(story.raws())
    log.write_text("".join(log.read_text().splitlines(keepends=True)[:-1]))
    kept = [line for line in marks.read_text().splitlines(keepends=True) if json.loads(line).get("logged", 0) < last]
    marks.write_text("".join(kept))
    log_findings = [finding for finding in story.audit().findings if finding.kind == "log"]
    assert [(finding.line, finding.is_warning) for finding in log_findings] == [(last, True)]


def test_foreign_lines_in_the_native_log_are_named_by_number(story: Story) -> None:
    path = story.native / "history.jsonl"
    path.write_text('{"note": "from another tool"}\n' + path.read_text() + '\n{"seq": "1"}\n')
    found = story.audit()
    only(found, 0, "log", witness_words.foreign_line(1, "history.jsonl", '{"note": "from another tool"}'))
    last = len(story.raws()) + 3
    assert [finding.what for finding in found.findings] == [
        witness_words.foreign_line(1, "history.jsonl", '{"note": "from another tool"}'),
        witness_words.foreign_line(last, "history.jsonl", '{"seq": "1"}'),
    ]


def test_many_foreign_lines_are_named_up_to_a_bound(story: Story) -> None:
    path = story.native / "history.jsonl"
    path.write_text(path.read_text() + "{}\n" * 30)
    found = story.audit()
    assert len(found.findings) == 21
    assert found.findings[-1].what == witness_words.more_foreign_lines(10, "history.jsonl")


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("Phase: done", "Phase: implement", witness_words.names_other_state("STATE.md", "implement", "done")),
        ("Phase: done\n", "", witness_words.state_line_lost("STATE.md")),
        (
            "Validator status: pass",
            "Validator status: fail",
            witness_words.label_differs("STATE.md", "Validator status"),
        ),
        ("Objective: add", "Objective: less", witness_words.locked_was_changed('STATE.md: "Objective"')),
    ],
)
def test_a_native_file_that_disagrees_is_named(story: Story, old: str, new: str, words: str) -> None:
    path = story.native / "STATE.md"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    only(story.audit(), len(story.raws()), "native", words)


def test_an_older_copy_of_the_native_file_is_named(story: Story) -> None:
    shutil.copy(story.base.parent / "early-STATE.md", story.native / "STATE.md")
    found = [finding.what for finding in story.audit().findings if finding.kind == "native"]
    assert witness_words.older_copy("STATE.md", "shape") in found


def test_an_unreadable_native_file_is_named(story: Story) -> None:
    (story.native / "STATE.md").unlink()
    only(story.audit(), len(story.raws()), "native", journal_words.file_missing("STATE.md"))


def test_an_unfinished_projection_is_a_warning(story: Story) -> None:
    """What a kill between journal and native file leaves; the next command finishes it."""
    path = story.control / "projected.jsonl"
    moved = story.line_of("moved")
    kept = [line for line in path.read_text().splitlines() if json.loads(line)["seq"] < moved]
    path.write_text("\n".join(kept) + "\n")
    only(story.audit(), len(story.raws()), "native", witness_words.file_behind("STATE.md"), is_warning=True)


def test_a_folder_that_points_elsewhere_is_named(story: Story) -> None:
    (story.native / ".detent-task").write_text(f"{story.base}\n")
    only(story.audit(), 1, "native", witness_words.no_pointer_back(str(story.native)))


# --- other beginnings ---


def test_an_adopted_task_is_sound(story: Story, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    text = (story.native / "STATE.md").read_text(encoding="utf-8")
    (folder / "STATE.md").write_text(text.replace("Phase: done", "Phase: review"), encoding="utf-8")
    (folder / "history.jsonl").write_text('{"note": "from another tool"}\n')
    task = adopt(NewTask("phase", task_id="adopted", repo=story.project.root, folder=str(folder), by="ann"))
    found = audit(task)
    assert [(finding.kind, finding.is_warning) for finding in found.findings] == [("log", True)]
    assert found.ok


def test_a_task_without_git_is_sound(tmp_path: Path) -> None:
    task = create(NewTask("phase", "a title", "plain", str(tmp_path), str(tmp_path / "task"), by="ann"))
    assert audit(task) == Audit(1, ok=True)


# --- what a person set ---


def set_in_story(story: Story, **changes: Any) -> int:
    """Write a `configured` line as a forger would; its number."""
    task = story.task()
    content = {"by": "person", "name": "ann", "reason": "", "mode": "", "limits": {}, "budget": {}, "agents": {}}
    store = TaskStore(story.project.task(story.task_id))
    store.commit(task.memory, made("configured", {**content, "commands": [], "fields": {}, "locked": {}, **changes}))
    return len(story.raws())


PLAN = "field:Validation plan"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"by": "agent"}, say.only_by_person("configured", "agent")),
        ({"mode": "quick"}, lines_words.no_mode("phase", "quick")),
        ({"limits": {"moons": 3}}, lines_words.no_limit("phase", "moons", 3)),
        ({"limits": {"runs": 0}}, lines_words.no_limit("phase", "runs", 0)),
        ({"budget": {"task": {"usd": -1}}}, lines_words.budget_bounds_nothing("task", {"usd": -1})),
        ({"budget": {"all": {"usd": 1}}}, lines_words.budget_bounds_nothing("all", {"usd": 1})),
        ({"change": {"kind": "docs", "by": "engine"}}, lines_words.kind_changed_otherwise()),
        ({"change": {"kind": "novel", "by": "person"}}, lines_words.kind_changed_otherwise()),
        ({"locked": {PLAN: "0" * 64}}, lines_words.locked_text_changed()),
        ({"fields": {"Objective": "less"}, "commands": [["check 9", "true"]]}, lines_words.writes_other_field()),
        ({"fields": {"Validation plan": "cmd: true"}}, lines_words.writes_other_field()),
        (
            {"fields": {"Validation plan": "- cmd: true"}, "commands": [["check 9", "true"]]},
            lines_words.label_lacks("Validation plan", "python3 -m unittest"),
        ),
    ],
)
def test_a_forged_setting_is_found(story: Story, changes: dict[str, Any], words: str) -> None:
    line = set_in_story(story, **changes)
    found = [finding for finding in story.audit().findings if finding.line == line and finding.kind == "decision"]
    assert words in found[0].what
