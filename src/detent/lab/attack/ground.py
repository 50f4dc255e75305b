"""The ground that attacks are played on: one throw-away folder, and commands with its own environment."""

from __future__ import annotations

import os
import sys
import tempfile

from detent.effects.host.process import Finished
from detent.effects.host.process import run as run_process
from detent.errors import ToolError
from detent.lab.attack import values
from detent.lab.attack.inside import PLAY

_TIMEOUT_S = 120.0
_RUSTUP = (("RUSTUP_HOME", ".rustup"), ("CARGO_HOME", ".cargo"))  # where rustup keeps its toolchains


def search_path() -> str:
    """Programs of this Python first, then of this host, then the test runners of a checkout (`make runners`)."""
    here = os.path.dirname(sys.executable)
    return os.pathsep.join((here, os.environ.get("PATH", os.defpath), os.path.join(sys.prefix, "runners", "bin")))


class Ground:
    """Where home and repository lie, and how a command is run there."""

    def __init__(self, top: str) -> None:
        self.live = os.path.join(os.path.realpath(top), "live")
        self.kept = os.path.join(os.path.realpath(top), "kept")
        self.home = os.path.join(self.live, "home")
        self.repo = os.path.join(self.live, "repo")
        self.check = ""  # the test command that the settings name
        self.is_proving = True  # whether its tasks have `[proof]`, as new ones do
        identity = {f"GIT_{who}_{what}": "lab" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
        self.environment = {
            **identity,
            **_toolchains(),
            "PATH": os.pathsep.join((os.path.join(self.home, "bin"), search_path())),
            "HOME": self.home,
            "LANG": "C.UTF-8",
            "GIT_CONFIG_NOSYSTEM": "1",
            "XDG_STATE_HOME": os.path.join(self.home, "state"),
            "TMPDIR": os.path.join(self.live, "tmp"),
            "SSH_AUTH_SOCK": os.path.join(self.home, values.SOCKET),
            values.SECRET: values.CANARY,
            **dict.fromkeys(values.SECRETS, f"https://me:{values.CANARY}@localhost/"),
        }

    def run(
        self, *argv: str, expect: int | None = 0, cwd: str = "", timeout_s: float = _TIMEOUT_S, **more: str
    ) -> Finished:
        environment = {**self.environment, **more}
        done = run_process(argv, cwd=cwd or self.repo, env=environment, timeout_s=timeout_s)
        if expect is not None and done.exit != expect:
            text = (done.stdout + done.stderr).decode("utf-8", "replace")
            raise ToolError(
                f"the lab could not be set up: {' '.join(argv[-4:])} ended with {done.exit}: {text[-500:]}",
                next_step="look at this host: detent doctor --quick; then: detent attack --only NAME",
            )
        return done

    def detent(self, *words: str, expect: int | None = 0, timeout_s: float = _TIMEOUT_S, **more: str) -> Finished:
        argv = (sys.executable, "-P", "-m", "detent", *words)
        return self.run(*argv, expect=expect, timeout_s=timeout_s, **more)

    def commit(self, subject: str) -> None:
        for words in (("add", "-A"), ("commit", "-q", "--allow-empty", "-m", subject)):
            self.run("git", "-c", "core.hooksPath=/dev/null", *words)

    def tell_agent(self, attack: str, machine: str) -> None:
        write(os.path.join(self.home, PLAY), f"{attack} {machine}")

    def clear(self) -> None:
        """Make room for another world; what an attacker left running goes on in the old one, out of the way."""
        if os.path.isdir(self.live):
            old = tempfile.mkdtemp(prefix="old-", dir=os.path.dirname(self.live))
            os.rename(self.live, old)
            remove(old)


def _toolchains() -> dict[str, str]:
    """The throw-away home has no toolchains of its own."""
    real = {name: os.environ.get(name) or os.path.join(os.path.expanduser("~"), folder) for name, folder in _RUSTUP}
    return real if os.path.isdir(real["RUSTUP_HOME"]) else {}


def remove(path: str) -> None:
    """Whatever an attacker made of it: the standard library gives up on folders that lie too deep."""
    run_process(("rm", "-rf", "--", path), cwd=os.sep, env=os.environ, timeout_s=_TIMEOUT_S)


def read(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def write(path: str, text: str) -> None:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
