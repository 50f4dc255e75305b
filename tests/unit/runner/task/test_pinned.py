"""Tests of reading what a project committed: only plain files of a bearable size, and nothing from outside."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from detent.errors import UnreadableError
from detent.runner.task.open import find_project
from detent.runner.task.pinned import read_committed
from detent.store.disk.atomic import LARGEST_TEXT_BYTES
from detent.words.runner import task as say
from tests.conftest import MakeRepo


def test_the_baseline_counts_and_not_the_disk(repo: MakeRepo) -> None:
    path = repo(files={"docs/a.md": "committed\n"})
    (path / "docs" / "a.md").write_text("edited\n", encoding="utf-8")
    (path / "new.md").write_text("new\n", encoding="utf-8")
    head = repo.git(path, "rev-parse", "HEAD")
    project = find_project(str(path))
    assert read_committed(project, head, "docs/a.md") == b"committed\n"
    assert read_committed(project, head, "./docs//a.md") == b"committed\n"
    assert read_committed(project, head, "new.md") is None


@pytest.mark.parametrize("name", ["docs", "link"])
def test_only_plain_files_are_read(repo: MakeRepo, name: str) -> None:
    path = repo(files={"docs/a.md": "a\n"})
    (path / "link").symlink_to("docs/a.md")
    repo.git(path, "add", "--all")
    repo.git(path, "commit", "--quiet", "--message=More")
    head = repo.git(path, "rev-parse", "HEAD")
    with pytest.raises(UnreadableError, match=re.escape(say.no_plain_file_in_commit(name, head))):
        read_committed(find_project(str(path)), head, name)


def test_a_giant_is_refused(repo: MakeRepo) -> None:
    path = repo(files={"at.md": "x" * LARGEST_TEXT_BYTES, "above.md": "x" * (LARGEST_TEXT_BYTES + 1)})
    head = repo.git(path, "rev-parse", "HEAD")
    project = find_project(str(path))
    assert len(read_committed(project, head, "at.md") or b"") == LARGEST_TEXT_BYTES
    with pytest.raises(
        UnreadableError,
        match=re.escape(say.committed_file_too_large("above.md", LARGEST_TEXT_BYTES + 1, LARGEST_TEXT_BYTES)),
    ):
        read_committed(project, head, "above.md")


def test_without_git_no_link_leads_out(tmp_path: Path) -> None:
    outside, plain = tmp_path / "outside", tmp_path / "plain"
    for folder in (outside, plain, plain / "docs"):
        folder.mkdir()
    (outside / "a.md").write_text("secret\n", encoding="utf-8")
    (plain / "docs" / "a.md").write_text("ours\n", encoding="utf-8")
    (plain / "away").symlink_to(outside)
    (plain / "near").symlink_to("docs")
    (plain / "file.md").symlink_to(outside / "a.md")
    project = find_project(str(plain))
    assert read_committed(project, "", "docs/a.md") == b"ours\n"
    assert read_committed(project, "", "near/a.md") == b"ours\n"
    for name in ("away/a.md", "file.md"):
        with pytest.raises(UnreadableError):
            read_committed(project, "", name)
