"""Given to pytest as a plugin: every test with its end, and what could not be collected, goes into the report.

It begins as soon as pytest reads its options, so that a session that never gets to its tests leaves a report without an
end.
"""

import os

from detent_report import Report, take_back_from_pytest

take_back_from_pytest()
_report = Report("pytest")


class _Recorder:
    """What one session of pytest reports; with xdist it stands in the process that hands out the tests."""

    def __init__(self, config, report):
        self._root = str(getattr(config, "rootpath", "") or config.rootdir)
        self._report = report
        self._open = {}  # node id -> (outcome, stage, why)
        self._reported = set()
        self._code = None

    def _case(self, nodeid, outcome, stage, why):
        file, _, rest = nodeid.partition("::")
        start = rest.find("[")
        is_case = start >= 0 and rest.endswith("]")
        name, parameters = (rest[:start], rest[start + 1 : -1]) if is_case else (rest, "")
        self._report.case(os.path.join(self._root, file), name.replace("::", "."), parameters, outcome, stage, why)

    def pytest_collectreport(self, report):
        if report.outcome != "passed" and report.nodeid not in self._reported:
            self._reported.add(report.nodeid)
            outcome = "skipped" if report.outcome == "skipped" else "error"
            self._case(report.nodeid, outcome, "collection", _why(report))

    def pytest_runtest_logreport(self, report):
        if report.when == "setup":
            self._open.pop(report.nodeid, None)  # also of an attempt that a plugin repeats
        known = self._open.get(report.nodeid)
        now = _end_of(report)
        if now and (known is None or known[0] not in ("failed", "error")):
            self._open[report.nodeid] = now

    def pytest_runtest_logfinish(self, nodeid):
        self._case(nodeid, *self._open.pop(nodeid, ("gone", "", "")))

    def pytest_sessionfinish(self, exitstatus):
        self._code = int(exitstatus)

    def pytest_unconfigure(self):
        for nodeid in list(self._open):
            self._case(nodeid, *self._open.pop(nodeid))
        self._report.end(self._code)


def _why(report):
    crash = getattr(report.longrepr, "reprcrash", None)
    text = crash.message if crash is not None else str(report.longrepr or "")
    lines = [line for line in text.splitlines() if line.strip()]
    if crash is not None or not lines:
        return lines[0] if lines else ""
    return lines[-1]


def _end_of(report):
    """Outcome, stage and reason of one phase of a test; None where it says nothing of the end."""
    is_expected = hasattr(report, "wasxfail")
    if report.outcome == "passed":
        if report.when != "call":
            return None
        return ("xpassed" if is_expected else "passed", "", "")
    if report.outcome == "skipped":
        return ("xfailed" if is_expected else "skipped", "", "")
    if report.outcome == "failed":
        is_body = report.when == "call"
        return ("failed" if is_body else "error", "test" if is_body else "setup", _why(report))
    return None  # a plugin's own word, such as "rerun": another attempt follows


def pytest_configure(config):
    if _report.is_on and not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Recorder(config, _report), "detent_report_of_session")
