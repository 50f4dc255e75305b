"""Tests of the checks about a specification: it can be worked from, its promise was made, its criteria hold."""

from __future__ import annotations

from pathlib import Path

import pytest

from detent.core.machine import Gate
from detent.gates.commands import runs_of
from detent.gates.judge import evidence_hashes, judge
from detent.gates.registry import checks
from detent.gates.seen import AgentSeen, CheckoutSeen, Said, Sibling
from detent.packs.ralf import words as ralf_words
from detent.packs.ralf.criteria import ALL_PASS, SOME_FAIL, is_to_be_judged
from detent.store.journal.memory import Report
from detent.store.journal.observed import Command
from detent.store.journal.receipts import SETUP_FAILED
from detent.view import view_of
from detent.words import proof as proof_words
from detent.words import surroundings as say
from detent.words.gates import together
from detent.words.message import code_of
from tests.unit.gates.around import PARAMS, SPEC, Around, SpecWorld
from tests.unit.gates.world import MACHINE


@pytest.fixture
def spec_world(tmp_path: Path) -> SpecWorld:
    return SpecWorld(tmp_path)


def test_a_spec_that_can_be_worked_from(spec_world: SpecWorld) -> None:
    assert spec_world.gate("spec", file="spec/v2.md").ok
    assert spec_world.gate("spec", file="spec/v{Finalized}.md").ok
    fact = spec_world.gate("spec", file="spec/draft.md")
    assert (fact.ok, fact.why) == (False, ralf_words.no_spec("spec/draft.md"))
    spec_world.write("spec/draft.md", "# nothing\n")
    fact = spec_world.gate("spec", file="spec/draft.md")
    assert not fact.ok
    assert code_of(fact.why) == "ralf.spec_problems"
    assert fact.why == ralf_words.spec_problems(
        "spec/draft.md",
        (
            ralf_words.no_promise_line("Promise: <promise>TEXT</promise>"),
            ralf_words.no_section("Criteria", "Acceptance Criteria"),
        ),
    )
    assert spec_world.gate("spec", file="spec/v{Drafted}.md").why == ralf_words.no_spec("spec/v0.md"), "never entered"


# --- the promise ---


@pytest.mark.parametrize(
    "text",
    [
        "<promise>DONE</promise>",
        "All is well.\n\n  <promise>DONE</promise>  \nBye.",
        "<promise>DONE</promise>\n" + "x\n" * 49,
    ],
)
def test_a_promise_on_a_line_of_its_own_counts(spec_world: SpecWorld, text: str) -> None:
    spec_world.around = Around(Said(text))
    assert spec_world.gate("promise_seen", file="spec/v2.md").ok


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I will print <promise>DONE</promise> when I am done.",
        "> <promise>DONE</promise>",
        "<promise>done</promise>",
        "<promise>DONE</promise>\n" + "x\n" * 50,
    ],
)
def test_anything_else_does_not(spec_world: SpecWorld, text: str) -> None:
    spec_world.around = Around(Said(text))
    assert not spec_world.gate("promise_seen", file="spec/v2.md").ok


def test_an_echoed_prompt_is_no_promise(spec_world: SpecWorld) -> None:
    prompt = "Do it.\nThen print, on a line of its own:\n\n<promise>DONE</promise>\n\nThank you.\n"
    for echo in (prompt, f"I was told:\n{prompt}", prompt.partition("Then")[2], prompt.split("own:")[1]):
        spec_world.around = Around(Said(echo, prompt))
        assert not spec_world.gate("promise_seen", file="spec/v2.md").ok, echo
    for output in (
        "All five tests pass.\n<promise>DONE</promise>\n",
        "All five tests pass.\n\n<promise>DONE</promise>\n",
    ):
        spec_world.around = Around(Said(f"{prompt}\n{output}", prompt))
        assert spec_world.gate("promise_seen", file="spec/v2.md").ok, output


