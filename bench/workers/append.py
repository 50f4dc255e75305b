"""The least a durable transition can cost: one append to an open file and one fdatasync."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

from serve import serve


def appender(path: str, size_bytes: int) -> Callable[[], None]:
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    data = b"x" * (size_bytes - 1) + b"\n"

    def append() -> None:
        os.write(descriptor, data)
        os.fdatasync(descriptor)

    return append


if __name__ == "__main__":
    serve(appender("appended", int(sys.argv[1])))
