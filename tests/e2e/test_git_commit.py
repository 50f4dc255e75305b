"""The person's commit: exactly what was approved, with their identity and hooks; later edits stay in the checkout."""

from __future__ import annotations

import importlib.util
import os
import py_compile
import shutil
import sys
from pathlib import Path

import pytest

from tests.conftest import Detent, MakeRepo, let_out
from tests.e2e.test_git_reset import APP, work_is_there, worked
from tests.e2e.thread_task import ThreadTask, thread_task

CHANGING_HOOK = "#!/bin/sh\necho '# formatted' >> app.py\ngit add app.py\n"


@pytest.fixture
def running(detent: Detent, repo: MakeRepo) -> ThreadTask:
    return worked(thread_task(detent, repo).moved("move", "Preflight").moved("move", "Running"))


@pytest.fixture
def ready(running: ThreadTask) -> ThreadTask:
    """Approved, in ReadyToCommit."""
    return running.moved("move", "PendingReview").moved("approve")


def hook(thread: ThreadTask, text: str, name: str = "pre-commit") -> None:
    path = thread.repository / ".git/hooks" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)


def committed(thread: ThreadTask) -> dict[str, str]:
    entry: dict[str, str] = thread.journal()[-1]["prepared"]["commit"]
    return entry


@pytest.mark.requirement("S4.57")
def test_what_was_approved_is_committed_on_the_tasks_branch(ready: ThreadTask) -> None:
    main = ready.git("rev-parse", "main")
    approved = ready.journal()[-2]["tree"]
    ready.moved("commit")
    assert ready.state == "Done"
    assert committed(ready)["sha"] == ready.git("rev-parse", "HEAD") == ready.git("rev-parse", "thread/t")
    assert committed(ready)["tree"] == approved == ready.git("rev-parse", "HEAD^{tree}")
    assert ready.git("log", "-1", "--format=%an <%ae>|%cn") == "Tester <tester@example.invalid>|Tester"
    assert ready.git("rev-parse", "HEAD^") == main == ready.git("rev-parse", "main")  # merging is the person's
    assert ready.git("status", "--porcelain") == ""
    assert work_is_there(ready)
    assert ready.is_sound()


@pytest.mark.requirement("S4.57")
def test_the_message_is_made_conventional_and_can_be_changed_before(ready: ThreadTask) -> None:
    file = ready.repository / ".thread/threads/t/commit.txt"
    text = file.read_text(encoding="utf-8")
    assert text.startswith("feat: count the words\n\nChanged:\n- app.py\n")
    file.write_text("fix(words): count them all\n\nWith a reason.\n", encoding="utf-8")
    ready.moved("commit")
    step = ready.kinds().index("intended", -2) + 1
    assert ready.git("log", "-1", "--format=%B").split("\n\n") == [
        "fix(words): count them all",
        "With a reason.",
        f"Detent-Step: t/{step}:commit\n",
    ]


def test_a_message_of_the_command_line_wins(ready: ThreadTask) -> None:
    ready.moved("commit", "--message", "docs: say it plainly")
    assert ready.git("log", "-1", "--format=%s") == "docs: say it plainly"


def test_later_edits_stay_uncommitted_and_are_named(ready: ThreadTask) -> None:
    ready.write("app.py", APP + "# later\n")
    ready.write("later.txt", "later\n")
    done = ready("commit")
    assert done.code == 0
    assert "changed after the approval: app.py, later.txt" in done.out
    assert "signed: tree" not in done.out, "the tree as it stands is not the one that was committed"
    assert ready.git("show", "HEAD:app.py") + "\n" == APP
    assert ready.git("status", "--porcelain").splitlines() == [" M app.py", "?? later.txt"]
    assert ready.read("app.py") == APP + "# later\n"
    assert committed(ready)["left"] == "app.py, later.txt"
    line = ready.journal()[-1]
    assert (line["kind"], line["tree"]) == ("moved", ready.git("rev-parse", "HEAD^{tree}"))
    assert ready.is_sound()


def test_what_was_staged_meanwhile_is_not_slipped_in(ready: ThreadTask) -> None:
    ready.write("sly.txt", "never reviewed\n")
    ready.git("add", "sly.txt")
    ready.moved("commit")
    assert "sly.txt" not in ready.git("ls-tree", "-r", "--name-only", "HEAD").split()
    assert ready.read("sly.txt") == "never reviewed\n"


