"""Burr with its SQLite persister: one step of a two-action application is one durable transition."""

from __future__ import annotations

from importlib.metadata import version

from burr.core import ApplicationBuilder, State, action
from burr.core.persistence import SQLitePersister
from serve import serve


@action(reads=["rounds"], writes=["rounds"])
def working(state: State) -> State:
    return state.update(rounds=state["rounds"] + 1)


@action(reads=["rounds"], writes=["rounds"])
def reviewing(state: State) -> State:
    return state.update(rounds=state["rounds"] + 1)


def main() -> None:
    persister = SQLitePersister.from_values(db_path="burr.db")
    persister.initialize()
    application = (
        ApplicationBuilder()
        .with_actions(working=working, reviewing=reviewing)
        .with_transitions(("working", "reviewing"), ("reviewing", "working"))
        .with_entrypoint("working")
        .with_state(rounds=0)
        .with_identifiers(app_id="task", partition_key="bench")
        .with_state_persister(persister)
        .build()
    )
    serve(application.step, about={"version": version("burr")})


if __name__ == "__main__":
    main()
