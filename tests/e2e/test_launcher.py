"""Any program can stand between detent and the agent: how an agent is started is data."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import SAMPLE_FILES, Detent, MakeRepo
from tests.e2e.clone_task import CloneTask
from tests.e2e.stubs import put_program, with_path

SETTINGS = """
[agents]
default = "far"
[agents.far]
argv  = ["launcher", "worker"]
model = ["--model={model}"]
"""
LAUNCHER = 'echo "$@" > "$DETENT_OUT/launched"; exec setsid --wait "$@"'  # another host would be reached here
WORKER = (
    'cat > "$DETENT_OUT/asked"; sed -i -e "s/^Done gate:.*/Done gate: g/" -e "s/^Not doing:.*/Not doing: n/" '
    '-e "s/^Reality constraints:.*/Reality constraints: r/" "$DETENT_TASK_DIR/STATE.md"'
)


@pytest.mark.requirement("S0.73")
def test_a_launcher_is_put_underneath_by_a_setting(detent: Detent, repo: MakeRepo, tmp_path: Path) -> None:
    for name, script in (("launcher", LAUNCHER), ("worker", WORKER)):
        put_program(tmp_path / "programs", name, script)
    environment = {**detent.environment, **with_path(detent.environment, tmp_path / "programs")}
    path = repo(files={**SAMPLE_FILES, "detent.toml": SETTINGS})
    task = CloneTask(Detent(tmp_path, environment), repo, path, "--agent", "builder=far:large")
    done = task("run", "--once")
    assert (done.code, task.state()) == (0, "shape"), done
    assert (task.home / "out" / "launched").read_text(encoding="utf-8") == "worker --model=large\n"
    assert "The task is in state **intake**" in (task.home / "out" / "asked").read_text(encoding="utf-8")
