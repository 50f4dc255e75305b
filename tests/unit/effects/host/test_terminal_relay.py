"""Tests of the relay between a person's terminal and a program's: unread keys do not reach the shell."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from tests.e2e.terminal import Terminal

# Closes the relay while keys wait in the person's terminal, then counts what a shell would find there.
CLOSING = """
import fcntl, select, struct, termios
from detent.effects.host.terminal_relay import Relay
relay = Relay()
relay.attach()
print("attached", flush=True)
select.select([0], [], [])
relay.close()
print("left", struct.unpack("i", fcntl.ioctl(0, termios.FIONREAD, bytes(4)))[0], "bytes", flush=True)
"""


def test_keys_that_were_not_taken_are_dropped_at_the_end(tmp_path: Path) -> None:
    with Terminal(("-c", CLOSING), tmp_path, dict(os.environ), (sys.executable,)) as terminal:
        terminal.until("attached")
        terminal.type("rm -rf everything\n")
        terminal.until("bytes")
        terminal.end()
    assert "left 0 bytes" in terminal.shown
