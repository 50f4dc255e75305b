"""Tests of how a specification is read: one promise and its criteria, as a reader of the Markdown sees them."""

from __future__ import annotations

import pytest

from detent.packs.ralf import words as say
from detent.packs.ralf.spec import read_spec

WHOLE = """# Sums

Promise: <promise>SUMS ARE RIGHT</promise>

## Criteria

Words before the list belong to nobody.

- [ ] the tests pass; cmd: `make test`
- the page is readable
  on a phone
* AC-7: a script says so
  ```sh
  first &&
  second
  ```
- the linter is content
  cmd: make lint
- it is quick (cmd: ./time it)

Words behind it neither.

## Notes

- no criterion
"""


def test_a_whole_spec() -> None:
    spec = read_spec(WHOLE)
    assert spec.problems == ()
    assert spec.tag == "<promise>SUMS ARE RIGHT</promise>"
    assert [(criterion.label, criterion.text, criterion.command) for criterion in spec.criteria] == [
        ("C1", "the tests pass", "make test"),
        ("C2", "the page is readable on a phone", ""),
        ("AC-7", "a script says so", "first &&\nsecond"),
        ("C4", "the linter is content", "make lint"),
        ("C5", "it is quick", "./time it"),
    ]


@pytest.mark.parametrize(
    "line",
    [
        "**Promise:** <promise>DONE</promise>",
        "Promise: `<promise>DONE</promise>`",
        "- promise: <promise> DONE </promise>",
        "<promise>DONE</promise>",
        "- `<promise>DONE</promise>`",
        "**<promise>DONE</promise>**",
        "Promise: <promise>DONE</promise>\n\n<promise>DONE</promise>",
        "Promise: <promise>DONE</promise>\n\nPromise: <promise>DONE</promise>",
    ],
)
def test_a_promise_may_be_written_in_many_ways(line: str) -> None:
    assert read_spec(f"{line}\n\n## Criteria\n- a\n").promise == "DONE"


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("", say.no_promise_line("Promise: <promise>TEXT</promise>")),
        ("<!-- Promise: <promise>DONE</promise> -->", say.no_promise_line("Promise: <promise>TEXT</promise>")),
        ("```\nPromise: <promise>DONE</promise>\n```", say.no_promise_line("Promise: <promise>TEXT</promise>")),
        ("> Promise: <promise>DONE</promise>", say.no_promise_line("Promise: <promise>TEXT</promise>")),
        ("We promise: soon <promise>DONE</promise>", say.no_promise_line("Promise: <promise>TEXT</promise>")),
        ("Promise: <promise>A</promise>\nPromise: <promise>B</promise>", say.several_promises()),
        ("Print <promise>DONE</promise> at the end", say.no_promise_line("Promise: <promise>TEXT</promise>")),
        ("    <promise>DONE</promise>", say.no_promise_line("Promise: <promise>TEXT</promise>")),
        ("Promise: <promise>A</promise>\n\n<promise>B</promise>", say.several_promises()),
        ("Promise: <promise>TODO</promise>", "placeholder"),
        ("Promise: <promise>TEXT</promise>", "placeholder"),
        ("Promise: <promise> </promise>", "empty"),
        (
            f"Promise: <promise>{'x' * 81}</promise>",
            say.no_real_promise("xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"),
        ),
    ],
)
def test_no_clear_promise_is_none(line: str, problem: str) -> None:
    spec = read_spec(f"# T\n\n{line}\n\n## Criteria\n- a\n")
    assert spec.promise == ""
    assert len(spec.problems) == 1
    assert problem in spec.problems[0]


@pytest.mark.parametrize(
    "heading",
    [
        "Criteria",
        "Acceptance Criteria",
        "ACCEPTANCE CRITERIA:",
        "**Acceptance criteria**",
        "Completion criteria",
        "Success Criteria",
        "Requirements",
    ],
)
def test_criteria_are_read_under_the_headings_people_write(heading: str) -> None:
    spec = read_spec(f"<promise>DONE</promise>\n\n## {heading}\n\n- [ ] the tests pass; cmd: make test\n- b\n")
    assert spec.problems == ()
    assert [(criterion.label, criterion.text, criterion.command) for criterion in spec.criteria] == [
        ("C1", "the tests pass", "make test"),
        ("C2", "b", ""),
    ]


