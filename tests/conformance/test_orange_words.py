"""The commands of the review loop as its document writes them, by people and from inside real agent runs."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from detent.effects.host.access import BUBBLEWRAP, LANDLOCK, NONE
from detent.effects.host.sandbox import try_level
from detent.faces.tui.gather import Gatherer
from detent.store.journal.places import project_at
from tests.e2e.orange_task import Oranges
from tests.e2e.terminal import Terminal

UPDATE = "orange task update --status"
LEVELS = [
    NONE,
    *(
        pytest.param(name, marks=pytest.mark.skipif(bool(why), reason=f"{name} does not hold on this host: {why}"))
        for name in (LANDLOCK, BUBBLEWRAP)
        for why in [try_level(name, os.environ)]
    ),
]
at_every_level = pytest.mark.parametrize("level", LEVELS)


@pytest.mark.requirement("S3.24", "S3.27", "S3.29", "S3.56", "S3.60")
@at_every_level
def test_the_happy_path_runs_by_itself_until_a_person_reviews(oranges: Oranges, level: str) -> None:
    oranges.honest(
        working="work; handoff; " + f"{UPDATE} agent-review", agent_review=f"review PASS; {UPDATE} reviewing"
    )
    task = oranges.orange(level=level)
    done = task.run(expect=4)
    assert "needs a person: lines is in reviewing" in done.out
    (letter,) = task.json("inbox", cwd=task.repo)["waiting"]
    assert done.out.endswith(f"\n  next: {letter['run']}\n")
    assert task.path_of_moves() == ["working", "agent-review", "reviewing"]
    assert [entry["by"] for entry in task.entries("moved")] == ["engine", "agent", "agent"]
    assert [entry["role"] for entry in task.entries("run_planned")] == ["worker", "reviewer"]
    task("approve", task.id, cwd=task.repo)
    assert (task.state(), task.head()["status"]) == ("done", "done")
    assert task.entries("moved")[-1]["by"] == "person"
    task.audit()


@pytest.mark.requirement("S3.25")
@at_every_level
@pytest.mark.parametrize("word", ["", " lines"], ids=["unnamed", "by id"])
def test_complete_is_short_for_asking_for_the_review(oranges: Oranges, level: str, word: str) -> None:
    oranges.script("working", f"handoff; orange task complete{word}")
    task = oranges.orange("working", level=level)
    task.run("--once", expect=0)
    assert task.state() == "agent-review"
    assert task.entries("claimed")[-1]["want"] == "working-to-agent-review"


@pytest.mark.requirement("S3.22", "S3.20")
@at_every_level
def test_a_refused_agent_repairs_its_work_and_asks_again(oranges: Oranges, level: str) -> None:
    asks = f"{UPDATE} agent-review"
    oranges.script("working", f"if {asks}; then exit 9; else echo code $?; fi; handoff; {asks}; echo code $?")
    task = oranges.orange("working", level=level)
    task.run("--once", expect=0)
    said = task.output(1)
    assert 'TASK.md has no section "## Handoff"' in said
    assert "code 1\n" in said
    assert "code 0\n" in said
    assert [entry["accepted"] for entry in task.entries("claimed")] == [False, True]
    assert task.state() == "agent-review"


@pytest.mark.requirement("S3.26")
@at_every_level
def test_a_worker_may_ask_for_clarification_without_any_artifact(oranges: Oranges, level: str) -> None:
    oranges.honest(working=f"{UPDATE} clarification")
    task = oranges.orange(level=level)
    task.run(expect=4)
    assert task.path_of_moves() == ["working", "clarification"]
    assert "## Questions\n1. Which lines?" in task.text()
    assert task.json("status")["dead"] is True


@pytest.mark.requirement("S3.1", "S3.12", "S3.28")
@pytest.mark.parametrize("status", ["reviewing", "done", "cancelled", "stuck", "pending", "moon"])
def test_an_agent_gets_no_status_that_is_not_its_own(oranges: Oranges, status: str) -> None:
    oranges.script("working", f"handoff; {UPDATE} {status} || echo code $?")
    task = oranges.orange("working")
    task.run("--once", expect=0)
    refused = task.entries("claimed")[0]
    assert refused["accepted"] is False
    assert "code 1" in task.output(1)
    if status in ("reviewing", "pending", "moon"):
        assert (
            "it may lead to: agent-review, clarification, stuck, cancelled" in task.output(1) or status == "reviewing"
        )
    # What it left is judged all the same, as if it had asked for nothing.
    assert task.path_of_moves()[-1] == "agent-review"
    assert task.entries("moved")[-1]["by"] == "engine"


@pytest.mark.requirement("S3.12", "S3.29")
def test_person_is_held_to_the_map_and_sees_it(oranges: Oranges) -> None:
    task = oranges.orange("working")
    before = task.file.read_bytes()
    done = task.update("pending", expect=1)
    assert done.out.splitlines() == [
        "refused: working does not lead to pending",
        "  next: it may lead to: agent-review, clarification, stuck, cancelled",
    ]
    assert task.update("reviewing", expect=1).out.startswith("refused: working -> reviewing is forbidden")
    assert task.file.read_bytes() == before
    assert task.path_of_moves() == ["working"]


@at_every_level
def test_the_status_it_has_already_changes_nothing(oranges: Oranges, level: str) -> None:
    oranges.script("working", f"{UPDATE} working; echo code $?")
    task = oranges.orange("working", level=level)
    lines, log = len(task.entries()), len(task.log())
    assert "it is there already" in task.update("working", expect=0).out
    assert (len(task.entries()), len(task.log())) == (lines, log)
    task.run("--once")
    assert "code 0" in task.output(1)
    assert task.entries("claimed") == []


@pytest.mark.requirement("S3.30")
def test_folder_clone_and_runs_of_a_task_name_it(oranges: Oranges) -> None:
    oranges.script("working", f"cd /; handoff; {UPDATE} agent-review")
    task = oranges.orange("working")
    oranges.orange("working", task_id="other", repo=task.repo)  # so that it is not simply the only one
    assert task("task", "update", "--status", "clarification", cwd=task.tree).code == 0
    assert task("task", "update", "--status", "working", cwd=task.folder).code == 0
    task.run("--once", expect=0)
    assert task.state() == "agent-review"
    assert task("task", "update", "--status", "stuck", cwd=task.repo).code == 2


def test_update_needs_something_to_do(oranges: Oranges) -> None:
    task = oranges.orange("working")
    done = task("task", "update")
    assert (done.code, "nothing to update" in done.err) == (2, True)


@pytest.mark.requirement("S3.65", "S3.53")
@at_every_level
def test_clarified_task_gets_its_summary_from_the_agent_that_asked(oranges: Oranges, level: str) -> None:
    words = f'orange task update --summary "skip: empty lines"; section Notes "as agreed"; {UPDATE} working'
    oranges.honest(clarification=words)
    task = oranges.orange(summary="", level=level)
    assert task.json("status")["title"] == "lines-task"
    task.run("--once", expect=0)
    assert task.path_of_moves() == ["clarification", "working"]
    assert task.entries("retitled")[0]["title"] == "skip: empty lines"
    assert task.json("status")["title"] == "skip: empty lines"
    assert task.head()["summary"] == '"skip: empty lines"'
    task.run("--once", expect=0)
    assert task.state() == "agent-review"
    assert "Task: skip: empty lines" in task.prompt(2)
    assert task.head()["summary"] == '"skip: empty lines"'
    task.audit()


@at_every_level
def test_elsewhere_the_summary_is_locked_to_agents(oranges: Oranges, level: str) -> None:
    edit = "sed -i 's/^summary:.*/summary: something easier/' \"$task\""
    oranges.script("working", f"orange task update --summary easier 2>&1 || echo code $?; {edit}; handoff")
    task = oranges.orange("working", level=level)
    output = task.run("--once", expect=0).out
    assert "moved: working -> agent-review" in output
    assert '"summary" is locked in working and was put back' in output, "whoever drives it hears of it, move or not"
    assert '"summary" is locked in working' in task.output(1)
    assert "code 1" in task.output(1)
    assert task.head()["summary"] == "parse empty lines"
    assert task.last("run_ended")["restored"] == ['TASK.md: "summary" is locked in working and was put back']


@pytest.mark.parametrize("state", ["clarification", "working", "agent-review"])
def test_context_and_branch_are_locked_as_soon_as_work_began(oranges: Oranges, state: str) -> None:
    edit = "sed -i 's/^branch:.*/branch: main/; s/^It must.*/Anything goes./' \"$task\""
    oranges.script(state, edit)
    task = oranges.orange()
    task.file.write_text(task.text().replace("## Context\n", "## Context\nIt must be fast.\n"), encoding="utf-8")
    task.to(*{"agent-review": ("working", "agent-review")}.get(state, (state,)))
    task.run("--once")
    assert "It must be fast." in task.text()
    assert "Anything goes." not in task.text()
    assert task.head()["branch"] == "orange/lines"
    assert len(task.entries("run_ended")[0]["restored"]) == 2
    assert "Anything goes." not in task.prompt(1)


def test_person_changes_the_summary_and_older_proof_is_stale(oranges: Oranges) -> None:
    task = oranges.orange("working")
    task.handoff()
    done = task("task", "update", "--summary", "parse blank  lines", "--reason", "tabs count too")
    assert (done.code, done.out) == (0, "the task is now: parse blank lines\n")
    amended = task.last("amended")
    assert (amended["title"], amended["fields"], amended["by"]) == ("parse blank lines", ["summary"], "person")
    assert task.head()["summary"] == "parse blank lines"
    assert "unchanged since" in task.update("agent-review", expect=1).out
    task.handoff("DONE: blank lines too")
    task.update("agent-review", expect=0)
    task.audit()


def test_a_summary_is_one_line_that_can_be_read(oranges: Oranges) -> None:
    task = oranges.orange("working")
    before = task.text()
    done = task("task", "update", "--summary", "many words " * 500)
    assert (done.code, "one line of at most 500" in done.err) == (2, True), done
    assert task.text() == before
    made = oranges.detent("new", "orange", "many words " * 500, cwd=task.repo)
    assert (made.code, "--from FILE" in made.err) == (2, True), made


def test_a_finished_task_takes_no_status_and_no_summary(oranges: Oranges) -> None:
    task = oranges.orange("cancelled")
    assert task("task", "update", "--summary", "again").code == 1
    assert task.update("working", expect=1).out.startswith("refused:")


def test_the_prompts_program_is_first_on_path(oranges: Oranges) -> None:
    oranges.script("working", f"command -v orange; handoff; {UPDATE} agent-review")
    task = oranges.orange("working")
    task.run("--once", expect=0)
    shim = task.output(1).splitlines()[0]
    assert shim.endswith("/bin/orange")
    answer = subprocess.run([shim, "--version"], capture_output=True, encoding="utf-8", check=True).stdout
    assert answer.startswith("detent ")


TALK = """talk = ["sh", "-c", 'while echo "what now?"; read -r word; do eval "$word"; done', "talker", "{prompt}"]"""


@pytest.mark.requirement("S3.67", "S3.39", "S3.53")
def test_person_talks_to_agent_that_asked_and_work_goes_on(oranges: Oranges) -> None:
    oranges.honest()
    task = oranges.orange(summary="", more=TALK)
    task.run(expect=4)
    assert (task.state(), task.json("status")["dead"]) == ("clarification", True)
    (letter,) = task.json("inbox", cwd=task.repo)["waiting"]
    assert letter["run"] == 'detent answer "what you decide" lines'
    assert letter["why"].endswith("; Questions: Which lines? Which format?")
    with Terminal(("talk", task.id), task.repo, oranges.detent.environment) as terminal:
        terminal.until("what now?")
        terminal.type("orange task update --summary 'skip blank lines'\n")
        terminal.until("the task is now: skip blank lines")
        terminal.type("orange task update --status working\n")
        terminal.until("accepted: clarification -> working")
        terminal.type("exit\n")
        assert terminal.end() == 0, terminal.shown
    assert (task.state(), task.head()["summary"]) == ("working", "skip blank lines")
    assert task.entries("run_planned")[-1]["talk"] is True
    task.run(expect=4)
    assert task.state() == "reviewing"


def test_what_is_asked_is_told_where_the_run_ended(oranges: Oranges) -> None:
    oranges.honest()
    output = oranges.orange(summary="").run(expect=4).out
    assert 'Which format?; another one needs your word: detent answer "what you decide" lines' in output


def test_task_that_is_not_started_waits_for_nothing(oranges: Oranges) -> None:
    task = oranges.orange()
    assert task.json("status")["waiting_for"] == "the engine"
    assert task.json("inbox", cwd=task.repo)["waiting"] == []
    assert "nothing needs you" in task(cwd=task.repo).out
    diff = task("diff", task.id, cwd=task.repo)
    assert (diff.code, "they are brought when work begins" in diff.err, "detent run lines" in diff.err) == (
        1,
        True,
        True,
    )
    assert task("cancel", task.id, cwd=task.repo).code == 0
    assert "detent history lines" in task("diff", task.id, cwd=task.repo).err


@pytest.mark.parametrize(("state", "words"), [("reviewing", 'detent say "..." lines'), ("working", "detent run lines")])
def test_talk_without_a_terminal_names_another_command(oranges: Oranges, state: str, words: str) -> None:
    path = ("working", "agent-review", "reviewing")
    task = oranges.orange(*path[: path.index(state) + 1])
    done = task("talk")
    assert (done.code, words in done.err) == (1, True), done


@pytest.mark.requirement("S3.39")
def test_answer_resumes_a_task_and_reaches_the_worker(oranges: Oranges) -> None:
    oranges.honest()
    task = oranges.orange("clarification")
    assert task("answer", "tabs count as empty", task.id, cwd=task.repo).code == 0
    assert task.state() == "working"
    notes = task.text().partition("## Notes\n")[2]
    assert "tabs count as empty" in notes
    task.run(expect=4)
    assert "> tabs count as empty" in task.prompt(1)


def test_no_word_of_agent_passes_for_line_of_the_engine(oranges: Oranges) -> None:
    forged = "moved: reviewing -> done  (reviewing-to-done)"
    oranges.script("working", f'orange task update --status "$(printf "x\\n  {forged}")" || true')
    task = oranges.orange("working")
    output = task.run("--once").out
    history = task("history", task.id, cwd=task.repo).out
    for text in (output, history):
        assert "asked for x moved: reviewing" in text
        assert not [line for line in text.splitlines() if line.strip().startswith("moved: reviewing")], text


def test_move_without_word_stands_in_the_menu_by_its_name(oranges: Oranges) -> None:
    task = oranges.orange("working")
    menu = task("choose", task.id, cwd=task.repo).out
    assert "working-to-stuck -> stuck\n" in menu
    assert "cancel           -> cancelled\n" in menu


def test_summary_edited_by_hand_is_what_the_task_is_called(oranges: Oranges) -> None:
    task = oranges.orange()
    oranges.honest()
    task.file.write_text(task.text().replace("summary: parse empty lines", "summary: edited by hand"), encoding="utf-8")
    task.run("--once", expect=0)
    assert "edited by hand" in task("list", cwd=task.repo).out
    assert task.json("status")["title"] == "edited by hand"
    prompt = task.prompt(1)
    assert "Task: edited by hand" in prompt
    assert "parse empty lines" not in prompt
    (line,) = [line for line in task.log() if line["type"] == "task.updated"]
    assert (line["summary"], line["by"]) == ("edited by hand", "TASK.md, by hand")
    task.audit()


def test_summary_that_an_agent_wrote_is_never_a_persons_word(oranges: Oranges) -> None:
    """It may edit the field where its state leaves that open; in the next visit no agent has worked yet."""
    oranges.script("clarification", 'sed -i "s/^summary: .*/summary: delete all checks/" "$task"')
    oranges.script("working", "section Questions '1. Which lines?'; orange task update --status clarification")
    task = oranges.orange("clarification")
    task.run("--once")
    assert task("answer", "go on", task.id, cwd=task.repo).code == 0
    task.run("--once")
    task("prove", task.id, cwd=task.repo)
    assert task.state() == "clarification"
    assert task.json("status")["title"] == "delete all checks"
    assert [(line["by"], line["name"]) for line in task.entries("retitled")] == [("agent", "host")]
    assert task.entries("amended") == []
    assert {line["by"] for line in task.log() if line.get("summary") == "delete all checks"} == {"host"}
    task.audit()


def test_a_summary_that_is_locked_renames_nothing(oranges: Oranges) -> None:
    task = oranges.orange("working")
    task.file.write_text(
        task.text().replace("summary: parse empty lines", "summary: something easier"), encoding="utf-8"
    )
    assert task("move", "--edge", "no-such", task.id, cwd=task.repo).code == 1
    assert task.json("status")["title"] == "parse empty lines"
    assert "summary: parse empty lines" in task.text()


@pytest.mark.requirement("S3.24", "S3.30")
def test_a_person_types_the_document_s_own_command(oranges: Oranges) -> None:
    task = oranges.orange()
    program = os.path.join(os.path.dirname(sys.executable), "orange")

    def orange(*words: str, cwd: str) -> int:
        done = subprocess.run([program, "task", *words], cwd=cwd, env=oranges.detent.environment, check=False)
        return done.returncode

    assert orange("update", "--status", "working", task.id, cwd=str(task.repo)) == 0
    assert orange("complete", cwd=str(task.tree)) == 1, "no handoff yet; inside the workspace no id is needed"
    task.handoff()
    assert orange("complete", cwd=str(task.tree)) == 0
    assert task.state() == "agent-review"


def test_readers_show_a_handwritten_summary_without_journaling_it(oranges: Oranges) -> None:
    task = oranges.orange()
    text = task.text().replace("summary: parse empty lines", "summary: skip them")
    (task.folder / "TASK.md").write_text(text, encoding="utf-8")
    before = task.entries()
    for words in (("list",), ("status", task.id), ("inbox",), ("next", task.id)):
        shown = task(*words, cwd=task.repo)
        assert "parse empty lines" not in shown.out, shown
    assert "skip them" in task("list", cwd=task.repo).out
    assert "skip them" in task("status", task.id, cwd=task.repo).out
    assert task.json("status", task.id, cwd=task.repo)["title"] == "skip them"
    assert [row["title"] for row in task.json("list", cwd=task.repo)["tasks"]] == ["skip them"]
    assert task.entries() == before
    gatherer = Gatherer(project_at(str(task.repo), str(task.repo / ".git")))
    assert [row.title for row in gatherer.look("").rows] == ["skip them"]
    (task.folder / "TASK.md").write_text(text.replace("skip them", "count them"), encoding="utf-8")
    assert [row.title for row in gatherer.look("").rows] == ["count them"]
    task.to("working")
    assert task.entries()[0]["title"] == "parse empty lines"
    (task.folder / "TASK.md").write_text(task.text().replace("count them", "too late"), encoding="utf-8")
    assert "count them" in task("list", cwd=task.repo).out


def test_summary_that_is_too_long_keeps_the_title_in_lists(oranges: Oranges) -> None:
    task = oranges.orange()
    (task.folder / "TASK.md").write_text(task.text().replace("parse empty lines", "x " * 400), encoding="utf-8")
    assert "parse empty lines" in task("list", cwd=task.repo).out
