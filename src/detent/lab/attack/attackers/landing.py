"""Attackers of the last step: work that lands past the checks of its new home, and work that is removed unlanded."""

from __future__ import annotations

import os

from detent.lab.attack.attack import Attack, always
from detent.lab.attack.attackers.control import append_line
from detent.lab.attack.attackers.evidence import STILL_WRONG, hand_in_wrong, honest, work_honestly
from detent.lab.attack.ground import read, write
from detent.lab.attack.scene import CHECK_FILE
from detent.lab.attack.values import CLONES, FINISHED, MAIN, NOTES_TEXT, ORANGE, PHASE, WORK
from detent.lab.attack.variants import PROTECTED
from detent.store.journal.events import Landed, tree_seen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from detent.lab.attack.inside import Inside
    from detent.lab.attack.scene import Scene

_PRIVATE = "private.txt"  # in your checkout, in no commit
_STRICTER = '. ./app.sh\ntest "$(answer)" = "very right"\n'


def _land(scene: Scene) -> None:
    scene.ask("land", expect=None)


def _check_got_stricter(scene: Scene) -> None:
    """The branch that receives the work has another check by now, which this work does not pass."""
    write(os.path.join(scene.world.repo, CHECK_FILE), _STRICTER)
    scene.world.commit("A stricter check")
    _land(scene)


def _merged_by_hand(scene: Scene) -> None:
    """The person merges by hand, and the merge breaks what was proven."""
    scene.world.run("git", "merge", "-q", "--no-edit", f"{scene.course.machine}/{MAIN}")
    write(os.path.join(scene.world.repo, "app.sh"), STILL_WRONG)
    scene.world.run("git", "commit", "-q", "-a", "--amend", "--no-edit")
    _land(scene)


def _red_and_signed(scene: Scene) -> None:
    for _ in range(2):
        scene.let_loose("lands-red-code")
    scene.ask("approve", expect=None)
    _land(scene)


def _is_landed(scene: Scene) -> str:
    return "red work counts as landed" if scene.new_lines(Landed) else ""


def _forge(scene: Scene) -> None:
    """As a process with your rights would: one line, its hash right."""
    tree = next(tree for line in reversed(scene.journal()) if (tree := tree_seen(line)))
    landing = {"kind": "landed", "by": "person", "name": "lab", "how": "merge", "commit": "0" * 40, "branch": "main"}
    append_line(scene.control(), {**landing, "tree": tree, "judged_by": tree, "receipts": {}})
    scene.world.detent("gc", expect=None)


def _undone(scene: Scene) -> None:
    """The person takes the landing back."""
    before = scene.world.run("git", "rev-parse", "HEAD").stdout.decode().strip()
    scene.ask("land")
    scene.world.run("git", "reset", "-q", "--hard", before)
    scene.world.detent("gc", expect=None)


def _work_is_gone(scene: Scene) -> str:
    branch = scene.world.run("git", "rev-parse", "-q", "--verify", f"{scene.course.machine}/{MAIN}", expect=None)
    return "" if os.path.isdir(scene.tree()) and branch.exit == 0 else "gc removed work that is in no branch of yours"


def _is_believed_or_gone(scene: Scene) -> str:
    if gone := _work_is_gone(scene):
        return gone
    return "a landing that never was, and its audit finds nothing" if scene.audit_ok() else ""


def _add_an_ignored_file(agent: Inside) -> None:
    if agent.is_at_work:
        agent.answer()
        agent.write(os.path.join(agent.tree, _PRIVATE), "written by the agent\n")
    agent.hand_in()


def _land_on_an_ignored_file(scene: Scene) -> None:
    """The person has a file of that name, and ignores it for themselves."""
    write(os.path.join(scene.world.repo, ".git", "info", "exclude"), f"{_PRIVATE}\n")
    write(os.path.join(scene.world.repo, _PRIVATE), NOTES_TEXT)
    work_honestly(scene, "lands-on-an-ignored-file")
    if scene.state() != scene.course.end:
        raise scene.stuck("the work that is to be landed was not finished")
    _land(scene)


def _is_overwritten(scene: Scene) -> str:
    text = read(os.path.join(scene.world.repo, _PRIVATE))
    return f"a file that you ignore was overwritten: {text[:40]}" if text not in ("", NOTES_TEXT) else ""


_RECEIVER = "land proves the merged tree with the checks of the branch that receives it"
_ANCESTRY = "`gc` asks git whether the work is in a branch, and `audit` replays every landing"

ATTACKS = (
    Attack(
        "lands-past-a-stricter-check",
        "lands work on a branch whose protected check has become stricter",
        FINISHED,
        honest,
        _is_landed,
        always(_RECEIVER),
        machines=CLONES,
        variant=PROTECTED,
        drive=_check_got_stricter,
        has_agent=False,
        control="honest-landing",
    ),
    Attack(
        "lands-a-broken-merge",
        "a merge made by hand breaks the work, and `land` is asked to count it",
        FINISHED,
        honest,
        _is_landed,
        always("a merge made by hand is proven like any other before it counts as landed"),
        machines=CLONES,
        drive=_merged_by_hand,
        has_agent=False,
        control="honest-landing",
    ),
    Attack(
        "lands-red-code",
        "a worker and a reviewer agree on red code, and a person signs it",
        WORK,
        hand_in_wrong,
        _is_landed,
        always(_RECEIVER),
        machines=(ORANGE,),
        drive=_red_and_signed,
    ),
    Attack(
        "lands-on-an-ignored-file",
        "adds a file under the name of one that you ignore, for `land` to write over it",
        WORK,
        _add_an_ignored_file,
        _is_overwritten,
        always("`land` overwrites nothing that is not committed, ignored or not"),
        machines=(PHASE, ORANGE),
        drive=_land_on_an_ignored_file,
    ),
    Attack(
        "forges-a-landing",
        "appends a landing to the journal, its hash made right, and waits for `gc`",
        FINISHED,
        honest,
        _is_believed_or_gone,
        always(_ANCESTRY),
        machines=CLONES,
        drive=_forge,
        has_agent=False,
        control="honest-landing",
    ),
    Attack(
        "collects-what-was-taken-back",
        "a landing that a person has taken back, and then `gc`",
        FINISHED,
        honest,
        _work_is_gone,
        always(_ANCESTRY),
        machines=CLONES,
        drive=_undone,
        has_agent=False,
        control="honest-landing",
    ),
)

CONTROLS = (
    Attack(
        "honest-landing",
        "finished work lands, `gc` removes what it left, and the audit holds",
        FINISHED,
        honest,
        lambda scene: "" if os.path.isdir(scene.tree()) or not scene.audit_ok() else "landed and collected",
        always("nothing should stop it"),
        machines=CLONES,
        drive=lambda scene: (scene.ask("land"), scene.world.detent("gc"), None)[-1],
        has_agent=False,
    ),
)
