"""An honest pipeline of the machine `lights-out`."""

from __future__ import annotations

import os

from detent.lab.attack.ground import write
from detent.lab.attack.values import FINISHED, GREEN, LAST, LIGHTS_OUT, WORK, Course
from detent.lab.attack.walks import lights_out_documents as documents
from detent.lab.attack.walks.walk import Walk, until

TYPE_CHECKING = False
if TYPE_CHECKING:
    from detent.lab.attack.inside import Inside
    from detent.lab.attack.scene import Scene

_SETUP = ("CommitToBuild", "CloneRepo", "OpenInEditor")
# state -> the documents that are asked for there: in the tree, or as a report of a role that only reads
_IN_TREE = {
    "Expanding": {"scaffolding/scope.md": documents.SCOPE},
    "Designing": {"scaffolding/design.md": documents.DESIGN},
    "Reconciling": {"scaffolding/reconcile.md": documents.RECONCILE},
    "Deploying": {"README.md": documents.README, "DELIVERY.md": documents.DELIVERY},
}
_REPORTS = {
    "Analyzing": {"readiness.md": documents.READINESS},
    "Reviewing": {"review.md": documents.REVIEW},
    "Verifying": {"verification.md": documents.VERIFICATION},
}


def _hand_in(agent: Inside) -> None:
    for name, text in _IN_TREE.get(agent.state, {}).items():
        agent.write(os.path.join(agent.tree, name), text)
    for name, text in _REPORTS.get(agent.state, {}).items():
        agent.write(os.path.join(agent.out, name), text)


def _begin(scene: Scene) -> None:
    for name in _SETUP:
        scene.ask("move", "--edge", name)
    write(os.path.join(scene.world.repo, "preferences.md"), documents.PREFERENCES)
    scene.ask("move", "--edge", "ConfigurePreferences")
    scene.world.commit("Set up")
    scene.ask("move", "--edge", "RequestBuild")
    until("Building")(scene)


def _finish(scene: Scene) -> None:
    """The person confirms the deployment once it is asked for, and the engine goes on."""
    scene.ask("approve", "--reason", "read it")
    scene.ask("run", "--once", expect=None)


def _to_the_end(scene: Scene) -> None:
    scene.let_loose("honest")
    _finish(scene)


WALK = Walk(
    Course(
        LIGHTS_OUT,
        work="Building",
        judge="Reviewing",
        end="PipelineComplete",
        believed=("BuildGatePassed", "Reviewing", "Reconciling", "Verifying", "Deploying", "PipelineComplete"),
    ),
    hand_in=_hand_in,
    begin=_begin,
    finish=_finish,
    stages={
        GREEN: (WORK, until("Reviewing")),
        "verifying": (GREEN, until("Verifying")),
        LAST: ("verifying", until("Deploying")),
        FINISHED: (LAST, _to_the_end),
    },
    files={"docs/input/brief.md": documents.BRIEF, documents.DEPLOY_FILE: documents.DEPLOY},
    is_long=True,
    has_two=False,
    needs="detect_secrets",
)
