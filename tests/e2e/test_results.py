"""What came of a task: see it with `diff`, take it back with `restore`."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import SAMPLE_FILES, Detent, MakeRepo
from tests.e2e.clone_task import CloneTask, contents
from tests.e2e.phase_task import PhaseTask
from tests.e2e.terminal import Terminal

At = Callable[[str], PhaseTask]
WORK = SAMPLE_FILES["app.py"] + "# better\n"


def work(task: CloneTask, text: str = WORK) -> None:
    (task.tree / "app.py").write_text(text, encoding="utf-8")


# --- diff ---


def test_diff_shows_what_is_there_now_and_new_files(detent: Detent, repo: MakeRepo) -> None:
    task = CloneTask(detent, repo, repo())
    assert task("diff").out == "nothing differs from the baseline\n"
    work(task)
    (task.tree / "new.txt").write_text("new\n", encoding="utf-8")
    (task.tree / "README.md").unlink()
    shown = task("diff").out
    assert "+# better" in shown
    assert "new file mode 100644" in shown
    answer = task.json("diff")
    assert answer["files"] == [
        {"status": "D", "path": "README.md"},
        {"status": "M", "path": "app.py"},
        {"status": "A", "path": "new.txt"},
    ]
    assert answer["text"] == shown
    stat = task("diff", "--stat").out
    assert "3 files changed" in stat
    assert "+# better" not in stat


def test_a_diff_of_crlf_files_can_be_applied(detent: Detent, repo: MakeRepo, tmp_path: Path) -> None:
    path = repo(files={**SAMPLE_FILES, "dos.txt": "one\r\ntwo\r\n", "unix.txt": "one\ntwo\n"})
    task = CloneTask(detent, repo, path)
    with (task.tree / "dos.txt").open("ab") as file:
        file.write(b"three\r\n")
    (task.tree / "unix.txt").write_bytes(b"one\r\ntwo\r\n")
    with Terminal(("diff", task.id), path, detent.environment) as terminal:
        assert terminal.end() == 0
    shown = terminal.shown.replace("\r\n", "\n").replace("\r\n", "\n")  # the terminal's own line ends
    assert (" two\n+three\\x0d\n" in shown, "+two\\x0d\n" in shown) == (True, True), shown
    patch = tmp_path / "work.patch"
    with patch.open("wb") as file:
        argv = [sys.executable, "-m", "detent", "diff", task.id]
        subprocess.run(argv, cwd=path, env=dict(detent.environment), stdout=file, check=True)
    repo.git(path, "apply", str(patch))
    assert (path / "dos.txt").read_bytes() == b"one\r\ntwo\r\nthree\r\n"
    assert (path / "unix.txt").read_bytes() == b"one\r\ntwo\r\n"


@pytest.mark.parametrize(("attributes", "setting"), [("* text eol=crlf filter=mark", "false"), ("", "true")])
def test_diff_in_place_shows_no_line_ends_that_git_converts(
    detent: Detent, repo: MakeRepo, tmp_path: Path, attributes: str, setting: str
) -> None:
    path = repo(files={**SAMPLE_FILES, "gone.txt": "gone\n", ".gitattributes": f"{attributes}\n"})
    library = repo("library")
    repo.git(path, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(library), "lib")
    repo.git(path, "commit", "--quiet", "--message=With a submodule")
    repo.git(path, "config", "core.autocrlf", setting)
    repo.git(path, "config", "filter.mark.clean", f"touch {tmp_path / 'mark'}; cat")
    for name in ("app.py", "gone.txt"):
        (path / name).unlink()
        repo.git(path, "checkout", "--", name)
    (tmp_path / "mark").unlink(missing_ok=True)
    task = CloneTask(detent, repo, path, "--in-place")
    assert task("diff").out == "nothing differs from the baseline\n"
    with (path / "app.py").open("ab") as file:
        file.write(b"# better\r\n")
    (path / "gone.txt").unlink()
    (path / "gone.txt").mkdir()
    (path / "gone.txt/new").write_bytes(b"new\r\n")
    (path / "link").symlink_to("app.py")
    repo.git(path / "lib", "commit", "--quiet", "--allow-empty", "--message=More")
    shown = task.json("diff")
    assert [(file["status"], file["path"]) for file in shown["files"]] == [
        ("M", "app.py"),
        ("D", "gone.txt"),
        ("A", "gone.txt/new"),
        ("M", "lib"),
        ("A", "link"),
    ]
    assert ("+# better\n" in shown["text"], "\r" in shown["text"]) == (True, False), shown["text"]
    assert not (tmp_path / "mark").exists()


def test_diff_shows_control_characters_and_runs_nothing(detent: Detent, repo: MakeRepo, tmp_path: Path) -> None:
    task = CloneTask(detent, repo, repo())
    work(task, "\x1b[31mred\n")
    task.git_inside("config", "diff.external", f"touch {tmp_path / 'mark'}")
    (task.tree / ".gitattributes").write_text("* diff=x\n", encoding="utf-8")
    task.git_inside("config", "diff.x.textconv", f"touch {tmp_path / 'mark'}")
    shown = task("diff").out
    assert "+\\x1b[31mred" in shown
    assert not (tmp_path / "mark").exists()


def test_diff_of_a_folder_without_git_is_refused(detent: Detent, tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.mkdir()
    assert detent("new", "x", "--id", "t", cwd=plain).code == 0
    for words in (("diff", "t"), ("restore", "t")):
        done = detent(*words, cwd=plain)
        assert (done.code, "without git" in done.err) == (1, True), done


# --- restore ---


def test_files_come_back_from_a_checkpoint_and_nothing_is_lost(detent: Detent, repo: MakeRepo) -> None:
    task = CloneTask(detent, repo, repo())
    work(task)
    (task.tree / "deep").mkdir()
    (task.tree / "deep" / "kept.txt").write_text("kept\n", encoding="utf-8")
    (task.tree / "link").symlink_to("app.py")
    task.to("verify")
    good = contents(task.tree)
    (task.tree / "app.py").write_text("broken\n", encoding="utf-8")
    (task.tree / "README.md").unlink()
    (task.tree / "link").unlink()
    (task.tree / "link").mkdir()
    (task.tree / "link" / "x").write_text("x\n", encoding="utf-8")
    shutil.rmtree(task.tree / "deep")
    (task.tree / "deep").write_text("now a file\n", encoding="utf-8")
    (task.tree / "new" / "folder").mkdir(parents=True)
    (task.tree / "new" / "folder" / "new.txt").write_text("new\n", encoding="utf-8")
    broken = contents(task.tree)
    done = task.json("restore")
    assert contents(task.tree) == good
    assert not (task.tree / "new").exists()
    assert task.state() == "verify"
    assert done["removed"] == ["deep", "link/x", "new/folder/new.txt"]
    line = task.history()[-1]
    assert (line["kind"], line["kept"], line["by"]) == ("restored_tree", done["kept"], "person")
    private = task.control / "git"
    listed = repo.git(private, "--git-dir=.", "ls-tree", "-r", "--name-only", done["kept"]).splitlines()
    assert listed == sorted(broken)
    assert repo.git(private, "--git-dir=.", "show", f"{done['kept']}:app.py") == "broken"
    assert "brought the files back to line" in task("history").out
    assert task("audit").code == 0
    assert task("evidence").code == 0


def test_any_checkpoint_and_the_baseline_can_be_named(detent: Detent, repo: MakeRepo) -> None:
    task = CloneTask(detent, repo, repo())
    work(task)
    task.to("verify")
    first = next(entry["seq"] for entry in task.history() if entry.get("to") == "verify")
    work(task, WORK + "# and more\n")
    task.move("review")
    assert task("restore", "--to", str(first)).code == 0
    assert contents(task.tree)["app.py"] == WORK
    assert task("restore", "--to", "1").code == 0
    assert contents(task.tree) == dict(SAMPLE_FILES)
    assert task("restore").code == 0
    assert contents(task.tree)["app.py"] == WORK + "# and more\n"
    assert "the tree is as it was" in task("restore").out
    refused = task("restore", "--to", "3")
    assert (refused.code, f"1, {first}" in refused.err) == (2, True), refused
    assert task("restore", "--to", "x").code == 2


def test_ignored_files_are_left_alone(detent: Detent, repo: MakeRepo) -> None:
    task = CloneTask(detent, repo, repo("repo", {**SAMPLE_FILES, ".gitignore": "*.log\n"}))
    work(task)
    (task.tree / "noise.log").write_text("noise\n", encoding="utf-8")
    assert task("restore").code == 0
    assert contents(task.tree) == {**SAMPLE_FILES, ".gitignore": "*.log\n", "noise.log": "noise\n"}


def test_a_clone_that_is_gone_is_made_again(detent: Detent, repo: MakeRepo) -> None:
    task = CloneTask(detent, repo, repo())
    work(task)
    task.to("verify")
    shutil.rmtree(task.tree)
    assert "detent restore t" in task("status").out
    assert task("restore").code == 0
    assert contents(task.tree)["app.py"] == WORK
    assert not (task.home / ".unborn").exists()
    task.move("review")


def test_in_place_the_checkout_is_restored_and_its_index_left(at: At) -> None:
    task = at("verify")
    (task.repo / "app.py").write_text("broken\n", encoding="utf-8")
    assert task("restore").code == 0
    assert (task.repo / "app.py").read_text(encoding="utf-8") == SAMPLE_FILES["app.py"]


@pytest.mark.parametrize("words", [("restore",)])
def test_results_are_for_people(detent: Detent, repo: MakeRepo, words: tuple[str, ...]) -> None:
    task = CloneTask(detent, repo, repo())
    done = task(*words, environment={"DETENT_ROLE": "builder"})
    assert (done.code, "is for a person" in done.err) == (1, True), done
