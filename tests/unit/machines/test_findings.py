"""What follows from an explored machine: each rule with its words and its shortest story."""

from __future__ import annotations

import pytest

from detent.core.explore import Violation, explore
from detent.errors import MachineError
from detent.machines.findings import findings
from detent.runner.step.registry import meanings
from detent.words.machines import explore as explore_words
from detent.words.machines import findings as findings_words
from detent.words.machines import parse as parse_words
from tests.machines.seeded import SEEDS, Seed, add, put, table


def found(name: str) -> list[Violation]:
    """What is found in the seed of this name, of its own kind."""
    (seed,) = [seed for seed in SEEDS if seed.name == name]
    machine = seed.machine()
    return [finding for finding in findings(machine, explore(machine), meanings()) if finding.kind == seed.kind]


STORIES = {
    "engine goes round by a third state": Violation(
        findings_words.round_sign_off("side", "read", "slip", "reading-to-read"),
        (
            explore_words.start("writing"),
            explore_words.move_made(
                "agent", "writing", "reading", "writing-to-reading", ("written",), "", said_no=False
            ),
            explore_words.move_made("agent", "reading", "side", "aside", ("written",), "", said_no=False),
            explore_words.move_made("engine", "side", "read", "slip", ("written",), "", said_no=False),
        ),
        "sign-off",
        "slip",
    ),
    "agent ends it by way of the engine": Violation(
        findings_words.ungated_end("work", "closing", "close"),
        (
            explore_words.start("work"),
            explore_words.move_made("agent", "work", "closing", "close", (), "", said_no=False),
            explore_words.move_made("engine", "closing", "given-up", "shut", (), "", said_no=False),
        ),
        "ungated-end",
        "close",
    ),
    "two engine states for ever": Violation(
        findings_words.engine_loop(["here", "there"]),
        (
            explore_words.start("work"),
            explore_words.move_made("agent", "work", "here", "ask", ("seen",), "", said_no=False),
            explore_words.move_made("engine", "here", "there", "to", (), "", said_no=False),
            explore_words.move_made("engine", "there", "here", "fro", (), "", said_no=False),
            findings_words.and_so_on(),
        ),
        "engine-loop",
        "to",
    ),
    "a gate and its negation": Violation(
        findings_words.never_open_together("work", "over", "finish", 0, ("lasting", "lasting_not")),
        (explore_words.start("work"),),
        "contradiction",
    ),
    "rounds that are forgotten on the way back": Violation(
        findings_words.limit_bounds_nothing("show", "rounds"),
        (
            explore_words.start("work"),
            explore_words.move_made("agent", "work", "look", "show", ("seen",), "", said_no=False),
            explore_words.move_made("engine", "look", "back", "pass-on", ("lasting_not",), "finished", said_no=False),
            explore_words.move_made("engine", "back", "work", "again", (), "", said_no=False),
            findings_words.and_so_on(),
        ),
        "limit",
        "show",
    ),
    "the same gate twice": Violation(
        findings_words.hidden_by_earlier("work", "engine", "later", 0, "sooner"),
        (explore_words.start("work"),),
        "hidden",
        "later",
    ),
    "an engine that only people help": Violation(
        findings_words.engine_without_move("shown", "slow"),
        (
            explore_words.start("work"),
            explore_words.move_made("agent", "work", "shown", "begin-slowly", ("seen",), "", said_no=False),
        ),
        "waits",
        "shown",
    ),
    "work lands that nothing judged": Violation(
        findings_words.delivers_unproven("finish"),
        (
            explore_words.start("work"),
            explore_words.move_made("agent", "work", "over", "finish", ("lasting", "seen"), "", said_no=False),
        ),
        "unproven",
        "finish",
    ),
    "a property about a move that is never made": Violation(
        findings_words.property_move_never_taken("nothing resumes unreviewed", "ResumeToVerify"), (), "vacuous"
    ),
}


