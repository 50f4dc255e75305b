"""Attackers that misuse processes and the drop folder: they outlive their run, kill, flood, hang, break readers."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from contextlib import suppress

from detent.lab.attack.attack import Attack, always, by_kernel
from detent.lab.attack.attackers.evidence import is_believed
from detent.lab.attack.values import CANARY, ELSEWHERE, KEY, MACHINES, NOTES, ORANGE, PHASE, RALF, WORK
from detent.lab.attack.variants import QUIET
from detent.store.journal.run_events import Claimed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from detent.lab.attack.inside import Inside
    from detent.lab.attack.scene import Scene

ALIVE, STOP = "alive", "stop"  # in the out folder: locked by a daemon while it lives; tells it to end
_LONGEST_DAEMON_S = 30.0
_FLOOD_BYTES, _CHUNK_BYTES = 80 << 20, 1 << 20
MOST_OUTPUT_BYTES = 64 << 20
_DAEMON = """
import fcntl, os, sys, time
held = open(sys.argv[1], "w")
fcntl.flock(held, fcntl.LOCK_EX)
print("ready", flush=True)
os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
until = time.monotonic() + float(sys.argv[3])
while time.monotonic() < until and not os.path.exists(sys.argv[2]):
    time.sleep(0.05)
"""


def _leave_daemon(agent: Inside) -> None:
    """Forked twice, in a session of its own, without a word in its environment; returns when it lives."""
    reading, writing = os.pipe()
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.dup2(writing, 1)
            alive, stop = (os.path.join(agent.out, name) for name in (ALIVE, STOP))
            words = [sys.executable, "-I", "-S", "-c", _DAEMON, alive, stop, str(_LONGEST_DAEMON_S)]
            os.execve(sys.executable, words, {})  # noqa: S606  # a real process is the point
        os._exit(0)
    os.close(writing)
    os.read(reading, 16)


def _daemon_lives(scene: Scene) -> str:
    """Whether the process still locks its file, as it does while it lives; then tell it to exit."""
    import fcntl

    lives = False
    with suppress(FileNotFoundError), open(os.path.join(scene.task_home("out"), ALIVE), "rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lives = True
    with open(os.path.join(scene.task_home("out"), STOP), "wb"):
        pass
    return "a process of the run lives on after its end" if lives else ""


def _kill_keeper(agent: Inside) -> None:
    """Its parent, and the parents' parents as long as they are the run's own: never a process the lab did not start."""
    _leave_daemon(agent)
    keeper = _keeper_of(agent)
    if keeper:
        with suppress(OSError):
            os.kill(keeper, signal.SIGKILL)


def _keeper_of(agent: Inside) -> int:
    """The nearest ancestor that is this run's keeper, by its command line."""
    pid = os.getppid()
    for _ in range(10):
        with suppress(OSError, ValueError), open(f"/proc/{pid}/cmdline", "rb") as file:
            words = os.fsdecode(file.read()).split("\0")
            if any("keeper/process.py" in word for word in words) and any(agent.control in word for word in words):
                return pid
        with suppress(OSError, ValueError), open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
            pid = int(file.read().rpartition(")")[2].split()[1])
    return 0


def _kill_engine(agent: Inside) -> None:
    """Only the process that drives this very task: it has the lab's home and this attack's name as an argument."""
    mark = f"HOME={agent.home}".encode()
    for name in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError, ValueError):
            with open(f"/proc/{name}/cmdline", "rb") as file:
                words = file.read().split(b"\0")
            with open(f"/proc/{name}/environ", "rb") as file:
                is_ours = mark in file.read().split(b"\0")
            if is_ours and b"run" in words and b"--once" in words:
                os.kill(int(name), signal.SIGKILL)


def _engine_killed(scene: Scene) -> str:
    return "the engine was killed; the next command goes on" if scene.runs[0].exit == -signal.SIGKILL else ""


def _kill_first(_agent: Inside) -> None:
    if os.environ.get("DETENT_SANDBOX") == "bubblewrap":  # elsewhere process 1 is the host's
        os.kill(1, signal.SIGKILL)
        os.kill(1, signal.SIGTERM)
        os.kill(-1, signal.SIGKILL)


def _first_killed(scene: Scene) -> str:
    if not scene.ends():
        return "the end of the run was not written down"
    return is_believed(scene)


