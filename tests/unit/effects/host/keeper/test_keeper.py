"""Tests of the keeper with real programs: every way to end, every bound, and that nothing is left behind."""

from __future__ import annotations

import errno
import os
import re
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from detent.effects.host.keeper import process as keeper_process
from detent.effects.host.keeper.look import exit_class, look
from detent.effects.host.keeper.start import finish, spawn, stop, void
from detent.errors import DetentError, RefusedError, StorageError, UsageError
from tests.keyring import reader
from tests.unit.effects.host.keeper.keeper_runs import (
    DAEMON,
    WAIT_S,
    Runs,
    gone,
    late_keeper,
    lives,
    python,
    raw_spec,
    runs_in,
    shell,
    spec,
)

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="keepers need the /proc of Linux")

DEAF = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)"
# Its first thread ends, so the process table shows a zombie, while another one works on.
HEADLESS = """
import ctypes, os, threading, time
def work():
    while open("/proc/self/stat").read().rpartition(")")[2].split()[0] != "Z":
        time.sleep(0.01)
    print(os.getpid(), flush=True)
    time.sleep(1000)
threading.Thread(target=work).start()
ctypes.CDLL(None).pthread_exit(None)
"""
# One child of the first thread, in a session of its own and with a child; and one child of another thread.
THREADED = """
import os, threading, time
def child(*below):
    if os.fork() == 0:
        os.setsid()
        for one in below:
            child(*one)
        print(os.getpid(), flush=True)
        time.sleep(1000)
child(())
def work():
    child()
    time.sleep(1000)
threading.Thread(target=work).start()
"""


@pytest.fixture
def runs(tmp_path: Path) -> Iterator[Runs]:
    with runs_in(tmp_path) as started:
        yield started


@pytest.mark.parametrize(("code", "kind"), [(0, "finished"), (1, "failed"), (7, "failed"), (143, "failed")])
def test_the_exit_code_is_kept(runs: Runs, code: int, kind: str) -> None:
    ended = runs.ended(*shell(f"exit {code}"))
    assert (ended.reason, ended.code, ended.signal, ended.left) == ("exited", code, None, 0)
    assert exit_class(ended) == kind
    assert ended.started <= ended.ended


@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGTERM, signal.SIGKILL])
def test_a_program_ended_by_a_signal_was_killed(runs: Runs, number: int) -> None:
    ended = runs.ended(*shell(f"kill -{int(number)} $$"))
    assert (ended.reason, ended.code, ended.signal) == ("exited", None, number)
    assert exit_class(ended) == "killed"


def test_a_program_killed_from_outside_was_killed(runs: Runs) -> None:
    run_dir = runs.begin("sleep", "1000")
    os.kill(runs.identity(run_dir).child_pid, signal.SIGKILL)
    ended = runs.end(run_dir)
    assert (ended.reason, ended.signal, exit_class(ended)) == ("exited", signal.SIGKILL, "killed")


def test_a_program_killed_before_it_may_begin_was_killed(tmp_path: Path) -> None:
    """The engine is told that the run is ready a moment before its program may begin; that moment is enough to die."""
    raw_spec(tmp_path, ("sleep", "1000"))
    script = f"""
import os, runpy, signal
keeper = runpy.run_path({keeper_process.__file__!r})
tell = keeper["report"]
def report(*words):
    (child,) = keeper["_listed_children"](os.getpid())
    os.kill(child, signal.SIGKILL)
    os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
    tell(*words)
keeper["keep"].__globals__["report"] = report
os.chdir({str(tmp_path)!r})
keeper["keep"]()
"""
    subprocess.run((sys.executable, "-I", "-c", script), check=True, timeout=WAIT_S, stdout=subprocess.DEVNULL)
    ended = look(str(tmp_path))
    assert ended.exit is not None
    assert (ended.exit.reason, ended.exit.signal, exit_class(ended.exit)) == ("exited", signal.SIGKILL, "killed")


