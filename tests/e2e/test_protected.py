"""`[protect] ask` and `report`: a task that touched such files is done only with a person's word, about one tree."""

from __future__ import annotations

import json
import re

import pytest

from tests.conftest import Detent
from tests.e2e.agent_runs import Agents, AgentTask

ASK = '[protect]\nask = ["deploy/**", "README.md"]\n'
TOUCHING = "count; mkdir deploy; echo go > deploy/job; echo '# worked on' >> app.py; candidate; detent move verify"
NEEDS_A_PERSON, REFUSED = 4, 1


def at_the_end(agents: Agents, script: str = TOUCHING, more: str = ASK) -> AgentTask:
    """A task whose agents have done all they can."""
    agents.honest(implement=script)
    task = agents.task(more)
    task.run(expect=NEEDS_A_PERSON)
    assert task.state() == "review"
    return task


def approve(task: AgentTask, *words: str, reason: str = "it is wanted") -> dict[str, object]:
    done = task("approve", task.id, "--reason", reason, *words, "--json", cwd=task.repo)
    assert done.code == 0, done
    found: dict[str, object] = done.json()
    return found


def test_a_touched_file_keeps_done_closed_until_a_person_approves(agents: Agents) -> None:
    task = at_the_end(agents)
    assert task.missing("done") == {"protected_ok": "a person must look at deploy/job first"}
    approved = approve(task)
    assert (approved["moved"], approved["to"]) == (True, "done")
    line = task.last("approved")
    assert (line["by"], line["reason"], list(line["files"])) == ("person", "it is wanted", ["deploy/job"])
    assert line["tree"] == task.last("moved")["tree"]
    assert line["files"]["deploy/job"] == agents.make_repo.git(task.tree, "hash-object", "deploy/job")
    task.audit()


def test_agents_are_not_started_again_while_a_person_is_asked(agents: Agents) -> None:
    task = at_the_end(agents)
    before = agents.counted()
    task.run(expect=NEEDS_A_PERSON)
    assert agents.counted() == before
    assert "stopped" not in task.json("status", task.id, cwd=task.repo)["registers"]


def test_the_inbox_names_the_files_and_how_to_look(agents: Agents) -> None:
    task = at_the_end(agents)
    (letter,) = task.json("inbox", cwd=task.repo)["waiting"]
    assert "deploy/job" in letter["why"]
    assert f"detent diff {task.id}" in letter["why"]
    assert letter["run"].startswith(f"detent approve {task.id} --reason ")
    for command in ("list", "status"):
        assert "to approve deploy/job" in task(command, cwd=task.repo).out
    assert "needs you" in task(cwd=task.repo).out


def test_what_changes_after_the_word_is_asked_about_again(agents: Agents) -> None:
    task = at_the_end(agents)
    task.section("Review", "no verdict any more")  # so that the approval does not move it at once
    approved = approve(task)
    assert (approved["moved"], approved["refusal"]) == (False, None)
    task.review()
    assert task.missing("done") == {}
    (task.tree / "deploy" / "job").write_text("go further\n", encoding="utf-8")
    task("prove", task.id, cwd=task.repo)
    assert "has changed since" in task.missing("done")["protected_ok"]
    assert "has changed since" in task.refused("done")
    assert approve(task, reason="looked again")["to"] == "done"
    assert [entry["reason"] for entry in task.entries("approved")] == ["it is wanted", "looked again"]
    task.audit()


def test_also_another_file_of_the_tree_voids_the_word(agents: Agents) -> None:
    task = at_the_end(agents)
    task.section("Review", "no verdict any more")
    approve(task)
    task.review()
    (task.tree / "new.py").write_text("1\n", encoding="utf-8")
    refusal = task.refused("done")
    assert "has changed since" in refusal
    assert "not run on this tree" not in refusal  # a person is asked last: the commands were run first


def test_word_needs_reason_and_the_tree_that_was_looked_at(agents: Agents) -> None:
    task = at_the_end(agents)
    shown = task.json("diff", task.id, cwd=task.repo)["tree"]
    bare = task("approve", task.id, cwd=task.repo)
    assert bare.code == 2, bare
    assert "needs a reason" in bare.err
    other = task("approve", task.id, "--reason", "fine", "--tree", "0" * 12, cwd=task.repo)
    assert other.code == REFUSED, other
    assert task.entries("approved") == []
    assert approve(task, "--tree", shown[:12])["to"] == "done"


@pytest.mark.parametrize("words", [("move", "done"), ("move", "done", "--as", "agent")])
def test_no_move_goes_past_it_without_approval(agents: Agents, words: tuple[str, ...]) -> None:
    task = at_the_end(agents)
    done = task(*words, task.id, "--reason", "I say so", cwd=task.repo)
    assert done.code == REFUSED, done
    assert "detent approve" in done.out
    assert task.state() == "review"


