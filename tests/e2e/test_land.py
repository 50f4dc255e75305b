"""Landing: the work of a finished task gets into the user's branch, proven there, or is refused with what to do."""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import SAMPLE_FILES, Detent, MakeRepo
from tests.e2e.clone_task import CHECK, CloneTask, contents, marking_script, refs
from tests.e2e.orange_task import Oranges
from tests.e2e.phase_task import PhaseTask

At = Callable[[str], PhaseTask]
WAITS = 4  # for a person
WORK = SAMPLE_FILES["app.py"] + "# better\n"


def finished(detent: Detent, repo: MakeRepo, check: str = CHECK, path: Path | None = None) -> CloneTask:
    task = CloneTask(detent, repo, path or repo(), check=check)
    (task.tree / "app.py").write_text(WORK, encoding="utf-8")
    (task.tree / "new.txt").write_text("new\n", encoding="utf-8")
    task.to("done")
    return task


def commit_in_checkout(task: CloneTask, name: str, text: str) -> None:
    (task.repo / name).write_text(text, encoding="utf-8")
    task.git("add", name)
    task.git("commit", "--quiet", "--message=Meanwhile")


def assert_refused(task: CloneTask, *reason: str, words: tuple[str, ...] = ()) -> None:
    before, files = refs(task), contents(task.repo)
    done = task("land", task.id, *words, cwd=task.repo)
    assert done.code == 1, done
    for text in (*reason, "next:"):
        assert text in done.err, done.err
    assert {name: ref for name, ref in refs(task).items() if "detent" not in name} == {
        name: ref for name, ref in before.items() if "detent" not in name
    }
    assert contents(task.repo) == files
    assert not any(line["kind"] == "landed" for line in task.history())


def test_commands_take_the_only_finished_task_but_ask_among_several(detent: Detent, repo: MakeRepo) -> None:
    task = finished(detent, repo)
    for words in (("status",), ("evidence",), ("history",), ("audit",), ("land",)):
        assert detent(*words, cwd=task.repo).code == 0, words
    assert any(line["kind"] == "landed" for line in task.history())
    for command in (("new", "orange", "another", "--id", "u"), ("cancel", "u", "--reason", "not now")):
        assert detent(*command, cwd=task.repo).code == 0
    shown = detent("evidence", cwd=task.repo)
    assert shown.code == 2
    assert "which task? none is open; over are: t, u" in shown.err


def test_work_lands_as_a_merge_in_the_persons_name(detent: Detent, repo: MakeRepo) -> None:
    task = finished(detent, repo)
    commit_in_checkout(task, "other.txt", "mine\n")
    (task.repo / "scratch.txt").write_text("not committed, not in the way\n", encoding="utf-8")
    mine = task.git("rev-parse", "HEAD")
    done = task("land", "--json").json()
    assert (done["how"], done["branch"]) == ("merge", "main")
    assert task.git("rev-parse", "main") == done["commit"]
    assert task.git("rev-parse", "main^1", "main^2").split() == [mine, refs(task)["refs/heads/phase/t"]]
    assert task.git("log", "-1", "--format=%an %ae %cn") == "Tester tester@example.invalid Tester"
    assert task.git("log", "-1", "--format=%(trailers:key=Detent-Task,valueonly)").strip() == "t"
    assert task.git("symbolic-ref", "HEAD") == "refs/heads/main"
    assert task.git("status", "--porcelain") == "?? scratch.txt"
    assert contents(task.repo)["app.py"] == WORK
    assert contents(task.repo)["other.txt"] == "mine\n"
    assert task.git("fsck", "--full") == ""
    line = task.history()[-1]
    assert (line["kind"], line["commit"], line["how"]) == ("landed", done["commit"], "merge")
    assert "landed it (merge)" in task("history").out
    assert task("audit").code == 0
    assert task("evidence").code == 0


def test_work_lands_as_one_commit(detent: Detent, repo: MakeRepo) -> None:
    task = finished(detent, repo)
    base = task.git("rev-parse", "HEAD")
    assert task.json("land", "--squash")["how"] == "squash"
    assert task.git("log", "--format=%P", "-1") == base
    assert task.git("log", "--format=%s", "-1") == "count"
    assert contents(task.repo)["new.txt"] == "new\n"


