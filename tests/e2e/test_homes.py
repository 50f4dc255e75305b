"""Task homes: the agent's clone, what gets into it and what does not, and what a killed `new` leaves."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.conftest import SAMPLE_FILES, Detent, MakeRepo
from tests.crash.trace import why_not_here
from tests.e2e.clone_task import ID, CloneTask, contents, marking_script, refs


def homes(environment: dict[str, str]) -> Path:
    (only,) = Path(environment["XDG_STATE_HOME"], "detent").iterdir()
    return only


# --- what a clone is ---


def test_a_task_gets_a_clone_of_its_own(detent: Detent, repo: MakeRepo) -> None:
    path = repo()
    before = {"refs/heads/main": repo.git(path, "rev-parse", "main")}
    task = CloneTask(detent, repo, path)
    head = task.history()[0]
    assert task.tree == Path(head["home"]) / "tree"
    assert head["in_place"] is False
    assert {item.name for item in task.home.iterdir()} >= {"tree", "task", "out", "drop"}
    assert contents(task.tree) == dict(SAMPLE_FILES)
    assert task.git_inside("symbolic-ref", "HEAD") == "refs/heads/phase/t"
    assert task.git_inside("symbolic-ref", "refs/remotes/origin/HEAD") == "refs/remotes/origin/main"
    assert task.git_inside("rev-parse", "HEAD", "origin/main", "origin/HEAD").split() == [before["refs/heads/main"]] * 3
    assert task.git_inside("remote", "get-url", "origin") == str(path)
    assert task.git_inside("status", "--porcelain") == ""
    assert task.git_inside("fsck", "--full") == ""
    assert refs(task) == {**before, "refs/detent/keep/t": before["refs/heads/main"]}
    assert task.notes == []


def test_nothing_of_the_clone_is_a_link_into_the_repository(detent: Detent, repo: MakeRepo) -> None:
    task = CloneTask(detent, repo, repo())
    inodes = {(item.stat().st_dev, item.stat().st_ino) for item in (task.tree / ".git").rglob("*") if item.is_file()}
    theirs = {(item.stat().st_dev, item.stat().st_ino) for item in (task.repo / ".git").rglob("*") if item.is_file()}
    assert inodes
    assert not inodes & theirs
    assert (task.tree / ".git/objects/info/alternates").read_text(encoding="utf-8") == ""


def test_an_agent_cannot_push_into_the_repository_from_its_clone(detent: Detent, repo: MakeRepo) -> None:
    task = CloneTask(detent, repo, repo())
    task.git("branch", "other")
    (task.tree / "app.py").write_text("broken\n", encoding="utf-8")
    task.git_inside("commit", "--quiet", "--all", "--message=mine")
    before = refs(task)
    with pytest.raises(AssertionError, match="people-land-the-work"):
        task.git_inside("push", "origin", "HEAD:other")
    assert refs(task) == before


def test_tags_of_the_history_come_along(detent: Detent, repo: MakeRepo) -> None:
    path = repo()
    repo.git(path, "tag", "--annotate", "v1", "--message=one")
    repo.git(path, "tag", "light")
    repo.git(path, "checkout", "--quiet", "-b", "side")
    repo.git(path, "commit", "--quiet", "--allow-empty", "--message=side")
    repo.git(path, "tag", "elsewhere")
    repo.git(path, "checkout", "--quiet", "main")
    task = CloneTask(detent, repo, path)
    assert task.git_inside("tag").split() == ["light", "v1"]
    assert task.git_inside("describe") == "v1"


def test_a_detached_head_is_the_baseline(detent: Detent, repo: MakeRepo) -> None:
    path = repo()
    first = repo.git(path, "rev-parse", "HEAD")
    repo.git(path, "commit", "--quiet", "--allow-empty", "--message=Second")
    repo.git(path, "checkout", "--quiet", "--detach", first)
    task = CloneTask(detent, repo, path)
    assert task.history()[0]["baseline"] == first
    assert task.git_inside("rev-parse", "HEAD", "origin/HEAD").split() == [first] * 2


def test_in_place_adopted_and_plain_tasks_work_in_folder_itself(detent: Detent, repo: MakeRepo, tmp_path: Path) -> None:
    path, plain = repo(), tmp_path / "plain"
    plain.mkdir()
    assert detent("new", "x", "--in-place", "--id", "a", "--json", cwd=path).json()["workspace"] == str(path)
    assert detent("new", "x", "--id", "b", "--json", cwd=plain).json()["workspace"] == str(plain)
    made = subprocess.run(
        [Path(sys.executable).parent / "task-phase-init", "--task-dir", "c", "--repo", path],
        cwd=tmp_path,
        env=dict(detent.environment),
        check=True,
        capture_output=True,
        timeout=60,
    )
    assert f"tree:                {path}" in made.stdout.decode()
    shutil.copytree(tmp_path / "c", path / "d")
    (path / "d" / ".detent-task").unlink()
    adopted = detent("adopt", "d", "phase", "--id", "d", "--json", cwd=path)
    assert adopted.json()["workspace"] == str(path), adopted
    assert "refs/detent" not in repo.git(path, "for-each-ref")
    refused = detent("new", "x", "--in-place", "--include-dirty", cwd=path)
    assert (refused.code, "--include-dirty" in refused.err) == (2, True)


def test_a_home_inside_the_repository_is_refused(detent: Detent, repo: MakeRepo) -> None:
    path = repo()
    done = detent("new", "x", cwd=path, environment={"XDG_STATE_HOME": str(path / "state")})
    assert (done.code, "XDG_STATE_HOME" in done.err) == (1, True), done
    assert detent("list", "--json", cwd=path).json()["tasks"] == []


def test_without_home_folder_nothing_is_made_in_the_current_one(detent: Detent, repo: MakeRepo, tmp_path: Path) -> None:
    """A user unknown to the host, as in many containers: `~` stays a name in the current folder."""
    path, here = repo(), tmp_path / "here"
    here.mkdir()
    nowhere = {"HOME": "~", "XDG_STATE_HOME": ""}
    for cwd, words in ((here, ("--repo", str(path))), (path, ())):
        refused = detent("new", "count", *words, cwd=cwd, environment=nowhere)
        assert (refused.code, "no home folder" in refused.err, "XDG_STATE_HOME" in refused.err) == (2, True, True)
    assert list(here.iterdir()) == []
    assert repo.git(path, "status", "--porcelain") == ""


def test_the_tree_is_found_from_another_worktree(detent: Detent, repo: MakeRepo, tmp_path: Path) -> None:
    task = CloneTask(detent, repo, repo())
    (task.tree / "app.py").write_text(SAMPLE_FILES["app.py"] + "# more\n", encoding="utf-8")
    repo.git(task.repo, "worktree", "add", "--quiet", "-b", "side", str(tmp_path / "side"))
    task.to("done")
    assert detent("diff", ID, "--stat", cwd=tmp_path / "side").code == 0
    landed = detent("land", ID, "--json", cwd=tmp_path / "side").json()
    assert landed["branch"] == "side"
    assert repo.git(task.repo, "rev-parse", "main") == task.history()[0]["baseline"]


def test_commands_work_from_inside_the_clone(detent: Detent, repo: MakeRepo) -> None:
    task = CloneTask(detent, repo, repo())
    (task.tree / "deep").mkdir()
    assert detent("status", "--json", cwd=task.tree / "deep").json()["id"] == ID
    second = detent("new", "another", "--json", cwd=task.tree).json()
    assert second["id"] in [row["id"] for row in detent("list", "--json", cwd=task.repo).json()["tasks"]]
    assert not (task.tree / ".git" / "detent").exists()


# --- what is not committed ---


def dirty_checkout(repo: MakeRepo) -> Path:
    path = repo("repo", {**SAMPLE_FILES, "gone.txt": "x\n", "kind.txt": "x\n", ".gitignore": "*.log\n"})
    (path / "app.py").write_text(SAMPLE_FILES["app.py"] + "# mine\n", encoding="utf-8")
    (path / "gone.txt").unlink()
    (path / "kind.txt").unlink()
    (path / "kind.txt").symlink_to("app.py")
    (path / "new").mkdir()
    (path / "new" / "file.txt").write_text("new\n", encoding="utf-8")
    (path / "staged.txt").write_text("staged\n", encoding="utf-8")
    repo.git(path, "add", "staged.txt")
    (path / "noise.log").write_text("ignored\n", encoding="utf-8")
    (path / "private.txt").write_text("not for others\n", encoding="utf-8")
    (path / ".git" / "info" / "exclude").write_text("private.txt\n", encoding="utf-8")
    return path


def test_a_dirty_checkout_is_named_and_left_out(detent: Detent, repo: MakeRepo) -> None:
    path = dirty_checkout(repo)
    task = CloneTask(detent, repo, path)
    assert contents(task.tree) == {**SAMPLE_FILES, "gone.txt": "x\n", "kind.txt": "x\n", ".gitignore": "*.log\n"}
    (note,) = task.notes
    assert "app.py, gone.txt, kind.txt, new/file.txt, staged.txt;" in note
    assert "--include-dirty" in note
    created = detent("new", "again", cwd=path)
    assert created.out.startswith("note: not in the clone, because not committed: app.py")


def test_a_dirty_checkout_is_carried_over_when_asked(detent: Detent, repo: MakeRepo) -> None:
    path = dirty_checkout(repo)
    before = repo.git(path, "status", "--porcelain")
    task = CloneTask(detent, repo, path, "--include-dirty")
    expected = contents(path)
    for ignored in ("noise.log", "private.txt"):
        del expected[ignored]
    assert contents(task.tree) == expected
    assert task.git_inside("rev-parse", "HEAD") == repo.git(path, "rev-parse", "HEAD")
    assert task.git_inside("status", "--porcelain").split("\n")[0] == " M app.py"
    assert "carried over" in task.notes[0]
    assert repo.git(path, "status", "--porcelain") == before


def test_task_folder_inside_the_checkout_is_not_taken_for_work(detent: Detent, repo: MakeRepo) -> None:
    path = repo()
    (path / "tasks" / "one").mkdir(parents=True)
    (path / "tasks" / "one" / "notes.txt").write_text("mine\n", encoding="utf-8")
    assert CloneTask(detent, repo, path, "--dir", path / "tasks" / "one").notes == []


# --- submodules, filters, hooks ---


def with_submodule(repo: MakeRepo) -> Path:
    inner = repo("inner", {"inner.txt": "inner\n"})
    path = repo()
    allow = ("-c", "protocol.file.allow=always")
    repo.git(path, *allow, "submodule", "--quiet", "add", str(inner), "parts/inner")
    repo.git(path, "commit", "--quiet", "--message=With a submodule")
    return path


def test_a_submodule_is_filled_without_a_network(detent: Detent, repo: MakeRepo) -> None:
    path = with_submodule(repo)
    shutil.rmtree(repo.directory / "inner")  # what it was cloned from is out of reach
    task = CloneTask(detent, repo, path)
    assert task.notes == []
    assert (task.tree / "parts" / "inner" / "inner.txt").read_text(encoding="utf-8") == "inner\n"
    assert task.git_inside("submodule", "status").split()[0] == repo.git(path, "submodule", "status").split()[0]
    assert task.git_inside("status", "--porcelain") == ""
    task.to("verify")  # which takes the tree's id, submodule and all


def test_commands_are_proven_with_the_submodule_there(detent: Detent, repo: MakeRepo) -> None:
    path = with_submodule(repo)
    task = CloneTask(detent, repo, path)
    task.set({"Validation plan": "cmd: grep -q inner parts/inner/inner.txt && git -C parts/inner log -1"})
    task.to("verify")
    assert task("prove", task.id, cwd=path).code == 0
    # Gone from the user's checkout it is no red gate: a proof is not possible.
    repo.git(path, "submodule", "--quiet", "deinit", "--force", "parts/inner")
    shutil.rmtree(path / ".git" / "modules")
    (task.tree / "new.txt").write_text("another tree\n", encoding="utf-8")
    done = task("prove", task.id, cwd=path)
    assert (done.code, "set-up failed: submodule parts/inner is not there" in done.out) == (1, True), done
    assert "exit" not in done.out


@pytest.mark.parametrize("how", [(), ("--squash",)])
def test_commit_made_in_submodule_is_fetched_by_hand_and_lands(
    detent: Detent, repo: MakeRepo, how: tuple[str, ...]
) -> None:
    path = with_submodule(repo)
    task = CloneTask(detent, repo, path, check="grep -q better parts/inner/inner.txt")
    inner = task.tree / "parts/inner"
    (inner / "inner.txt").write_text("better\n", encoding="utf-8")
    repo.git(inner, "commit", "--quiet", "--all", "--message=Better")
    made = repo.git(inner, "rev-parse", "HEAD")
    task.to("verify")
    refused = task("move", "review")
    fetch = 'git -C parts/inner fetch "$(detent dir --tree TASK)/parts/inner" HEAD'
    assert (refused.code, f"{fetch}) (gate" in refused.out) == (1, True), refused
    driven = task("run", task.id, cwd=path)
    assert ("commit" in driven.out, " ()" in driven.out) == (True, False), driven
    repo.git(path / "parts/inner", "fetch", "--quiet", str(inner), "HEAD")
    assert task("prove", "--again").code == 0
    task.move("review")
    task.review()
    task.move("done")
    landed = task("land", *how)
    assert landed.code == 0, landed
    assert "submodules moved; bring their files along: git submodule update --init parts/inner" in landed.out
    assert repo.git(path, "ls-tree", "HEAD", "parts/inner").split()[2] == made
    repo.git(path, "-c", "protocol.file.allow=always", "submodule", "--quiet", "update", "--init", "parts/inner")
    assert repo.git(path, "status", "--porcelain") == ""


def test_a_submodule_that_is_not_there_is_named(detent: Detent, repo: MakeRepo) -> None:
    path = with_submodule(repo)
    repo.git(path, "submodule", "--quiet", "deinit", "--force", "parts/inner")
    shutil.rmtree(path / ".git" / "modules")
    (note,) = CloneTask(detent, repo, path).notes
    assert "the submodule parts/inner is empty" in note
    assert "git submodule update --init parts/inner" in note


def test_pointers_stay_pointers_and_no_filter_or_hook_runs(detent: Detent, repo: MakeRepo, tmp_path: Path) -> None:
    path = repo("repo", {**SAMPLE_FILES, ".gitattributes": "*.bin filter=lfs diff=lfs -text\n", "big.bin": "pointer\n"})
    mark = tmp_path / "mark"
    script = marking_script(tmp_path / "filter", mark)
    for key in ("filter.lfs.clean", "filter.lfs.smudge", "core.fsmonitor"):
        repo.git(path, "config", key, str(script))
    for hook in ("post-checkout", "reference-transaction", "post-index-change", "pre-commit", "post-merge"):
        marking_script(path / ".git" / "hooks" / hook, mark, "exit 0")
    task = CloneTask(detent, repo, path, "--include-dirty")
    assert (task.tree / "big.bin").read_text(encoding="utf-8") == "pointer\n"
    assert any("Git LFS" in note for note in task.notes)
    assert not (task.tree / ".git" / "hooks").exists()
    task.to("review")
    assert not mark.exists(), mark.read_text(encoding="utf-8")


def test_an_lfs_file_that_is_filled_in_is_not_dirty(detent: Detent, repo: MakeRepo, tmp_path: Path) -> None:
    path = repo("repo", {**SAMPLE_FILES, ".gitattributes": "*.bin filter=lfs\n", "big.bin": "pointer\n"})
    repo.git(path, "config", "filter.lfs.smudge", "sed s/pointer/content/")
    repo.git(path, "config", "filter.lfs.clean", "sed s/content/pointer/")
    (path / "big.bin").unlink()
    repo.git(path, "checkout", "--", "big.bin")
    os.utime(path / "big.bin", (1_000_000_000, 1_000_000_000))  # older than the index, as after any coffee
    repo.git(path, "status")
    assert (path / "big.bin").read_text(encoding="utf-8") == "content\n"
    task = CloneTask(detent, repo, path, "--include-dirty")
    assert (task.tree / "big.bin").read_text(encoding="utf-8") == "pointer\n"
    assert not any("carried" in note for note in task.notes)


# --- a clone that borrows ---


def test_a_borrowing_clone_keeps_what_it_needs_in_the_repository(detent: Detent, repo: MakeRepo) -> None:
    path = repo()
    repo.git(path, "commit", "--quiet", "--allow-empty", "--message=Second")
    repo.git(path, "config", "remote.origin.promisor", "true")  # as in a partial clone, which can't be packed
    task = CloneTask(detent, repo, path)
    borrowed = (task.tree / ".git/objects/info/alternates").read_text(encoding="utf-8")
    assert borrowed == f"{path}/.git/objects\n"
    assert any("refs/detent/keep/t" in note for note in task.notes)
    repo.git(path, "reset", "--quiet", "--hard", "HEAD~1")
    repo.git(path, "reflog", "expire", "--expire=now", "--all")
    repo.git(path, "gc", "--quiet", "--prune=now")
    assert task.git_inside("log", "--format=%s") == "Second\nStart"
    task.to("review")


def test_a_large_repository_lends_its_objects(detent: Detent, repo: MakeRepo) -> None:
    path = repo()
    with (path / ".git/objects/pack" / f"pack-{'0' * 40}.pack").open("wb") as pack:
        pack.truncate(257 * 1024 * 1024)  # sparse, and without an index git passes it over
    task = CloneTask(detent, repo, path)
    assert (task.tree / ".git/objects/info/alternates").read_text(encoding="utf-8") == f"{path}/.git/objects\n"
    assert task.git_inside("status", "--porcelain") == ""
    task.to("review")


# --- a clone whose agent is hostile ---


def make_hostile(task: CloneTask, tmp_path: Path, mark: Path) -> None:
    """All that an agent can put into its clone's own git folder to have it run or believed."""
    script = marking_script(tmp_path / "script", mark)
    git_dir = task.tree / ".git"
    keys = ("core.fsmonitor", "core.pager", "core.sshCommand", "diff.external", "filter.x.clean", "filter.x.smudge")
    for key in (*keys, "core.editor", "gpg.program", "credential.helper"):
        task.git_inside("config", key, str(script))
    task.git_inside("config", "core.hooksPath", str(git_dir / "hooks"))
    task.git_inside("config", "core.excludesFile", str(git_dir / "hide"))
    task.git_inside("config", "core.worktree", str(tmp_path))
    (git_dir / "hide").write_text("hidden.py\n", encoding="utf-8")
    (git_dir / "info" / "exclude").write_text("hidden.py\n", encoding="utf-8")
    (git_dir / "info" / "attributes").write_text("* filter=x\n", encoding="utf-8")
    for hook in ("post-checkout", "reference-transaction", "post-index-change", "pre-commit", "fsmonitor-watchman"):
        marking_script(git_dir / "hooks" / hook, mark, "exit 0")
    (git_dir / "objects" / "info" / "alternates").write_text("/nowhere\n", encoding="utf-8")
    (git_dir / "index").write_bytes(b"no index")
    (git_dir / "HEAD").write_text("ref: refs/heads/../../../x\n", encoding="utf-8")


