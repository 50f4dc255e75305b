"""A machine that may deliver files which no gate has judged is refused, with the shortest story."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from detent.core.explore import explore
from detent.core.machine import Machine
from detent.errors import MachineError
from detent.machines.chart import Chart
from detent.machines.load import built_in_names, load, read_document
from detent.machines.parse import parse
from detent.machines.trees import unjudged
from detent.runner.make.vocabulary import vocabulary
from detent.runner.step.registry import meanings
from detent.verify.check import check_machine
from detent.words.machines import explore as explore_words
from detent.words.machines import findings as findings_words
from detent.words.machines import parse as say

Change = Callable[[dict[str, Any]], None]


def edge(document: dict[str, Any], name: str) -> dict[str, Any]:
    found: dict[str, Any] = next(row for row in document["edge"] if row.get("name") == name)
    return found


def changed(name: str, *changes: Change) -> Machine:
    """A built-in machine with something taken out."""
    document = tomllib.loads(Path(read_document(name)[1]).read_text(encoding="utf-8"))
    for change in changes:
        change(document)
    return parse(document, vocabulary(), where="changed.toml")


def rules(machine: Machine) -> list[str]:
    return [violation.rule for violation in unjudged(Chart(machine, explore(machine)), meanings())]


def undeclared(document: dict[str, Any]) -> None:
    """Without what the machine itself declares about trees: the built-in property is left."""
    for rule in document["property"]:
        rule.pop("tree", None)


@pytest.mark.parametrize("name", built_in_names())
def test_built_in_machines_deliver_only_what_was_judged(name: str) -> None:
    machine = load(name, vocabulary())[0]
    assert unjudged(Chart(machine, explore(machine)), meanings()) == ()
    assert check_machine(name).is_sound


def delivery_alone(document: dict[str, Any]) -> None:
    edge(document, "PassDeployGate")["needs"] = ["delivery_ok", "deployed"]


def test_deploy_gate_that_asks_for_the_documents_alone_is_refused() -> None:
    machine = changed("lights-out", delivery_alone, undeclared)
    found = unjudged(Chart(machine, explore(machine)), meanings())
    assert findings_words.delivers_unjudged("PassDeployGate", "verified") in [violation.rule for violation in found]
    assert findings_words.delivers_unjudged("PassDeployGate", "secrets_none") in [violation.rule for violation in found]
    story = next(violation.story for violation in found if "verified" in violation.rule)
    assert story[0] == explore_words.start("Ideating")
    assert "PassVerifyGate" in story[-4]
    assert findings_words.agent_changes_files("Deploying") in story
    assert "PassDeployGate" in story[-1]


def test_deployment_without_any_gate_about_it_is_refused_too() -> None:
    def without(document: dict[str, Any]) -> None:
        edge(document, "PassDeployGate")["needs"] = ["delivery_ok"]

    found = rules(changed("lights-out", without, undeclared))
    assert findings_words.delivers_unjudged("PassDeployGate", "verified") in found


def test_review_gate_that_asks_for_commands_alone_is_refused() -> None:
    def without(document: dict[str, Any]) -> None:
        edge(document, "PassReviewGate")["needs"] = ["review_clean", "commands_ok"]

    found = rules(changed("lights-out", without))
    wanted = findings_words.not_asked_again("nothing is reviewed that was not built", "PassReviewGate", "secrets_none")
    assert wanted in found
    assert not any("commands_ok" in rule for rule in found)


def test_verify_gate_that_skips_the_build_is_refused() -> None:
    def without(document: dict[str, Any]) -> None:
        edge(document, "PassVerifyGate")["needs"] = ["verified"]

    found = rules(changed("lights-out", without))
    rule = "nothing is verified that was not reviewed"
    assert findings_words.not_asked_again(rule, "PassVerifyGate", "commands_ok") in found


def test_deployment_that_is_not_bound_to_verified_tree_is_refused() -> None:
    def without(document: dict[str, Any]) -> None:
        edge(document, "PassDeployGate")["needs"] = ["delivery_ok", "build_ok", "deployed"]

    found = rules(changed("lights-out", without, undeclared))
    assert set(found) == {
        findings_words.delivers_unjudged("PassDeployGate", gate)
        for gate in ("verified", "repeated", "review_clean", "drift_repaired")
    }, "what VERIFY judges again is not judged by it any more"


def test_commit_of_a_tree_without_criteria_is_refused() -> None:
    def without(document: dict[str, Any]) -> None:
        for row in document["edge"]:
            if row["from"] == "PendingReview" and row["to"] == "Approved":
                del row["needs"]
        del document["gate"]["signed_as_is"]

    machine = changed("ralf", without)
    found = unjudged(Chart(machine, explore(machine)), meanings())
    rules_broken = [violation.rule for violation in found]
    assert rules_broken == [findings_words.delivers_unjudged("human-commits", "criteria_kept")]
    assert any("files" in line for line in found[0].story)


def test_sign_off_blind_to_changes_since_the_review_is_refused() -> None:
    def orange(document: dict[str, Any]) -> None:
        for row in document["edge"]:
            if row["from"] == "reviewing" and row["to"] == "done":
                del row["needs"]
        del document["gate"]["signed_as_is"], document["gate"]["as_reviewed"]

    assert rules(changed("orange", orange)) == [findings_words.delivers_unjudged("reviewing-to-done", "review_passed")]


def test_landing_without_the_tests_of_the_landed_files_is_refused() -> None:
    def phase(document: dict[str, Any]) -> None:
        edge(document, "review_to_done")["needs"].remove("validation_passed")

    found = rules(changed("phase", phase))
    assert found == [findings_words.delivers_unjudged("review_to_done", "validation_passed")]
    story = next(iter(unjudged(Chart(changed("phase", phase), explore(changed("phase", phase))), meanings()))).story
    assert findings_words.edited_by_hand("review") in story


def test_override_and_revert_are_the_exceptions() -> None:
    """`global` waives a gate by a person's override, and a revert delivers the tree it went back to."""
    machine = load("global", vocabulary())[0]
    assert unjudged(Chart(machine, explore(machine)), meanings()) == ()


def test_property_about_trees_must_be_a_flag() -> None:
    def wrong(document: dict[str, Any]) -> None:
        document["property"][0]["tree"] = "yes"

    with pytest.raises(MachineError) as found:
        changed("lights-out", wrong)
    assert found.value.problems[0] == say.key_must_be("property 1", "tree", "true or false")
