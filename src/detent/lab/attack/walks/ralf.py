"""An honest thread of the machine `ralf`."""

from __future__ import annotations

import os
import sys

from detent.lab.attack.ground import write
from detent.lab.attack.values import FINISHED, RALF, SIGNING, WORK, Course
from detent.lab.attack.walks.walk import Walk, until

TYPE_CHECKING = False
if TYPE_CHECKING:
    from detent.lab.attack.inside import Inside
    from detent.lab.attack.scene import Scene

PROMISE = "<promise>THE ANSWER IS RIGHT</promise>"
_SPEC = f"""# The right answer

Promise: {PROMISE}

## Criteria

- the answer is right; cmd: """


def _hand_in(agent: Inside) -> None:
    if agent.state == "Running":
        sys.stdout.write(f"All done.\n{PROMISE}\n")


def _begin(scene: Scene) -> None:
    write(os.path.join(scene.folder(), "spec", "draft.md"), f"{_SPEC}{scene.world.check}\n")
    scene.ask("approve", "--skip-assess")
    scene.ask("move", "Preflight")
    scene.ask("run", "--once", expect=None)
    scene.ask("move", "Running")


def _to_review(scene: Scene) -> None:
    until("PendingReview", "Implemented")(scene)
    if scene.state() == "Implemented":
        scene.ask("move", "PendingReview")


def _finish(scene: Scene) -> None:
    if scene.state() == "Implemented":
        scene.ask("move", "PendingReview")
    scene.ask("approve")
    scene.ask("run", "--once", expect=None)
    scene.ask("commit")


WALK = Walk(
    Course(
        RALF,
        work="Running",
        judge="Verifying",
        end="Done",
        believed=("Implemented", "Polishing", "PendingReview", "Approved", "ReadyToCommit", "Done"),
        signed=("Implemented", "PendingReview"),
    ),
    hand_in=_hand_in,
    begin=_begin,
    finish=_finish,
    stages={SIGNING: (WORK, _to_review), FINISHED: (SIGNING, _finish)},
    has_two=False,
)
