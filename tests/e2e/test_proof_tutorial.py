"""The tutorial on proof, typed line by line: each cheat and the honest fix end as the page says."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from tests.conftest import let_out
from tests.e2e.phase_task import environment_in

PAGE = (Path(__file__).parents[2] / "docs" / "tutorial-proof.md").read_text(encoding="utf-8")
BLOCKS = PAGE.split("```")[1::2]
COMMANDS = [block.removeprefix("sh\n") for block in BLOCKS if block.startswith("sh\n")]
SHOWN = [block.strip() for block in BLOCKS if not block.startswith("sh\n")]
_SHELL_TIMEOUT_S = 300
_DIFFERS = re.compile(r"\d+(\.\d+)?|test_\w+_NUMBER")


def as_shown(line: str) -> str:
    """Without what differs each time: seconds, and the name of the planted test."""
    return re.sub(r"::test_\w+_N ", "::test_planted ", _DIFFERS.sub("N", line)).strip()


@pytest.fixture(scope="module")
def typed(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What a shell prints that runs every command of the page."""
    home = tmp_path_factory.mktemp("tutorial")
    _type_in(home, home, COMMANDS[:1])
    let_out(home / "prices")
    return _type_in(home, home / "prices", ["detent trust --yes", *COMMANDS[1:], "detent status\n"])


def _type_in(home: Path, folder: Path, blocks: list[str]) -> str:
    done = subprocess.run(
        ("bash",),
        input="\n".join(blocks),
        cwd=folder,
        env=environment_in(home),
        timeout=_SHELL_TIMEOUT_S,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def test_every_shown_line_is_printed(typed: str) -> None:
    printed = {as_shown(line) for line in typed.splitlines()}
    assert len(SHOWN) == 4
    assert [line for block in SHOWN for line in block.splitlines() if as_shown(line) not in printed] == [], typed


def test_only_the_honest_fix_is_signed(typed: str) -> None:
    ends = re.findall(r"^(refused: reviewing -> done|moved: reviewing -> done)", typed, re.MULTILINE)
    assert ends == ["refused: reviewing -> done", "refused: reviewing -> done", "moved: reviewing -> done"], typed
    assert "\nstate:               done" in typed
