"""Tests of fresh proof, of gates made of gates, and of what is remembered when a state is entered."""

from __future__ import annotations

import pytest

from detent.core.machine import Gate
from detent.core.values import Fact
from detent.gates.judge import evidence_hashes, judge
from detent.words import artifacts as artifacts_words
from detent.words import gates as say
from detent.words import proof as proof_words
from detent.words.message import code_of
from tests.unit.gates.world import MACHINE, World

# --- freshness: law 5 ---


@pytest.mark.parametrize(
    ("gate", "section", "body"),
    [
        ("failures_named", "Failed checks", "- lint"),
        ("repair_noted", "Repairs", "fixed the lint"),
        ("review_passed", "Review", "Verdict: PASS"),
        ("review_failed", "Review", "Verdict: FAIL"),
        ("review_passed", "Review", "### Verdict: PASS"),
    ],
)
def test_proof_from_an_earlier_visit_does_not_count(world: World, gate: str, section: str, body: str) -> None:
    world.evidence(f"## {section}\n\n{body}\n")
    assert world.fact(gate).ok
    world.enter()
    fact = world.fact(gate)
    assert not fact.ok
    assert fact.why == say.stale([f"EVIDENCE.md ## {section}"], "verify")
    assert code_of(fact.fix) == "gates.add_round"
    wider = body.replace(" ", "  ")
    for same in (
        f"## {section}\n\n\n{wider}   \n\n",
        f"## {section}\n<!-- new -->\n{body}\n",
        f"## {section}:\n{body}\n",
        f"## {section}\n\n{body}\n\n-\n",
        f"## {section}\n\n{body}\n\n[seen]: https://example.com/new\n",
        f"## {section}\n\n{body}\n\n<div>new</div>\n",
    ):
        world.evidence(same)
        assert not world.fact(gate).ok, "what no reader sees is no new proof"
    world.evidence(f"## {section}\n\n{body}\nRound: 2\n")
    assert world.fact(gate).ok
    world.enter()
    assert not world.fact(gate).ok


def test_on_first_visit_the_round_to_name_is_the_first(world: World) -> None:
    world.snapshot = world.snapshot.replace(visits={})
    world.evidence("## Repairs\n\nfixed\n")
    world.enter()
    assert code_of(world.fact("repair_noted").fix) == "gates.add_round"


def test_a_manual_proof_is_fresh_too(world: World) -> None:
    world.fields({"Validation plan": "look at it"})
    world.evidence("## Manual evidence\n\nseen\n")
    world.enter()
    assert not world.fact("manual_evidence").ok
    world.fields({"Validation plan": "cmd: make"})
    assert world.fact("manual_evidence").ok, "where none is asked for, none can be old"


def test_a_field_that_must_be_fresh(world: World) -> None:
    world.fields({"Blockers": "the key is missing"})
    world.enter()
    fact = world.fact("blocker_named")
    assert (fact.ok, fact.why.partition(" is ")[0]) == (False, "Blockers")
    world.fields({"Blockers": "the key is still missing"})
    assert world.fact("blocker_named").ok


def test_a_frame_may_be_old(world: World) -> None:
    world.fields(dict.fromkeys(MACHINE.gates["frame_complete"].params["fields"], "words"))
    world.enter()
    assert world.fact("frame_complete").ok


def test_same_field_may_be_stale_for_one_gate_alone(world: World) -> None:
    world.fields({"Blockers": "the key is missing"})
    world.enter()
    assert not world.fact("blocker_named").ok
    assert world.gate("fields_filled", since="task", fields=["Blockers"]).ok


@pytest.mark.requirement("S0.17")
def test_an_artifact_is_fresh_by_its_bytes(world: World) -> None:
    world.artifact(text="old")
    world.fields({"Evidence location": "artifacts/result.txt"})
    world.enter()
    assert code_of(world.fact("evidence_fresh").why) == "gates.named_file_unchanged"
    assert world.fact("evidence_exists").ok
    world.artifact(text="old")
    assert not world.fact("evidence_fresh").ok, "written again, but the same"
    world.artifact(text="new")
    assert world.fact("evidence_fresh").ok


