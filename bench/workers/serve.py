"""The worker's side of the talk: one JSON line says what it is, then each question gets one line of answer.

Workers run in environments of their own, so this uses nothing but the standard library of Python 3.11.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any


def serve(
    work: Callable[[], object] | Mapping[str, Callable[[], object]],
    *,
    before: Callable[[str], object] | None = None,
    about: Mapping[str, Any] | None = None,
    questions: Mapping[str, Callable[[Mapping[str, Any]], Any]] | None = None,
) -> None:
    """Repeat `work` as often as asked and answer with the seconds of each; `before` gets its name and is not timed."""
    # Libraries print what they like; only this copy of the standard output belongs to the talk.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)

    def say(value: object) -> None:
        answers.write(json.dumps(value) + "\n")
        answers.flush()

    say(dict(about or {}))
    for line in sys.stdin:
        question = json.loads(line)
        if questions and question.get("what") in questions:
            say(questions[question["what"]](question))
            continue
        name = question["what"]
        one = work[name] if isinstance(work, Mapping) else work
        times = []
        for _ in range(question["count"]):
            if before is not None:
                before(name)
            times.append(_timed(one))
        say(times)


def _timed(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start