def test_an_agent_s_git_folder_is_neither_run_nor_believed(detent: Detent, repo: MakeRepo, tmp_path: Path) -> None:
    task = CloneTask(detent, repo, repo(), check="! test -e hidden.py")
    mark = tmp_path / "mark"
    make_hostile(task, tmp_path, mark)
    (task.tree / ".gitattributes").write_text("* filter=x\n", encoding="utf-8")
    (task.tree / "hidden.py").write_text("print('here')\n", encoding="utf-8")
    task.to("verify")
    assert "hidden.py" in task.refused("review")
    (task.tree / "hidden.py").unlink()
    task.move("review")
    for words in (("status",), ("next",), ("prove",), ("audit",), ("history",)):
        assert detent(*words, ID, cwd=task.repo).code == 0, words
    assert detent("status", cwd=task.tree).code == 0
    assert not mark.exists(), mark.read_text(encoding="utf-8")


@pytest.mark.parametrize("what", ["gone", "file", "link"])
def test_a_clone_without_its_git_folder_can_still_be_proven(
    detent: Detent, repo: MakeRepo, tmp_path: Path, what: str
) -> None:
    task = CloneTask(detent, repo, repo())
    shutil.rmtree(task.tree / ".git")
    if what == "file":
        (task.tree / ".git").write_text("gitdir: /nowhere\n", encoding="utf-8")
    elif what == "link":
        (task.tree / ".git").symlink_to(tmp_path)
    task.to("review")
    assert detent("status", cwd=task.tree).code == 0


