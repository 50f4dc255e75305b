"""Runs a program that can reach nothing but one loopback port: `python alone.py SOCKET PORT PROGRAM ARGUMENT...`.

The order: enter a user and a network namespace of our own, raise its loopback, open the port there, hand the listening
socket to the process that waits at the Unix socket, become the program. A socket keeps the namespace it was made in, so
the model answers from outside while the program has no other way out. Without arguments it only says, by its exit,
whether this host allows such namespaces.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import socket
import struct
import sys
from pathlib import Path

CLONE_NEWUSER, CLONE_NEWNET = 0x10000000, 0x40000000
SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP = 0x8913, 0x8914, 0x1


def enter_namespaces() -> None:
    user, group = os.getuid(), os.getgid()
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), "no namespace of our own")
    Path("/proc/self/setgroups").write_text("deny", encoding="ascii")
    Path("/proc/self/uid_map").write_text(f"{user} {user} 1", encoding="ascii")
    Path("/proc/self/gid_map").write_text(f"{group} {group} 1", encoding="ascii")


def raise_loopback() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        request = struct.pack("16sh22x", b"lo", 0)
        (flags,) = struct.unpack_from("16xh", fcntl.ioctl(any_socket, SIOCGIFFLAGS, request))
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sh22x", b"lo", flags | IFF_UP))


def main(meeting: str, port: int, argv: list[str]) -> None:
    listener = socket.create_server(("127.0.0.1", port))
    with socket.socket(socket.AF_UNIX) as talk:
        talk.connect(meeting)
        socket.send_fds(talk, [b"listener"], [listener.fileno()])
    os.execvp(argv[0], argv)


if __name__ == "__main__":
    enter_namespaces()
    raise_loopback()
    if len(sys.argv) > 1:
        main(sys.argv[1], int(sys.argv[2]), sys.argv[3:])
