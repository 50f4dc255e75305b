"""Tests of every check: what opens it, and everything cheap that must not."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Callable

import pytest

from detent.gates.plan import receipt_key
from detent.gates.registry import checks
from detent.store.disk.atomic import LARGEST_TEXT_BYTES
from detent.store.journal.observed import Command
from detent.words import gates as gates_words
from detent.words import proof as proof_words
from detent.words.store import disk as disk_words
from tests.unit.gates.world import MACHINE, World

FRAME = {
    "Objective": "add a parser",
    "Done gate": "all tests are green",
    "Not doing": "no new formats",
    "Reality constraints": "standard library only",
    "Validation plan": "cmd: make test",
}
EMPTY = [
    "",
    "TODO",
    "TBD",
    "tbd.",
    "t.b.d.",
    "T.B.D",
    "t. b. d.",
    "to be decided",
    "?",
    "...",
    "<what>",
    "<!-- say it -->",
    "-",
    "*",
    "[ ]",
    "FIXME.",
    "**TODO**",
]


# --- fields ---

NOTHING = ["", "none", "None.", "-", "n/a", "N/A", "nothing", "**none**", "TODO", "nil"]
NOTHING += ["none so far", "Nothing so far.", "none yet", "[ ] none", "[x] **None**", "[ ] n/a", "[ ]"]


@pytest.mark.parametrize("value", NOTHING)
def test_a_blocker_that_says_nothing_is_none(world: World, value: str) -> None:
    world.fields({"Blockers": value})
    assert (world.fact("blockers_none").ok, world.fact("blockers_open").ok) == (True, False)
    assert not world.fact("blocker_named").ok


@pytest.mark.parametrize(
    "value", ["no key", "none of the parsers works", "- none\n- but the key is missing", "[ ] no key", "[none]"]
)
def test_a_blocker_that_says_something_is_one_and_is_quoted(world: World, value: str) -> None:
    world.fields({"Blockers": value})
    fact = world.fact("blockers_none")
    assert (fact.ok, world.fact("blockers_open").ok) == (False, True)
    assert fact.why.startswith('STATE.md says "Blockers: ')


@pytest.mark.parametrize("value", NOTHING)
def test_failed_checks_that_say_nothing_are_none(world: World, value: str) -> None:
    world.enter()
    world.evidence(f"## Failed checks\n\n- {value}\n")
    assert (world.fact("failures_none").ok, world.fact("failures_named").ok) == (True, False)


def test_failed_checks_count_in_the_visit_that_listed_them(world: World) -> None:
    world.enter()
    world.evidence("## Failed checks\n\n- the page is empty\n")
    fact = world.fact("failures_none")
    assert (fact.ok, fact.why) == (False, gates_words.section_says("EVIDENCE.md", "Failed checks", "the page is empty"))
    world.enter()
    assert world.fact("failures_none").ok


@pytest.mark.requirement("S0.11", "S0.12", "S0.14")
@pytest.mark.parametrize("label", FRAME)
@pytest.mark.parametrize("value", EMPTY)
def test_a_frame_with_one_hole_is_not_complete(world: World, label: str, value: str) -> None:
    world.fields({**FRAME, label: value})
    fact = world.fact("plan_runs" if label == "Validation plan" else "frame_complete")
    assert not fact.ok
    assert fact.why == gates_words.fields_blank("STATE.md", [label])
    assert "STATE.md" in fact.fix
    assert world.fact("frame_known").ok is (label == "Validation plan")


@pytest.mark.requirement("S0.11", "S0.12", "S0.14")
def test_a_whole_frame_is_complete(world: World) -> None:
    world.fields(FRAME)
    assert world.fact("frame_known").ok
    assert world.fact("frame_complete").ok


def test_all_holes_are_named_at_once(world: World) -> None:
    world.fields({})
    assert world.fact("frame_known").why == (
        gates_words.fields_blank("STATE.md", ["Objective", "Done gate", "Not doing", "Reality constraints"])
    )


@pytest.mark.parametrize(
    "text",
    [
        "Phase: x\n```\nBlockers: the key is missing\n```\n",
        "Phase: x\n<!-- Blockers: the key is missing -->\n",
        "Phase: x\n> Blockers: the key is missing\n",
        "Phase: x\nBlockers:\nBlockers: the key is missing\n",
        "Phase: x\nBlockers: Round: 2\n",
    ],
)
def test_a_field_that_only_seems_filled_is_empty(world: World, text: str) -> None:
    world.state(text)
    assert not world.fact("blocker_named").ok


def test_words_that_mean_nothing_can_be_named(world: World) -> None:
    for value, is_ok in (("none", False), ("**None.**", False), ("none of the keys work", True), ("", False)):
        world.fields({"Blockers": value})
        assert world.gate("fields_filled", fields=["Blockers"], empty=["none", "nothing"]).ok is is_ok
        if value:
            assert world.gate("fields_filled", fields=["Blockers"]).ok


@pytest.mark.parametrize("label", MACHINE.gates["fields_present"].params["fields"])
def test_a_label_that_is_gone_is_named(world: World, label: str) -> None:
    world.fields({})
    assert world.fact("fields_present").ok, "an empty field is there"
    text = world.state_file.read_text(encoding="utf-8").replace(f"\n{label}: \n", "\n")
    world.state(text)
    fact = world.fact("fields_present")
    assert (fact.ok, fact.why) == (False, gates_words.fields_missing("STATE.md", [label]))


@pytest.mark.requirement("S0.35")
@pytest.mark.parametrize(
    ("label", "good", "bad"),
    [
        (
            "Candidate done",
            ["yes", "no", "**Yes**", "`no`", ""],
            ["maybe", "yes | no", "yes/no", "yes and no", "~~no~~"],
        ),
        ("Repair applied", ["yes", "no"], ["none", "1"]),
        ("User facing", ["yes", "no", "NO."], ["partly"]),
        ("Validator status", ["pending", "pass", "fail"], ["passed", "green", "pass\u2028fail"]),
        ("Revalidation status", ["pending", "pass", "fail"], ["ok", "pass | fail"]),
    ],
)
def test_values_from_a_list_are_from_that_list(world: World, label: str, good: list[str], bad: list[str]) -> None:
    for value in good:
        world.fields({label: value})
        assert world.fact("fields_present").ok, value
    for value in bad:
        world.fields({label: value})
        fact = world.fact("fields_present")
        assert not fact.ok, value
        assert fact.why.startswith(f'STATE.md says "{label}: ')
        assert "allowed: " in fact.why


@pytest.mark.requirement("S0.17")
@pytest.mark.parametrize(
    ("value", "is_ok"),
    [
        *(("yes", True), ("Yes.", True), ("**yes**", True), ("`YES`", True), ("", False), ("no", False)),
        *(("yes | no", False), ("yes, nearly", False), ("not yes", False), ("<!-- yes -->", False), ("~~yes~~", False)),
        ("\n```\nyes\n```", False),
    ],
)
def test_a_candidate_is_claimed_with_one_word(world: World, value: str, is_ok: bool) -> None:
    world.fields({"Candidate done": value})
    fact = world.fact("candidate")
    assert fact.ok is is_ok
    if not is_ok:
        assert fact.why.startswith('STATE.md says "Candidate done: ')


def test_value_the_engine_owns_is_never_read_from_the_file(world: World) -> None:
    world.fields({"Repair applied": "no", "Revalidation status": "pass"})
    world.snapshot = world.snapshot.replace(registers={"Repair applied": "yes", "Revalidation status": "pending"})
    fact = world.fact("revalidated")
    assert (fact.ok, fact.why) == (False, gates_words.register_is_not("Revalidation status", "pending", "pass"))
    world.snapshot = world.snapshot.replace(registers={"Repair applied": "yes"})
    assert world.fact("revalidated").why == gates_words.register_is_not("Revalidation status", "", "pass")
    for registers in ({"Repair applied": "no"}, {"Repair applied": "yes", "Revalidation status": "pass"}):
        world.snapshot = world.snapshot.replace(registers=registers)
        assert world.fact("revalidated").ok


# --- sections ---


@pytest.mark.parametrize(
    ("text", "why"),
    [
        *(
            (f"## Failed checks\n\n{value}\n", gates_words.section_blank("EVIDENCE.md", "Failed checks"))
            for value in EMPTY
        ),
        ("## Failed checks\n", gates_words.section_blank("EVIDENCE.md", "Failed checks")),
        ("## Failed checks\n### lint\n", gates_words.section_blank("EVIDENCE.md", "Failed checks")),
        ("## Failed checks\n\nRound: 2\n", gates_words.section_blank("EVIDENCE.md", "Failed checks")),
        ("## Failed checks\n\n- **Round:** 2.\n", gates_words.section_blank("EVIDENCE.md", "Failed checks")),
        ("", gates_words.section_missing("EVIDENCE.md", "Failed checks")),
        ("# Failed checks\n\nlint\n", gates_words.section_missing("EVIDENCE.md", "Failed checks")),
        ("```\n## Failed checks\n\nlint\n```\n", gates_words.section_missing("EVIDENCE.md", "Failed checks")),
        ("## Failed checks\n\nlint\n\n## Failed checks\n", gates_words.section_blank("EVIDENCE.md", "Failed checks")),
    ],
)
def test_a_section_without_words_of_its_own_is_closed(world: World, text: str, why: str) -> None:
    world.evidence(text)
    fact = world.fact("failures_named")
    assert (fact.ok, fact.why) == (False, why)
    assert '"## Failed checks" in EVIDENCE.md' in fact.fix


@pytest.mark.parametrize("body", ["- lint: 3 errors", "Round: 2\n\nlint", "```\nE501\n```", "see [log](x)"])
def test_a_section_with_words_is_open(world: World, body: str) -> None:
    world.evidence(f"## Failed checks\n\n{body}\n")
    assert world.fact("failures_named").ok


def test_a_missing_file_is_a_missing_section(world: World) -> None:
    world.evidence_file.unlink()
    assert world.fact("failures_named").why == gates_words.section_missing("EVIDENCE.md", "Failed checks")


UNREADABLE: dict[str, tuple[Callable[[World], object], str]] = {
    "binary": (lambda world: world.evidence_file.write_bytes(b"## Repairs\n\nfixed\0\n"), disk_words.binary_data(17)),
    "not text": (lambda world: world.evidence_file.write_bytes(b"## Repairs\n\nfixed \xff\n"), disk_words.not_utf8(18)),
    "huge": (
        lambda world: os.truncate(world.evidence_file, 50_000_000),
        disk_words.too_large(50_000_000, LARGEST_TEXT_BYTES),
    ),
    "link": (lambda world: swap(world, "link"), disk_words.unreadable(disk_words.reason(errno.ELOOP, ""))),
    "folder": (lambda world: swap(world, "folder"), disk_words.no_plain_file()),
    "fifo": (lambda world: swap(world, "fifo"), disk_words.no_plain_file()),
}


def swap(world: World, kind: str) -> None:
    world.evidence_file.rename(world.folder / "real.md")
    if kind == "link":
        world.evidence_file.symlink_to("real.md")
    elif kind == "folder":
        world.evidence_file.mkdir()
    else:
        os.mkfifo(world.evidence_file)


@pytest.mark.parametrize("kind", UNREADABLE)
@pytest.mark.parametrize(
    "gate", ["repair_noted", "review_passed", "review_failed", "questions_answered", "features_labelled"]
)
def test_file_that_cannot_be_read_closes_every_gate_by_name(world: World, kind: str, gate: str) -> None:
    world.fields({**FRAME, "User facing": "no"})
    world.evidence("## Repairs\n\nfixed\n\n## Review\n\nPASS\n")
    spoil, problem = UNREADABLE[kind]
    spoil(world)
    fact = world.fact(gate)
    assert not fact.ok
    assert fact.why.startswith(gates_words.unreadable(str(world.evidence_file), problem))


# --- labels ---

FEATURES = "## Visible features\n\n{}\n"


@pytest.mark.requirement("S0.13", "S0.41", "S0.42", "S0.46")
@pytest.mark.parametrize("file", ["STATE.md", "EVIDENCE.md"])
@pytest.mark.parametrize("label", ["real_working", "real_read_only", "blocked_hidden", "unknown_do_not_show"])
def test_one_label_per_feature_in_either_file(world: World, file: str, label: str) -> None:
    section = FEATURES.format(f"- login form: {label}\n- **report** `{label}`")
    world.fields({"User facing": "yes"})
    path = world.folder / file
    path.write_text(f"{path.read_text(encoding='utf-8')}\n{section}", encoding="utf-8")
    assert world.fact("features_labelled").ok


FEATURE_LABELS = ["real_working", "real_read_only", "blocked_hidden", "unknown_do_not_show"]


def not_one_label(item: str, count: int) -> str:
    return gates_words.not_one_label("EVIDENCE.md", "Visible features", item, count, FEATURE_LABELS)


@pytest.mark.requirement("S0.13", "S0.41", "S0.46")
@pytest.mark.parametrize(
    ("answer", "body", "why"),
    [
        ("", "", gates_words.neither_yes_nor_no("STATE.md", "User facing")),
        ("maybe", "", gates_words.neither_yes_nor_no("STATE.md", "User facing")),
        ("yes | no", "", gates_words.neither_yes_nor_no("STATE.md", "User facing")),
        ("yes", "", gates_words.yes_without_list("STATE.md", "User facing", "Visible features")),
        ("yes", "TODO", gates_words.yes_without_list("STATE.md", "User facing", "Visible features")),
        (
            "yes",
            "<!-- - login: real_working -->",
            gates_words.yes_without_list("STATE.md", "User facing", "Visible features"),
        ),
        ("yes", "- login form", not_one_label("login form", 0)),
        ("no", "- login form", not_one_label("login form", 0)),
        ("yes", "- login: really_working", not_one_label("login: really_working", 0)),
        ("yes", "- login: real_working-ish", not_one_label("login: real_working-ish", 0)),
        ("yes", "- login: not_real_working", not_one_label("login: not_real_working", 0)),
        ("yes", "- login: real_working, blocked_hidden", not_one_label("login: real_working, blocked_hidden", 2)),
        ("yes", "- login: real_working real_working", not_one_label("login: real_working real_working", 2)),
        ("yes", "- real_working", gates_words.label_without_feature("EVIDENCE.md", "Visible features", "real_working")),
        (
            "yes",
            "- <feature>: real_working",
            gates_words.label_without_feature("EVIDENCE.md", "Visible features", "<feature>: real_working"),
        ),
        ("yes", "- login: real_working\n- report", not_one_label("report", 0)),
        (
            "yes",
            "- login: real_working\n\n```\n- report\n```",
            gates_words.no_feature_readable("EVIDENCE.md", "Visible features"),
        ),
        (
            "yes",
            "login: real_working\n\n    - report",
            gates_words.no_feature_readable("EVIDENCE.md", "Visible features"),
        ),
        (
            "yes",
            "- login: real_working\n\n<ul><li>report</li></ul>",
            gates_words.no_feature_readable("EVIDENCE.md", "Visible features"),
        ),
        ("no", "```\n- report\n```", gates_words.no_feature_readable("EVIDENCE.md", "Visible features")),
    ],
)
def test_a_feature_without_one_truthful_label_closes_the_gate(world: World, answer: str, body: str, why: str) -> None:
    world.fields({"User facing": answer})
    world.evidence(FEATURES.format(body) if body else "")
    fact = world.fact("features_labelled")
    assert not fact.ok
    assert why in fact.why
    assert '"- login form: real_working"' in fact.fix


def test_internal_work_needs_no_feature_list(world: World) -> None:
    world.fields({"User facing": "no"})
    assert world.fact("features_labelled").ok


def test_both_files_are_looked_at(world: World) -> None:
    world.fields({"User facing": "yes"})
    text = world.state_file.read_text(encoding="utf-8")
    world.state(f"{text}\n{FEATURES.format('- login: real_working')}")
    world.evidence(FEATURES.format("- hidden one"))
    assert world.fact("features_labelled").why.startswith(not_one_label("hidden one", 0))


# --- paths and links ---


@pytest.mark.requirement("S0.17", "S0.48")
@pytest.mark.parametrize(
    "value",
    [
        *("artifacts/result.txt", "`artifacts/result.txt`", "./artifacts/result.txt", "artifacts", "artifacts/"),
        *(
            "[proof](artifacts/result.txt)",
            "[proof](<artifacts/result.txt>)",
            "\n- artifacts/result.txt",
            "src/in-tree.txt",
        ),
        *("**artifacts/result.txt**", "artifacts/result.txt\n\nand [more](nowhere)"),
        *("<!-- a path -->\nartifacts/result.txt", "***\nartifacts/result.txt"),
    ],
)
def test_proof_that_is_there_opens_the_gate(world: World, value: str) -> None:
    world.artifact()
    (world.tree / "src").mkdir()
    (world.tree / "src" / "in-tree.txt").write_text("x", encoding="utf-8")
    world.fields({"Evidence location": value})
    assert world.fact("evidence_exists").ok


@pytest.mark.requirement("S0.17", "S0.48")
@pytest.mark.parametrize(
    ("value", "why"),
    [
        *(
            (value, gates_words.field_names_no_file("STATE.md", "Evidence location"))
            for value in EMPTY
            if value != "[ ]"
        ),
        ("artifacts/none.txt", gates_words.named_file_missing("STATE.md", "Evidence location", "artifacts/none.txt")),
        ("artifacts/empty.txt", gates_words.named_file_empty("STATE.md", "Evidence location", "artifacts/empty.txt")),
        ("artifacts/nothing", gates_words.named_file_empty("STATE.md", "Evidence location", "artifacts/nothing")),
        (
            "the artifacts folder",
            gates_words.named_file_missing("STATE.md", "Evidence location", "the artifacts folder"),
        ),
        ("/etc/passwd", gates_words.named_file_missing("STATE.md", "Evidence location", "/etc/passwd")),
        ("../outside.txt", gates_words.named_file_missing("STATE.md", "Evidence location", "../outside.txt")),
        (
            "artifacts/../../outside.txt",
            gates_words.named_file_missing("STATE.md", "Evidence location", "artifacts/../../outside.txt"),
        ),
        (
            "artifacts/escape.txt",
            gates_words.named_file_missing("STATE.md", "Evidence location", "artifacts/escape.txt"),
        ),
        ("artifacts/escape", gates_words.named_file_missing("STATE.md", "Evidence location", "artifacts/escape")),
        ("artifacts/fifo", gates_words.named_file_missing("STATE.md", "Evidence location", "artifacts/fifo")),
        ("STATE.md", gates_words.named_file_missing("STATE.md", "Evidence location", "STATE.md")),
        ("history.jsonl", gates_words.named_file_missing("STATE.md", "Evidence location", "history.jsonl")),
        (".", gates_words.field_names_no_file("STATE.md", "Evidence location")),
        ("artifacts/..", gates_words.named_file_missing("STATE.md", "Evidence location", "artifacts/..")),
        ("\n```\nartifacts/result.txt\n```", gates_words.field_names_no_file("STATE.md", "Evidence location")),
        ("<!-- artifacts/result.txt -->", gates_words.field_names_no_file("STATE.md", "Evidence location")),
        (
            "artifacts/result.txt\u2028x",
            gates_words.named_file_missing("STATE.md", "Evidence location", "artifacts/result.txt\u2028x"),
        ),
    ],
)
def test_proof_that_is_not_there_does_not(world: World, value: str, why: str) -> None:
    world.artifact()
    world.artifact("empty.txt", "")
    (world.folder / "artifacts" / "nothing").mkdir()
    (world.folder / "history.jsonl").write_text("{}\n", encoding="utf-8")
    (world.base / "outside.txt").write_text("x", encoding="utf-8")
    (world.folder / "artifacts" / "escape.txt").symlink_to(world.base / "outside.txt")
    (world.folder / "artifacts" / "escape").symlink_to(world.base)
    os.mkfifo(world.folder / "artifacts" / "fifo")
    world.fields({"Evidence location": value})
    fact = world.fact("evidence_exists")
    assert not fact.ok
    assert why in fact.why
    assert "artifacts/result.txt" in fact.fix


@pytest.mark.requirement("S0.49")
@pytest.mark.parametrize(
    "value",
    [
        *("https://ci.example.com/run/1", "http://10.0.0.5/x", "https://example.com/proof"),
        *(
            "[run](https://ci.example.com/run/1)",
            "<https://ci.example.com/run/1>",
            "http://buildserver/job/1",
            "http://[fd00::1]/x",
        ),
        *("see https://ci.example.com/run/1.", "[proof](artifacts/result.txt)", "[proof](./artifacts/result.txt)"),
        *("![shot](artifacts/result.txt)", "[proof](artifacts/result.txt#part)", "\n- [proof](artifacts/result.txt)"),
    ],
)
def test_something_to_click_opens_the_gate(world: World, value: str) -> None:
    world.artifact()
    world.fields({"Evidence link": value})
    fact = world.fact("evidence_link")
    assert fact.ok, fact.why
    assert bool(fact.note) is ("](" in value and "://" not in value), "a relative link is worth a warning"


@pytest.mark.requirement("S0.49")
@pytest.mark.parametrize(
    ("value", "why"),
    [
        *((value, "is ") for value in EMPTY),
        ("artifacts/result.txt", gates_words.link_not_clickable("STATE.md", "Evidence link")),
        ("https://x", gates_words.link_not_clickable("STATE.md", "Evidence link")),
        ("https://...", gates_words.link_not_clickable("STATE.md", "Evidence link")),
        ("https://", gates_words.link_not_clickable("STATE.md", "Evidence link")),
        ("https://host.", gates_words.link_not_clickable("STATE.md", "Evidence link")),
        ("https://<your host>/x", gates_words.link_not_clickable("STATE.md", "Evidence link")),
        ("ftp://example.com/x", gates_words.link_not_clickable("STATE.md", "Evidence link")),
        ("file:///etc/passwd", gates_words.link_not_clickable("STATE.md", "Evidence link")),
        ("`https://ci.example.com/run/1`", gates_words.link_not_clickable("STATE.md", "Evidence link")),
        ("\n```\nhttps://ci.example.com/run/1\n```", gates_words.link_not_clickable("STATE.md", "Evidence link")),
        ("<!-- https://ci.example.com/run/1 -->", gates_words.link_empty("STATE.md", "Evidence link")),
        ("[proof]()", gates_words.link_not_clickable("STATE.md", "Evidence link")),
        (
            "[proof](artifacts/none.txt)",
            gates_words.link_target_missing("STATE.md", "Evidence link", "artifacts/none.txt"),
        ),
        (
            "[proof](artifacts/empty.txt)",
            gates_words.link_target_missing("STATE.md", "Evidence link", "artifacts/empty.txt"),
        ),
        ("[proof](#part)", gates_words.link_target_missing("STATE.md", "Evidence link", "")),
        ("[proof](/etc/passwd)", gates_words.link_leaves_folder("STATE.md", "Evidence link", "/etc/passwd")),
        ("[proof](../outside.txt)", gates_words.link_leaves_folder("STATE.md", "Evidence link", "../outside.txt")),
        (
            "[proof](artifacts/../../outside.txt)",
            gates_words.link_leaves_folder("STATE.md", "Evidence link", "artifacts/../../outside.txt"),
        ),
        (
            "[proof](artifacts/escape.txt)",
            gates_words.link_target_missing("STATE.md", "Evidence link", "artifacts/escape.txt"),
        ),
        ("[proof](in-tree.txt)", gates_words.link_target_missing("STATE.md", "Evidence link", "in-tree.txt")),
        ("[proof](javascript:alert)", gates_words.link_target_missing("STATE.md", "Evidence link", "javascript:alert")),
        ("[proof](STATE.md)", gates_words.link_target_is_document("STATE.md", "Evidence link", "STATE.md")),
        ("[proof](./artifacts/self.md)", gates_words.link_target_is_document("STATE.md", "Evidence link", "STATE.md")),
        ("[proof](history.jsonl)", gates_words.link_target_is_document("STATE.md", "Evidence link", "history.jsonl")),
    ],
)
def test_something_that_can_not_be_clicked_does_not(world: World, value: str, why: str) -> None:
    world.artifact()
    world.artifact("empty.txt", "")
    (world.tree / "in-tree.txt").write_text("x", encoding="utf-8")
    (world.base / "outside.txt").write_text("x", encoding="utf-8")
    (world.folder / "artifacts" / "escape.txt").symlink_to(world.base / "outside.txt")
    (world.folder / "artifacts" / "self.md").symlink_to("../STATE.md")
    (world.folder / "history.jsonl").write_text("{}\n", encoding="utf-8")
    world.fields({"Evidence link": value})
    fact = world.fact("evidence_link")
    assert not fact.ok
    assert why in fact.why
    assert fact.why.startswith('STATE.md: "Evidence link:" ')
    assert "[proof](artifacts/result.txt)" in fact.fix


@pytest.mark.requirement("S0.38")
def test_once_there_are_artifacts_there_must_be_a_link(world: World) -> None:
    assert world.fact("evidence_linked").ok, "nothing to link to"
    path = world.artifact()
    assert world.fact("evidence_linked").why == gates_words.link_empty("STATE.md", "Evidence link")
    world.fields({"Evidence link": "[proof](artifacts/result.txt)"})
    assert world.fact("evidence_linked").ok
    path.unlink()
    world.fields({})
    assert world.fact("evidence_linked").ok


# --- commands ---


def test_receipt_that_the_journal_does_not_vouch_for_proves_nothing(world: World) -> None:
    """Any process with access to the folder can write a green receipt; only the engine can journal its hash."""
    world.fields(FRAME)
    world.receipt("make test", 0)
    assert world.fact("validation_passed").ok
    world.proved.clear()
    assert world.fact("validation_passed").pending
    world.receipt("make test", 1)
    path = next(world.receipts.iterdir())
    path.write_bytes(path.read_bytes().replace(b"[1]", b"[0]"))
    assert world.fact("validation_passed").pending


@pytest.mark.requirement("S0.44")
def test_commands_count_only_on_exactly_this_tree(world: World) -> None:
    world.fields(FRAME)
    fact = world.fact("validation_passed")
    assert (fact.ok, fact.pending, fact.why) == (False, True, proof_words.not_run(["make test"]))
    world.receipt("make test", 0, tree="tree-0")
    assert world.fact("validation_passed").pending, "another tree"
    world.receipt("make test", 2)
    fact = world.fact("validation_passed")
    assert (fact.ok, fact.pending) == (False, False)
    assert fact.why == proof_words.command_failed_here("make test", "exit 2", "a line\nsome words", "")
    world.receipt("make test", 2, 0)
    fact = world.fact("validation_passed")
    assert fact.ok
    assert fact.proof
    world.tree_id = "tree-2"
    assert world.fact("validation_passed").pending
    world.tree_id = ""
    world.receipt("make test", 0, tree="")
    assert world.fact("validation_passed").pending, "an unknown tree proves nothing"


@pytest.mark.requirement("S0.44", "S0.51")
def test_the_projects_commands_are_part_of_every_plan(world: World) -> None:
    world.fields(FRAME)
    world.commands = (Command("lint", "make lint"),)
    world.receipt("make test", 0)
    assert world.fact("validation_passed").why == proof_words.not_run(["make lint"])
    world.receipt("make lint", 1)
    world.receipt("make test", 1)
    assert world.fact("validation_passed").why.count("failed on this tree") == 2, "all red ones are named"
    world.receipt("make lint", 1, 0)
    world.receipt("make test", 1, 0)
    assert world.fact("validation_passed").ok


@pytest.mark.parametrize(
    "problem",
    [
        proof_words.command_failed_here("make test", "timed out after 5 s", "a line\nsome words", ""),
        proof_words.command_failed_here("make test", "set-up failed: no disk", "a line\nsome words", ""),
    ],
)
def test_a_run_that_did_not_end_is_not_green(world: World, problem: str) -> None:
    world.fields(FRAME)
    world.receipt("make test", 0, problem=problem)
    fact = world.fact("validation_passed")
    assert not fact.ok
    assert problem in fact.why


@pytest.mark.parametrize("plan", ["", "look at it", "cmd:", "<!-- cmd: make -->", "```\n# nothing\n```"])
def test_a_plan_without_a_command_proves_nothing(world: World, plan: str) -> None:
    world.fields({**FRAME, "Validation plan": plan})
    fact = world.fact("validation_passed")
    assert (fact.ok, fact.pending) == (False, False)
    assert fact.why == proof_words.field_names_no_command("Validation plan", "")


def test_a_receipt_is_bound_to_tree_command_gate_and_workspace() -> None:
    gate = MACHINE.gates["validation_passed"]
    other = gate.replace(params={"field": "Other"})
    keys = {
        receipt_key("tree", "make", gate, "w"),
        receipt_key("tree2", "make", gate, "w"),
        receipt_key("tree", "make ", gate, "w"),
        receipt_key("tree", "make", other, "w"),
        receipt_key("tree", "make", gate, ""),
    }
    assert len(keys) == 5
    assert receipt_key("tree", "make", gate, "w") in keys


@pytest.mark.requirement("S0.45")
@pytest.mark.parametrize(
    ("plan", "body", "is_ok"),
    [
        ("cmd: make", "", True),
        ("cmd: make\nlook at the page", "", False),
        ("look at the page", "", False),
        ("look at the page", "TODO", False),
        ("look at the page", "Round: 2", False),
        ("look at the page", "the page shows the form, see artifacts/shot.png", True),
        ("", "", True),
    ],
)
def test_a_plan_that_asks_for_eyes_needs_what_they_saw(world: World, plan: str, body: str, is_ok: bool) -> None:
    world.fields({"Validation plan": f"\n{plan}"})
    world.evidence(f"## Manual evidence\n\n{body}\n" if body else "")
    fact = world.fact("manual_evidence")
    assert fact.ok is is_ok
    if not is_ok:
        assert "## Manual evidence" in fact.why


# --- answers ---

QUESTIONS = MACHINE.gates["questions_answered"].params["questions"]


def answered(**changes: str) -> str:
    """All questions answered well, but for the ones given by the beginning of their words."""
    lines = ["## Gate answers", ""]
    for question in QUESTIONS:
        line = f"- {question}: yes, by reviewer, artifacts/result.txt"
        lines.append(next((new for start, new in changes.items() if question.startswith(start)), line))
    return "\n".join(lines) + "\n"


@pytest.mark.requirement("S0.43", "S0.47", "S0.48")
@pytest.mark.parametrize("question", QUESTIONS)
def test_every_question_must_be_answered(world: World, question: str) -> None:
    world.artifact()
    world.evidence(answered())
    assert world.fact("questions_answered").ok
    world.evidence(answered().replace(f"- {question}: yes, by reviewer, artifacts/result.txt\n", ""))
    fact = world.fact("questions_answered")
    assert fact.why == gates_words.unanswered("EVIDENCE.md", "Gate answers", [(question, gates_words.not_answered())])
    assert fact.fix.endswith(gates_words.answers_to_write("EVIDENCE.md", "Gate answers", [question]))


@pytest.mark.parametrize("text", ["", "## Gate answers\n", "## Gate answers\n\n- something else: yes\n"])
def test_all_unanswered_questions_are_named_at_once(world: World, text: str) -> None:
    world.artifact()
    world.evidence(text)
    fact = world.fact("questions_answered")
    assert not fact.ok
    assert fact.fix.endswith(gates_words.answers_to_write("EVIDENCE.md", "Gate answers", QUESTIONS))


@pytest.mark.parametrize(
    "line",
    [
        "- objective matched: yes, by reviewer, artifacts/result.txt",
        "- **objective matched**: Yes, by Ann: `artifacts/result.txt`",
        "1. objective matched? YES. By Ann, see [proof](artifacts/result.txt).",
        "objective matched: yes \u2014 verified by Ann (artifacts/result.txt)",
        "- objective matched: yes, artifacts/result.txt, by Ann",
        "- objective matched: yes, by Ann, artifacts/no/not-bad.txt",
        "- objective matched: yes, by Ann, artifacts/",
        "- objective matched: yes, by Ann, app.py",
    ],
)
def test_an_answer_is_a_yes_a_name_and_a_proof(world: World, line: str) -> None:
    world.artifact()
    world.artifact("no/not-bad.txt")
    (world.tree / "app.py").write_text("x", encoding="utf-8")
    world.evidence(answered(objective=line))
    fact = world.fact("questions_answered")
    assert fact.ok, fact.why


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("- objective matched:", gates_words.no_clear_yes()),
        ("- objective matched: no, by Ann, artifacts/result.txt", gates_words.no_clear_yes()),
        ("- objective matched: yes/no, by Ann, artifacts/result.txt", gates_words.no_clear_yes()),
        ("- objective matched: yes or no, by Ann, artifacts/result.txt", gates_words.no_clear_yes()),
        ("- objective matched: yes | no, by Ann, artifacts/result.txt", gates_words.no_clear_yes()),
        ("- objective matched: yes? by Ann, artifacts/result.txt", gates_words.no_clear_yes()),
        ("- objective matched: yes, partly, by Ann, artifacts/result.txt", gates_words.no_clear_yes()),
        ("- objective matched: yes, but not checked by Ann, artifacts/result.txt", gates_words.no_clear_yes()),
        ("- objective matched: yesterday, by Ann, artifacts/result.txt", gates_words.no_clear_yes()),
        ("- objective matched: ~~yes~~, by Ann, artifacts/result.txt", gates_words.no_clear_yes()),
        ("- objective matched: not yes, by Ann, artifacts/result.txt", gates_words.no_clear_yes()),
        ("- objective matched: yes, artifacts/result.txt", gates_words.answer_without_name()),
        ("- objective matched: yes, by <name>, artifacts/result.txt", gates_words.answer_without_name()),
        ("- objective matched: yes, by NAME, artifacts/result.txt", gates_words.answer_without_name()),
        ("- objective matched: yes, by nobody, artifacts/result.txt", gates_words.answer_without_name()),
        ("- objective matched: yes, by TODO, artifacts/result.txt", gates_words.answer_without_name()),
        ("- objective matched: yes, by Ann", gates_words.answer_without_proof()),
        ("- objective matched: yes, by Ann, artifacts/none.txt", gates_words.answer_without_proof()),
        ("- objective matched: yes, by Ann, who read all artifacts", gates_words.answer_without_proof()),
        ("- objective matched: yes, by Ann, artifacts/empty.txt", gates_words.answer_without_proof()),
        ("- objective matched: yes, by Ann, /etc/passwd", gates_words.answer_without_proof()),
        ("- objective matched: yes, by Ann, ../outside.txt", gates_words.answer_without_proof()),
        ("- objective matched: yes, by Ann, STATE.md", gates_words.answer_without_proof()),
        ("- objective matched: yes, by Ann, EVIDENCE.md", gates_words.answer_without_proof()),
        ("- objective matched: yes, by Ann, ./EVIDENCE.md", gates_words.answer_without_proof()),
        ("- objective matched: yes, by Ann, <!-- artifacts/result.txt -->", gates_words.answer_without_proof()),
        ("> objective matched: yes, by Ann, artifacts/result.txt", gates_words.not_answered()),
        ("```\nobjective matched: yes, by Ann, artifacts/result.txt\n```", gates_words.not_answered()),
        ("<!-- objective matched: yes, by Ann, artifacts/result.txt -->", gates_words.not_answered()),
        ("- was the objective matched: yes, by Ann, artifacts/result.txt", gates_words.not_answered()),
        (
            "- objective matched: yes, by Ann, artifacts/result.txt\n- objective matched: no, by Bob",
            gates_words.answered_twice(),
        ),
    ],
)
def test_an_answer_without_substance_closes_the_gate(world: World, line: str, why: str) -> None:
    world.artifact()
    world.artifact("empty.txt", "")
    (world.base / "outside.txt").write_text("x", encoding="utf-8")
    world.evidence(answered(objective=line))
    fact = world.fact("questions_answered")
    assert not fact.ok
    assert fact.why == gates_words.unanswered("EVIDENCE.md", "Gate answers", [("objective matched", why)])


def test_a_long_answer_does_not_search_the_disk_for_ever(world: World) -> None:
    world.artifact()
    for others, is_ok in ((39, True), (40, False), (100, False)):
        line = "- objective matched: yes, by Ann, " + "wo/rd " * others + "artifacts/result.txt"
        world.evidence(answered(objective=line))
        assert world.fact("questions_answered").ok is is_ok, f"{others} other paths first"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", gates_words.section_missing("EVIDENCE.md", "Gate answers")),
        ("## Gate answers\n\nTODO\n", gates_words.section_blank("EVIDENCE.md", "Gate answers")),
    ],
)
def test_where_nothing_is_answered_no_single_question_is_named(world: World, text: str, why: str) -> None:
    world.evidence(text)
    assert world.fact("questions_answered").why == why


# --- sentences ---


@pytest.mark.parametrize(
    ("gate", "fields"),
    [
        ("candidate", {"Candidate done": "y" * 300}),
        ("fields_present", {"Candidate done": "y" * 300}),
        ("evidence_exists", {"Evidence location": "y" * 300}),
        ("evidence_link", {"Evidence link": f"[proof]({'y' * 300})"}),
        ("evidence_link", {"Evidence link": f"[proof](/{'y' * 300})"}),
        ("validation_passed", {"Validation plan": f"cmd: {'y' * 300}"}),
        ("features_labelled", {"User facing": "yes"}),
    ],
)
def test_a_sentence_quotes_only_the_beginning_of_what_is_long(world: World, gate: str, fields: dict[str, str]) -> None:
    world.fields(fields)
    world.evidence(FEATURES.format("y" * 300))
    why = world.fact(gate).why
    longest = max(re.findall("/?y+", why), key=len)
    assert len(longest) == 80


def test_a_field_without_a_value_says_nothing(world: World) -> None:
    world.fields({"Candidate done": ""})
    assert world.fact("candidate").why == gates_words.field_differs("STATE.md", "Candidate done", "", "yes")


def test_a_failed_command_is_named_by_its_first_line(world: World) -> None:
    world.fields({"Validation plan": "\n```\nmake one\nmake two\n```"})
    assert world.fact("validation_passed").why == proof_words.not_run(["make one"])


def test_every_check_says_what_it_must_be_given() -> None:
    asks_nothing = {name for name, check in checks().items() if not check.required}
    of_project = {"commands", "commands_failed"}  # what the project names itself may be all there is to run
    of_person = {"asked_by_name"}
    of_checkout = {"git_clean", "baseline_known", "protected_ok", "same_tree", "tree_edited"}
    of_tree = {"lockfile", "secret_scan", "dependency_audit"}
    of_deployment = {"taken_back"}
    of_proof = {"proof", "proof_accepted"}
    assert asks_nothing == of_proof | of_checkout | of_project | of_person | of_tree | of_deployment


def test_fresh_proof_lies_in_the_task_folder(world: World) -> None:
    (world.tree / "report.txt").write_text("made just now\n", encoding="utf-8")
    world.fields({"Evidence location": "report.txt"})
    world.enter()
    (world.tree / "report.txt").write_text("made anew\n", encoding="utf-8")
    fact = world.fact("evidence_fresh")
    assert (fact.ok, fact.why == gates_words.named_file_elsewhere("STATE.md", "Evidence location", "report.txt")) == (
        False,
        True,
    )
    assert world.fact("evidence_exists").ok


def test_the_proof_of_commands_names_their_receipts(world: World) -> None:
    proofs = []
    for line in ("make test", "make lint"):
        world.fields({"Validation plan": f"cmd: {line}"})
        world.receipt(line, 0)
        proofs.append(world.fact("validation_passed").proof)
    assert all(proofs)
    assert proofs[0] != proofs[1]
