"""Tests of the sandbox: what the kernel keeps a process from, at every level this host offers."""

from __future__ import annotations

import os
import re
import socket
import sys
from pathlib import Path

import pytest

from detent.effects.host import process
from detent.effects.host.access import BUBBLEWRAP, LANDLOCK, LEVELS, NONE, Access
from detent.effects.host.landlock import landlock
from detent.effects.host.landlock_process import SCOPED_SINCE, TCP_SINCE, version
from detent.effects.host.sandbox import Probe, best_level, find_bubblewrap, hold, try_level
from detent.errors import ToolError
from detent.words.effects import host as say
from tests.e2e.stubs import put_program
from tests.keyring import SECRET, reader, user_reader

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the kernel that is asked is Linux")
OFFERED = {level: try_level(level, os.environ) for level in (BUBBLEWRAP, LANDLOCK)}


def probed(level: str) -> Probe:
    return Probe(level, program=find_bubblewrap(os.environ) if level == BUBBLEWRAP else "")


@pytest.fixture(params=(BUBBLEWRAP, LANDLOCK))
def level(request: pytest.FixtureRequest) -> str:
    name = str(request.param)
    if OFFERED[name]:
        pytest.skip(f"{name} does not hold on this host: {OFFERED[name]}")
    return name


class World:
    """A folder with something writable, something hidden and something else."""

    def __init__(self, top: Path) -> None:
        self.top = top
        for name in ("open", "closed/inner", "other"):
            (top / name).mkdir(parents=True)
            (top / name / "file").write_text(f"{name}\n", encoding="utf-8")
        self.access = Access(writable=(str(top / "open"),), hidden=(str(top / "closed"),), shown=(str(top),))

    def run(self, level: str, script: str, access: Access | None = None) -> process.Finished:
        held = hold(probed(level), access or self.access, ("/bin/sh", "-c", script), cwd=str(self.top / "open"))
        return process.run(held.argv, cwd=str(self.top / "open"), env=dict(os.environ), timeout_s=120)


@pytest.fixture
def world(disk_path: Path) -> World:
    return World(disk_path)


def test_what_is_writable_can_be_written_and_read(world: World, level: str) -> None:
    done = world.run(level, "echo new > file && mkdir -p deep/er && echo x > deep/er/y && mv deep moved && cat file")
    assert (done.exit, done.stdout) == (0, b"new\n"), done
    assert (world.top / "open/moved/er/y").exists()


def test_a_hidden_place_may_have_very_many_others_beside_it(world: World, level: str) -> None:
    for number in range(3000):
        (world.top / f"one of very many neighbours of what is hidden, number {number}").mkdir()
    done = world.run(level, "cat ../other/file; cat ../closed/inner/file")
    assert (done.exit != 0, done.stdout) == (True, b"other\n"), done


@pytest.mark.parametrize(
    "attempt",
    [
        "echo x > ../other/file",
        "echo x > ../new",
        "rm ../other/file",
        "mv ../other ../gone",
        "ln ../other/file linked && echo x > linked",
        "ln -s ../other/file link && echo x > link",
        "mount -o remount,rw,bind / / && echo x > ../other/file",
        "umount -l .. && echo x > ../other/file",
        "nsenter --target 1 --mount sh -c 'echo x > /etc/detent-probe'",
    ],
)
def test_what_is_not_writable_stays_as_it_is(world: World, level: str, attempt: str) -> None:
    done = world.run(level, attempt)
    assert done.exit != 0, done
    assert (world.top / "other/file").read_text(encoding="utf-8") == "other\n"
    assert not (world.top / "new").exists()


@pytest.mark.parametrize(
    "attempt", ["cat ../closed/file", "cat ../closed/inner/file", "cp -r ../closed copied && cat copied/file"]
)
def test_what_is_hidden_can_not_be_read(world: World, level: str, attempt: str) -> None:
    done = world.run(level, attempt)
    assert done.exit != 0
    assert b"closed" not in done.stdout