def test_a_repository_inside_the_clone_is_an_error(detent: Detent, repo: MakeRepo) -> None:
    task = CloneTask(detent, repo, repo())
    task.to("implement")
    (task.tree / "nested").mkdir()
    (task.tree / "nested" / "x").write_text("x\n", encoding="utf-8")
    repo.git(task.tree / "nested", "init", "--quiet")
    task.candidate()
    done = task("move", "verify")
    assert (done.code, "nested is a git repository inside the tree" in done.err) == (5, True), done


# --- what is brought along ---


def test_what_is_copied_for_proof_comes_from_the_checkout(detent: Detent, repo: MakeRepo) -> None:
    settings = '[workspace]\ncopy = [".env.test"]\n'
    path = repo("repo", {**SAMPLE_FILES, ".gitignore": ".env.test\n", "detent.toml": settings})
    (path / ".env.test").write_text("KEY=1\n", encoding="utf-8")
    task = CloneTask(detent, repo, path, check="grep -qx KEY=1 .env.test")
    assert not (task.tree / ".env.test").exists()
    task.to("verify")
    (first,) = task.json("prove")["receipts"]
    assert (first["exit"], first["cached"]) == (0, False)
    (path / ".env.test").write_text("KEY=22\n", encoding="utf-8")  # another environment: proven anew
    (second,) = task.json("prove")["receipts"]
    assert (second["exit"], second["cached"]) == (1, False)


