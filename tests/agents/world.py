"""One real agent in a world of its own: a private home, a tree to work on, and no other model than the scripted one."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from detent.effects.agents.catalog import Agent, Launch, command_for
from detent.effects.agents.events import Usage, classify, read_usage
from detent.effects.host.process import run
from tests.agents.scripted_model import Script, ScriptedModel, Seen, Turn

PROGRAMS = Path(os.environ.get("DETENT_TEST_AGENTS") or Path(sys.prefix) / "agents") / "bin"
ALONE = Path(__file__).with_name("alone.py")
PORT = 4180  # in a network namespace of its own every port is free
RUN_S = 90.0
NOW_S = 1_800_000_000.0  # what "in 20 s" is counted from


def can_be_alone() -> bool:
    """Whether this host lets a program have a network of its own."""
    probe = subprocess.run([sys.executable, ALONE], capture_output=True, timeout=30, check=False)
    return probe.returncode == 0


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one run came to."""

    exit_class: str
    usage: Usage
    seen: tuple[Seen, ...]
    output: str


class Meeting:
    """Waits for programs that `alone.py` starts, one after another, and answers each as the scripted model."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.is_hanging = threading.Event()
        self._models: list[ScriptedModel] = []
        # The name of a Unix socket must be short, and a test's own folder has a long one.
        self._folder = tempfile.TemporaryDirectory(prefix="meet")
        self.path = os.path.join(self._folder.name, "s")
        self._socket = socket.socket(socket.AF_UNIX)
        self._thread = threading.Thread(target=self._serve)

    def __enter__(self) -> Self:
        self._socket.bind(self.path)
        self._socket.listen()
        self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._socket.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        self._socket.close()
        self._folder.cleanup()

    @property
    def seen(self) -> list[Seen]:
        return [seen for model in self._models for seen in model.seen]

    def _serve(self) -> None:
        with ExitStack() as stack:
            while True:
                try:
                    talk, _address = self._socket.accept()
                except OSError:
                    return  # it is over, or no agent connected; the test sees that from the run
                with talk:
                    _message, descriptors, _flags, _from = socket.recv_fds(talk, 16, 1)
                for descriptor in descriptors:  # none, if the program died meanwhile
                    model = ScriptedModel(self.script, socket.socket(fileno=descriptor))
                    model.is_hanging = self.is_hanging
                    self._models.append(stack.enter_context(model))


class World:
    """Runs one agent by the catalog's command line, several times in the same home if wanted."""

    def __init__(self, agent: Agent, model: str, programs: Path, folder: Path, *, alone: bool) -> None:
        self.agent = agent
        self.model = model
        self.programs = programs
        self.alone = alone
        self.home, self.tree, self.out = folder / "home", folder / "tree", folder / "out"
        for path in (self.home, self.home / "tmp", self.tree, self.out):
            path.mkdir()

    def run(
        self,
        *turns: Turn,
        access: str = "write",
        session: str = "",
        prompt: str = "Do what the script says.",
        timeout_s: float = RUN_S,
    ) -> Outcome:
        launch = command_for(
            self.agent, access=access, model=self.model, session=session, run_dir=str(self.out), cwd=str(self.tree)
        )
        if self.alone:
            with Meeting(turns) as meeting:
                wrapped = (sys.executable, str(ALONE), meeting.path, str(PORT), *launch.argv)
                return self._finish(
                    launch.replace(argv=wrapped), f"http://127.0.0.1:{PORT}", meeting, prompt, timeout_s
                )
        with ScriptedModel(turns) as model:
            return self._finish(launch, model.url, model, prompt, timeout_s)

    def _finish(
        self, launch: Launch, url: str, model: Meeting | ScriptedModel, prompt: str, timeout_s: float
    ) -> Outcome:
        settings = CONFIGURE[self.agent.name](self.home, url)
        output = self.out / "output"
        finished = run(
            launch.argv,
            cwd=str(self.tree),
            env={**self._environment(), **settings, **launch.env},
            timeout_s=timeout_s,
            input_bytes=prompt.encode(),
            whole_tree=True,
        )
        output.write_bytes(finished.stdout)
        ended = "timeout" if finished.timed_out else "failed" if finished.exit else "finished"
        usage = read_usage(str(output), self.agent.events, NOW_S)
        text = finished.stdout.decode("utf-8", "replace") + finished.stderr.decode("utf-8", "replace")
        return Outcome(classify(ended, usage), usage, tuple(model.seen), text)

    def _environment(self) -> dict[str, str]:
        return environment_of(self.home, self.programs)


def environment_of(home: Path, programs: Path) -> dict[str, str]:
    """From nothing; a proxy that is not there stops what would still look for a way out."""
    closed = "http://127.0.0.1:9"
    return {
        "PATH": os.pathsep.join((str(programs), os.environ.get("PATH", os.defpath))),
        "HOME": str(home),
        "LANG": "C.UTF-8",
        # codex refuses a home below the folder for temporary files, and this home is below the usual one.
        "TMPDIR": str(home / "tmp"),
        "HTTP_PROXY": closed,
        "HTTPS_PROXY": closed,
        "NO_PROXY": "127.0.0.1",
    }


def configure_pi(home: Path, url: str) -> Mapping[str, str]:
    folder = home / ".pi" / "agent"
    folder.mkdir(parents=True, exist_ok=True)
    cost = {"input": 1, "output": 2, "cacheRead": 0, "cacheWrite": 0}
    model = {"id": "scripted", "name": "Scripted", "contextWindow": 128_000, "maxTokens": 8192, "cost": cost}
    provider = {"baseUrl": f"{url}/v1", "api": "openai-completions", "apiKey": "none", "models": [model]}
    (folder / "models.json").write_text(json.dumps({"providers": {"test": provider}}), encoding="utf-8")
    settings = {"defaultProvider": "test", "defaultModel": "scripted", "retry": {"enabled": False}}
    (folder / "settings.json").write_text(json.dumps(settings), encoding="utf-8")
    return {"PI_OFFLINE": "1"}


def configure_codex(home: Path, url: str) -> Mapping[str, str]:
    folder = home / ".codex"
    folder.mkdir(exist_ok=True)
    (folder / "config.toml").write_text(
        f"""
model_provider = "test"
check_for_update_on_startup = false
[analytics]
enabled = false
[feedback]
enabled = false
[sandbox_workspace_write]  # the tests lie below the folder for temporary files, where it would let everybody write
exclude_slash_tmp = true
exclude_tmpdir_env_var = true
[model_providers.test]
name = "test"
base_url = "{url}/v1"
env_key = "TEST_KEY"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0
supports_websockets = false
""",
        encoding="utf-8",
    )
    return {"TEST_KEY": "none"}


def configure_claude(home: Path, url: str) -> Mapping[str, str]:
    return {
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": "none",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "CLAUDE_CODE_MAX_RETRIES": "0",
    }


CONFIGURE = {"pi": configure_pi, "codex": configure_codex, "claude": configure_claude}
