"""Tests of the user's own settings: what may stand there, and how it goes together with a project's."""

from __future__ import annotations

from pathlib import Path

import pytest

from detent.errors import UnreadableError, UsageError
from detent.store.journal.user_settings import effective_settings, user_settings_path
from detent.words.machines import parse as parse_words
from detent.words.store import settings as say
from tests.messages import message_of


@pytest.fixture
def user_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    path = Path(user_settings_path())
    path.parent.mkdir()
    return path


def test_without_a_file_the_project_decides_alone(user_file: Path) -> None:
    assert not user_file.exists()
    assert effective_settings(b"[notify]\ncommand = 'theirs'\n", "x").notify_command == "theirs"
    assert effective_settings(None, "x").notify_command == ""


def test_the_project_wins_key_by_key(user_file: Path) -> None:
    user_file.write_text(
        "default_machine = 'ralf'\n[notify]\ncommand = 'mine'\nbell = false\n[issue]\nread = 'tracker {id}'\n"
        "[agents]\ndefault = 'codex'\njudge = 'pi'\n[agents.mine]\nargv = ['my-agent']\nstate = ['~/.mine/']\n"
        "[human]\nallow_no_new_privs = true\n"
    )
    project = b"[notify]\ncommand = 'theirs'\n[agents]\ndefault = 'claude'\n[agents.mine]\nargv = ['their-agent']\n"
    settings = effective_settings(project, "x")
    assert (settings.default_machine, settings.issue_read) == ("ralf", "tracker {id}")
    assert (settings.notify_command, settings.notify_bell) == ("theirs", False)
    assert settings.agents["default"] == "claude"
    assert settings.agents["judge"] == "pi"
    assert settings.agents["mine"] == {"argv": ["their-agent"], "state": ["~/.mine/"]}
    assert settings.human_allow_no_new_privs


def test_lists_are_joined_and_the_stricter_rule_holds(user_file: Path) -> None:
    user_file.write_text(
        "[sandbox]\nrequire = 'kernel'\npass = ['A', 'B']\nshow = '/mine'\n"
        "network = { judge = 'deny', builder = 'allow' }\n"
        "[budget]\nrun = { usd = 2, minutes = 10 }\ntask = { usd = 5 }\n"
    )
    project = (
        b"[sandbox]\nrequire = 'detect'\npass = ['B', 'C']\nshow = ['/theirs']\n"
        b"network = { judge = 'allow', x = 'deny' }\n"
        b"[budget]\nrun = { usd = 20, minutes = 5, turns = 3 }\n"
    )
    settings = effective_settings(project, "x")
    assert settings.sandbox_require == "kernel"
    assert settings.sandbox_pass == ("A", "B", "C")
    assert settings.sandbox_show == ("/mine", "/theirs")
    assert settings.sandbox_network == {"judge": "deny", "builder": "allow", "x": "deny"}
    assert settings.budget["run"] == {"usd": 2, "minutes": 5, "turns": 3, "stall_minutes": 10.0}
    assert settings.budget["task"] == {"usd": 5}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[commands]\ntest = 'x'\n", say.belongs_in_project("commands", "detent.toml")),
        ("[notfy]\ncommand = 'x'\n", parse_words.unknown_key("", "notfy", "notify")),
        ("[notify]\ncomand = 'x'\n", parse_words.unknown_key("notify", "comand", "command")),
        ("[sandbox]\nrequire = 'x'\n", say.not_one_of("sandbox", "require", ("detect", "kernel"))),
    ],
)
def test_what_is_wrong_names_the_file_of_the_user(user_file: Path, text: str, problem: str) -> None:
    user_file.write_text(text)
    with pytest.raises(UsageError) as caught:
        effective_settings(None, "x")
    assert caught.value.what == say.problems_in(str(user_file), (problem,))


def test_a_file_that_is_no_toml_is_named(user_file: Path) -> None:
    user_file.write_text("[notify")
    with pytest.raises(UnreadableError) as caught:
        effective_settings(None, "x")
    refusal = message_of(caught.value.what)
    assert (refusal.code, refusal.values["name"]) == ("settings.no_toml", str(user_file))
