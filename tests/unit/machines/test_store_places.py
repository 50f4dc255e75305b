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
from detent.words.machines import parse_store as parse_store_words
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
        assert any(code_of(problem) == "parse.lock_path" for problem in raised.value.problems)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"root": "../elsewhere"}, parse_store_words.outside_project("root")),
        ({"root": "/etc"}, parse_store_words.outside_project("root")),
        ({"folder": "threads/../../{id}"}, parse_store_words.outside_project("folder")),
        ({"folder": "threads"}, parse_store_words.folder_needs_id()),
        ({"active": "../active"}, parse_store_words.outside_project("active")),
        ({"runs": "/runs"}, parse_store_words.outside_project("runs")),
        ({"conversation": "a//b"}, parse_store_words.outside_project("conversation")),
        ({"root": None}, parse_store_words.needs_root("folder")),
        ({"in_place": "yes"}, say.key_must_be("store", "in_place", "true or false")),
        ({"final": ["Nowhere"]}, say.unknown("store final", "state", "Nowhere")),
        ({"talks_in": ["Nowhere"]}, say.unknown("store talks_in", "state", "Nowhere")),
        ({"revision": None}, parse_store_words.draft_and_revision()),
        ({"revision": "spec/v.md"}, parse_store_words.draft_and_revision()),
        ({"message": "../commit"}, parse_store_words.outside_folder("../commit")),
        ({"draft": "/draft"}, parse_store_words.outside_folder("/draft")),
        ({"file": "../thread.json"}, parse_store_words.outside_folder("../thread.json")),
        ({"file": "other.json"}, parse_store_words.files_without_own("other.json")),
        ({"files": ["thread.json", "/tmp/x"]}, parse_store_words.outside_folder("/tmp/x")),
        ({"files": ["thread.json", ""]}, parse_store_words.empty_name()),
        ({"log": "../history.jsonl"}, parse_store_words.outside_folder("../history.jsonl")),
        ({"evidence": "/page.html"}, parse_store_words.outside_folder("/page.html")),
        ({"folders": ["spec", "../x/"]}, parse_store_words.outside_folder("../x")),
        ({"extra": {"TASKS": "a/../../b"}}, parse_store_words.outside_folder("a/../../b")),
        ({"shows": {"/id": "secret"}}, say.unknown("store shows", "shown", "secret")),
        ({"tracked": True}, parse_store_words.tracked_needs_root()),
        ({"tracked": True, "folder": None, "in_place": None}, parse_store_words.tracked_needs_root()),
        ({"writes": {"nobody": ["docs/"]}}, say.unknown("store writes", "role", "nobody")),
        ({"writes": {"builder": ["docs"]}}, parse_store_words.writes_folder("builder", "docs")),
        ({"writes": {"builder": ["../docs/"]}}, parse_store_words.writes_folder("builder", "../docs/")),
        ({"adopted": {"Nowhere": {}}}, say.unknown("store adopted", "state", "Nowhere")),
        ({"harness": {**HARNESS, "prompts": "../{name}.md"}}, parse_store_words.harness_outside("../{name}.md")),
        (
            {"harness": {**HARNESS, "commands": {"build": "Nowhere"}}},
            say.unknown("store harness commands", "state", "Nowhere"),
        ),
        (
            {"harness": {**HARNESS, "specialists": {"a/b": "Running"}}},
            parse_store_words.harness_letters("specialists", "a/b"),
        ),
        ({"harness": {**HARNESS, "protocol": 1}}, say.key_must_be("store harness", "protocol", "a text")),
        ({"harness": {**HARNESS, "more": "x"}}, say.unknown_key("store harness", "more", "")),
    ],
)
def test_a_mistake_is_told(changes: dict[str, object], problem: str) -> None:
    with pytest.raises(MachineError) as raised:
        parse(with_store(**changes), vocabulary())
    assert problem in raised.value.problems


def test_an_unknown_step_is_told() -> None:
    document = with_store()
    edges = [{**edge, "prepare": ["deploy"]} if "prepare" in edge else edge for edge in document["edge"]]
    with pytest.raises(MachineError) as raised:
        parse({**document, "edge": edges}, vocabulary())
    assert say.unknown(core_words.move("Finalized", "Preflight"), "prepare", "deploy") in raised.value.problems


@pytest.mark.parametrize(
    ("path", "is_inner"),
    [("a", True), ("a/b.c", True), (".ralf", True), ("", False), ("/a", False), ("a/..", False), ("./a", False)],
)
def test_a_path_that_leads_out_is_seen(path: str, *, is_inner: bool) -> None:
    assert is_inner_path(path) is is_inner
