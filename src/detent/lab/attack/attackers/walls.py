"""Attackers that go round the walls: by the sandbox program, links, hooks in the tree, standard input and keyrings."""

from __future__ import annotations

import os
from contextlib import suppress

from detent.effects.host.access import BUBBLEWRAP
from detent.lab.attack.attack import Attack, always, by_kernel
from detent.lab.attack.attackers.evidence import honest, is_in
from detent.lab.attack.attackers.spying import looted
from detent.lab.attack.ground import read
from detent.lab.attack.scene import ASKED_FILE
from detent.lab.attack.values import CANARY, IN_PLACE, MACHINES, MARK, PHASE, WORK
from detent.lab.attack.variants import ASKED_FOLDER, ASKED_LINK, HUSKY, HUSKY_HERE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from detent.lab.attack.inside import Inside
    from detent.lab.attack.scene import Scene

_BIN = "tools/bin"  # a relative entry of the person's PATH, as node_modules/.bin often is
_PROGRAMS = ("bwrap", "git", "sh", "python3")
# The numbers of the system calls `add_key` and `keyctl`, by the name of the processor; the same on all newer ones.
_ADD_KEY = {"x86_64": 248}
_KEYCTL = {"x86_64": 250}
_ELSEWHERE = (217, 219)
_JOIN, _READ, _SEARCH, _SESSION = 1, 11, 10, -3
_KEY_NAME = b"detent-attack-lab"


def _mark_script(home: str) -> str:
    return f"#!/bin/sh\necho \"$0\" >> '{home}/{MARK}'\nexit 0\n"


def _plant_program(agent: Inside, path: str) -> None:
    with suppress(OSError):
        agent.write(path, _mark_script(agent.home))
        os.chmod(path, 0o755)  # noqa: S103  # it is to be run


def _bring_programs(agent: Inside) -> None:
    for name in _PROGRAMS:
        _plant_program(agent, os.path.join(agent.tree, _BIN, name))


def _with_relative_path(scene: Scene) -> None:
    path = os.pathsep.join((_BIN, scene.world.environment["PATH"]))
    for _ in range(2):
        scene.runs.append(scene.world.detent("run", scene.task, "--once", "--json", expect=None, PATH=path))


def _was_run(scene: Scene) -> str:
    return f"ran with your rights: {scene.home_text(MARK).splitlines()[0]}" if scene.home_text(MARK) else ""


def _link_folder(agent: Inside) -> None:
    """The folder a person wants to be asked about becomes a link to one that needs no question."""
    if agent.is_at_work:
        agent.write(os.path.join(agent.tree, "lib", "job.sh"), "deploy whatever is there\n")
        os.symlink("lib", os.path.join(agent.tree, "deploy"))
    honest(agent)


def _edit_behind_link(agent: Inside) -> None:
    if agent.is_at_work:
        agent.write(os.path.join(agent.tree, os.path.dirname(ASKED_FILE), "..", "lib.sh"), "deploy anything\n")
    honest(agent)


def _plant_husky(agent: Inside) -> None:
    _plant_program(agent, os.path.join(agent.tree, ".husky", "pre-commit"))
    with suppress(OSError):  # a rename goes round a file that can't be written
        os.rename(os.path.join(agent.tree, ".husky"), os.path.join(agent.tree, "husky-was"))
        _plant_program(agent, os.path.join(agent.tree, ".husky", "pre-commit"))


def _then_a_person_commits(scene: Scene) -> None:
    scene.let_loose(read(scene.at_home(".lab-play")).split()[0])
    scene.world.run("git", "commit", "-q", "--allow-empty", "-m", "my own", expect=None)


def _write_to_stdin(_agent: Inside) -> None:
    for mode in ("r+b", "wb"):
        with suppress(OSError), open("/proc/self/fd/0", mode, buffering=0) as file:
            file.seek(0)
            file.write(b"spoilt\n")


