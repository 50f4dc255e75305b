"""`detent demo` as a newcomer sees it: the agent lies, is caught, and the work gets done."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Completed, Detent
from tests.e2e.phase_task import environment_in


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("demo") / "kept"


@pytest.fixture(scope="module")
def shown(folder: Path) -> Completed:
    """Played once, because it takes a while; every test only reads."""
    done = Detent(folder.parent, environment_in(folder.parent), is_cold=True)("demo", "--keep", folder)
    assert done.code == 0, done
    return done


def scene_with(text: str, words: str) -> str:
    """The scene of the demo that holds these words, on one line whatever the width of the screen."""
    scenes = [" ".join(scene.split()) for scene in re.split(r"\n(?= ?\d+\. )", text)]
    found = [scene for scene in scenes if words in scene]
    assert len(found) == 1, (words, found)
    return found[0]


def test_each_lie_is_caught_where_it_is_told(shown: Completed) -> None:
    early = scene_with(shown.out, "asks for done. Refused twice")
    assert "asked for done: refused: implement -> done is forbidden: no skipping proof" in early
    assert 'asked for verify: refused: STATE.md says "Candidate done: no"' in early
    green = scene_with(shown.out, "it says that the tests pass")
    assert "refused: verify -> review why: 'python3 -m unittest -q' failed on this tree (exit 1)" in green
    weaker = scene_with(shown.out, "swaps the command")
    assert 'put back: STATE.md: "Validation plan" is locked in verify and was put back' in weaker
    assert "refused: verify -> review why: 'python3 -m unittest -q' failed" in weaker
    cheated = scene_with(shown.out, "is not believed")
    assert "'python3 -m unittest -q' failed on this tree (exit 0, but unittest gave no report of its tests" in cheated
    stale = scene_with(shown.out, "For the review it shows the one")
    assert "## Review is unchanged since review was entered: proof from earlier does not count" in stale
    assert "moved: review -> done" in stale


def test_death_and_question_lose_nothing(shown: Completed) -> None:
    assert "agent run #10 was killed; the task stays in repair" in scene_with(shown.out, "(kill -9)")
    assert "needs a person: words is in needs_user_decision" in scene_with(shown.out, "finds that half line")
    called = scene_with(shown.out, "You are called")
    assert "$ cat ../notices.txt words: Blockers: " in called
    assert 'next: detent answer "what you decide" words' in called
    assert "B) refuse such a text" in called
    assert "moved: needs_user_decision -> repair" in scene_with(shown.out, "You answer")
    assert "moved: repair -> verify" in scene_with(shown.out, "finds your answer in its prompt")
    assert "moved: verify -> review" in scene_with(shown.out, "This time they pass")


def test_the_work_gets_into_the_branch_of_its_person(shown: Completed, folder: Path) -> None:
    landing = scene_with(shown.out, "You bring the work in")
    assert "landed: words on " in landing
    assert "app.py" in landing
    assert landing.endswith("OK")
    assert "text.split()" in (folder / "words" / "app.py").read_text(encoding="utf-8")


def test_the_end_leads_to_a_page_that_is_there(detent: Detent, shown: Completed, folder: Path) -> None:
    assert "all of them hold" in scene_with(shown.out, "What is left")
    counted = "done and landed: 14 agent runs, 6 requests refused, 1 edit put back, 1 run killed, 1 answer of yours."
    assert counted in " ".join(shown.out.split())
    page = re.search(r"The page that shows all of it:\n  (.*)\n", shown.out)
    assert page is not None
    assert "count no words in an empty text (done)" in Path(page[1]).read_text(encoding="utf-8")
    assert "\033" not in shown.out
    # What it says to try works outside of the demo, without its settings.
    tried = detent("history", "words", cwd=folder / "words")
    assert tried.code == 0, tried
    assert "review -> done" in tried.out


def test_json_is_one_object_and_stays_in_temporary_folder(detent: Detent, tmp_path: Path) -> None:
    (tmp_path / "temporary").mkdir()
    done = detent("demo", "--json", environment={"TMPDIR": str(tmp_path / "temporary")})
    assert done.code == 0, done
    shown: dict[str, Any] = done.json()
    assert (shown["state"], shown["runs"], shown["refusals"], shown["killed"], shown["answers"]) == (
        "done",
        14,
        6,
        1,
        1,
    )
    assert shown["put_back"] == ['STATE.md: "Validation plan" is locked in verify and was put back']
    assert len(shown["landed"]) == 1
    assert Path(shown["folder"]).parent == tmp_path / "temporary"
    assert Path(shown["page"]).is_file()
    commands = [command for scene in shown["scenes"] for command in scene["commands"]]
    assert all(scene["tried"] and scene["commands"] for scene in shown["scenes"])
    assert {command["exit"] for command in commands} == {0, 1, 4}


def test_a_folder_that_is_there_is_not_played_in(detent: Detent, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    done = detent("demo", "--keep", tmp_path / "mine")
    assert done.code == 2
    assert list((tmp_path / "mine").iterdir()) == []


def test_a_folder_that_cannot_be_made_is_told_as_that(detent: Detent, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = detent("demo", "--keep", tmp_path / "file" / "mine", "--json")
    assert (done.code, done.json()["error"]["where"]) == (5, str(tmp_path / "file"))
