"""Taking work back by git: before it landed, after, by squash or by hand, with later commits on top; and refusals."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import SAMPLE_FILES, Detent, MakeRepo
from tests.e2e.undone_task import Undone


@pytest.fixture
def undone(detent: Detent, repo: MakeRepo) -> Undone:
    return Undone(detent, repo)


def on_disk(undone: Undone) -> dict[str, str]:
    found = (
        path for path in undone.tree.rglob("*") if path.is_file() and ".git" not in path.relative_to(undone.tree).parts
    )
    return {str(path.relative_to(undone.tree)): path.read_text(encoding="utf-8") for path in found}


def audited(undone: Undone) -> str:
    done = undone("audit")
    return "" if done.code == 0 else done.out


def test_unlanded_work_is_reverted_on_its_own_branch(undone: Undone) -> None:
    undone.work()
    undone.say("/next")
    before = undone.git("rev-parse", "main", "HEAD")
    work = undone.git("rev-parse", "undone/t")
    said = undone.say("/revert it broke the import")
    assert "moved: accept -> revert" in said
    assert "taken back by commit" in said
    assert undone.git("rev-parse", "main", "HEAD") == before
    commit = undone.git("rev-parse", "undone/t")
    assert undone.git("rev-parse", "undone/t^") == work
    assert undone.files("undone/t") == undone.files("main")
    assert on_disk(undone) == SAMPLE_FILES
    message = undone.git("log", "-1", "--format=%B", "undone/t")
    assert message.startswith('Revert "Add things"\n')
    assert "Reason: it broke the import" in message
    record = undone.record()
    assert {key: record[key] for key in ("reason", "reverted", "commit", "branch", "onto")} == {
        "reason": "it broke the import",
        "reverted": [work],
        "commit": commit,
        "branch": "undone/t",
        "onto": "",
    }
    undone.say("/next")
    assert undone.state == "done"
    assert audited(undone) == ""


def test_what_was_there_is_kept_also_what_no_checkpoint_holds(undone: Undone) -> None:
    undone.work()
    undone.say("/next")
    (undone.tree / "later.txt").write_text("not in a checkpoint\n", encoding="utf-8")
    undone.say("/revert why not")
    assert not (undone.tree / "later.txt").exists()
    kept = undone.record()["kept"]
    show = ["git", "--git-dir", str(undone.control / "git"), "show", f"{kept}:later.txt"]
    import subprocess

    assert subprocess.run(show, capture_output=True, check=True).stdout == b"not in a checkpoint\n"


@pytest.mark.parametrize("how", [["land"], ["land", "--squash"], ["by hand"]])
def test_landed_work_is_reverted_after_later_commits_and_lands_again(undone: Undone, how: list[str]) -> None:
    undone.accepted()
    if how == ["by hand"]:
        undone.git("merge", "--quiet", "--no-edit", "undone/t")
    else:
        assert undone(*how).code == 0
    (undone.repository / "other.txt").write_text("somebody else\n", encoding="utf-8")
    undone.git("add", "other.txt")
    undone.git("commit", "--quiet", "--message=Something else")
    main = undone.git("rev-parse", "main")
    said = undone.say("/revert a regression was found")
    assert "moved: done -> accept" in said
    assert "moved: accept -> revert" in said
    assert undone.git("rev-parse", "main") == main  # a person's branch is never moved
    assert undone.record()["onto"] == main
    undone.say("/next")
    landed = undone("land")
    assert landed.code == 0, landed
    assert {name: (undone.repository / name).read_text(encoding="utf-8") for name in SAMPLE_FILES} == SAMPLE_FILES
    assert (undone.repository / "other.txt").exists()
    assert not (undone.repository / "new/part.py").exists()
    assert audited(undone) == ""


def test_work_that_others_built_on_is_not_taken_back_alone(undone: Undone) -> None:
    undone.accepted()
    assert undone("land").code == 0
    (undone.repository / "app.py").write_text("print('worked, and more')\n", encoding="utf-8")
    undone.git("commit", "--quiet", "--all", "--message=Build on it")
    said = undone.say("/revert a regression was found", code=1)
    assert "main has changed app.py since" in said
    assert undone.state == "accept"
    assert (undone.tree / "new/part.py").exists()


def test_taking_back_needs_a_reason_and_nothing_is_done_without(undone: Undone) -> None:
    undone.work()
    undone.say("/next")
    assert "needs a reason" in undone.say("/revert", code=1)
    assert undone.state == "accept"
    assert (undone.tree / "new/part.py").exists()
    assert undone.journal()[-1]["kind"] != "intended"


def test_out_of_an_end_taking_back_needs_a_reason_too(undone: Undone) -> None:
    undone.accepted()
    assert "needs a reason" in undone.say("/revert", code=1)
    assert undone.state == "done"


def test_without_git_there_is_nothing_to_go_back_to(detent: Detent, tmp_path: Path) -> None:
    from tests.e2e.undone_task import MACHINE

    folder = tmp_path / "plain"
    folder.mkdir()
    assert detent("new", MACHINE, "Add things", "--id", "t", cwd=folder).code == 0
    assert detent("say", "/next", cwd=folder).code == 0
    refused = detent("say", "/revert because", cwd=folder)
    assert (refused.code, "without git" in refused.out) == (1, True)


def test_in_checkout_itself_files_go_back_and_no_branch_moves(detent: Detent, repo: MakeRepo) -> None:
    undone = Undone(detent, repo, "--in-place")
    undone.work()
    undone.say("/next")
    refs = undone.git("for-each-ref")
    undone.say("/revert it broke the import")
    assert {name: (undone.tree / name).read_text(encoding="utf-8") for name in SAMPLE_FILES} == SAMPLE_FILES
    assert not (undone.tree / "new").exists()
    assert undone.git("for-each-ref") == refs
    assert undone.git("status", "--porcelain") == ""
    assert (undone.record()["branch"], undone.record()["onto"]) == ("", "")
    assert audited(undone) == ""
