"""Work that is taken back: saved first, then the checkout stands where it stood; `restore` brings it all again."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.conftest import SAMPLE_FILES, Detent, MakeRepo, let_out
from tests.e2e.terminal import Terminal
from tests.e2e.thread_task import ThreadTask, thread_task

QUESTION = "Changes will be taken away. Go on?"
APP = "def add(left, right):\n    return right + left\n"


@pytest.fixture
def thread(detent: Detent, repo: MakeRepo) -> ThreadTask:
    """In Running, with a changed, a removed and two new files on the task's branch."""
    made = thread_task(detent, repo).moved("move", "Preflight").moved("move", "Running")
    return worked(made)


def worked(thread: ThreadTask) -> ThreadTask:
    thread.write("app.py", APP)
    thread.write("new.txt", "new\n")
    thread.write("deep/er/new.txt", "deep\n")
    (thread.repository / "test_app.py").unlink()
    return thread


def work_is_there(thread: ThreadTask) -> bool:
    assert thread.read("app.py") == APP
    assert (thread.read("new.txt"), thread.read("deep/er/new.txt")) == ("new\n", "deep\n")
    assert not (thread.repository / "test_app.py").exists()
    return True


def files(thread: ThreadTask) -> list[str]:
    found = (path.relative_to(thread.repository) for path in thread.repository.rglob("*") if path.is_file())
    return sorted(str(path) for path in found if path.parts[0] not in (".git", ".thread"))


def saved(thread: ThreadTask) -> dict[str, str]:
    reset: dict[str, str] = thread.journal()[-1]["prepared"]["reset"]
    return reset


@pytest.mark.requirement("S4.55")
def test_it_asks_first_and_without_a_yes_nothing_happens(thread: ThreadTask) -> None:
    before = thread.journal()
    refused = thread("reject", "--reason", "the spec was wrong")
    assert refused.code == 1
    assert QUESTION in refused.out
    assert "--yes" in refused.out
    assert thread.journal() == before
    assert work_is_there(thread)


@pytest.mark.parametrize(("answer", "state"), [("y", "Drafting"), ("", "Running"), ("no", "Running")])
def test_at_a_terminal_the_question_is_asked(thread: ThreadTask, answer: str, state: str) -> None:
    words = ("move", "Drafting", "t")
    with Terminal(words, thread.repository, dict(thread.detent.environment)) as terminal:
        terminal.until(f"{QUESTION} [y/N]")
        terminal.type(f"{answer}\n")
        terminal.end()
    assert thread.state == state


@pytest.mark.requirement("S4.56")
def test_everything_is_saved_and_the_checkout_stands_where_it_stood(thread: ThreadTask) -> None:
    base = thread.git("rev-parse", "main")
    thread.moved("reject", "--reason", "the spec was wrong", "--yes")
    assert thread.state == "Drafting"
    assert (thread.branch, thread.git("rev-parse", "HEAD")) == ("main", base)
    assert thread.git("status", "--porcelain") == ""
    assert files(thread) == ["README.md", "app.py", "test_app.py"]
    assert thread.git("branch", "--list", "thread/*") == ""
    ref = saved(thread)["backup"]
    assert thread.git("show", f"{ref}:app.py") + "\n" == APP
    assert thread.git("ls-tree", "-r", "--name-only", ref).split() == [
        "README.md",
        "app.py",
        "deep/er/new.txt",
        "new.txt",
    ]
    assert thread.is_sound()


def test_what_was_only_staged_is_saved_too(thread: ThreadTask) -> None:
    thread.write("README.md", "staged\n")
    thread.git("add", "README.md")
    thread.write("README.md", "edited on\n")
    done = thread("reject", "--reason", "the spec was wrong", "--yes")
    ref = saved(thread)["staged"]
    assert f"what was staged is kept as {ref}" in done.out
    assert thread.git("show", f"{ref}:README.md") == "staged"
    assert thread.git("show", f"{saved(thread)['backup']}:README.md") == "edited on"
    assert thread.git("diff", "--cached", "--name-only") == ""
    assert thread.is_sound()


def test_nothing_more_is_saved_where_nothing_else_was_staged(thread: ThreadTask) -> None:
    thread.moved("reject", "--reason", "the spec was wrong", "--yes")
    assert "staged" not in saved(thread)
    assert "staged" not in thread.git("for-each-ref", "refs/detent")


