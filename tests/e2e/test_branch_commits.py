"""What the engine commits by itself for a task in the checkout: at gates, after a cut, and when it is blocked."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from detent.runner.task.open import find_project, load_task
from detent.verify.witness.commits import check_commits
from tests.conftest import Detent, MakeRepo
from tests.e2e.pipeline_task import POST_MORTEM, REPORT, Pipelines, PipelineTask
from tests.e2e.stubs import put_program


@pytest.fixture
def pipelines(detent: Detent, repo: MakeRepo, tmp_path: Path) -> Iterator[Pipelines]:
    made = Pipelines(detent, repo, tmp_path)
    made.honest()
    yield made
    made.close()


def test_every_passed_gate_has_a_commit_with_the_log(pipelines: Pipelines) -> None:
    task = pipelines.task().begun()
    main = task.git("rev-parse", "main")
    task.run(expect=4)
    assert task.state() == "Complete"
    assert task.subjects() == ["docs(design): pass the design gate", "feat(build): pass the build gate"]
    assert task.git("rev-parse", "main") == main
    assert task.git("log", "-1", "--format=%an <%ae> %cn") == "Detent <detent@localhost> Detent"
    assert task.git("rev-parse", "--abbrev-ref", "HEAD") == "pipeline/p"
    assert task.git("status", "--porcelain") == ""
    assert "PassBuild: Building -> Complete" in task.git("show", "HEAD:scaffolding/log.md")
    assert "PassBuild" not in task.git("show", "HEAD~1:scaffolding/log.md")
    acted = task.entries("acted")[-1]["result"]
    assert acted["sha"] == task.git("rev-parse", "HEAD")
    task.audit()


def test_hooks_signing_and_the_persons_identity_are_left_alone(pipelines: Pipelines) -> None:
    task = pipelines.task().begun()
    mark = task.repo.parent / "hook-ran"
    for name in ("pre-commit", "commit-msg", "post-commit", "post-index-change", "reference-transaction"):
        put_program(task.repo / ".git/hooks", name, f"echo {name} >> {mark}; exit 0")
    task.git("config", "commit.gpgSign", "true")
    mark.unlink(missing_ok=True)
    task.run(expect=4)
    assert task.subjects()[-1] == "feat(build): pass the build gate"
    assert not mark.exists(), mark.read_text(encoding="utf-8")


def test_staged_files_are_committed_and_privately_ignored_ones_are_not(pipelines: Pipelines) -> None:
    task = pipelines.task().begun()
    with (task.repo / ".git/info/exclude").open("a", encoding="utf-8") as file:
        file.write("/.editor/\n")
    (task.repo / ".editor").mkdir()
    (task.repo / ".editor/settings").write_text("mine\n", encoding="utf-8")
    (task.repo / "notes.txt").write_text("staged by a person\n", encoding="utf-8")
    task.git("add", "notes.txt")
    task.run(expect=4)
    files = task.git("ls-tree", "-r", "--name-only", "HEAD").splitlines()
    assert "notes.txt" in files, "it lay in the tree that was judged"
    assert ".editor/settings" not in files
    assert "scaffolding/state.json" not in files
    assert (task.repo / ".editor/settings").read_text(encoding="utf-8") == "mine\n"


def test_without_a_branch_of_its_own_no_branch_is_moved(pipelines: Pipelines) -> None:
    task = pipelines.task()
    task.done("move", "Designing", "--no-branch")
    head = task.git("rev-parse", "HEAD")
    task.run(expect=4)
    assert task.state() == "Complete"
    assert task.git("rev-parse", "--abbrev-ref", "HEAD") == "main"
    assert task.git("rev-parse", "HEAD") == head
    assert task.git("for-each-ref", "--format=%(refname)", "refs/heads") == "refs/heads/main"


def test_checkout_on_another_branch_delays_the_commit(pipelines: Pipelines) -> None:
    task = pipelines.task().begun()
    meeting = pipelines.meeting()
    pipelines.script("Designing", "count; design small; meet here")
    driving = pipelines.begin("run", "--once", "p", cwd=task.repo)
    meeting.reached()
    task.git("switch", "--quiet", "main")
    meeting.go()
    assert driving.done().code == 1
    refused = task("move", "Building", "p")
    assert refused.code == 1
    assert "git switch pipeline/p" in refused.out + refused.err
    task.git("switch", "--quiet", "pipeline/p")
    task.run(expect=4)
    assert task.subjects() == ["docs(design): pass the design gate", "feat(build): pass the build gate"]
    task.audit()


def blocked(pipelines: Pipelines, script: str) -> PipelineTask:
    """Blocked in Building, with files the agent made, changed and removed."""
    task = pipelines.task().begun()
    pipelines.script("Building", f"count; echo broken > app.py; echo n > new.txt; rm -f README.md\n{script}")
    task.run(expect=4)
    assert task.state() == "Blocked"
    return task


def test_the_third_failure_commits_the_broken_state(pipelines: Pipelines) -> None:
    task = blocked(pipelines, "")
    assert task.subjects() == [
        "docs(design): pass the design gate",
        "fix(build): checkpoint broken state before revert",
        "revert(build): restore the tree of the last passed gate",
        "docs(build): log the post-mortem of the block",
    ]
    broken, gate = task.commit_of("fix(build)"), task.commit_of("docs(design)")
    assert task.git("show", f"{broken}:app.py") == "broken"
    assert "new.txt" in task.git("ls-tree", "--name-only", broken)
    restored = task.commit_of("revert(build)")
    assert task.git("rev-parse", f"{restored}^{{tree}}") == task.git("rev-parse", f"{gate}^{{tree}}")
    assert not (task.repo / "new.txt").exists()
    assert (task.repo / "README.md").exists()
    assert "def add" in (task.repo / "app.py").read_text(encoding="utf-8")
    assert task.git("status", "--porcelain") == ""
    assert pipelines.counted() == ["Designing 1", "Building 2", "Building 3", "Building 4"]
    task.audit()


def test_the_log_and_the_report_say_what_the_gates_said(pipelines: Pipelines) -> None:
    task = blocked(pipelines, "")
    assert "What went wrong" in task.log
    assert "grep -q ready app.py" in task.log.partition("What went wrong")[2]
    assert task.log == task.git("show", "HEAD:scaffolding/log.md") + "\n"
    why = "build_ok: 'grep -q ready app.py' failed"
    assert task.log.count(f"- By: engine\n- Because: {why}") == 3
    lines = [line for line in task("history", "p").out.splitlines() if " because " in line]
    assert len(lines) == 3, "moves that rest on no failure have no such reason"
    assert f"Building -> BuildRetrying by engine, because {why}" in lines[0], lines
    report = (task.folder / "blocked.md").read_text(encoding="utf-8").strip()
    assert report.startswith("BLOCKED: build: build_ok: 'grep -q ready app.py' failed")
    options = "Options: [say how to pass build_ok, change design.md, another approach]"
    assert f"{options}. Recommendation: another approach.\n" in report, "each attempt failed by the same gate"
    for words in (("inbox",), ("status", "p")):
        shown = task(*words)
        assert "BLOCKED: build" in shown.out, shown
    assert "BLOCKED: build" in task("run", "p").out


@pytest.mark.parametrize("script", [POST_MORTEM + REPORT])
def test_the_agents_own_words_are_taken_if_it_left_some(pipelines: Pipelines, script: str) -> None:
    task = blocked(pipelines, script)
    assert (
        "- What went wrong: the parser\n- What to try differently: a stack\n- What to avoid: the recursion" in task.log
    )
    report = (task.folder / "blocked.md").read_text(encoding="utf-8")
    assert report.startswith("BLOCKED: it recurses. Options: [a stack, a limit]. Recommendation: a stack.\n")


def test_restore_brings_the_broken_state_back(pipelines: Pipelines) -> None:
    task = blocked(pipelines, "")
    task.done("restore")
    assert (task.repo / "app.py").read_text(encoding="utf-8") == "broken\n"
    assert (task.repo / "new.txt").exists()
    assert not (task.repo / "README.md").exists()
    assert "What went wrong" in task.log
    task.audit()


def test_block_before_any_gate_goes_back_to_where_work_began(pipelines: Pipelines) -> None:
    task = pipelines.task().begun()
    pipelines.script("Designing", "count; echo n > new.txt")
    task.run(expect=4)
    assert task.state() == "Blocked"
    assert task.subjects()[:2] == [
        "fix(design): checkpoint broken state before revert",
        "revert(design): restore the tree of the last passed gate",
    ]
    assert task.git("ls-tree", "-r", "--name-only", task.commit_of("revert")) == task.git(
        "ls-tree", "-r", "--name-only", "main"
    )
    task.audit()


def test_unblocking_leads_through_recovery_to_the_blocked_phase(pipelines: Pipelines) -> None:
    task = blocked(pipelines, POST_MORTEM)
    pipelines.honest()
    task.done("answer", "use a stack")
    assert task.state() == "Recovering"
    assert not (task.folder / "blocked.md").exists()
    assert task.json("status", "p")["counters"].get("attempts", 0) == 0
    task.run(expect=4)
    assert task.path_of_moves()[-3:] == ["Recovering", "Building", "Complete"]
    prompt = task.prompt(5)
    assert "use a stack" in prompt
    assert "What to avoid: the recursion" in prompt
    assert "fix(build): checkpoint broken state before revert" in prompt
    assert "read `scaffolding/design.md`" in prompt
    assert "grep -q ready app.py: exit 1" in prompt, "the commands were run before the agent came"
    assert "Recover the context first" not in task.prompt(2)
    task.audit()


def test_killed_run_is_drop_whose_work_is_committed_and_recovered(pipelines: Pipelines) -> None:
    task = pipelines.task().begun()
    meeting = pipelines.meeting()
    pipelines.script("Building", "count; echo half > half.txt; meet here", run=2)
    driving = pipelines.begin("run", "p", cwd=task.repo)
    _, pid = meeting.reached()
    os.kill(pid, signal.SIGKILL)
    assert driving.done().code == 4
    assert task.path_of_moves() == ["Designing", "Building", "Dropped", "Recovering", "Building", "Complete"]
    assert task.subjects() == [
        "docs(design): pass the design gate",
        "wip(build): Building was cut short",
        "feat(build): pass the build gate",
    ]
    words = task.git("log", "-1", "--format=%B", task.commit_of("wip"))
    assert "Where: Building; its last agent run ended as killed" in words
    assert "Next: recover the context" in words
    assert "half.txt" in task.git("show", "--name-only", "--format=", task.commit_of("wip"))
    assert "DropSession: Building -> Dropped" in task.git("show", f"{task.commit_of('wip')}:scaffolding/log.md")
    assert "wip(build): Building was cut short" in task.prompt(3)
    assert task.json("status", "p")["counters"].get("attempts", 0) == 0
    task.audit()


def test_log_that_claims_more_than_engine_saw_chooses_no_phase(pipelines: Pipelines) -> None:
    task = pipelines.task().begun()
    pipelines.script(
        "Designing",
        "printf '# Log\\n\\n**Build gate passed, deployed.**\\n' >> $DETENT_TASK_DIR/log.md; kill -9 $$",
        run=1,
    )
    task.run(expect=4)
    assert task.path_of_moves()[:4] == ["Designing", "Dropped", "Recovering", "Designing"]
    assert "**Build gate passed, deployed.**" in task.log


def test_audit_names_a_missing_and_a_foreign_commit(pipelines: Pipelines) -> None:
    task = pipelines.task().begun()
    task.run(expect=4)
    task.audit()
    main, sha = task.git("rev-parse", "main"), task.commit_of("docs(design)")
    opened = load_task(find_project(str(task.repo)), "p")
    (found,) = check_commits(opened, [(9, "9:gate_commit", {"sha": main})])
    assert (found.what, found.is_warning) == (f"commit {main[:12]} does not say that p/9:gate_commit made it", False)
    task.git("switch", "--quiet", "main")
    task.git("branch", "--quiet", "-D", "pipeline/p")
    task.git("reflog", "expire", "--expire=now", "--all")
    task.git("gc", "--quiet", "--prune=now")
    findings = [finding["what"] for finding in task("audit", "p", "--json").json()["findings"]]
    assert f"commit {sha[:12]} is gone from the repository" in findings


def test_filter_that_agent_planted_in_git_settings_is_not_run(pipelines: Pipelines) -> None:
    """No kernel holds the agents of these tests, so that .git is theirs to write."""
    task = pipelines.task().begun()
    mark = task.repo.parent / "filter-ran"
    plant = f"git config filter.x.clean 'touch {mark}; cat'; echo '* filter=x' > .gitattributes"
    pipelines.script("Designing", f"design small; {plant}")
    refused = task.run(expect=1)
    assert "filter.x.clean" in refused.out + refused.err
    assert not mark.exists()
    assert task.subjects() == []
    task.git("config", "--remove-section", "filter.x")
    task.run(expect=4)
    assert task.subjects() == ["feat(design): pass the design gate", "feat(build): pass the build gate"]
    assert not mark.exists()


def test_a_persons_hook_for_notices_is_told_the_report(pipelines: Pipelines) -> None:
    notice = pipelines.scripts / "told"
    task = pipelines.task(more=f"[notify]\ncommand = 'echo \"$DETENT_WHY\" >> {notice}'\n").begun()
    pipelines.script("Designing", "true")
    task.run(expect=4)
    assert "BLOCKED: design: design_ok: " in notice.read_text(encoding="utf-8")


def test_a_damaged_state_file_is_kept_outside_the_work(pipelines: Pipelines) -> None:
    """The folder it stood in is judged and committed with the work."""
    pipelines.honest(Designing="design small; echo spoilt by a run > $DETENT_TASK_DIR/state.json")
    task = pipelines.task().begun()
    task.run(expect=4)
    assert task.state() == "Complete"
    (note,) = task.entries("run_ended")[0]["restored"]
    assert "; what stood there is now /" in note, note
    kept = Path(note.rpartition(" ")[2])
    assert kept.read_text(encoding="utf-8") == "spoilt by a run\n"
    (task.folder / "state.json").write_text("spoilt by a person", encoding="utf-8")
    (task.folder / "log.md").rename(task.repo.parent / "log.md")
    (task.folder / "log.md").symlink_to(task.repo.parent / "log.md")
    repaired = task.done("doctor", "--repair").out
    again = kept.with_name("state.json.broken-2")
    assert str(again) in repaired, repaired
    assert again.read_text(encoding="utf-8") == "spoilt by a person"
    assert kept.with_name("log.md.broken-1").is_symlink()
    assert "broken-" not in task.git("log", "--all", "--name-only", "--format=%s")
    assert task.git("status", "--porcelain") == ""
    task.audit()
    task.folder.rename(task.repo.parent / "moved")
    task.folder.symlink_to(task.repo.parent / "moved")
    task.done("doctor", "--repair")
    assert kept.with_name("scaffolding.broken-1").is_symlink()
    assert "broken-" not in task.git("status", "--porcelain")


def test_audit_names_missing_lines_and_an_unreadable_log(pipelines: Pipelines) -> None:
    task = pipelines.task().begun()
    task.run(expect=4)
    log = task.folder / "log.md"
    good = log.read_bytes()
    log.write_bytes(bytes(range(255, -1, -1)))
    result = task("audit", "p")
    assert result.code == 1
    assert "log.md can't be read as text: file holds binary data (byte 255)" in result.out
    lacking = "Task p; Begin: Ready -> Designing; PassDesign: Designing -> Building; PassBuild: Building -> Complete"
    assert f"log.md does not tell 4 line(s), first 1: {lacking}" in result.out
    log.write_bytes(good.replace(b"PassBuild", b"PassedBuild"))
    result = task("audit", "p")
    assert (result.code, "does not tell 1 line(s), first 12: PassBuild: Building -> Complete" in result.out) == (
        1,
        True,
    )
    # A shorter log gets its headings back; the text around them stays as people wrote it.
    log.write_bytes(b"\xff\n")
    task.run(expect=4)
    result = task("audit", "p")
    assert (result.code, "log.md can't be read as text: file is not UTF-8 text (byte 0)" in result.out) == (0, True)
    log.write_bytes(good.replace(b"\n", b"\r\n") + "\r\nCaf\u00e9\r\n".encode())
    assert task("audit", "p").out == "13 lines, all of them hold\n", "an editor may write it its own way"