def test_a_hook_that_refuses_stops_it_and_says_why(ready: ThreadTask) -> None:
    hook(ready, "#!/bin/sh\necho no tabs please >&2\nexit 1\n")
    before = ready.git("rev-parse", "HEAD")
    refused = ready("commit")
    assert refused.code == 1
    assert "no tabs please" in refused.out
    assert (ready.state, ready.git("rev-parse", "HEAD")) == ("ReadyToCommit", before)
    assert ready.kinds()[-2:] == ["intended", "unprepared"]
    assert work_is_there(ready)
    (ready.repository / ".git/hooks/pre-commit").unlink()
    ready.moved("commit")
    assert ready.is_sound()


def test_hook_that_changes_tree_stops_it_and_shows_the_change(ready: ThreadTask) -> None:
    hook(ready, CHANGING_HOOK)
    before = ready.git("rev-parse", "HEAD")
    refused = ready("commit")
    assert refused.code == 1
    assert "changes what was approved" in refused.out
    assert "+# formatted" in refused.out
    assert (ready.state, ready.git("rev-parse", "HEAD")) == ("ReadyToCommit", before)


def test_a_hook_for_the_message_has_its_say(ready: ThreadTask) -> None:
    hook(ready, '#!/bin/sh\necho "Checked-by: hook" >> "$1"\n', "commit-msg")
    ready.moved("commit")
    assert "Checked-by: hook" in ready.git("log", "-1", "--format=%b")
    assert ready.git("log", "-1", "--format=%(trailers:key=Detent-Step,valueonly)").strip()


