"""Tests of the `markdown_fields` codec: which lines are fields, and that editing leaves every other byte alone."""

from __future__ import annotations

import pytest

from detent.store.text.fields import append_to_section, read_fields, replace_value, write_fields
from detent.store.text.markdown import find_section

LABELS = ("Phase", "Status", "Objective", "Validation plan", "Validation", "Next step")


def values(text: str) -> dict[str, str]:
    return {label: field.value for label, field in read_fields(text, LABELS).items()}


# --- which lines are fields ---


@pytest.mark.parametrize(
    "line",
    [
        "Phase: shape",
        "- Phase: shape",
        "* Phase: shape",
        "+ Phase: shape",
        "-\tPhase: shape",
        "   Phase: shape",
        "**Phase:** shape",
        "**Phase**: shape",
        "__Phase__: shape",
        "- **Phase:** shape",
        "**Phase: shape**",
        "phase: shape",
        "PHASE : shape",
        "Phase:shape",
        "Phase:\tshape",
        "Phase: shape   ",
        "Phase: shape <!-- intake | shape -->",
        "Phase: <!-- hint --> shape",
        "\ufeffPhase: shape",
        "Phase: shape\r",
        "Phase: shape\n---",
        "Phase: shape\n===",
        "text before\nPhase: shape",
        "- item\nPhase: shape",
        "- item\n  - deeper\nPhase: shape",
        "# Title\nPhase: shape",
        "```\nPhase: done\n```\nPhase: shape",
        "<!-- Phase: done -->\nPhase: shape",
    ],
)
@pytest.mark.parametrize("after", ["", "\n", "\nStatus: x\n"])
def test_a_label_is_read_however_people_write_it(line: str, after: str) -> None:
    assert read_fields(line + after, LABELS)["Phase"].line_value == "shape"


@pytest.mark.parametrize(
    "text",
    [
        "```\nPhase: done\n```",
        "~~~\nPhase: done",
        "- ```\n  Phase: done\n  ```",
        "    Phase: done",
        "text\n    Phase: done",
        "<!-- Phase: done -->",
        "<!--\nPhase: done\n-->",
        "<!--\nPhase: done",
        "text <!--\nPhase: done --> text",
        "<div>\nPhase: done\n</div>",
        "> Phase: done",
        "> **Phase:** done",
        "- > Phase: done",
        "- a\n  - Phase: done",
        "- a\n  Phase: done",
        "1. Phase: done",
        "| Phase: done | x |",
        "# Phase: done",
        "Phases: done",
        "My Phase: done",
        "Phase done",
        "Pha\u017fe: done",
        "`Phase: done`",
        "- [ ] Phase: done",
        "[Phase: done](x)",
        "Phase\n: done",
        "[a]: <b> 'x\nPhase: done\n'",
    ],
)
def test_a_label_that_is_only_text_is_no_field(text: str) -> None:
    assert "Phase" not in read_fields(text, LABELS)


def test_the_first_occurrence_counts_and_the_others_are_counted() -> None:
    found = read_fields("Phase: shape\nStatus: a\nPhase: done\nmore\nphase: review\n", LABELS)["Phase"]
    assert (found.value, found.repeated) == ("shape", 2)


def test_the_longest_label_wins() -> None:
    assert values("Validation plan: a\nValidation: b") == {"Validation plan": "a", "Validation": "b"}


def test_labels_are_spelled_as_the_machine_spells_them() -> None:
    assert values("VALIDATION PLAN: a\nnext STEP: b") == {"Validation plan": "a", "Next step": "b"}


# --- how far a value runs ---


def test_value_runs_to_next_label_or_heading_with_fences_inside() -> None:
    text = (
        "Objective: one\ntwo\n\nthree\nValidation plan:\n- cmd: a\n```\nPhase: x\n# no heading\n```\n\n"
        "# Heading\nStatus: s\n\nafter\nOther: unknown labels belong to the value\n\n## Next\nnot here\n"
    )
    assert values(text) == {
        "Objective": "one\ntwo\n\nthree",
        "Validation plan": "- cmd: a\n```\nPhase: x\n# no heading\n```",
        "Status": "s\n\nafter\nOther: unknown labels belong to the value",
    }


def test_comments_are_no_part_of_a_value() -> None:
    text = "Objective: a <!-- x --> b\n<!-- gone -->\nc <!--\nd --> e\nStatus:\n"
    assert values(text) == {"Objective": "a  b\n\nc \n e", "Status": ""}


def test_a_repeated_label_ends_a_value() -> None:
    assert values("Objective: a\nObjective: b\nc\nStatus: d") == {"Objective": "a", "Status": "d"}


