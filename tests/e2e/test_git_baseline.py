"""Before the work begins: branch and commit to come back to are written down, and the task's branch is made."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Detent, MakeRepo, let_out
from tests.e2e.thread_task import MACHINE, ThreadTask, thread_task


@pytest.fixture
def thread(detent: Detent, repo: MakeRepo) -> ThreadTask:
    return thread_task(detent, repo)


def prepared(thread: ThreadTask) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = thread.journal()[-1]["prepared"]
    return found


@pytest.mark.requirement("S4.54")
def test_baseline_and_branch_come_before_the_move(thread: ThreadTask) -> None:
    head = thread.git("rev-parse", "HEAD")
    thread.moved("move", "Preflight")
    assert thread.kinds()[-2:] == ["intended", "moved"]
    baseline = prepared(thread)["baseline"]
    assert (baseline["branch"], baseline["commit_sha"]) == ("main", head)
    assert baseline["captured_at"].endswith("Z")
    assert prepared(thread)["branch"] == {"name": "thread/t"}
    assert (thread.branch, thread.git("rev-parse", "HEAD"), thread.git("rev-parse", "main")) == ("thread/t", head, head)
    assert thread.git("status", "--porcelain") == ""
    assert thread.is_sound()


@pytest.mark.requirement("S4.54")
def test_no_branch_only_writes_the_baseline_down(thread: ThreadTask) -> None:
    thread.moved("move", "Preflight", "--no-branch")
    assert thread.branch == "main"
    assert prepared(thread)["branch"] == {}
    assert thread.git("branch", "--list", "thread/*") == ""


def test_a_detached_head_is_refused_and_nothing_is_written(thread: ThreadTask) -> None:
    thread.git("checkout", "--quiet", "--detach")
    before = thread.journal()
    refused = thread("move", "Preflight")
    assert refused.code == 1
    assert "on no branch (detached HEAD" in refused.out
    assert "git switch" in refused.out
    assert thread.journal() == before
    assert thread.state == "Finalized"


def foretold(thread: ThreadTask, to: str = "Preflight") -> dict[str, Any]:
    """What `next` says of a move, and that nothing was written for it."""
    before = thread.journal()
    moves = {move["to"]: move for move in thread("next", "--json").json()["edges"]}
    assert thread.journal() == before
    found: dict[str, Any] = moves[to]
    return found


@pytest.mark.parametrize("is_packed", [False, True])
def test_next_tells_what_the_move_would_be_refused_for(thread: ThreadTask, *, is_packed: bool) -> None:
    assert foretold(thread)["open"]
    thread.git("branch", "thread/t")
    if is_packed:
        thread.git("pack-refs", "--all")
    (missing,) = foretold(thread)["missing"]
    assert missing["why"] == "the branch thread/t is there already"
    assert not foretold(thread)["open"]
    assert "the branch thread/t is there already" in thread("choose").out
    thread.git("checkout", "--quiet", "--detach")
    (missing,) = foretold(thread)["missing"]
    assert "detached HEAD" in missing["why"]
    assert "git switch" in missing["fix"]


def test_a_merge_under_way_is_refused(thread: ThreadTask) -> None:
    (thread.repository / ".git/MERGE_HEAD").write_text(thread.git("rev-parse", "HEAD"), encoding="utf-8")
    refused = thread("move", "Preflight")
    assert refused.code == 1
    assert "a merge is under way" in refused.out


def test_branch_that_is_there_already_is_refused_and_left_alone(thread: ThreadTask) -> None:
    thread.git("branch", "thread/t")
    refused = thread("move", "Preflight")
    assert refused.code == 1
    assert "the branch thread/t is there already" in refused.out
    assert thread.branch == "main"
    assert thread.state == "Finalized"


def test_a_branch_in_the_way_of_the_name_is_refused(thread: ThreadTask) -> None:
    thread.git("branch", "thread")
    refused = thread("move", "Preflight")
    assert refused.code == 1
    assert "the branch thread keeps git from making thread/t" in refused.out


@pytest.mark.parametrize("name", ["app.py", "new.txt"])
def test_from_a_dirty_checkout_no_branch_is_made(thread: ThreadTask, name: str) -> None:
    """A changed and a new file: what a person has not committed would be mixed up with the work."""
    thread.write(name, "mine\n")
    thread.moved("move", "Preflight")
    assert thread.branch == "main"
    assert prepared(thread)["branch"] == {"not_made": f"not committed: {name}"}
    assert thread.read(name) == "mine\n"
    thread.git("add", "--all")
    thread.git("commit", "--quiet", "--message=Mine")
    thread.moved("move", "--edge", "retry")
    assert thread.branch == "thread/t"
    assert prepared(thread)["baseline"]["commit_sha"] == thread.git("rev-parse", "main")


def test_what_a_person_ignores_everywhere_is_no_uncommitted_work(
    thread: ThreadTask, clean_environment: dict[str, str]
) -> None:
    """By a file that their own settings name; what the exclude file of this clone says is stronger, as it is to git."""
    Path(clean_environment["HOME"], "ignored").write_text(".editor/\n*.txt\n", encoding="utf-8")
    thread.git("config", "--global", "core.excludesFile", "~/ignored")
    thread.write(".editor/settings", "mine\n")
    thread.write("notes.txt", "mine\n")
    with (thread.repository / ".git/info/exclude").open("a", encoding="utf-8") as file:
        file.write("!notes.txt\n")
    assert thread.git("status", "--porcelain") == "?? notes.txt"
    thread.moved("move", "Preflight")
    assert prepared(thread)["branch"] == {"not_made": "not committed: notes.txt"}
    (thread.repository / "notes.txt").unlink()
    thread.moved("move", "--edge", "retry")
    assert thread.branch == "thread/t"


def test_in_a_sparse_checkout_no_task_works_in_place(detent: Detent, repo: MakeRepo) -> None:
    """What git leaves out of the folder would count as removed."""
    path = repo()
    repo.git(path, "sparse-checkout", "set", "--no-cone", "/app.py")
    for words in (("new", str(MACHINE), "count"), ("new", "phase", "count", "--in-place")):
        refused = detent(*words, cwd=path)
        assert (refused.code, "your checkout is sparse" in refused.err) == (5, True), refused
    assert detent("new", "phase", "count", cwd=path).code == 0
    repo.git(path, "sparse-checkout", "disable")
    assert detent("new", str(MACHINE), "count", cwd=path).code == 0


def test_a_retry_on_the_own_branch_keeps_the_baseline(thread: ThreadTask) -> None:
    thread.moved("move", "Preflight")
    first = prepared(thread)["baseline"]
    thread.git("commit", "--quiet", "--allow-empty", "--message=On the branch")
    thread.moved("move", "--edge", "retry")
    assert prepared(thread)["baseline"] == first
    assert thread.branch == "thread/t"


def test_a_retry_elsewhere_captures_again_and_reuses_the_unused_branch(thread: ThreadTask) -> None:
    thread.moved("move", "Preflight")
    thread.git("switch", "--quiet", "main")
    thread.moved("move", "--edge", "retry")
    assert thread.branch == "thread/t"
    assert prepared(thread)["baseline"]["branch"] == "main"


def test_second_thread_does_not_begin_on_the_first_ones_branch(thread: ThreadTask) -> None:
    thread.moved("move", "Preflight")
    other = ThreadTask(thread.detent, thread.repo, thread.repository, "u").begun()
    refused = other("move", "Preflight")
    assert refused.code == 1
    assert "on thread/t, the branch of task t" in refused.out
    thread.git("switch", "--quiet", "main")
    other.moved("move", "Preflight")
    assert thread.branch == "thread/u"
    assert thread.git("branch", "--list", "thread/t", "--format=%(refname:short)") == "thread/t"


def test_without_git_a_person_must_say_so(tmp_path: Path, detent: Detent, repo: MakeRepo) -> None:
    folder = tmp_path / "plain"
    folder.mkdir()
    thread = ThreadTask(detent, repo, folder).begun()
    refused = thread("move", "Preflight")
    assert refused.code == 1
    assert "no git repository" in refused.out
    assert "--no-git" in refused.out
    thread.moved("move", "Preflight", "--no-git")
    assert prepared(thread)["baseline"]["commit_sha"] == ""
    assert thread.is_sound()


def test_a_repository_without_a_commit_is_refused(tmp_path: Path, detent: Detent, repo: MakeRepo) -> None:
    folder = tmp_path / "plain"
    folder.mkdir()
    thread = ThreadTask(detent, repo, folder).begun()
    repo.git(folder, "init", "--quiet")
    shutil.copytree(folder / ".detent", folder / ".git" / "detent")  # it was no repository when the task was made
    refused = detent("move", "Preflight", "t", cwd=folder / ".thread/threads/t")
    assert refused.code == 1, refused
    assert "no commit yet" in refused.out
    assert thread.id == "t"


def test_folder_of_the_machine_is_excluded_for_this_clone_only(thread: ThreadTask) -> None:
    assert (thread.repository / ".thread/threads/t/thread.json").exists()
    assert thread.git("status", "--porcelain", "--ignored") == "!! .thread/"
    assert (thread.repository / ".git/info/exclude").read_text(encoding="utf-8").endswith("\n/.thread/\n")
    ThreadTask(thread.detent, thread.repo, thread.repository, "u").begun()
    assert (thread.repository / ".git/info/exclude").read_text(encoding="utf-8").count("/.thread/") == 1


def test_the_machines_folder_may_not_be_part_of_the_repository(detent: Detent, repo: MakeRepo) -> None:
    repository = repo(files={".thread/kept.txt": "committed\n"})
    let_out(repository)
    refused = detent("new", str(Path(__file__).parents[1] / "data/thread.toml"), "x", cwd=repository)
    assert refused.code == 1
    assert "holds files of the repository" in refused.err


@pytest.mark.requirement("S4.75")
def test_new_and_use_choose_the_active_task(thread: ThreadTask) -> None:
    active = thread.repository / ".thread/active_thread"
    assert active.read_text(encoding="utf-8") == "t\n"
    ThreadTask(thread.detent, thread.repo, thread.repository, "u").begun()
    assert active.read_text(encoding="utf-8") == "u\n"
    assert thread.detent("status", "--json", cwd=thread.repository).json()["id"] == "u"
    assert thread("use").code == 0
    assert active.read_text(encoding="utf-8") == "t\n"
    assert thread.detent("status", "--json", cwd=thread.repository).json()["id"] == "t"