def test_hidden_folder_with_another_hidden_folder_stays_hidden(world: World, level: str) -> None:
    """Your checkout holds the control folder; both are hidden."""
    access = world.access.replace(hidden=(str(world.top / "closed"), str(world.top / "closed/inner")))
    (world.top / "closed/file").write_text("closed\n", encoding="utf-8")
    assert world.run(level, "cat ../closed/file", access).exit != 0
    assert world.run(level, "cat ../closed/inner/file", access).exit != 0
    assert world.run(level, "cat ../other/file", access).exit == 0


def test_shown_folder_below_a_hidden_one_is_read_only(world: World, level: str) -> None:
    access = world.access.replace(shown=(str(world.top), str(world.top / "closed/inner")))
    assert world.run(level, "cat ../closed/inner/file", access).stdout == b"closed/inner\n"
    assert world.run(level, "echo x > ../closed/inner/file", access).exit != 0
    assert world.run(level, "cat ../closed/file", access).exit != 0


def test_a_hidden_file_is_as_good_as_a_hidden_folder(world: World, level: str) -> None:
    access = world.access.replace(hidden=(str(world.top / "other/file"),))
    assert b"other" not in world.run(level, "cat ../other/file", access).stdout


def test_what_is_not_there_hides_nothing(world: World, level: str) -> None:
    access = world.access.replace(
        hidden=(str(world.top / "nowhere"),), shown=(str(world.top / "nothing"), str(world.top))
    )
    assert world.run(level, "cat ../other/file", access).stdout == b"other\n"


def test_no_rights_can_be_gained(world: World, level: str) -> None:
    assert b"NoNewPrivs:\t1" in world.run(level, "cat /proc/self/status").stdout


def test_no_capability_is_left(world: World, level: str) -> None:
    assert b"CapEff:\t0000000000000000" in world.run(level, "cat /proc/self/status").stdout


def test_what_opens_to_roots_number_alone_is_read_only(world: World, level: str) -> None:
    if os.getuid() != 0 or not os.access("/proc/sys/kernel/core_pattern", os.W_OK):
        pytest.skip("only root could open it for writing")
    opened = "exec 3>>/proc/sys/kernel/core_pattern"  # opened and not written to
    assert world.run(level, opened).exit != 0
    assert world.run(NONE, opened).exit == 0


class TestBubblewrap:
    @pytest.fixture(autouse=True)
    def offered(self) -> None:
        if OFFERED[BUBBLEWRAP]:
            pytest.skip(f"bubblewrap does not hold on this host: {OFFERED[BUBBLEWRAP]}")

    def test_a_guarded_place_stays_below_a_writable_one(self, world: World) -> None:
        (world.top / "open/.git").mkdir()
        access = world.access.replace(guarded=(str(world.top / "open/.git"),))
        assert world.run(BUBBLEWRAP, "echo x > .git/config", access).exit != 0
        assert world.run(BUBBLEWRAP, "mv .git gone", access).exit != 0
        assert world.run(BUBBLEWRAP, "echo x > file", access).exit == 0

    def test_the_folders_above_a_guarded_place_cannot_be_moved_away(self, world: World) -> None:
        (world.top / "open/ci/gate").mkdir(parents=True)
        (world.top / "open/ci/gate/check").write_text("strict\n", encoding="utf-8")
        access = world.access.replace(watched=(str(world.top / "open/ci/gate/check"),))
        for folder in ("ci", "ci/gate"):
            assert world.run(BUBBLEWRAP, f"mv {folder} gone", access).exit != 0
        assert world.run(BUBBLEWRAP, "echo x > ci/gate/new && echo x > ci/new && rm ci/new", access).exit == 0
        assert (world.top / "open/ci/gate/check").read_text(encoding="utf-8") == "strict\n"

    def test_processes_outside_are_not_there(self, world: World) -> None:
        seen = world.run(BUBBLEWRAP, f"ls /proc | grep -x {os.getpid()}; ls -d /proc/[0-9]* | wc -l").stdout.split()
        assert len(seen) == 1
        assert int(seen[0]) < 10

    def test_the_network_can_be_taken_away(self, world: World) -> None:
        script = "cat /proc/net/dev | wc -l"
        alone = world.run(BUBBLEWRAP, script, world.access.replace(network=False)).stdout
        assert int(alone) == 3  # two lines of heading and a loopback that is down
        assert world.run(BUBBLEWRAP, script).exit == 0

    def test_everything_ends_with_it(self, world: World) -> None:
        done = world.run(BUBBLEWRAP, "(setsid sh -c 'while :; do echo x >> late; sleep 0.05; done' &) ; echo done")
        assert done.stdout == b"done\n"
        world.run(NONE, "sleep 0.1")  # bubblewrap ends an instant before the kernel has ended all that was in it
        size = (world.top / "open/late").stat().st_size if (world.top / "open/late").exists() else 0
        world.run(NONE, "sleep 0.2")
        assert ((world.top / "open/late").stat().st_size if (world.top / "open/late").exists() else 0) == size

    def test_scratch_is_private_and_empty(self, world: World) -> None:
        mark = Path("/tmp") / f"detent-test-{os.getpid()}"
        mark.touch()
        try:
            access = world.access.replace(scratch=("/tmp",))
            assert world.run(BUBBLEWRAP, f"test ! -e {mark} && touch {mark}-2", access).exit == 0
            assert not Path(f"{mark}-2").exists()
        finally:
            mark.unlink()


