"""Going back: what was made since is kept as a version, by state and round, once."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import Detent, MakeRepo
from tests.e2e.undone_task import Undone


@pytest.fixture
def undone(detent: Detent, repo: MakeRepo) -> Undone:
    return Undone(detent, repo)


def write(folder: Path, **files: str) -> None:
    for name, text in {"notes/a.md": "a", "report.md": "r", "accept/decision.md": "d", **files}.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")


def versions(folder: Path) -> dict[str, str]:
    root = folder / "versions"
    return {str(path.relative_to(root)): path.read_text() for path in sorted(root.rglob("*")) if path.is_file()}


def test_going_back_keeps_artifacts_of_that_and_later_states(undone: Undone) -> None:
    undone.say("/next")
    write(undone.folder)
    undone.say("/redo accept")
    assert versions(undone.folder) == {"accept-1/accept/decision.md": "d"}
    assert (undone.folder / "report.md").read_text() == "r"  # an earlier state's
    write(undone.folder)
    undone.say("/redo work it is thin")
    assert versions(undone.folder) == {
        "accept-1/accept/decision.md": "d",
        "work-1/accept/decision.md": "d",
        "work-1/notes/a.md": "a",
        "work-1/report.md": "r",
    }
    assert list((undone.folder / "notes").iterdir()) == []  # the folder is there again
    assert not (undone.folder / "report.md").exists()
    acted = [line["result"] for line in undone.journal() if line["kind"] == "acted" and "version" in line["result"]]
    assert acted == [
        {"version": "versions/accept-1", "kept": "accept/decision.md"},
        {"version": "versions/work-1", "kept": "notes/, report.md, accept/decision.md"},
    ]
    assert undone("audit").code == 0


def test_each_round_has_a_version_unless_it_is_empty(undone: Undone) -> None:
    for text in ("one", "two"):
        write(undone.folder, **{"report.md": text})
        undone.say("/redo")
    undone.say("/redo")
    found = versions(undone.folder)
    assert (found["work-1/report.md"], found["work-2/report.md"]) == ("one", "two")
    assert not (undone.folder / "versions/work-3").exists()
    assert undone.journal()[-1]["result"] == {"version": ""}


def test_a_link_leads_no_version_and_no_artifact_elsewhere(undone: Undone, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "decision.md").write_text("not the task's", encoding="utf-8")
    write(undone.folder)
    (undone.folder / "accept/decision.md").unlink()
    (undone.folder / "accept").rmdir()
    (undone.folder / "accept").symlink_to(outside)
    undone.say("/redo")
    assert (outside / "decision.md").exists()
    assert "work-1/accept/decision.md" not in versions(undone.folder)
    write(undone.folder)
    (undone.folder / "versions").rename(tmp_path / "moved")
    (undone.folder / "versions").symlink_to(outside)
    said = undone.say("/redo", code=5)
    assert "a link stands where versions are kept" in said
    assert sorted(path.name for path in outside.iterdir()) == ["decision.md"]
    (undone.folder / "versions").unlink()
    undone.say("/status")
    undone("move", "work")  # the next command finishes it
    assert (undone.folder / "versions/work-2/report.md").exists()
