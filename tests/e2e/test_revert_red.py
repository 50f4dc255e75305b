"""Work that repaired a red tree is taken back although that tree is red again (global)."""

from __future__ import annotations

from tests.conftest import SAMPLE_FILES
from tests.e2e.agent_runs import Agents
from tests.e2e.global_task import PLAN, GlobalTask, make_global, out

CHECK = "sh check.sh"
PLANNER = f"{out('planning.ai.json', PLAN)}; {out('plan.files.json', {'files': ['good.txt']})}"


def accepted(agents: Agents) -> GlobalTask:
    """A task that made a red tree green, accepted."""
    task = make_global(agents, check=CHECK, files={**SAMPLE_FILES, "check.sh": "test -f good.txt\n"})
    agents.script("planning", PLANNER)
    agents.script("codegen", "echo good > good.txt")
    task.run(expect=4)
    done = task("approve", task.id, cwd=task.repo)
    assert done.code == 0, done
    return task


def landed(agents: Agents) -> GlobalTask:
    """The same, landed."""
    task = accepted(agents)
    done = task("land", task.id, cwd=task.repo)
    assert done.code == 0, done
    assert (task.repo / "good.txt").exists()
    return task


def say(task: GlobalTask, line: str) -> None:
    done = task("say", line, task.id, cwd=task.repo)
    assert done.code == 0, done


def test_landed_task_that_repaired_a_red_tree_is_reverted_home(agents: Agents) -> None:
    task = landed(agents)
    say(task, "/revert it broke things")
    say(task, "/next")
    done = task("land", task.id, cwd=task.repo)
    assert done.code == 0, done
    assert not (task.repo / "good.txt").exists()
    assert "note: 'sh check.sh' fails there again: the work that repaired it was taken back" in done.out
    task.audit()


def test_a_reverted_task_that_never_landed_tells_which_command_fails(agents: Agents) -> None:
    task = accepted(agents)
    say(task, "/revert it broke things")
    say(task, "/next")
    done = task("land", task.id, cwd=task.repo)
    assert done.code == 0, done
    assert "is part of main already" in done.out
    assert "note: 'sh check.sh' fails there: the work that repaired it was taken back" in done.out
    assert not (task.repo / "good.txt").exists()
    task.audit()


def test_merged_revert_is_proven_like_any_merge(agents: Agents) -> None:
    task = landed(agents)
    say(task, "/revert it broke things")
    say(task, "/next")
    (task.repo / "other.txt").write_text("somebody else\n", encoding="utf-8")
    agents.make_repo.git(task.repo, "add", "other.txt")
    agents.make_repo.git(task.repo, "commit", "--quiet", "--message=Something else")
    done = task("land", task.id, cwd=task.repo)
    assert done.code == 1, done
    assert "'sh check.sh' fails on the merged tree" in done.out + done.err
    assert (task.repo / "good.txt").exists()