def test_a_file_from_before_the_visit_is_old(world: World) -> None:
    """It had no name in the document when the state was entered, but it was made before."""
    world.artifact("old.txt", "from an earlier visit")
    world.enter()
    for value in ("artifacts/old.txt", "artifacts", "EVIDENCE.md"):
        world.fields({"Evidence location": value})
        assert code_of(world.fact("evidence_fresh").why) == "gates.named_file_unchanged", value
    world.artifact("copy.txt", "from an earlier visit")
    world.fields({"Evidence location": "artifacts/copy.txt"})
    assert not world.fact("evidence_fresh").ok, "a copy of an old proof is an old proof"


def test_words_that_were_there_before_do_not_make_file_old(world: World) -> None:
    world.fields({"Blockers": "no key yet", "Evidence location": "artifacts/new.txt"})
    world.enter()
    world.artifact("new.txt", "no key yet")
    assert world.fact("evidence_fresh").ok


def test_with_a_cut_file_list_no_file_counts_as_new(world: World) -> None:
    world.snapshot = world.snapshot.replace(entry={"file:*": "cut"})
    world.artifact()
    world.fields({"Evidence location": "artifacts/result.txt"})
    fact = world.fact("evidence_fresh")
    assert (fact.ok, fact.why == say.too_many_files("STATE.md", "Evidence location")) == (False, True)
    assert world.fact("evidence_exists").ok


def test_fresh_proof_lies_in_the_task_folder(world: World) -> None:
    (world.tree / "app.py").write_text("x", encoding="utf-8")
    world.fields({"Evidence location": "app.py"})
    assert world.fact("evidence_exists").ok
    assert world.fact("evidence_fresh").why == say.named_file_elsewhere("STATE.md", "Evidence location", "app.py")


def test_a_folder_is_fresh_by_the_bytes_in_it(world: World) -> None:
    world.artifact(text="old")
    world.fields({"Evidence location": "artifacts"})
    world.enter()
    assert not world.fact("evidence_fresh").ok
    world.artifact("more.txt")
    assert world.fact("evidence_fresh").ok


def test_what_the_engine_ran_itself_is_fresh_by_its_receipt(world: World) -> None:
    gate = MACHINE.gates["validation_passed"].replace(since="entry")
    world.machine = MACHINE.replace(gates={**MACHINE.gates, "validation_passed": gate})
    world.fields({"Validation plan": "cmd: make"})
    world.receipt("make", 0)
    world.enter()
    fact = world.fact("validation_passed")
    assert (fact.ok, fact.by_hand) == (True, False)


def test_what_changed_while_no_run_lived_was_written_by_hand(world: World) -> None:
    world.evidence("## Repairs\n\nfixed\n")
    fact = world.fact("repair_noted")
    assert (fact.ok, fact.by_hand) == (True, True)
    world.by_run = evidence_hashes(world.seen())
    assert not world.fact("repair_noted").by_hand
    world.evidence("## Repairs\n\nfixed, and then some\n")
    assert world.fact("repair_noted").by_hand
    world.evidence("## Repairs\n\nfixed\n")
    assert not world.fact("frame_known").by_hand


def test_a_gate_met_by_commands_is_not_by_hand(world: World) -> None:
    world.fields({"Validation plan": "cmd: make"})
    fact = world.fact("manual_evidence")
    assert (fact.ok, fact.by_hand) == (True, False)
    world.fields({"Validation plan": "look at it"})
    world.evidence("## Manual evidence\n\nseen\n")
    assert world.fact("manual_evidence").by_hand