def test_the_deadline_ends_a_program_that_hangs(runs: Runs) -> None:
    ended = runs.ended("sleep", "1000", timeout_s=0.3)
    assert (ended.reason, ended.signal, exit_class(ended)) == ("timeout", signal.SIGTERM, "timeout")


def test_program_may_clean_up_when_it_is_asked_to_end(runs: Runs) -> None:
    run_dir = runs.begin(*shell("trap 'echo bye; exit 9' TERM; echo up; while :; do sleep 0.05; done"))
    runs.said(run_dir)
    assert stop(str(run_dir))
    ended = runs.end(run_dir)
    assert (ended.reason, ended.code, exit_class(ended)) == ("stopped", 9, "killed")
    assert runs.said(run_dir, 2) == ["up", "bye"]


def test_a_program_that_ignores_being_asked_is_killed(runs: Runs) -> None:
    run_dir = runs.begin(*python(DEAF + "; import time; print('up', flush=True); time.sleep(1000)"), grace_s=0.2)
    runs.said(run_dir)
    stop(str(run_dir))
    ended = runs.end(run_dir)
    assert (ended.reason, ended.signal) == ("stopped", signal.SIGKILL)


def test_there_is_nothing_to_stop_after_the_end(runs: Runs) -> None:
    run_dir = runs.begin("true")
    runs.end(run_dir)
    assert not stop(str(run_dir))


def test_a_child_in_the_background_is_ended(runs: Runs) -> None:
    run_dir = runs.begin(*shell("sleep 1000 & echo $!"))
    ended = runs.end(run_dir)
    assert (ended.reason, ended.code, ended.survivors, ended.left) == ("exited", 0, 1, 0)
    assert exit_class(ended) == "finished"
    assert not lives(int(runs.said(run_dir)[0]))


@pytest.mark.parametrize("habit", ["pass", DEAF], ids=["daemon", "daemon that ignores SIGTERM"])
def test_a_daemon_in_a_session_of_its_own_is_ended(runs: Runs, habit: str) -> None:
    run_dir = runs.begin(*python(DAEMON + "time.sleep(1000)", habit), grace_s=0.2)
    daemon = int(runs.said(run_dir)[0])
    assert lives(daemon)
    stop(str(run_dir))
    ended = runs.end(run_dir)
    assert (ended.survivors, ended.left) == (1, 0)
    assert not lives(daemon)


def test_program_that_forks_and_exits_takes_its_daemon_with_it(runs: Runs) -> None:
    run_dir = runs.begin(*python(DAEMON, "pass"), grace_s=0.2)
    ended = runs.end(run_dir)
    assert (ended.reason, ended.code, ended.left) == ("exited", 0, 0)
    said = (run_dir / "events").read_text(encoding="ascii").split()
    assert not [pid for pid in said if lives(int(pid))]


def test_a_program_whose_first_thread_has_ended_is_no_zombie(runs: Runs) -> None:
    run_dir = runs.begin(*python(HEADLESS))
    headless = int(runs.said(run_dir)[0])
    assert lives(headless)
    stop(str(run_dir))
    assert runs.end(run_dir).left == 0
    assert not lives(headless)


def test_endless_output_ends_the_run_and_is_cut(runs: Runs) -> None:
    run_dir = runs.begin("yes", output_limit_bytes=100_000)
    ended = runs.end(run_dir)
    assert (ended.reason, exit_class(ended)) == ("output_limit", "failed")
    assert (run_dir / "events").stat().st_size == 100_000


def test_long_output_of_a_quick_program_is_cut_too(runs: Runs) -> None:
    run_dir = runs.begin(*shell("yes | head -c 50000 >&2"), output_limit_bytes=10_000)
    runs.end(run_dir)
    assert (run_dir / "errors").stat().st_size == 10_000


