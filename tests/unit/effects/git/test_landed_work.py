"""Git is asked whether work has landed: by commits, trees and files, and never without a bound."""

from __future__ import annotations

from pathlib import Path

import pytest

from detent.effects.git.landed_work import Work, find_landed
from tests.conftest import MakeRepo


class Site:
    """A repository with a branch `work` that changed app.py, and main where it began."""

    def __init__(self, repo: MakeRepo) -> None:
        self.repo, self.path, self.made = repo, repo(), 0
        self.baseline = self.git("rev-parse", "HEAD")
        self.git("switch", "--quiet", "-c", "work")
        self.commit("app.py", "# better\n")
        self.work = self.git("rev-parse", "HEAD")
        self.git("switch", "--quiet", "main")

    def git(self, *words: str) -> str:
        return self.repo.git(self.path, *words)

    def commit(self, name: str, text: str) -> str:
        Path(self.path / name).write_text(text, encoding="utf-8")
        self.git("add", name)
        self.made += 1  # equal commits of one second would be the same commit
        self.git("commit", "--quiet", f"--message=Change {self.made}")
        return self.git("rev-parse", "HEAD")

    def found(self, landing: str = "", most: int = 300) -> str:
        folder = str(self.path / ".git")
        work = Work(folder, folder, self.baseline, self.work, frozenset({"refs/heads/work"}), landing)
        return find_landed(work, most)


@pytest.fixture
def site(repo: MakeRepo) -> Site:
    return Site(repo)


def test_work_on_its_own_branch_alone_has_not_landed(site: Site) -> None:
    site.commit("other.txt", "mine\n")
    assert site.found() == ""


def test_a_branch_with_the_commit_shows_the_work(site: Site) -> None:
    site.git("branch", "feature", "work")
    assert site.found() == "feature"


def test_commit_with_all_changes_shows_the_work_also_below_others(site: Site) -> None:
    site.commit("other.txt", "mine\n")
    shown = site.commit("app.py", "# better\n")
    site.commit("app.py", "# gone on\n")
    assert site.found() == shown[:12]


def test_a_commit_with_some_of_the_changes_shows_nothing(site: Site) -> None:
    site.git("switch", "--quiet", "work")
    site.commit("more.txt", "more\n")
    site.work = site.git("rev-parse", "HEAD")
    site.git("switch", "--quiet", "main")
    site.commit("app.py", "# better\n")
    assert site.found() == ""


def test_a_mode_is_a_change(site: Site) -> None:
    site.git("switch", "--quiet", "work")
    site.git("reset", "--quiet", "--hard", "main")
    site.git("update-index", "--chmod=+x", "app.py")
    site.git("commit", "--quiet", "--message=Mode")
    site.work = site.git("rev-parse", "HEAD")
    site.git("switch", "--quiet", "--force", "main")
    site.commit("other.txt", "mine\n")
    assert site.found() == ""


def test_squash_that_git_merged_with_other_changes_shows_the_work(site: Site) -> None:
    base = "".join(f"# line {number}\n" for number in range(20))
    site.git("switch", "--quiet", "work")
    site.commit("long.py", base)
    site.git("switch", "--quiet", "main")
    site.git("merge", "--quiet", "work")
    site.baseline = site.git("rev-parse", "HEAD")
    site.git("switch", "--quiet", "-C", "work")
    site.commit("long.py", base.replace("# line 2\n", "# theirs\n"))
    site.work = site.git("rev-parse", "HEAD")
    site.git("switch", "--quiet", "main")
    site.commit("long.py", base.replace("# line 17\n", "# mine\n"))
    site.git("merge", "--quiet", "--squash", "work")
    site.git("commit", "--quiet", "--message=Squash")
    landing = site.git("rev-parse", "HEAD")
    assert site.found() == "", "no file is as the task left it"
    assert site.found(landing) == "main"
    site.git("commit", "--quiet", "--amend", "--message=Other words")
    assert site.found(landing) == site.git("rev-parse", "HEAD")[:12]


def test_a_commit_without_the_work_is_no_landing(site: Site) -> None:
    other = site.commit("other.txt", "mine\n")
    assert site.found(other) == ""
    assert site.found("0" * 40) == ""


def test_the_search_has_a_bound(site: Site) -> None:
    site.commit("app.py", "# better\n")
    site.commit("app.py", "# gone on\n")
    site.commit("app.py", "# and on\n")
    assert site.found(most=2) == ""
    assert site.found(most=3) != ""