def test_a_label_like_line_inside_a_value_is_a_label() -> None:
    """They can't be told apart, so the rule is simple: a known label at the start of a line is a label."""
    assert values("Objective: a\nStatus: of the work is fine") == {"Objective": "a", "Status": "of the work is fine"}


def test_strange_line_separators_do_not_split_a_line() -> None:
    assert values("Objective: a\u2028Status: b\x0bPhase: c\x85d") == {"Objective": "a\u2028Status: b\x0bPhase: c\x85d"}


def test_old_line_ends_do() -> None:
    assert values("Phase: a\rStatus: b\r") == {"Phase": "a", "Status": "b"}


# --- writing ---


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Phase: a\n", "Phase: b\n"),
        ("Phase: a", "Phase: b"),
        ("Phase:\n", "Phase: b\n"),
        ("Phase:", "Phase: b"),
        ("Phase:   \n", "Phase:   b\n"),
        ("Phase:a\n", "Phase: b\n"),
        ("Phase: a   \n", "Phase: b   \n"),
        ("Phase: a\r\nx\r\n", "Phase: b\r\nx\r\n"),
        ("\ufeffPhase: a\n", "\ufeffPhase: b\n"),
        ("- **Phase:** a\n", "- **Phase:** b\n"),
        ("**Phase**: a\n", "**Phase**: b\n"),
        ("**Phase: a**\n", "**Phase: b**\n"),
        ("Phase: **a**\n", "Phase: b\n"),
        ("Phase: a <!-- x -->\n", "Phase: b\n"),
        ("phase : a\nPhase: a\n", "phase : b\nPhase: a\n"),
        ("Phase: a\n---\n", "Phase: b\n---\n"),
        ("x\n\n```\nPhase: a\n```\n\tPhase: a\nPhase: a", "x\n\n```\nPhase: a\n```\n\tPhase: a\nPhase: b"),
        ("Phase: a\ncontinued\n", "Phase: b\ncontinued\n"),
    ],
)
def test_only_the_value_is_replaced(before: str, after: str) -> None:
    assert write_fields(before, LABELS, {"Phase": "b"}) == after
    assert write_fields(after, LABELS, {"Phase": "b"}) == after


def test_a_value_that_reads_the_same_is_not_touched() -> None:
    text = "Phase:   b  <!-- a | b -->\r\n"
    assert write_fields(text, LABELS, {"Phase": "b"}) == text


@pytest.mark.requirement("S0.36")
def test_unknown_fields_and_lines_survive() -> None:
    text = "# T\n\nPhase: a\nOwner: Ann\n\n- Priority: 2\nfree text\n\n## Notes\n\nmore: x\n"
    assert write_fields(text, LABELS, {"Phase": "b"}) == text.replace("Phase: a", "Phase: b")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Status: s\n", "Phase: b\nStatus: s\n"),
        ("# T\n\nStatus: s\n", "# T\nPhase: b\n\nStatus: s\n"),
        ("T\n===\nStatus: s\n", "T\n===\nPhase: b\nStatus: s\n"),
        ("\ufeffStatus: s\n", "\ufeffPhase: b\nStatus: s\n"),
        ("# T", "# T\nPhase: b"),
        ("# T\r\n\r\ntext", "# T\r\nPhase: b\r\n\r\ntext"),
        ("text\n", "Phase: b\n\ntext\n"),
        ("    code\n", "Phase: b\n\n    code\n"),
        ("---\nx: y\n---\n", "Phase: b\n\n---\nx: y\n---\n"),
        ("```\nPhase: a\n", "Phase: b\n\n```\nPhase: a\n"),
        ("", "Phase: b\n"),
    ],
)
def test_a_lost_state_line_is_put_back_at_the_top(before: str, after: str) -> None:
    assert write_fields(before, LABELS, {"Phase": "b"}) == after
    assert write_fields(after, LABELS, {"Phase": "b"}) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Phase: b\nObjective: o\n", "Phase: b\nStatus: s\nObjective: o\n"),
        ("- **Phase:** b\n- x\n", "- **Phase:** b\n- **Status:** s\n- x\n"),
        ("**Phase: b**\nx\n", "**Phase: b**\nStatus: s\nx\n"),
        ("Phase:b\r\n", "Phase:b\r\nStatus: s\r\n"),
        ("Phase: b", "Phase: b\nStatus: s"),
        ("x\rPhase: b\ry", "x\rPhase: b\rStatus: s\ry"),
        (
            "Phase: b\nValidation plan:\n- cmd: a\n- cmd: c\n",
            "Phase: b\nStatus: s\nValidation plan:\n- cmd: a\n- cmd: c\n",
        ),
    ],
)
def test_lost_label_is_restored_below_the_state_in_style(before: str, after: str) -> None:
    assert write_fields(before, LABELS, {"Phase": "b", "Status": "s"}) == after
    assert write_fields(after, LABELS, {"Phase": "b", "Status": "s"}) == after


