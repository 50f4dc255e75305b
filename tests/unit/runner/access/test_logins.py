"""Tests of what a run may do with agents' folders: whose logins are hidden, what steers, and what a change is."""

from __future__ import annotations

from pathlib import Path

import pytest

from detent.effects.agents.catalog import load_catalog
from detent.runner.access.logins import agent_folders, changed_steering, other_logins, remember_steering, steering
from detent.runner.access.secret_places import secret_places
from detent.store.disk.folders import remove_folder
from tests.unit.store.disk.test_folders import nest


def test_every_login_but_the_agents_own_is_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/ann")
    agents = load_catalog({}).agents
    for agent in agents.values():
        hidden = other_logins({}, agent)
        assert not set(hidden) & set(agent_folders(agent))
        others = {path for other in agents.values() if other.name != agent.name for path in other.auth}
        assert {path.replace("/home/ann", "~") for path in hidden} == others - set(agent.auth)
    assert "/home/ann/.claude/.credentials.json" in other_logins({}, None)
    mine = {"mine": {"argv": ["x"], "auth": ["~/.mine/login"]}}
    assert "/home/ann/.mine/login" in other_logins(mine, agents["pi"])


@pytest.mark.parametrize("agent", load_catalog({}).agents.values(), ids=lambda agent: agent.name)
def test_steering_lies_in_agents_own_state_and_is_no_login(agent: object) -> None:
    found = load_catalog({}).agents[agent.name]  # type: ignore[attr-defined]  # parametrized by the catalog
    assert not set(found.auth) & {*found.steer, *found.blank, *found.copied}
    for path in (*found.steer, *found.blank, *found.sessions):
        assert path.startswith(found.state), path
    assert all(path.endswith("/") for path in found.sessions)


def test_a_change_below_a_steering_folder_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    agent, run_dir = load_catalog({}).agents["claude"], tmp_path / "run"
    run_dir.mkdir()
    skill = tmp_path / ".claude/skills/one/SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("1")
    assert changed_steering(str(run_dir)) == (), "of a run that kept nothing nothing is known"
    remember_steering(agent, str(run_dir))
    assert changed_steering(str(run_dir)) == ()
    (tmp_path / ".claude/history.jsonl").write_text("x")
    assert changed_steering(str(run_dir)) == ()
    skill.write_text("2")
    (tmp_path / ".claude/settings.json").write_text("{}")
    assert set(changed_steering(str(run_dir))) == {
        str(tmp_path / ".claude/skills"),
        str(tmp_path / ".claude/settings.json"),
    }
    assert set(changed_steering(str(run_dir))) <= set(steering(agent))


def test_secret_places_follow_the_xdg_variables() -> None:
    found = secret_places("/home/ann", {"XDG_CONFIG_HOME": "/cfg", "XDG_DATA_HOME": "relative"})
    assert {"/home/ann/.config/gh", "/cfg/gh", "/cfg/git/credentials", "/home/ann/.pgpass"} <= set(found)
    assert not any(path.startswith("relative") for path in found)


def test_deep_folders_below_a_steering_folder_are_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    agent, run_dir = load_catalog({}).agents["claude"], tmp_path / "run"
    run_dir.mkdir()
    skills = tmp_path / ".claude/skills"
    skills.mkdir(parents=True)
    remember_steering(agent, str(run_dir))
    nest(skills, 1500)
    (skills / "SKILL.md").write_text("1")
    try:
        assert changed_steering(str(run_dir)) == (str(skills),)
    finally:
        remove_folder(str(skills))  # the cleaning of pytest calls itself for each level
