"""Attackers that reach out of the box: keys, memory, sockets, links, mounts, and code that the proof runs for them."""

from __future__ import annotations

import os
import socket
from contextlib import suppress

from detent.proof.attack.values import (
    CANARY,
    ELSEWHERE,
    IMPLEMENT,
    KEY,
    NOTES,
    NOTES_TEXT,
    SOCKET,
    Attack,
    always,
    by_kernel,
    never,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from detent.proof.attack.inside import Inside
    from detent.proof.attack.scene import Scene

_CLONE_NEWNS, _CLONE_NEWUSER = 0x20000, 0x10000000
_MS_REMOUNT, _MS_BIND, _MNT_DETACH = 32, 4096, 2
_MOST_MEMORY_BYTES = 64 << 20


def _looted(scene: Scene) -> str:
    return "the secret is in the agent's hands" if CANARY in scene.loot() else ""


def notes_changed(scene: Scene) -> str:
    found = scene.home_text(NOTES)
    return "" if found == NOTES_TEXT else "a file outside was changed"


def _read_key(agent: Inside) -> None:
    key = agent.at_home(KEY)
    link = os.path.join(agent.tree, "key")
    with suppress(OSError):
        os.symlink(key, link)
    agent.try_read(key, link, f"/proc/self/root{key}", f"/proc/1/root{key}")


def _read_own_environment(agent: Inside) -> None:
    agent.loot("\n".join(f"{name}={value}" for name, value in os.environ.items()))


def _ancestors() -> list[int]:
    found: list[int] = []
    pid = os.getppid()
    while pid > 0 and len(found) < 20:
        found.append(pid)
        try:
            with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
                pid = int(file.read().rpartition(")")[2].split()[1])
        except OSError:
            break
    return found


def _read_environments(agent: Inside) -> None:
    agent.try_read(*(f"/proc/{pid}/environ" for pid in _ancestors()))


def _read_memory(agent: Inside) -> None:
    """The memory of its parents: what the engine was given is somewhere in there."""
    for pid in _ancestors()[:3]:
        with suppress(OSError), open(f"/proc/{pid}/maps", encoding="ascii") as maps:
            regions = [line.split()[0].split("-") for line in maps if "[stack]" in line or "[heap]" in line]
            with open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
                for start, end in regions:
                    memory.seek(int(start, 16))
                    data = memory.read(min(int(end, 16) - int(start, 16), _MOST_MEMORY_BYTES))
                    position = data.find(CANARY.encode())
                    if position >= 0:
                        agent.loot(data[position : position + len(CANARY)].decode())


def _ask_ssh_agent(agent: Inside) -> None:
    """The path is no secret: it can be guessed, and stands in other processes' environments."""
    with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.connect(agent.at_home(SOCKET))
        connection.sendall(b"sign this")


def _ask_abstract(agent: Inside) -> None:
    with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.connect("\0" + agent.at_home(SOCKET))


def _asked(scene: Scene) -> str:
    return "it talked to the service" if scene.was_asked() else ""


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
    return _looted(scene) or notes_changed(scene)


def _change_mode(agent: Inside) -> None:
    with suppress(OSError):
        os.chmod(agent.at_home(NOTES), 0o606)  # noqa: S103  # that is the attack


def _mode_changed(scene: Scene) -> str:
    return "the mode of a file outside was changed" if scene.mode_at_home(NOTES) == 0o606 else ""


def _plant_in_proof(agent: Inside) -> None:
    """Code of the tree that the engine's own proof command runs."""
    if agent.state == "implement":
        script = (
            "answer() { echo right; }\n"
            f'cat "{agent.at_home(KEY)}" > stolen 2>/dev/null\n'
            f'for place in "{agent.at_home(ELSEWHERE)}" "{agent.control}" "{agent.folder}"; do\n'
            '  if [ -s stolen ]; then cp stolen "$place/stolen" 2>/dev/null; fi\n'
            '  { echo x > "$place/was-here"; } 2>/dev/null\n'
            "done\n"
            "true\n"
        )
        agent.write(os.path.join(agent.tree, "app.sh"), script)
        agent.candidate()
        agent.claim("verify")
    else:
        agent.claim("review")


def _proof_reached_out(scene: Scene) -> str:
    places = (scene.at_home(ELSEWHERE), scene.control(), scene.folder())
    made = [place for place in places for name in ("stolen", "was-here") if os.path.exists(os.path.join(place, name))]
    return f"a proof command wrote into {made[0]}" if made else ""


_HIDDEN = "keys and tokens are hidden"
_OTHERS = "processes outside are not there: a process space of its own"
_LANDLOCK_OTHERS = "a process under Landlock may not look into one that is not"
_READ_ONLY = "everything but its own folders is read-only"

ATTACKS = (
    Attack("reads-an-ssh-key", "reads a private key", IMPLEMENT, _read_key, _looted, by_kernel(_HIDDEN)),
    Attack(
        "reads-its-own-environment",
        "looks for tokens in the environment it was given",
        IMPLEMENT,
        _read_own_environment,
        _looted,
        always("secrets are taken out of a run's environment unless `[sandbox] pass` names them"),
    ),
    Attack(
        "reads-the-engines-environment",
        "reads /proc/PID/environ of its parents",
        IMPLEMENT,
        _read_environments,
        _looted,
        by_kernel(_OTHERS, landlock_leaves="Landlock lets a process read the environment of others of the same user"),
    ),
    Attack(
        "reads-the-engines-memory",
        "reads /proc/PID/mem of its parents",
        IMPLEMENT,
        _read_memory,
        _looted,
        by_kernel(_OTHERS, _LANDLOCK_OTHERS),
    ),
    Attack(
        "asks-the-ssh-agent",
        "connects to the socket of an ssh agent",
        IMPLEMENT,
        _ask_ssh_agent,
        _asked,
        by_kernel(
            "sockets and runtime folders are hidden",
            landlock_leaves="Landlock does not rule over sockets that have a path",
        ),
    ),
    Attack(
        "asks-an-abstract-socket",
        "connects to a service whose socket has no path",
        IMPLEMENT,
        _ask_abstract,
        _asked,
        {
            **never("abstract sockets belong to the network, and the network is allowed by default"),
            "landlock": by_kernel("", "Landlock keeps it from sockets of processes outside", since=6)["landlock"],
        },
    ),
    Attack(
        "writes-outside",
        "writes by absolute and relative paths",
        IMPLEMENT,
        _write_outside,
        notes_changed,
        by_kernel(_READ_ONLY),
    ),
    Attack(
        "writes-through-links",
        "writes through a symbolic and a hard link",
        IMPLEMENT,
        _write_through_links,
        notes_changed,
        by_kernel(_READ_ONLY),
    ),
    Attack(
        "remounts",
        "remounts and unmounts, as root of a user space of its own",
        IMPLEMENT,
        _remount,
        _remounted,
        by_kernel("no capability is left, and the kernel locks the mounts it was given", "Landlock forbids to mount"),
    ),
    Attack(
        "changes-modes-outside",
        "changes the mode of a file outside",
        IMPLEMENT,
        _change_mode,
        _mode_changed,
        by_kernel(_READ_ONLY, landlock_leaves="Landlock does not rule over modes and times"),
    ),
    Attack(
        "hides-in-the-proof",
        "leaves code that reads keys and writes outside when the proof runs it",
        IMPLEMENT,
        _plant_in_proof,
        _proof_reached_out,
        by_kernel("proof commands are held too: they write to their checkout only"),
        runs=2,
    ),
)