def test_requirements_beside_criteria_are_no_criteria() -> None:
    spec = read_spec("<promise>DONE</promise>\n\n## Requirements\n\n- a\n\n## Acceptance Criteria\n\n- b\n")
    assert (spec.problems, [criterion.text for criterion in spec.criteria]) == ((), ["b"])


def test_an_overlong_promise_is_quoted_by_its_beginning() -> None:
    criteria = "\n\n## Criteria\n- a\n"
    assert read_spec(f"Promise: <promise>{'do' * 40}</promise>{criteria}").promise == "do" * 40
    (problem,) = read_spec(f"Promise: <promise>{'do' * 40}x</promise>{criteria}").problems
    assert problem == say.no_real_promise("dodododododododododododododododododododododododododododododo")


def test_a_dash_inside_a_criterion_is_one_of_its_words() -> None:
    spec = read_spec("Promise: <promise>DONE</promise>\n\n## Criteria\n\n- two - or more - sums; cmd: make\n")
    assert [(criterion.text, criterion.command) for criterion in spec.criteria] == [("two - or more - sums", "make")]


@pytest.mark.parametrize(
    ("item", "text", "command"),
    [
        ("- cmd: make test", "make test", "make test"),
        ("- AC-1: cmd: make test", "make test", "make test"),
        ("-\n  ```\n  first &&\n  second\n  ```", "first &&", "first &&\nsecond"),
        ("1.  it builds\n\n    ```\n    make\n    ```", "it builds", "make"),
        ("1.  it builds\n\n    cmd: make", "it builds", "make"),
        ("-\tit builds\n\n\t```\n\tmake\n\t```", "it builds", "make"),
    ],
)
def test_command_is_found_anywhere_and_names_a_wordless_criterion(item: str, text: str, command: str) -> None:
    spec = read_spec(f"Promise: <promise>DONE</promise>\n\n## Criteria\n\n{item}\n")
    assert spec.problems == ()
    assert [(criterion.text, criterion.command) for criterion in spec.criteria] == [(text, command)]


def test_a_hundred_criteria_can_be_worked_from() -> None:
    spec = read_spec("Promise: <promise>DONE</promise>\n\n## Criteria\n\n" + "- a\n" * 100)
    assert (len(spec.criteria), spec.problems) == (100, ())


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ("", say.no_section("Criteria", "Acceptance Criteria")),
        ("### Acceptance Criteria\n\n- a\n", say.no_section("Criteria", "Acceptance Criteria")),
        (
            "## Criteria\n\n- a\n\n## Acceptance Criteria\n\n- b\n",
            say.criteria_twice(["Criteria", "Acceptance Criteria"]),
        ),
        ("## Criteria\n\nall is well\n", say.no_criterion("Criteria")),
        ("## Criteria\n\n```\n- a\n```\n", say.no_criterion("Criteria")),
        ("## Criteria\n\n> - a\n", say.no_criterion("Criteria")),
        ("## Criteria\n\n<!--\n- a\n-->\n", say.no_criterion("Criteria")),
        ("## Criteria\n\n- TODO\n", say.criterion_says_nothing("C1")),
        ("## Criteria\n\n-\n", say.criterion_says_nothing("C1")),
        ("## Criteria\n\n- a; cmd: x\n  cmd: y\n", say.criterion_with_commands("C1", 2)),
        ("## Criteria\n\n- a; cmd:\n", say.criterion_without_command("C1")),
        ("## Criteria\n\n- a (cmd: ``)\n", say.criterion_without_command("C1")),
        ("## Criteria\n\n- a; cmd:\n  make test\n", say.criterion_without_command("C1")),
        ("## Criteria\n\n- a\n  cmd:\n", say.criterion_without_command("C1")),
        ("## Criteria\n\n- C2: a\n- b\n", say.label_twice("C2")),
        ("## Criteria\n\n" + "- a\n" * 101, say.too_many_criteria(100)),
    ],
)
def test_criteria_that_can_t_be_read(body: str, problem: str) -> None:
    assert read_spec(f"Promise: <promise>DONE</promise>\n\n{body}").problems == (problem,)


def test_all_problems_are_named_at_once() -> None:
    assert len(read_spec("## Criteria\n- TODO\n- a; cmd: x\n  cmd: y\n").problems) == 3


def test_a_command_may_stand_in_a_fence_below_its_word() -> None:
    read = read_spec("Promise: <promise>DONE</promise>\n\n## Criteria\n\n- a; cmd:\n  ```\n  make test\n  ```\n")
    assert (read.problems, read.criteria[0].command) == ((), "make test")
