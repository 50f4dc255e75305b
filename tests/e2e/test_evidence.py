"""`detent evidence` on real tasks: the page is written where it belongs, shows what happened, and changes nothing."""

from __future__ import annotations

import hashlib
import html
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from detent.effects.host.sandbox import best_level
from detent.errors import UnreadableError
from detent.runner.task.open import open_task
from detent.runner.tell.evidence import evidence_link, refresh_evidence, write_evidence
from tests.conftest import Detent, MakeRepo
from tests.e2e.phase_task import CHECK, PhaseTask

At = Callable[[str], PhaseTask]


def text_of(path: Path) -> str:
    """What a reader sees, roughly: the page without its style and its tags."""
    source = path.read_text(encoding="utf-8")
    source = re.sub(r"<style>.*?</style>", "", source, flags=re.DOTALL)
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", source)).split())


def page_of(task: PhaseTask) -> Path:
    return task.folder / "artifacts" / "evidence.html"


def test_a_finished_task_is_shown_from_frame_to_hashes(at: At) -> None:
    task = at("done")
    answer = task.json("evidence")
    assert answer["path"] == str(page_of(task))
    assert (answer["moves"], answer["commands"], answer["artifacts"]) == (5, 1, 1)
    assert answer["link"] == "[evidence](artifacts/evidence.html)"
    assert answer["digest"] == hashlib.sha256(page_of(task).read_bytes()).hexdigest()
    shown = text_of(page_of(task))
    last = (task.control / "journal.jsonl").read_bytes().splitlines()[-1]
    for words in (
        "nobody has to act: it is over",
        "Done gate the check passes",
        f"5 review → done by {task.history()[0]['name']} (person)",
        "by hand",
        CHECK,
        "exit 0",
        "result.txt 9 bytes",
        "it works",
        "Verdict: PASS",
        f"journal head {hashlib.sha256(last).hexdigest()}",
        f"machine {task.history()[0]['digest']}",
        f"sandbox {best_level(os.environ).level} ",
        "nothing was changed",
    ):
        assert words in shown, words


def test_page_is_no_artifact_and_repeats_its_bytes(at: At) -> None:
    task = at("done")
    journal = (task.control / "journal.jsonl").read_bytes()
    assert task("evidence").code == 0
    first = page_of(task).read_bytes()
    assert task("evidence").code == 0
    assert page_of(task).read_bytes() == first
    assert (task.control / "journal.jsonl").read_bytes() == journal
    assert b"evidence.html</code>" not in first
    assert [path.name for path in page_of(task).parent.iterdir() if path.name.startswith(".")] == []


def test_refusals_undone_edits_answers_and_red_runs_are_shown(at: At) -> None:
    task = at("implement")
    task.move("done", "--as", "agent", expect=1)
    task.set({"Validation plan": "- cmd: true"})
    task.candidate()
    (task.repo / "app.py").write_text("broken = '<b>'\n")
    task.move("verify")
    assert task("prove").code == 1
    assert task("prove", "--again").code == 1
    assert task("answer", "please hurry <i>").code == 0
    assert task("evidence").code == 0
    shown = text_of(page_of(task))
    for words in (
        "refused: implement → done",
        "no skipping proof",
        "An edit was undone",
        '"Validation plan" is locked',
        f"A person said by {task.history()[0]['name']} (person) please hurry <i>",
        "exit 1, exit 1",
        "Attempt 2: exit 1",
        "waits for the agent (judge)",
        "+broken = '<b>'",
    ):
        assert words in shown, words
    assert f"Validation plan cmd: {CHECK}" in shown
    drawn = page_of(task).read_text(encoding="utf-8")
    assert "implement → done: refused 1 time" in drawn


def test_another_place_can_be_chosen_and_links_lead_back(at: At, tmp_path: Path) -> None:
    task = at("done")
    (task.folder / "artifacts" / "raw.zip").write_bytes(b"\0raw")
    out = tmp_path / "sent" / "page.html"
    out.parent.mkdir()
    assert task("evidence", "--out", out).code == 0
    assert not page_of(task).exists()
    links = re.findall(r'<a href="(\.[^"]*)"', out.read_text(encoding="utf-8"))
    assert any((out.parent / link).read_bytes() == b"\0raw" for link in links if link.endswith("raw.zip"))


