"""The files a plan speaks of: what is told of them, and that work on no plan is neither inside nor outside of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from detent.core.machine import Gate
from detent.packs.global_ import words as say
from detent.packs.global_.planned import planned_files
from detent.words import artifacts as artifacts_words
from detent.words.proof import tree_not_scanned
from tests.unit.gates.test_json_gates import FILES, PLAN, PLANNING, Desk

BLOCKED = {"question": "which?", "blocking": True}


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


# --- questions ---


def open_at(place: str, *questions: str) -> str:
    return artifacts_words.at(PLANNING, place, say.questions_open(questions))


@pytest.mark.parametrize(
    ("plan", "why"),
    [
        ({"blocking_questions": [{"question": "why?"}]}, open_at("/blocking_questions/0", '"why?"')),
        ({"blocking_questions": [{"text": "why?"}]}, open_at("/blocking_questions/0", '{"text": "why?"}')),
        ({"blocking_questions": [5]}, open_at("/blocking_questions/0", "5")),
        (
            {"open_questions": [BLOCKED], "blocking_questions": ["why?"]},
            open_at("/open_questions/0", '"which?"', '"why?"'),
        ),
    ],
)
def test_a_question_that_blocks_is_quoted_however_it_is_written(desk: Desk, plan: dict[str, object], why: str) -> None:
    desk.put(PLANNING, {**PLAN, **plan})
    fact = desk.fact("questions_closed")
    assert (fact.ok, fact.why) == (False, why)
    assert fact.proof, "what was looked at is known by its hash, though it was not enough"


def test_only_the_beginning_of_a_long_question_is_quoted(desk: Desk) -> None:
    desk.put(PLANNING, {**PLAN, "open_questions": [{**BLOCKED, "question": "wie groß? " * 20}]})
    said = desk.fact("questions_closed").why.partition("is open: ")[2]
    assert (len(said), said[:12]) == (120, '"wie groß? w')


def test_a_plan_that_cannot_be_read_leaves_its_questions_open(desk: Desk) -> None:
    assert (desk.fact("questions_closed").ok, desk.fact("questions_closed").why) == (
        False,
        artifacts_words.json_missing(PLANNING),
    )
    desk.put(PLANNING, "{")
    fact = desk.fact("questions_closed")
    assert (fact.ok, fact.why.partition(": ")[0]) == (False, PLANNING)
    assert fact.proof


def test_a_question_that_does_not_block_may_stay_open(desk: Desk) -> None:
    desk.put(PLANNING, {**PLAN, "open_questions": [{"question": "which?", "blocking": False}]})
    assert desk.fact("questions_closed").ok


def test_a_plan_without_questions_is_its_own_proof(desk: Desk) -> None:
    desk.put(PLANNING, PLAN)
    fact = desk.fact("questions_closed")
    assert (fact.ok, fact.why) == (True, "")
    assert fact.proof


# --- the list of files ---


@pytest.mark.parametrize(
    ("files", "note"),
    [
        ({FILES: ["app.py", "tests/"]}, say.paths_planned(2, FILES)),
        ({f"planning/{FILES}": ["app.py"]}, say.paths_planned(1, "planning/plan.files.json")),
        ({FILES: ["app.py"], f"planning/{FILES}": ["a", "b"]}, say.paths_planned(1, FILES)),
        (
            {PLANNING: {**PLAN, "files": ["a"], "steps": [{"files": ["b", {"path": "c"}]}, {}, "d"]}},
            say.paths_planned(3, PLANNING),
        ),
    ],
)
def test_a_plan_says_how_many_files_it_names_and_where(desk: Desk, files: dict[str, object], note: str) -> None:
    for name, content in files.items():
        desk.put(name, content)
    fact = desk.fact("files_planned")
    assert (fact.ok, fact.why, fact.note) == (True, "", note)
    assert fact.proof


@pytest.mark.parametrize(
    ("files", "why"),
    [
        ({FILES: ["app.py", "a\\b.py"]}, artifacts_words.at(FILES, "/1", say.path_outside('"a\\\\b.py"'))),
        ({FILES: ["a//b.py"]}, artifacts_words.at(FILES, "/0", say.path_outside('"a//b.py"'))),
        ({FILES: [{"path": "./app.py"}]}, artifacts_words.at(FILES, "/0/path", say.path_outside('"./app.py"'))),
        (
            {FILES: {"files": ["app.py", {"path": "*/"}]}},
            artifacts_words.at(FILES, "/files/1/path", say.path_names_everything('"*/"')),
        ),
        ({FILES: ["*.*"]}, artifacts_words.at(FILES, "/0", say.path_names_everything('"*.*"'))),
        ({FILES: ["[!.]*/**"]}, artifacts_words.at(FILES, "/0", say.path_names_everything('"[!.]*/**"'))),
        (
            {PLANNING: {**PLAN, "steps": ["think", {"files": ["app.py", "/etc"]}]}},
            artifacts_words.at(PLANNING, "/steps/1/files/1", say.path_outside('"/etc"')),
        ),
        ({PLANNING: PLAN}, say.no_planned_files(FILES, "planning/plan.files.json", PLANNING)),
        ({}, artifacts_words.json_missing(PLANNING)),
    ],
)
def test_a_list_that_plans_nothing_is_told_with_its_place(desk: Desk, files: dict[str, object], why: str) -> None:
    for name, content in files.items():
        desk.put(name, content)
    fact = desk.fact("files_planned")
    assert (fact.ok, fact.note) == (False, "")
    assert fact.why.startswith(why)


@pytest.mark.parametrize("path", ["src/*.py", "**/x", "*/a", "a?", "src/[ab].py"])
def test_a_pattern_with_a_word_of_its_own_plans_something(desk: Desk, path: str) -> None:
    desk.put(FILES, [path])
    assert desk.fact("files_planned").ok


def test_own_list_must_not_be_empty_whatever_its_schema(desk: Desk) -> None:
    """Only inside a plan the list may be left out; the schema of a list that a machine names itself may be loose."""
    params = {"file": "own.json", "schema": "global/planning", "plan": PLANNING, "plan_schema": "global/planning"}
    desk.put(PLANNING, {**PLAN, "files": ["app.py"]})
    desk.put("own.json", {**PLAN, "files": [], "steps": [{"files": ["app.py"]}]})
    found = planned_files(Gate("ours", "files_planned", params, "task"), desk.seen())
    assert (found.patterns, found.problem) == ((), artifacts_words.at("own.json", "/files", say.lists_no_file()))


# --- work and its plan ---


@pytest.mark.parametrize(
    ("planned", "path", "is_inside"),
    [
        *(("src/", "src/a/b.py", True), ("src/", "src", False), ("src/", "srcs/a.py", False)),
        *(("src", "src", True), ("src", "src/a.py", False), ("src/*.py", "src/a.py", True)),
    ],
)
def test_a_folder_is_planned_with_all_below_it(desk: Desk, planned: str, path: str, is_inside: bool) -> None:
    desk.put(FILES, [planned])
    desk.changed = (path,)
    assert (desk.fact("in_scope").ok, desk.fact("out_of_scope").ok) == (is_inside, not is_inside)


def test_work_is_seen_by_engine_and_its_tree_is_proof(desk: Desk) -> None:
    desk.put(FILES, ["app.py"])
    desk.changed = ("app.py",)
    fact = desk.fact("in_scope")
    assert (fact.ok, fact.why, fact.proof, fact.by_hand) == (True, "", "t", False)
    why = say.all_planned(FILES)
    assert desk.fact("out_of_scope").why == why
    desk.changed = ("other.py",)
    fact = desk.fact("out_of_scope")
    assert (fact.ok, fact.why, fact.proof, fact.by_hand) == (True, "", "t", False)
    desk.changed = ()
    assert desk.fact("out_of_scope").why == say.nothing_changed()


@pytest.mark.parametrize("content", ["[", [], ["../app.py"]])
@pytest.mark.parametrize("changed", [(), ("app.py",), None])
def test_work_without_a_plan_is_neither_inside_nor_outside(
    desk: Desk, content: object, changed: tuple[str, ...] | None
) -> None:
    desk.put(FILES, content)
    desk.changed = changed
    for gate in ("in_scope", "out_of_scope"):
        fact = desk.fact(gate)
        assert (fact.ok, fact.why.split()[0].rstrip(":")) == (False, FILES), gate
    (desk.folder / FILES).unlink()
    for gate in ("in_scope", "out_of_scope"):
        assert desk.fact(gate).why == artifacts_words.json_missing(PLANNING), gate


def test_unscanned_work_is_neither_in_nor_out_of_scope(desk: Desk) -> None:
    desk.put(FILES, ["app.py"])
    desk.changed = None
    for gate in ("in_scope", "out_of_scope"):
        fact = desk.fact(gate)
        assert (fact.ok, fact.why) == (False, tree_not_scanned()), gate
