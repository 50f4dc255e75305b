"""`task-phase-run`, in the words of the phase document: exactly one bounded agent run on a folder of any tool."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import SAMPLE_FILES, Completed, Detent, MakeRepo

SCAFFOLD = Path(__file__).parents[2] / "src/detent/packs/phase/scaffold"
AGENT = (
    'cat > /dev/null; echo "$DETENT_STATE" >> "$DETENT_TASK_DIR/artifacts/runs.txt"; '
    'sed -i -e "s/^Done gate:.*/Done gate: g/" -e "s/^Not doing:.*/Not doing: n/" '
    '-e "s/^Reality constraints:.*/Reality constraints: r/" "$DETENT_TASK_DIR/STATE.md"'
)
SETTINGS = f'[agents]\ndefault = "mine"\n[agents.mine]\nargv = {json.dumps(["sh", "-c", AGENT])}\n'


class Program:
    """The program as it is installed, a repository, and a task folder that another tool made."""

    def __init__(self, detent: Detent, repo: MakeRepo, base: Path) -> None:
        self.detent = detent
        self.repo = repo(files={**SAMPLE_FILES, "detent.toml": SETTINGS})
        assert detent("trust", "--yes", cwd=self.repo).code == 0
        self.folder = base / "foreign"
        (self.folder / "artifacts").mkdir(parents=True)
        for file in SCAFFOLD.glob("*.md"):
            shutil.copy(file, self.folder / file.name)
        state = self.folder / "STATE.md"
        state.write_text(state.read_text(encoding="utf-8").replace("Objective:", "Objective: count"), encoding="utf-8")

    def __call__(self, *words: str | Path) -> Completed:
        program = Path(sys.executable).parent / "task-phase-run"
        argv = tuple(str(word) for word in words)
        done = subprocess.run(
            [program, *argv],
            cwd=self.repo,
            env=dict(self.detent.environment),
            capture_output=True,
            encoding="utf-8",
            timeout=60,
            check=False,
        )
        return Completed(argv, done.returncode, done.stdout, done.stderr)

    def runs(self) -> list[str]:
        path = self.folder / "artifacts/runs.txt"
        return path.read_text(encoding="utf-8").split() if path.exists() else []


@pytest.fixture
def program(detent: Detent, repo: MakeRepo, tmp_path: Path) -> Program:
    return Program(detent, repo, tmp_path)


@pytest.mark.requirement("S0.56", "S0.59", "S0.70")
def test_one_run_on_a_folder_it_has_never_seen(program: Program) -> None:
    done = program("--task-dir", program.folder, "--repo", program.repo)
    assert done.code == 0, done
    assert program.runs() == ["intake"]
    assert "moved: intake -> shape" in done.out
    assert "\nPhase: shape\n" in (program.folder / "STATE.md").read_text(encoding="utf-8")


@pytest.mark.requirement("S0.70", "S0.66")
def test_the_next_call_goes_on_where_the_last_one_ended(program: Program) -> None:
    assert program(f"--task-dir={program.folder}", f"--repo={program.repo}").code == 0
    second = program("--task-dir", program.folder, "--repo", program.repo)
    assert program.runs() == ["intake", "shape"]
    assert second.code == 6, second  # one more line in an artifact that was there is no progress
    assert "Validation plan" in second.out


def test_a_missing_folder_is_named_with_the_command_for_it(program: Program) -> None:
    done = program("--task-dir", program.folder / "nowhere", "--repo", program.repo)
    assert done.code == 2
    assert "task-phase-init --task-dir" in done.err


@pytest.mark.parametrize(("words", "code"), [((), 2), (("--help",), 0)])
def test_it_says_how_it_is_used_in_its_own_words(program: Program, words: tuple[str, ...], code: int) -> None:
    done = program(*words)
    assert done.code == code
    assert "task-phase-run --task-dir DIR" in done.out + done.err
    assert "--adopt" not in done.out + done.err


@pytest.mark.requirement("S0.63")
@pytest.mark.parametrize(("phase", "code"), [("done", 0), ("blocked", 4), ("needs_user_decision", 4)])
def test_it_stops_on_a_folder_whose_phase_is_terminal(program: Program, phase: str, code: int) -> None:
    state = program.folder / "STATE.md"
    text = state.read_text(encoding="utf-8").replace("Phase: intake", f"Phase: {phase}")
    state.write_text(text, encoding="utf-8")
    done = program("--task-dir", program.folder, "--repo", program.repo)
    assert done.code == code, done
    assert program.runs() == []
    assert state.read_text(encoding="utf-8") == text


def test_a_phase_in_capitals_is_understood(program: Program) -> None:
    state = program.folder / "STATE.md"
    state.write_text(state.read_text(encoding="utf-8").replace("Phase: intake", "Phase: Intake"), encoding="utf-8")
    done = program("--task-dir", program.folder, "--repo", program.repo)
    assert done.code == 0, done
    assert program.runs() == ["intake"]
