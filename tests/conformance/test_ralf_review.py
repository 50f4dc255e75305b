"""From implemented to done: polish, review, approval, commit; both modes; menus and words."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.conformance.ralf_threads import SPEC, Thread, Threads
from tests.conftest import SAMPLE_FILES, MakeRepo, let_out


def implemented(threads: Threads, *words: str) -> Thread:
    thread = threads.thread(*words)
    threads.script("Running", "ready; promise")
    thread.to("Running")
    thread.run(expect=4)
    assert thread.state() == "Implemented"
    return thread


@pytest.mark.requirement("S4.26", "S4.27", "S4.28")
def test_polish_is_verified_again_and_may_be_repeated(threads: Threads) -> None:
    thread = implemented(threads)
    threads.script("Polishing", "echo '# docs' >> README.md; echo '# broken' > app.py", run=2)
    threads.script("Polishing", "ready; echo '# more docs' >> README.md")
    thread.done("choose", "polish")
    thread.run(expect=4)
    assert thread.state() == "Polishing", "what breaks a criterion is not done"
    thread("respawn", thread.id)
    assert thread.state() == "Implemented"
    thread.done("choose", "polish")
    thread.run(expect=4)
    assert thread.state() == "Implemented"
    thread.done("choose", "review")
    assert thread.state() == "PendingReview"


@pytest.mark.requirement("S4.28")
def test_what_was_changed_by_hand_must_meet_criteria_before_review(threads: Threads) -> None:
    thread = implemented(threads)
    (thread.repo / "app.py").write_text("nothing\n", encoding="utf-8")
    refused = thread("move", "PendingReview", thread.id)
    assert refused.code == 1
    assert "C1" in refused.out
    assert thread.state() == "Implemented"


JUDGED = f"{SPEC}- the docs read well\n"


def judged(threads: Threads) -> Thread:
    """A thread in Implemented, with one criterion that only a verifier can judge."""
    thread = threads.thread()
    threads.script("Running", "ready; promise")
    threads.script("Verifying", 'count; report verification.md Verification "- C2: PASS, a joy"')
    thread.to("Running", JUDGED)
    thread.run(expect=4)
    assert thread.state() == "Implemented"
    return thread


@pytest.mark.requirement("S4.27", "S4.28")
def test_what_no_command_proves_is_judged_again_after_the_polish(threads: Threads) -> None:
    thread = judged(threads)
    verdict = 'report verification.md Verification "Round: $DETENT_RUN_NUMBER\\n- C2: {}"'
    threads.script("Polishing", f"if [ $DETENT_ROLE = verifier ]; then {verdict.format('FAIL, empty')}; fi")
    threads.script("Polishing", "echo '# docs' >> README.md; " + verdict.format("PASS, says the polisher"), run=3)
    thread.done("choose", "polish")
    thread.run(expect=4)
    assert [run["role"] for run in thread.entries("run_planned")][2:] == ["implementer", "verifier"]
    assert thread.state() == "Polishing", "what fails keeps it there"
    threads.script("Polishing", "echo '# better docs' >> README.md", run=5)
    threads.script("Polishing", verdict.format("PASS, better"), run=6)
    thread("respawn", thread.id)
    thread.run(expect=4)
    assert [run["role"] for run in thread.entries("run_planned")][4:] == ["implementer", "verifier"]
    assert thread.state() == "Implemented"
    thread.done("choose", "review")
    thread.audit()


@pytest.mark.requirement("S4.28")
def test_a_polish_that_changes_nothing_needs_no_new_verdict(threads: Threads) -> None:
    thread = judged(threads)
    thread.done("choose", "polish")
    thread.run(expect=4)
    assert thread.state() == "Implemented"
    assert [run["role"] for run in thread.entries("run_planned")][2:] == ["implementer"]


@pytest.mark.requirement("S4.28")
def test_a_verdict_is_about_the_files_it_was_given_on(threads: Threads) -> None:
    thread = judged(threads)
    (thread.repo / "README.md").write_text("by hand\n", encoding="utf-8")
    refused = thread("move", "PendingReview", thread.id)
    assert refused.code == 1
    assert 'C2: verification.md, "## Verification" is about other files than there are now' in refused.out
    report = thread.folder / "verification.md"
    report.write_text("## Verification\n\n- C2: PASS, I read it myself\n", encoding="utf-8")
    thread.done("move", "PendingReview")


@pytest.mark.requirement("S4.29", "S4.32", "S4.33", "S4.57", "S4.66", "S4.67")
def test_a_person_approves_and_commits_what_was_built(threads: Threads, repo: MakeRepo) -> None:
    thread = implemented(threads)
    thread.done("choose", "review")
    assert thread("move", "Approved", "--as", "agent", thread.id).code == 1
    thread.run(expect=4)
    assert thread.state() == "PendingReview", "nobody but a person goes on"
    thread.done("approve")
    thread.run(expect=4)
    assert thread.state() == "ReadyToCommit"
    done = thread.done("commit")
    assert "Done" in done.out
    assert thread.state() == "Done"
    assert repo.git(thread.repo, "branch", "--show-current") == "ralf/sums"
    assert "ready" in repo.git(thread.repo, "show", "HEAD:app.py")
    assert repo.git(thread.repo, "status", "--porcelain") == ""
    assert "ready" not in repo.git(thread.repo, "show", "main:app.py"), "merging is the person's"
    assert thread("restore", thread.id).code == 1
    thread.audit()


@pytest.mark.requirement("S4.58", "S4.60", "S4.61", "S4.62", "S4.63")
def test_quick_mode_goes_from_checkpoint_to_checkpoint(threads: Threads) -> None:
    thread = threads.thread("--mode", "quick")
    threads.script("Running", "ready; promise")
    thread.run(expect=4)
    assert thread.state() == "Drafting", "the spec is a person's"
    thread.spec(SPEC)
    thread.done("approve")
    thread.run(expect=4)
    assert thread.path_of_moves() == [
        *("Finalized", "Preflight", "Configuring", "Running", "Verifying", "Implemented", "PendingReview"),
    ]
    for words in (("status", thread.id), ("next", thread.id), ("inbox",)):
        assert "Recommend Approve" in thread(*words).out
    page = thread.json("evidence", thread.id)["path"]
    assert "Recommend Approve" in Path(page).read_text(encoding="utf-8")
    thread.run(expect=4)
    assert thread.state() == "PendingReview", "a recommendation approves nothing"
    (thread.repo / "app.py").write_text("# changed, and not ready any more\n", encoding="utf-8")
    assert "Recommend Approve" not in thread.done("status").out
    thread.done("approve")
    thread.run(expect=4)
    assert thread.state() == "ReadyToCommit", "the commit is a person's"


@pytest.mark.requirement("S4.58")
def test_the_actor_that_goes_on_depends_on_the_mode(threads: Threads) -> None:
    found = {}
    for mode in ("quick", "methodical"):
        thread = threads.thread("--mode", mode, task_id=mode)
        thread.spec(SPEC)
        thread.done("approve", "--skip-assess")
        found[mode] = thread.json("next", thread.id)["edges"][0]["by"]
    assert found == {"quick": ["engine", "person"], "methodical": ["person"]}


@pytest.mark.requirement("S4.61")
def test_methodical_mode_recommends_nothing(threads: Threads) -> None:
    thread = implemented(threads)
    thread.done("choose", "review")
    assert "Recommend" not in thread.done("status").out


@pytest.mark.requirement("S4.25", "S4.46", "S4.55")
def test_revise_asks_first_and_resets_only_after_a_yes(threads: Threads, repo: MakeRepo) -> None:
    thread = threads.thread(more="[machine.ralf.limits]\niteration = 1")
    thread.to("Running")
    threads.script("Running", "echo '# half' >> app.py")
    thread.run(expect=4)
    assert thread.state() == "Stuck"
    refused = thread("choose", "R", thread.id)
    assert refused.code == 1
    assert "This will reset changes. Continue?" in refused.out
    assert "then: detent move Drafting sums --yes" in refused.out
    assert "# half" in (thread.repo / "app.py").read_text(encoding="utf-8")
    thread.done("choose", "revise", "--yes")
    assert thread.state() == "Drafting"
    assert "# half" not in (thread.repo / "app.py").read_text(encoding="utf-8")
    assert repo.git(thread.repo, "branch", "--show-current") == "main"
    assert thread.entries("moved")[-1]["by"] == "person"


@pytest.mark.requirement("S4.31")
def test_spec_that_was_wrong_is_taken_back_from_review_too(threads: Threads, repo: MakeRepo) -> None:
    thread = implemented(threads)
    thread.done("choose", "review")
    assert thread("choose", "revise", thread.id).code == 1
    thread.done("choose", "revise", "--yes")
    assert thread.state() == "Drafting"
    assert "ready" not in (thread.repo / "app.py").read_text(encoding="utf-8")
    assert "ralf/sums" not in repo.git(thread.repo, "branch", "--list")


@pytest.mark.requirement("S4.23", "S4.46")
def test_reconfigure_keeps_changes_and_choices_have_letter_and_word(threads: Threads) -> None:
    thread = threads.thread(more="[machine.ralf.limits]\niteration = 1")
    thread.to("Running")
    threads.script("Running", "echo '# half' >> app.py")
    thread.run(expect=4)
    menu = thread.json("choose", thread.id)
    keys = {choice["key"]: choice["to"] for choice in menu["choices"]}
    assert keys == {"R": "Drafting", "C": "Configuring", "M": "Running", "A": "Abandoned", "D": ""}
    words = thread.done("choose").out
    for line in ("[R] revise", "[C] reconfigure", "[M] assist", "[A] cancel", "[D] diagnose"):
        assert line in words
    unknown = thread("choose", "X", thread.id)
    assert unknown.code == 2
    assert "C (reconfigure)" in unknown.err
    thread.done("choose", "c")
    assert thread.state() == "Configuring"
    assert "# half" in (thread.repo / "app.py").read_text(encoding="utf-8")


@pytest.mark.requirement("S4.40")
def test_configuring_takes_models_and_iterations_from_the_settings(threads: Threads) -> None:
    thread = threads.thread(
        "--agent", "implementer=two", "--agent", "verifier=one", more="[machine.ralf.limits]\niteration = 4"
    )
    thread.to("Configuring")
    thread.done("move", "Running")
    threads.script("Running", "ready; promise")
    thread.run(expect=4)
    assert thread.entries("run_planned")[-1]["agent"] == "two"
    assert thread.json("status", thread.id)["loop"]["most"] == 4


@pytest.mark.requirement("S4.18", "S4.40")
def test_a_paused_loop_is_configured_anew_and_its_changes_stay(threads: Threads) -> None:
    thread = threads.thread()
    thread.to("Running")
    threads.script("Running", "echo '# half' >> app.py")
    thread.run("--once")
    thread.done("stop")
    thread.done("choose", "C")
    assert thread.state() == "Configuring"
    thread.done("configure", "--agent", "implementer=two", "--agent", "verifier=two", "--limit", "iteration=4")
    thread.done("choose", "start")
    threads.script("Running", "ready; promise")
    thread.run(expect=4)
    assert thread.state() == "Implemented"
    assert thread.entries("run_planned")[-1]["agent"] == "two"
    loop = thread.json("status", thread.id)["loop"]
    assert (loop["used"], loop["most"]) == (1, 4)
    assert (thread.repo / "app.py").read_text(encoding="utf-8").endswith("# half\n# ready\n")
    thread.audit()


@pytest.mark.requirement("S4.34")
def test_giving_up_ends_the_run_first(threads: Threads) -> None:
    thread = threads.thread()
    thread.to("Running")
    here = threads.meeting()
    threads.script("Running", "echo '# half' >> app.py; meet here")
    driving = threads.begin("run", thread.id, cwd=thread.repo)
    here.reached()
    thread.done("say", "/abandon not worth it")
    driving.done()
    assert thread.state() == "Abandoned"
    assert thread.entries("moved")[-1]["reason"] == "not worth it"
    assert "# half" in (thread.repo / "app.py").read_text(encoding="utf-8"), "work stays"
    late = thread("configure", "--mode", "quick", thread.id)
    assert (late.code, "Abandoned is an end" in late.err) == (1, True)


def test_slash_words_are_moves_and_others_need_a_listener(threads: Threads) -> None:
    thread = threads.thread()
    thread.spec(SPEC)
    assert thread("say", "/finalize", thread.id).code == 1
    thread.done("say", "/finalize", "--skip-assess")
    assert thread.state() == "Finalized"
    silent = thread("say", "hello", thread.id)
    assert silent.code == 1
    assert "nobody listens in Finalized" in silent.err
    assert thread("say", "/nonsense", thread.id).code == 2
    thread.done("say", "/begin")
    assert thread.state() == "Preflight"


def test_no_thread_restores_files_below_the_agent_of_another(threads: Threads) -> None:
    thread = threads.thread()
    thread.to("Running")
    other = threads.thread(task_id="other")
    here = threads.meeting()
    threads.script("Running", "echo half > half.txt; meet here")
    driving = threads.begin("run", thread.id, "--once", cwd=thread.repo)
    here.reached()
    # Off its branch, so that only the living run stands in the way.
    threads.make_repo.git(thread.repo, "switch", "--quiet", "main")
    refused = other("restore", other.id)
    assert refused.code == 1
    assert "agent run #1 of task sums works in this checkout" in refused.err
    assert (thread.repo / "half.txt").exists()
    threads.make_repo.git(thread.repo, "switch", "--quiet", "ralf/sums")
    here.go()
    driving.done()


def test_configure_mode_writes_the_thread_without_a_restore(threads: Threads) -> None:
    thread = threads.thread()
    assert "mode:    quick" in thread.done("configure", "--mode", "quick").out
    assert '"mode": "quick"' in (thread.folder / "thread.json").read_text(encoding="utf-8")
    assert "put back" not in thread.done("move", "Assessing").out
    thread.audit()


def test_another_mode_holds_at_once_and_shows_after_the_run(threads: Threads) -> None:
    thread = threads.thread()
    thread.to("Running")
    here = threads.meeting()
    threads.script("Running", "meet here")
    driving = threads.begin("run", thread.id, "--once", cwd=thread.repo)
    here.reached()
    thread.done("configure", "--mode", "quick")
    assert thread.json("status", thread.id)["mode"] == "quick"
    assert '"mode": "methodical"' in (thread.folder / "thread.json").read_text(encoding="utf-8")
    thread.done("configure", "--limit", "iteration=5")
    here.go()
    driving.done()
    assert '"mode": "quick"' in (thread.folder / "thread.json").read_text(encoding="utf-8")
    assert "put back" not in thread.done("history").out


def test_diff_leaves_out_what_person_committed_before_the_work_began(threads: Threads) -> None:
    thread = threads.thread()
    (thread.repo / "README.md").write_text("mine\n", encoding="utf-8")
    threads.make_repo.git(thread.repo, "commit", "--quiet", "--all", "--message", "mine")
    threads.script("Running", "ready; promise")
    thread.to("Running")
    thread.run(expect=4)
    assert thread.json("diff", thread.id)["files"] == [{"status": "M", "path": "app.py"}]


def test_approval_of_unchanged_files_says_what_comes_next(threads: Threads) -> None:
    thread = threads.thread()
    threads.script("Running", "promise")
    thread.to("Running", SPEC.replace("grep -q ready app.py", "test -f app.py"))
    thread.run(expect=4)
    thread.done("choose", "review")
    thread.done("approve")
    thread.run(expect=4)
    refused = thread("commit", thread.id)
    assert (refused.code, "nothing to commit" in refused.out) == (1, True), refused
    assert "next: record the commit that holds it: detent commit --sha HEAD" in refused.out
    thread.done("commit", "--sha", "HEAD")
    assert thread.state() == "Done"
    thread.audit()


TEST = "def test_sum():\n    assert 1 + 1 == 2\n"


def test_weakened_test_is_seen_by_a_person_before_the_approval(threads: Threads) -> None:
    files = {**SAMPLE_FILES, "test_app.py": TEST, ".gitignore": "__pycache__/\n", "detent.toml": threads.settings()}
    threads.repo = threads.make_repo("repo", files)
    let_out(threads.repo)
    thread = threads.thread()
    threads.script("Running", "sed -i 's/== 2/>= 2/' test_app.py; ready; promise")
    pytest_line = f"{sys.executable} -m pytest -q -p no:cacheprovider"
    thread.to("Running", f"{SPEC}- the tests pass; cmd: {pytest_line}\n")
    thread.run(expect=4)
    thread.done("choose", "review")
    refused = thread("approve", thread.id)
    assert (refused.code, thread.state()) == (1, "PendingReview")
    assert "what judges the work changed: test_app.py::test_sum" in " ".join(refused.out.split())
    thread.done("approve", "--tests")
    assert thread.state() == "Approved"
    thread.audit()