@pytest.mark.parametrize("words", [(), ("--squash",)])
def test_work_whose_branch_is_gone_lands_whole(detent: Detent, repo: MakeRepo, words: tuple[str, ...]) -> None:
    """A person deleted it, or a power cut took it: all of the work comes from what the engine kept."""
    task = finished(detent, repo)
    task.git("branch", "-D", "phase/t")
    task.git("reflog", "expire", "--expire=now", "--all")
    task.git("gc", "--quiet", "--prune=now")
    assert task("land", *words).code == 0
    task.git("fsck", "--no-dangling")
    assert contents(task.repo)["new.txt"] == "new\n"


@pytest.mark.parametrize("words", [(), ("--squash",)])
def test_landing_twice_changes_nothing(detent: Detent, repo: MakeRepo, words: tuple[str, ...]) -> None:
    task = finished(detent, repo)
    assert task("land", *words).code == 0
    before, lines = refs(task), len(task.history())
    again = task("land", *words)
    assert (again.code, "part of main already" in again.out) == (0, True), again
    assert (refs(task), len(task.history())) == (before, lines)


def test_in_a_shallow_clone_history_is_read_and_work_lands(detent: Detent, repo: MakeRepo, tmp_path: Path) -> None:
    """As a pipeline checks out: commands and the merge see where history ends, and go on when it is fetched."""
    source, path = repo("source"), tmp_path / "shallow"
    repo.git(source, "commit", "--quiet", "--allow-empty", "--message=Second")
    repo.git(tmp_path, "clone", "--quiet", "--depth=1", source.as_uri(), str(path))
    task = finished(detent, repo, "git log --oneline", path)
    (log,) = (task.control / "receipts").glob("*.log")
    assert log.read_text(encoding="utf-8").endswith(" Second\n")
    commit_in_checkout(task, "other.txt", "other\n")
    done = task("land", task.id, cwd=task.repo)
    assert done.code == 0, done
    assert task.git("fsck", "--full") == ""
    settings = path / "detent.toml"
    for words in ((), ("--unshallow",)):
        task.git("fetch", "--quiet", *words)
        there = task.git("rev-list", "--count", "HEAD")
        settings.write_text(f'[commands]\nlog = "test $(git rev-list --count HEAD) = {there}"\n', encoding="utf-8")
        tried = detent("doctor", cwd=path)
        assert tried.code == 0, tried


def test_a_merge_by_hand_is_found(detent: Detent, repo: MakeRepo) -> None:
    task = finished(detent, repo)
    commit_in_checkout(task, "app.py", SAMPLE_FILES["app.py"] + "# mine\n")
    assert_refused(task, "both changed app.py", "git merge phase/t")
    task.git("merge", "--quiet", "-X", "theirs", "-m", "by hand", "phase/t")
    assert task.json("land")["how"] == "found"
    assert task.history()[-1]["kind"] == "landed"


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        ("dirty", ("not committed: app.py", "git commit")),
        ("gone", ("not committed: README.md", "git commit")),
        ("in the way", ("stand in the way: new.txt", "move them away")),
        ("detached", ("detached HEAD", "git switch")),
        ("merging", ("a merge is under way", "git merge --abort")),
    ],
)
def test_a_checkout_that_is_not_ready_is_refused(
    detent: Detent, repo: MakeRepo, spoil: str, words: tuple[str, ...]
) -> None:
    task = finished(detent, repo)
    if spoil == "dirty":
        (task.repo / "app.py").write_text("mine\n", encoding="utf-8")
    elif spoil == "gone":
        (task.repo / "README.md").unlink()
    elif spoil == "in the way":
        (task.repo / "new.txt").write_text("precious\n", encoding="utf-8")
    elif spoil == "detached":
        task.git("checkout", "--quiet", "--detach")
    else:
        task.git("checkout", "--quiet", "-b", "side")
        commit_in_checkout(task, "side.txt", "side\n")
        task.git("checkout", "--quiet", "main")
        task.git("merge", "--quiet", "--no-ff", "--no-commit", "side")
    assert_refused(task, *words)


