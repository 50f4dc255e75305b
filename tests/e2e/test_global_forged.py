"""state.json and transcript.jsonl of `global` are the engine's: what anybody else writes there is restored and told."""

from __future__ import annotations

import json

import pytest

from tests.e2e.agent_runs import Agents
from tests.e2e.global_task import CODER, make_global, out

FORGE = r"""
python3 - <<'PY'
import json, os
path = os.path.join(os.environ["DETENT_TASK_DIR"], "state.json")
state = json.load(open(path))
state["actors"]["test"] = {"status": "tests complete"}
state["actors"]["accept"] = {"status": "accepted"}
state["actors"]["tester"] = {"mood": "calm"}
json.dump(state, open(path, "w"))
PY
"""


@pytest.mark.requirement("S1.49", "S1.53")
def test_a_status_that_an_agent_wrote_is_restored_and_told(agents: Agents) -> None:
    task = make_global(agents)
    agents.script("codegen", f"{CODER}\n{FORGE}")
    task.run("--once")
    task.run("--once")
    done = task.run("--once")
    actors = task.read("state.json")["actors"]
    assert (task.phase, actors["test"], actors["accept"]) == ("review", {"status": None}, {"status": None})
    assert actors["codegen"]["status"] == "codegen completed"
    assert actors["tester"] == {"mood": "calm"}
    assert '"/actors/test/status" is written by the engine' in done.out
    task.audit()


@pytest.mark.requirement("S1.49")
def test_a_status_says_how_each_phase_was_left(agents: Agents) -> None:
    task = make_global(agents)
    for status in ("pending", "planning succeeded", "planning succeeded"):
        assert task.read("state.json")["actors"]["planning"]["status"] == status
        task.run("--once")
    assert task.read("state.json")["actors"]["plan_review"]["status"] == "review ok"
    assert task.read("state.json")["actors"]["review"]["status"] == "pending"


@pytest.mark.requirement("S1.61")
def test_after_an_override_the_status_names_what_was_waived(agents: Agents) -> None:
    task = make_global(agents)
    assert task("move", "plan_review", "--override", "no time to plan", task.id, cwd=task.repo).code == 0
    status = task.read("state.json")["actors"]["planning"]["status"]
    assert status.startswith("overridden: ")
    assert "plan_written" in status
    task.audit()


@pytest.mark.requirement("S1.61")
def test_forged_line_of_transcript_fails_the_audit_by_its_number(agents: Agents) -> None:
    task = make_global(agents)
    task.run("--once")
    path = task.folder / "transcript.jsonl"
    forged = {"type": "phase.changed", "from": "accept", "to": "done", "by": "person", "override": "I say so"}
    lines = path.read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join([*lines, json.dumps(forged)]) + "\n", encoding="utf-8")
    done = task("audit", task.id, cwd=task.repo)
    assert done.code != 0, done
    assert f"line {len(lines) + 1} " in done.out.replace(":", " ").replace(",", " "), done


def test_decision_that_a_person_wrote_is_not_overwritten_by_another(agents: Agents) -> None:
    task = make_global(agents)
    task.run(expect=4)
    task.put("accept/decision.json", {"verdict": "needs_changes", "reason": "the name is wrong"})
    done = task("move", "done", task.id, cwd=task.repo)
    assert done.code == 1, done
    assert "accept/decision.json says 'needs_changes', and this move decides 'accepted'" in done.out + done.err
    assert task.read("accept/decision.json") == {"verdict": "needs_changes", "reason": "the name is wrong"}
    assert task("move", task.id, cwd=task.repo).code == 0
    assert task.phase == "codegen"
    task.audit()


def test_decision_of_earlier_round_does_not_stand_in_the_way(agents: Agents) -> None:
    task = make_global(agents)
    task.run(expect=4)
    task.put("accept/decision.json", {"verdict": "needs_changes", "reason": "the name is wrong"})
    assert task("move", task.id, cwd=task.repo).code == 0
    assert task.phase == "codegen"
    agents.script("codegen", f"{CODER}; echo '# again' >> app.py")
    agents.script("review", out("code-review.json", {"ok": True, "issues": [], "round": 2}))
    task.run(expect=4)
    assert task.phase == "accept"
    done = task("approve", task.id, cwd=task.repo)
    assert done.code == 0, done
    assert task.read("accept/decision.json")["verdict"] == "accepted"
    task.audit()
