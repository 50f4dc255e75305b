"""Runs commands of `detent` as forks of one process that has the engine loaded: real processes without a cold start.

Each fork has the arguments, folder, environment and streams of its command and nothing of the command before: the
process they come from never runs one itself. What a cold start alone can show (the interpreter's own settings, what is
imported and when) is left to tests that start one; `tests/e2e/test_cold.py` holds both against each other.

Patterns that a fork had to make are told to the process it came from, whose later forks have them from the start.

As a script it is that process. A request is one packet: the command as JSON, with its three streams and a pipe for
the answer, which gets the process id when the command begins and the exit status when it has ended. A command with a
tracer begins when strace has taken hold of it, so that each of its system calls is seen and none of its imports.
"""

from __future__ import annotations

import ctypes
import gc
import importlib
import json
import os
import pkgutil
import re
import selectors
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import detent
from detent.effects.agents.catalog import load_catalog
from detent.faces.cli.main import main
from detent.gates.verdict import read_verdict
from detent.machines.load import built_in_names, load
from detent.runner.make.vocabulary import vocabulary
from detent.runner.task.open import machine_of
from detent.store.text.codecs import labels_of
from detent.store.text.fields import read_fields

_LARGEST_REQUEST_BYTES = 200_000
_STREAMS = 4  # standard input, output and error, and the answer
_LATE = ("difflib", "glob", "pwd", "string", "tomllib")  # of the standard library, imported by functions
_PR_SET_PTRACER, _ANYBODY = 0x59616D61, -1
_GATE = 3
_MOST_PATTERNS = 8192
_NOT_LOADED = ("detent.__main__", "detent.faces.tui", "detent.faces.repl")  # the program, and what draws on a terminal


class Patterns:
    """What `re` keeps of the patterns it made; a fork takes down what it had to make, before it ends."""

    def __init__(self) -> None:
        vars(re)["_MAXCACHE"] = _MOST_PATTERNS
        self._told = open(os.memfd_create("patterns"), "rb")  # noqa: SIM115  # until the end
        self._path = f"/proc/{os.getpid()}/fd/{self._told.fileno()}"
        self._known: set[tuple[str, int]] = set()

    def learn(self) -> None:
        """In the process that forks: make what forks have made."""
        for line in self._told:
            text, flags = json.loads(line)
            re.compile(text, flags)
        self._known = _made()

    def tell(self) -> None:
        """In a fork."""
        lines = "".join(json.dumps(made) + "\n" for made in _made() - self._known)
        if lines:
            with suppress(OSError), open(self._path, "ab", buffering=0) as telling:
                telling.write(lines.encode())


def _made() -> set[tuple[str, int]]:
    made = vars(re).get("_cache", {})  # nothing is learned where a later Python has another name for it
    return {(text, flags) for kind, text, flags in made if kind is str}


class Forks:
    """The process that commands are forked from; it ends with its parent."""

    def __init__(
        self, python: Sequence[str] = (sys.executable, "-P"), environment: Mapping[str, str] | None = None
    ) -> None:
        self._requests, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                [*python, __file__, str(theirs.fileno())],
                env={"PATH": os.environ.get("PATH", os.defpath), "LANG": "C.UTF-8"}
                if environment is None
                else environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=(theirs.fileno(),),
            )

    def close(self) -> None:
        self._requests.close()
        self._process.wait()

    def run(
        self,
        words: Sequence[str],
        cwd: Path,
        environment: Mapping[str, str],
        stdin: str,
        timeout_s: float,
        tracer: Sequence[str] = (),
    ) -> subprocess.CompletedProcess[str]:
        """One command, as `subprocess.run` would run it; `tracer` are the words of strace, without the process."""
        command = {"words": words, "cwd": str(cwd), "environment": dict(environment), "tracer": tracer}
        request = json.dumps(command).encode()
        standard_input, giving = os.pipe()
        pipes = [os.pipe() for _ in range(_STREAMS - 1)]
        theirs = [standard_input, *(writing for _, writing in pipes)]
        try:
            socket.send_fds(self._requests, [request], theirs)
        finally:
            for descriptor in theirs:
                os.close(descriptor)
        readings = [reading for reading, _ in pipes]
        out, err, answer = _converse(giving, stdin.encode(), readings, time.monotonic() + timeout_s)
        _pid, status = answer.split()
        return subprocess.CompletedProcess(words, os.waitstatus_to_exitcode(int(status)), out.decode(), err.decode())


def _converse(giving: int, unread: bytes, readings: Sequence[int], until: float) -> list[bytes]:
    """Everything that comes out of these pipes, the last of which tells the process id first, while `given` goes in."""
    texts = dict.fromkeys(readings, b"")
    os.set_blocking(giving, False)
    with selectors.DefaultSelector() as waiting:
        for reading in readings:
            waiting.register(reading, selectors.EVENT_READ)
        waiting.register(giving, selectors.EVENT_WRITE)
        while waiting.get_map():
            ready = waiting.select(until - time.monotonic())
            if not ready and time.monotonic() > until:
                os.kill(int(texts[readings[-1]].split()[0]), signal.SIGKILL)
                raise TimeoutError("the command took too long")
            for key, _ in ready:
                if key.fd == giving:
                    unread = _give(giving, unread)
                    is_over = not unread
                else:
                    piece = os.read(key.fd, 1 << 16)
                    texts[key.fd] += piece
                    is_over = not piece
                if is_over:
                    waiting.unregister(key.fd)
                    os.close(key.fd)
    return list(texts.values())


