"""`land` proves work by the rules of the branch that receives it, also where a person merged it by hand."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import COMMAND_TIMEOUT_S, SAMPLE_FILES, Detent, MakeRepo, let_out
from tests.e2e.clone_task import CHECK, CloneTask, refs
from tests.e2e.test_land import assert_refused, commit_in_checkout, finished, proofs

SETTINGS = '[commands]\ngate = "sh ci/check.sh"\n\n[protect]\ndeny = ["detent.toml", "ci/**"]\n'
BROKEN = "def broken(:\n"
PARSES = "python3 -m py_compile app.py"


def with_gate(repo: MakeRepo, name: str = "repo") -> Path:
    return repo(name, {**SAMPLE_FILES, "detent.toml": SETTINGS, "ci/check.sh": "exit 0\n"})


def commands(task: CloneTask, line: str = "") -> None:
    """Commit settings with one more command on the receiving branch."""
    commit_in_checkout(task, "detent.toml", SETTINGS.replace("\n\n", f"\n{line}\n\n", 1))


def test_stricter_protected_check_on_the_branch_refuses_the_landing(detent: Detent, repo: MakeRepo) -> None:
    task = finished(detent, repo, path=with_gate(repo))
    commit_in_checkout(task, "ci/check.sh", "echo no new.txt is wanted; ! test -e new.txt\n")
    assert_refused(task, "'sh ci/check.sh' fails on the merged tree (exit 1)", "no new.txt is wanted")
    commit_in_checkout(task, "ci/check.sh", "test -e new.txt\n")
    landed = task.json("land")
    assert landed["how"] == "merge"
    assert task.history()[-1]["judged_by"] == task.git("rev-parse", "main^1")


def test_new_command_of_the_branch_runs_before_work_lands(detent: Detent, repo: MakeRepo) -> None:
    task = finished(detent, repo, path=with_gate(repo))
    commands(task, 'extra = "echo extra rule; ! grep -q better app.py"')
    assert_refused(task, "fails on the merged tree", "extra rule", "main wants it")
    commands(task, 'extra = "grep -q better app.py"')
    shown = task.json("land")
    assert {row["line"]: row["from"] for row in shown["plan"]["commands"]} == {
        "sh ci/check.sh": ["main", "task"],
        "grep -q better app.py": ["main"],
        CHECK: ["task"],
    }
    ran = {row["command"] for row in shown["receipts"]}
    assert ran == {"sh ci/check.sh", "grep -q better app.py", CHECK}


def test_unsandboxed_commands_of_the_branch_need_trust_before_they_run(detent: Detent, repo: MakeRepo) -> None:
    path = with_gate(repo)
    let_out(path)
    task = finished(detent, repo, path=path)
    mark = path.parent / "ran"
    commands(task, f'extra = "touch {mark}"')
    wary = Detent(detent.directory, detent.environment, trusts=False)
    landed = wary("land", task.id, cwd=path)
    assert (landed.code, mark.exists()) == (4, False), landed
    assert "detent trust --show" in landed.err
    assert wary("trust", "--yes", cwd=path).code == 0
    assert wary("land", task.id, cwd=path).code == 0
    assert mark.exists()


def test_branch_that_drops_command_does_not_spare_work_from_it(detent: Detent, repo: MakeRepo) -> None:
    path = repo("repo", {**SAMPLE_FILES, "detent.toml": '[commands]\nold = "test ! -e other.txt"\n'})
    task = finished(detent, repo, path=path)
    commit_in_checkout(task, "detent.toml", '[commands]\nnew = "true"\n')
    commit_in_checkout(task, "other.txt", "other\n")
    assert_refused(task, "'test ! -e other.txt' fails on the merged tree", "the task wants it")


def test_pattern_protected_only_on_the_branch_is_taken_from_there(detent: Detent, repo: MakeRepo) -> None:
    path = repo("repo", {**SAMPLE_FILES, "rules.sh": "exit 1\n", "detent.toml": ""})
    task = CloneTask(detent, repo, path)
    (task.tree / "rules.sh").write_text("exit 0\n", encoding="utf-8")
    task.to("done")
    commit_in_checkout(task, "detent.toml", '[commands]\nrules = "sh rules.sh"\n[protect]\ndeny = ["rules.sh"]\n')
    assert_refused(task, "'sh rules.sh' fails on the merged tree (exit 1)")


def merge_by_hand(task: CloneTask, text: str, how: str = "merge") -> None:
    """What `land` advises when both sides changed a file, with the content a person gave it."""
    if how == "merge":
        task.git("merge", "--quiet", "--no-ff", "--no-commit", "-X", "theirs", "phase/t")
    elif how == "squash":
        task.git("merge", "--quiet", "--squash", "-X", "theirs", "phase/t")
    else:
        task.git("cherry-pick", "--no-commit", "main..phase/t")
    if text:
        (task.repo / "app.py").write_text(text, encoding="utf-8")
    task.git("add", "--all")
    task.git("commit", "--quiet", "--message=by hand")


def test_merge_by_hand_that_breaks_code_is_refused_until_fixed(detent: Detent, repo: MakeRepo) -> None:
    task = finished(detent, repo, check=PARSES)
    commit_in_checkout(task, "app.py", SAMPLE_FILES["app.py"] + "# mine\n")
    assert_refused(task, "both changed app.py", "git merge phase/t")
    merge_by_hand(task, BROKEN)
    assert_refused(task, f"'{PARSES}' fails on main", "def broken(:", "fix it on main and commit, then: detent land t")
    commit_in_checkout(task, "app.py", SAMPLE_FILES["app.py"] + "# both\n")
    before = proofs(task)
    done = task.json("land")
    line = task.history()[-1]
    assert (done["how"], line["how"]) == ("found", "found")
    assert line["commit"] == done["commit"] == task.git("rev-parse", "main")
    assert proofs(task) == before + 1
    assert line["receipts"]
    again = task("land")
    assert (again.code, len(task.history()), "already" in again.out) == (0, line["seq"], True), again
    assert task("audit").code == 0


@pytest.mark.parametrize("how", ["squash", "cherry-pick"])
def test_squash_or_cherry_pick_counts_only_after_proof(detent: Detent, repo: MakeRepo, how: str) -> None:
    task = finished(detent, repo, check="! grep -q bad other.txt")
    commit_in_checkout(task, "other.txt", "bad\n")
    merge_by_hand(task, "", how)
    assert_refused(task, "fails on main (exit 1)")
    commit_in_checkout(task, "other.txt", "good\n")
    before = refs(task)["refs/heads/main"]
    done = task.json("land")
    assert (done["how"], done["commit"], task.git("rev-parse", "main")) == ("found", before, before)


def test_work_merged_elsewhere_after_a_request_is_proven(detent: Detent, repo: MakeRepo, tmp_path: Path) -> None:
    path = repo("repo", {**SAMPLE_FILES, "detent.toml": "[land]\npr = 'true'\n"})
    repo.git(path, "init", "--quiet", "--bare", str(tmp_path / "remote.git"))
    repo.git(path, "remote", "add", "origin", str(tmp_path / "remote.git"))
    task = finished(detent, repo, check=PARSES, path=path)
    assert task("land", "--pr").code == 0
    merge_by_hand(task, BROKEN)
    done = task("land")
    assert (done.code, f"'{PARSES}' fails on main" in done.err) == (1, True), done
    assert [line["how"] for line in task.history() if line["kind"] == "landed"] == ["pr"]


def test_hand_merge_is_judged_by_protected_files_from_before_it(detent: Detent, repo: MakeRepo) -> None:
    """Where the work itself changed a file that the branch protects, its own version is no judge."""
    path = repo("repo", {**SAMPLE_FILES, "rules.sh": "exit 1\n", "detent.toml": ""})
    task = CloneTask(detent, repo, path)
    (task.tree / "rules.sh").write_text("exit 0\n", encoding="utf-8")
    task.to("done")
    commit_in_checkout(task, "detent.toml", '[commands]\nrules = "sh rules.sh"\n[protect]\ndeny = ["rules.sh"]\n')
    merge_by_hand(task, "")
    assert_refused(task, "'sh rules.sh' fails on main")


def test_land_says_what_it_will_do_before_it_proves(detent: Detent, repo: MakeRepo, tmp_path: Path) -> None:
    out = tmp_path / "out.txt"
    task = finished(detent, repo, path=with_gate(repo))
    commands(task, 'more = "true"')
    with out.open("w", encoding="utf-8") as file:
        words = [sys.executable, "-m", "detent", "land", "t"]
        subprocess.run(
            words,
            cwd=task.repo,
            env=detent.environment,
            stdout=file,
            stderr=file,
            timeout=COMMAND_TIMEOUT_S,
            check=True,
        )
    output = out.read_text(encoding="utf-8")
    head, _, rest = output.partition("landed: t on main")
    assert rest, output
    for text in (
        "phase/t into main",
        "2 files changed",
        "app.py",
        "protected files",
        "as main has them",
        "sh ci/check.sh",
        CHECK,
        "1 of 3",
        "3 of 3",
    ):
        assert text in head, (text, output)
    assert head.index("phase/t into main") < head.index("1 of 3")


def test_print_as_json_has_the_same_plan(detent: Detent, repo: MakeRepo) -> None:
    task = finished(detent, repo, path=with_gate(repo))
    shown = task.json("land", "--print")
    plan = shown["plan"]
    assert (plan["branch"], plan["into"], plan["how"]) == ("phase/t", "main", "merge")
    assert {row["path"] for row in plan["files"]} == {"app.py", "new.txt"}
    assert plan["protected"] == {
        "commit": task.git("rev-parse", "main"),
        "patterns": ["detent.toml", "ci/**", ".secrets.baseline"],
    }
    assert len(plan["commits"]) == int(task.git("rev-list", "--count", "main..phase/t"))
    assert not any(line["kind"] == "landed" for line in task.history())
    assert json.dumps(task.json("land")["plan"]) == json.dumps(plan)