@pytest.mark.parametrize("ignored_by", [".git/info/exclude", ".gitignore"])
@pytest.mark.parametrize(
    ("mine", "added"),
    [
        ("notes.txt", "notes.txt"),
        ("notes/old.txt", "notes"),
        ("notes", "notes/new.txt"),
        ("a/notes.txt", "a/notes.txt"),
    ],
)
def test_a_file_that_the_person_ignores_is_not_overwritten(
    detent: Detent, repo: MakeRepo, ignored_by: str, mine: str, added: str
) -> None:
    """Git itself takes ignored files for worthless. The first commit ignores nothing, so that the task may add them."""
    task = CloneTask(detent, repo, repo())
    (task.tree / added).parent.mkdir(exist_ok=True)
    (task.tree / added).write_text("the agent's\n", encoding="utf-8")
    (task.tree / "app.py").write_text(WORK, encoding="utf-8")
    task.to("done")
    if ignored_by == ".gitignore":
        commit_in_checkout(task, ".gitignore", "notes*\n")
    else:
        (task.repo / ignored_by).write_text("notes*\n", encoding="utf-8")
    (task.repo / mine).parent.mkdir(exist_ok=True)
    (task.repo / mine).write_text("precious\n", encoding="utf-8")
    assert task.git("status", "--porcelain") == ""
    assert_refused(task, f"stand in the way: {mine}", "move them away")
    (task.repo / mine).rename(task.repo.parent / "aside")
    assert task("land").code == 0
    assert (task.repo / added).read_text(encoding="utf-8") == "the agent's\n"


def test_a_folder_that_becomes_a_file_lands(detent: Detent, repo: MakeRepo) -> None:
    task = CloneTask(detent, repo, repo(files={**SAMPLE_FILES, "docs/a.txt": "a\n", "more": "m\n"}))
    (task.tree / "docs/a.txt").unlink()
    (task.tree / "docs").rmdir()
    (task.tree / "docs").write_text("one file now\n", encoding="utf-8")
    (task.tree / "more").unlink()
    (task.tree / "more").mkdir()
    (task.tree / "more/b.txt").write_text("b\n", encoding="utf-8")
    (task.tree / "app.py").write_text(WORK, encoding="utf-8")
    task.to("done")
    done = task("land")
    assert done.code == 0, done
    assert (task.repo / "docs").is_file()
    assert (task.repo / "more/b.txt").is_file()


@pytest.mark.parametrize(
    ("attributes", "setting"),
    [("*.py text eol=crlf filter=mark", "false"), ("*.py text=auto filter=mark", "true"), ("", "true")],
)
def test_line_ends_that_git_converts_are_no_change(
    detent: Detent, repo: MakeRepo, tmp_path: Path, attributes: str, setting: str
) -> None:
    """The checkout has CRLF, its commits LF, and git's index no longer knows that the file is the same."""
    path = repo(files={**SAMPLE_FILES, ".gitattributes": f"{attributes}\n"})
    ran = tmp_path / "ran"
    repo.git(path, "config", "filter.mark.clean", str(marking_script(tmp_path / "clean", ran)))
    repo.git(path, "config", "core.autocrlf", setting)
    (path / "app.py").unlink()
    repo.git(path, "checkout", "--", "app.py")
    assert b"\r\n" in (path / "app.py").read_bytes()
    task = finished(detent, repo, path=path)
    os.utime(path / "app.py", (1, 1))
    ran.unlink(missing_ok=True)
    looked = task("new", "another", "--check", CHECK, "--json", cwd=path)
    assert (looked.json()["notes"], ran.exists()) == ([], False)  # nothing of theirs was run to find that out
    done = task("land")
    assert done.code == 0, done
    blob = task.git("rev-parse", "HEAD:app.py")
    assert task.git("cat-file", "blob", blob) == WORK.rstrip("\n")
    assert (path / "app.py").read_bytes() == WORK.replace("\n", "\r\n").encode()
    assert task.git("status", "--porcelain") == ""


@pytest.mark.parametrize(
    ("attributes", "words"),
    [("*.txt text", "new.txt"), ("*.txt eol=crlf", "new.txt"), ("*.txt text=auto", ""), ("*.py text", "")],
)
def test_crlf_that_attributes_do_not_want_in_commits_is_told(
    detent: Detent, repo: MakeRepo, attributes: str, words: str
) -> None:
    task = CloneTask(detent, repo, repo(files={**SAMPLE_FILES, ".gitattributes": f"{attributes}\n"}))
    (task.tree / "new.txt").write_bytes(b"new\r\n")
    task.to("done")
    landed = task("land")
    assert landed.code == 0, landed
    assert (f"call them changed: {words}\n" in landed.out) == bool(words)
    assert ("git add --renormalize . && git commit" in landed.out) == bool(words)
    if words:
        task.git("add", "--renormalize", ".")
        assert task.git("diff", "--cached", "--name-only") == words