def test_page_that_cannot_be_written_is_error_with_a_place(at: At, tmp_path: Path) -> None:
    task = at("done")
    done = task("evidence", "--out", tmp_path / "no" / "such" / "page.html")
    assert done.code == 5
    assert "no such file or folder" in done.err


def test_a_folder_that_leads_elsewhere_is_not_written_through(at: At, tmp_path: Path) -> None:
    task = at("implement")
    shutil.rmtree(task.folder / "artifacts")
    (task.folder / "artifacts").symlink_to(tmp_path)
    done = task("evidence")
    assert done.code == 5
    assert "is a link" in done.err
    with pytest.raises(UnreadableError):
        refresh_evidence(open_task(str(task.folder)))
    assert list(tmp_path.iterdir()) == []


def test_page_that_is_link_is_replaced_and_its_target_kept(at: At, tmp_path: Path) -> None:
    task = at("done")
    (tmp_path / "precious").write_text("mine")
    page_of(task).symlink_to(tmp_path / "precious")
    assert task("evidence").code == 0
    assert (tmp_path / "precious").read_text() == "mine"
    assert not page_of(task).is_symlink()


def test_damaged_task_file_still_gives_a_page_that_says_so(at: At) -> None:
    task = at("verify")
    task.state_file.write_bytes(b"\xff\xfe spoilt")
    assert task("evidence").code == 0
    shown = text_of(page_of(task))
    assert "not UTF-8 text" in shown
    assert "Done gate the check passes" in shown


def test_a_task_without_git_has_a_page_without_a_diff(detent: Detent, tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.mkdir()
    assert detent("new", "phase", "a <b>bold</b> title", "--id", "t", cwd=plain).code == 0
    answer = detent("evidence", "t", "--json", cwd=plain).json()
    shown = text_of(Path(answer["path"]))
    assert "a <b>bold</b> title" in shown
    assert "No tree has been looked at yet." in shown


def test_move_needs_a_page_only_for_more_than_one_artifact(at: At) -> None:
    task = at("done")
    assert refresh_evidence(open_task(str(task.folder))) == {"page": "", "only": "artifacts/result.txt"}
    assert not page_of(task).exists()
    task.write("artifacts/second.txt", "more\n")
    first = refresh_evidence(open_task(str(task.folder)))
    assert first == refresh_evidence(open_task(str(task.folder)))
    assert first == {
        "page": "artifacts/evidence.html",
        "sha256": hashlib.sha256(page_of(task).read_bytes()).hexdigest(),
    }


def test_a_forged_page_is_replaced_by_the_true_one(at: At) -> None:
    task = at("done")
    page_of(task).write_text("<script>everything is fine</script>")
    assert refresh_evidence(open_task(str(task.folder)))["page"]
    assert "everything is fine" not in page_of(task).read_text(encoding="utf-8")


def test_link_is_relative_unless_there_is_a_place_for_pages(at: At) -> None:
    task = open_task(str(at("done").folder))
    assert write_evidence(task).endswith("artifacts/evidence.html")
    assert evidence_link(task) == "[evidence](artifacts/evidence.html)"
    assert evidence_link(task, "https://proof.example/") == "https://proof.example/words/artifacts/evidence.html"


def test_the_page_of_a_large_change_is_whole_and_bounded(detent: Detent, repo: MakeRepo) -> None:
    path = repo()
    assert detent("new", "phase", "grow", "--in-place", "--id", "grow", "--check", "true", cwd=path).code == 0
    folder = Path(detent("dir", "grow", cwd=path).out.strip())
    task = PhaseTask(detent, path, folder, "grow")
    task.set({"Done gate": "g", "Not doing": "n", "Reality constraints": "r", "User facing": "no"})
    task.move("shape")
    task.move("implement")
    (path / "big.txt").write_text("".join(f"line {number}\n" for number in range(24_000)))
    task.candidate()
    task.move("verify")
    assert task("evidence").code == 0
    shown = text_of(page_of(task))
    assert "+24,000" in shown
    assert "18,001 more lines not shown here." in shown
