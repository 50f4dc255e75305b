"""What follows from an explored machine: each rule with its words and its shortest story."""

from __future__ import annotations

import pytest

from detent.core.explore import Violation, explore
from detent.errors import MachineError
from detent.machines.findings import findings
from detent.runner.step.registry import meanings
from tests.machines.seeded import SEEDS, Seed, add, put, table


def found(name: str) -> list[Violation]:
    """What is found in the seed of this name, of its own kind."""
    (seed,) = [one for one in SEEDS if one.name == name]
    machine = seed.machine()
    return [one for one in findings(machine, explore(machine), meanings()) if one.kind == seed.kind]


STORIES = {
    "engine goes round by a third state": Violation(
        "side -> read: slip goes round the sign-off reading-to-read",
        (
            "start in writing",
            "agent: writing -> reading (writing-to-reading) with written",
            "agent: reading -> side (aside) with written",
            "engine: side -> read (slip) with written",
        ),
        "sign-off",
        "slip",
    ),
    "agent ends it by way of the engine": Violation(
        "work -> closing: by close an agent ends the task, and no gate is asked",
        ("start in work", "agent: work -> closing (close)", "engine: closing -> given-up (shut)"),
        "ungated-end",
        "close",
    ),
    "two engine states for ever": Violation(
        "the engine alone goes round for ever: here, there",
        (
            "start in work",
            "agent: work -> here (ask) with seen",
            "engine: here -> there (to)",
            "engine: there -> here (fro)",
            "and so on, for ever",
        ),
        "engine-loop",
        "to",
    ),
    "a gate and its negation": Violation(
        "work -> over: finish needs lasting and lasting_not, which are never open together",
        ("start in work",),
        "contradiction",
    ),
    "rounds that are forgotten on the way back": Violation(
        "show counts towards rounds, and the loop goes on without end: rounds bounds nothing",
        (
            "start in work",
            "agent: work -> look (show) with seen",
            "after a run that ended as finished, engine: look -> back (pass-on) with lasting_not",
            "engine: back -> work (again)",
            "and so on, for ever",
        ),
        "limit",
        "show",
    ),
    "the same gate twice": Violation(
        "work: the engine never takes later: sooner is open before it", ("start in work",), "hidden", "later"
    ),
    "an engine that only people help": Violation(
        "shown: the engine must act in mode slow, but has no move of its own",
        ("start in work", "agent: work -> shown (begin-slowly) with seen"),
        "waits",
        "shown",
    ),
    "work lands that nothing judged": Violation(
        "finish delivers files that nothing has judged",
        ("start in work", "agent: work -> over (finish) with lasting, seen"),
        "unproven",
        "finish",
    ),
    "a property about a move that is never made": Violation(
        "property nothing resumes unreviewed: ResumeToVerify is never taken, so it says nothing", (), "vacuous"
    ),
}


@pytest.mark.parametrize("name", STORIES)
def test_finding_comes_with_its_shortest_story(name: str) -> None:
    assert found(name) == [STORIES[name]]


def test_reconcile_that_is_skipped_is_told_move_by_move() -> None:
    (one,) = [one for one in found("lights-out: verify without reconcile") if "reconciled" in one.rule]
    assert one.rule == (
        "nothing is verified that was not reconciled: PassVerifyGate without ReconcileClean or ReconcileRepaired"
    )
    assert one.story[-2:] == (
        "engine: ReviewGatePassed -> Verifying (AutoContinueToReconcile)",
        "engine: Verifying -> VerifyGatePassed (PassVerifyGate)",
    )


def test_story_of_a_contradiction_leads_to_its_state() -> None:
    (one,) = found("orange: PASS and FAIL at once")
    assert one.story[-1] == "agent: working -> agent-review (working-to-agent-review) with handoff"


def test_limit_of_runs_that_die_names_the_state() -> None:
    (one,) = found("orange: a reviewer that dies again and again")
    assert one.rule == (
        "runs that die in agent-review again and again are never stopped: no move asks for crash_count there"
    )
    assert one.story[-2:] == ("in agent-review a run ends as failed", "and so on, for ever")


def test_finding_that_is_meant_is_left_out_and_the_others_stay() -> None:
    def rules(*changes: object) -> list[str]:
        seed = Seed("x", "job", "", False, changes)  # type: ignore[arg-type]  # changes of a document
        machine = seed.machine()
        return [one.rule for one in findings(machine, explore(machine), meanings())]

    both = (
        add("work", "given-up", "give-up", by=["agent"]),
        add("work", "over", "boast", by=["agent"]),
    )
    meant = table("exception/ungated-end", **{"give-up": "an agent may stop at any time"})
    assert rules(*both) == [
        "work -> given-up: by give-up an agent ends the task, and no gate is asked",
        "work -> over: by boast an agent ends the task, and no gate is asked",
    ]
    assert rules(*both, meant) == ["work -> over: by boast an agent ends the task, and no gate is asked"]
    assert rules(both[0], meant, put("finish", needs=["seen"])) == []


@pytest.mark.parametrize(
    ("exception", "problem"),
    [
        ({"contradiction": {"finish": "why not"}}, "exception: unknown kind of finding 'contradiction'"),
        ({"hidden": {"moon": "why not"}}, "exception hidden: unknown move 'moon'"),
        ({"hidden": {"finish": ""}}, "exception hidden: finish must be a text"),
        ({"hidden": "finish"}, "exception hidden: must be a table"),
        ("finish", "exception must be written as [exception.NAME]"),
    ],
)
def test_exception_names_a_kind_a_move_and_a_reason(exception: object, problem: str) -> None:
    seed = Seed("x", "job", "", False, (lambda document: document.update(exception=exception),))
    with pytest.raises(MachineError) as told:
        seed.machine()
    assert problem in told.value.problems


def test_exception_for_a_move_that_is_switched_off_is_no_mistake() -> None:
    changes = (
        add("work", "given-up", "give-up", by=["agent"], option="may-stop"),
        table("exception/ungated-end", **{"give-up": "an agent may stop at any time"}),
    )
    machine = Seed("x", "job", "", False, changes).machine()
    assert findings(machine, explore(machine), meanings()) == ()


def test_machine_that_is_too_large_is_told_as_such_alone() -> None:
    (seed,) = [one for one in SEEDS if one.name == "agent says it is over"]
    machine = seed.machine()
    assert [one.kind for one in findings(machine, explore(machine, most=1), meanings())] == ["size"]