def _give(giving: int, unread: bytes) -> bytes:
    """The unread rest; nothing when the reader is gone."""
    try:
        return unread[os.write(giving, unread) :]
    except BrokenPipeError:
        return b""


def serve(requests: socket.socket) -> None:
    """Fork for every request until the last client is gone."""
    patterns = Patterns()
    with selectors.DefaultSelector() as waiting:
        waiting.register(requests, selectors.EVENT_READ)
        while True:
            for key, _ in waiting.select():
                if key.fileobj is requests:
                    data, streams, _flags, _address = socket.recv_fds(requests, _LARGEST_REQUEST_BYTES, _STREAMS)
                    if not data:
                        return
                    patterns.learn()
                    begun = _begin(json.loads(data), streams, patterns)
                    waiting.register(os.pidfd_open(begun[0]), selectors.EVENT_READ, begun)
                else:
                    waiting.unregister(key.fd)
                    os.close(key.fd)
                    _end(*key.data)


def _begin(
    command: Mapping[str, Any], streams: Sequence[int], patterns: Patterns
) -> tuple[int, int, subprocess.Popen[bytes] | None]:
    """The process of a command, where its answer goes, and its tracer."""
    gate, opening = os.pipe()
    pid = os.fork()
    if pid == 0:
        _become(command, streams, gate, patterns)
    os.write(streams[-1], f"{pid} ".encode())
    for descriptor in (gate, *streams[:-1]):
        os.close(descriptor)
    tracer = None
    if command["tracer"]:
        tracer = subprocess.Popen([*command["tracer"], "-p", str(pid)], stderr=subprocess.PIPE)
        assert tracer.stderr is not None
        tracer.stderr.readline()  # that it is attached
    os.close(opening)
    return pid, streams[-1], tracer


def _end(pid: int, answer: int, tracer: subprocess.Popen[bytes] | None) -> None:
    if tracer is not None:
        tracer.communicate()  # it has written down the last call then
    with suppress(BrokenPipeError):  # its reader is gone
        os.write(answer, str(os.waitpid(pid, 0)[1]).encode())
    os.close(answer)


def _become(command: Mapping[str, Any], streams: Sequence[int], gate: int, patterns: Patterns) -> None:
    """In the fork: be the command, and end with its exit code."""
    code = 1
    try:
        for number, descriptor in enumerate((*streams[:-1], gate)):
            os.dup2(descriptor, number)
        os.closerange(_GATE + 1, os.sysconf("SC_OPEN_MAX"))
        _open_streams()
        os.chdir(command["cwd"])
        os.environ.clear()
        os.environ.update(command["environment"])
        sys.argv = ["detent", *command["words"]]
        if command["tracer"]:  # some kernels let only ancestors trace
            ctypes.CDLL(None).prctl(_PR_SET_PTRACER, _ANYBODY, 0, 0, 0)
            os.read(_GATE, 1)
        os.close(_GATE)
        code = main()
        sys.stdout.flush()
        if not command["tracer"]:  # every call that is traced is the command's own
            patterns.tell()
    except BaseException:  # noqa: BLE001  # as the interpreter does: to standard error, and exit code 1
        sys.excepthook(*sys.exc_info())
    finally:
        sys.stderr.flush()
        os._exit(code)


def _open_streams() -> None:
    """As a new interpreter opens them where the locale is C.UTF-8."""
    sys.stdin = open(0, encoding="utf-8", errors="surrogateescape", closefd=False)  # noqa: SIM115  # until the end
    sys.stdout = open(1, "w", encoding="utf-8", errors="surrogateescape", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", 1, encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115


def load_everything() -> None:
    """What a command would import when it needs it is here already in every fork."""
    for name in _LATE:
        importlib.import_module(name)
    for module in pkgutil.walk_packages(detent.__path__, "detent."):
        if module.name.startswith(_NOT_LOADED):
            continue
        try:
            importlib.import_module(module.name)
        except ModuleNotFoundError as error:
            if str(error.name).startswith("detent"):
                raise
            # It needs a library that is not here; the command that wants it will say so.


def warm_up() -> None:
    """What is made on first use: patterns, machines and agents that come with detent."""
    for name in built_in_names():
        machine, pinned = load(name, vocabulary())
        machine_of(pinned, (), ())
        read_fields("", labels_of(machine))
    load_catalog({})
    read_verdict("Verdict: PASS", ("PASS", "FAIL"))


if __name__ == "__main__":
    load_everything()
    warm_up()
    gc.freeze()  # a fork that looks through all this would copy it
    serve(socket.socket(fileno=int(sys.argv[1])))