def test_the_hashes_of_an_entry_name_what_was_there(world: World) -> None:
    world.evidence("## Review\n\nVerdict: PASS\n")
    world.artifact()
    world.fields({"Evidence location": "artifacts/result.txt", "Blockers": "none yet", "Objective": "o"})
    hashes = evidence_hashes(world.seen())
    assert sorted(hashes) == [
        "field:Blockers",
        "file:EVIDENCE.md",
        "file:artifacts/result.txt",
        "section:EVIDENCE.md:Review",
        "shown:EVIDENCE.md",
    ]
    assert all(hashes.values())
    world.evidence_file.write_bytes(b"\0")
    assert "section:EVIDENCE.md:Review" not in evidence_hashes(world.seen())


@pytest.mark.parametrize(
    ("names", "keys"), [(["evidence_fresh"], ["file:", "shown:"]), (["repair_noted"], ["section:"])]
)
def test_files_are_taken_down_only_where_one_must_be_fresh(world: World, names: list[str], keys: list[str]) -> None:
    world.machine = MACHINE.replace(gates={name: MACHINE.gates[name] for name in names})
    world.evidence("## Repairs\n\nfixed\n")
    assert [key.partition(":")[0] + ":" for key in evidence_hashes(world.seen())] == keys


def test_a_fact_carries_its_proof_and_its_fix(world: World) -> None:
    world.evidence("## Repairs\n\nfixed\n")
    fact = world.fact("repair_noted")
    assert fact.proof == evidence_hashes(world.seen())["section:EVIDENCE.md:Repairs"]
    assert fact.fix == MACHINE.gates["repair_noted"].fix


def test_only_the_gates_that_were_asked_for_are_judged(world: World) -> None:
    assert list(judge(world.seen(), ["candidate", "frame_known", "candidate"])) == ["candidate", "frame_known"]


# --- gates made of gates ---


def combined(world: World, check: str, *names: str) -> Fact:
    return world.gate(check, of=list(names))


def test_all_is_open_only_when_each_is(world: World) -> None:
    world.fields({"Candidate done": "yes", "Objective": "o", "Done gate": "d", "Not doing": "n"})
    assert combined(world, "all", "candidate", "fields_present").ok
    fact = combined(world, "all", "candidate", "frame_known", "frame_complete")
    assert not fact.ok
    assert '"Reality constraints:"' in fact.why


def test_what_several_gates_lack_alike_is_told_once(world: World) -> None:
    once = combined(world, "all", "candidate").why
    assert once
    assert combined(world, "all", "candidate", "candidate").why == once


def test_all_of_nothing_is_closed(world: World) -> None:
    assert not combined(world, "all").ok
    assert not combined(world, "not").ok


def test_not_is_open_when_something_failed(world: World) -> None:
    world.fields({"Candidate done": "no"})
    fact = combined(world, "not", "candidate")
    assert (fact.ok, fact.why) == (True, "")
    world.fields({"Candidate done": "yes"})
    fact = combined(world, "not", "candidate")
    assert (fact.ok, fact.why) == (False, say.holds_and_should_not(["candidate"]))


def test_what_was_not_run_proves_neither_itself_nor_its_opposite(world: World) -> None:
    world.fields({"Validation plan": "cmd: make", "Candidate done": "yes"})
    for check in ("all", "not"):
        fact = combined(world, check, "validation_passed", "candidate")
        assert (fact.ok, fact.pending) == (False, True), check
    world.receipt("make", 1)
    assert combined(world, "not", "validation_passed").ok
    assert not combined(world, "all", "validation_passed").ok
    world.receipt("make", 1, 0)
    assert not combined(world, "not", "validation_passed").ok
    assert combined(world, "all", "validation_passed").ok


def test_running_commands_is_offered_only_where_it_can_help(world: World) -> None:
    world.fields({"Validation plan": "cmd: make", "Candidate done": "no"})
    fact = combined(world, "all", "validation_passed", "candidate")
    assert (fact.ok, fact.pending) == (False, False)
    fact = combined(world, "not", "validation_passed", "candidate")
    assert not fact.ok, "the command might still fail or pass"
    assert fact.why == say.unknown_whether_fails([proof_words.not_run(["make"])]), "only what nobody knows"


