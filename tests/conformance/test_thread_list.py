"""Which tasks there are: newest first, by machine and state, with the chosen thread marked; and what `gc` leaves."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.conformance.ralf_threads import Thread, Threads


def rows(thread: Thread, *words: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = thread.detent("list", *words, "--json", cwd=thread.repo).json()["tasks"]
    return found


def ids(thread: Thread, *words: str) -> list[str]:
    return [row["id"] for row in rows(thread, *words)]


@pytest.fixture
def three(threads: Threads) -> Thread:
    """Threads b, a and c, made in this order; a is cancelled and b finalized."""
    made = {name: threads.thread(task_id=name) for name in ("b", "a", "c")}
    made["a"].done("cancel")
    made["b"].to("Finalized")
    return made["c"]


def test_the_newest_task_is_listed_first(three: Thread) -> None:
    assert ids(three) == ["c", "a", "b"]
    lines = three.detent("list", cwd=three.repo).out.splitlines()
    assert [line.lstrip("* ").split()[0] for line in lines[1:]] == ["c", "a", "b"]


def test_a_list_is_narrowed_by_machine_and_state(three: Thread) -> None:
    assert three.detent("new", "orange", "other work", "--id", "d", cwd=three.repo).code == 0
    assert ids(three) == ["d", "c", "a", "b"]
    assert ids(three, "--machine", "ralf") == ["c", "a", "b"]
    assert ids(three, "--state", "Drafting") == ["c"]
    assert ids(three, "--state", "Drafting", "--state", "pending") == ["d", "c"]
    assert ids(three, "--open", "--machine", "ralf") == ["c", "b"]
    nothing = three.detent("list", "--state", "Nowhere", cwd=three.repo)
    assert (nothing.code, "no task is in Nowhere" in nothing.out) == (0, True), nothing


@pytest.mark.requirement("S4.75")
def test_the_chosen_thread_is_marked(three: Thread) -> None:
    assert [row["id"] for row in rows(three) if row["active"]] == ["c"]
    assert three.detent("use", "b", cwd=three.repo).code == 0
    lines = three.detent("list", cwd=three.repo).out.splitlines()
    assert [line.split()[1] for line in lines if line.startswith("*")] == ["b"]


@pytest.mark.requirement("S4.71")
def test_two_moves_in_one_second_have_times_of_their_own(three: Thread) -> None:
    def updated() -> str:
        return str(json.loads((three.folder / "thread.json").read_text(encoding="utf-8"))["updated_at"])

    three.to("Finalized")
    times = [updated()]
    for state in ("Drafting", "Finalized", "Drafting"):
        three.done(*(("move", state) if state == "Drafting" else ("approve", "--skip-assess")))
        times.append(updated())
    assert times == sorted(set(times))
    assert all(len(time) == len("2026-01-01T00:00:00.000000Z") for time in times)
    three.audit()


def test_a_thread_that_is_collected_with_its_journal_leaves_nothing(three: Thread) -> None:
    three.done("say", "hello")
    three.done("cancel")
    assert three.detent("gc", "--yes", "--journals", cwd=three.repo).code == 0
    root = three.repo / ".ralf"
    assert sorted(path.name for path in (root / "threads").iterdir()) == ["b"]
    assert not (root / "active_thread").exists()
    assert not (root / "spec" / "threads" / "c.jsonl").exists()
    assert three.detent("new", "ralf", "again", "--id", "c", cwd=three.repo).code == 0


def test_a_collected_thread_that_is_not_chosen_leaves_the_choice(three: Thread) -> None:
    assert three.detent("use", "b", cwd=three.repo).code == 0
    assert three.detent("gc", "--yes", "--journals", cwd=three.repo).code == 0
    assert (three.repo / ".ralf" / "active_thread").read_text(encoding="utf-8") == "b\n"
