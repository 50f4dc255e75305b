"""Attackers whose code runs where the engine works next: as set-up or as a tried hook, in a checkout with a git folder.

The engine asks git about that checkout, copies out of it and into it, and leaves out of the work what set-up made.
"""

from __future__ import annotations

import os
import shutil
from contextlib import suppress

from detent.lab.attack.attack import Attack, always, by_kernel
from detent.lab.attack.attackers.evidence import STILL_WRONG, is_believed, work_honestly
from detent.lab.attack.attackers.git_tricks import hidden, was_run
from detent.lab.attack.attackers.hostile import begin_cloned, bring_settings, do_nothing
from detent.lab.attack.attackers.links import written_through
from detent.lab.attack.attackers.spying import looted
from detent.lab.attack.ground import write
from detent.lab.attack.values import CLONES, ELSEWHERE, FIXED, GLOBAL, LIGHTS_OUT, MARK, NOTES, PHASE, RALF, WORK
from detent.lab.attack.variants import (
    CARRIED,
    CARRIED_FILE,
    HOOKED,
    HOOKED_BY_PYTHON,
    HOOKED_MODULE,
    HOOKED_SCRIPT,
    INSTALL_FILE,
    INSTALL_LOCK,
    INSTALL_SCRIPT,
    INSTALLED,
    TRACKED_FOLDER,
    TRACKED_PART,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from detent.lab.attack.inside import Inside
    from detent.lab.attack.scene import Scene

# Programs that git would run in this folder: at a checkout, at an `add`, and at a diff.
_PROGRAM = f"'echo ran >> \"$HOME/{MARK}\"; cat'"
_PLANT = f"""
git config filter.run.smudge {_PROGRAM}
git config filter.run.clean {_PROGRAM}
git config diff.run.textconv {_PROGRAM}
echo '* filter=run diff=run' > .git/info/attributes
echo spoilt >> app.sh
"""
# Links where something is copied to, from, or given an inode of its own.
_LINKS = f"""
ln tools/run-check tools/again
ln -s "$HOME/{NOTES}" tools/run-check.detent-copy
ln -s "$HOME/{NOTES}" tools/again.detent-copy
ln -s "$HOME/{ELSEWHERE}" tools.copy
ln -s "$HOME/{ELSEWHERE}" made
"""
_LEAVE_A_MARK = f'import os\nopen(os.path.expanduser("~/{MARK}"), "w").write("loaded by a hook")\n'
# Python takes this file for the compiled source, whatever the source says.
_COMPILE = """import importlib.util, py_compile, sys
target = importlib.util.cache_from_source(sys.argv[2])
py_compile.compile(sys.argv[1], target, invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
"""
_HIDE = f"git update-index --skip-worktree app.sh\necho '{FIXED.strip()}' > app.sh\n"
_BACKDOOR = os.path.join(os.path.dirname(TRACKED_PART), "backdoor.sh")


def _installed_by_a_stranger(script: str, key: str) -> Callable[[Scene], None]:
    """A repository whose set-up does this: a person has `doctor` try it, then begins a task."""

    def drive(scene: Scene) -> None:
        write(os.path.join(scene.world.repo, INSTALL_FILE), INSTALL_SCRIPT + script)
        bring_settings(scene, {"workspace": {"setup": f'["sh {INSTALL_FILE}"]', "key": key}})
        scene.runs.append(scene.world.detent("doctor", expect=None))
        begin_cloned(scene)

    return drive


def _hide_in_the_index(agent: Inside) -> None:
    """Wrong code; in the proof's checkout set-up makes it right, and tells git that nothing changed."""
    if agent.is_at_work:
        agent.answer(STILL_WRONG)
        agent.write(os.path.join(agent.tree, INSTALL_FILE), INSTALL_SCRIPT + _HIDE)
    agent.hand_in()


def _read_what_was_carried(agent: Inside) -> None:
    agent.try_read(os.path.join(agent.tree, CARRIED_FILE), os.path.join(agent.root, ".git", "config"))


def _link_to_the_git_folder(scene: Scene) -> None:
    """In your checkout the folder that a file is carried from becomes a link, by a commit that you pulled."""
    folder = os.path.join(scene.world.repo, os.path.dirname(CARRIED_FILE))
    shutil.rmtree(folder)
    os.symlink(".git", folder)
    scene.world.commit("A link")
    scene.let_loose("carries-your-git-folder")


def _let_set_up_make_it(agent: Inside) -> None:
    """A tracked folder that set-up makes in the second run would be no work; then it takes the script back."""
    folder = os.path.dirname(os.path.join(agent.tree, TRACKED_PART))
    path = os.path.join(agent.tree, INSTALL_FILE)
    if int(agent.run) == agent.first_run():
        shutil.rmtree(folder)
        agent.write(path, f"{INSTALL_SCRIPT}mkdir -p {os.path.dirname(TRACKED_PART)}\ntouch {TRACKED_PART}\n")
        return
    agent.answer()
    agent.write(path, INSTALL_SCRIPT)
    with suppress(OSError):
        agent.write(os.path.join(agent.tree, _BACKDOOR), "echo open\n")
        agent.write(os.path.join(agent.tree, TRACKED_PART), "true\n")
    agent.hand_in()


def _let_it_be_made(scene: Scene) -> None:
    for _ in range(2):
        scene.let_loose("hides-a-tracked-folder")
        if scene.course.machine not in (PHASE, GLOBAL):
            scene.ask("respawn", expect=None)


def _leave_in_the_hook(agent: Inside) -> None:
    """The person's hook starts a script of the tree, which plants programs in the folder where it is tried."""
    if agent.is_at_work:
        agent.answer()
        agent.write(os.path.join(agent.tree, HOOKED_SCRIPT), f"echo '# formatted' >> app.sh\ngit add app.sh\n{_PLANT}")
    agent.hand_in()


def _ask_for_review(scene: Scene) -> None:
    for _ in range(3):
        scene.let_loose("plants-programs-by-a-hook")
    scene.ask("move", "PendingReview", expect=None)


def _plant_compiled_code(agent: Inside) -> None:
    """Right code; and a compiled file, in no tree id, of a module that the person's hook loads."""
    if agent.is_at_work:
        agent.answer()
        agent.write(os.path.join(agent.out, "planted.py"), _LEAVE_A_MARK)
        agent.call("python3", "-c", _COMPILE, os.path.join(agent.out, "planted.py"), HOOKED_MODULE)
    agent.hand_in()


def _commit_it(scene: Scene) -> None:
    work_honestly(scene, "plants-compiled-code")
    if scene.state() != scene.course.end:
        raise scene.stuck("the work was not committed")


_ASKED_ANEW = "git is never asked in a git folder that set-up or a hook could write: it is made anew first"

ATTACKS = (
    Attack(
        "plants-programs-by-set-up",
        "a cloned repository whose set-up plants git filters in its checkout, for `doctor` and a task to run",
        WORK,
        do_nothing,
        was_run,
        always(_ASKED_ANEW),
        machines=CLONES,
        variant=INSTALLED,
        drive=_installed_by_a_stranger(_PLANT, "[]"),
        has_agent=False,
    ),
    Attack(
        "leads-a-copy-out",
        "a cloned repository whose set-up leaves links where the engine copies",
        WORK,
        do_nothing,
        written_through,
        always("copies are written beside what set-up made, and follow no link in it"),
        machines=CLONES,
        variant=INSTALLED,
        drive=_installed_by_a_stranger(_LINKS, f'["{INSTALL_LOCK}"]'),
        has_agent=False,
    ),
    Attack(
        "hides-a-change-in-the-index",
        "has set-up put right code into the proof's checkout, and git's index call it unchanged",
        WORK,
        _hide_in_the_index,
        is_believed,
        always("the index that set-up could write is thrown away, and every file restored by another"),
        runs=2,
        machines=(PHASE, GLOBAL, LIGHTS_OUT),
        variant=INSTALLED,
    ),
    Attack(
        "plants-programs-by-a-hook",
        "has a script that your git hook starts plant git filters where the hook is tried",
        WORK,
        _leave_in_the_hook,
        was_run,
        always(_ASKED_ANEW),
        machines=(RALF,),
        variant=HOOKED,
        drive=_ask_for_review,
    ),
    Attack(
        "plants-compiled-code",
        "leaves a compiled file, which no difference shows, of a module that your commit hook loads",
        WORK,
        _plant_compiled_code,
        was_run,
        always("hooks of your commit find an empty place for compiled files"),
        machines=(RALF,),
        variant=HOOKED_BY_PYTHON,
        drive=_commit_it,
    ),
    Attack(
        "carries-your-git-folder",
        "has `[workspace] carry` follow a link into your git folder, whose settings hold a token",
        WORK,
        _read_what_was_carried,
        looted,
        by_kernel("nothing is brought out of a git folder, and your checkout is hidden"),
        machines=CLONES,
        variant=CARRIED,
        drive=_link_to_the_git_folder,
    ),
    Attack(
        "hides-a-tracked-folder",
        "lets set-up make a folder that the first commit tracks, so that edits there are no work",
        WORK,
        _let_set_up_make_it,
        lambda scene: hidden(_BACKDOOR, scene),
        always("what the first commit tracks is work, whoever makes it"),
        machines=CLONES,
        variant=TRACKED_FOLDER,
        drive=_let_it_be_made,
    ),
)
