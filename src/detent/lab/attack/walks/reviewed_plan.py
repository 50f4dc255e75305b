"""An honest task of the machine `global`."""

from __future__ import annotations

import json
import os

from detent.lab.attack.ground import write
from detent.lab.attack.values import FINISHED, FIXED, GLOBAL, GREEN, RED, SIGNING, WORK, Course
from detent.lab.attack.walks.walk import Walk, until

TYPE_CHECKING = False
if TYPE_CHECKING:
    from detent.lab.attack.inside import Inside
    from detent.lab.attack.scene import Scene

_PLAN = {"summary": "give the right answer", "open_questions": [], "steps": ["do it"]}


def _out(agent: Inside, name: str, content: dict[str, object]) -> None:
    agent.write(os.path.join(agent.out, name), json.dumps({**content, "round": int(agent.run)}) + "\n")


def _hand_in(agent: Inside) -> None:
    match agent.state:
        case "planning":
            _out(agent, "planning.ai.json", dict(_PLAN))
            _out(agent, "plan.files.json", {"files": agent.files})
        case "plan_review":
            _out(agent, "plan-review.json", {"ok": True, "blocked": False})
        case "review":
            _out(agent, "code-review.json", {"ok": True, "issues": []})
        case _:
            pass


def _red(scene: Scene) -> None:
    """Changed, and still wrong: what is to be reviewed must differ from what was there."""
    write(os.path.join(scene.tree(), "app.sh"), "answer() { echo still wrong; }\n")
    scene.let_loose("does-nothing")


def _green(scene: Scene) -> None:
    write(os.path.join(scene.tree(), "app.sh"), FIXED)
    scene.let_loose("does-nothing")


def _finish(scene: Scene) -> None:
    scene.ask("approve")


WALK = Walk(
    Course(
        GLOBAL,
        work="codegen",
        judge="review",
        end="done",
        believed=("accept", "done"),
        signed=("accept",),
    ),
    hand_in=_hand_in,
    begin=until("codegen"),
    finish=_finish,
    stages={
        GREEN: (WORK, _green),
        RED: (WORK, _red),
        SIGNING: (GREEN, until("accept")),
        FINISHED: (SIGNING, _finish),
    },
)