@pytest.mark.parametrize("name", STORIES)
def test_finding_comes_with_its_shortest_story(name: str) -> None:
    assert found(name) == [STORIES[name]]


def test_reconcile_that_is_skipped_is_told_move_by_move() -> None:
    (finding,) = [finding for finding in found("lights-out: verify without reconcile") if "reconciled" in finding.rule]
    assert finding.rule == (
        explore_words.property_broken(
            "nothing is verified that was not reconciled", "PassVerifyGate", ("ReconcileClean", "ReconcileRepaired")
        )
    )
    assert finding.story[-2:] == (
        explore_words.move_made(
            "engine", "ReviewGatePassed", "Verifying", "AutoContinueToReconcile", (), "", said_no=False
        ),
        explore_words.last_move("engine", "Verifying", "VerifyGatePassed", "PassVerifyGate"),
    )


def test_story_of_a_contradiction_leads_to_its_state() -> None:
    (finding,) = found("orange: PASS and FAIL at once")
    assert finding.story[-1] == explore_words.move_made(
        "agent", "working", "agent-review", "working-to-agent-review", ("handoff",), "", said_no=False
    )


def test_limit_of_runs_that_die_names_the_state() -> None:
    (finding,) = found("orange: a reviewer that dies again and again")
    assert finding.rule == (findings_words.deaths_unbounded("agent-review", "crash_count"))
    assert finding.story[-2:] == (explore_words.run_ended("agent-review", "failed"), findings_words.and_so_on())


def test_finding_that_is_meant_is_left_out_and_others_stay() -> None:
    def rules(*changes: object) -> list[str]:
        seed = Seed("x", "job", "", False, changes)  # type: ignore[arg-type]  # changes of a document
        machine = seed.machine()
        return [finding.rule for finding in findings(machine, explore(machine), meanings())]

    both = (
        add("work", "given-up", "give-up", by=["agent"]),
        add("work", "over", "boast", by=["agent"]),
    )
    meant = table("exception/ungated-end", **{"give-up": "an agent may stop at any time"})
    assert rules(*both) == [
        findings_words.ungated_end("work", "given-up", "give-up"),
        findings_words.ungated_end("work", "over", "boast"),
    ]
    assert rules(*both, meant) == [findings_words.ungated_end("work", "over", "boast")]
    assert rules(both[0], meant, put("finish", needs=["seen"])) == []


@pytest.mark.parametrize(
    ("exception", "problem"),
    [
        (
            {"contradiction": {"finish": "why not"}},
            parse_words.unknown("exception", "kind of finding", "contradiction"),
        ),
        ({"hidden": {"moon": "why not"}}, parse_words.unknown("exception hidden", "move", "moon")),
        ({"hidden": {"finish": ""}}, parse_words.key_must_be("exception hidden", "finish", "a text")),
        ({"hidden": "finish"}, parse_words.must_be_table("exception hidden")),
        ("finish", parse_words.key_must_be("", "exception", "written as [exception.NAME]")),
    ],
)
def test_exception_names_a_kind_a_move_and_a_reason(exception: object, problem: str) -> None:
    seed = Seed("x", "job", "", False, (lambda document: document.update(exception=exception),))
    with pytest.raises(MachineError) as caught:
        seed.machine()
    assert problem in caught.value.problems


def test_exception_for_move_that_is_switched_off_is_no_mistake() -> None:
    changes = (
        add("work", "given-up", "give-up", by=["agent"], option="may-stop"),
        table("exception/ungated-end", **{"give-up": "an agent may stop at any time"}),
    )
    machine = Seed("x", "job", "", False, changes).machine()
    assert findings(machine, explore(machine), meanings()) == ()


def test_machine_that_is_too_large_is_told_as_such_alone() -> None:
    (seed,) = [seed for seed in SEEDS if seed.name == "agent says it is over"]
    machine = seed.machine()
    assert [finding.kind for finding in findings(machine, explore(machine, most=1), meanings())] == ["size"]