class TestLandlock:
    def test_what_its_rules_can_not_say_is_refused(self, world: World) -> None:
        with pytest.raises(ToolError, match=re.escape(say.landlock_no_guards())):
            landlock(world.access.replace(guarded=(str(world.top / "open/file"),)))

    def test_nothing_can_be_hidden_below_something_writable(self, world: World) -> None:
        with pytest.raises(ToolError, match=re.escape(say.landlock_no_guards())):
            landlock(world.access.replace(writable=(str(world.top),)))

    @pytest.fixture
    def offered(self) -> None:
        if OFFERED[LANDLOCK]:
            pytest.skip(f"landlock does not hold on this host: {OFFERED[LANDLOCK]}")

    @pytest.mark.usefixtures("offered")
    def test_a_scratch_place_that_holds_something_hidden_is_not_writable(self, world: World) -> None:
        access = world.access.replace(scratch=(str(world.top),))
        assert world.run(LANDLOCK, "echo x > ../other/file", access).exit != 0
        assert world.run(LANDLOCK, "echo x > ../closed/file", access).exit != 0
        assert world.run(LANDLOCK, "echo x > ../other/file", access.replace(hidden=())).exit == 0

    @pytest.mark.usefixtures("offered")
    def test_what_is_watched_does_not_keep_it_from_holding_rest(self, world: World) -> None:
        access = world.access.replace(watched=(str(world.top / "open/file"),))
        assert world.run(LANDLOCK, "echo x > file", access).exit == 0
        assert world.run(LANDLOCK, "echo x > ../other/file", access).exit != 0

    @pytest.mark.usefixtures("offered")
    def test_tcp_can_be_taken_away_and_udp_can_not(self, world: World) -> None:
        if version() < TCP_SINCE:
            with pytest.raises(ToolError, match=re.escape(say.landlock_no_network())):
                landlock(world.access.replace(network=False))
            pytest.skip(f"this kernel's Landlock {version()} does not rule over TCP")
        with socket.socket() as tcp, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
            for connection in (tcp, udp):
                connection.bind(("127.0.0.1", 0))
            tcp.listen()
            connect = f"import socket; socket.create_connection({tcp.getsockname()!r}, 5)"
            bind = "import socket; socket.socket().bind(('127.0.0.1', 0))"
            send = f"import socket; socket.socket(2, socket.SOCK_DGRAM).sendto(b'x', {udp.getsockname()!r})"
            denied = world.access.replace(network=False)
            for script, is_held in ((connect, True), (bind, True), (send, False)):
                words = f'{sys.executable} -I -S -c "{script}"'
                assert world.run(LANDLOCK, words).exit == 0, script
                assert (world.run(LANDLOCK, words, denied).exit != 0) is is_held, script
            assert udp.recv(10) == b"x"

    def test_what_is_kept_from_the_network_is_told(self, world: World) -> None:
        denied = world.access.replace(network=False)
        wanted = {BUBBLEWRAP: "denied", LANDLOCK: "tcp denied", NONE: "allowed"}
        for level in LEVELS:
            if level == LANDLOCK and version() < TCP_SINCE:
                continue
            assert hold(probed(level), world.access, (), cwd="/").network == "allowed"
            assert hold(probed(level), denied, (), cwd="/").network == wanted[level]

    @pytest.mark.usefixtures("offered")
    def test_no_signal_gets_out(self, world: World) -> None:
        if version() < SCOPED_SINCE:
            pytest.skip(f"this kernel's Landlock {version()} does not rule over signals")
        assert world.run(LANDLOCK, f"kill -0 {os.getpid()}").exit != 0
        assert world.run(LANDLOCK, "sleep 9 & kill $!").exit == 0
        assert world.run(NONE, f"kill -0 {os.getpid()}").exit == 0