def test_line_ends_that_git_does_not_convert_are_a_change(detent: Detent, repo: MakeRepo) -> None:
    task = finished(detent, repo)
    (task.repo / "app.py").write_bytes(SAMPLE_FILES["app.py"].replace("\n", "\r\n").encode())
    assert_refused(task, "not committed: app.py")


def test_red_proof_on_merged_tree_is_refused_with_its_log(detent: Detent, repo: MakeRepo) -> None:
    task = finished(detent, repo, check="! grep -q bad other.txt")
    commit_in_checkout(task, "other.txt", "bad\n")
    assert_refused(task, "fails on the merged tree (exit 1)", "receipts/")
    commit_in_checkout(task, "other.txt", "good\n")
    assert task("land").code == 0


def proofs(task: CloneTask) -> int:
    return sum(line["kind"] == "proved" for line in task.history())


def test_proof_is_not_run_again_for_tree_that_is_proven(detent: Detent, repo: MakeRepo) -> None:
    task = finished(detent, repo)
    before = proofs(task)
    assert task("land").code == 0
    assert proofs(task) == before
    other = finished(detent, repo, path=repo("other"))
    commit_in_checkout(other, "other.txt", "mine\n")
    before = proofs(other)
    assert other("land").code == 0
    assert proofs(other) == before + 1


@pytest.mark.parametrize("stage", ["implement", "review"])
def test_unfinished_work_does_not_land(detent: Detent, repo: MakeRepo, stage: str) -> None:
    task = CloneTask(detent, repo, repo())
    task.to(stage)
    assert_refused(task, f"{stage} is no state to land from")


def test_blocked_work_does_not_land(detent: Detent, repo: MakeRepo) -> None:
    task = CloneTask(detent, repo, repo())
    task.to("implement")
    task.set({"Blockers": "no key", "Next step": "A) get one, B) drop it"})
    task.move("blocked")
    assert_refused(task, "blocked is no state to land from")


def test_finished_task_leads_to_work_and_not_in_a_circle(detent: Detent, repo: MakeRepo) -> None:
    task = finished(detent, repo)
    way_on = f"detent evidence {task.id}; then: detent land {task.id}"
    assert f"next: {way_on}" in task("next").out
    assert task("status").out.splitlines()[-1].split(maxsplit=1) == ["next:", way_on]
    assert task("land").code == 0
    assert task("next").out.splitlines()[-1] == f"  next: detent evidence {task.id}"


def test_end_whose_work_does_not_land_says_where_it_lies(detent: Detent, repo: MakeRepo) -> None:
    path = repo()
    for words in (("new", "orange", "x", "--id", "t"), ("move", "working", "t"), ("cancel", "t")):
        assert detent(*words, cwd=path).code == 0
    done = detent("land", "t", cwd=path)
    assert (done.code, "cancelled is an end of orange whose work does not land" in done.err) == (1, True), done
    assert "detent dir --tree t" in done.err


def test_work_in_place_need_not_land(at: At) -> None:
    done = at("done")("land")
    assert (done.code, "its files are there already" in done.err) == (1, True), done


def test_edits_after_the_end_do_not_land(detent: Detent, repo: MakeRepo) -> None:
    task = finished(detent, repo)
    (task.tree / "app.py").write_text("sneaked in\n", encoding="utf-8")
    assert task("land").code == 0
    assert contents(task.repo)["app.py"] == WORK


def test_a_merge_driver_of_the_work_is_not_run(detent: Detent, repo: MakeRepo, tmp_path: Path) -> None:
    path = repo()
    mark = tmp_path / "mark"
    script = marking_script(tmp_path / "driver", mark, "exit 0")
    repo.git(path, "config", "merge.evil.driver", f"{script} %A")
    task = CloneTask(detent, repo, path)
    (task.tree / ".gitattributes").write_text("* merge=evil\n", encoding="utf-8")
    (task.tree / "README.md").write_text("theirs\n", encoding="utf-8")
    task.to("done")
    commit_in_checkout(task, "README.md", "mine\n")
    assert_refused(task, "both changed README.md")
    assert not mark.exists()


