"""DBOS on SQLite: one step of a running workflow is one durable transition."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

from dbos import DBOS
from serve import serve

DBOS(config={"name": "bench", "system_database_url": f"sqlite:///{os.getcwd()}/dbos.db", "log_level": "ERROR"})


@DBOS.step()
def work(rounds: int) -> int:
    return rounds + 1


@DBOS.workflow()
def walk(count: int) -> list[float]:
    times = []
    rounds = 0
    for _ in range(count):
        start = time.perf_counter()
        rounds = work(rounds)
        times.append(time.perf_counter() - start)
    return times


def answer(question: Mapping[str, Any]) -> list[float]:
    # Only the steps are timed; starting the workflow around them is not part of the comparison.
    return walk(question["count"])


if __name__ == "__main__":
    DBOS.launch()
    serve(lambda: None, about={"version": version("dbos")}, questions={"": answer})
    DBOS.destroy()