def test_what_a_run_said_is_taken_down_by_the_engine(spec_world: SpecWorld) -> None:
    spec_world.around = Around(Said("<promise>DONE</promise>"))
    fact = spec_world.gate("promise_seen", since="entry", file="spec/v2.md")
    assert (fact.ok, fact.by_hand) == (True, False)


def test_without_a_run_or_a_promise_nothing_was_promised(spec_world: SpecWorld) -> None:
    assert spec_world.gate("promise_seen", file="spec/v2.md").why == ralf_words.no_run_ended()
    spec_world.around = None
    assert not spec_world.gate("promise_seen", file="spec/v2.md").ok
    spec_world.around = Around(Said("<promise></promise>"))
    assert not spec_world.gate("promise_seen", file="spec/v1.md").ok


# --- the criteria ---


def test_a_command_that_was_not_run_is_asked_for(spec_world: SpecWorld) -> None:
    spec_world.report("- C2: PASS, seen")
    fact = spec_world.criteria()
    assert (fact.ok, fact.pending) == (False, True)
    assert fact.why == ralf_words.unknown_criteria([(ralf_words.not_run(), ["C1"])])
    runs = runs_of(spec_world.machine.gates["ours"], spec_world.seen())
    assert [run.command for run in runs] == [Command("C1", "make test")]
    assert spec_world.criteria(SOME_FAIL).pending


def test_what_is_not_known_is_told_with_its_reason(spec_world: SpecWorld) -> None:
    spec_world.commands = (Command("lint", "make lint"), Command("types", "make types"))
    spec_world.ran("make lint", problem=f"{SETUP_FAILED}: no network")
    why = spec_world.criteria().why
    assert why == ralf_words.unknown_criteria(
        [
            (proof_words.result("set-up failed: no network", "a line\nsome words"), ["lint"]),
            (ralf_words.not_run(), ["types", "C1"]),
        ]
    )


def test_all_hold(spec_world: SpecWorld) -> None:
    spec_world.ran("make test", 0)
    spec_world.report("- C2: PASS, seen in page.png")
    fact = spec_world.criteria()
    assert fact.ok
    assert (fact.why, fact.parts) == ("", (("C1", True, ""), ("C2", True, "")))
    fact = spec_world.criteria(SOME_FAIL)
    assert (fact.ok, fact.why) == (False, ralf_words.none_fails())


def test_what_commands_prove_alone_is_fresh_whatever_report_lies_there(spec_world: SpecWorld) -> None:
    spec_world.write("spec/v2.md", SPEC.replace("- the page is readable\n", ""))
    spec_world.report("- C1: FAIL")
    spec_world.criteria()
    spec_world.enter()
    for value, code in ((ALL_PASS, 0), (SOME_FAIL, 1)):
        spec_world.ran("make test", code)
        fact = spec_world.criteria(value)
        assert (fact.ok, fact.by_hand, fact.why) == (True, False, ""), value


def test_a_project_s_own_commands_join_the_criteria(spec_world: SpecWorld) -> None:
    spec_world.commands = (Command("lint", "make lint"), Command("test", "make test"))
    spec_world.ran("make test", 0)
    spec_world.ran("make lint", 2)
    spec_world.report("- C2: PASS")
    fact = spec_world.criteria()
    assert [(label, ok) for label, ok, _ in fact.parts] == [("lint", False), ("test", True), ("C1", True), ("C2", True)]
    assert fact.why == ralf_words.open_criteria(
        [("lint", proof_words.command_failed_here("make lint", "exit 2", "a line\nsome words"))]
    )


def test_failed_command_is_named_by_beginning_of_its_first_line(spec_world: SpecWorld) -> None:
    both, long = "make one\nmake two", f"make {'y' * 300}"
    spec_world.commands = (Command("both", both), Command("long", long))
    spec_world.ran(both, 2)
    spec_world.ran(long, -9, problem="timed out after 5 s")
    spec_world.ran("make test", 0)
    spec_world.report("- C2: PASS")
    said = "a line\nsome words"
    first = proof_words.command_failed_here("make one", "exit 2", said)
    then = proof_words.command_failed_here(f"make {'y' * 75}", "timed out after 5 s", said)
    assert spec_world.criteria().why == ralf_words.open_criteria([("both", first), ("long", then)])