def test_silence_ends_the_run(runs: Runs) -> None:
    run_dir = runs.begin(*shell("echo once; sleep 1000"), stall_s=3.0)
    ended = runs.end(run_dir)
    assert (ended.reason, exit_class(ended)) == ("stall", "timeout")
    assert runs.said(run_dir) == ["once"]


def test_a_program_that_keeps_talking_is_not_silent(runs: Runs) -> None:
    talk = "for turn in 1 2 3 4 5 6 7 8 9; do echo $turn >&2; sleep 0.5; done"
    assert runs.ended(*shell(talk), stall_s=4.0).reason == "exited"


@pytest.mark.parametrize(
    ("argv", "cwd", "problem"),
    [
        (("no-such-program-anywhere",), "/", "can't run: No such file or directory"),
        ((os.devnull,), "/", "can't run: Permission denied"),
        (("true",), "/no/such/folder", "can't enter its folder: No such file or directory"),
    ],
)
def test_a_program_that_cannot_be_started_says_so(runs: Runs, argv: tuple[str, ...], cwd: str, problem: str) -> None:
    ended = runs.ended(*argv, cwd=cwd)
    assert (ended.reason, ended.problem, exit_class(ended)) == ("exec_failed", problem, "failed")


def test_after_an_accepted_claim_the_run_is_ended(runs: Runs) -> None:
    run_dir = runs.begin("sleep", "1000", claim_grace_s=0.2)
    finish(str(run_dir))
    ended = runs.end(run_dir)
    assert (ended.reason, ended.signal, exit_class(ended)) == ("claimed", signal.SIGTERM, "finished")


def test_an_accepted_claim_is_not_turned_into_a_timeout(runs: Runs) -> None:
    claimed = runs.place / "runs" / "1"
    claimed.mkdir(parents=True)
    finish(str(claimed))  # before its time begins, so that it can't be over first
    run_dir = runs.begin(*shell("sleep 1.5; exit 0"), timeout_s=0.5, stall_s=0.5, claim_grace_s=50.0)
    assert run_dir == claimed
    ended = runs.end(run_dir)
    assert (ended.reason, ended.code) == ("exited", 0)


def test_a_long_prompt_comes_in_whole(runs: Runs, tmp_path: Path) -> None:
    prompt = tmp_path / "prompt"
    prompt.write_bytes(b"line of a prompt\n" * 12_500)
    run_dir = runs.begin("cat", stdin_path=str(prompt))
    runs.end(run_dir)
    assert (run_dir / "events").read_bytes() == prompt.read_bytes()


def test_without_a_prompt_there_is_nothing_to_read(runs: Runs) -> None:
    assert runs.ended("cat").code == 0


def test_the_environment_is_the_given_one_and_the_folder(runs: Runs, tmp_path: Path) -> None:
    environment = {"ONLY": "this\nand = that", "EMPTY": "", "PWD": "/wrong", "LATIN": "\udce4", "DETENT_RUN": "outer"}
    run_dir = runs.begin("/usr/bin/env", "-0", env=environment, cwd=str(tmp_path))
    runs.end(run_dir)
    pairs = [pair.partition(b"=") for pair in (run_dir / "events").read_bytes().split(b"\0") if pair]
    mark = runs.identity(run_dir).run.encode()
    assert {name: value for name, _, value in pairs} == {
        b"ONLY": b"this\nand = that",
        b"EMPTY": b"",
        b"LATIN": b"\xe4",
        b"PWD": os.fsencode(tmp_path),
        b"DETENT_RUN": mark,
    }
    assert len(mark) == 32


def test_the_program_finds_signals_and_descriptors_as_after_a_login(runs: Runs) -> None:
    code = "import os; print(sorted(os.listdir('/proc/self/fd')), os.getpid() == os.getsid(0), os.getcwd())"
    run_dir = runs.begin(*python(code), cwd="/usr")
    assert runs.said(run_dir) == ["['0', '1', '2', '3'] True /usr"]  # 3 is the listed folder itself
    run_dir = runs.begin("grep", "-E", "^Sig(Blk|Ign)", "/proc/self/status")
    of_the_c_library = 1 << 31 | 1 << 32  # signals 32 and 33, which no program can set
    masks = [int(line.split()[1], 16) & ~of_the_c_library for line in runs.said(run_dir, 2)]
    assert masks == [0, 0]


