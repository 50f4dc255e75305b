"""Tests of runners as data: what ships, what a project may declare, and how one test is selected."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence

import pytest

from detent.effects.tests.runners import load_runners, selection
from detent.errors import UsageError
from detent.words.effects import runners as say
from detent.words.machines import parse as parse_words
from tests.messages import message_of

TESTED = {"pytest", "unittest", "node:test", "jest", "vitest", "ava", "go test", "cargo test"}


def test_eight_runners_are_tested_and_others_say_they_are_not() -> None:
    known = load_runners({}).by_name
    assert {name for name, runner in known.items() if runner.tested} == TESTED
    assert {"mocha", "rspec", "maven"} < known.keys()


def test_a_project_changes_only_the_keys_it_names() -> None:
    built_in = load_runners({}).by_name["maven"]
    declared = load_runners(tomllib.loads('[maven]\njunit = ["target/*.xml"]')).by_name["maven"]
    assert declared == built_in.replace(junit=("target/*.xml",))


def test_a_runner_of_the_project_is_added() -> None:
    ours = load_runners(tomllib.loads('[ours]\ncalls = "bin/spec"\nreports = "junit"\njunit = "out.xml"')).by_name[
        "ours"
    ]
    assert (ours.calls, ours.junit, ours.tested) == (("bin/spec",), ("out.xml",), False)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[ours]", say.wrong_in("runners.ours", say.no_calls())),
        (
            '[ours]\ncalls = "x"\nlanguage = "perl"',
            say.wrong_in("runners.ours", say.not_one_of("language", ("python", "javascript", "go", "rust"))),
        ),
        (
            '[ours]\ncalls = "x"\nreports = "tap"',
            say.wrong_in("runners.ours", say.not_one_of("reports", ("python", "node", "go", "cargo", "junit"))),
        ),
        ('[ours]\ncalls = "x"\njunit = "../x.xml"', say.wrong_in("runners.ours", say.report_outside("../x.xml"))),
        ('[ours]\ncalls = "x"\nunknown = 1', parse_words.unknown_key("runners.ours", "unknown", "")),
        ("pytest = 1", parse_words.must_be_table("runners.pytest")),
    ],
)
def test_a_declaration_that_is_wrong_is_refused(text: str, said: str) -> None:
    with pytest.raises(UsageError) as refused:
        load_runners(tomllib.loads(text))
    problems = message_of(refused.value.what).values["problems"]
    assert isinstance(problems, Sequence)
    assert said in problems


@pytest.mark.parametrize(
    ("runner", "file", "name", "words"),
    [
        ("pytest", "tests/test_a.py", "", ("tests/test_a.py",)),
        ("pytest", "tests/test_a.py", "TestC.test_m", ("tests/test_a.py::TestC::test_m",)),
        ("unittest", "tests/test_a.py", "A.test_m", ("tests.test_a.A.test_m",)),
        ("jest", "a.test.js", "d > two", ("--runTestsByPath", "a.test.js", "-t", "two")),
        ("go test", "sub/b_test.go", "TestX", ("./sub", "-run", "^TestX$")),
        ("go test", "b_test.go", "", ("./.",)),
        ("cargo test", "tests/it.rs", "", ("--test", "it")),
        ("cargo test", "src/lib.rs", "", None),
        ("cargo test", "src/lib.rs", "tests::works", ("tests::works", "--", "--exact")),
        ("cargo test", "src/a/mod.rs", "tests::works", ("a::tests::works", "--", "--exact")),
        ("cargo test", "tests/it.rs", "outside", ("outside", "--", "--exact")),
        ("maven", "src/test/A.java", "", None),
    ],
)
def test_one_file_or_test_is_selected(runner: str, file: str, name: str, words: tuple[str, ...] | None) -> None:
    assert selection(load_runners({}).by_name[runner], file, name) == words
