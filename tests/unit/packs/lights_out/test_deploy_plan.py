"""The deploy commands of a project are read as they stand, or not at all."""

from __future__ import annotations

import pytest

from detent.packs.lights_out.deploy_plan import read_plan
from detent.packs.lights_out.words import deploying as say

WHOLE = """# Preferences

## Deploy Commands

Some words.

- Preflight: `test -n "$X"`
- **Deploy:** ./deploy.sh --now
* Check: ``curl `host` ``
- Rollback: `./deploy.sh --old`
- Notes: nothing

## Next

- Persistence: not here
"""


def test_each_labelled_item_is_one_command_in_order() -> None:
    plan, problem = read_plan(WHOLE)
    assert problem == ""
    assert plan is not None
    assert plan.commands == (
        ("Pre-flight", 'test -n "$X"'),
        ("Deploy", "./deploy.sh --now"),
        ("Check", "curl `host`"),
        ("Rollback", "./deploy.sh --old"),
    )


def test_the_digest_depends_on_the_commands_alone() -> None:
    plan = read_plan(WHOLE)[0]
    same, other = read_plan(WHOLE.replace("Some words", "Others"))[0], read_plan(WHOLE.replace("--now", "--later"))[0]
    assert plan is not None
    assert same is not None
    assert other is not None
    assert plan.digest == same.digest != other.digest


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", say.no_section("Deploy Commands")),
        (WHOLE.replace("- Rollback: `./deploy.sh --old`\n", ""), say.command_missing("Deploy Commands", ["Rollback"])),
        (WHOLE.replace("`./deploy.sh --old`", "TODO"), say.command_missing("Deploy Commands", ["Rollback"])),
        (WHOLE.replace("- Notes: nothing", "- Check: true"), say.named_twice("Deploy Commands", "Check")),
        (
            WHOLE.replace("- Rollback", "```\n- Rollback").replace("- Notes", "```\n- Notes"),
            say.command_missing("Deploy Commands", ["Rollback"]),
        ),
        (
            WHOLE.replace("- Rollback", "<!--\n- Rollback").replace("- Notes", "-->\n- Notes"),
            say.command_missing("Deploy Commands", ["Rollback"]),
        ),
    ],
)
def test_incomplete_plan_is_none_and_names_what_is_missing(text: str, problem: str) -> None:
    plan, why = read_plan(text)
    assert plan is None
    assert problem in why
