"""A task that asks a person is quoted wherever the person is called: inbox, status, run and the notify command."""

from __future__ import annotations

from pathlib import Path

from tests.conftest import SAMPLE_FILES, Detent, MakeRepo
from tests.e2e.agent_runs import Agents

ASK = (
    'field Blockers "the key\x1b[31m is missing"; field "Next step" "A) get a key, B) drop it"; '
    "detent move needs_user_decision"
)
QUOTED = "Blockers: the key{} is missing; Next step: A) get a key, B) drop it"
SHOWN = QUOTED.format(r"\x1b[31m")  # what a terminal would obey is shown instead
SURVEY = """
format = 1
name = "survey"
title = "asks with a section"
initial = "asking"
[store]
codec = "markdown_fields"
file = "STATE.md"
state = "Phase"
files = ["STATE.md"]
[field.Topic]
[state.asking]
driver = "person"
asks = ["Topic", "## Open questions"]
[state.done]
end = true
[[edge]]
name = "answered"
from = "asking"
to = "done"
by = ["person"]
verb = ["approve"]
"""


def test_its_question_stands_in_inbox_status_run_and_notice(agents: Agents) -> None:
    agents.script("implement", ASK)
    task = agents.task('[notify]\ncommand = "printenv DETENT_WHY > $SCRIPTS/why"')
    done = task.run(expect=4)
    assert SHOWN in done.out
    assert (agents.scripts / "why").read_text(encoding="utf-8").strip() == QUOTED.format("\x1b[31m")
    inbox = task("inbox", cwd=task.repo).out
    assert f"it is needs_user_decision; {SHOWN}" in inbox
    status = task.json("status", task.id, cwd=task.repo)
    assert status["asks"] == {"Blockers": "the key\x1b[31m is missing", "Next step": "A) get a key, B) drop it"}
    assert "asks, Next step:     A) get a key, B) drop it" in task("status", task.id, cwd=task.repo).out


def test_section_is_quoted_and_cut_and_empty_one_is_not(detent: Detent, repo: MakeRepo, tmp_path: Path) -> None:
    (tmp_path / "survey.toml").write_text(SURVEY, encoding="utf-8")
    path, folder = repo(files=SAMPLE_FILES), tmp_path / "task"
    made = detent("new", tmp_path / "survey.toml", "ask", "--id", "ask", "--dir", folder, cwd=path)
    assert made.code == 0, made
    assert detent("status", "ask", "--json", cwd=path).json()["asks"] == {}
    assert "asking waits for a person\n" in detent("inbox", cwd=path).out
    state = folder / "STATE.md"
    text = state.read_text(encoding="utf-8")
    state.write_text(f"{text}\n## Open questions\n\n- which of them?\n- {'x' * 9000}\n", encoding="utf-8")
    question = detent("status", "ask", "--json", cwd=path).json()["asks"]["Open questions"]
    assert (question.startswith("which of them? xxx"), len(question) < 4100) == (True, True)
    assert "asking waits for a person; Open questions: which of them? xxx" in detent("inbox", cwd=path).out
    state.write_bytes(b"\xff")
    assert detent("inbox", cwd=path).code == 0