# --- killed in the middle ---


def stub_git(folder: Path, kill_at: int) -> dict[str, str]:
    """A `git` in front of the real one that kills its caller the n-th time, once it has done its work."""
    real = shutil.which("git")
    folder.mkdir()
    script = folder / "git"
    script.write_text(
        f'#!/bin/sh\n{real} "$@"\ncode=$?\necho >> {folder}/calls\n'
        f'test "$(wc -l < {folder}/calls)" -eq {kill_at} && kill -9 "$PPID"\nexit $code\n',
        encoding="utf-8",
    )
    script.chmod(0o755)
    return {"PATH": f"{folder}:{os.environ['PATH']}"}


def test_new_killed_after_any_git_call_can_be_repeated(
    detent: Detent, repo: MakeRepo, tmp_path: Path, clean_environment: dict[str, str]
) -> None:
    words = ("new", "count", "--id", ID, "--check", "true")
    for number in range(1, 100):
        path = repo(f"repo-{number}")
        done = detent(*words, cwd=path, environment=stub_git(tmp_path / f"stub-{number}", number))
        if done.code == 0:
            break
        assert done.code == -signal.SIGKILL, done
        made = detent("list", "--json", cwd=path).json()["tasks"]
        # Once the first line is written the task is there, and only what `new` tells is missing.
        assert [task["id"] for task in made] in ([], [ID])
        assert made or detent(*words, cwd=path).code == 0
        (home,) = (item for item in Path(clean_environment["XDG_STATE_HOME"], "detent").glob(f"repo-{number}-*"))
        assert [item.name for item in home.iterdir()] == [ID]
        assert contents(home / ID / "tree") == dict(SAMPLE_FILES)
        assert not (home / ID / ".unborn").exists()
        assert repo.git(path, "status", "--porcelain") == ""
    assert number > 5  # it was really killed on the way


