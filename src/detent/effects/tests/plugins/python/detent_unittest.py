"""Loaded into the Python of a project: copies every outcome that unittest's results get into the report.

Results of another kind than `unittest.TestResult` are not seen.
"""

import os
import sys

from detent_report import Report, running

_owner = []  # the result whose test is running


def _report():
    """The report of this process, begun with its first test; None where pytest runs the tests and reports them."""
    if not running:
        import atexit

        begun = Report("unittest")
        atexit.register(begun.end, None)
    return running[0] if running and running[0].runner == "unittest" else None


def _place_of(test):
    """File and name of a test, or of the module that could not be imported, or of the class whose set-up failed."""
    kind = type(test)
    method = getattr(test, "_testMethodName", "")
    text = getattr(test, "_dt_test", None)
    if text is not None:  # a doc-test
        return os.path.abspath(text.filename or text.name), text.name
    if kind.__name__ == "_FailedTest":
        return os.path.abspath(method.replace(".", os.sep) + ".py"), ""
    if not method:
        text = str(test)
        inside = text[text.find("(") + 1 : -1].split(".") if text.endswith(")") else [text]
        for cut in range(len(inside), 0, -1):
            module = sys.modules.get(".".join(inside[:cut]))
            if module is not None:
                return os.path.abspath(getattr(module, "__file__", "") or ""), ".".join(inside[cut:] or ["setUpModule"])
        return "", text
    module = sys.modules.get(kind.__module__)
    return os.path.abspath(getattr(module, "__file__", None) or kind.__module__), kind.__qualname__ + "." + method


def _said(error):
    return error[0].__name__ + ": " + str(error[1]) if error else ""


def _tell(result, test, outcome, error=None):
    report = _report()
    if report is None or (_owner and _owner[0] is not result):
        return  # a test that runs tests of its own: those are not the project's
    file, name = _place_of(test)
    ends = result.__dict__.setdefault("_detent_ends", {})
    if not name:
        report.case(file, "", "", outcome, "collection", _said(error))
    elif not getattr(test, "_testMethodName", ""):
        report.case(file, name, "", outcome, "setup", _said(error))
    else:
        worst = ends.get(id(test))
        if worst is None or worst[2] not in ("failed", "error"):
            ends[id(test)] = (file, name, outcome, _said(error))


def _wrap_results(module):
    kind = module.TestResult

    def wrapped(method, outcome):
        original = getattr(kind, method)

        def recorded(self, test, *rest):
            if method == "addSubTest":
                if rest[1] is not None:
                    is_failure = issubclass(rest[1][0], test.failureException)
                    _tell(self, test, "failed" if is_failure else "error", rest[1])
            else:
                error = rest[0] if rest and isinstance(rest[0], tuple) else None
                _tell(self, test, outcome, error)
            return original(self, test, *rest)

        setattr(kind, method, recorded)

    for method, outcome in (
        ("addSuccess", "passed"),
        ("addFailure", "failed"),
        ("addError", "error"),
        ("addSkip", "skipped"),
        ("addExpectedFailure", "xfailed"),
        ("addUnexpectedSuccess", "xpassed"),
        ("addSubTest", ""),
    ):
        wrapped(method, outcome)
    start_test, stop_test, stop_run = kind.startTest, kind.stopTest, kind.stopTestRun

    def started(self, test):
        if not _owner:
            _owner.append(self)
        return start_test(self, test)

    def stopped(self, test):
        if _owner and _owner[0] is self:
            _owner.clear()
        known = self.__dict__.get("_detent_ends", {}).pop(id(test), None)
        report = _report() if known else None
        if report is not None:
            report.case(known[0], known[1], "", known[2], "test", known[3])
        return stop_test(self, test)

    def run_stopped(self):
        report = _report()
        if report is not None and not _owner:
            report.end(None)
        return stop_run(self)

    kind.startTest, kind.stopTest, kind.stopTestRun = started, stopped, run_stopped


def spec_of_unittest(name, path):
    """How unittest.result is found, with its results wrapped as soon as it has run."""
    from importlib.machinery import PathFinder

    spec = PathFinder.find_spec(name, path)
    if spec is not None and spec.loader is not None:
        run = spec.loader.exec_module

        def run_and_wrap(module):
            run(module)
            _wrap_results(module)

        spec.loader.exec_module = run_and_wrap
    return spec