def test_compiled_file_that_agent_planted_is_not_run_by_hook(running: ThreadTask, tmp_path: Path) -> None:
    """Hooks of a commit run outside the sandbox, and no tree id, so no approved difference, counts compiled files."""
    mark = tmp_path / "planted-code-ran"
    running.write("tools/check.py", "import rules\n")
    running.write("tools/rules.py", "")
    hook(running, f"#!/bin/sh\nexec {sys.executable} tools/check.py\n")
    planted = tmp_path / "rules.py"
    planted.write_text(f"open({str(mark)!r}, 'w').close()\n", encoding="utf-8")
    target = importlib.util.cache_from_source(str(running.repository / "tools/rules.py"))
    py_compile.compile(str(planted), target, invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
    running.moved("move", "PendingReview").moved("approve").moved("commit")
    assert running.state == "Done"
    assert "rules.py" in running.git("ls-tree", "-r", "--name-only", "HEAD")
    assert not mark.exists()


def test_filters_of_the_person_are_applied(running: ThreadTask) -> None:
    """Line ends as they are on disk were approved; the repository holds them as its attributes say."""
    running.write(".gitattributes", "*.txt text eol=crlf\n")
    (running.repository / "new.txt").write_bytes(b"new\r\n")
    running.moved("move", "PendingReview").moved("approve").moved("commit")
    assert running.repo.git(running.repository, "cat-file", "-s", "HEAD:new.txt") == "4"
    assert running.git("status", "--porcelain") == ""


def test_file_and_folder_may_replace_each_other(detent: Detent, repo: MakeRepo) -> None:
    path = repo("repo", {"plain": "x\n", "folder/one": "1\n", "folder/two": "2\n"})
    let_out(path)
    thread = ThreadTask(detent, repo, path).begun().moved("move", "Preflight").moved("move", "Running")
    shutil.rmtree(path / "folder")
    (path / "plain").unlink()
    thread.write("folder", "a file now\n")
    thread.write("plain/inner", "a folder now\n")
    thread.moved("move", "PendingReview").moved("approve").moved("commit")
    assert thread.git("ls-tree", "-r", "--name-only", "HEAD").split() == ["folder", "plain/inner"]
    assert thread.git("status", "--porcelain") == ""


def test_what_only_the_person_ignores_is_not_committed(running: ThreadTask) -> None:
    with (running.repository / ".git/info/exclude").open("a", encoding="utf-8") as file:
        file.write("/.editor/\n")
    running.write(".editor/settings", "mine\n")
    running.moved("move", "PendingReview").moved("approve").moved("commit")
    assert ".editor/settings" not in running.git("ls-tree", "-r", "--name-only", "HEAD").split()
    assert running.read(".editor/settings") == "mine\n"


@pytest.mark.parametrize("how", ["--skip-worktree", "--assume-unchanged"])
def test_file_marked_unchanged_in_git_is_not_committed(running: ThreadTask, how: str) -> None:
    before = running.git("rev-parse", "HEAD:README.md")
    running.git("update-index", how, "README.md")
    running.write("README.md", "for this host alone\n")
    running.moved("move", "PendingReview").moved("approve").moved("commit")
    assert running.git("rev-parse", "HEAD:README.md") == before
    assert running.read("README.md") == "for this host alone\n"
    assert running.git("status", "--porcelain") == ""


def test_a_checkout_that_became_sparse_is_not_committed(ready: ThreadTask) -> None:
    """A file that git leaves out of the folder is part of the commit, and was not removed."""
    ready.git("sparse-checkout", "set", "--no-cone", "/app.py", "/new.txt")
    assert not (ready.repository / "README.md").exists()
    before = ready.journal()
    refused = ready("commit")
    assert refused.code == 5, refused
    assert "your checkout is sparse" in refused.err
    assert "git sparse-checkout disable" in refused.err
    assert ready.journal() == before
    ready.git("sparse-checkout", "disable")
    ready.moved("commit")
    assert "README.md" not in ready.git("show", "--name-only", "--format=", "HEAD").split()


def test_a_commit_that_holds_the_approved_tree_is_recorded(ready: ThreadTask) -> None:
    ready.git("add", "--all")
    ready.git("commit", "--quiet", "--message=By hand")
    sha = ready.git("rev-parse", "HEAD")
    ready.moved("commit", "--sha", sha[:12])
    assert ready.state == "Done"
    assert (committed(ready)["sha"], committed(ready)["how"]) == (sha, "recorded")
    assert ready.git("rev-parse", "HEAD") == sha


def test_a_commit_with_another_tree_is_not_recorded(ready: ThreadTask) -> None:
    ready.write("app.py", APP + "# later\n")
    ready.git("add", "--all")
    ready.git("commit", "--quiet", "--message=By hand")
    refused = ready("commit", "--sha", "HEAD")
    assert refused.code == 1
    assert "another tree than the approved one; it differs in app.py" in refused.out
    assert ready.state == "ReadyToCommit"


@pytest.mark.parametrize(("sha", "why"), [("no-such", "there is no commit"), ("--all", "there is no commit")])
def test_a_commit_that_is_not_there_is_not_recorded(ready: ThreadTask, sha: str, why: str) -> None:
    refused = ready("commit", f"--sha={sha}")
    assert refused.code == 1
    assert why in refused.out


def test_a_commit_of_another_branch_is_not_recorded(ready: ThreadTask) -> None:
    ready.git("switch", "--quiet", "--create", "other")
    ready.git("add", "--all")
    ready.git("commit", "--quiet", "--message=Elsewhere")
    ready.git("switch", "--quiet", "thread/t")
    refused = ready("commit", "--sha", "other")
    assert refused.code == 1
    assert "is not on thread/t" in refused.out


def test_without_a_name_git_does_not_commit(ready: ThreadTask) -> None:
    nobody = dict.fromkeys(("GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"), "")
    refused = ready("commit", environment=nobody)
    assert refused.code == 1
    assert "git does not know who you are" in refused.out


@pytest.mark.requirement("S4.80")
@pytest.mark.requirement("S4.67")
def test_nothing_is_brought_back_after_the_commit(ready: ThreadTask) -> None:
    ready.moved("commit")
    refused = ready("restore")
    assert refused.code == 1
    assert "Done is final" in refused.err


def test_an_agent_does_not_commit(ready: ThreadTask) -> None:
    refused = ready("commit", environment={"DETENT_ROLE": "builder"})
    assert refused.code == 1
    assert ready.state == "ReadyToCommit"


@pytest.mark.parametrize(
    ("text", "words"),
    [("#!/bin/sh\necho no tabs >&2; exit 1\n", "no tabs"), (CHANGING_HOOK, "+# formatted")],
    ids=["refuses", "changes"],
)
def test_hooks_are_tried_before_the_review(running: ThreadTask, text: str, words: str) -> None:
    hook(running, text)
    refused = running("move", "PendingReview")
    assert refused.code == 1
    assert words in refused.err
    assert running.state == "Running"
    assert work_is_there(running)
    hook(running, "#!/bin/sh\ntest -f app.py\n")
    running.moved("move", "PendingReview")
    assert running.journal()[-1]["prepared"]["try_hooks"]["hooks"] == "pre-commit"


def test_what_tried_hook_writes_to_its_git_folder_runs_nothing(running: ThreadTask, disk_path: Path) -> None:
    mark = disk_path / "mark"
    settings = f"git config diff.x.textconv 'touch {mark}; cat'; echo '* diff=x' > .git/info/attributes\n"
    hook(running, CHANGING_HOOK + settings)
    refused = running("move", "PendingReview")
    assert refused.code == 1
    assert "+# formatted" in refused.err
    assert not mark.exists()


@pytest.mark.parametrize("name", ["prepare-commit-msg", "commit-msg"])
def test_hooks_for_message_are_tried_with_words_of_the_commit(running: ThreadTask, name: str) -> None:
    hook(running, '#!/bin/sh\ngrep -q "^Ticket:" "$1" || { cat "$1" >&2; exit 1; }\n', name)
    refused = running("move", "PendingReview")
    assert refused.code == 1
    assert f"the {name} hook would refuse the commit (exit 1)" in refused.err
    assert "feat: count the words" in refused.err
    assert "- app.py" in refused.err
    assert "Detent-Step: t/" in refused.err
    hook(running, '#!/bin/sh\necho "Ticket: 7" >> "$1"\n', name)
    running.moved("move", "PendingReview")
    assert running.journal()[-1]["prepared"]["try_hooks"]["hooks"] == name
    assert running.is_sound()


def test_hooks_of_the_work_tree_are_tried_where_they_lie(running: ThreadTask) -> None:
    """A hook manager keeps a starter where no commit takes it along, and looks beside it for what the project wrote."""
    running.write(".hooks/pre-commit", "echo no tabs >&2; exit 1\n")
    running.write(".hooks/_/.gitignore", "*\n")
    running.git("config", "core.hooksPath", ".hooks/_")
    starter = running.repository / ".hooks/_/pre-commit"
    starter.write_text('#!/bin/sh\nscript="${0%/*/*}/${0##*/}"\n[ ! -f "$script" ] || sh "$script"\n', encoding="utf-8")
    starter.chmod(0o755)
    refused = running("move", "PendingReview")
    assert (refused.code, "no tabs" in refused.err) == (1, True), refused
    running.write(".hooks/pre-commit", "test -f app.py\n")
    running.moved("move", "PendingReview")


@pytest.mark.parametrize("link", [".hooks", ".hooks/pre-commit"])
def test_hooks_are_not_copied_through_a_link_of_the_tree(running: ThreadTask, link: str) -> None:
    """A link leads elsewhere from the disposable checkout than from the work tree."""
    home = Path(running.journal()[0]["home"])
    aside, victim = running.repository.parent / "aside", home / "aside"
    for folder, text in ((aside, "#!/bin/sh\n"), (victim, "mine\n")):
        folder.mkdir(parents=True)
        (folder / "pre-commit").write_text(text, encoding="utf-8")
        (folder / "pre-commit").chmod(0o755)
    path = running.repository / link
    path.parent.mkdir(exist_ok=True)
    path.symlink_to(os.path.relpath(aside, running.repository) if link == ".hooks" else "../../aside/pre-commit")
    running.git("config", "core.hooksPath", ".hooks")
    running.moved("move", "PendingReview")
    assert (victim / "pre-commit").read_text(encoding="utf-8") == "mine\n"


def test_hooks_run_once_per_tree_and_without_the_lock(running: ThreadTask, tmp_path: Path) -> None:
    count = tmp_path / "count"
    script = f"{sys.executable} -m detent configure --limit runs=7 {running.id} --repo {running.repository}"
    hook(running, f"#!/bin/sh\necho x >> {count}\nexec {script}\n")
    running.moved("move", "PendingReview")
    assert count.read_text(encoding="utf-8") == "x\n"
    assert running.kinds()[-4:] == ["configured", "proved", "intended", "moved"]


def test_without_hooks_there_is_nothing_to_try(running: ThreadTask) -> None:
    running.moved("move", "PendingReview")
    assert running.journal()[-1]["prepared"]["try_hooks"] == {"hooks": "none"}


@pytest.mark.parametrize(
    ("title", "subject"),
    [
        ("Fix the count of words", "fix: fix the count of words"),
        ("feat(api)!: count words", "feat(api)!: count words"),
        ("Rename the counter", "refactor: rename the counter"),
        ("Count " + "many " * 30 + "words", "feat: count " + ("many " * 12).strip()),
    ],
)
def test_a_subject_is_conventional_and_short(detent: Detent, repo: MakeRepo, title: str, subject: str) -> None:
    from detent.packs.ralf.commit_message import made_message

    assert made_message(title, ["a.py"]).partition("\n")[0] == subject


def test_a_file_s_name_makes_no_line_of_a_message() -> None:
    from detent.packs.ralf.commit_message import made_message

    assert "\n- a\\n\\nSigned-off-by: me\n" in made_message("Count words", ["a\n\nSigned-off-by: me"])


def test_what_a_finished_thread_leaves_is_collected_without_its_branch(ready: ThreadTask) -> None:
    """The branch holds the person's commit and is theirs; so are the files of the checkout."""
    ready.moved("commit")
    done = ready.detent("gc", "--yes", "--json", cwd=ready.repository)
    assert done.code == 0, done
    assert ready.branch == "thread/t"
    assert work_is_there(ready)
    assert ready.is_sound()