def test_a_landing_begins_no_upkeep_of_the_repository(detent: Detent, repo: MakeRepo, tmp_path: Path) -> None:
    """It would continue in the background without a parent, and move objects that were just synced."""
    task = finished(detent, repo)
    mark = tmp_path / "mark"
    marking_script(task.repo / ".git" / "hooks" / "pre-auto-gc", mark, "exit 0")
    task.git("config", "gc.auto", "1")
    texts = (str(number) for number in itertools.count())
    for text in itertools.islice((text for text in texts if blob_id(text).startswith("17")), 2):  # where git counts
        (tmp_path / "text").write_text(text, encoding="utf-8")
        task.git("hash-object", "-w", str(tmp_path / "text"))
    assert task("land", task.id, cwd=task.repo).code == 0
    assert not mark.exists()
    task.git("gc", "--auto", "--quiet")
    assert mark.exists(), "there was something to do"


def blob_id(text: str) -> str:
    return hashlib.sha1(f"blob {len(text)}\0{text}".encode(), usedforsecurity=False).hexdigest()


def test_git_does_not_know_the_person(detent: Detent, repo: MakeRepo, clean_environment: dict[str, str]) -> None:
    task = finished(detent, repo)
    task.git("config", "user.useConfigOnly", "true")
    nameless = {
        key: value for key, value in clean_environment.items() if not key.startswith(("GIT_AUTHOR", "GIT_COMM"))
    }
    done = Detent(task.repo, nameless)("land", "t")
    assert (done.code, "git config user.name" in done.err) == (1, True), done


def test_old_git_is_named(detent: Detent, repo: MakeRepo, tmp_path: Path) -> None:
    task = finished(detent, repo)
    commit_in_checkout(task, "other.txt", "mine\n")
    stub = tmp_path / "stub" / "git"
    stub.parent.mkdir()
    stub.write_text(
        '#!/bin/sh\ncase "$*" in *--version*) echo git version 2.37.1; exit;; esac\n'
        f'PATH={os.environ["PATH"]}; exec git "$@"\n',
        encoding="utf-8",
    )
    stub.chmod(0o755)
    done = task("land", environment={"PATH": f"{stub.parent}:{os.environ['PATH']}"})
    assert (done.code, "git 2.37.1" in done.err, "2.38" in done.err) == (5, True, True), done


def test_killed_after_the_merge_the_landing_is_found(detent: Detent, repo: MakeRepo, tmp_path: Path) -> None:
    for words in ((), ("--squash",)):
        task = finished(detent, repo, path=repo(f"repo{len(words)}"))
        stub = tmp_path / f"stub{len(words)}" / "git"
        stub.parent.mkdir()
        stub.write_text(
            f'#!/bin/sh\nPATH={os.environ["PATH"]}; git "$@"; code=$?\n'
            'case "$*" in *--ff-only*) kill -9 $PPID;; esac; exit $code\n',
            encoding="utf-8",
        )
        stub.chmod(0o755)
        killed = task("land", *words, environment={"PATH": f"{stub.parent}:{os.environ['PATH']}"})
        assert killed.code == -signal.SIGKILL
        commit = task.git("rev-parse", "main")
        done = task.json("land", *words)
        assert (done["how"], done["commit"]) == ("found", commit)
        assert task.git("rev-parse", "main") == commit
        assert task.history()[-1]["kind"] == "landed"


def test_print_only_prints(detent: Detent, repo: MakeRepo) -> None:
    task = finished(detent, repo)
    before = refs(task)
    shown = task("land", "--print").out.splitlines()
    assert shown == [f"cd {task.repo}", "git merge --no-ff phase/t"]
    assert "git merge --squash phase/t" in task("land", "--print", "--squash").out
    assert refs(task) == before
    assert task("land", "--print", "--pr").code == 2


# --- asking elsewhere ---


def with_remote(repo: MakeRepo, tmp_path: Path, settings: str = "") -> tuple[Path, Path]:
    bare = tmp_path / "remote.git"
    files = {**SAMPLE_FILES, **({"detent.toml": settings} if settings else {})}
    path = repo("repo", files)
    repo.git(path, "init", "--quiet", "--bare", str(bare))
    repo.git(path, "remote", "add", "origin", str(bare))
    return path, bare