def test_an_agent_run_can_not_approve(agents: Agents, detent: Detent) -> None:
    task = at_the_end(agents)
    inside = {"DETENT_ROLE": "judge", "DETENT_TASK": task.id, "DETENT_TASK_DIR": str(task.folder)}
    done = task("approve", task.id, "--reason", "fine", cwd=task.repo, environment=inside)
    assert done.code == REFUSED, done
    assert "for a person" in done.err
    assert task.entries("approved") == []


def test_a_removed_file_is_touched_too(agents: Agents) -> None:
    task = at_the_end(agents, "count; rm README.md; echo '# worked on' >> app.py; candidate; detent move verify")
    assert "README.md" in task.missing("done")["protected_ok"]
    approve(task)
    assert task.last("approved")["files"] == {"README.md": "gone"}


def test_without_such_a_file_no_approval_is_asked_for(agents: Agents) -> None:
    agents.honest()
    task = agents.task(ASK)
    task.run(expect=0)
    assert task.state() == "done"
    assert task.entries("approved") == []


def test_reported_files_close_nothing_and_are_listed(agents: Agents) -> None:
    agents.honest(
        implement="count; mkdir tests; echo pass > tests/test_new.py; echo more > artifacts.txt; candidate; "
        'echo 2 > "$DETENT_TASK_DIR/artifacts/second.txt"; detent move verify'
    )
    task = agents.task()
    task.run(expect=0)
    assert task.state() == "done"
    status = task.json("status", task.id, cwd=task.repo)
    assert status["touched"] == {"ask": [], "report": ["tests/test_new.py"]}
    assert "tests/test_new.py" in task("status", task.id, cwd=task.repo).out
    page = (task.folder / "artifacts" / "evidence.html").read_text(encoding="utf-8")
    assert re.search(r"Protected files that were touched.{0,80}tests/test_new\.py", page, re.DOTALL)
    landed = task("land", task.id, cwd=task.repo)
    assert landed.code == 0, landed
    assert "it touched protected files: tests/test_new.py" in landed.out


def test_the_page_names_the_approver(agents: Agents) -> None:
    task = at_the_end(agents)
    assert task("evidence", task.id, cwd=task.repo).code == 0
    page = task.folder / "artifacts" / "evidence.html"
    assert "a person must approve it" in page.read_text(encoding="utf-8")
    approve(task)
    assert task("evidence", task.id, cwd=task.repo).code == 0
    assert "approved by" in page.read_text(encoding="utf-8")
    assert "A person approved protected files: deploy/job" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"by": "agent"}, "only a person makes a approved line"),
        ({"files": {"deploy/job": "0" * 40}}, "the files approved are not those"),
        ({"tree": ""}, "can't be read"),
    ],
)
def test_audit_names_a_word_that_was_forged(agents: Agents, change: dict[str, object], words: str) -> None:
    from detent.store.disk.digest import sha256_of

    task = at_the_end(agents)
    approve(task)
    journal, previous, raws = task.control / "journal.jsonl", "0" * 64, []
    for entry in task.entries():
        forged = {**entry, **(change if entry["kind"] == "approved" else {}), "prev": previous}
        raws.append(json.dumps(forged, ensure_ascii=False, separators=(",", ":")).encode())
        previous = sha256_of(raws[-1])
    journal.write_bytes(b"\n".join(raws) + b"\n")
    (task.control / "snapshot.json").unlink()
    found = task("audit", task.id, "--json", cwd=task.repo)
    assert found.code == 1, found
    first = next(finding for finding in found.json()["findings"] if finding["line"])
    assert words in first["what"], found
    assert first["line"] == task.last("approved")["seq"]


LINKING = "count; mkdir lib; echo go > lib/job; ln -s lib deploy; candidate; detent move verify"


def test_linked_folder_keeps_done_closed_like_the_files_it_shows(agents: Agents) -> None:
    task = at_the_end(agents, LINKING)
    assert task.missing("done") == {"protected_ok": "a person must look at deploy/job first"}
    assert approve(task)["to"] == "done"
    assert list(task.last("approved")["files"]) == ["deploy/job"]
    task.audit()


def test_another_spelling_of_a_protected_folder_keeps_done_closed(agents: Agents) -> None:
    task = at_the_end(agents, "count; mkdir Deploy; echo go > Deploy/job; candidate; detent move verify")
    assert task.missing("done") == {"protected_ok": "a person must look at Deploy/job first"}
    assert approve(task)["to"] == "done"
    task.audit()


def test_link_onto_denied_files_is_removed_when_run_is_over(agents: Agents) -> None:
    script = "count; mkdir lib; echo go > lib/job; ln -s lib ci; echo '# worked on' >> app.py; true"
    agents.honest(implement=script)
    task = agents.task('[protect]\ndeny = ["ci/**"]\n')
    task.run("--once")
    ended = task.last("run_ended")
    assert ended["tainted"] == ["ci"], ended
    assert not (task.tree / "ci").is_symlink()
    assert (task.tree / "lib/job").exists()
    task.audit()
