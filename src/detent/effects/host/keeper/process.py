"""The keeper: one tiny process per agent run that ends every process of that run and leaves the truth on disk.

`start.py` starts it as a program of its own (`python -I -S process.py RUN_DIR`); it imports nothing of detent and
lives on when the engine dies. A run directory is used once. The order:

1. leave the engine, take the run's lock for life, refuse a directory in which a run began or was made void;
2. read `spec`, reserve room on the disk for what must be written later, open the streams, fork the child, which waits;
3. write `identity.json` durably, and only then let the child become the agent's program;
4. watch for its end, a stop (SIGTERM), an accepted claim (`finish`), the deadline, silence, too much output;
5. end every descendant, whatever session it hid in, until the kernel says that no child is left;
6. write `exit.json` durably.
"""

from __future__ import annotations

import fcntl
import os
import signal
import sys
from errno import ENOSYS, EPERM
from resource import RUSAGE_CHILDREN, getrusage
from time import monotonic, sleep, time

TYPE_CHECKING = False
if TYPE_CHECKING:
    import ctypes
    from typing import NoReturn

LOCK, SPEC, IDENTITY, EXIT, VOID, FINISH = "lock", "spec", "identity.json", "exit.json", "void", "finish"
EVENTS, ERRORS = "events", "errors"  # the program's standard output, which event parsers read, and standard error
BOUNDS = ("timeout_s", "stall_s", "grace_s", "claim_grace_s", "output_limit_bytes")
READY, BUSY, USED, FAILED = "ready", "busy", "used", "failed"  # the first word of the report to the engine

TICK_S, QUIET_TICK_S = 0.2, 0.5  # how often files are read; an end or a stop is noticed at once
LOCK_WAIT_S = 1.0  # a reader holds the lock for microseconds, another keeper as long as it lives
TERM_PAUSE_S, KILL_PAUSE_S = 0.1, 0.02  # between two scans for new descendants
KILL_WAIT_S = 10.0  # for the kernel to end what was killed; what hangs in the kernel or is not ours is reported
WRITE_WAIT_S = 60.0  # for a disk that refuses `exit.json` to work again
ROOM_BYTES = 4096  # more than either JSON file ever needs
DESCRIPTOR_LIMIT = 1 << 16
NOT_STARTED_CODE = 127
_COPY_BYTES = 1 << 16
_MOST_PARTS = 64  # of one output that are read before the keeper checks anything else
_SEALS = fcntl.F_SEAL_SEAL | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_WRITE

_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
_KEYCTL = {"x86_64": 250, "i686": 288, "armv7l": 311, "ppc64le": 271, "s390x": 280}  # by the name of the processor
_KEYCTL_ELSEWHERE, _JOIN_SESSION_KEYRING = 219, 1  # the number is the same on all newer processors
_STOPS = (signal.SIGTERM, signal.SIGINT)
_AWAITED = (signal.SIGCHLD, signal.SIGIO, *_STOPS)
BLOCKED = (*_AWAITED, signal.SIGHUP)


class Spec:
    """What to run and its bounds: names and values in turn, each ended by NUL, which no argument can hold."""

    def __init__(self, data: bytes) -> None:
        fields = data.split(b"\0")
        pairs = list(zip(fields[0::2], fields[1::2], strict=False))
        self.argv = [value for name, value in pairs if name == b"arg"]
        variables = [value.partition(b"=") for name, value in pairs if name == b"env"]
        self.env = {name: value for name, _, value in variables}
        named = dict(pairs)
        self.run = named[b"run"].decode()
        self.cwd = named[b"cwd"]
        self.stdin = named[b"stdin"]
        bounds = [float(named[name.encode()]) for name in BOUNDS]
        self.timeout_s, self.stall_s, self.grace_s, self.claim_grace_s, self.output_limit_bytes = bounds


class Reserved:
    """A small file in the current directory whose room is taken before it is needed, so a full disk can't lose it."""

    def __init__(self, name: str) -> None:
        self.name, self.temporary = name, "." + name
        self._file = os.open(self.temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o644)
        os.posix_fallocate(self._file, 0, ROOM_BYTES)

    def publish(self, fields: dict[str, object]) -> None:
        """Written, synced and renamed; may be called again if it raised."""
        text = ", ".join(f'"{name}": {_json(value)}' for name, value in fields.items())
        data = f"{{{text}}}\n".encode("ascii", "replace")
        position = 0
        while position < len(data):
            position += os.pwrite(self._file, data[position:], position)
        os.ftruncate(self._file, len(data))
        os.fsync(self._file)
        os.rename(self.temporary, self.name)
        folder = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        os.fsync(folder)
        os.close(folder)