def stub_gh(tmp_path: Path) -> tuple[dict[str, str], Path]:
    said = tmp_path / "said.json"
    program = tmp_path / "programs" / "gh"
    program.parent.mkdir()
    program.write_text(
        "#!/usr/bin/env python3\nimport json, pathlib, sys\n"
        "body = pathlib.Path(sys.argv[sys.argv.index('--body-file') + 1]).read_text()\n"
        f"pathlib.Path({str(said)!r}).write_text(json.dumps([sys.argv[1:], body]))\n"
        "print('https://example.invalid/pull/1')\n",
        encoding="utf-8",
    )
    program.chmod(0o755)
    return {"PATH": f"{program.parent}:{os.environ['PATH']}"}, said


def test_a_request_pushes_the_branch_and_runs_the_command(detent: Detent, repo: MakeRepo, tmp_path: Path) -> None:
    path, bare = with_remote(repo, tmp_path)
    task = finished(detent, repo, path=path)
    environment, said = stub_gh(tmp_path)
    before = refs(task)
    done = task("land", "--pr", environment=environment)
    assert done.code == 0, done
    assert "pushed: phase/t to origin" in done.out
    assert "https://example.invalid/pull/1" in done.out
    words, body = json.loads(said.read_text(encoding="utf-8"))
    assert words[:6] == ["pr", "create", "--head", "phase/t", "--title", "count"]
    assert body.startswith("# count\n")
    assert f"`{CHECK}` passed" in body
    assert "app.py" in body
    assert repo.git(bare, "for-each-ref", "--format=%(refname)") == "refs/heads/phase/t"
    assert repo.git(bare, "rev-parse", "phase/t") == before["refs/heads/phase/t"]
    assert {name for name in refs(task) if "remotes" not in name} == set(before)
    assert task.git("rev-parse", "main") == before["refs/heads/main"]
    assert task.history()[-1]["how"] == "pr"
    assert task("land").code == 0  # what was asked for elsewhere may still be landed here


def test_words_of_a_title_are_never_a_command(detent: Detent, repo: MakeRepo, tmp_path: Path) -> None:
    settings = "[land]\npr = 'echo got {title} {branch} > out.txt'\n"
    path, _ = with_remote(repo, tmp_path, settings)
    made = detent("new", "x '; touch evil; echo {branch}", "--id", "t", "--check", "true", "--json", cwd=path).json()
    task = PhaseTask(detent, path, Path(made["dir"]), "t")
    CloneTask.to(task, "done")  # type: ignore[arg-type]  # it needs no more than a phase task has
    assert task("land", "--pr").code == 0
    assert (path / "out.txt").read_text(encoding="utf-8") == "got x '; touch evil; echo {branch} phase/t\n"
    assert not (path / "evil").exists()


def test_a_push_that_fails_is_told(detent: Detent, repo: MakeRepo) -> None:
    task = finished(detent, repo)
    done = task("land", "--pr")
    assert (done.code, "git push origin phase/t" in done.err) == (5, True), done
    assert not any(line["kind"] == "landed" for line in task.history())


def test_landing_is_for_people(detent: Detent, repo: MakeRepo) -> None:
    task = finished(detent, repo)
    done = task("land", environment={"DETENT_ROLE": "builder"})
    assert (done.code, "is for a person" in done.err) == (1, True), done


@pytest.mark.parametrize("is_late", [False, True], ids=["merged as it was", "another file came"])
def test_the_project_s_commands_run_on_the_merged_tree(
    detent: Detent, repo: MakeRepo, tmp_path: Path, is_late: bool
) -> None:
    line = "! test -e late.txt"
    oranges = Oranges(detent, repo, tmp_path)
    oranges.honest()
    task = oranges.orange("working", more=f"[commands]\ntest = {json.dumps(line)}\n")
    assert task("run", task.id, cwd=task.repo).code == WAITS
    assert task("approve", task.id, cwd=task.repo).code == 0
    if is_late:
        (task.repo / "late.txt").write_text("late\n", encoding="utf-8")
        repo.git(task.repo, "add", "late.txt")
        repo.git(task.repo, "commit", "--quiet", "--message=Meanwhile")
    landed = task("land", task.id, cwd=task.repo)
    assert landed.code == is_late, landed
    assert (f"{line!r} fails on the merged tree (exit 1)" in landed.err) == is_late, landed
    assert bool(task.entries("landed")) != is_late
    assert ("worked" in (task.repo / "app.py").read_text(encoding="utf-8")) != is_late
