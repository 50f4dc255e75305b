"""The spec of a ralf thread: talked about, assessed, finalized by a person, filed; and what preflight asks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conformance.ralf_threads import SPEC, Threads
from tests.conftest import MakeRepo


def failed(thread_json: dict[str, list[list[object]]]) -> dict[str, str]:
    return {str(label): str(why) for label, ok, why in thread_json["failed"] if not ok}


@pytest.mark.requirement("S4.1", "S4.3", "S4.36")
def test_a_new_thread_is_drafting_and_names_its_next_actor(threads: Threads) -> None:
    thread = threads.thread()
    shown = thread.json("status", thread.id)
    assert (shown["state"], shown["mode"], shown["title"]) == ("Drafting", "methodical", "add sums")
    assert shown["waiting_for"].startswith("a person")
    words = thread.done("status").out
    assert "about:" in words
    assert shown["about"] in words


@pytest.mark.requirement("S4.37", "S4.78")
def test_draft_is_talked_about_with_an_agent_turn_by_turn(threads: Threads) -> None:
    thread = threads.thread()
    threads.script("Drafting", 'echo "What about empty lists?"', run=1)
    threads.script("Drafting", f"cat > \"$DETENT_TASK_DIR/spec/draft.md\" <<'END'\n{SPEC}\nEND\necho written", run=2)
    first = thread("say", "add sums, please", thread.id)
    assert first.code == 0, first
    assert "author: What about empty lists?" in first.out
    assert "agent run #1 ended by itself; it is your turn" in first.out
    thread("say", "they sum to 0", thread.id)
    prompt = thread.prompt(2)
    for words in ("person: add sums, please", "author: What about empty lists?", "person: they sum to 0"):
        assert f"> {words}" in prompt
    assert (thread.folder / "spec" / "draft.md").read_text(encoding="utf-8").strip() == SPEC.strip()
    lines = (thread.repo / ".ralf" / "spec" / "threads" / "sums.jsonl").read_text(encoding="utf-8").splitlines()
    turns = [(turn["role"], turn["text"]) for turn in map(json.loads, lines)]
    assert turns == [
        ("person", "add sums, please"),
        ("author", "What about empty lists?"),
        ("person", "they sum to 0"),
        ("author", "written"),
    ]
    assert thread.state() == "Drafting", "an agent never finalizes"
    thread.audit()


@pytest.mark.requirement("S4.37")
def test_no_agent_comes_to_a_draft_by_itself(threads: Threads) -> None:
    thread = threads.thread()
    thread.run(expect=4)
    assert thread.entries("run_planned") == []


@pytest.mark.requirement("S4.7", "S4.59", "S4.64")
def test_methodical_mode_asks_for_an_assessment_or_a_word(threads: Threads) -> None:
    thread = threads.thread()
    thread.spec(SPEC)
    refused = thread("approve", thread.id)
    assert refused.code == 1
    assert "--skip-assess" in refused.out
    thread.spec("# Nothing\n")
    unready = thread("approve", "--skip-assess", thread.id)
    assert "then: detent move Finalized sums --skip-assess" in unready.out
    thread.spec(SPEC)
    assert thread("move", "Finalized", "--as", "agent", thread.id).code == 1
    thread.done("approve", "--skip-assess")
    assert thread.state() == "Finalized"
    assert thread.entries("moved")[-1]["by"] == "person"


@pytest.mark.requirement("S4.4", "S4.5", "S4.38")
def test_assessment_that_fails_sends_the_draft_back_and_stays_advice(threads: Threads) -> None:
    thread = threads.thread()
    thread.spec(SPEC)
    thread.done("choose", "assess")
    threads.script("Assessing", "report assessment.md Assessment 'Verdict: FAIL\\n- C1 is too weak'")
    thread.run(expect=4)
    assert thread.path_of_moves() == ["Assessing", "Drafting"]
    # The person may finalize the very draft that was assessed; a changed one was not.
    thread.spec(SPEC + "\nmore\n")
    assert thread("approve", thread.id).code == 1
    thread.spec(SPEC)
    thread.done("approve")
    assert thread.state() == "Finalized"


@pytest.mark.requirement("S4.6", "S4.38")
def test_an_assessment_that_passes_waits_for_the_person(threads: Threads) -> None:
    thread = threads.thread()
    thread.spec(SPEC)
    thread.done("move", "Assessing")
    assert thread("approve", thread.id).code == 1, "nobody has looked yet"
    threads.script("Assessing", "report assessment.md Assessment 'Verdict: PASS\\nclear, testable, complete'")
    rested = thread("run", thread.id)
    assert rested.code == 4
    assert "your sign-off is next: detent approve sums (to Finalized)" in rested.out
    assert thread.state() == "Assessing"
    assert "waits for your sign-off" in thread("inbox").out
    assert "next: detent approve sums" in thread("inbox").out
    thread.done("approve")
    assert thread.state() == "Finalized"


@pytest.mark.requirement("S4.36")
def test_a_closed_sign_off_is_not_offered(threads: Threads) -> None:
    thread = threads.thread()
    (letter,) = thread.json("inbox")["waiting"]
    assert (letter["why"], letter["run"]) == ("Drafting waits for a person", "detent next sums")
    thread.spec(SPEC)
    thread.done("choose", "assess")
    threads.script("Assessing", "true")
    thread.run(expect=4)
    (letter,) = thread.json("inbox")["waiting"]
    assert letter["why"].startswith("its agent run ended without a move: assessment.md has no section")
    assert letter["run"] == "detent respawn sums"


@pytest.mark.requirement("S4.5")
def test_an_assessor_can_t_change_the_repository(threads: Threads) -> None:
    thread = threads.thread()
    thread.spec(SPEC)
    thread.done("move", "Assessing")
    threads.script("Assessing", "echo bad >> app.py; report assessment.md Assessment 'Verdict: FAIL\\nno'")
    thread.run()
    assert "bad" not in (thread.repo / "app.py").read_text(encoding="utf-8")


@pytest.mark.requirement("S4.8", "S4.39", "S4.74")
def test_a_finalized_spec_is_filed_and_never_changes(threads: Threads) -> None:
    thread = threads.thread()
    thread.spec(SPEC)
    thread.done("approve", "--skip-assess")
    first = thread.folder / "spec" / "v1.md"
    assert first.read_text(encoding="utf-8") == SPEC
    thread.spec("changed behind the person's back\n")
    thread.run(expect=4)
    assert (thread.folder / "spec" / "draft.md").read_text(encoding="utf-8") == SPEC, "the spec is locked"
    thread.done("choose", "reopen")
    assert thread.state() == "Drafting"
    thread.spec(SPEC.replace("Sums", "More sums"))
    first.chmod(0o644)
    first.write_text("something else", encoding="utf-8")
    thread.done("approve", "--skip-assess")
    assert first.read_text(encoding="utf-8") == SPEC
    assert "More sums" in (thread.folder / "spec" / "v2.md").read_text(encoding="utf-8")


@pytest.mark.requirement("S4.43")
@pytest.mark.parametrize(
    ("spec", "problem"),
    [
        (SPEC.replace("Promise:", "Promised:"), "there is no line"),
        (SPEC.partition("## Criteria")[0], 'there is no section "## Criteria"'),
        (SPEC.replace("<promise>ALL GREEN</promise>", "<promise>TEXT</promise>"), "placeholder"),
    ],
)
def test_a_spec_without_promise_or_criteria_is_not_finalized(threads: Threads, spec: str, problem: str) -> None:
    thread = threads.thread()
    thread.spec(spec)
    refused = thread("approve", "--skip-assess", thread.id)
    assert refused.code == 1
    assert problem in refused.out
    assert "cmd: make test" in refused.out, "the refusal shows how to write it"


# --- preflight ---


@pytest.mark.requirement("S4.43")
@pytest.mark.parametrize("heading", ["Acceptance Criteria", "Requirements", "Completion criteria"])
def test_a_spec_as_people_write_it_runs_to_its_end(threads: Threads, heading: str) -> None:
    spec = f"# Sums\n\n<promise>ALL GREEN</promise>\n\n## {heading}\n\n- [ ] it is ready; cmd: grep -q ready app.py\n"
    thread = threads.thread()
    threads.script("Running", "ready; promise")
    thread.to("Running", spec)
    thread.run(expect=4)
    assert thread.state() == "Implemented"


@pytest.mark.requirement("S4.10")
def test_preflight_passes_when_all_five_checks_do(threads: Threads) -> None:
    thread = threads.thread()
    thread.to("Configuring")
    parts = thread.entries("moved")[-1]["facts"]["preflight_ok"]["parts"]
    assert [(label, ok) for label, ok, _ in parts] == [
        ("tree_clean", True),
        ("baseline_captured", True),
        ("spec_valid", True),
        ("tools_found", True),
        ("no_other_running", True),
    ]


@pytest.mark.requirement("S4.11", "S4.12", "S4.41")
def test_a_dirty_checkout_fails_preflight_and_a_retry_looks_again(threads: Threads, repo: MakeRepo) -> None:
    thread = threads.thread()
    thread.spec(SPEC)
    thread.done("approve", "--skip-assess")
    (thread.repo / "app.py").write_text("mine = 1\n", encoding="utf-8")
    (thread.repo / "new.py").write_text("mine = 1\n", encoding="utf-8")
    thread.done("move", "Preflight")
    thread.run(expect=4)
    assert thread.state() == "PreflightFailed"
    checks = failed(thread.json("status", thread.id))
    assert checks == {"tree_clean": "not committed: app.py, new.py"}
    for command in ("status", "next"):
        words = thread.done(command).out
        assert "failed  tree_clean: not committed: app.py, new.py" in words
        assert "ok      spec_valid" in words
    repo.git(thread.repo, "add", "--all")
    repo.git(thread.repo, "commit", "--quiet", "--message=mine")
    thread.done("choose", "retry")
    thread.run(expect=4)
    assert thread.state() == "Configuring"


@pytest.mark.requirement("S4.11", "S4.44")
def test_every_failed_check_is_told_not_only_the_first(threads: Threads) -> None:
    thread = threads.thread(more='[agents.absent]\nargv = ["no-such-program-here"]\n')
    absent = threads.thread("--agent", "implementer=absent", task_id="absent")
    thread.to("Running")
    absent.spec(SPEC)
    absent.done("approve", "--skip-assess")
    # One branch is checked out at a time: the second thread begins on the branch the first began on.
    threads.make_repo.git(thread.repo, "switch", "--quiet", "main")
    (thread.repo / "app.py").write_text("mine = 1\n", encoding="utf-8")
    absent.done("move", "Preflight")
    absent.run(expect=4)
    assert absent.state() == "PreflightFailed"
    checks = failed(absent.json("status", absent.id))
    assert set(checks) == {"tree_clean", "tools_found", "no_other_running"}
    assert checks["tools_found"] == "no agent is installed for implementer (absent)"
    assert checks["no_other_running"] == "sums is in Running"


@pytest.mark.requirement("S4.45")
def test_second_thread_can_t_start_its_loop_beside_the_first(threads: Threads) -> None:
    first, second = threads.thread(), threads.thread(task_id="second")
    second.spec(SPEC)
    second.done("approve", "--skip-assess")
    second.done("move", "Preflight")
    second.run(expect=4)
    assert second.state() == "Configuring"
    threads.make_repo.git(first.repo, "switch", "--quiet", "main")
    first.to("Running")
    refused = second("move", "Running", second.id)
    assert refused.code == 1
    assert "sums is in Running" in refused.out
    first.done("stop")
    assert first.state() == "Paused"
    second.done("move", "Running")


@pytest.mark.requirement("S4.13", "S4.42", "S4.54")
def test_failed_preflight_leads_back_to_the_draft_without_touching_files(threads: Threads, repo: MakeRepo) -> None:
    thread = threads.thread()
    thread.spec(SPEC)
    thread.done("approve", "--skip-assess")
    (thread.repo / "app.py").write_text("mine = 1\n", encoding="utf-8")
    thread.done("move", "Preflight")
    thread.run(expect=4)
    before = repo.git(thread.repo, "status", "--porcelain")
    thread.done("choose", "revise")
    assert thread.state() == "Drafting"
    assert repo.git(thread.repo, "status", "--porcelain") == before
    assert (thread.repo / "app.py").read_text(encoding="utf-8") == "mine = 1\n"


@pytest.mark.requirement("S4.70", "S4.71", "S4.72", "S4.73", "S4.75", "S4.79")
def test_thread_json_tells_where_a_thread_stands(threads: Threads, repo: MakeRepo) -> None:
    thread = threads.thread()
    path = thread.repo / ".ralf" / "threads" / "sums" / "thread.json"
    first = json.loads(path.read_text(encoding="utf-8"))
    assert first["phase"] == {"type": "Drafting"}
    assert (first["schema_version"], first["id"], first["title"]) == (1, "sums", "add sums")
    head = repo.git(thread.repo, "rev-parse", "HEAD")
    thread.to("Running")
    shown = json.loads(path.read_text(encoding="utf-8"))
    assert shown["phase"] == {"type": "Running", "data": {"iteration": 1}}
    assert (shown["baseline"]["branch"], shown["baseline"]["commit_sha"]) == ("main", head)
    assert (shown["mode"], shown["branch"], shown["spec_version"]) == ("methodical", "ralf/sums", 1)
    threads.script("Running", "echo once")
    thread.run("--once")
    shown = json.loads(path.read_text(encoding="utf-8"))
    assert shown["phase"] == {"type": "Running", "data": {"iteration": 2}}
    run = thread.repo / ".ralf" / "runs" / shown["current_run_id"]
    assert json.loads((run / "run.json").read_text(encoding="utf-8"))["role"] == "implementer"
    assert (run / "output.log").read_text(encoding="utf-8") == "once\n"


def test_the_thread_s_folder_is_no_part_of_the_work(threads: Threads, repo: MakeRepo) -> None:
    thread = threads.thread()
    thread.to("Configuring")
    assert repo.git(thread.repo, "status", "--porcelain") == ""
    assert (thread.repo / ".ralf" / "active_thread").read_text(encoding="utf-8") == "sums\n"
    assert Path(thread.json("dir", thread.id)["dir"]) == thread.folder