def _json(value: object) -> str:
    """Enough JSON for our own numbers and plain words; the `json` module would cost a tenth of our memory."""
    if isinstance(value, str):
        return '"' + value.replace("\\", "/").replace('"', "'") + '"'
    return "null" if value is None else repr(value)


def read_process(pid: int) -> tuple[int, int, bool] | None:
    """Start ticks, parent and whether it lives (a zombie does not); None when there is no such process of ours."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            # The name in parentheses may hold spaces and parentheses of its own.
            fields = file.read().rpartition(b")")[2].split()
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return None
    # A program whose first thread has ended looks like a zombie while its other threads work on.
    is_alive = fields[0] not in (b"Z", b"X") or int(fields[17]) > 1
    return int(fields[19]), int(fields[1]), is_alive


def boot_id() -> str:
    with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
        return file.read().strip()


def send(pid: int, start: int, number: int) -> bool:
    """Signal the process that began at `start`, never another one that was given its number since."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return False
    except OSError:
        handle = -1  # a kernel or a sandbox without handles: a moment stays between the look and the signal
    try:
        # Checked after opening: from here on the handle means this process and no later one.
        seen = read_process(pid)
        if seen is None or seen[0] != start:
            return False
        if handle >= 0:
            signal.pidfd_send_signal(handle, number)
        else:
            os.kill(pid, number)
    except OSError:  # gone meanwhile, or not ours to signal
        return False
    finally:
        if handle >= 0:
            os.close(handle)
    return True


def descendants() -> set[tuple[int, int]]:
    """Pid and start of every living process below this one; orphans are our children, for we are their subreaper."""
    return below(os.getpid(), has_lists=os.path.exists(f"/proc/{os.getpid()}/task/{os.getpid()}/children"))


def below(top: int, *, has_lists: bool) -> set[tuple[int, int]]:
    """The living processes below one. Only a kernel without lists of children is asked for every process there is.

    A list may lack a process while others come and go; a caller that ends processes scans again until no child is left.
    """
    table = {} if has_lists else _process_table()
    family, waiting = {top}, [top]
    found: set[tuple[int, int]] = set()
    while waiting:
        parent = waiting.pop()
        for pid in _listed_children(parent) if has_lists else table.pop(parent, ()):
            seen = read_process(pid)
            # Whose parent is none of ours has got the number of one of ours that is gone.
            if seen is not None and seen[1] in family:
                family.add(pid)
                waiting.append(pid)
                if seen[2]:
                    found.add((pid, seen[0]))
    return found


def _listed_children(parent: int) -> list[int]:
    found: list[int] = []
    try:
        for thread in os.listdir(f"/proc/{parent}/task"):
            with open(f"/proc/{parent}/task/{thread}/children", "rb") as file:
                found += map(int, file.read().split())
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        pass  # gone meanwhile: its children have another parent now
    return found


def _process_table() -> dict[int, list[int]]:
    """The children of every process."""
    table: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):
        seen = read_process(int(name)) if name.isdigit() else None
        if seen is not None:
            table.setdefault(seen[1], []).append(int(name))
    return table


def new_keyring(libc: ctypes.CDLL) -> None:
    """Leave the user's session keyring for an empty one. A kernel without keys, or a filter that denies them, is fine.

    What denies this call to us denies it to the program too.
    """
    import ctypes

    number = _KEYCTL.get(os.uname().machine, _KEYCTL_ELSEWHERE)
    if libc.syscall(number, _JOIN_SESSION_KEYRING, None) < 0 and ctypes.get_errno() not in (EPERM, ENOSYS):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def sealed_copy(path: bytes) -> int:
    """A descriptor with the bytes of a file that leads nowhere: no path, and nothing can be written through it."""
    source = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    copy = os.memfd_create("stdin", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    while part := os.read(source, _COPY_BYTES):
        while part:
            part = part[os.write(copy, part) :]
    os.close(source)
    os.lseek(copy, 0, os.SEEK_SET)
    fcntl.fcntl(copy, fcntl.F_ADD_SEALS, _SEALS)
    return copy


class Output:
    """One output of the program: it writes to a pipe and we to the file, so that nothing written is taken back."""

    def __init__(self, name: str, limit_bytes: float) -> None:
        self.file = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        self._reading, self.writing = os.pipe()
        self._limit_bytes = int(limit_bytes)
        self.size_bytes = 0  # that came, also beyond the limit

    def listen(self) -> None:
        """In the keeper: have a signal for what comes. A kernel without it is asked at every tick."""
        os.close(self.writing)
        os.set_blocking(self._reading, False)
        signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGIO,))
        fcntl.fcntl(self._reading, fcntl.F_SETOWN, os.getpid())
        flags = fcntl.fcntl(self._reading, fcntl.F_GETFL)
        fcntl.fcntl(self._reading, fcntl.F_SETFL, flags | os.O_ASYNC)

    def take(self) -> bool:
        """Write down what has come; True when there may be more. What is beyond the limit is dropped.

        If it can't be written, the disk is full: the program finds out by its own next write, which fails.
        """
        for _ in range(_MOST_PARTS if self._reading >= 0 else 0):
            try:
                part = os.read(self._reading, _COPY_BYTES)
            except BlockingIOError:
                return False
            if not part:
                return False
            kept = part[: max(0, self._limit_bytes - self.size_bytes)]
            self.size_bytes += len(part)
            try:
                while kept:
                    kept = kept[os.write(self.file, kept) :]
            except OSError:
                os.close(self._reading)
                self._reading = -1
                return False
        return self._reading >= 0