def test_a_program_that_only_says_it_works_is_found_out(tmp_path: Path) -> None:
    put_program(tmp_path, "bwrap", "exit 0")
    assert try_level(BUBBLEWRAP, {"PATH": str(tmp_path)}) == say.did_nothing()


def test_a_program_that_holds_nothing_is_found_out(tmp_path: Path) -> None:
    put_program(tmp_path, "bwrap", 'while [ "$1" != "--" ]; do shift; done; shift; exec "$@"')
    environment = {"PATH": os.pathsep.join((str(tmp_path), os.environ.get("PATH", os.defpath)))}
    assert try_level(BUBBLEWRAP, environment) == say.hidden_was_read()


def test_why_a_better_level_does_not_hold_is_told(tmp_path: Path) -> None:
    put_program(tmp_path, "bwrap", "echo 'No permissions to create new namespace' >&2; exit 1")
    environment = {"PATH": os.pathsep.join((str(tmp_path), os.environ.get("PATH", os.defpath)))}
    found = best_level(environment)
    assert found.level in (LANDLOCK, NONE)
    assert "bubblewrap: No permissions to create new namespace" in found.why


def test_bwrap_of_current_folder_is_not_found_by_relative_entry(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_program(tmp_path / "node_modules/.bin", "bwrap", "touch ran")
    monkeypatch.chdir(tmp_path)
    for entry in ("node_modules/.bin", ".", ""):
        path = os.pathsep.join((entry, os.environ.get("PATH", os.defpath)))
        assert find_bubblewrap({"PATH": path}) == find_bubblewrap(os.environ)
    assert try_level(BUBBLEWRAP, {"PATH": "node_modules/.bin"}) == say.no_sandbox_program("bwrap")
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("name", LEVELS)
def test_command_with_its_own_keyring_reads_no_key_of_session(disk_path: Path, name: str) -> None:
    if OFFERED.get(name):
        pytest.skip(f"{name} does not hold on this host: {OFFERED[name]}")
    held = hold(probed(name), Access(), (sys.executable, "-I", "-S", "-c", reader()), cwd=str(disk_path))
    # Landlock comes with a filter that denies all calls about keys.
    for separate_keyring, read in ((False, b"nothing" if name == LANDLOCK else SECRET), (True, b"nothing")):
        done = process.run(held.argv, cwd="/", env=dict(os.environ), timeout_s=120, separate_keyring=separate_keyring)
        assert (done.exit, done.stdout) == (0, b"read: " + read + b"\n"), done


@pytest.mark.parametrize("name", LEVELS)
def test_the_users_own_keyring_is_closed_by_the_kernel_alone(disk_path: Path, name: str) -> None:
    if OFFERED.get(name):
        pytest.skip(f"{name} does not hold on this host: {OFFERED[name]}")
    held = hold(probed(name), Access(), (sys.executable, "-I", "-S", "-c", user_reader()), cwd=str(disk_path))
    done = process.run(held.argv, cwd="/", env=dict(os.environ), timeout_s=120, separate_keyring=True)
    assert (done.exit, done.stdout) == (0, b"read: " + (SECRET if name == NONE else b"nothing") + b"\n"), done
