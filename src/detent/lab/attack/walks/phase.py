"""An honest task of the machine `phase`."""

from __future__ import annotations

import os

from detent.lab.attack.ground import write
from detent.lab.attack.values import FINISHED, FIXED, GREEN, LAST, OLD_REPAIR, OLD_REVIEW, PHASE, RED, WORK, Course
from detent.lab.attack.walks.walk import Walk, nothing, until

TYPE_CHECKING = False
if TYPE_CHECKING:
    from detent.lab.attack.inside import Inside
    from detent.lab.attack.scene import Scene

_FRAME = {
    "Done gate": "the check passes",
    "Not doing": "anything else",
    "User facing": "no",
    "Reality constraints": "a shell",
}


def _begin(scene: Scene) -> None:
    scene.set(_FRAME)
    for state in ("shape", "implement"):
        scene.ask("move", state)


def _to_verify(scene: Scene) -> None:
    write(os.path.join(scene.folder(), "artifacts", "result.txt"), "looked at it\n")
    link = "[result](artifacts/result.txt)"
    scene.set({"Candidate done": "yes", "Evidence location": "artifacts/result.txt", "Evidence link": link})
    scene.ask("move", "verify")


def _green(scene: Scene) -> None:
    write(os.path.join(scene.tree(), "app.sh"), FIXED)
    _to_verify(scene)


def _old_review(scene: Scene) -> None:
    from detent.lab.attack.inside import gate_answers

    scene.section("Gate answers", gate_answers())
    scene.section("Review", "Verdict: PASS\nFrom an earlier round.")
    scene.ask("move", "review")


def _old_repair(scene: Scene) -> None:
    scene.section("Failed checks", "check.sh: the answer is wrong")
    scene.section("Repairs", "check.sh: repaired, in an earlier round")
    scene.ask("move", "repair")


def _hand_in(agent: Inside) -> None:
    match agent.state:
        case "implement":
            agent.candidate("answer says right\n")
            agent.claim("verify")
        case "verify":
            agent.claim("review")
        case "repair":
            agent.section("Repairs", f"the answer is right now, by run {agent.run}")
            agent.claim("verify")
        case "review":
            agent.review()
            agent.claim("done")
        case _:
            pass


WALK = Walk(
    Course(
        PHASE,
        work="implement",
        judge="verify",
        end="done",
        believed=("review", "done"),
    ),
    hand_in=_hand_in,
    begin=_begin,
    finish=nothing,
    takes_check=True,
    stages={
        GREEN: (WORK, _green),
        RED: (WORK, _to_verify),
        OLD_REVIEW: (GREEN, _old_review),
        OLD_REPAIR: (RED, _old_repair),
        LAST: (GREEN, until("review")),
        FINISHED: (LAST, until("done")),
    },
)