@pytest.mark.parametrize(
    "text",
    [
        "Phase: a <!-- x\nStatus: y -->\n",  # the edit shows a label that a comment hid
        "foo <a\nPhase: ?\nx>\n",  # the edit makes a tag that hides the label
        "foo <a\nPhase: ?\nx>\n\nStatus: new\n",
        "[a]: b 'x\nPhase: it's\nfoo'\n",  # the edit makes a link definition that hides it
        "Phase: ` <!--\nfoo ` -->\nStatus: q\n",
        "<!--\nPhase: a\nStatus: b\n",
        "> a\nPhase: x\n",
    ],
)
def test_an_edit_that_shows_or_hides_labels_still_reads_back(text: str) -> None:
    wanted = {"Phase": "shape", "Status": "new"}
    written = write_fields(text, LABELS, wanted)
    found = read_fields(written, LABELS)
    assert {label: found[label].line_value for label in wanted} == wanted
    assert write_fields(written, LABELS, wanted) == written


def test_a_label_is_put_back_where_no_comment_hides_it() -> None:
    text = "Phase: x <!-- c\nfoo -->\n"
    assert write_fields(text, LABELS, {"Status": "s"}).startswith("Status: s\n")
    assert read_fields(write_fields(text, LABELS, {"Status": "s"}), LABELS)["Status"].line_value == "s"


def test_a_many_lined_value_is_written_whole() -> None:
    text = "Phase: a\nValidation plan:\nNext step: n\n"
    written = write_fields(text, LABELS, {"Phase": "b", "Validation plan": "\n- cmd: make\n- cmd: make test"})
    assert written == "Phase: b\nValidation plan:\n- cmd: make\n- cmd: make test\nNext step: n\n"


# --- putting a whole value back ---

PLAN = "Run it:\n```\nmake test\n\nmake lint\n```\nand look"


@pytest.mark.parametrize(
    "spoiled",
    [
        "Phase: a\nValidation plan: nothing\nNext step: n\n",
        "Phase: a\nValidation plan:\nNext step: n\n",
        "Phase: a\nValidation plan: nothing\nat\n\nall\n\n\nNext step: n\n",
        "Phase: a\nNext step: n\nValidation plan: nothing",
        "Phase: a\nNext step: n\nValidation plan:",
        "Phase: a\r\nNext step: n\r\nValidation plan: x\r\ny\r\n\r\n## Answers\r\n\r\nz\r\n",
        "Phase: a\nValidation plan: x\nValidation plan: y\nNext step: n\n",
        "Phase: a\nValidation plan: x <!-- a\nb -->\nNext step: n\n",
        "- **Phase:** a\n- **Validation plan:** x\n- **Next step:** n\n",
        "Phase: a\nNext step: n\n",
        "Phase: a\nfree text\n\nNext step: n\n",
        "Phase: a\nNext step: n",
        "# T\n\nsome words\n\nPhase: a\nmore words\nNext step: n\n\n## Answers\n\nz\n",
        "Phase: a\nNext step: n\n\n```\nValidation plan: hidden\n",
    ],
)
@pytest.mark.parametrize(
    "locked",
    [
        "one line",
        "- cmd: a",
        "- cmd: a\n- cmd: b",
        "first\nsecond\n\nthird",
        PLAN,
        "```\nmake\n```",
        "~~~~\n```\nNext step: in a fence\n~~~~",
        "# looks like a heading\nbut stood behind the label",
        "Status: looks like a label\nbut stood behind one",
        "",
    ],
)
@pytest.mark.requirement("S0.74")
def test_a_locked_value_is_restored_whole_and_nothing_else_changes(spoiled: str, locked: str) -> None:
    before = values(spoiled)
    restored = replace_value(spoiled, LABELS, "Validation plan", locked)
    assert values(restored) == {**before, "Validation plan": locked}
    assert replace_value(restored, LABELS, "Validation plan", locked) == restored
    for line in ("free text", "some words", "more words", "## Answers", "z", "Validation plan: y"):
        assert spoiled.count(line) <= restored.count(line), "a line that is no part of the value survives"
    if "\r\n" in spoiled:
        assert "\n" not in restored.replace("\r\n", "")


