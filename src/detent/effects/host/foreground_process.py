"""Takes the foreground of the terminal, then becomes another program: `foreground_process.py PROGRAM ARGUMENT...`.

Runs inside whatever holds the program, so that keys such as Ctrl-C reach the program and not what holds it. Ctrl-Z does
nothing: there is no shell to come back from. Runs with `-I -S` and imports nothing of detent.
"""

from __future__ import annotations

import os
import signal
import sys


def main() -> None:
    try:
        if os.getpid() != os.getsid(0):  # the first of a session has a group of its own already
            os.setpgid(0, 0)
        signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGTTOU,))  # or taking the foreground would stop us
        os.tcsetpgrp(0, os.getpgrp())
        signal.pthread_sigmask(signal.SIG_UNBLOCK, (signal.SIGTTOU,))
        signal.signal(signal.SIGTSTP, signal.SIG_IGN)
        for number in (signal.SIGPIPE, signal.SIGXFSZ):  # what Python ignores would be inherited
            signal.signal(number, signal.SIG_DFL)
        os.execvp(sys.argv[1], sys.argv[1:])  # noqa: S606  # becoming that program is what this is for
    except OSError as problem:
        sys.stderr.write(f"{sys.argv[1]}: {problem.strerror}\n")
        os._exit(127)


if __name__ == "__main__":
    main()