@pytest.mark.parametrize(
    ("line", "stands"),
    [
        ("- C2: PASS", True),
        ("- **C2**: PASS, looked at on a phone", True),
        ("* C2 \u2013 PASS", True),
        ("- C2: FAIL, too small", False),
        ("- C2: PASS or FAIL", False),
        ("- C2: not a PASS", False),
        ("- C22: PASS", False),
        ("> - C2: PASS", False),
        ("```\nC2: PASS\n```", False),
        ("- C2: PASS\n- C2: FAIL", False),
        ("", False),
    ],
)
def test_a_criterion_without_command_needs_its_own_line(spec_world: SpecWorld, line: str, stands: bool) -> None:
    spec_world.ran("make test", 0)
    spec_world.report(line)
    assert spec_world.criteria().ok is stands
    assert spec_world.criteria(SOME_FAIL).ok is not stands
    assert [ok for _, ok, _ in spec_world.criteria().parts] == [True, stands]


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("", ralf_words.not_reported("report.md", "Verification")),
        ("- C2: FAIL, too small", ralf_words.reported_failed("report.md", "Verification", "FAIL, too small")),
        ("- C2: it looks good", ralf_words.reported_unclear("report.md", "Verification", "it looks good")),
        ("- C2: PASS\n- C2: FAIL", ralf_words.reported_unclear("report.md", "Verification", "PASS")),
        (f"- C2: FAIL {'y' * 300}", f'report.md, "## Verification": FAIL {"y" * 75}'),
    ],
)
def test_what_a_report_says_against_a_criterion_is_told(spec_world: SpecWorld, line: str, why: str) -> None:
    spec_world.ran("make test", 0)
    spec_world.report(line)
    assert spec_world.criteria().why == ralf_words.open_criteria([("C2", why)])


# --- whose report it is, and about what ---


class Judged:
    """A report without fault that a run wrote; each test sets the run and the judged tree."""

    def __init__(self, world: SpecWorld) -> None:
        self.world = world
        world.ran("make test", 0)
        world.report("- C2: PASS")

    def stands(self, role: str = "verifier", **judged: str) -> tuple[bool, bool, str]:
        """Whether the gate is open, whether running commands would help, and what is told of the report."""
        gate = Gate("ours", "criteria", {**PARAMS, "value": ALL_PASS, **({"role": role} if role else {})}, "entry")
        self.world.machine = MACHINE.replace(gates={**MACHINE.gates, "ours": gate})
        self.world.ran("make test", 0, gate=gate)
        (key, found), *_ = [item for item in evidence_hashes(self.world.seen()).items() if "report.md" in item[0]]
        reports = {key: view_of(Report, {"hash": found, "tree": "tree-1", "role": "verifier", **judged})}
        fact = judge(self.world.seen().replace(judged=reports), ["ours"])["ours"]
        return fact.ok, fact.pending, fact.why

    def void(self, why: str) -> tuple[bool, bool, str]:
        return False, False, f'C2: report.md, "## Verification" {why}'


OPEN = (True, False, "")


def test_a_report_counts_for_the_tree_it_is_about(spec_world: SpecWorld) -> None:
    judged = Judged(spec_world)
    assert judged.stands() == OPEN
    assert judged.stands(tree="tree-0") == judged.void(ralf_words.report_of_other_files())
    assert judged.stands(tree="tree-0", hash="of another text") == OPEN, "somebody wrote this one since, by hand"


def test_a_report_is_written_by_whose_duty_it_is(spec_world: SpecWorld) -> None:
    judged = Judged(spec_world)
    assert judged.stands(role="verifier") == OPEN
    assert judged.stands(role="") == OPEN, "where nobody is named, anybody may"
    assert judged.stands(role="implementer") == judged.void(ralf_words.report_of_other_role("verifier", "implementer"))
    assert judged.stands(role="implementer", hash="of another text") == OPEN
    assert code_of(judged.stands(role="implementer", tree="tree-0")[2]) == "ralf.open_criteria"


