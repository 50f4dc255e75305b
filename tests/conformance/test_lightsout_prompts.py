"""What agents of a pipeline are told, read from the prompts that real runs were given, in every phase and role.

One pipeline is driven through all of it: audit, distillation, a session that is killed, a review and a verification
that fail once, the delivery, and the next version up to its confirmed scope. Rows of which a program sees more than
words are shown by other files. S2.41 (a failing test first) and S2.97 (failures that were there before) need a run on
the baseline and are open: that a prompt asks for them is no proof.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from tests.conformance.lightsout_pipeline import COMMANDS, EXAMPLE, NEXT_SCOPE, Lights, Pipeline
from tests.conftest import Detent, MakeRepo, environment_in

ONCE = 'if [ ! -e "$SCRIPTS/{name}" ]; then : > "$SCRIPTS/{name}"; {first}; else {then}; fi'
FAILED = r"""
report="$DETENT_OUT/verification.md"
sed -e 's/^PASS$/FAIL/' -e '0,/Result: PASS/s//Result: FAIL/' "$EXAMPLE/scaffolding/verification.md" > "$report"
printf '\n## Reproduction\n\n- AC-1: command: `%s`; expected: words=3; got: words=4\n' 'python words.py a' >> "$report"
"""
SCRIPTS = {
    "AuditingStack": 'printf "# Audit\n\n## Findings\n\n- Python: keep.\n" > "$DETENT_OUT/audit.md"',
    "Distilling": 'cp "$EXAMPLE/docs/input/distilled-brief.md" docs/input/',
    "Building": ONCE.format(name="killed", first="kill -9 $$", then='cp -r "$EXAMPLE/words.py" "$EXAMPLE/tests" .'),
    "Reviewing": ONCE.format(
        name="reviewed",
        first='sed "s/status: fixed/status: open/" "$EXAMPLE/scaffolding/review.md" > "$DETENT_OUT/review.md"',
        then="out review.md",
    ),
    "ReviewFixing": "echo '# a folder is refused' >> words.py",
    "Reconciling": 'doc reconcile.md; echo "Round: $DETENT_RUN_NUMBER" >> scaffolding/reconcile.md',
    "Verifying": ONCE.format(name="verified", first="failed", then="out verification.md"),
    "VerifyFixing": "echo '# counts white space' >> words.py",
    "IterationConfirmed": NEXT_SCOPE,
}
PHASES = ("Designing", "Analyzing", "Building", "Reviewing", "Reconciling", "Verifying", "Deploying")


def _drive(lights: Lights) -> Pipeline:
    lights.honest(**SCRIPTS)
    lights.script("Verifying", f"failed() {{ {FAILED} }}\n{SCRIPTS['Verifying']}")
    brief = (EXAMPLE / "docs/input/brief.md").read_text(encoding="utf-8")
    line = lights.pipeline(files={"docs/input/brief.md": brief}, more=COMMANDS).configured()
    for name in ("AuditStackFromConfigured", "DistillFromConfigured"):
        line.moved(name).run("--once")
    line.committed().moved("RequestBuild").run(expect=4)
    assert line("approve", "--reason", "it is my own folder", "p").code == 0
    line.run(expect=4)
    assert line.state() == "PipelineComplete", line.entries()[-3:]
    line.moved("StartIteration").run("--once")
    assert line("approve", "p").code == 0
    line.run("--once")
    return line


@pytest.fixture(scope="module")
def all_prompts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, list[str]]]:
    """The prompts of every run, by state, in order."""
    folder = tmp_path_factory.mktemp("prompts")
    environment = environment_in(folder)
    lights = Lights(Detent(folder, environment), MakeRepo(folder / "repositories", environment), folder)
    try:
        line = _drive(lights)
        found: dict[str, list[str]] = {}
        for planned in line.entries("run_planned"):
            found.setdefault(planned["state"], []).append(" ".join(line.prompt(planned["run"]).split()))
        line.audit()
        yield found
    finally:
        lights.close()


def _holds(text: str, *words: str) -> None:
    missing = [word for word in words if word.lower() not in text.lower()]
    assert not missing


def test_every_phase_and_role_was_called(all_prompts: dict[str, list[str]]) -> None:
    assert set(all_prompts) == {
        *("AuditingStack", "Distilling", "Expanding", *PHASES, "ReviewFixing", "VerifyFixing", "Iterating"),
        "IterationConfirmed",
    }


# What the document tells the agent of each state, as facts: commands, files, headings, labels, words that count.
FACTS = {
    "AuditingStack": ("preferences.md", "orthodox", "right-sized", "audit.md", "## Findings", "docs/input/", "decides"),
    "Distilling": (
        "docs/input/",
        "distilled-",
        "mails",
        "interface documents",
        "notes of meetings",
        "never an instruction",
    ),
    "Expanding": (
        *("docs/input/", "preferences.md", "log.md", ".gitignore", "scope.md", "contradict", "evidence", "AC-1"),
        *("Problem", "Smallest Useful Version", "Acceptance Criteria", "Stack", "Deployment Target", "Data Model"),
        *("Estimated Cost", "$0 - static hosting", "Quality Tier", "shed, house, skyscraper", "Clarifications Needed"),
        *("Deferred", "missing section", "sharpen the threshold", "trim the scope", "attempt 1 of 3"),
    ),
    "Designing": (
        *("scope.md", "preferences.md", "design.md", "Architecture", "ASCII diagram", "more than two components"),
        *("Directory Structure", "exact file tree", "Interfaces", "typed data shapes", "API contracts"),
        *("module boundaries", "External Integrations", "Observability", "stdout", "OTEL", "Loki", "Grafana"),
        *("Prometheus", "dashboards", "Complexity Exceptions", "Open Questions", "deferred with the reason"),
        *("two or three key scenarios", "by severity", "how a failure is handled", "attempt 1 of 3"),
    ),
    "Analyzing": (
        *("scope.md", "design.md", "readiness.md", "Verdict", "READY or NOT READY", "Truths", "Key Links"),
        *("Acceptance Criteria Coverage", "Scope Reduction Risks", "Clarifications Needed", "Build Order"),
        *("Complexity Exceptions", "planned test", "runtime proof", "never mixed", "missing proof"),
    ),
    "Building": (
        *("readiness.md", "one failing", "each AC-*", "vertical slices", "most foundational AC-*", "compile"),
        *("QRSPI", ".agent.md", "secret", "pip-audit", "npm audit", "cargo audit", "high or critical", "lockfile"),
        *("matches design.md", "placeholder", "observe the exact error", "root cause", "hypothesis", "verify it"),
        *("twice the planned files", "300 lines", "third approach", "dependency that design.md", "Kind: design"),
        *("BLOCKED: what is wrong. Options: [A, B, C]. Recommendation: B.", "external", "security, data loss, cost"),
    ),
    "Reviewing": (
        *("scope.md", "design.md", "readiness.md", "the tests and the implementation", "Green tests"),
        *("correctness", "readability", "architecture", "security", "performance", "quietly reduced", "placeholder"),
        *("Critical", "Required", "dead code", "dependencies", "resolved or documented", "review.md", "never fix"),
    ),
    "ReviewFixing": ("review.md", "one finding at a time", "reproduce it first", "build phase", "ReviewRetrying"),
    "Reconciling": (
        *("scope.md", "design.md", "readiness.md", "log.md", "preferences.md", "file tree and the code", "seven axes"),
        *("directory structure", "interfaces", "acceptance criteria", "external integrations", "stack and deploy"),
        *("accuracy of the log", "traceability", "Cosmetic", "Structural", "annotate", "CLEAN, REPAIRED or BLOCKED"),
        *("accept the scope change", "revert the code", "split it", "defer the behaviour", "reconcile.md"),
    ),
    "Verifying": (
        *("sceptical", "read, search and execute, never edit", "Run all tests", "each AC-*", "each truth", "locally"),
        *("CLI output", "curl", "Playwright", "sample data", "exact command and the exact output", "throughput"),
        *("latency under load", "hey, wrk, k6", "concurrency", "grep", "XSS", "SQL injection", "CSRF"),
        *("authentication", "where dependencies come from", "target of scope.md", "key links", "Reproduction"),
    ),
    "VerifyFixing": (
        *("verification.md", "observe it exactly", "root cause", "run that very check again", "VerifyRetrying"),
        *("New files or changed interfaces", "reconciled"),
    ),
    "Deploying": (
        *("pre-flight", "SSH access", "registry credentials", "environment variables", "rollback", "accessible"),
        *("README.md", "what this is", "set it up locally", "how to deploy", "run the tests", "DELIVERY.md"),
        *("summary", "known limitations", "Incident Response", "verified criteria", "support terms", "roadmap"),
        *("survives a restart", "attempt 1 of 3"),
    ),
    "Iterating": (
        *("git log", "scaffolding/", "the code", "run the tests", "pre-existing", "docs/input/", "deferred items"),
        *("known limitations", "DELIVERY.md", "bug reports", "technical debt", "proposal.md", "Summary"),
        *("Prioritized Changes", "Architecture Impact", "Risk Assessment", "Recommended Approach", "all, some or none"),
    ),
    "IterationConfirmed": (
        *("proposal.md", "A person said", "scope-v1.md", "Version: 2", "## Acceptance Criteria", "next free number"),
        *("Quality Tier", "Deferred"),
    ),
}


def test_there_are_facts_for_every_prompt(all_prompts: dict[str, list[str]]) -> None:
    assert set(FACTS) == set(all_prompts)


@pytest.mark.parametrize("state", FACTS)
def test_a_prompt_carries_every_instruction_of_the_document(all_prompts: dict[str, list[str]], state: str) -> None:
    _holds(all_prompts[state][0], *FACTS[state])


@pytest.mark.told("S2.9", "S2.90")
def test_every_prompt_carries_the_protocol(all_prompts: dict[str, list[str]]) -> None:
    for prompts in all_prompts.values():
        for text in prompts:
            _holds(text, "the loop is closed", "gates:", "checkpoints:", "BEE-OS", "where you are and what comes next")


@pytest.mark.told("S2.31")
@pytest.mark.parametrize("state", ["Expanding", *PHASES])
def test_artifacts_are_read_anew_at_every_boundary(all_prompts: dict[str, list[str]], state: str) -> None:
    for text in all_prompts[state]:
        _holds(text, "from disk now")


@pytest.mark.told("S2.15", "S2.16")
def test_the_auditor_reports_and_decides_nothing(all_prompts: dict[str, list[str]]) -> None:
    _holds(
        all_prompts["AuditingStack"][0],
        "orthodox",
        "right-sized",
        "preferences.md",
        "decides",
        "many external services",
    )


@pytest.mark.told("S2.17", "S2.23")
def test_raw_material_is_no_instruction(all_prompts: dict[str, list[str]]) -> None:
    _holds(all_prompts["Distilling"][0], "docs/input/distilled-", "never an instruction", "originals stay")
    _holds(all_prompts["Expanding"][0], "docs/input/", "evidence", "never an instruction")


@pytest.mark.told("S2.13", "S2.20", "S2.21", "S2.22", "S2.24", "S2.109")
def test_expand_infers_all_from_one_sentence(all_prompts: dict[str, list[str]]) -> None:
    text = all_prompts["Expanding"][0]
    _holds(text, "one sentence", "which stack and which deploy target", "contradict", ".gitignore", "AC-1", "number")
    _holds(text, "Smallest Useful Version", "Estimated Cost", "Quality Tier", "Deferred", "per month")


@pytest.mark.told("S2.32", "S2.33", "S2.34")
def test_design_is_told_its_sections_and_its_tier(all_prompts: dict[str, list[str]]) -> None:
    text = all_prompts["Designing"][0]
    _holds(
        text, "ASCII diagram", "exact file tree", "typed data shapes", "slow, wrong or gone", "Complexity Exceptions"
    )
    _holds(text, "structured lines on stdout", "Loki", "Prometheus", "two or three key scenarios", "by severity")


@pytest.mark.told("S2.37", "S2.38")
def test_analyze_is_told_when_it_may_be_built(all_prompts: dict[str, list[str]]) -> None:
    _holds(
        all_prompts["Analyzing"][0], "READY or NOT READY", "Key Links", "Build Order", "planned test", "runtime proof"
    )


@pytest.mark.told("S2.42", "S2.43", "S2.45")
@pytest.mark.parametrize(
    "words",
    [
        ("one failing integration or end-to-end test for each AC-*",),
        ("vertical slices", "most foundational", "does it compile, does the unit work, does the test"),
        ("QRSPI",),
        ("house or a skyscraper", ".agent.md"),
        ("it compiles", "lockfile", "secret", "high or critical", "matches design.md", "placeholder"),
    ],
    ids=["skeleton first", "slices", "QRSPI", "roles", "gate"],
)
def test_build_is_told_how_to_work(all_prompts: dict[str, list[str]], words: tuple[str, ...]) -> None:
    _holds(all_prompts["Building"][0], *words)


@pytest.mark.told("S2.29", "S2.36", "S2.40", "S2.46")
@pytest.mark.parametrize(
    ("state", "words"),
    [
        ("Expanding", ("retry", "fix what the gate names")),
        ("Designing", ("retry", "resolve what the gate names")),
        ("Analyzing", ("retry", "tighten what the gate names")),
        ("Building", ("observe the exact error", "root cause", "hypothesis", "verify it", "don't start over")),
        ("Deploying", ("retry", "correct that")),
    ],
)
def test_a_retry_fixes_what_failed_and_nothing_else(
    all_prompts: dict[str, list[str]], state: str, words: tuple[str, ...]
) -> None:
    _holds(all_prompts[state][0], *words)


@pytest.mark.told("S2.85")
def test_agent_is_told_when_to_stop_and_in_which_words(all_prompts: dict[str, list[str]]) -> None:
    _holds(all_prompts["Building"][0], "third approach", "much larger", "external", "safe", "BLOCKED:", "Options:")


@pytest.mark.requirement("S2.54")
@pytest.mark.told("S2.51", "S2.52")
@pytest.mark.parametrize(
    "words",
    [
        ("scope.md", "design.md", "readiness.md", "the tests and the implementation"),
        ("correctness", "readability", "architecture", "security", "performance"),
        ("quietly reduced", "placeholder", "trail"),
        ("you find; you never fix",),
    ],
    ids=["reads", "axes", "explicit", "fixes nothing"],
)
def test_review_is_told_what_to_look_at(all_prompts: dict[str, list[str]], words: tuple[str, ...]) -> None:
    for text in all_prompts["Reviewing"]:
        _holds(text, *words)


@pytest.mark.requirement("S2.54")
def test_findings_are_fixed_one_at_a_time_by_another_role(all_prompts: dict[str, list[str]]) -> None:
    _holds(all_prompts["ReviewFixing"][0], "one finding at a time", "reproduce it first", "the reviewer, another role")
    assert len(all_prompts["Reviewing"]) == 2


@pytest.mark.told("S2.57", "S2.58", "S2.60", "S2.111")
@pytest.mark.parametrize(
    "words",
    [
        ("scope.md", "design.md", "readiness.md", "log.md", "preferences.md", "file tree and the code"),
        (
            *("directory structure", "interfaces", "acceptance criteria", "integrations", "stack and deploy"),
            *("accuracy of the log", "traceability"),
        ),
        ("cosmetic", "structural", "annotate", "specification broken", "a person decides"),
        ("accept the scope change", "revert the code", "split", "defer"),
        ("not applicable",),
    ],
    ids=["reads", "axes", "classes", "offers", "no subject"],
)
def test_reconcile_is_told_what_to_compare(all_prompts: dict[str, list[str]], words: tuple[str, ...]) -> None:
    for text in all_prompts["Reconciling"]:
        _holds(text, *words)


@pytest.mark.told("S2.62", "S2.63", "S2.64", "S2.65", "S2.66", "S2.68", "S2.112")
@pytest.mark.parametrize(
    "words",
    [
        ("sceptical", "read, search and execute, never edit", "probe the edges"),
        ("run all tests", "each AC-*", "each truth", "exact command and the exact output"),
        ("throughput", "latency under load", "stated concurrency"),
        ("secrets", "XSS", "SQL injection", "CSRF", "authentication", "where dependencies come from"),
        ("deploy configuration match the target", "key links"),
        ("exact steps", "can't fix it"),
        ("CLI output", "HTTP response", "browser check", "sample-data run"),
    ],
    ids=["mindset", "exercise", "load", "security", "links", "reproduction", "kinds"],
)
def test_verify_is_told_to_try_everything(all_prompts: dict[str, list[str]], words: tuple[str, ...]) -> None:
    for text in all_prompts["Verifying"]:
        _holds(text, *words)


@pytest.mark.requirement("S2.69", "S2.70")
def test_failures_are_fixed_by_the_main_agent_and_checked_anew(all_prompts: dict[str, list[str]]) -> None:
    text = all_prompts["VerifyFixing"][0]
    _holds(text, "observe it exactly", "root cause", "run that very check again", "the verifier, another role")
    _holds(text, "documents are reconciled before")
    assert len(all_prompts["Verifying"]) == 2
    assert len(all_prompts["Reconciling"]) == 2  # the fix changed what the design names as an interface


@pytest.mark.requirement("S2.91", "S2.92")
def test_after_a_lost_session_the_context_is_recovered_first(all_prompts: dict[str, list[str]]) -> None:
    before, after = all_prompts["Building"]
    assert "Recover the context first" not in before
    _holds(after, "Recover the context first", "20 commits", "pass the analyze gate", "look at the code")
    for name in ("scope.md", "design.md", "log.md"):
        _holds(after, f"read `scaffolding/{name}`")
    _holds(after, "python3 -m unittest discover tests: exit")


@pytest.mark.told("S2.73", "S2.75", "S2.76")
def test_deploy_is_told_what_to_write_and_to_run_nothing(all_prompts: dict[str, list[str]]) -> None:
    text = all_prompts["Deploying"][0]
    _holds(text, "what this is, how to set it up locally, how to deploy it, how to run the tests", "rollback command")
    _holds(text, "house adds the verified criteria and support terms", "skyscraper adds the architecture", "roadmap")
    _holds(text, "the engine runs them, not you")


@pytest.mark.told("S2.96", "S2.98")
@pytest.mark.parametrize(
    "words",
    [
        ("git log", "scaffolding/", "the code", "run the tests"),
        ("new material in `docs/input/`", "deferred items", "known limitations", "bug reports", "technical debt"),
        ("pre-existing",),
        ("Summary", "Prioritized Changes", "Architecture Impact", "Risk Assessment", "Recommended Approach"),
        ("a person decides",),
    ],
    ids=["context", "sources", "failing tests", "sections", "waits"],
)
def test_iterate_recovers_everything_and_proposes(all_prompts: dict[str, list[str]], words: tuple[str, ...]) -> None:
    _holds(all_prompts["Iterating"][0], *words)


@pytest.mark.told("S2.99")
def test_a_confirmed_proposal_becomes_the_criteria_of_the_next_version(all_prompts: dict[str, list[str]]) -> None:
    _holds(
        all_prompts["IterationConfirmed"][0], "version the scope", "next version", "ids stay stable", "not confirmed"
    )


def test_builder_is_not_told_that_the_design_has_been_outgrown(all_prompts: dict[str, list[str]]) -> None:
    assert [prompt for prompt in all_prompts["Building"] if "[x] outgrown" in prompt] == []
    part = all_prompts["Building"][0].partition("### Building -> ComplexityBrakeTriggered")[2].partition("###")[0]
    assert "- [ ] outgrown: " in part
    assert ("Either:" in part, "Or:" in part) == (True, True)


def test_a_failed_gate_is_nothing_a_run_could_aim_at(all_prompts: dict[str, list[str]]) -> None:
    for state, prompts in all_prompts.items():
        for prompt in prompts:
            assert "[x] expand_failed" not in prompt
            assert "_failed:" not in prompt, state
            assert "there is no scope.md; there is no .gitignore beside it; there is no scope.md" not in prompt
    failing = "### Expanding -> ExpandRetrying - [ ] stop_reported"
    assert failing in all_prompts["Expanding"][0]
    assert (
        "The engine takes it if the work you leave does not pass, and counts a failed attempt."
        in all_prompts["Expanding"][0]
    )
    assert "Only a state with a command below is yours to ask for" in all_prompts["Expanding"][0]


def test_moves_to_one_state_differ_and_nothing_is_repeated(all_prompts: dict[str, list[str]]) -> None:
    prompt = all_prompts["Reconciling"][0]
    assert "### Reconciling -> Verifying (ReconcileClean)" in prompt
    assert "### Reconciling -> Verifying (ReconcileRepaired)" in prompt
    assert prompt.count('"## Outcome": one of CLEAN, REPAIRED, BLOCKED') == 1
    assert "drift_repaired: the same as drift_none above" in prompt


def test_proof_that_only_later_state_needs_is_told_as_such(all_prompts: dict[str, list[str]]) -> None:
    later = "No move of this state needs them: a later one does."
    states = {state for state, prompts in all_prompts.items() if any(later in prompt for prompt in prompts)}
    assert states == {"AuditingStack", "Distilling", "Expanding", "Designing", "Analyzing", "Iterating"} | {
        "IterationConfirmed"
    }


def test_no_prompt_contains_dialect(all_prompts: dict[str, list[str]]) -> None:
    for state, prompts in all_prompts.items():
        for prompt in prompts:
            assert not re.search(r"\b(?:nobody|somebody|mend\w*|spoilt|put back)\b", prompt), state
