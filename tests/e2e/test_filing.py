"""What the engine files of a run: the change as it sees it, and the report of a role that only reads."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.conftest import SAMPLE_FILES, let_out
from tests.e2e.agent_runs import Agents, AgentTask

MACHINE = """
format  = 1
name    = "desk"
title   = "write code, have it read"
initial = "coding"

[store]
codec = "markdown_fields"
file  = "NOTE.md"
state = "State"
files = ["NOTE.md"]
[role.coder]
access = "write"
[role.reader]
access = "read"

[gate.patch_filed]
check = "filed"
file  = "code/diff.patch"
fix   = "change something"
[gate.files_filed]
check = "filed"
file  = "code/files/"
fix   = "change something"
[gate.passed]
check   = "verdict"
file    = "review.md"
section = "Review"
value   = "PASS"
fix     = "write review.md"
[gate.failed]
check   = "verdict"
file    = "review.md"
section = "Review"
value   = "FAIL"
fix     = "write review.md"

[state.coding]
role    = "coder"
respawn = "auto"
files   = { "code/diff.patch" = "diff", "code/files/" = "changed" }
[state.reading]
role  = "reader"
files = { "review.md" = "out:review.md" }
[state.over]
end = true

[[edge]]
from  = "coding"
to    = "reading"
needs = ["patch_filed", "files_filed"]
[[edge]]
from  = "reading"
to    = "over"
needs = ["passed"]
[[edge]]
from  = "reading"
to    = "coding"
needs = ["failed"]
"""
PASS = 'printf "## Review\\n\\nPASS\\n\\nread it\\n" > "$DETENT_OUT/review.md"'
FAIL = PASS.replace("PASS", "FAIL")
CODE = "echo '# more' >> app.py; mkdir -p lib; echo new > lib/new.py"


@pytest.fixture
def task(agents: Agents) -> AgentTask:
    files = {**SAMPLE_FILES, "detent.toml": agents.settings(), "desk.toml": MACHINE}
    repo = agents.make_repo("desk", files)
    let_out(repo)
    folder = repo.parent / "desk-task"
    done = agents.detent("new", "./desk.toml", "count", "--id", "desk", "--dir", folder, cwd=repo)
    assert done.code == 0, done
    made = AgentTask(agents.detent, repo, folder, "desk")
    agents.tasks.append(made)
    return made


def filed(task: AgentTask, name: str) -> str:
    return (task.folder / name).read_text(encoding="utf-8")


def test_change_and_report_are_filed_and_open_the_moves(agents: Agents, task: AgentTask) -> None:
    agents.script("coding", CODE)
    agents.script("reading", PASS)
    task.run(expect=0)
    assert task.path_of_moves() == ["reading", "over"]
    assert filed(task, "code/files/lib/new.py") == "new\n"
    assert filed(task, "code/files/app.py") == (task.tree / "app.py").read_text(encoding="utf-8")
    assert sorted(path.name for path in (task.folder / "code/files").rglob("*.py")) == ["app.py", "new.py"]
    patch = task.folder / "code/diff.patch"
    fresh = agents.make_repo("fresh", {**SAMPLE_FILES})
    subprocess.run(["git", "apply", str(patch)], cwd=fresh, check=True)
    assert (fresh / "lib/new.py").read_text(encoding="utf-8") == "new\n"
    assert filed(task, "review.md").startswith("## Review")
    ended = task.entries("run_ended")
    assert set(ended[0]["filed"]["files"]) == {"code/diff.patch", "code/files/"}
    assert set(ended[1]["filed"]["files"]) == {"review.md"}
    assert "$DETENT_OUT" in task.prompt(2)
    assert "`code/diff.patch`, `code/files/`" in task.prompt(1)
    task.audit()


def test_what_an_agent_writes_there_itself_is_replaced(agents: Agents, task: AgentTask) -> None:
    forgery = 'mkdir -p "$DETENT_TASK_DIR/code/files"; echo lie > "$DETENT_TASK_DIR/code/diff.patch"; '
    agents.script("coding", forgery + 'echo lie > "$DETENT_TASK_DIR/code/files/lie.py"; ' + CODE)
    task.run("--once")
    assert "lie" not in filed(task, "code/diff.patch")
    assert not (task.folder / "code/files/lie.py").exists()


def test_a_claimed_change_without_a_change_opens_nothing(agents: Agents, task: AgentTask) -> None:
    forgery = 'mkdir -p "$DETENT_TASK_DIR/code/files"; echo lie > "$DETENT_TASK_DIR/code/diff.patch"; '
    agents.script("coding", forgery + 'echo lie > "$DETENT_TASK_DIR/code/files/lie.py"')
    task.run("--once")
    assert task.path_of_moves() == []
    assert not (task.folder / "code/diff.patch").exists()
    assert "nothing has changed since the work began" in task("move", "reading", task.id, cwd=task.repo).out
    lines = len(task.entries())
    assert "nothing has changed" in task("move", "reading", task.id, cwd=task.repo).out
    assert len(task.entries()) == lines, "the same answer again leaves no line"
    task.audit()


def test_links_made_in_its_place_lead_nowhere(agents: Agents, task: AgentTask) -> None:
    outside = task.repo.parent / "outside"
    outside.mkdir()
    agents.script("coding", f'{CODE}; ln -s "{outside}" "$DETENT_TASK_DIR/code"')
    agents.script("reading", f'echo secret > "{outside}/kept"; ln -s "{outside}/kept" "$DETENT_OUT/review.md"')
    task.run()
    assert task.path_of_moves() == ["reading"]
    assert [path.name for path in outside.iterdir()] == ["kept"]
    assert not (task.folder / "code").is_symlink()
    assert not (task.folder / "review.md").exists()
    assert "review.md was not filed: file can't be read: it is a symbolic link" in "\n".join(
        task.last("run_ended")["restored"]
    )
    task.audit()


def test_a_changed_link_is_named_and_not_copied(agents: Agents, task: AgentTask) -> None:
    agents.script("coding", f"{CODE}; ln -s /etc/hostname link")
    task.run("--once")
    assert task.path_of_moves() == ["reading"]
    assert task.last("run_ended")["restored"] == ["link was not copied: a symbolic link"]
    assert not (task.folder / "code/files/link").exists()
    assert "+/etc/hostname" in filed(task, "code/diff.patch")


def test_a_change_that_only_removes_is_a_change(agents: Agents, task: AgentTask) -> None:
    agents.script("coding", "rm README.md")
    task.run("--once")
    assert task.path_of_moves() == ["reading"]
    assert [path for path in task.folder.rglob("*") if path.is_file() and path.parent.name == "files"] == []


def test_a_report_of_an_earlier_run_is_not_filed_again(agents: Agents, task: AgentTask) -> None:
    agents.script("coding", "echo $DETENT_RUN_NUMBER >> app.py")
    agents.script("reading", FAIL, run=2)
    agents.script("reading", "true", run=4)
    task.run()
    assert task.path_of_moves() == ["reading", "coding", "reading"]
    assert task.last("run_ended")["filed"]["files"] == {}
    assert "FAIL" in filed(task, "review.md"), "what was filed stays"


def test_the_same_report_again_is_a_new_report(agents: Agents, task: AgentTask) -> None:
    agents.script("coding", "echo $DETENT_RUN_NUMBER >> app.py")
    agents.script("reading", FAIL, run=2)
    agents.script("reading", FAIL, run=4)
    agents.script("reading", PASS, run=6)
    task.run(expect=0)
    assert task.path_of_moves() == ["reading", "coding", "reading", "coding", "reading", "over"]
    task.audit()


def test_work_by_hand_is_filed_when_a_person_moves_on(task: AgentTask) -> None:
    assert task("move", "reading", task.id, cwd=task.repo).code == 1
    (task.tree / "app.py").write_text("mine = 1\n", encoding="utf-8")
    assert task("move", "reading", task.id, cwd=task.repo).code == 0
    assert filed(task, "code/files/app.py") == "mine = 1\n"
    line = task.last("filed")
    assert line["tree"] == task.last("moved")["tree"]
    listing = json.loads((task.control / "objects" / line["files"]["code/files/"]).read_text(encoding="utf-8"))
    assert list(listing) == ["code/files/app.py"]
    assert "filed code/diff.patch, code/files/" in task("history", task.id, cwd=task.repo).out
    task.audit()


def test_a_filed_change_that_was_altered_is_made_anew(agents: Agents, task: AgentTask) -> None:
    agents.script("coding", f"{CODE}; exit 1")
    task.run("--once")
    assert task.path_of_moves() == []
    (task.folder / "code/diff.patch").write_text("weaker\n", encoding="utf-8")
    (task.folder / "code/files/more.py").write_text("more\n", encoding="utf-8")
    assert task("move", "reading", task.id, cwd=task.repo).code == 0
    assert filed(task, "code/diff.patch").startswith("diff --git")
    assert not (task.folder / "code/files/more.py").exists()


def test_a_report_too_large_is_refused_with_its_size(agents: Agents, task: AgentTask) -> None:
    agents.script("coding", CODE)
    agents.script("reading", 'head -c 5000000 /dev/zero > "$DETENT_OUT/review.md"')
    task.run()
    assert task.path_of_moves() == ["reading"]
    assert "5000000 bytes, at most" in "\n".join(task.last("run_ended")["restored"])


def test_very_large_change_is_not_copied_and_says_so(agents: Agents, task: AgentTask) -> None:
    agents.script("coding", "mkdir many; for i in $(seq 501); do echo $i > many/$i; done")
    task.run("--once")
    assert task.path_of_moves() == []
    why = "\n".join(task.last("run_ended")["restored"])
    assert "code/files/ was not filed: the change has 501 files with" in why
    assert why in task("move", "reading", task.id, cwd=task.repo).out


def test_a_folder_for_reports_that_leads_elsewhere_is_not_read(agents: Agents, task: AgentTask) -> None:
    outside = task.repo.parent / "outside"
    outside.mkdir()
    elsewhere = PASS.replace("$DETENT_OUT", str(outside))
    agents.script("coding", CODE)
    agents.script("reading", f'{elsewhere}; rm -r "$DETENT_OUT"; ln -s "{outside}" "$DETENT_OUT"')
    task.run()
    assert task.path_of_moves() == ["reading"]
    assert "the folder for reports was replaced by a link" in "\n".join(task.last("run_ended")["restored"])
    assert not (task.folder / "review.md").exists()


def test_machine_file_with_bad_place_or_source_does_not_load(task: AgentTask, tmp_path: Path) -> None:
    bad = {
        '"../x" = "diff"': "must be a path inside the task folder",
        '"x" = "patch"': "unknown source 'patch'",
        '"x" = "changed"': "must end with '/'",
        '"x/" = "diff"': "must not end with '/'",
        '"x" = "out:a/b"': "unknown source 'out:a/b'",
        '"NOTE.md" = "out:a"': "is written by the engine already",
    }
    for number, (files, problem) in enumerate(bad.items()):
        path = tmp_path / f"bad-{number}.toml"
        path.write_text(MACHINE.replace('{ "review.md" = "out:review.md" }', f"{{ {files} }}"), encoding="utf-8")
        done = task("machine", "check", path, cwd=task.repo)
        assert done.code != 0, files
        assert problem in done.out + done.err, (files, done)