def test_an_unknown_tree_does_not_make_a_report_stale(spec_world: SpecWorld) -> None:
    judged = Judged(spec_world)
    spec_world.write("spec/v2.md", SPEC.replace("; cmd: make test", ""))
    spec_world.report("- C1: PASS", "- C2: PASS")
    spec_world.tree_id = ""
    assert judged.stands() == (False, True, ralf_words.unknown_criteria([(ralf_words.not_looked_at(), ["C1", "C2"])]))
    assert judged.stands(hash="of another text") == OPEN


@pytest.mark.parametrize(
    ("code", "line", "lacks_only_that"),
    [(0, "", True), (0, "- C2: PASS", False), (0, "- C2: FAIL", False), (1, "", False), (None, "", False)],
)
def test_the_judge_is_called_when_only_a_verdict_is_missing(
    spec_world: SpecWorld, code: int | None, line: str, lacks_only_that: bool
) -> None:
    if code is not None:
        spec_world.ran("make test", code)
    spec_world.report(line)
    spec_world.criteria()
    assert is_to_be_judged(spec_world.machine.gates["ours"], spec_world.seen()) is lacks_only_that


def test_no_other_gate_calls_the_judge() -> None:
    assert [name for name, check in checks().items() if check.lacks_judge] == ["criteria"]


def test_a_red_command_is_known_to_fail_before_anybody_looked(spec_world: SpecWorld) -> None:
    spec_world.snapshot = spec_world.snapshot.replace(exit="entry")
    spec_world.ran("make test", 1)
    assert spec_world.criteria(SOME_FAIL).ok
    spec_world.ran("make test", 0)
    assert not spec_world.criteria(SOME_FAIL).ok, "nobody has looked at C2 yet: that is no failure"
    assert not spec_world.criteria().ok


def test_a_set_up_that_failed_is_no_red_command(spec_world: SpecWorld) -> None:
    spec_world.snapshot = spec_world.snapshot.replace(exit="entry")
    spec_world.ran("make test", problem=f"{SETUP_FAILED}: no network")
    assert not spec_world.criteria().ok
    assert not spec_world.criteria(SOME_FAIL).ok


def test_a_report_of_an_earlier_visit_is_about_another_tree(spec_world: SpecWorld) -> None:
    spec_world.ran("make test", 0)
    spec_world.report("- C2: PASS")
    assert spec_world.criteria().ok
    spec_world.enter()
    assert not spec_world.criteria().ok
    spec_world.report("- C2: PASS", "Round: 2")
    assert spec_world.criteria().ok


def test_criteria_that_can_t_be_read_neither_pass_nor_fail(spec_world: SpecWorld) -> None:
    spec_world.write("spec/v2.md", "# nothing\n")
    assert not spec_world.criteria().ok
    assert not spec_world.criteria(SOME_FAIL).ok


# --- what lies around a task ---


@pytest.mark.parametrize(
    ("checkout", "ok", "why"),
    [
        (None, False, say.checkout_not_looked_at()),
        (CheckoutSeen("main", "ralf/x"), True, ""),
        (CheckoutSeen("main", "ralf/x", ("a.py", "b.py")), False, say.not_committed(("a.py", "b.py"))),
        (CheckoutSeen("ralf/x", "ralf/x", ("a.py",)), True, ""),
        (CheckoutSeen("", "", ("a.py",)), False, say.not_committed(("a.py",))),
        (CheckoutSeen("", "ralf/x", tuple("abcdefg")), False, say.not_committed(("a", "b", "c", "d", "e", "f", "g"))),
        (
            CheckoutSeen("", "ralf/x", problem="unborn"),
            False,
            "unborn",
        ),
    ],
)
def test_a_clean_checkout_or_a_branch_of_its_own(
    spec_world: SpecWorld, checkout: CheckoutSeen | None, ok: bool, why: str
) -> None:
    spec_world.around = Around(checkout=checkout)
    fact = spec_world.gate("git_clean")
    assert fact.ok is ok
    assert fact.why == why


