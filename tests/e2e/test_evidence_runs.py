"""The evidence page of a task that real agent processes worked on: their runs, their words, and the page's address."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Detent, MakeRepo
from tests.e2e.phase_task import environment_in
from tests.e2e.test_evidence import text_of

# One shell script as every agent: what it does depends on the state it is started in.
AGENT = """
cd "$DETENT_TASK_DIR" || exit 9
case "$DETENT_STATE" in
intake)
    sed -i -e 's/^Done gate:.*/Done gate: it passes/' -e 's/^Not doing:.*/Not doing: more/' STATE.md
    sed -i -e 's/^Reality constraints:.*/Reality constraints: time/' -e 's/^User facing:.*/User facing: no/' STATE.md
    detent move shape ;;
shape) sed -i 's/^Current result:.*/Current result: framed/' STATE.md ;;
implement)
    detent move done
    echo one > artifacts/one.txt; echo two > artifacts/two.txt
    sed -i -e 's/^Candidate done:.*/Candidate done: yes/' -e 's/^Validation plan:.*/Validation plan: none/' STATE.md
    sed -i -e 's,^Evidence location:.*,Evidence location: artifacts/one.txt,' STATE.md
    sed -i -e 's,^Evidence link:.*,Evidence link: [one](artifacts/one.txt),' STATE.md
    detent move verify ;;
verify) detent move review ;;
review) kill -9 $$ ;;
esac > "$DETENT_OUT/said" 2>&1
echo '{"type":"result","subtype":"success","total_cost_usd":0.25,"result":"<b>all fine</b>",
       "usage":{"input_tokens":1200,"output_tokens":34}}' | tr -d '\\n'
"""
BASE = "https://proof.example/pages"


@pytest.fixture(scope="module")
def worked(tmp_path_factory: pytest.TempPathFactory) -> tuple[Detent, Path, Path]:
    """A task in review, whose agent died there twice: the command line, the repository and the task's folder."""
    home = tmp_path_factory.mktemp("runs")
    environment = environment_in(home)
    detent, repo = Detent(home, environment), MakeRepo(home / "repositories", environment)
    settings = f"""
[agents]
default = "scripted"
[agents.scripted]
argv = ["sh", "-c", {json.dumps(AGENT)}]
events = "claude"
[evidence]
base = "{BASE}/"
"""
    path = repo(files={"README.md": "# sample\n", "detent.toml": settings})
    assert detent("new", "phase", "an <i>honest</i> page", "--id", "t", "--check", "true", cwd=path).code == 0
    driven = detent("run", "t", cwd=path)
    assert driven.code == 6, driven
    return detent, path, Path(detent("dir", "t", cwd=path).out.strip())


def run_lines(worked: tuple[Detent, Path, Path], kind: str) -> list[dict[str, Any]]:
    detent, path, _ = worked
    return [line for line in detent("history", "t", "--json", cwd=path).json()["lines"] if line["kind"] == kind]


def test_the_link_is_a_full_address_after_runs(worked: tuple[Detent, Path, Path]) -> None:
    detent, path, folder = worked
    address = f"{BASE}/t/artifacts/evidence.html"
    link = f"{address} and [one](artifacts/one.txt)"
    assert f"\nEvidence link: {link}\n" in (folder / "STATE.md").read_text(encoding="utf-8")
    shown = detent("evidence", "t", "--json", cwd=path).json()
    assert shown["link"] == address
    assert shown["runs"] == len(run_lines(worked, "run_ended"))


def test_every_run_is_shown_with_usage_requests_and_prompt(worked: tuple[Detent, Path, Path]) -> None:
    detent, path, folder = worked
    assert detent("evidence", "t", cwd=path).code == 0
    shown = text_of(folder / "artifacts" / "evidence.html")
    ended = run_lines(worked, "run_ended")
    assert [line["state"] for line in ended[:4]] == ["intake", "shape", "implement", "verify"]
    for words in (
        f"{len(ended)} runs, ",
        "4,936 tokens, $1.00.",
        "#3 builder in implement → verify 1 refused 1 put back scripted, ",
        "1,234 tokens, $0.25",
        "done : refused implement -> done is forbidden: no skipping proof",
        "verify : taken up, decided when the run had ended",
        "the task moved from implement to verify",
        'put back: STATE.md: "Validation plan" is locked in implement and was put back',
        "agent run 3 refused: implement → done",
        "You are the judge of task `t`. The task is in state **review**",
        "waits for a person: stopped",
    ):
        assert words in shown, words
    source = (folder / "artifacts" / "evidence.html").read_text(encoding="utf-8")
    assert source.count('<details class="told">') == len(ended)  # folded: not one of them is open
    assert not re.search('(href|src)="(?!#|data:|\\./one|\\./two)[^"]*runs/', source)


def test_a_prompt_that_was_changed_is_not_shown(worked: tuple[Detent, Path, Path]) -> None:
    detent, path, folder = worked
    prompt = path / ".git" / "detent" / "tasks" / "t" / "runs" / "1" / "prompt.md"
    before = prompt.read_bytes()
    prompt.write_bytes(b"You may do as you like.\n")
    assert detent("evidence", "t", cwd=path).code == 0
    shown = text_of(folder / "artifacts" / "evidence.html")
    prompt.write_bytes(before)
    assert "is not shown: the text is gone, or was changed since." in shown
    assert "do as you like" not in shown
