"""The example of the tutorial, worked through with a scripted agent: what the page says is what happens."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from detent.faces.cli.arguments import parse_arguments
from tests.conformance.ralf_threads import Threads
from tests.conftest import MakeRepo, let_out

ROOT = Path(__file__).parents[2]
COUNT = 'import sys\n\nprint(len(sys.stdin.read().strip("\\n").split(" ")))\n'
FIXED = "import sys\\n\\nprint(len(sys.stdin.read().split()))\\n"


@pytest.mark.requirement("S4.1", "S4.43")
def test_the_tutorial_s_example_becomes_a_commit(threads: Threads, repo: MakeRepo) -> None:
    threads.repo = repo("words", {"count.py": COUNT, "detent.toml": threads.settings()})
    let_out(threads.repo)
    thread = threads.thread(task_id="words")
    thread.spec((ROOT / "examples" / "ralf" / "spec.md").read_text(encoding="utf-8"))
    threads.script("Assessing", "report assessment.md Assessment 'Verdict: PASS\\nclear'")
    threads.script("Running", "echo 'I look around'", run=2)
    threads.script(
        "Running",
        f"printf '{FIXED}' > count.py; echo '<promise>WORDS ARE COUNTED</promise>'",
    )
    threads.script("Verifying", "report verification.md Verification '- STYLE-1: PASS, one line'")
    thread.done("choose", "assess")
    thread.run(expect=4)
    thread.done("approve")
    thread.done("choose", "begin")
    thread.run(expect=4)
    thread.done("choose", "start")
    thread.run(expect=4)
    assert thread.state() == "Implemented"
    assert [(label, ok) for label, ok, _ in thread.json("status", "words")["loop"]["criteria"]] == [
        ("C1", True),
        ("C2", True),
        ("STYLE-1", True),
    ]
    thread.done("choose", "review")
    thread.done("approve")
    thread.run(expect=4)
    thread.done("commit")
    assert thread.state() == "Done"
    assert repo.git(threads.repo, "show", "HEAD:count.py").endswith("print(len(sys.stdin.read().split()))")


def test_every_command_of_the_tutorial_is_one() -> None:
    page = (ROOT / "docs" / "tutorial-ralf.md").read_text(encoding="utf-8")
    lines = [line for block in page.split("```")[1::2] for line in block.splitlines() if line.startswith("detent ")]
    assert len(lines) > 12
    for line in lines:
        for command in line.partition("#")[0].split("&&"):
            parse_arguments(shlex.split(command)[1:])
