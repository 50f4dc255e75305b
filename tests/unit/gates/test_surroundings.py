"""The surroundings of a task: without a scan nothing is proven, and the engine's own observations are never old."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from detent.gates.seen import AgentSeen, CheckoutSeen, Sibling
from detent.words import surroundings as say
from detent.words.gates import together
from tests.unit.gates.around import SPEC, Around, SpecWorld

CLEAN, OWN = CheckoutSeen("main", "ralf/x"), CheckoutSeen("ralf/x", "ralf/x", ("a.py",))
FAILED, COOLING = AgentSeen("codex", failed="timeout"), AgentSeen("pi", until="2030-01-01T00:00:00Z")
ABSENT = AgentSeen("claude", is_installed=False)
GATES: Mapping[str, Mapping[str, Any]] = {
    "git_clean": {},
    "baseline_known": {},
    "agents_found": {"roles": ["implementer"], "programs": ["git"]},
    "agents_exhausted": {"role": "implementer"},
    "no_sibling_in": {"states": ["verify"]},
    "file_unchanged": {"file": "spec/v2.md"},
    "person_says": {"word": "skip-assess"},
}


@pytest.fixture
def around(tmp_path: Path) -> SpecWorld:
    return SpecWorld(tmp_path)


def is_fresh_and_nobodys(world: SpecWorld, check: str) -> str:
    """The proof of an open gate that asks for new evidence; it is not written by hand."""
    fact = world.gate(check, since="entry", **GATES[check])
    assert (fact.ok, fact.why, fact.by_hand) == (True, "", False)
    return fact.proof


# --- the checkout ---


@pytest.mark.parametrize(("checkout", "proof"), [(CLEAN, "clean"), (OWN, "ralf/x")])
def test_clean_checkout_and_branch_of_its_own_are_engines_proof(
    around: SpecWorld, checkout: CheckoutSeen, proof: str
) -> None:
    around.around = Around(checkout=checkout)
    assert is_fresh_and_nobodys(around, "git_clean") == proof


@pytest.mark.parametrize(
    ("checkout", "why"),
    [
        (CheckoutSeen("main", "", tuple("abcde")), say.not_committed(("a", "b", "c", "d", "e"))),
        (CheckoutSeen("main", "", tuple("abcdef")), say.not_committed(("a", "b", "c", "d", "e", "f"))),
        # Two that are empty are not the same branch.
        (CheckoutSeen("", "", ("a",)), say.not_committed(("a",))),
        (CheckoutSeen("ralf/x", "ralf/x", (), "unborn"), "unborn"),
    ],
)
def test_what_is_not_committed_is_told(around: SpecWorld, checkout: CheckoutSeen, why: str) -> None:
    around.around = Around(checkout=checkout)
    fact = around.gate("git_clean")
    assert (fact.ok, fact.why, fact.fix) == (False, why, "do it")


def test_a_reader_without_a_scan_suggests_the_move(around: SpecWorld) -> None:
    fact = around.gate("git_clean")
    assert (fact.ok, fact.why) == (False, say.checkout_not_looked_at())
    assert fact.fix == say.checkout_not_looked_at().next_step


def test_the_commit_the_work_began_on_is_the_proof(around: SpecWorld) -> None:
    fact = around.gate("baseline_known")
    assert (fact.ok, fact.why) == (False, say.baseline_unknown())
    around.captured = {"commit_sha": "a" * 40}
    assert is_fresh_and_nobodys(around, "baseline_known") == "a" * 40


# --- the agents ---


def test_an_installed_agent_and_its_programs_are_found(around: SpecWorld) -> None:
    around.around = Around(agents=(AgentSeen("codex", is_installed=False), AgentSeen("pi")))
    assert is_fresh_and_nobodys(around, "agents_found") == ""
    assert around.gate("agents_found", roles=["implementer"]).ok, "no program need be named"
    fact = around.gate("agents_found", roles=["implementer"], programs=["git", "jq", "rg"])
    assert fact.why == together([say.not_on_path("jq"), say.not_on_path("rg")])
    around.around = Around(agents=(AgentSeen("codex", is_installed=False), AgentSeen("pi", is_installed=False)))
    fact = around.gate("agents_found", **GATES["agents_found"])
    assert (fact.ok, fact.why) == (False, say.no_agent_installed("implementer", ["codex", "pi"]))


def test_exhausted_agents_are_told_with_their_reasons(around: SpecWorld) -> None:
    proofs = set()
    second = AgentSeen("claude", failed="timeout")
    for agents in ((FAILED, second), (FAILED, second, ABSENT), (ABSENT, ABSENT)):
        around.around = Around(agents=agents)
        proofs.add(is_fresh_and_nobodys(around, "agents_exhausted"))
    assert len(proofs) == 3
    assert "" not in proofs


@pytest.mark.parametrize(
    ("agents", "why"),
    [
        ((AgentSeen("pi"), FAILED, AgentSeen("claude")), say.agents_left(["pi", "claude"])),
        ((), say.no_agent_named("implementer")),
        ((FAILED,), say.only_agent("codex")),
        ((FAILED, ABSENT), say.only_agent("codex")),
        ((COOLING,), say.agents_out([("pi", say.out_of_quota("2030-01-01T00:00:00Z"))])),
        ((FAILED, COOLING), say.agents_out([("pi", say.out_of_quota("2030-01-01T00:00:00Z"))])),
    ],
)
def test_untried_agents_are_named(around: SpecWorld, agents: tuple[AgentSeen, ...], why: str) -> None:
    around.around = Around(agents=agents)
    fact = around.gate("agents_exhausted", role="implementer")
    assert (fact.ok, fact.why) == (False, why)


# --- other tasks ---


def test_siblings_count_only_in_named_states_of_this_machine(around: SpecWorld) -> None:
    around.around = Around(siblings=(Sibling("b", "phase", "implement"), Sibling("c", "other", "verify")))
    assert is_fresh_and_nobodys(around, "no_sibling_in") == ""
    around.around = Around(siblings=tuple(Sibling(name, "phase", "verify") for name in "bcdefgh"))
    fact = around.gate("no_sibling_in", **GATES["no_sibling_in"])
    assert (fact.ok, fact.why) == (False, "; ".join(f"{name} is in verify" for name in "bcdef"))


# --- files and words ---


def test_a_file_that_should_not_change_is_not_too_old(around: SpecWorld) -> None:
    around.gate("file_unchanged", since="entry", **GATES["file_unchanged"])
    around.enter()
    assert is_fresh_and_nobodys(around, "file_unchanged")
    for text in (SPEC + "more\n", ""):
        around.write("spec/v2.md", text)
        fact = around.gate("file_unchanged", since="entry", **GATES["file_unchanged"])
        assert (fact.ok, fact.why) == (False, say.file_changed("spec/v2.md", "verify"))


def test_a_word_that_was_said_is_the_proof(around: SpecWorld) -> None:
    around.words = ("another", "skip-assess")
    assert is_fresh_and_nobodys(around, "person_says") == "skip-assess"


# --- without a scan ---


@pytest.mark.parametrize("check", ["agents_found", "agents_exhausted", "no_sibling_in"])
def test_without_a_look_around_the_gate_says_so(around: SpecWorld, check: str) -> None:
    around.around = None
    fact = around.gate(check, **GATES[check])
    assert (fact.ok, fact.why) == (False, say.not_looked())