def test_commits_of_the_branch_are_saved_with_it(thread: ThreadTask) -> None:
    thread.git("add", "app.py")
    thread.git("commit", "--quiet", "--message=Work")
    work = thread.git("rev-parse", "HEAD")
    thread.moved("move", "Drafting", "--yes")
    assert thread.git("rev-parse", f"{saved(thread)['backup']}^") == work
    assert thread.read("app.py") != APP


def test_a_branch_of_the_person_that_advanced_is_not_moved(thread: ThreadTask) -> None:
    """A commit on main from another checkout meanwhile."""
    other = thread.repository.parent / "other"
    thread.git("worktree", "add", "--quiet", "--detach", str(other), "main")
    (other / "theirs.txt").write_text("theirs\n", encoding="utf-8")
    thread.repo.git(other, "add", "--all")
    thread.repo.git(other, "commit", "--quiet", "--message=Theirs")
    theirs = thread.repo.git(other, "rev-parse", "HEAD")
    thread.git("update-ref", "refs/heads/main", theirs)
    thread.moved("move", "Drafting", "--yes")
    assert (thread.branch, thread.git("rev-parse", "HEAD")) == ("main", theirs)
    assert thread.read("theirs.txt") == "theirs\n"
    assert thread.git("status", "--porcelain") == ""


def test_branch_of_person_is_left_where_the_task_has_none(detent: Detent, repo: MakeRepo) -> None:
    thread = thread_task(detent, repo).moved("move", "Preflight", "--no-branch").moved("move", "Running")
    thread.git("switch", "--quiet", "--create", "mine")
    thread.git("commit", "--quiet", "--allow-empty", "--message=Mine")
    mine = thread.git("rev-parse", "HEAD")
    moved = thread("move", "Drafting", "--yes")
    assert moved.code == 0, moved
    assert "mine is left as it is: the engine did not make it" in moved.out
    assert (thread.branch, thread.git("rev-parse", "mine")) == ("main", mine)
    thread.moved("restore")
    assert thread.branch == "mine"
    assert "branch" not in thread.journal()[-1].get("prepared", {}), "it is the task's no more than before"
    assert thread.is_sound()


def base_begins_to_track(thread: ThreadTask, name: str) -> None:
    """Commit this file on main from another checkout meanwhile, ignored or not."""
    other = thread.repository.parent / "other"
    thread.git("worktree", "add", "--quiet", "--detach", str(other), "main")
    (other / name).parent.mkdir(exist_ok=True)
    (other / name).write_text("theirs\n", encoding="utf-8")
    thread.repo.git(other, "add", "--all", "--force")
    thread.repo.git(other, "commit", "--quiet", "--message=Theirs")
    thread.git("update-ref", "refs/heads/main", thread.repo.git(other, "rev-parse", "HEAD"))


def ignored_thread(detent: Detent, repo: MakeRepo, ignored_by: str) -> ThreadTask:
    """In Running, with no work; what begins with `notes` is ignored by this file."""
    repository = repo(files={**SAMPLE_FILES, **({ignored_by: "notes*\n"} if ignored_by == ".gitignore" else {})})
    (repository / ignored_by).write_text("notes*\n", encoding="utf-8")
    let_out(repository)
    begun = ThreadTask(detent, repo, repository).begun()
    return begun.moved("move", "Preflight").moved("move", "Running")


IGNORED = pytest.mark.parametrize("ignored_by", [".git/info/exclude", ".gitignore"])
IN_THE_WAY = pytest.mark.parametrize(
    ("mine", "tracked"),
    [("notes.txt", "notes.txt"), ("notes/old.txt", "notes"), ("notes", "notes/new.txt"), ("a/notes", "a/notes")],
)