def test_new_killed_before_its_first_line_can_be_repeated(
    detent: Detent, repo: MakeRepo, tmp_path: Path, clean_environment: dict[str, str]
) -> None:
    if why := why_not_here():
        pytest.skip(why)
    path = repo()
    lock = path / ".git" / "detent" / "tasks" / ID / "lock"  # taken for the first line, when all else is made
    words = (sys.executable, "-m", "detent", "new", "count", "--id", ID)
    kill = ("-P", str(lock), "-e", "inject=openat:signal=KILL:when=1")
    traced = subprocess.run(
        ["strace", "-f", "-qq", "-o", "/dev/null", *kill, *words],
        cwd=path,
        env=clean_environment,
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert traced.returncode != 0
    home = homes(clean_environment) / ID
    assert (home / "tree").exists()
    assert (home / ".unborn").exists()
    assert detent("list", "--json", cwd=path).json()["tasks"] == []
    (home / "tree" / "left.txt").write_text("of the killed one\n", encoding="utf-8")
    task = CloneTask(detent, repo, path)
    assert contents(task.tree) == dict(SAMPLE_FILES)
    assert not (home / ".unborn").exists()


def test_a_tree_that_another_task_left_is_never_removed(
    detent: Detent, repo: MakeRepo, clean_environment: dict[str, str]
) -> None:
    path = repo()
    first = CloneTask(detent, repo, path)
    (first.tree / "precious.txt").write_text("work\n", encoding="utf-8")
    shutil.rmtree(path / ".git" / "detent")  # the repository was deleted and cloned anew
    again = detent("new", "count", "--id", ID, cwd=path)
    assert (again.code, "left its tree" in again.err, "--id" in again.err) == (1, True, True), again
    other = detent("new", "t", "--json", cwd=path).json()
    assert other["id"] == "t-2"
    assert (homes(clean_environment) / ID / "tree" / "precious.txt").exists()


def test_many_at_once_each_get_their_own(detent: Detent, repo: MakeRepo) -> None:
    path = repo()
    started = [
        subprocess.Popen(
            [sys.executable, "-m", "detent", "new", "same words", "--json"],
            cwd=path,
            env=dict(detent.environment),
            stdout=subprocess.DEVNULL,
        )
        for _ in range(4)
    ]
    assert [process.wait(120) for process in started] == [0] * 4
    rows = detent("list", "--json", cwd=path).json()["tasks"]
    assert len({row["id"] for row in rows}) == 4
    for row in rows:
        status = detent("status", row["id"], "--json", cwd=path).json()
        assert contents(Path(status["workspace"])) == dict(SAMPLE_FILES)


def test_moves_of_a_task_in_a_clone_pass_the_audit(detent: Detent, repo: MakeRepo) -> None:
    task = CloneTask(detent, repo, repo())
    (task.tree / "app.py").write_text(SAMPLE_FILES["app.py"] + "# more\n", encoding="utf-8")
    task.to("done")
    assert task.state() == "done"
    assert task("audit").code == 0
    assert contents(task.repo) == dict(SAMPLE_FILES)  # the checkout was not touched


def test_repository_on_another_disk_than_the_home_gets_its_clone(
    tmp_path: Path, detent: Detent, repo: MakeRepo
) -> None:
    """Git writes a pack beside the objects it reads, and then renames it: on another disk it can't."""
    usable = [place for place in (Path("/dev/shm"), Path("/var/tmp")) if place.is_dir() and os.access(place, os.W_OK)]
    other = next((place for place in usable if place.stat().st_dev != tmp_path.stat().st_dev), None)
    if other is None:
        pytest.skip("this host has no other disk")
    with TemporaryDirectory(dir=other) as folder:
        there = MakeRepo(Path(folder), repo.environment)()
        made = detent("new", "phase", "Count the words", "--id", "t", "--json", cwd=there)
        assert made.code == 0, made
        (tree,) = homes(dict(detent.environment)).glob("t/tree")
        assert (tree / "app.py").is_file()
        assert (tree / ".git/objects/info/alternates").read_text(encoding="utf-8") == "", "its objects are its own"
        repo.git(tree, "fsck", "--strict")