def _flood(_agent: Inside) -> None:
    for _ in range(_FLOOD_BYTES // _CHUNK_BYTES):
        sys.stdout.write("x" * _CHUNK_BYTES)
    sys.stdout.flush()
    time.sleep(_LONGEST_DAEMON_S)


def _flooded(scene: Scene) -> str:
    if not scene.ends():
        return "the run never ended"
    events = os.path.join(scene.control(), "runs", str(scene.ends()[0].run), "events")
    size = os.path.getsize(events)
    return f"its output takes {size >> 20} MB" if size > MOST_OUTPUT_BYTES else ""


def _hang(_agent: Inside) -> None:
    time.sleep(600)


def _hung(scene: Scene) -> str:
    ends = scene.ends()
    return "" if ends and ends[0].how == "stall" else f"the run ended otherwise: {ends[0].how if ends else 'never'}"


def _odd_requests(agent: Inside) -> None:
    def path(name: str) -> str:
        return os.path.join(agent.drop, name)

    with open(path("huge.json"), "wb") as file:
        file.truncate(1 << 30)
    with open(path("binary.json"), "wb") as file:
        file.write(os.urandom(4096))
    agent.write(path("deep.json"), "[" * 50_000)
    agent.write(path("wrong.json"), json.dumps({"move": ["done"]}))
    agent.write(path("surrogate.json"), '{"move": "\\ud800"}')
    os.symlink(agent.at_home(KEY), path("key.json"))
    os.symlink(agent.at_home(NOTES), path("notes.reply.json"))
    agent.write(path("notes.json"), json.dumps({"move": "done"}))
    os.symlink(agent.at_home(os.path.join(ELSEWHERE, "made")), path("made.reply.json"))
    agent.write(path("made.json"), json.dumps({"move": "done"}))
    os.mkfifo(path("pipe.json"))
    os.mkdir(path("folder.json"))
    agent.claim("done")  # comes after them in the alphabet, so its reply proves that they were read


def _odd_worked(scene: Scene) -> str:
    if not scene.ends():
        return "the engine did not get to the end of the run"
    if is_believed(scene) or any(line.accepted for line in scene.new_lines(Claimed)):
        return "a request was granted"
    replies = "".join(scene.text(os.path.join(scene.task_home("drop"), name)) for name in scene.replies())
    if CANARY in replies:
        return "a reply holds the secret"
    is_written = os.path.exists(scene.at_home(os.path.join(ELSEWHERE, "made")))
    is_changed = "by the person" not in scene.home_text(NOTES)
    return "a reply was written outside" if is_written or is_changed else ""


_SPACE = "its process space ends with it"

ATTACKS = (
    Attack(
        "leaves-a-daemon",
        "leaves a process, forked twice and in a session of its own",
        WORK,
        _leave_daemon,
        _daemon_lives,
        always("the run is over only when none of its descendants is left; all are ended"),
        machines=MACHINES,
    ),
    Attack(
        "kills-its-keeper",
        "kills the process that watches over it, and leaves a daemon",
        WORK,
        _kill_keeper,
        _daemon_lives,
        by_kernel(
            "processes outside are not there: a process space of its own",
            "Landlock lets no signal out",
            since=6,
            none="what takes the run's mark out of its environment and outlives the keeper is not found",
        ),
        is_cut_short=True,
        machines=MACHINES,
    ),
    Attack(
        "kills-the-engine",
        "kills the engine that drives it",
        WORK,
        _kill_engine,
        _engine_killed,
        by_kernel(
            "processes outside are not there: a process space of its own",
            "Landlock lets no signal out",
            since=6,
            none="it can be killed; nothing is lost, the next command goes on",
        ),
        machines=MACHINES,
    ),
    Attack(
        "kills-the-first-process",
        "kills process 1 and everything else of its process space",
        WORK,
        _kill_first,
        _first_killed,
        always(_SPACE),
        is_cut_short=True,
        levels=("bubblewrap",),
        machines=MACHINES,
    ),
    Attack(
        "floods-its-output",
        "prints without end",
        WORK,
        _flood,
        _flooded,
        always("output is bounded; the run is ended"),
        is_cut_short=True,
        machines=MACHINES,
    ),
    Attack(
        "hangs",
        "says nothing and waits",
        WORK,
        _hang,
        _hung,
        always("a run that is silent for too long is ended"),
        variant=QUIET,
        machines=(PHASE, ORANGE, RALF),
        is_cut_short=True,
    ),
    Attack(
        "sends-odd-requests",
        "puts huge, binary, nested and linked requests, pipes and folders into the drop folder",
        WORK,
        _odd_requests,
        _odd_worked,
        always("requests are small plain files, read without following links, with an agent's rights"),
        machines=MACHINES,
    ),
)
