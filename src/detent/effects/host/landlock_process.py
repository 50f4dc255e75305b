"""Puts itself under Landlock, then becomes another program: `landlock_process.py COUNT PART... PROGRAM ARGUMENT...`.

The COUNT parts together are JSON with the paths that may be written and read, and whether TCP may be used; one word of
a command line can't be that long. Runs with `-I -S` and imports nothing of detent. What can't be put under the rules is
not run.
"""

from __future__ import annotations

import ctypes
import json
import os
import sys

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
PATH_BENEATH, ASK_VERSION = 1, 1
PR_SET_NO_NEW_PRIVS, PR_CAPBSET_DROP = 38, 24
MOST_CAPABILITIES = 64

EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
READ = EXECUTE | READ_FILE | READ_DIR
RIGHTS_OF_VERSION = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 4: (1 << 15) - 1, 5: (1 << 16) - 1}
SCOPES, SCOPED_SINCE = 0b11, 6  # no abstract sockets and no signals to processes that are not under these rules
TCP, TCP_SINCE = 0b11, 4  # to bind and to connect; UDP is not ruled over
OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | (1 << 14) | (1 << 15)  # what a rule about a file may hold

PR_SET_SECCOMP, FILTER = 22, 2
# Keys of the kernel are no files: add_key, request_key and keyctl, by the numbers that 64- and 32-bit programs use.
KEY_CALLS = {
    "x86_64": ((0xC000003E, 248, 250), (0x40000003, 286, 288)),
    "aarch64": ((0xC00000B7, 217, 219), (0x40000028, 309, 311)),
}
LOAD, AND, EQUAL, AT_LEAST, MORE, RETURN = 0x20, 0x54, 0x15, 0x35, 0x25, 0x06  # of the filter's machine
NUMBER_AT, KIND_AT = 0, 4  # in what the filter is shown of a call
WITHOUT_X32 = 0xBFFFFFFF  # the same calls under other numbers
ALLOWED, REFUSED = 0x7FFF0000, 0x00050001  # "Operation not permitted"

libc = ctypes.CDLL(None, use_errno=True)


class RulesetAttribute(ctypes.Structure):
    _fields_ = (
        ("handled_access_fs", ctypes.c_uint64),
        ("handled_access_net", ctypes.c_uint64),
        ("scoped", ctypes.c_uint64),
    )


class PathBeneath(ctypes.Structure):
    _layout_, _pack_ = "ms", 1  # without gaps, as the kernel reads it; newer Pythons want the layout named
    _fields_ = (("allowed_access", ctypes.c_uint64), ("parent_fd", ctypes.c_int32))


def call(number: int, *arguments: object) -> int:
    result = int(libc.syscall(number, *arguments))
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def version() -> int:
    try:
        return call(CREATE_RULESET, None, 0, ASK_VERSION)
    except OSError:
        return 0


def allow(ruleset: int, path: str, rights: int) -> None:
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return  # what is not there needs no rule
    try:
        rule = PathBeneath(rights if os.path.isdir(path) else rights & OF_FILES, descriptor)
        call(ADD_RULE, ruleset, PATH_BENEATH, ctypes.byref(rule), 0)
    finally:
        os.close(descriptor)


def restrict(writable: list[str], readable: list[str], *, tcp: bool) -> None:
    known = version()
    if known < (1 if tcp else TCP_SINCE):
        raise OSError(0, "the kernel offers no Landlock that could hold this")
    handled = RIGHTS_OF_VERSION.get(known, RIGHTS_OF_VERSION[5])
    # What is ruled over and allowed by no rule is denied.
    attribute = RulesetAttribute(handled, 0 if tcp else TCP, SCOPES if known >= SCOPED_SINCE else 0)
    # An older kernel takes a longer attribute as long as what it does not know is zero.
    ruleset = call(CREATE_RULESET, ctypes.byref(attribute), ctypes.sizeof(attribute), 0)
    for path in readable:
        allow(ruleset, path, READ & handled)
    for path in writable:
        allow(ruleset, path, handled)
    if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "no_new_privs can't be set")
    call(RESTRICT_SELF, ruleset, 0)
    os.close(ruleset)


def drop_capabilities() -> None:
    """Landlock rules over files: what root may do besides is taken away with the next program that is run."""
    for number in range(MOST_CAPABILITIES):
        libc.prctl(PR_CAPBSET_DROP, number, 0, 0, 0)  # refused to users other than root; they have none to lose


class Instruction(ctypes.Structure):
    _fields_ = (("code", ctypes.c_uint16), ("yes", ctypes.c_uint8), ("no", ctypes.c_uint8), ("value", ctypes.c_uint32))


class Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_uint16), ("first", ctypes.POINTER(Instruction)))


def deny_keys() -> None:
    """Close the keyrings of the user, which are open to all their processes; needs no_new_privs.

    On processors whose numbers are not listed nothing is denied.
    """
    steps: list[tuple[int, int, int, int]] = []
    for kind, first, last in KEY_CALLS.get(os.uname().machine, ()):
        steps += [(LOAD, 0, 0, KIND_AT), (EQUAL, 0, 6, kind), (LOAD, 0, 0, NUMBER_AT), (AND, 0, 0, WITHOUT_X32)]
        steps += [(AT_LEAST, 0, 2, first), (MORE, 1, 0, last), (RETURN, 0, 0, REFUSED), (RETURN, 0, 0, ALLOWED)]
    if not steps:
        return
    steps.append((RETURN, 0, 0, ALLOWED))
    instructions = (Instruction * len(steps))(*(Instruction(*step) for step in steps))
    if libc.prctl(PR_SET_SECCOMP, FILTER, ctypes.byref(Program(len(steps), instructions)), 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "calls about keys can't be denied")


def main() -> None:
    behind = int(sys.argv[1]) + 2
    spec, program = json.loads("".join(sys.argv[2:behind])), sys.argv[behind:]
    try:
        drop_capabilities()
        restrict(spec["writable"], spec["readable"], tcp=spec["tcp"])
        deny_keys()
        os.execvp(program[0], program)  # noqa: S606  # becoming that program is what this is for
    except OSError as problem:
        sys.stderr.write(f"landlock: {problem.strerror}\n")
        os._exit(126)


if __name__ == "__main__":
    main()
