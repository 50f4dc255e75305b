"""What a cold `status` or `next` loads: each module it does not need is paid for by every command of every day."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e.phase_task import PhaseTask

SOURCE = Path(__file__).parents[2] / "src"
START = "import sys; from detent.faces.cli.main import main; sys.exit(main())"  # as the installed command does
# Slow to load, and needed by no more than a move, an agent run or another machine.
NEEDLESS = frozenset(
    (
        *("argparse", "contextlib", "dataclasses", "hashlib", "importlib", "subprocess", "tomllib", "typing"),
        *(
            "detent.effects.git.clone",
            "detent.effects.workspace.home",
            "detent.effects.host.process",
            "detent.effects.git.tree.tree_id",
            "detent.machines.load",
            "detent.runner.step.step",
        ),
        *("detent.packs.ralf.criteria", "detent.gates.filed", "detent.packs.ralf.spec", "detent.gates.surroundings"),
        *("detent.packs", "detent.packs.lights_out.pack", "detent.packs.ralf.pack", "detent.packs.global_.pack"),
        *("detent.store.text.frontmatter", "detent.store.text.json_document"),
        *("detent.store.journal.events", "detent.store.journal.fold"),
        *("detent.effects.tests", "detent.store.text.census", "detent.gates.compare_censuses", "tree_sitter"),
        *("detent.runner.tell.proof_summary", "detent.store.text.assessment"),
    )
)


def loaded_by(task: PhaseTask, *words: str) -> frozenset[str]:
    """Without `site`, whose start-up files are the host's, not ours."""
    done = subprocess.run(
        [sys.executable, "-S", "-X", "importtime", "-c", START, *words],
        cwd=task.folder,
        env={**task.detent.environment, "PYTHONPATH": str(SOURCE)},
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return frozenset(re.findall(r"^import time:\s+\d+ \|\s+\d+ \|\s+(\S+)$", done.stderr, re.MULTILINE))


@pytest.mark.parametrize("command", ["status", "next", "list"])
def test_command_that_only_looks_loads_nothing_it_does_not_need(at: Callable[[str], PhaseTask], command: str) -> None:
    loaded = loaded_by(at("implement"), command)
    assert {"json", "detent.store.journal.tasks", "detent.runner.task.open"} <= loaded
    assert not loaded & NEEDLESS


def test_move_that_keeps_a_checkpoint_hashes_without_the_slow_library(at: Callable[[str], PhaseTask]) -> None:
    task = at("implement")
    task.candidate()
    loaded = loaded_by(task, "move", "verify")
    assert {"detent.effects.git.tree.tree_id", "detent.effects.host.process"} <= loaded
    assert "hashlib" not in loaded
