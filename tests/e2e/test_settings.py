"""The settings of a project through the command line: what a task keeps of them, and what `new` refuses."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import SAMPLE_FILES, Completed, Detent, MakeRepo
from tests.e2e.clone_task import CloneTask

WHOLE = """
[agents]
default = "claude:sonnet"
judge = ["codex", "mine:small"]
[agents.mine]
argv = ["my-agent", "--headless"]
[budget]
run = { minutes = 5 }
task = { usd = 10, runs = 40 }
[notify]
command = "notify-send detent"
bell = false
[prompts]
add = { builder = "docs/rules.md" }
"""


def head_of(path: Path, task_id: str = "a", control: str = ".git/detent") -> Any:
    journal = path / control / "tasks" / task_id / "journal.jsonl"
    return json.loads(journal.read_text(encoding="utf-8").splitlines()[0])


def refused_new(detent: Detent, path: Path, *words: str) -> Completed:
    """A task that is not made: a clear error with a next step, and nothing left behind."""
    done = detent("new", "phase", "x", "--id", "a", *words, cwd=path)
    assert done.code in (2, 5), done
    assert "next:" in done.err, done
    assert "Traceback" not in done.err, done
    assert not (path / ".git" / "detent" / "tasks" / "a").exists()
    return done


def test_a_task_keeps_the_settings_it_was_made_with(detent: Detent, repo: MakeRepo) -> None:
    path = repo(files={**SAMPLE_FILES, "detent.toml": WHOLE, "docs/rules.md": "Write short sentences.\n"})
    (path / "docs" / "rules.md").write_text("edited, not committed\n", encoding="utf-8")
    (path / "detent.toml").write_text("nonsense", encoding="utf-8")
    made = detent("new", "phase", "x", "--id", "a", cwd=path)
    assert made.code == 0, made
    head = head_of(path)
    assert head["agents"] == {
        "table": {
            "default": "claude:sonnet",
            "judge": ["codex", "mine:small"],
            "mine": {"argv": ["my-agent", "--headless"]},
        },
        "overrides": {},
    }
    assert head["budget"] == {"run": {"minutes": 5, "stall_minutes": 10}, "task": {"usd": 10, "runs": 40}}
    assert head["notify"] == {"command": "notify-send detent", "bell": False}
    assert head["prompts"] == {"builder": "Write short sentences.\n"}
    assert detent("audit", "a", cwd=path).code == 0


def test_without_settings_the_defaults_are_kept(detent: Detent, repo: MakeRepo) -> None:
    path = repo()
    assert detent("new", "phase", "x", "--id", "a", cwd=path).code == 0
    head = head_of(path)
    assert head["agents"] == {"table": {}, "overrides": {}}
    assert head["budget"] == {"run": {"minutes": 30, "stall_minutes": 10}, "task": {}}
    assert head["notify"] == {"command": "", "bell": True}
    assert head["prompts"] == {}


def test_an_adopted_task_keeps_them_too(detent: Detent, repo: MakeRepo) -> None:
    path = repo(files={**SAMPLE_FILES, "detent.toml": '[agents]\ndefault = "pi"\n'})
    folder = path.parent / "folder"
    assert detent("new", "phase", "x", "--id", "a", "--dir", folder, cwd=repo("other")).code == 0
    (folder / ".detent-task").unlink()
    adopted = detent("adopt", folder, "phase", "--id", "b", "--repo", path)
    assert adopted.code == 0, adopted
    assert head_of(path, "b")["agents"] == {"table": {"default": "pi"}, "overrides": {}}


def test_without_git_the_files_on_disk_count(detent: Detent, tmp_path: Path) -> None:
    folder = tmp_path / "plain"
    folder.mkdir()
    (folder / "detent.toml").write_text('[prompts]\nadd = { builder = "rules.md" }\n', encoding="utf-8")
    (folder / "rules.md").write_text("Be brief.\n", encoding="utf-8")
    made = detent("new", "phase", "x", "--id", "a", "--repo", folder)
    assert made.code == 0, made
    assert head_of(folder, control=".detent")["prompts"] == {"builder": "Be brief.\n"}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('[agents]\njudge = "claud"', ("there is no agent 'claud'", "detent.toml", "known agents")),
        ("[agents.mine]\nargs = ['x']", ("agents.mine has no argv", "detent.toml")),
        ("[budget]\nrun = { minutes = 0 }", ("budget run: minutes must be a number above 0", "detent.toml of")),
        ("[workspace]\ncopy = ['/etc/passwd']", ("copy has '/etc/passwd'", "no path inside the repository")),
        ("[workspace]\ncopy = ['../other/.env']", ("copy has '../other/.env'", "no path inside the repository")),
        ("[workspace]\ncarry = ['a/../../b']", ("carry has 'a/../../b'",)),
        ("[prompts]\nadd = { builder = 'rules.md' }", ("rules.md", "not there", "commit it")),
        ("[prompts]\nadd = { builder = 'docs' }", ("docs is not a plain file",)),
        ("[prompts]\nadd = { builder = 'link.md' }", ("link.md is not a plain file",)),
        ("[prompts]\nadd = { builder = 'latin.md' }", ("latin.md", "UTF-8")),
    ],
)
def test_settings_with_a_problem_are_refused_by_new(
    detent: Detent, repo: MakeRepo, text: str, words: tuple[str, ...]
) -> None:
    path = repo(files={"detent.toml": text, "docs/one.md": "one\n"})
    (path / "link.md").symlink_to("/etc/hostname")
    (path / "latin.md").write_bytes(b"caf\xe9\n")
    repo.git(path, "add", "--all")
    repo.git(path, "commit", "--quiet", "--message=More")
    done = refused_new(detent, path)
    for word in words:
        assert word in done.err, done


def test_a_prompt_that_is_not_committed_is_refused(detent: Detent, repo: MakeRepo) -> None:
    path = repo(files={"detent.toml": '[prompts]\nadd = { builder = "rules.md" }\n'})
    (path / "rules.md").write_text("Be brief.\n", encoding="utf-8")
    assert "commit it" in refused_new(detent, path).err


LIMITED = """[commands]
test = "sh grow.sh"
processes = 25
memory_mb = 500
"""
GROWING = "grow() { if [ $1 -gt 0 ]; then grow $(($1 - 1)) & grow $(($1 - 1)) & wait; else sleep 10; fi; }\ngrow 5\n"


def test_a_command_that_starts_too_many_processes_is_red(detent: Detent, repo: MakeRepo) -> None:
    path = repo(files={**SAMPLE_FILES, "detent.toml": LIMITED, "grow.sh": GROWING})
    assert detent("doctor", cwd=path).code == 1  # tried before a task depends on it
    task = CloneTask(detent, repo, path)
    with pytest.raises(AssertionError, match="had more than 25 processes at a time"):
        task.to("review")
    assert task.state() == "verify"
    lines = [json.loads(line) for line in (task.control / "journal.jsonl").read_text().splitlines()]
    (proved,) = [line for line in lines if line["kind"] == "proved"]
    assert proved["limits"] == {"by": "watched", "memory_mb": 500, "processes": 25}


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ('options = ["nonsense"]', "no option 'nonsense'; known: changes-requested"),
        ("limits = { review_round = 0 }", "limit review_round must be a whole number from 1"),
    ],
)
def test_settings_that_do_not_fit_machine_are_told_of_settings(
    detent: Detent, repo: MakeRepo, settings: str, words: str
) -> None:
    path = repo(files={**SAMPLE_FILES, "detent.toml": f"[machine.orange]\n{settings}\n"})
    refused = detent("new", "orange", "x", "--id", "a", cwd=path)
    assert refused.code == 2, refused
    assert words in refused.err
    assert "correct detent.toml" in refused.err
    assert "machine.toml" not in refused.err, "the machine's file is right"


def test_settings_for_a_machine_whose_name_is_misspelt_are_told(detent: Detent, repo: MakeRepo) -> None:
    text = '[machine.orang]\noptions = ["changes-requested"]\n[machine.mine]\noptions = []\n'
    path = repo("misspelt", {**SAMPLE_FILES, "detent.toml": text})
    words = "[machine.orang] of detent.toml is about no machine that comes with this tool; do you mean orange?"
    made = detent("new", "orange", "parse", cwd=path)
    assert (made.code, f"note: {words}" in made.out, "machine.mine" in made.out) == (0, True, False), made
    assert words in detent("doctor", "--quick", cwd=path).out


def test_rules_for_a_role_whose_name_is_misspelt_are_told(detent: Detent, repo: MakeRepo) -> None:
    """They apply to no task: a network that was to be denied stays open."""
    text = '[sandbox]\nnetwork = { bilder = "deny", command = "deny", judge = "deny", scribe = "deny" }\n'
    text += '[agents]\nreviwer = "claude"\n"phase.jugde" = "claude"\n[agents.buildr]\nargv = ["x"]\n'
    path = repo("misspelt", {**SAMPLE_FILES, "detent.toml": text + '[prompts]\nadd = { plannr = "app.py" }\n'})
    meant = {"bilder": "builder", "command": "commands", "jugde": "judge", "reviwer": "reviewer", "plannr": "planner"}
    for words in (("new", "parse"), ("doctor", "--quick")):
        output = detent(*words, cwd=path).out
        found = dict(re.findall(r"names (\S+), which is no role .*; do you mean (\S+)\?", output))
        assert found == meant, output
