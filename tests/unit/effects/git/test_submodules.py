"""Submodules of a disposable checkout: filled from what the user has, byte for byte, or named as what is not there."""

from __future__ import annotations

import os
import re
import shutil
import zlib
from pathlib import Path

import pytest

from detent.effects.workspace.checkout import SetupFailed, Workspace
from detent.errors import ToolError
from detent.words.effects import git as say
from tests.conftest import MakeRepo
from tests.messages import message_of
from tests.unit.effects.workspace.test_checkout import Bench

ALLOW = ("-c", "protocol.file.allow=always")


@pytest.fixture
def bench(repo: MakeRepo, tmp_path: Path) -> Bench:
    """A repository with a submodule that has one itself; where they were cloned from is gone."""
    deepest = repo("deepest", {"deep.txt": "deep\n"})
    inner = repo("inner", {"inner.txt": "inner\n", "lock": "1\n"})
    path = repo("outer", {"a.txt": "one\n", ".gitignore": "made\n"})
    for folder, target, source in ((inner, "deepest", deepest), (path, "parts/inner", inner)):
        repo.git(folder, *ALLOW, "submodule", "--quiet", "add", str(source), target)
        repo.git(folder, "commit", "--quiet", "--message=With a submodule")
    repo.git(path, *ALLOW, "submodule", "--quiet", "update", "--init", "--recursive")
    shutil.rmtree(deepest)
    shutil.rmtree(inner)
    return Bench(path, tmp_path / "w")


def not_there(bench: Bench, path: str, workspace: Workspace | None = None) -> None:
    outcome, said = bench.prove("echo ran", workspace)
    assert isinstance(outcome, SetupFailed)
    refusal = message_of(outcome.why)
    assert (refusal.code, refusal.values["path"]) == ("workspace.submodule_missing", path)
    assert said == ""


def test_it_is_filled_and_is_a_repository_of_its_own(bench: Bench, repo: MakeRepo) -> None:
    show = "cat parts/inner/inner.txt parts/inner/deepest/deep.txt"
    said = bench.said(f"{show}; git status --porcelain; git submodule status --recursive")
    status = repo.git(bench.path, "submodule", "status", "--recursive").splitlines()
    assert said.splitlines()[:2] == ["inner", "deep"]
    assert [line.split()[:2] for line in said.splitlines()[2:]] == [line.split()[:2] for line in status]


def test_submodule_has_the_tree_s_commit_not_the_user_s(bench: Bench, repo: MakeRepo) -> None:
    inner = bench.path / "parts/inner"
    frozen = bench.frozen()
    (inner / "inner.txt").write_text("changed, not committed\n", encoding="utf-8")
    assert bench.said("cat parts/inner/inner.txt") == "inner\n"
    assert bench.frozen() == frozen
    repo.git(inner, "commit", "--quiet", "--all", "--message=Later")
    assert bench.said("cat parts/inner/inner.txt") == "changed, not committed\n"


def test_one_that_was_put_aside_is_filled_too(bench: Bench, repo: MakeRepo) -> None:
    repo.git(bench.path, "submodule", "--quiet", "deinit", "--force", "parts/inner")
    assert bench.said("cat parts/inner/inner.txt parts/inner/deepest/deep.txt") == "inner\ndeep\n"


def test_one_user_does_not_have_is_a_failed_set_up(bench: Bench, repo: MakeRepo) -> None:
    repo.git(bench.path, "submodule", "--quiet", "deinit", "--force", "parts/inner")
    shutil.rmtree(bench.path / ".git/modules")
    not_there(bench, "parts/inner")


def test_one_inside_another_is_named_by_its_whole_path(bench: Bench, repo: MakeRepo) -> None:
    repo.git(bench.path / "parts/inner", "submodule", "--quiet", "deinit", "--force", "deepest")
    shutil.rmtree(bench.path / ".git/modules/parts/inner/modules")
    not_there(bench, "parts/inner/deepest")


def test_commit_user_does_not_have_is_a_failed_set_up(bench: Bench, repo: MakeRepo) -> None:
    """An agent's commit in its own clone of the submodule is in no checkout but its own."""
    wanted = repo.git(bench.path / "parts/inner", "rev-parse", "HEAD")
    repo.git(bench.path, "update-index", "--cacheinfo", f"160000,{'1' * 40},parts/inner")
    repo.git(bench.path, "commit", "--quiet", "--message=Elsewhere")
    repo.git(bench.path, "submodule", "--quiet", "deinit", "--force", "parts/inner")
    outcome, _ = bench.prove("true")
    assert isinstance(outcome, SetupFailed)
    assert "1" * 12 in outcome.why
    assert wanted[:12] not in outcome.why


def test_set_up_keeps_submodule_files_and_is_stored_per_commit(bench: Bench, repo: MakeRepo) -> None:
    setup = "echo ran >> ../ran; echo spoilt > parts/inner/inner.txt; echo made > parts/inner/made"
    workspace = Workspace(setup=(setup,), key=("a.txt",))
    show = "cat parts/inner/inner.txt parts/inner/made"
    for _ in range(2):
        assert bench.said(show, workspace) == "inner\nmade\n"
    assert (bench.folder.parent / "ran").read_text(encoding="utf-8") == "ran\n"
    (bench.path / "parts/inner/lock").write_text("2\n", encoding="utf-8")
    repo.git(bench.path / "parts/inner", "commit", "--quiet", "--all", "--message=Newer")
    bench.said(show, workspace)
    assert (bench.folder.parent / "ran").read_text(encoding="utf-8") == "ran\nran\n"


def test_forged_bytes_in_it_are_found(bench: Bench, repo: MakeRepo) -> None:
    objects = bench.path / ".git/modules/parts/inner/objects"
    assert not list(objects.glob("pack/*.pack"))  # a clone from a folder has loose objects
    name = repo.git(bench.path / "parts/inner", "rev-parse", "HEAD:inner.txt")
    forged = objects / name[:2] / name[2:]
    os.chmod(forged, 0o644)
    forged.write_bytes(zlib.compress(b"blob 7\0forged\n"))
    with pytest.raises(ToolError, match=re.escape(say.other_bytes("inner.txt"))):
        bench.prove("true")
