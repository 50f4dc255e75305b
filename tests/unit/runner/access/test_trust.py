"""Tests of what a repository's settings need trust for: exactly what reaches out of the sandbox, by its digest."""

from __future__ import annotations

from pathlib import Path

import pytest

from detent.effects.host.access import BUBBLEWRAP, LANDLOCK, NONE
from detent.errors import UntrustedError
from detent.runner.access.trust import is_untrusted, privileged_of, require_trust, trust
from detent.store.journal.places import project_at
from detent.store.journal.user_settings import is_trusted
from tests.messages import message_of

EVERYTHING = b"""
default_machine = "phase"
[agents]
default = "claude:opus"
judge = ["codex", "mine"]
[agents.mine]
argv = ["my-agent"]
[agents.claude]
env = { ANTHROPIC_BASE_URL = "https://elsewhere" }
[notify]
command = "curl elsewhere"
bell = false
[issue]
read = "tracker {id}"
[land]
how = "squash"
pr = "evil {branch}"
[sandbox]
require = "kernel"
network = { judge = "deny" }
pass = ["GH_TOKEN"]
show = ["~/.ssh"]
[commands]
test = "make test"
timeout_s = 5
[workspace]
setup = ["npm ci"]
key = ["x"]
[protect]
deny = ["a"]
[budget]
run = { minutes = 1 }
"""
ALWAYS = {
    "[agents.mine]",
    "[agents.claude]",
    "[notify] command",
    "[issue] read",
    "[land] pr",
    "[sandbox] pass",
    "[sandbox] show",
}


@pytest.mark.parametrize("level", [BUBBLEWRAP, LANDLOCK])
def test_what_leaves_or_widens_the_sandbox_is_privileged(level: str) -> None:
    assert set(privileged_of(EVERYTHING, "x", level).settings) == ALWAYS


def test_without_a_sandbox_commands_and_set_up_are_privileged_too() -> None:
    wanted = privileged_of(EVERYTHING, "x", NONE)
    assert set(wanted.settings) == {*ALWAYS, "[commands] test", "[workspace] setup"}
    assert wanted.digest != privileged_of(EVERYTHING, "x", BUBBLEWRAP).digest


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[agents]\ndefault = 'claude'\njudge = ['codex', 'pi:fast']\n",
        "[commands]\ntest = 'make test'\n[workspace]\nsetup = ['npm ci']\n",
        "[issue]\nread = 'gh issue view {id} --json title,body,comments,url'\n[notify]\nbell = true\n",
        "[sandbox]\nrequire = 'kernel'\npass = []\n",
    ],
)
def test_ordinary_settings_need_no_trust(text: str) -> None:
    assert privileged_of(text.encode(), "x", BUBBLEWRAP).digest == ""


def test_the_digest_is_that_of_the_privileged_settings_alone() -> None:
    before = privileged_of(EVERYTHING, "x", BUBBLEWRAP).digest
    assert privileged_of(EVERYTHING.replace(b'"make test"', b'"true"'), "y", BUBBLEWRAP).digest == before
    for old, new in ((b"my-agent", b"other"), (b"GH_TOKEN", b"AWS_TOKEN"), (b"curl", b"wget"), (b"~/.ssh", b"~/.aws")):
        assert privileged_of(EVERYTHING.replace(old, new), "x", BUBBLEWRAP).digest != before


def test_trust_is_kept_for_one_repository_and_one_digest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    project, other = (project_at(str(tmp_path / name), str(tmp_path / name / ".git")) for name in ("a", "b"))
    wanted = privileged_of(EVERYTHING, "x", BUBBLEWRAP)
    with pytest.raises(UntrustedError) as caught:
        require_trust(project, EVERYTHING, "detent.toml of abc")
    assert caught.value.code == 4
    refusal = message_of(caught.value.what)
    assert refusal.code == "access.not_trusted"
    assert "[notify] command" in str(refusal.values["names"])
    assert caught.value.next_step == refusal.next_step
    trust(project, wanted, "ann")
    assert not is_untrusted(project, wanted)
    assert is_untrusted(other, wanted)
    assert not is_trusted(project, privileged_of(EVERYTHING, "x", NONE).digest)
    assert list((tmp_path / "state/detent/trusted").rglob(f"{wanted.digest}.json"))