@IGNORED
@IN_THE_WAY
def test_what_person_ignores_is_not_overwritten_by_the_way_back(
    detent: Detent, repo: MakeRepo, ignored_by: str, mine: str, tracked: str
) -> None:
    """Git takes ignored files for worthless, and the branch that is gone back to began to track one meanwhile."""
    thread = ignored_thread(detent, repo, ignored_by)
    thread.write(mine, "precious\n")
    thread.write("new.txt", "new\n")
    base_begins_to_track(thread, tracked)
    before = thread.journal()
    refused = thread("move", "Drafting", "--yes")
    assert refused.code == 1
    assert f"stand in the way: {mine}" in refused.out + refused.err
    assert "move them away" in refused.out + refused.err
    assert (thread.read(mine), thread.read("new.txt"), thread.branch) == ("precious\n", "new\n", "thread/t")
    assert thread.journal() == before
    (thread.repository / mine).rename(thread.repository.parent / "aside")
    thread.moved("move", "Drafting", "--yes")
    assert (thread.branch, thread.read(tracked)) == ("main", "theirs\n")
    assert thread.is_sound()


def test_saved_work_of_the_agent_gives_way_to_the_branch(thread: ThreadTask) -> None:
    base_begins_to_track(thread, "new.txt")
    thread.moved("move", "Drafting", "--yes")
    assert thread.read("new.txt") == "theirs\n"
    assert thread.git("show", f"{saved(thread)['backup']}:new.txt") == "new"


@IGNORED
@IN_THE_WAY
def test_task_that_is_given_up_overwrites_nothing_that_person_ignores(
    detent: Detent, repo: MakeRepo, ignored_by: str, mine: str, tracked: str
) -> None:
    thread = ignored_thread(detent, repo, ignored_by)
    thread.write(mine, "precious\n")
    base_begins_to_track(thread, tracked)
    thread.moved("cancel", "--reason", "not needed")
    assert (thread.state, thread.branch) == ("Abandoned", "thread/t")
    assert f"stand in the way: {mine}" in thread.journal()[-1]["result"]["stays"]
    assert thread.read(mine) == "precious\n"


def test_without_a_branch_of_its_own_only_files_go_back(detent: Detent, repo: MakeRepo) -> None:
    thread = thread_task(detent, repo).moved("move", "Preflight", "--no-branch").moved("move", "Running")
    worked(thread)
    head = thread.git("rev-parse", "HEAD")
    thread.moved("move", "Drafting", "--yes")
    assert (thread.branch, thread.git("rev-parse", "HEAD"), thread.git("status", "--porcelain")) == ("main", head, "")


def test_what_a_person_ignores_for_themselves_stays(thread: ThreadTask) -> None:
    with (thread.repository / ".git/info/exclude").open("a", encoding="utf-8") as file:
        file.write("/.editor/\n")
    thread.write(".editor/settings", "mine\n")
    thread.moved("move", "Drafting", "--yes")
    assert thread.read(".editor/settings") == "mine\n"


def test_what_the_work_itself_ignores_goes_too(thread: ThreadTask) -> None:
    thread.write(".gitignore", "hidden.txt\n")
    thread.write("hidden.txt", "made by the agent\n")
    thread.moved("move", "Drafting", "--yes")
    assert files(thread) == ["README.md", "app.py", "test_app.py"]
    assert thread.git("show", f"{saved(thread)['backup']}:hidden.txt") == "made by the agent"


