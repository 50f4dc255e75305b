"""Real agents, started by the catalog's command lines, against a scripted model: their access, events and ends.

The programs come from `tools/install_agents.py`; they lie in `agents/bin` of the virtual environment, or where
DETENT_TEST_AGENTS says. One that is missing is skipped.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from detent.effects.agents.catalog import Agent, load_catalog
from detent.effects.host.process import run
from tests.agents.dialects import INPUT_TOKENS, OUTPUT_TOKENS, Shell, Write
from tests.agents.scripted_model import Turn
from tests.agents.world import ALONE, PORT, PROGRAMS, Meeting, World, can_be_alone
from tools.install_agents import PINS

MODELS = {"pi": "test/scripted", "codex": "scripted", "claude": "scripted"}
CHANGING_TOOLS = {"write", "edit", "bash", "Write", "Edit", "Bash", "NotebookEdit"}
HANG_TIMEOUT_S = 8.0  # mostly long enough to have asked the model

WRITE = (
    Turn("I write.", (Write("made.txt", "hello\n"),)),
    Turn("I run.", (Shell("echo shell > shell.txt"),)),
    Turn("All done."),
)


@pytest.fixture(scope="module")
def alone() -> bool:
    return can_be_alone()


@pytest.fixture(params=sorted(MODELS))
def agent(request: pytest.FixtureRequest) -> Agent:
    name: str = request.param
    if not (PROGRAMS / name).exists():
        pytest.skip(f"{name} is not installed in {PROGRAMS}; make test-agents installs it")
    return load_catalog({}).agents[name]


@pytest.fixture
def world(agent: Agent, tmp_path: Path, alone: bool) -> World:
    return World(agent, MODELS[agent.name], PROGRAMS, tmp_path, alone=alone)


def test_it_is_the_pinned_version(agent: Agent, world: World) -> None:
    program = str(PROGRAMS / agent.version[0])
    environment = {"PATH": os.environ.get("PATH", os.defpath), "HOME": str(world.home), "PI_OFFLINE": "1"}
    said = run([program, *agent.version[1:]], cwd=str(world.tree), env=environment, timeout_s=60)
    assert PINS[agent.name].says in (said.stdout + said.stderr).decode()


def test_agent_writes_with_its_tools_and_its_events_are_read(world: World) -> None:
    outcome = world.run(*WRITE)
    assert outcome.exit_class == "finished", outcome.output
    assert (world.tree / "made.txt").read_text(encoding="utf-8") == "hello\n"
    assert (world.tree / "shell.txt").read_text(encoding="utf-8") == "shell\n"
    usage = outcome.usage
    assert (usage.turns, usage.input_tokens, usage.output_tokens) == (3, 3 * INPUT_TOKENS, 3 * OUTPUT_TOKENS)
    assert usage.last_text == "All done."
    assert usage.session
    assert usage.errors == ()
    assert usage.garbage_lines == 0


def test_a_run_that_may_only_read_changes_nothing(world: World, agent: Agent) -> None:
    outcome = world.run(*WRITE, access="read")
    assert outcome.exit_class == "finished", outcome.output
    assert list(world.tree.iterdir()) == []
    assert [seen.turn for seen in outcome.seen] == [0, 1, 2]
    if agent.name == "codex":  # it keeps its shell, in a sandbox of the kernel
        assert all("Read-only file system" in seen.last for seen in outcome.seen[1:])
    else:
        assert all(not seen.tools & CHANGING_TOOLS for seen in outcome.seen)


def test_a_session_goes_on(world: World) -> None:
    script = (Turn("First."), Turn("Second.", (Write("made.txt", "late\n"),)), Turn("Third."))
    first = world.run(*script)
    assert not (world.tree / "made.txt").exists()
    second = world.run(*script, session=first.usage.session, prompt="Go on.")
    assert second.exit_class == "finished", second.output
    assert [seen.turn for seen in second.seen] == [1, 2]
    assert second.usage.session == first.usage.session
    assert (world.tree / "made.txt").read_text(encoding="utf-8") == "late\n"


@pytest.mark.parametrize("status", [401, 500])
def test_an_error_of_the_model_is_a_failed_run(world: World, status: int) -> None:
    outcome = world.run(Turn(status=status, message="no such luck"))
    assert outcome.exit_class == "failed", outcome.output
    assert outcome.usage.is_error
    assert outcome.usage.errors


def test_a_used_up_quota_is_neither_failed_nor_finished(world: World) -> None:
    outcome = world.run(Turn(status=429, message="Rate limit reached, try again in 20s", retry_after_s=1))
    assert outcome.exit_class == "quota", outcome.output
    if world.agent.name != "codex":  # codex keeps the model's words to itself
        assert outcome.usage.quota_until == "2027-01-15T08:00:20Z"


def test_a_silent_model_ends_in_a_timeout(world: World) -> None:
    outcome = world.run(Turn(hangs=True), timeout_s=HANG_TIMEOUT_S)
    assert outcome.exit_class == "timeout", outcome.output
    assert {seen.turn for seen in outcome.seen} <= {0}


def test_nothing_but_the_model_can_be_reached(tmp_path: Path, alone: bool) -> None:
    if not alone:
        pytest.skip("this host allows no network namespace; a closed proxy is all that keeps the agents in")
    tries = f"""
import socket
socket.create_connection(("127.0.0.1", {PORT}), 5).close()
try:
    socket.create_connection(("192.0.2.1", 80), 5)
except OSError as error:
    print(error.errno)
"""
    with Meeting(()) as meeting:
        argv = (sys.executable, str(ALONE), meeting.path, str(PORT), sys.executable, "-c", tries)
        finished = run(argv, cwd=str(tmp_path), env=dict(os.environ), timeout_s=30)
    assert finished.stdout.split() == [b"101"], finished.stderr  # ENETUNREACH
