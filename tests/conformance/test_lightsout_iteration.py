"""The next version: what a person confirms reaches the agent, and the delivered version stays what it was."""

from __future__ import annotations

import pytest

from tests.conformance.lightsout_pipeline import HONEST, NEXT_SCOPE, Lights, Pipeline


def proposed(lights: Lights, **scripts: str) -> Pipeline:
    """A delivered project with a proposal that waits for a person."""
    lights.honest(**{"IterationConfirmed": NEXT_SCOPE, **scripts})
    line = lights.delivered()
    line.committed().moved("StartIteration").run("--once")
    assert line.state() == "IterationProposed"
    return line


def last_prompt(line: Pipeline) -> str:
    return line.prompt(line.last("run_planned")["run"])


def said(text: str) -> str:
    return text.partition("\n## A person said\n")[2].partition("\n## ")[0].strip()


@pytest.mark.requirement("S2.99")
def test_words_of_confirmation_reach_the_agent_that_writes_the_scope(lights: Lights) -> None:
    line = proposed(lights)
    assert line("approve", "p", "--reason", "only change 1, not the total").code == 0
    line.run("--once")
    assert said(last_prompt(line)) == "> (with ConfirmIteration)\n> only change 1, not the total"


def test_earlier_words_are_not_taken_for_those_of_the_confirmation(lights: Lights) -> None:
    line = proposed(
        lights, Iterating=f'{HONEST["Iterating"]}; echo "Round: $DETENT_RUN_NUMBER" >> $DETENT_OUT/proposal.md'
    )
    assert line("reject", "p", "--reason", "not now").code == 0
    line.committed().moved("StartIteration").run("--once")
    assert line("approve", "p").code == 0
    line.run("--once")
    assert said(last_prompt(line)) == "> (with ConfirmIteration)\n> no further words"
    assert said(last_prompt(line).replace("person said before", "person said")) == "> not now"


def confirmed(lights: Lights, script: str) -> Pipeline:
    line = proposed(lights, IterationConfirmed=f"{NEXT_SCOPE}; {script}")
    assert line("approve", "p").code == 0
    line.run("--once")
    return line


@pytest.mark.requirement("S2.99")
def test_the_delivered_scope_is_filed_and_the_next_version_numbered(lights: Lights) -> None:
    line = proposed(lights)
    before = line.read("scaffolding/scope.md")
    assert line("approve", "p").code == 0
    assert line.read("scaffolding/versions/scope-v1.md") == before
    lights.script(
        "IterationConfirmed",
        f"{NEXT_SCOPE}; chmod u+w scaffolding/versions/*; echo x > scaffolding/versions/scope-v1.md",
    )
    line.run("--once")
    assert line.state() == "Analyzing", line.run().out
    assert line.read("scaffolding/versions/scope-v1.md") == before, "a filed version is restored"
    assert "Version: 2" in line.read("scaffolding/scope.md")
    assert line.git("show", "HEAD:scaffolding/versions/scope-v1.md") + "\n" == before
    line.audit()


@pytest.mark.requirement("S2.22")
@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("sed -i 's/^- AC-2:.*/- AC-2: prints help within 9 s./' scaffolding/scope.md", "AC-2 is another criterion"),
        ("sed -i /^Version/d scaffolding/scope.md", 'it does not say which version it is ("Version: 2")'),
    ],
)
def test_an_id_means_the_same_criterion_in_every_version(lights: Lights, script: str, why: str) -> None:
    line = confirmed(lights, script)
    assert line.state() == "IterationConfirmed"
    assert why in line("next", "p").out
    line.run("--once")
    assert why in last_prompt(line)


def test_the_tier_is_restored_where_an_agent_changes_it(lights: Lights) -> None:
    line = confirmed(lights, "sed -i 's/^shed$/house/' scaffolding/scope.md")
    assert "\nshed\n" in line.read("scaffolding/scope.md")
    assert "Quality Tier" in line.last("run_ended")["restored"][0]
    assert line.state() == "Analyzing"