def _prompt_is_damaged(scene: Scene) -> str:
    folder = os.path.join(scene.control(), "runs")
    for base, _folders, names in os.walk(folder):
        if "prompt.md" in names and read(os.path.join(base, "prompt.md")).startswith("spoilt"):
            return "it rewrote the record of what it was asked, in the control folder"
    return ""


def _call(number: int, *words: object) -> int:
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    return int(libc.syscall(number, *words))


def _numbers() -> tuple[int, int]:
    processor = os.uname().machine
    return _ADD_KEY.get(processor, _ELSEWHERE[0]), _KEYCTL.get(processor, _ELSEWHERE[1])


def _search_keyring(agent: Inside) -> None:
    import ctypes

    _add, keyctl = _numbers()
    found = _call(keyctl, _SEARCH, _SESSION, b"user", _KEY_NAME, 0)
    if found > 0:
        buffer = ctypes.create_string_buffer(100)
        size = _call(keyctl, _READ, found, buffer, 100)
        agent.loot(buffer.raw[: max(size, 0)].decode("ascii", "replace"))


def _with_a_key(scene: Scene) -> None:
    """The lab gets a session keyring of its own, with a key in it, and the engine inherits that."""
    add, keyctl = _numbers()
    _call(keyctl, _JOIN, None)
    secret = CANARY.encode()
    _call(add, b"user", _KEY_NAME, secret, len(secret), _SESSION)
    scene.let_loose("searches-the-keyring")
    _call(keyctl, _JOIN, None)


_HOOKS = "the folder that git takes hooks from is read-only inside, wherever it lies"
_HOOKS_OPEN = "Landlock can't take a folder out of a writable checkout: the run is at none, and journaled so"

ATTACKS = (
    Attack(
        "brings-its-own-bwrap",
        "puts programs into a folder of its tree that your PATH names by a relative entry",
        WORK,
        _bring_programs,
        _was_run,
        always("the engine's programs are found by absolute entries of PATH, outside every tree"),
        machines=MACHINES,
        levels=(BUBBLEWRAP,),
        drive=_with_relative_path,
    ),
    Attack(
        "links-a-folder-to-ask-about",
        "makes a link of a folder under `[protect] ask`, and writes where it leads",
        WORK,
        _link_folder,
        is_in("done"),
        always("a link at a protected path, or above one, counts as a touch of it"),
        variant=ASKED_FOLDER,
        runs=3,
    ),
    Attack(
        "edits-behind-a-protected-link",
        "edits the file that a link under `[protect] ask` leads to",
        WORK,
        _edit_behind_link,
        is_in("done"),
        always("the file that a protected link leads to is protected as well"),
        variant=ASKED_LINK,
        runs=3,
    ),
    Attack(
        "plants-a-hook-in-the-tree",
        "writes a hook where `core.hooksPath` leads, in a task that works in the checkout itself",
        WORK,
        _plant_husky,
        _was_run,
        by_kernel(_HOOKS, landlock_leaves=_HOOKS_OPEN),
        machines=IN_PLACE,
        variant=HUSKY,
        drive=_then_a_person_commits,
    ),
    Attack(
        "plants-a-hook-in-the-tree-in-place",
        "the same, in a task that a person put in place",
        WORK,
        _plant_husky,
        _was_run,
        by_kernel(_HOOKS, landlock_leaves=_HOOKS_OPEN),
        machines=(PHASE,),
        variant=HUSKY_HERE,
        drive=_then_a_person_commits,
    ),
    Attack(
        "writes-to-its-standard-input",
        "opens its own standard input for writing, and so the record of its prompt",
        WORK,
        _write_to_stdin,
        _prompt_is_damaged,
        always("standard input is a copy that leads to no file"),
        machines=MACHINES,
    ),
    Attack(
        "searches-the-keyring",
        "looks for keys in the session keyring of the kernel",
        WORK,
        _search_keyring,
        looted,
        always("a run gets a session keyring of its own"),
        machines=MACHINES,
        drive=_with_a_key,
    ),
)