def test_both_outputs_are_kept_apart(runs: Runs) -> None:
    run_dir = runs.begin(*shell("echo event; echo trouble >&2"))
    runs.end(run_dir)
    assert (run_dir / "events").read_text(encoding="ascii") == "event\n"
    assert (run_dir / "errors").read_text(encoding="ascii") == "trouble\n"


def test_keys_in_the_environment_do_not_stay_on_the_disk(runs: Runs) -> None:
    run_dir = runs.begin("sleep", "1000", env={**os.environ, "API_KEY": "secret-of-the-user"})
    kept = b"".join(path.read_bytes() for path in run_dir.iterdir())
    assert b"secret-of-the-user" not in kept


@pytest.mark.parametrize("argv", [(), ("",), ("true", "a\0b")])
def test_a_command_that_no_process_can_be_given_is_refused(tmp_path: Path, argv: tuple[str, ...]) -> None:
    with pytest.raises(UsageError):
        spawn(spec(tmp_path / "run", argv))


def test_a_run_directory_that_cannot_be_made_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(DetentError):
        spawn(spec(tmp_path / "file" / "run", ("true",)))


def test_without_a_durable_identity_no_program_is_started(tmp_path: Path) -> None:
    (tmp_path / "run" / ".identity.json").mkdir(parents=True)
    with pytest.raises(StorageError, match=re.escape(os.strerror(errno.EISDIR))):
        spawn(spec(tmp_path / "run", shell(f"touch '{tmp_path}/ran'")))
    assert look(str(tmp_path / "run")).phase == "unborn"
    assert not (tmp_path / "ran").exists()
    with pytest.raises(RefusedError):  # it was made void, so that a slow keeper can't come to life either
        spawn(spec(tmp_path / "run", ("true",)))


def test_a_disk_that_refuses_the_last_word_is_asked_again(runs: Runs) -> None:
    run_dir = runs.begin("sleep", "1000")
    identity = runs.identity(run_dir)
    _, hard = resource.prlimit(identity.keeper_pid, resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))
    os.kill(identity.child_pid, signal.SIGKILL)
    gone(identity.child_pid)
    watched = time.monotonic() + 3 * keeper_process.TICK_S
    while time.monotonic() < watched:
        assert look(str(run_dir)).phase == "alive"
    resource.prlimit(identity.keeper_pid, resource.RLIMIT_FSIZE, (hard, hard))
    assert runs.end(run_dir).signal == signal.SIGKILL


