"""Where a machine keeps its tasks in a project: every mistake of those keys is told, none leads out of the project."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from detent.errors import MachineError
from detent.machines.parse import parse
from detent.machines.reading import is_inner_path
from detent.runner.make.vocabulary import vocabulary
from detent.words import core as core_words
from detent.words.machines import parse as say
from detent.words.message import code_of

HARNESS = {"instructions": "a.md", "prompts": "{name}.md", "agents": "agents/{name}.md", "protocol": "be honest"}
MACHINE = Path(__file__).resolve().parents[2] / "data" / "thread.toml"


def with_store(**changes: object) -> dict[str, Any]:
    document = tomllib.loads(MACHINE.read_text(encoding="utf-8"))
    store = {key: value for key, value in {**document["store"], **changes}.items() if value is not None}
    return {**document, "store": store}


def test_the_machine_of_the_tests_is_in_order() -> None:
    machine = parse(with_store(), vocabulary())
    assert (machine.store.root, machine.store.in_place) == (".thread", True)
    parse(with_store(tracked=True, folder=None, harness=HARNESS, writes={"builder": ["docs/"]}), vocabulary())


def test_only_in_place_tasks_lock_files_of_the_tree() -> None:
    lock = {"name": "frame", "after": ["Drafting"], "files": ["tree:preferences.md"]}
    parse({**with_store(), "lock": [lock]}, vocabulary())
    for changes, files in (({"in_place": None}, lock["files"]), ({}, ["tree:../x"])):
        with pytest.raises(MachineError) as raised:
            parse({**with_store(**changes), "lock": [{**lock, "files": files}]}, vocabulary())
        assert any(code_of(told) == "parse.lock_path" for told in raised.value.problems)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"root": "../elsewhere"}, "store: root must be a path inside the project"),
        ({"root": "/etc"}, "store: root must be a path inside the project"),
        ({"folder": "threads/../../{id}"}, "store: folder must be a path inside the project"),
        ({"folder": "threads"}, "store: folder must hold {id}"),
        ({"active": "../active"}, "store: active must be a path inside the project"),
        ({"runs": "/runs"}, "store: runs must be a path inside the project"),
        ({"conversation": "a//b"}, "store: conversation must be a path inside the project"),
        ({"root": None}, "store: folder needs root"),
        ({"in_place": "yes"}, "in_place must be true or false"),
        ({"final": ["Nowhere"]}, "unknown state 'Nowhere'"),
        ({"talks_in": ["Nowhere"]}, "unknown state 'Nowhere'"),
        ({"revision": None}, "store: draft names a file"),
        ({"revision": "spec/v.md"}, "store: draft names a file"),
        ({"message": "../commit"}, "store: ../commit must be a path inside the task folder"),
        ({"draft": "/draft"}, "store: /draft must be a path inside the task folder"),
        ({"file": "../thread.json"}, "store: ../thread.json must be a path inside the task folder"),
        ({"file": "other.json"}, "store: files must name other.json too"),
        ({"files": ["thread.json", "/tmp/x"]}, "store: /tmp/x must be a path inside the task folder"),
        ({"files": ["thread.json", ""]}, "store: an empty text"),
        ({"log": "../history.jsonl"}, "store: ../history.jsonl must be a path inside the task folder"),
        ({"evidence": "/page.html"}, "store: /page.html must be a path inside the task folder"),
        ({"folders": ["spec", "../x/"]}, "store: ../x must be a path inside the task folder"),
        ({"extra": {"TASKS": "a/../../b"}}, "store: a/../../b must be a path inside the task folder"),
        ({"shows": {"/id": "secret"}}, "unknown shown 'secret'"),
        ({"tracked": True}, "store: tracked needs root and in_place, and no folder"),
        ({"tracked": True, "folder": None, "in_place": None}, "store: tracked needs root and in_place, and no folder"),
        ({"writes": {"nobody": ["docs/"]}}, "unknown role 'nobody'"),
        ({"writes": {"builder": ["docs"]}}, "'docs' must be a folder of the tree, with / at its end"),
        ({"writes": {"builder": ["../docs/"]}}, "'../docs/' must be a folder of the tree"),
        ({"adopted": {"Nowhere": {}}}, "unknown state 'Nowhere'"),
        ({"harness": {**HARNESS, "prompts": "../{name}.md"}}, "../{name}.md must be a path inside the tree"),
        ({"harness": {**HARNESS, "commands": {"build": "Nowhere"}}}, "unknown state 'Nowhere'"),
        ({"harness": {**HARNESS, "specialists": {"a/b": "Running"}}}, "a/b must be made of letters"),
        ({"harness": {**HARNESS, "protocol": 1}}, "protocol must be a text"),
        ({"harness": {**HARNESS, "more": "x"}}, "unknown key 'more'"),
    ],
)
def test_a_mistake_is_told(changes: dict[str, object], problem: str) -> None:
    with pytest.raises(MachineError) as raised:
        parse(with_store(**changes), vocabulary())
    assert any(problem in told for told in raised.value.problems), raised.value.problems


def test_an_unknown_step_is_told() -> None:
    document = with_store()
    edges = [{**edge, "prepare": ["deploy"]} if "prepare" in edge else edge for edge in document["edge"]]
    with pytest.raises(MachineError) as raised:
        parse({**document, "edge": edges}, vocabulary())
    assert any(
        told == say.unknown(core_words.move("Finalized", "Preflight"), "prepare", "deploy")
        for told in raised.value.problems
    )


@pytest.mark.parametrize(
    ("path", "is_inner"),
    [("a", True), ("a/b.c", True), (".ralf", True), ("", False), ("/a", False), ("a/..", False), ("./a", False)],
)
def test_a_path_that_leads_out_is_seen(path: str, *, is_inner: bool) -> None:
    assert is_inner_path(path) is is_inner
