"""Tests of what gates may name: one misspelt word in a machine file is told when the file is read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from detent.errors import MachineError
from detent.gates.registry import checks
from detent.machines.load import read_document
from detent.machines.parse import parse
from detent.machines.reading import ONE_OF
from detent.packs.global_ import planned, reviews
from detent.packs.lights_out.checks import delivery, reports, verification
from detent.packs.ralf import criteria
from detent.runner.make.vocabulary import vocabulary
from detent.words.machines import parse as say
from detent.words.message import code_of
from tests.conftest import Detent
from tests.messages import message_of


def document(machine: str) -> dict[str, Any]:
    return read_document(machine)[0]


def problems(machine: str, gate: str, **params: object) -> tuple[str, ...]:
    found = document(machine)
    found["gate"][gate].update(params)
    with pytest.raises(MachineError) as caught:
        parse(found, vocabulary())
    return caught.value.problems


CHOICES = [
    ("lights-out", "review_clean", "none opened", "none open, some open"),
    ("lights-out", "drift_none", "clean", "CLEAN, REPAIRED, BLOCKED"),
    ("lights-out", "verified_not", "FAILED", "PASS, FAIL"),
    ("lights-out", "architecture_stays", "minor", "none, changes"),
    ("ralf", "criteria_met", "all passed", "all pass, some fail"),
    ("global", "in_scope", "within", "inside, outside"),
    ("global", "plan_ok", "fine", "ok, needs_changes, blocked"),
    ("global", "review_clear", "blocked", "ok, needs_changes, plan"),
    ("global", "decision_revert", "regression", "accepted, needs_changes, unclear, upstream, revert"),
]


@pytest.mark.parametrize(("machine", "gate", "value", "known"), CHOICES)
def test_unknown_value_of_a_check_names_the_known_ones(machine: str, gate: str, value: str, known: str) -> None:
    assert problems(machine, gate, value=value) == (say.parameter_must_be(gate, "value", f"one of: {known}"),)


def named(machine: str, check: str) -> str:
    gates: dict[str, Any] = document(machine)["gate"]
    return next(name for name, gate in gates.items() if gate["check"] == check)


@pytest.mark.parametrize(
    ("machine", "check", "params", "kind", "name"),
    [
        ("ralf", "no_sibling_in", {"states": ["Runing", "Verifying"]}, "state", "Runing"),
        ("ralf", "agents_found", {"roles": ["implementor"]}, "role", "implementor"),
        ("ralf", "agents_exhausted", {"role": "implementor"}, "role", "implementor"),
        ("phase", "register_is", {"register": "Revalidation"}, "register", "Revalidation"),
        ("phase", "register_is", {"unless": {"Repairs": "no"}}, "register", "Repairs"),
    ],
)
def test_what_a_gate_names_of_its_machine_is_there(
    machine: str, check: str, params: dict[str, object], kind: str, name: str
) -> None:
    gate = named(machine, check)
    assert problems(machine, gate, **params) == (say.unknown(f"gate {gate}", kind, name),)


@pytest.mark.parametrize(
    ("check", "params", "register", "value", "known"),
    [
        ("register_is", {"value": "passed"}, "Revalidation status", "passed", ("pending", "pass", "fail")),
        ("register_is", {"unless": {"Repair applied": "none"}}, "Repair applied", "none", ("yes", "no")),
        ("field_is", {"value": "done"}, "Candidate done", "done", ("yes", "no")),
    ],
)
def test_value_that_gate_asks_for_is_one_of_its_register(
    check: str, params: dict[str, object], register: str, value: str, known: tuple[str, ...]
) -> None:
    gate = named("phase", check)
    assert problems("phase", gate, **params) == (say.value_not_allowed(f"gate {gate}", register, value, known),)


def test_verdict_that_gate_asks_for_is_one_of_its_words() -> None:
    gate = named("phase", "verdict")
    assert problems("phase", gate, value="PASSED") == (say.gate_verdict(gate, "PASSED", ("PASS", "FAIL")),)


def test_asked_and_excluded_signals_must_match() -> None:
    known = document("global")["gate"]["nothing_signalled"]["values"]
    found = problems("global", "nothing_signalled", values=[*known[:-1], "plan_unclaer"])
    assert found == (
        say.signal_not_asked("nothing_signalled", "plan_unclaer"),
        say.signal_unknown("nothing_signalled", "plan_unclear"),
    )


WRONG_KIND = "parse.parameter_must_be"


@pytest.mark.parametrize("value", [7, 1.5, True, {"a": 1}, [["none"]], [{"a": 1}, "none"]])
@pytest.mark.parametrize(
    ("machine", "check", "key"),
    [
        ("global", "signal_is", "values"),
        ("global", "no_signal", "values"),
        ("phase", "register_is", "register"),
        ("orange", "verdict", "words"),
    ],
)
def test_a_parameter_of_another_kind_is_told_as_that(machine: str, check: str, key: str, value: object) -> None:
    gate = named(machine, check)
    refusals = [problem for problem in problems(machine, gate, **{key: value}) if code_of(problem) == WRONG_KIND]
    assert {(message_of(problem).values["gate"], message_of(problem).values["key"]) for problem in refusals} == {
        (gate, key)
    }


def test_gates_that_would_never_open_are_told() -> None:
    found = document("phase")
    inner = "candidate"
    for level in range(1, 7):
        found["gate"][f"level{level}"] = {"check": "all", "of": [inner]}
        inner = f"level{level}"
        if level == 5:
            parse(found, vocabulary())
    found["gate"] |= {"loop": {"check": "not", "of": ["loop"]}}
    found["gate"] |= {"here": {"check": "not", "of": ["there"]}, "there": {"check": "all", "of": ["here"]}}
    with pytest.raises(MachineError) as caught:
        parse(found, vocabulary())
    assert caught.value.problems == (
        say.gates_too_deep("level6", 5),
        *(say.gate_of_itself(name) for name in ("loop", "here", "there")),
    )


def test_the_values_are_those_the_checks_compare_with() -> None:
    kinds = {name: {**check.required, **check.optional}.get("value", "") for name, check in checks().items()}
    listed = {
        name: tuple(kind.removeprefix(ONE_OF).split(", ")) for name, kind in kinds.items() if kind.startswith(ONE_OF)
    }
    assert {
        "findings": (reports.NONE_OPEN, reports.SOME_OPEN),
        "drift": reports.OUTCOMES,
        "verification_doc": (verification.PASS, verification.FAIL),
        "architecture": tuple(dict.fromkeys(delivery.IMPACTS.values())),
        "criteria": (criteria.ALL_PASS, criteria.SOME_FAIL),
        "scope": (planned.INSIDE, planned.OUTSIDE),
        "plan_review": (reviews.OK, reviews.NEEDS_CHANGES, reviews.BLOCKED),
        "code_review": (reviews.OK, reviews.NEEDS_CHANGES, reviews.PLAN),
        "decision": tuple(reviews.DECISIONS),
    } == listed


def test_the_command_tells_all_of_a_file_at_once(detent: Detent, tmp_path: Path) -> None:
    text = Path(read_document("lights-out")[1]).read_text(encoding="utf-8")
    path = tmp_path / "machine.toml"
    path.write_text(text.replace('"none open"', '"nothing open"').replace('"REPAIRED"', '"MENDED"'), encoding="utf-8")
    done = detent("machine", "check", path)
    assert done.code != 0
    assert say.parameter_must_be("review_clean", "value", "one of: none open, some open") in done.out + done.err
    outcome = say.parameter_must_be("drift_repaired", "value", "one of: CLEAN, REPAIRED, BLOCKED")
    assert outcome in done.out + done.err
