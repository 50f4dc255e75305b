"""Real phase tasks whose agents sleep at a named pipe: makes them, starts their runs, and says how to reach them.

The runs are started one after another by the engine itself (`drive`); who watches them is started by the benchmark.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

from serve import serve

from detent.effects.host.keeper.look import look
from detent.effects.host.keeper.start import stop
from detent.effects.host.keeper.watch import Watch
from detent.faces.cli.output import move_json
from detent.runner.drive.drive import drive
from detent.runner.make.begin import NewTask
from detent.runner.make.create import create

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from detent.runner.task.open import Task

GATE = "gate"  # the pipe, in the one folder of a run that is always writable
STOP_S = 60.0
FRAME = {
    "Objective": "make the parser accept trailing commas",
    "Done gate": "the parser's tests pass and the guide shows one example",
    "Not doing": "no new syntax besides the comma",
    "Reality constraints": "Python 3.11, no new packages",
    "Validation plan": "cmd: python3 -m unittest",
    "User facing": "no",
    "Current result": "nothing yet",
    "Next step": "begin",
}
# All of it builtins of the shell: one small process that sleeps at a pipe, and changes the tree on its way out.
AGENT = f'echo begun >> README.md; read -r word < "$DETENT_OUT/{GATE}"; echo worked >> package/module_1.py'
FILES = {
    "README.md": "# Sample\n\nA project to measure on.\n",
    # One run, though it made progress: the next one would be asleep for ever.
    "detent.toml": '[budget.task]\nruns = 1\n[agents]\ndefault = "sleeper"\n[agents.sleeper]\nevents = "text"\n'
    f"argv = {json.dumps(['sh', '-c', AGENT])}\n",
    **{f"package/module_{number}.py": f"VALUE = {number}\n" for number in range(100)},
}


def make_repository(path: Path) -> None:
    for name, text in FILES.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_text(text, encoding="utf-8")
    identity = ("-c", "user.name=Bench", "-c", "user.email=bench@example.invalid")
    for arguments in (("init", "--quiet"), ("add", "--all"), (*identity, "commit", "--quiet", "--message=Start")):
        subprocess.run(["git", *arguments], cwd=path, check=True)


def begin(repository: Path, number: int) -> Task:
    """One task in implement with its agent asleep."""
    task = create(NewTask(machine="phase", title="measure", task_id=f"run-{number:04}", repo=str(repository)))
    state = Path(task.native.folder) / "STATE.md"
    text = state.read_text(encoding="utf-8")
    for label, value in FRAME.items():
        text = re.sub(rf"^{re.escape(label)}:.*$", f"{label}: {value}", text, flags=re.MULTILINE)
    state.write_text(text, encoding="utf-8")
    out = Path(task.run_folders()["DETENT_OUT"])
    out.mkdir(parents=True, exist_ok=True)
    os.mkfifo(out / GATE)
    rest = drive(task, lambda _happened: None, move_json, may_wait=False)
    if rest.why != "running":
        raise RuntimeError(f"no run was started: {rest.why}: {rest.text}")
    return rest.task


def describe(task: Task) -> Mapping[str, Any]:
    run = task.memory.run
    identity = look(task.places.run(run.run)).identity
    if identity is None:
        raise RuntimeError(f"the run of {task.id} has no identity")
    return {
        "id": task.id,
        "journal": task.places.journal(),
        "gate": os.path.join(task.run_folders()["DETENT_OUT"], GATE),
        "keeper": identity.keeper_pid,
        "sandbox": run.sandbox,
        "state": run.state,
    }


def end_all(tasks: list[Task]) -> int:
    """Stop every run that still lives; how many did not end."""
    folders = [task.places.run(task.memory.run.run) for task in tasks]
    told = [folder for folder in folders if stop(folder)]
    with Watch(told) as watch:
        return sum(watch.wait(STOP_S) is None for _ in told)


def main() -> None:
    os.environ.update(GIT_CONFIG_NOSYSTEM="1", GIT_CONFIG_GLOBAL=os.devnull)
    repository = Path("repository").resolve()
    make_repository(repository)
    tasks: list[Task] = []
    try:
        tasks.extend(begin(repository, number) for number in range(int(sys.argv[1])))
        serve({}, about={"repository": str(repository), "runs": [describe(task) for task in tasks]})
    finally:
        left = end_all(tasks)
        if left:
            print(f"{left} runs did not end", file=sys.stderr)


if __name__ == "__main__":
    main()
