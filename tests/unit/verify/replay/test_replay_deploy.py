"""Tests of what the audit says against lines about deployments that the engine would never have written so."""

from __future__ import annotations

from typing import Any

import pytest

from detent.core.values import Snapshot
from detent.store.journal.events import Deploy
from detent.store.journal.head import head_of
from detent.store.journal.memory import Memory, deployment_of
from detent.verify.replay.deploy import deploy_problems
from detent.words.verify import lines as say
from tests.lines import made

LAST = {"last": {"plan": "p", "commands": []}}


def problems_of(stage: str, by: str, before: dict[str, Any]) -> list[str]:
    memory = Memory(head_of({}), Snapshot("Deploying"), 0, b"", 1, "", deploy=deployment_of(before))
    line = made("deploy", stage=stage, by=by, plan="p", visit="v")
    assert isinstance(line, Deploy)
    return list(deploy_problems(line, memory))


@pytest.mark.parametrize(
    ("stage", "by", "before", "problems"),
    [
        ("begun", "engine", {"confirmed": "p"}, []),
        ("begun", "engine", {}, [say.not_confirmed()]),
        ("begun", "engine", {"confirmed": "p", "begun": {}, **LAST}, []),
        ("ended", "engine", {"confirmed": "p"}, [say.ended_unbegun()]),
        ("rolling_back", "person", LAST, []),
        ("rolling_back", "engine", LAST, [say.no_deployment("rolling_back", "engine")]),
        ("rolling_back", "person", {"confirmed": "p"}, [say.takes_back_nothing()]),
        ("rolled_back", "engine", {**LAST, "back": "v"}, []),
        ("rolled_back", "engine", LAST, [say.rollback_unbegun()]),
    ],
)
def test_lines_about_a_deployment_follow_from_each_other(
    stage: str, by: str, before: dict[str, Any], problems: list[str]
) -> None:
    assert problems_of(stage, by, before) == problems
