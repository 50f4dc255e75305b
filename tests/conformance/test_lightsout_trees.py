"""What was judged is what is delivered: every change after the build is judged again, or a person looks at it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conformance.lightsout_pipeline import COMMANDS, EXAMPLE, HONEST, Lights, Pipeline
from tests.conformance.test_lightsout_build import KEY
from tests.conformance.test_lightsout_fixing import MENDED, VERIFIED
from tests.conformance.test_lightsout_git import FAILED_CRITERION, OPEN_FINDING
from tests.conformance.test_lightsout_recovery import ROUND, once

BROKEN = r"""printf 'print("words=0")\n' > words.py"""
GREEN = "echo '# never verified' >> words.py"
# What a fixing agent may leave behind, and how the build gate names it.
SPOILT = {
    "a key": (f"echo 'key = \"{KEY}\"' >> words.py", "the secret scan found something"),
    "a placeholder": ("echo '# TODO: the rest' >> words.py", "it only stands for work: words.py:"),
    "400 lines": ("seq 400 | sed 's/^/# /' >> words.py", "longer than 300 lines: words.py"),
    "a dependency": ("echo requests > requirements.in", "requirements.in declares requests, and no lock file"),
}


def confirmed(line: Pipeline, *words: str) -> None:
    done = line("approve", "--reason", "our own host", *words, "p")
    assert done.code == 0, done


def live(lights: Lights) -> bool:
    return (lights.folder / "home" / "live" / "words").exists()


def facts(line: Pipeline) -> str:
    return json.dumps([entry["facts"] for entry in line.entries("moved")])


@pytest.mark.parametrize("what", SPOILT)
@pytest.mark.parametrize(
    ("state", "scripts"),
    [
        ("Reviewing", {"Reviewing": once("finding", OPEN_FINDING, MENDED)}),
        ("Verifying", {"Verifying": once("criterion", FAILED_CRITERION, VERIFIED)}),
    ],
)
def test_fix_is_judged_by_all_that_the_build_gate_asks(
    lights: Lights, state: str, scripts: dict[str, str], what: str
) -> None:
    spoil, why = SPOILT[what]
    fixing = {"Reviewing": "ReviewFixing", "Verifying": "VerifyFixing"}[state]
    reconciled = f"doc reconcile.md; {ROUND}"
    line = lights.at(state, **scripts, **{fixing: spoil}, Reconciling=reconciled)
    said = line.run(expect=6).out
    passed = {"Reviewing": "ReviewGatePassed", "Verifying": "VerifyGatePassed"}[state]
    assert passed not in line.path_of_moves()[line.path_of_moves().index(fixing) :]
    assert "there is no blocked.md" not in said, "no agent reported a block"
    last = line.entries("run_planned")[-1]["run"]
    assert why in line.prompt(last) + line.last("unmoved").get("why", ""), line.prompt(last)
    line.audit()


def test_deploying_agent_that_breaks_the_code_delivers_nothing(lights: Lights) -> None:
    line = lights.at("Verifying", Deploying=f"{HONEST['Deploying']}; {BROKEN}")
    line.run(expect=4)
    assert line.state() == "BlockedOnGate", line.path_of_moves()
    assert "failed on this tree" in facts(line)
    assert not live(lights)
    assert "words=0" not in line.read("words.py"), "the verified files came back"
    line.audit()


def test_code_changed_after_verify_is_not_deployed_without_a_person(lights: Lights) -> None:
    line = lights.at("Verifying", Deploying=f"{HONEST['Deploying']}; {GREEN}")
    done = line.run(expect=4)
    assert line.state() == "Deploying", line.path_of_moves()
    assert "changed since PassVerifyGate judged the files: words.py" in done.out
    assert "detent diff --since" in done.out
    assert not live(lights)


def test_person_may_accept_what_differs_and_it_is_recorded(lights: Lights) -> None:
    line = lights.at("Verifying", Deploying=f"{HONEST['Deploying']}; {GREEN}")
    line.run(expect=4)
    tree = line("diff", "p", "--json").json()["tree"]
    confirmed(line, "--tree", tree[:12])
    word = line.entries("deploy")[-1]
    assert (word["tree"], word["differs"], word["unseen"]) == (tree, ["words.py"], False)
    line.run(expect=4)
    assert line.state() == "PipelineComplete"
    assert live(lights)
    assert "accepted what differs" in line.last("moved")["facts"]["as_verified"]["note"]
    line.audit()


def test_word_given_ahead_covers_the_verified_tree(lights: Lights) -> None:
    line = lights.at("Verifying")
    done = line("approve", "--unseen", "--reason", "it is my own folder", "p")
    assert done.code == 0, done
    assert "the next files that are verified" in done.out
    line.run(expect=4)
    assert line.state() == "PipelineComplete", "no one was asked"
    assert live(lights)
    word, begun, _ = line.entries("deploy")
    assert (word["unseen"], word["tree"], begun["by"]) == (True, "", "engine")
    assert "unseen" in line("history", "p").out
    page = line("evidence", "p", "--json").json()["path"]
    assert "confirmed, unseen" in Path(page).read_text(encoding="utf-8")
    line.audit()


@pytest.mark.requirement("S2.14", "S2.79")
def test_word_given_before_build_makes_one_run_lead_to_end(lights: Lights) -> None:
    lights.honest()
    brief = (EXAMPLE / "docs/input/brief.md").read_text(encoding="utf-8")
    line = lights.pipeline(files={"docs/input/brief.md": brief}, more=COMMANDS).configured().committed()
    refused = line("approve", "--reason", "it is my own folder", "p")
    assert (refused.code, 'detent approve p --unseen --reason "why"' in refused.out) == (1, True)
    done = line("approve", "--unseen", "--reason", "it is my own folder", "p")
    assert (done.code, "next: detent next p" in done.out) == (0, True)
    line("say", "build me a word counter", "p")
    said = line.run(expect=4).out
    assert line.state() == "PipelineComplete"
    assert said.count("needs a person") == 1
    assert live(lights)
    line.audit()


@pytest.mark.parametrize("change", [GREEN, "echo 'rm -rf /nowhere' > deploy.sh"])
def test_word_given_ahead_is_void_after_run_that_changed_more(lights: Lights, change: str) -> None:
    line = lights.at("Verifying", Deploying=f"{HONEST['Deploying']}; {change}")
    assert line("approve", "--unseen", "--reason", "it is my own folder", "p").code == 0
    done = line.run(expect=4)
    assert line.state() == "Deploying"
    assert "confirmed it unseen for" in done.out
    assert not live(lights)


def test_word_given_ahead_needs_a_reason_and_a_plan(lights: Lights) -> None:
    line = lights.at("Verifying")
    assert "needs a reason" in line("approve", "--unseen", "p").err
    assert line.entries("deploy") == []


def test_fix_in_scaffolding_and_documents_alone_is_delivered(lights: Lights) -> None:
    line = lights.at("Verifying")
    line.run(expect=4)
    confirmed(line)
    line.run(expect=4)
    assert line.state() == "PipelineComplete"
    verified, delivered = line.entries("moved")[-3]["tree"], line.last("moved")["tree"]
    assert verified != delivered, "the documents were written after VERIFY"
    assert "build_ok" in line.last("moved")["facts"]
    line.audit()
