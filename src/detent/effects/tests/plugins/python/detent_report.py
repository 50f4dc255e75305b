"""Given to the Python of a project: one file of JSON lines per process that runs tests.

The first line says which runner, then one line per test, and `end` only when the process came to its own end. What a
test starts does not report: the environment no longer names the folder by then. Runs on whatever Python 3 the project
has.
"""

# ruff: noqa: UP031  # formatting that every Python 3 knows
import json
import os

_LONGEST_WHY = 300
_ADDOPTS = "PYTEST_ADDOPTS"

running = []  # the report of this process, once a runner began one
theirs = []  # the user's own value of PYTEST_ADDOPTS while ours is offered


class Report:
    """One file; lines of a forked child are not this process's and are dropped."""

    def __init__(self, runner):
        folder = os.environ.pop("DETENT_REPORTS", "")
        self.runner = runner
        self.is_on = bool(folder)
        self._pid = os.getpid()
        if self.is_on:
            name = "%s-%d-%s.jsonl" % (runner, self._pid, os.urandom(6).hex())
            running.append(self)
            self._file = open(os.path.join(folder, name), "x", encoding="utf-8")  # noqa: SIM115  # as long as the process
            self._write({"detent": 1, "runner": runner})

    def _write(self, line):
        if self.is_on and os.getpid() == self._pid:
            self._file.write(json.dumps(line) + "\n")
            self._file.flush()

    def case(self, file, name, parameters, outcome, stage, why):
        is_red = outcome in ("failed", "error")
        lines = why.strip().splitlines() if is_red else []
        said = lines[0].lstrip("E ") if lines and lines[0].startswith("E ") else "".join(lines[:1])
        self._write(
            {
                "file": file,
                "name": name,
                "parameters": parameters,
                "outcome": outcome,
                "stage": stage if is_red else "",
                "why": said[:_LONGEST_WHY].encode("utf-8", "replace").decode("utf-8"),
            }
        )

    def end(self, code):
        self._write({"end": code})


def offer_to_pytest():
    """Name our plugin in the options that pytest is about to read; the user's own stay in front."""
    if not theirs:
        theirs.append(os.environ.get(_ADDOPTS))
        os.environ[_ADDOPTS] = ((theirs[0] or "") + " -p detent_pytest").strip()


def take_back_from_pytest():
    """The user's own value again, so that nothing started from here sees ours."""
    if theirs:
        if theirs[0] is None:
            os.environ.pop(_ADDOPTS, None)
        else:
            os.environ[_ADDOPTS] = theirs[0]