def test_a_full_disk_does_not_lose_the_last_word(tmp_path: Path) -> None:
    code = """
import os, sys
from pathlib import Path
from tests.unit.effects.host.keeper.keeper_runs import Runs, shell
place = Path(sys.argv[1])
ended = Runs(place).ended(*shell("cat /dev/zero > fill 2>/dev/null; cat /dev/zero; exit 5"), cwd=str(place))
left = os.statvfs(place)
print(ended.reason, ended.code, left.f_bavail)
"""
    mount = 'mount -t tmpfs -o size=1m none "$0" && exec "$@"'
    inside = ("unshare", "--user", "--map-root-user", "--mount", "sh", "-c", mount)
    probe = subprocess.run((*inside, str(tmp_path), "true"), capture_output=True, check=False)
    if probe.returncode != 0:
        pytest.skip(f"this host lets us mount no small disk: {probe.stderr.decode().strip()}")
    done = subprocess.run(
        (*inside, str(tmp_path), sys.executable, "-c", code, str(tmp_path)),
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stdout == "exited 5 0\n", done.stderr


def test_a_second_keeper_for_the_same_run_gives_way(runs: Runs) -> None:
    run_dir = runs.begin(*shell("echo ran; exec sleep 1000"))
    identity = runs.identity(run_dir)
    assert late_keeper(run_dir) == "busy"
    assert (runs.identity(run_dir), look(str(run_dir)).phase) == (identity, "alive")
    with pytest.raises(RefusedError):
        spawn(spec(run_dir, ("true",)))
    stop(str(run_dir))
    runs.end(run_dir)
    assert late_keeper(run_dir) == "used"
    assert not void(str(run_dir))
    assert (run_dir / "events").read_text(encoding="ascii") == "ran\n"


@pytest.mark.parametrize("has_lists", [True, False])
def test_descendants_are_found_with_and_without_lists_of_children(has_lists: bool) -> None:
    if has_lists and not Path(f"/proc/self/task/{os.getpid()}/children").exists():
        pytest.skip("this kernel keeps no lists of children")
    with subprocess.Popen(python(THREADED), stdout=subprocess.PIPE, text=True) as top:
        try:
            assert top.stdout is not None
            pids = {int(top.stdout.readline()) for _ in range(3)}
            assert {pid for pid, _ in keeper_process.below(top.pid, has_lists=has_lists)} == pids
        finally:
            for pid, start in keeper_process.below(top.pid, has_lists=False):
                keeper_process.send(pid, start, signal.SIGKILL)
            top.kill()


def test_a_run_reads_no_key_of_the_users_session(runs: Runs) -> None:
    run_dir = runs.begin(*python(reader()))
    assert runs.end(run_dir).code == 0
    assert (run_dir / "events").read_text(encoding="utf-8") == "read: nothing\n"


def test_standard_input_is_a_copy_that_leads_nowhere(runs: Runs, tmp_path: Path) -> None:
    prompt = tmp_path / "prompt.md"
    prompt.write_bytes(b"words " * 100_000)
    code = """
import os, sys
assert os.stat(0).st_size == len(sys.stdin.buffer.read()) == 600_000
print(os.readlink("/proc/self/fd/0"))
for attempt in (lambda: open("/proc/self/fd/0", "r+b", 0).write(b"x"), lambda: os.truncate("/proc/self/fd/0", 0)):
    try:
        attempt()
    except OSError as problem:
        print(problem.strerror)
"""
    run_dir = runs.begin(*python(code), stdin_path=str(prompt))
    assert runs.end(run_dir).code == 0, (run_dir / "errors").read_text(encoding="utf-8")
    said = (run_dir / "events").read_text(encoding="utf-8").splitlines()
    assert said == ["/memfd:stdin (deleted)", "Operation not permitted", "Operation not permitted"]
    assert prompt.read_bytes() == b"words " * 100_000


def test_what_a_program_said_is_not_taken_back(runs: Runs) -> None:
    code = """
import os
os.write(1, b"said\\n" * 50_000)
for attempt in (
    lambda: os.ftruncate(1, 0),
    lambda: os.truncate("/proc/self/fd/1", 0),
    lambda: os.pwrite(os.open("/proc/self/fd/1", os.O_RDWR), b"forged", 0),
):
    try:
        attempt()
    except OSError:
        pass
os.write(1, b"over\\n")
"""
    run_dir = runs.begin(*python(code))
    assert runs.end(run_dir).code == 0
    assert (run_dir / "events").read_bytes() == b"said\n" * 50_000 + b"over\n"


def test_no_descriptor_of_a_run_leads_to_its_folder(runs: Runs) -> None:
    code = (
        "import os; print(*(os.readlink(f'/proc/self/fd/{one}') for one in sorted(os.listdir('/proc/self/fd'))[:-1]))"
    )
    run_dir = runs.begin(*python(code), stdin_path=__file__)
    assert runs.end(run_dir).code == 0
    said = (run_dir / "events").read_text(encoding="utf-8").split()
    assert [target.partition(":")[0] for target in said] == ["/memfd", "(deleted)", "pipe", "pipe"]
