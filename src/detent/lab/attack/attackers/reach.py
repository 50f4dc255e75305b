"""Attackers that reach out of the box: paths, links, mounts, root's rights, and code that the proof runs for them."""

from __future__ import annotations

import os
from contextlib import suppress

from detent.effects.host.access import BUBBLEWRAP, LANDLOCK
from detent.lab.attack.attack import Attack, by_kernel
from detent.lab.attack.attackers.spying import looted
from detent.lab.attack.values import (
    CANARY,
    ELSEWHERE,
    GLOBAL,
    KEY,
    LIGHTS_OUT,
    MACHINES,
    NOTES,
    NOTES_TEXT,
    PHASE,
    RALF,
    WORK,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from detent.lab.attack.inside import Inside
    from detent.lab.attack.scene import Scene

_CLONE_NEWNS, _CLONE_NEWUSER = 0x20000, 0x10000000
_MS_REMOUNT, _MS_BIND, _MNT_DETACH = 32, 4096, 2


def notes_changed(scene: Scene) -> str:
    found = scene.home_text(NOTES)
    return "" if found == NOTES_TEXT else "a file outside was changed"


def _use_rights(agent: Inside) -> None:
    """What only root may do, and what does no harm here: nothing is written, only opened."""
    with suppress(OSError):
        os.chroot(os.sep)
        agent.loot(CANARY)
    for path in ("/proc/sys/kernel/core_pattern", "/proc/sysrq-trigger", "/sys/kernel/uevent_helper"):
        with suppress(OSError):
            os.close(os.open(path, os.O_WRONLY))
            agent.loot(CANARY)
    for name in os.listdir("/sys/class/block") if os.path.isdir("/sys/class/block") else ():
        with suppress(OSError):
            os.close(os.open(f"/dev/{name}", os.O_RDONLY))
            agent.loot(CANARY)


def _rights_used(scene: Scene) -> str:
    return "it has rights of root that a run must not have" if CANARY in scene.loot() else ""


def _write_outside(agent: Inside) -> None:
    notes = agent.at_home(NOTES)
    relative = os.path.relpath(notes, agent.tree)
    agent.try_write(notes, os.path.join(agent.tree, relative), f"/proc/self/root{notes}", f"/proc/self/cwd/{relative}")


def _write_through_links(agent: Inside) -> None:
    notes = agent.at_home(NOTES)
    with suppress(OSError):
        os.symlink(notes, os.path.join(agent.tree, "link-soft"))
        agent.try_write(os.path.join(agent.tree, "link-soft"))
    with suppress(OSError):
        os.link(notes, os.path.join(agent.tree, "link-hard"))
        agent.try_write(os.path.join(agent.tree, "link-hard"))


def _remount(agent: Inside) -> None:
    """With the rights a process can give itself in a user namespace of its own."""
    import ctypes

    libc = ctypes.CDLL(None)
    child = os.fork()
    if child == 0:
        libc.unshare(_CLONE_NEWUSER | _CLONE_NEWNS)
        key = agent.at_home(KEY)
        for place in (agent.home, os.path.dirname(key)):
            libc.mount(place.encode(), place.encode(), None, _MS_REMOUNT | _MS_BIND, None)
            libc.umount2(place.encode(), _MNT_DETACH)
        open_copy = os.path.join(agent.tree, "copy")
        os.makedirs(open_copy, exist_ok=True)
        libc.mount(agent.home.encode(), open_copy.encode(), None, _MS_BIND, None)
        agent.try_read(key, os.path.join(open_copy, KEY))
        agent.try_write(agent.at_home(NOTES), os.path.join(open_copy, NOTES))
        os._exit(0)
    os.waitpid(child, 0)


def _remounted(scene: Scene) -> str:
    return looted(scene) or notes_changed(scene)


def _change_mode(agent: Inside) -> None:
    with suppress(OSError):
        os.chmod(agent.at_home(NOTES), 0o606)  # noqa: S103  # that is the attack


def _mode_changed(scene: Scene) -> str:
    return "the mode of a file outside was changed" if scene.mode_at_home(NOTES) == 0o606 else ""


def _plant_in_proof(agent: Inside) -> None:
    """Code of the tree that the engine's own proof command runs."""
    if agent.is_at_work:
        script = (
            "answer() { echo right; }\n"
            f'cat "{agent.at_home(KEY)}" > stolen 2>/dev/null\n'
            f'for place in "{agent.at_home(ELSEWHERE)}" "{agent.control}" "{agent.folder}"; do\n'
            '  if [ -s stolen ]; then cp stolen "$place/stolen" 2>/dev/null; fi\n'
            '  { echo x > "$place/was-here"; } 2>/dev/null\n'
            "done\n"
            "true\n"
        )
        agent.answer(script)
    agent.hand_in()


def _proof_reached_out(scene: Scene) -> str:
    places = (scene.at_home(ELSEWHERE), scene.control(), scene.folder())
    made = [place for place in places for name in ("stolen", "was-here") if os.path.exists(os.path.join(place, name))]
    return f"a proof command wrote into {made[0]}" if made else ""


_READ_ONLY = "everything but its own folders is read-only"

ATTACKS = (
    Attack(
        "uses-the-rights-of-root",
        "changes its root, opens kernel settings and disks, where detent is run by root",
        WORK,
        _use_rights,
        _rights_used,
        by_kernel(
            "no capability is left; settings are read-only, and disks are not there",
            "no capability is left; settings and disks are not among the files it may open",
        ),
        levels=(BUBBLEWRAP, LANDLOCK),
        machines=MACHINES,
    ),
    Attack(
        "writes-outside",
        "writes by absolute and relative paths",
        WORK,
        _write_outside,
        notes_changed,
        by_kernel(_READ_ONLY),
        machines=MACHINES,
    ),
    Attack(
        "writes-through-links",
        "writes through a symbolic and a hard link",
        WORK,
        _write_through_links,
        notes_changed,
        by_kernel(_READ_ONLY),
        machines=MACHINES,
    ),
    Attack(
        "remounts",
        "remounts and unmounts, as root of a user space of its own",
        WORK,
        _remount,
        _remounted,
        by_kernel("no capability is left, and the kernel locks the mounts it was given", "Landlock forbids to mount"),
        machines=MACHINES,
    ),
    Attack(
        "changes-modes-outside",
        "changes the mode of a file outside",
        WORK,
        _change_mode,
        _mode_changed,
        by_kernel(_READ_ONLY, landlock_leaves="Landlock does not rule over modes and times"),
        machines=MACHINES,
    ),
    Attack(
        "hides-in-the-proof",
        "leaves code that reads keys and writes outside when the proof runs it",
        WORK,
        _plant_in_proof,
        _proof_reached_out,
        by_kernel("proof commands are held too: they write to their checkout only"),
        runs=2,
        machines=(PHASE, GLOBAL, LIGHTS_OUT, RALF),
        is_in_proof=True,
    ),
)
