"""LangGraph with its SQLite checkpointer, durability "sync": one superstep of a two-node loop is one transition."""

from __future__ import annotations

import sqlite3
from importlib.metadata import version
from typing import TypedDict

from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import START, StateGraph
from serve import serve


class Task(TypedDict):
    rounds: int


def work(task: Task) -> Task:
    return {"rounds": task["rounds"] + 1}


def main() -> None:
    graph = StateGraph(Task)
    graph.add_node("working", work)
    graph.add_node("reviewing", work)
    graph.add_edge(START, "working")
    graph.add_edge("working", "reviewing")
    graph.add_edge("reviewing", "working")
    saver = SqliteSaver(sqlite3.connect("langgraph.db", check_same_thread=False))
    compiled = graph.compile(checkpointer=saver)
    settings = {"configurable": {"thread_id": "task"}, "recursion_limit": 1_000_000}
    # One endless run, not one call per transition: the start of a call is not part of the comparison.
    supersteps = compiled.stream({"rounds": 0}, settings, stream_mode="updates", durability="sync")
    serve(lambda: next(supersteps), about={"version": version("langgraph")})


if __name__ == "__main__":
    main()