class Run:
    """The agent's program, from the fork to the end of its last descendant."""

    def __init__(self, spec: Spec) -> None:
        import ctypes

        self.spec = spec
        self.status: int | None = None  # of the leader, as waitpid gives it
        self.ended: set[tuple[int, int]] = set()  # every process that we had to signal
        self._libc = ctypes.CDLL(None, use_errno=True)
        if self._libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
            raise OSError(ctypes.get_errno(), "the kernel lets no process adopt orphans")
        stdin = sealed_copy(spec.stdin)
        self._outputs = tuple(Output(name, spec.output_limit_bytes) for name in (EVENTS, ERRORS))
        gate, self._gate = os.pipe()
        self._answer, answer = os.pipe()
        keeper = os.getpid()
        self.leader = os.fork()
        if self.leader == 0:
            self._become_the_program(keeper, gate, answer, stdin)
        for descriptor in (gate, answer, stdin):
            os.close(descriptor)
        for output in self._outputs:
            output.listen()

    def _become_the_program(self, keeper: int, gate: int, answer: int, stdin: int) -> NoReturn:
        step = "run"
        try:
            os.close(self._gate)
            self.take_place()
            self._libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
            # A keeper that dies leaves the gate without a byte; one that died before the line above is no parent now.
            if not os.read(gate, 1) or os.getppid() != keeper:
                os._exit(NOT_STARTED_CODE)
            self.take_streams(stdin)
            for number in signal.valid_signals():
                if signal.getsignal(number) == signal.SIG_IGN:  # would be inherited: Python's own, or a nohup's
                    signal.signal(number, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_SETMASK, ())
            step = "leave your session keyring"
            new_keyring(self._libc)
            step = "enter its folder"
            os.chdir(self.spec.cwd)
            step = "run"
            os.execvpe(self.spec.argv[0], self.spec.argv, self.spec.env)  # noqa: S606 - this is the agent's program
        except OSError as problem:
            os.write(answer, f"can't {step}: {os.strerror(problem.errno or 0)}".encode())
        finally:
            os._exit(NOT_STARTED_CODE)

    def take_place(self) -> None:
        """In the child: away from everybody else."""
        os.setsid()

    def take_streams(self, stdin: int) -> None:
        """In the child, just before it becomes the program."""
        for target, stream in enumerate((stdin, *(output.writing for output in self._outputs))):
            os.dup2(stream, target)

    def identity(self) -> dict[str, object]:
        mine, child = read_process(os.getpid()), read_process(self.leader)
        if mine is None or child is None:
            raise ProcessLookupError(0, "the process table does not show the run's own processes")
        pids = {"keeper_pid": os.getpid(), "keeper_start": mine[0], "child_pid": self.leader, "child_start": child[0]}
        return {"run": self.spec.run, "boot_id": boot_id(), **pids}

    def begin(self) -> None:
        try:  # noqa: SIM105 - contextlib would cost memory for as long as the run lives
            os.write(self._gate, b"1")
        except BrokenPipeError:
            pass  # killed while it waited: an end like any other, and `watch` sees it
        os.close(self._gate)

    def reap(self) -> bool:
        """Take in every child that ended; False when no child is left, and so no descendant either."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return False
            if pid == 0:
                return True
            if pid == self.leader and self.status is None:  # a later orphan may have been given the same number
                self.status = status

    def watch(self) -> str:
        """Wait until the program ends or must be ended, and say why."""
        spec, is_claimed, is_stopped = self.spec, False, False
        size, grown = 0, monotonic()
        limit = grown + spec.timeout_s
        while True:
            self.reap()
            has_more = self.take_output()
            now, size_now = monotonic(), sum(output.size_bytes for output in self._outputs)
            if self.status is not None or is_stopped:
                return "stopped" if self.status is None else "exited"
            if not is_claimed and os.access(FINISH, os.F_OK):
                is_claimed, limit = True, now + spec.claim_grace_s
            if now >= limit:
                return "claimed" if is_claimed else "timeout"
            if size_now > spec.output_limit_bytes:
                return "output_limit"
            tick_s = QUIET_TICK_S if size_now == size else TICK_S
            if size_now != size:
                size, grown = size_now, now
            elif spec.stall_s and now - grown >= spec.stall_s and not is_claimed:
                return "stall"
            got = signal.sigtimedwait(_AWAITED, 0 if has_more else min(tick_s, limit - now))
            is_stopped = got is not None and got.si_signo in _STOPS

    def end_all(self) -> int:
        """End every descendant and say how many could not be ended."""
        stages = ((signal.SIGTERM, self.spec.grace_s, TERM_PAUSE_S), (signal.SIGKILL, KILL_WAIT_S, KILL_PAUSE_S))
        for number, patience_s, pause_s in stages:
            until = monotonic() + patience_s
            signalled: set[tuple[int, int]] = set()
            while self.reap():
                self.take_output()
                for process in (found := descendants()) - signalled:
                    send(*process, number)
                signalled |= found
                self.ended |= found
                if monotonic() >= until:
                    break
                signal.sigtimedwait((signal.SIGCHLD, signal.SIGIO), pause_s)
        return len(descendants()) if self.reap() else 0

    def take_output(self) -> bool:
        """Write down what the program has said; True when there may be more."""
        has_more = [output.take() for output in self._outputs]  # all are taken from, whatever the first says
        return any(has_more)

    def take_last_output(self) -> None:
        """What was said up to the end, as far as it may be kept; a process that could not be ended may go on."""
        most_bytes = len(self._outputs) * self.spec.output_limit_bytes
        while self.take_output() and sum(output.size_bytes for output in self._outputs) < most_bytes:
            pass

    def sync_output(self) -> None:
        """The journal is going to vouch for it; here only this run waits for the disk."""
        for output in self._outputs:
            try:
                os.fsync(output.file)
            except OSError:
                return  # a disk that fails has failed for `exit.json` too, which is tried again

    def outcome(self, reason: str, left: int) -> dict[str, object]:
        problem = os.read(self._answer, ROOM_BYTES // 4).decode() if self.status is not None else ""
        code = None if self.status is None else os.waitstatus_to_exitcode(self.status)
        usage = getrusage(RUSAGE_CHILDREN)
        return {
            "reason": "exec_failed" if problem else reason,
            "code": None if code is None or code < 0 else code,
            "signal": None if code is None or code >= 0 else -code,
            "problem": problem,
            "survivors": sum(1 for pid, _ in self.ended if pid != self.leader),
            "left": left,
            "max_rss_bytes": usage.ru_maxrss * 1024,
            "cpu_s": round(usage.ru_utime + usage.ru_stime, 3),
        }


def take_lock() -> bool:
    lock = os.open(LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)  # open, and so locked, until this process ends
    until = monotonic() + LOCK_WAIT_S
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if monotonic() >= until:
                return False
            sleep(0.01)
        else:
            return True


def keep() -> None:
    if not take_lock():
        return report(BUSY)
    if any(os.path.lexists(name) for name in (VOID, IDENTITY, EXIT)):
        return report(USED)
    with open(SPEC, "rb") as file:
        spec = Spec(file.read())
    os.unlink(SPEC)  # its environment may hold keys, and it is not needed again
    identity, exit_file = Reserved(IDENTITY), Reserved(EXIT)
    run = Run(spec)
    identity.publish(run.identity())
    started = time()
    report(READY)  # first: an agent may kill us in its first moment, and its run has begun all the same
    run.begin()
    try:
        reason = run.watch()
    finally:
        left = run.end_all()
    run.take_last_output()
    run.sync_output()
    outcome = {**run.outcome(reason, left), "started": started, "ended": time()}
    until = monotonic() + WRITE_WAIT_S
    while True:
        try:
            return exit_file.publish(outcome)
        except OSError:
            if monotonic() >= until:
                raise
            sleep(TICK_S)


def report(*words: str) -> None:
    try:
        os.write(1, " ".join(words).encode() + b"\n")
        os.dup2(0, 1)  # the starter waits for nothing more
    except OSError:
        return  # the engine died meanwhile; the files say it all


def main() -> None:
    signal.pthread_sigmask(signal.SIG_BLOCK, BLOCKED)
    os.closerange(3, DESCRIPTOR_LIMIT)  # what reads from a pipe of the engine's caller must not wait for us
    if os.fork():
        os._exit(0)  # the engine reaps this one at once; the keeper is never its child
    os.setsid()
    try:
        os.chdir(sys.argv[1])
        keep()
    except OSError as problem:
        report(FAILED, problem.strerror or "", str(problem.filename or ""))
        raise
    os._exit(0)  # the engine waits for this end; tidying the interpreter would only make it wait longer


if __name__ == "__main__":
    main()