@pytest.mark.parametrize(
    "original",
    [
        "Phase: a\n\nValidation plan:\n- cmd: a\n\nNext step: n\n",
        "Phase: a\nValidation plan:\n```\nmake\n```\nNext step: n\n",
        "Phase: a\nNext step: n\nValidation plan:\n```\nmake",
        "- Phase: a\n- Validation plan:\n    ```\n    make\n    ```\n- Next step: n\n",
        "Phase: a\nValidation plan: one\n  two\nNext step: n\n",
        "Phase: a\r\nValidation plan: one\r\ntwo\r\n\r\n## End\r\n",
    ],
)
def test_what_an_agent_changed_comes_back_byte_for_byte(original: str) -> None:
    """The layouts people use are found again, so that a restoration leaves no trace of the edit."""
    locked = values(original)["Validation plan"]
    field = read_fields(original, LABELS)["Validation plan"]
    spoiled = original[: field.start] + " cmd: true" + original[field.stop :]
    assert values(spoiled)["Validation plan"] == "cmd: true"
    restored = replace_value(spoiled, LABELS, "Validation plan", locked)
    assert values(restored) == values(original)


def test_an_unclosed_fence_goes_where_it_swallows_nothing() -> None:
    restored = replace_value("Phase: a\nNext step: n\n", LABELS, "Validation plan", "```\nmake")
    assert values(restored) == {"Phase": "a", "Next step": "n", "Validation plan": "```\nmake"}


def test_a_restored_value_keeps_comments_that_follow_it() -> None:
    text = "Objective: changed\n<!-- one line, please -->\n\nStatus: s\n"
    assert replace_value(text, LABELS, "Objective", "first") == text.replace("changed", "first")


# --- sections ---


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "## Answers\n\n- x\n"),
        ("Phase: a", "Phase: a\n\n## Answers\n\n- x\n"),
        ("Phase: a\n", "Phase: a\n\n## Answers\n\n- x\n"),
        ("Phase: a\r\n", "Phase: a\r\n\r\n## Answers\r\n\r\n- x\r\n"),
        ("## Answers\n\n- a\n", "## Answers\n\n- a\n- x\n"),
        ("## Answers\n\n- a", "## Answers\n\n- a\n- x\n"),
        ("## Answers", "## Answers\n\n- x\n"),
        ("## answers:\n- a\n## Next\n", "## answers:\n- a\n- x\n\n## Next\n"),
        ("## answers:\n- a\n\n\n## Next\n", "## answers:\n- a\n- x\n\n\n## Next\n"),
        ("## Answers\n- a\n### Deeper\n- b\n# End\n", "## Answers\n- a\n### Deeper\n- b\n- x\n\n# End\n"),
        ("## Answers\n- a\n\n## Answers\n- b\n", "## Answers\n- a\n\n## Answers\n- b\n- x\n"),
        ("```\n## Answers\n```\n", "```\n## Answers\n```\n"),
    ],
)
def test_a_line_is_added_to_the_end_of_a_section(before: str, after: str) -> None:
    added = append_to_section(before, "Answers", "- x")
    if "```" not in before:
        assert added == after
    section = find_section(added, "Answers")
    assert section is not None
    assert "- x" in added[section.body_start : section.end]


@pytest.mark.parametrize(
    "text",
    [
        "## Answers\n\n- a\n\n```\nnever closed\n",
        "## Answers\n\n<!-- never closed\n",
        "Phase: a\n\n```\nnever closed\n",
        "Phase: a\n\n<!-- never closed\n",
        "Phase: a\n\n    code\n",
    ],
)
def test_a_line_is_never_added_where_it_is_not_visible(text: str) -> None:
    added = append_to_section(text, "Answers", "- somebody: Phase says no")
    section = find_section(added, "Answers")
    assert section is not None
    assert read_fields(added.replace("- somebody: Phase", "Status: Phase"), LABELS)["Status"].value
    for line in text.splitlines():
        assert line in added.splitlines()


# --- size ---


@pytest.mark.parametrize(
    "unit",
    ["Phase: x\n", "Phase: x <!--\n", "- Phase:\n", "**Phase" * 3, "> - ", "Objective: `<\n", "\r", " : Phase\t"],
)
def test_a_large_hostile_document_is_read_and_written(unit: str) -> None:
    """Each of these is fast when every line is looked at once, and would take hours if that were quadratic."""
    text = unit * (200_000 // len(unit))
    written = write_fields(text, LABELS, {"Phase": "shape"})
    assert read_fields(written, LABELS)["Phase"].line_value == "shape"