def test_a_link_out_of_the_tree_is_not_followed(thread: ThreadTask, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept.txt").write_text("kept\n", encoding="utf-8")
    (thread.repository / "link").symlink_to(outside)
    thread.moved("move", "Drafting", "--yes")
    assert not os.path.lexists(thread.repository / "link")
    assert (outside / "kept.txt").read_text(encoding="utf-8") == "kept\n"


def test_a_checkout_that_is_elsewhere_is_left_alone(thread: ThreadTask) -> None:
    thread.git("stash", "--include-untracked", "--quiet")
    thread.git("switch", "--quiet", "--create", "mine", "main")
    thread.write("app.py", "mine\n")
    refused = thread("move", "Drafting", "--yes")
    assert refused.code == 1
    assert "on mine, this task works on thread/t" in refused.out
    assert thread.read("app.py") == "mine\n"


def test_a_baseline_branch_that_is_gone_is_told(thread: ThreadTask) -> None:
    thread.git("branch", "--quiet", "-D", "main")
    refused = thread("move", "Drafting", "--yes")
    assert refused.code == 1
    assert "git branch main" in refused.out
    assert work_is_there(thread)


def test_a_baseline_branch_in_another_checkout_is_told(thread: ThreadTask) -> None:
    thread.git("worktree", "add", "--quiet", str(thread.repository.parent / "other"), "main")
    refused = thread("move", "Drafting", "--yes")
    assert refused.code == 1
    assert "main is checked out in" in refused.out
    assert work_is_there(thread)


def test_without_git_a_reset_must_be_known_to_do_nothing(tmp_path: Path, detent: Detent, repo: MakeRepo) -> None:
    folder = tmp_path / "plain"
    folder.mkdir()
    thread = ThreadTask(detent, repo, folder).begun().moved("move", "Preflight", "--no-git").moved("move", "Running")
    thread.write("app.py", APP)
    refused = thread("move", "Drafting", "--yes")
    assert refused.code == 1
    assert "nothing can be reset" in refused.out
    thread.moved("move", "Drafting", "--yes", "--no-git")
    assert thread.read("app.py") == APP


def test_a_submodule_is_left_as_it_is(detent: Detent, repo: MakeRepo) -> None:
    library, repository = repo("library"), repo()
    repo.git(repository, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(library), "lib")
    repo.git(repository, "commit", "--quiet", "--message=Library")
    let_out(repository)
    thread = ThreadTask(detent, repo, repository).begun().moved("move", "Preflight").moved("move", "Running")
    thread.write("lib/app.py", "theirs\n")
    thread.write("new.txt", "new\n")
    thread.moved("move", "Drafting", "--yes")
    assert thread.read("lib/app.py") == "theirs\n"
    assert not (thread.repository / "new.txt").exists()
    assert thread.branch == "main"


def test_repository_inside_the_tree_cannot_be_saved_and_nothing_begins(thread: ThreadTask) -> None:
    thread.git("init", "--quiet", "inner")
    thread.git("-C", "inner", "commit", "--quiet", "--allow-empty", "--message=Inner")
    before = thread.journal()
    refused = thread("move", "Drafting", "--yes")
    assert refused.code == 5
    assert "git repository inside the tree" in refused.err
    assert thread.journal() == before
    assert work_is_there(thread)


def test_restore_brings_files_and_branch_back_and_the_state_stays(thread: ThreadTask) -> None:
    base = thread.git("rev-parse", "HEAD")
    thread.moved("move", "Drafting", "--yes")
    thread.write("later.txt", "later\n")
    done = thread("restore", "--json")
    assert done.code == 0, done
    assert work_is_there(thread)
    assert (thread.branch, thread.git("rev-parse", "HEAD")) == ("thread/t", base)
    assert not (thread.repository / "later.txt").exists()
    assert thread.git("status", "--porcelain").splitlines() == [" M app.py", " D test_app.py", "?? deep/", "?? new.txt"]
    assert thread.state == "Drafting"
    kept = thread.repo.git(thread.control / "git", "show", f"{done.json()['kept']}:later.txt")
    assert kept == "later"
    assert thread.is_sound()
    thread.moved("move", "Finalized").moved("move", "Preflight")  # it goes on from there, with the baseline it had
    assert thread.journal()[-1]["prepared"]["baseline"]["commit_sha"] == base


def test_abandon_keeps_branch_and_changes(thread: ThreadTask) -> None:
    thread.moved("cancel", "--reason", "not needed")
    assert thread.state == "Abandoned"
    assert thread.branch == "thread/t"
    assert work_is_there(thread)
    assert "not committed" in thread.journal()[-1]["result"]["stays"]


def test_abandon_goes_back_to_the_baseline_branch_if_clean(thread: ThreadTask) -> None:
    thread.git("add", "--all")
    thread.git("commit", "--quiet", "--message=Work")
    work = thread.git("rev-parse", "HEAD")
    thread.moved("cancel", "--reason", "not needed")
    assert thread.branch == "main"
    assert thread.git("rev-parse", "thread/t") == work
    assert thread.read("app.py") != APP
    assert thread.is_sound()


def test_no_task_restores_its_files_over_the_work_of_another(thread: ThreadTask) -> None:
    other = ThreadTask(thread.detent, thread.repo, thread.repository, "u").new()
    refused = other("restore")
    assert refused.code == 1
    assert "on thread/t, the branch of task t" in refused.err
    assert work_is_there(thread)
    assert "restored_tree" not in other.kinds()