def test_a_baseline_must_be_known(spec_world: SpecWorld) -> None:
    assert not spec_world.gate("baseline_known").ok
    spec_world.captured = {"branch": "main", "commit_sha": "a" * 40}
    assert spec_world.gate("baseline_known").ok


def test_each_role_needs_an_installed_agent(spec_world: SpecWorld) -> None:
    spec_world.around = Around(agents=(AgentSeen("codex", is_installed=False), AgentSeen("pi")))
    assert spec_world.gate("agents_found", roles=["implementer"], programs=["git"]).ok
    fact = spec_world.gate("agents_found", roles=["implementer", "verifier"], programs=["git", "no-such"])
    assert fact.why == together([say.no_agent_installed("verifier", []), say.not_on_path("no-such")])
    spec_world.around = Around(agents=(AgentSeen("codex", is_installed=False),))
    assert "(codex)" in spec_world.gate("agents_found", roles=["implementer"]).why


def test_agents_are_exhausted_when_each_of_several_failed(spec_world: SpecWorld) -> None:
    failed, cooling = AgentSeen("codex", failed="timeout"), AgentSeen("pi", until="2030-01-01T00:00:00Z")
    for agents in ((failed, AgentSeen("pi")), (cooling, AgentSeen("claude")), (failed, cooling), (failed,), ()):
        spec_world.around = Around(agents=agents)
        assert not spec_world.gate("agents_exhausted", role="implementer").ok
    spec_world.around = Around(
        agents=(failed, AgentSeen("pi", failed="failed"), AgentSeen("claude", is_installed=False))
    )
    fact = spec_world.gate("agents_exhausted", role="implementer")
    assert fact.ok
    assert fact.note == say.agents_out([("codex", "timeout"), ("pi", "failed"), ("claude", say.not_installed())])


def test_no_other_task_may_stand_in_these_states(spec_world: SpecWorld) -> None:
    spec_world.around = Around(siblings=(Sibling("b", "phase", "implement"), Sibling("c", "other", "verify")))
    assert spec_world.gate("no_sibling_in", states=["verify"]).ok
    fact = spec_world.gate("no_sibling_in", states=["implement", "verify"])
    assert (fact.ok, fact.why) == (False, say.others_there([("b", "implement")]))


def test_file_is_as_it_was_when_the_state_was_entered(spec_world: SpecWorld) -> None:
    assert not spec_world.gate("file_unchanged", since="entry", file="spec/v2.md").ok, "nobody took it down"
    spec_world.enter()
    assert spec_world.gate("file_unchanged", since="entry", file="spec/v2.md").ok
    spec_world.write("spec/v2.md", SPEC + "more\n")
    why = spec_world.gate("file_unchanged", since="entry", file="spec/v2.md").why
    assert why == say.file_changed("spec/v2.md", "verify")
    (spec_world.folder / "spec/v2.md").unlink()
    spec_world.enter()
    assert not spec_world.gate("file_unchanged", since="entry", file="spec/v2.md").ok


def test_a_person_may_have_to_say_a_word(spec_world: SpecWorld) -> None:
    assert spec_world.gate("person_says", word="skip-assess").why == say.word_not_said("skip-assess")
    spec_world.words = ("skip-assess",)
    assert spec_world.gate("person_says", word="skip-assess").ok


def test_without_observations_nothing_is_proven(spec_world: SpecWorld) -> None:
    spec_world.around = None
    assert not spec_world.gate("git_clean").ok
    assert not spec_world.gate("agents_found", roles=["implementer"]).ok
    assert not spec_world.gate("agents_exhausted", role="implementer").ok
    assert not spec_world.gate("no_sibling_in", states=["verify"]).ok
