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
from tests.conftest import Detent


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
def test_a_value_the_check_does_not_know_is_told_with_those_it_knows(
    machine: str, gate: str, value: str, known: str
) -> None:
    assert problems(machine, gate, value=value) == (f"gate {gate}: value must be one of: {known}",)


def named(machine: str, check: str) -> str:
    gates: dict[str, Any] = document(machine)["gate"]
    return next(name for name, gate in gates.items() if gate["check"] == check)


@pytest.mark.parametrize(
    ("machine", "check", "params", "problem"),
    [
        ("ralf", "no_sibling_in", {"states": ["Runing", "Verifying"]}, "unknown state 'Runing'"),
        ("ralf", "agents_found", {"roles": ["implementor"]}, "unknown role 'implementor'"),
        ("ralf", "agents_exhausted", {"role": "implementor"}, "unknown role 'implementor'"),
        ("phase", "register_is", {"value": "passed"}, "Revalidation status can't be 'passed'; its values are "),
        ("phase", "register_is", {"register": "Revalidation"}, "unknown register 'Revalidation'"),
        ("phase", "register_is", {"unless": {"Repairs": "no"}}, "unknown register 'Repairs'"),
        ("phase", "register_is", {"unless": {"Repair applied": "none"}}, "Repair applied can't be 'none'; "),
        ("phase", "field_is", {"value": "done"}, "Candidate done can't be 'done'; its values are "),
        ("phase", "verdict", {"value": "PASSED"}, "its verdict can't be 'PASSED'; its values are PASS, FAIL"),
    ],
)
def test_what_a_gate_names_of_its_machine_is_there(
    machine: str, check: str, params: dict[str, object], problem: str
) -> None:
    gate = named(machine, check)
    (told,) = problems(machine, gate, **params)
    assert told.startswith(f"gate {gate}: {problem}")


def test_asked_and_excluded_signals_must_match() -> None:
    known = document("global")["gate"]["nothing_signalled"]["values"]
    found = problems("global", "nothing_signalled", values=[*known[:-1], "plan_unclaer"])
    assert found == (
        say.signal_not_asked("nothing_signalled", "plan_unclaer"),
        say.signal_unknown("nothing_signalled", "plan_unclear"),
    )


@pytest.mark.parametrize("given", [7, 1.5, True, {"a": 1}, [["none"]], [{"a": 1}, "none"]])
@pytest.mark.parametrize(
    ("machine", "check", "key"),
    [
        ("global", "signal_is", "values"),
        ("global", "no_signal", "values"),
        ("phase", "register_is", "register"),
        ("orange", "verdict", "words"),
    ],
)
def test_a_parameter_of_another_kind_is_told_as_that(machine: str, check: str, key: str, given: object) -> None:
    gate = named(machine, check)
    assert any(told.startswith(f"gate {gate}: {key} must be") for told in problems(machine, gate, **{key: given}))


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
        *(f"gate {name}: it is made of itself" for name in ("loop", "here", "there")),
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
    assert "gate drift_repaired: value must be one of: CLEAN, REPAIRED, BLOCKED" in done.out + done.err
