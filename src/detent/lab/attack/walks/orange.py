"""An honest task of the machine `orange`."""

from __future__ import annotations

import os

from detent.lab.attack.ground import write
from detent.lab.attack.values import FINISHED, FIXED, GREEN, ORANGE, RED, SIGNING, WORK, Course
from detent.lab.attack.walks.walk import Walk, until

TYPE_CHECKING = False
if TYPE_CHECKING:
    from detent.lab.attack.inside import Inside
    from detent.lab.attack.scene import Scene


def _section(path: str, name: str, body: str) -> None:
    """Of the sections of one name the last counts."""
    with open(path, "a", encoding="utf-8") as file:
        file.write(f"\n## {name}\n{body}\n")


def _hand_in(agent: Inside) -> None:
    path = os.path.join(agent.folder, "TASK.md")
    match agent.state:
        case "working":
            _section(path, "Handoff", f"DONE: the answer is right, by run {agent.run}")
            agent.claim("agent-review")
        case "agent-review":
            _section(path, "Review", f"Verdict: PASS\nRead by run {agent.run}.")
            agent.claim("reviewing")
        case _:
            pass


def _begin(scene: Scene) -> None:
    scene.ask("move", "working")


def _handed_in(scene: Scene, text: str) -> None:
    write(os.path.join(scene.tree(), "app.sh"), text)
    _section(os.path.join(scene.folder(), "TASK.md"), "Handoff", "DONE: the answer is right")
    scene.ask("move", "agent-review")


def _finish(scene: Scene) -> None:
    scene.ask("approve")


WALK = Walk(
    Course(
        ORANGE,
        work="working",
        judge="agent-review",
        end="done",
        believed=("reviewing", "done"),
        signed=("reviewing",),
    ),
    hand_in=_hand_in,
    begin=_begin,
    finish=_finish,
    stages={
        GREEN: (WORK, lambda scene: _handed_in(scene, FIXED)),
        RED: (WORK, lambda scene: _handed_in(scene, "answer() { echo still wrong; }\n")),
        SIGNING: (GREEN, until("reviewing")),
        FINISHED: (SIGNING, _finish),
    },
)