def test_what_failed_is_told_before_what_was_not_run(world: World) -> None:
    world.fields({"Validation plan": "cmd: make", "Candidate done": "no"})
    alone = combined(world, "all", "candidate").why
    fact = combined(world, "all", "validation_passed", "candidate")
    assert fact.why == say.together([alone, proof_words.not_run(["make"])])
    assert [name for name, _, _ in fact.parts] == ["validation_passed", "candidate"], "parts keep the order of the file"


def test_all_fails_as_soon_as_one_part_does(world: World) -> None:
    world.fields({"Validation plan": "cmd: make", "Candidate done": "no"})
    gates = {
        "inner": Gate("inner", "all", {"of": ["validation_passed", "candidate"]}, "task"),
        "middle": Gate("middle", "not", {"of": ["inner"]}, "task"),
    }
    world.machine = MACHINE.replace(gates={**MACHINE.gates, **gates})
    assert world.fact("middle").ok, "no command is run to learn what is known already"
    world.fields({"Validation plan": "cmd: make", "Candidate done": "yes"})
    assert not world.fact("middle").ok
    assert world.fact("middle").pending


def test_what_can_not_be_read_does_not_prove_its_opposite(world: World) -> None:
    """Else an agent could open a "nothing is wrong" gate by spoiling the file that says what is."""
    world.evidence_file.write_bytes(b"## Failed checks\n\nlint\0\n")
    fact = combined(world, "not", "failures_named")
    assert not fact.ok
    assert code_of(fact.why) == "gates.unknown_whether_fails"
    world.evidence_file.unlink()
    assert combined(world, "not", "failures_named").ok


def test_what_can_not_be_read_comes_with_a_way_out(world: World) -> None:
    world.evidence_file.write_bytes(b"## Repairs\n\nfixed \xff\n")
    fact = world.fact("repair_noted")
    assert (fact.ok, fact.is_known, fact.fix) == (False, False, say.unreadable("", "").next_step)
    (world.folder / "plan.json").symlink_to("STATE.md")
    fact = world.gate("json_valid", file="plan.json", schema="global/planning")
    assert (fact.ok, fact.is_known, fact.fix) == (False, False, artifacts_words.put_json("plan.json"))


def test_doubts_are_passed_on_through_every_level(world: World) -> None:
    world.fields({"Validation plan": "cmd: make"})
    gates = {
        "inner": Gate("inner", "all", {"of": ["validation_passed"]}, "task"),
        "middle": Gate("middle", "not", {"of": ["inner"]}, "task"),
    }
    world.machine = MACHINE.replace(gates={**MACHINE.gates, **gates})
    assert not world.fact("middle").ok
    gates["outer"] = Gate("outer", "not", {"of": ["middle"]}, "task")
    world.machine = MACHINE.replace(gates={**MACHINE.gates, **gates})
    assert not world.fact("outer").ok, "twice denied, and still nobody has looked"


def test_gates_are_nested_five_deep_and_no_deeper(world: World) -> None:
    world.fields({"Candidate done": "yes"})
    inner = "candidate"
    gates = dict(MACHINE.gates)
    for level in range(1, 7):
        gates[f"level {level}"] = Gate(f"level {level}", "all", {"of": [inner]}, "task", "flatten it")
        inner = f"level {level}"
    world.machine = MACHINE.replace(gates=gates)
    assert world.fact("level 5").ok
    fact = world.fact("level 6")
    assert (fact.ok, fact.why, fact.fix) == (False, say.gates_too_deep(), "flatten it")


def test_gates_that_are_made_of_themselves_end(world: World) -> None:
    for check in ("all", "not"):
        gates = {"loop": Gate("loop", check, {"of": ["loop"]}, "task")}
        world.machine = MACHINE.replace(gates={**MACHINE.gates, **gates})
        assert not world.fact("loop").ok
