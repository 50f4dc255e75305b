"""Keys of the kernel: puts one into a session keyring of this process, and the program that tries to read it."""

from __future__ import annotations

import ctypes
import os
import sys
from functools import cache

import pytest

_NUMBERS = {"x86_64": (250, 248), "aarch64": (219, 217), "riscv64": (219, 217)}  # keyctl, add_key
_JOIN, _SET_TIMEOUT, _SESSION, _USER = 1, 15, -3, -4
_GONE_AFTER_S = 300
NAME, SECRET = b"detent-test", b"a key of the session"

READER = f"""
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
keyctl = {_NUMBERS}[os.uname().machine][0]
found = libc.syscall(keyctl, 10, ctypes.c_int(-3), b"user", {NAME!r}, 0)
room = ctypes.create_string_buffer(100)
libc.syscall(keyctl, 11, ctypes.c_int(found), room, 100)
libc.syscall(keyctl, 11, ctypes.c_int(KEY), room, 100)
print("read:", room.value.decode() or "nothing", flush=True)
"""


@cache
def session_key() -> int:
    """The number of a key that every process started from here can read; skips the test where there are no keys."""
    numbers = _NUMBERS.get(os.uname().machine)
    if numbers is None or not sys.platform.startswith("linux"):
        pytest.skip(f"the numbers of the key calls on {os.uname().machine} are not known to this test")
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall(numbers[0], _JOIN, None)
    key = int(libc.syscall(numbers[1], b"user", NAME, SECRET, len(SECRET), ctypes.c_int(_SESSION)))
    if key < 0:
        pytest.skip(f"no key can be added here: {os.strerror(ctypes.get_errno())}")
    return key


def reader() -> str:
    """A Python program that prints what it can read of that key."""
    return READER.replace("KEY)", f"{session_key()})")


# A session keyring of one's own does not keep a process from the keyring that all processes of a user share.
USER_READER = f"""
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
keyctl = {_NUMBERS}[os.uname().machine][0]
libc.syscall(keyctl, 8, ctypes.c_int(-4), ctypes.c_int(-3))
room = ctypes.create_string_buffer(100)
libc.syscall(keyctl, 11, ctypes.c_int(KEY), room, 100)
print("read:", room.value.decode() or "nothing", flush=True)
"""


def user_reader() -> str:
    """The same for a key in the user's own keyring."""
    session_key()
    keyctl, add_key = _NUMBERS[os.uname().machine]
    libc = ctypes.CDLL(None, use_errno=True)
    key = int(libc.syscall(add_key, b"user", NAME, SECRET, len(SECRET), ctypes.c_int(_USER)))
    libc.syscall(keyctl, _SET_TIMEOUT, key, _GONE_AFTER_S)  # nothing of ours stays in that keyring
    return USER_READER.replace("KEY)", f"{key})")
